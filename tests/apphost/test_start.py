"""Starting: every mistake at once, by name; the health port; one version in one place."""

import tomllib
from pathlib import Path

import pytest

from services.apphost.introduction import VERSION
from services.apphost.settings import read
from shared.settings import Environment, SettingsWrong


def test_all_mistakes_are_told_at_once(tmp_path: Path) -> None:
    variables = {
        "STRAD_CONFIG": str(tmp_path / "none.yaml"),
        "STRAD_KEYS": str(tmp_path),
        "STRAD_RELAY_URL": "relay:9090/internal",
        "STRAD_PORT": "x",
    }
    with pytest.raises(SettingsWrong) as caught:
        read(Environment(variables))
    told = str(caught.value)
    for name in ("STRAD_CONFIG", "apphost.json", "STRAD_RELAY_URL", "STRAD_PORT", "seal.key"):
        assert name in told


def test_pages_are_told_the_version_of_this_package() -> None:
    project = tomllib.loads(Path("pyproject.toml").read_text())
    assert project["project"]["version"] == VERSION
