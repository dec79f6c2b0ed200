"""Documents that lie fail: the tests, files and commands that they name exist."""

import ast
import json
import re
import subprocess
from pathlib import Path

import pytest

from cli.__main__ import main

ROOT = Path(__file__).parent.parent.parent
DOCUMENTS = sorted(
    path for path in [*ROOT.glob("*.md"), *ROOT.glob("docs/**/*.md"), *ROOT.glob("shared/**/*.md")]
)
TESTS = {
    name
    for path in (ROOT / "tests").rglob("*.py")
    for name in re.findall(r"def (test_\w+)", path.read_text())
}
SOURCES = {
    str(path)
    for top in ("shared", "services", "cli", "demo", "tests")
    for path in (ROOT / top).rglob("*.*")
}
OTHERS = {str(document) for document in DOCUMENTS}
_RUN = r"strad|.*\bpython -m (?:cli|services\.auth\.operator)"
_COMMAND = re.compile(rf"^(?:{_RUN}) (keys rotate|[a-z-]+)(?: ([a-z]+)\b)?", re.MULTILINE)
_FUNDING = re.compile(r'"funding": (?:\[[^\]]*\]|\{[^}]*\}|"[^"]*")')
_PATH = re.compile(r"`((?:shared|services|cli|demo|deploy|docs|tests|requirements)/[\w./-]+)`")


@pytest.mark.parametrize("document", DOCUMENTS, ids=lambda path: str(path.relative_to(ROOT)))
def test_every_test_that_a_document_names_exists(document: Path) -> None:
    missing = set(re.findall(r"`(test_\w+)`", document.read_text())) - TESTS
    assert not (missing - {"test_a_page_cannot_call_another_servers_tool"})


@pytest.mark.parametrize("document", DOCUMENTS, ids=lambda path: str(path.relative_to(ROOT)))
def test_every_file_that_a_document_names_exists(document: Path) -> None:
    text = document.read_text()
    for path in _PATH.findall(text):
        assert (ROOT / path).exists(), path
    for link in re.findall(r"\]\((?!https?:)([^)#]+)", text):
        assert (document.parent / link).exists(), link
    for path in re.findall(r"`((?:[a-z_]+/)*[a-z_]+\.(?:py|js|mjs))`", text):
        assert any(source.endswith(f"/{path}") for source in SOURCES), path


@pytest.mark.parametrize("document", DOCUMENTS, ids=lambda path: str(path.relative_to(ROOT)))
def test_every_heading_that_a_document_leads_to_exists(document: Path) -> None:
    for link, anchor in re.findall(r"\]\((?!https?:)([^)#]*)#([^)]+)\)", document.read_text()):
        text = (document.parent / link if link else document).read_text()
        headings = re.findall(r"^#+ (.*)$", text, re.MULTILINE)
        found = {re.sub(r"[^\w -]", "", one).lower().replace(" ", "-") for one in headings}
        assert anchor in found, f"{link}#{anchor}"


def test_every_command_that_a_document_names_exists(
    monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    text = "\n".join(document.read_text() for document in DOCUMENTS)
    code = re.findall(r"^```\w*\n(.*?)^```|`([^`\n]+)`", text, re.MULTILINE | re.DOTALL)
    lines = "\n".join(block or inline for block, inline in code)
    found = set(_COMMAND.findall(lines))
    assert len(found) > 10
    for noun, verb in sorted(found):
        # the others have no verb
        words = [noun, verb] if noun in {"people", "sessions", "token"} else [noun]
        monkeypatch.setattr("sys.argv", ["strad", *" ".join(words).split(), "--help"])
        with pytest.raises(SystemExit) as ended:
            main()
        assert (ended.value.code, capsys.readouterr().out[:6]) == (0, "usage:"), words


def test_every_file_that_a_docstring_names_exists() -> None:
    for path in (Path(source) for source in sorted(SOURCES) if source.endswith(".py")):
        text = ast.get_docstring(ast.parse(path.read_text())) or ""
        for name in re.findall(r"(?<![\w/*.-])((?:[\w-]+/)*[\w-]+\.(?:py|js|mjs|md|html))\b", text):
            assert any(source.endswith(f"/{name}") for source in SOURCES | OTHERS), (path, name)


def test_decisions_are_numbered_one_by_one_in_their_names_and_titles() -> None:
    decisions = sorted((ROOT / "docs" / "decisions").glob("*.md"))
    for number, path in enumerate(decisions, start=1):
        assert path.name.startswith(f"{number:04}-"), path.name
        assert path.read_text().startswith(f"# {number}. "), path.name


def test_every_target_that_the_documents_name_exists() -> None:
    makefile = (ROOT / "Makefile").read_text()
    for document in DOCUMENTS:
        text = document.read_text()
        for target in re.findall(r"(?:^|`)make ([a-z]+)\b", text, re.MULTILINE):
            assert re.search(rf"^{target}:", makefile, re.MULTILINE), target


def test_make_alone_lists_every_target_and_there_are_few() -> None:
    shown = subprocess.run(["make"], cwd=ROOT, capture_output=True, text=True, check=True).stdout
    targets = re.findall(r"^  make (\w+)", shown, re.MULTILINE)
    assert {"run", "test", "check", "bench", "lock"} <= set(targets)
    assert len(targets) <= 15


def test_no_lock_names_where_packages_come_from() -> None:
    for lock in [*ROOT.glob("requirements/*.lock"), ROOT / "package-lock.json"]:
        text = lock.read_text()
        assert "://" not in _FUNDING.sub("", text), lock.name
        assert '"resolved"' not in text


def test_the_lock_of_the_browser_packages_holds_all_that_they_need() -> None:
    """Else `npm ci` refuses it, on machines that have nothing installed yet."""
    packages = json.loads((ROOT / "package-lock.json").read_text())["packages"]
    missing = []
    for place, package in packages.items():
        folders = [place, *(place[: at.start()] for at in re.finditer("/?node_modules/", place))]
        for name in package.get("dependencies", {}) | package.get("optionalDependencies", {}):
            if not any(
                f"{folder}/node_modules/{name}".lstrip("/") in packages for folder in folders
            ):
                missing.append(f"{name} of {place}")
    assert missing == []
