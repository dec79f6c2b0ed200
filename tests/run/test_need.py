"""A tool that a machine lacks: skipped with a loud reason, and a failure where nothing may skip."""

import pytest

from tests.conftest import need


def test_what_is_there_is_handed_on(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("STRAD_REQUIRE_ALL", "1")
    assert need("/usr/bin/tool", "a tool") == "/usr/bin/tool"


@pytest.mark.parametrize("missing", [None, "", False])
def test_what_is_missing_skips_with_its_name(
    monkeypatch: pytest.MonkeyPatch, missing: object
) -> None:
    monkeypatch.delenv("STRAD_REQUIRE_ALL", raising=False)
    with pytest.raises(pytest.skip.Exception, match="NOT TESTED HERE: this needs a tool"):
        need(missing, "a tool")


def test_where_nothing_may_skip_it_fails(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("STRAD_REQUIRE_ALL", "1")
    with pytest.raises(pytest.fail.Exception, match="needs a tool"):
        need(None, "a tool")
