"""The design system: what it escapes, what it never needs, and that its text can be read."""

import hashlib
import re
from pathlib import Path
from types import SimpleNamespace

import pytest
from jinja2 import UndefinedError

from shared import ui

TEMPLATES = sorted(ui.FOLDER.glob("*.html"))
STYLESHEET = ui.STYLESHEET.read_text()
ADA = SimpleNamespace(name="Ada <script>alert(1)</script>", email='"><img src=x>@strad.test')
SURFACES = ("canvas", "surface", "sunken", "raised", "hover")
PAIRS = [
    *((ink, ground) for ink in ("ink", "ink-soft", "ink-faint", "varnish") for ground in SURFACES),
    *((state, f"{state}-wash") for state in ("good", "warn", "bad", "info", "varnish")),
    *(("ink-soft", f"{state}-wash") for state in ("good", "warn", "bad", "info")),
    *((state, ground) for state in ("good", "warn", "bad") for ground in ("canvas", "surface")),
    ("varnish-ink", "varnish-fill"),
    ("varnish-ink", "varnish-fill-hover"),
]


def problem(**extra: object) -> str:
    """The page of a refusal, drawn for a stranger unless `person` is given."""
    page = ui.environment().get_template("problem.html")
    return page.render(status=404, title="Not here", advice="", request_id="r1", **extra)


def asset(name: str) -> str:
    """The address that a page of auth gives to a file."""
    env = ui.environment(static_base="/auth/static")
    return env.from_string("{{ asset(name) }}").render(name=name)


def token(name: str, theme: int) -> tuple[float, float, float]:
    """One colour of the stylesheet as red, green, blue from 0 to 1; theme 0 light, 1 dark."""
    found = re.search(rf"--{name}: light-dark\(#(\w{{6}}), #(\w{{6}})\)", STYLESHEET)
    assert found, name
    red, green, blue = bytes.fromhex(found[theme + 1])
    return red / 255, green / 255, blue / 255


def luminance(colour: tuple[float, float, float]) -> float:
    """Relative luminance, WCAG 2.2."""
    parts = [c / 12.92 if c <= 0.04045 else ((c + 0.055) / 1.055) ** 2.4 for c in colour]
    return 0.2126 * parts[0] + 0.7152 * parts[1] + 0.0722 * parts[2]


def test_a_name_with_markup_in_it_stays_text() -> None:
    page = problem(person=ADA)
    assert "<script>alert" not in page
    assert "<img" not in page
    assert "Ada &lt;script&gt;alert(1)" in page


def test_what_stands_between_backticks_is_code_and_stays_text() -> None:
    page = ui.environment().get_template("problem.html")
    advice = "Set `a <b>`, not `<i>"
    text = page.render(status=404, title="Not here", advice=advice, request_id="r1")
    assert "Set <code>a &lt;b&gt;</code>, not `&lt;i&gt;</p>" in text


def test_a_title_with_markup_in_it_stays_text() -> None:
    page = ui.environment().get_template("problem.html")
    html = page.render(status=404, title="<b>x</b>", advice="<i>y</i>", request_id="<u>z</u>")
    assert not re.search(r"<(b|i|u)>", html)


def test_a_missing_variable_is_an_error_and_not_an_empty_string() -> None:
    with pytest.raises(UndefinedError, match="request_id"):
        ui.environment().get_template("problem.html").render(status=404, title="x", advice="")


def test_a_stranger_sees_no_menu_and_no_navigation() -> None:
    page = problem()
    assert "popover" not in page
    assert "<nav" not in page


def test_sign_out_is_a_form_post_and_never_a_link() -> None:
    page = problem(person=ADA)
    assert '<form method="post" action="/auth/sign-out">' in page
    assert 'href="/auth/sign-out"' not in page


@pytest.mark.parametrize("template", TEMPLATES, ids=lambda path: path.name)
def test_no_template_needs_an_inline_script_or_style(template: Path) -> None:
    source = template.read_text()
    assert not re.search(r"<style|\sstyle\s*=|\son\w+\s*=|javascript:", source)
    assert all("src=" in tag for tag in re.findall(r"<script[^>]*>", source))


@pytest.mark.parametrize("name", ui.static_files())
def test_the_address_of_a_file_changes_with_its_content(name: str) -> None:
    digest = hashlib.sha256((ui.FOLDER / name).read_bytes()).hexdigest()
    assert asset(name) == f"/auth/static/{name}?v={digest[:12]}"


def test_only_listed_files_can_be_asked_for() -> None:
    for name in ("base.html", "../settings.py", "__init__.py"):
        with pytest.raises(KeyError):
            asset(name)


def test_nothing_is_loaded_from_another_place() -> None:
    assert not re.search(r"@import|url\(|https?:", STYLESHEET)
    assert not re.search(r"(src|href)=[\"'](https?:)?//", problem(person=ADA))


@pytest.mark.parametrize("theme", [0, 1], ids=["light", "dark"])
@pytest.mark.parametrize(("ink", "ground"), PAIRS, ids=lambda name: name)
def test_text_can_be_read_in_both_themes(ink: str, ground: str, theme: int) -> None:
    dark, light = sorted([luminance(token(ink, theme)), luminance(token(ground, theme))])
    assert (light + 0.05) / (dark + 0.05) >= 4.5


@pytest.mark.parametrize(
    ("name", "letters"),
    [("Ada Lovelace", "AL"), ("ada", "A"), ("A. B. Cee", "AC"), ("  ", "?"), ("(x) Toy", "T")],
)
def test_initials_stand_for_a_name(name: str, letters: str) -> None:
    assert ui.initials(name) == letters


def test_a_name_keeps_its_tint() -> None:
    assert [ui.tone("Toy catalogue"), ui.tone("Escape room")] == [3, 5]
    assert {ui.tone(str(number)) for number in range(200)} == {1, 2, 3, 4, 5, 6}
    assert all(f".tone-{number} " in STYLESHEET for number in range(1, 7))
