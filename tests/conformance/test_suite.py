"""The comparison itself: a lost, a changed and an added check are each seen."""

import json
from collections import Counter
from pathlib import Path

import pytest

from tests.conformance.suite import Check, Report, differences, read

PASSED = Check("tools-list", "tools-list", "SUCCESS")
FAILED = Check("tools-list", "tools-list", "FAILURE")


def report(*checks: Check) -> Report:
    return Report(Counter(checks), "")


@pytest.mark.parametrize(
    ("relayed", "line"),
    [
        (report(), "direct only:  1 x"),
        (report(FAILED), "relayed only: 1 x"),
        (report(PASSED, PASSED), "relayed only: 1 x"),
    ],
    ids=["lost", "failed", "given twice"],
)
def test_a_check_that_differs_is_named(relayed: Report, line: str) -> None:
    text = differences(report(PASSED), relayed)
    assert line in text
    assert "tools-list" in text


def test_a_warning_is_not_a_pass() -> None:
    assert report(PASSED, Check("caching", "ttl", "WARNING")).score == (1, 1)


def test_notes_of_the_package_are_no_verdicts(tmp_path: Path) -> None:
    folder = tmp_path / "server-sse-polling-2026-11-30T03-55-14-887Z"
    folder.mkdir()
    checks = [{"id": "a", "status": "INFO"}, {"id": "b", "status": "SUCCESS"}]
    (folder / "checks.json").write_text(json.dumps(checks))
    assert read(tmp_path) == Counter({Check("sse-polling", "b", "SUCCESS"): 1})
