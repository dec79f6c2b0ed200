"""The pages made of the official SDK are made of both its versions, each of the kind it claims."""

import json

import pytest

from tests.browser.sdk import BUNDLER, ROOT, VERSIONS, Sdk
from tests.conftest import need

pytestmark = pytest.mark.node


def test_each_version_is_the_one_it_is_called_and_makes_a_page_of_its_own() -> None:
    need(BUNDLER.exists(), "the packages of package.json: npm ci")
    for version, package in VERSIONS.items():
        about = json.loads((ROOT / "node_modules" / package / "package.json").read_text())
        assert about["name"] == "@modelcontextprotocol/ext-apps"
        assert about["version"].startswith(f"{version}.")
    assert len({Sdk(version).html() for version in VERSIONS}) == len(VERSIONS)
