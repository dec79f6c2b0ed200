"""The look that a page is told: standard names only, complete, with values of our own."""

import json
from pathlib import Path
from typing import Any

from services.apphost import styles
from tests.conftest import need

ROOT = Path(__file__).parents[2]
SCHEMA = ROOT / "node_modules/@modelcontextprotocol/ext-apps/dist/src/generated/schema.json"


def standard_names() -> set[str]:
    """The names that the official schema knows."""
    need(SCHEMA.exists(), "the packages of package.json: npm ci")
    schema = json.loads(SCHEMA.read_text())

    def find(node: Any) -> set[str]:
        if isinstance(node, dict):
            keys = {key for key in node if key.startswith("--")}
            values = {v for v in (node.get("const"), *node.get("enum", [])) if _is_name(v)}
            return keys.union(values, *(find(child) for child in node.values()))
        return set().union(*map(find, node)) if isinstance(node, list) else set()

    return find(schema)


def _is_name(value: object) -> bool:
    return isinstance(value, str) and value.startswith("--")


def test_every_standard_name_is_told_and_no_other() -> None:
    assert set(styles.variables()) == standard_names()


def test_every_colour_knows_both_themes() -> None:
    colours = {k: v for k, v in styles.variables().items() if k.startswith("--color-")}
    assert all(v == "transparent" or v.startswith("light-dark(") for v in colours.values())


def test_no_value_points_to_a_token_that_a_page_lacks() -> None:
    assert not [value for value in styles.variables().values() if "var(" in value]
