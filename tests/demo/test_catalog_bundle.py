"""The committed page is what its sources make, and it loads nothing."""

import re
import subprocess
from pathlib import Path

import pytest

from tests.conftest import need

ROOT = Path(__file__).parents[2]
CATALOG = ROOT / "demo" / "catalog"


@pytest.mark.node
def test_the_bundle_is_rebuilt_from_its_sources_byte_for_byte(node: str, tmp_path: Path) -> None:
    need((ROOT / "node_modules" / "esbuild").exists(), "the packages of package.json: npm ci")
    command = [node, str(CATALOG / "page" / "bundle.mjs"), str(tmp_path)]
    subprocess.run(command, cwd=ROOT, check=True)
    for name in ("view.html", "view.licenses.txt"):
        rebuilt, committed = (tmp_path / name).read_bytes(), (CATALOG / name).read_bytes()
        assert rebuilt == committed, f"run node demo/catalog/page/bundle.mjs and commit {name}"


def test_the_page_has_no_address_to_load_from() -> None:
    page = (CATALOG / "view.html").read_text(encoding="utf-8")
    style = page[page.index("<style>") : page.index("</style>")]
    assert "url(" not in style
    assert "@import" not in style
    markup = re.sub(r"<(script|style)[^>]*>.*?</\1>", "", page, flags=re.DOTALL)
    assert not re.search(r"\b(src|href)=", markup)
    assert "<link" not in markup


def test_every_package_inside_comes_with_its_licence() -> None:
    licences = (CATALOG / "view.licenses.txt").read_text(encoding="utf-8")
    for name in ("@modelcontextprotocol/ext-apps", "@modelcontextprotocol/client", "zod"):
        assert re.search(rf"^{re.escape(name)} \d+\.\d+\.\d+ \(", licences, re.MULTILINE)
