"""Whatever a server declares, the policy has our directives and bare https origins: no more."""

import re
import time

import pytest
from hypothesis import example, given
from hypothesis import strategies as st

from services.apphost import csp
from shared.contracts.config import AppSettings, Links

OWN = "strad.example.com"
CODE = ("script-src", "style-src")
MEDIA = ("img-src", "font-src", "media-src")
ORIGIN = re.compile(r"https://[a-z0-9.-]+(:[0-9]{1,5})?")

parts = st.sampled_from(
    ["https://", "http://", "cdn.test", "a", ".", ":", "443", ";", ",", " ", "*", "'self'", "/",
     "@", "?", "#", "\n", "\r\n", "\t", "\\", "%", "script-src", "xn--", "_", "é", "[::1]",
     "127.0.0.1", "localhost", OWN, '"', ")", "data:", "\x00"]
)  # fmt: skip
entries = st.lists(
    st.one_of(
        st.lists(parts, max_size=6).map("".join),
        st.lists(parts, max_size=4).map(lambda found: "https://cdn.test" + "".join(found)),
        st.text(max_size=30),
        st.none(),
        st.integers(),
        st.from_regex(r"https://[a-z]{2,8}\.(test|example)(:[1-9][0-9]{0,4})?", fullmatch=True),
    ),
    max_size=40,
)


def read_back(header: str) -> dict[str, list[str]]:
    """A policy as a browser parses it (CSP Level 3 §2.2)."""
    assert "," not in header  # a comma would begin a second policy
    found: dict[str, list[str]] = {}
    for directive in header.split(";"):
        name, *values = directive.split()
        found.setdefault(name, values)
    return found


settings = st.builds(AppSettings, links=st.sampled_from(Links), scripts=st.booleans())


@given(entries, settings)
@example(["https://cdn.test; script-src *"], AppSettings())
@example(["https://cdn.test, script-src *"], AppSettings(scripts=True))
@example(["https://cdn.test\r\nSet-Cookie: a=b"], AppSettings(links=Links.OFF))
def test_the_header_read_back_has_exactly_our_directives(
    declared: list[object], app: AppSettings
) -> None:
    sorted_out = csp.declared({"csp": {"resourceDomains": declared}}, OWN)
    headers = csp.frame_headers(sorted_out.accepted, app)
    policy = read_back(headers["Content-Security-Policy"])
    plain = read_back(csp.policy((), app))
    assert list(policy) == list(plain)
    for name, values in policy.items():
        added = values[len(plain[name]) :]
        assert values[: len(plain[name])] == plain[name]
        opened = name in MEDIA or (app.scripts and name in CODE)
        assert added == (list(sorted_out.accepted) if opened else [])
        assert all(ORIGIN.fullmatch(value) for value in added)
    assert all(value.isprintable() and value.isascii() for value in headers.values())
    inner = "|".join(re.escape(f'"{origin}"') for origin in sorted_out.accepted)
    assert re.fullmatch(rf"\((?:(?:{inner}) ?)*\)", headers["Connection-Allowlist"])


@given(entries)
def test_every_entry_is_either_used_or_told(declared: list[object]) -> None:
    found = csp.declared({"csp": {"resourceDomains": declared}}, OWN)
    assert len(found.accepted) <= csp.MAX_ORIGINS
    for entry in declared:
        shown = entry[:200] if isinstance(entry, str) else f"({type(entry).__name__})"
        assert entry in found.accepted or shown in found.dropped


@pytest.mark.parametrize(
    "entry",
    [
        "https://cdn.example.com",
        "https://cdn.example.com:8443",
        "https://xn--bcher-kva.example",
        "https://a-b.c-d.example",
    ],
)
def test_a_bare_https_origin_is_taken(entry: str) -> None:
    assert csp.is_bare_origin(entry, OWN)


@pytest.mark.parametrize(
    "entry",
    [
        "http://cdn.example.com",
        "https://cdn.example.com/",
        "https://cdn.example.com/path",
        "https://cdn.example.com?x",
        "https://cdn.example.com#x",
        "https://*.example.com",
        "https://*",
        "*",
        "https:",
        "https://",
        "data:",
        "'self'",
        "cdn.example.com",
        "//cdn.example.com",
        "wss://cdn.example.com",
        "HTTPS://cdn.example.com",
        "https://CDN.example.com",
        "https://cdn.example.com.",
        "https://cdn..example.com",
        "https://-cdn.example.com",
        "https://cdn_1.example.com",
        "https://user@cdn.example.com",
        "https://user:pass@cdn.example.com",
        "https://cdn.example.com:",
        "https://cdn.example.com:0",
        "https://cdn.example.com:0443",
        "https://cdn.example.com:65536",
        "https://cdn.example.com:*",
        "https://127.0.0.1",
        "https://127.1",
        "https://0x7f.0.0.1",
        "https://2130706433",
        "https://[::1]",
        "https://localhost",
        "https://x.localhost",
        "https://intranet",
        "https://strad.example.com",
        "https://strad.example.com:8443",
        "https://bücher.example",
        "https://cdn.example.com; script-src *",
        "https://cdn.example.com,https://b.example",
        "https://cdn.example.com https://b.example",
        "https://cdn.example.com\n",
        " https://cdn.example.com",
        "https://cdn.example.com%00",
        "https://cdn.example.com\\@evil",
        "https://" + "a" * 64 + ".example",
        "https://" + "a." * 150 + "example",
        None,
        7,
        ["https://cdn.example.com"],
        {"https://cdn.example.com": 1},
    ],
)
def test_anything_else_is_dropped(entry: object) -> None:
    assert not csp.is_bare_origin(entry, OWN)


@pytest.mark.parametrize("ui", [{}, {"csp": None}, {"csp": []}, {"csp": {"resourceDomains": "x"}}])
def test_a_declaration_of_another_shape_opens_nothing(ui: dict[str, object]) -> None:
    assert csp.declared(ui, OWN) == csp.Declared()


def test_no_sandbox_ever_holds_the_same_origin() -> None:
    assert csp.SANDBOX == "allow-scripts"  # nor popups, forms, downloads, the whole tab


def test_no_more_entries_are_looked_at_than_anybody_needs() -> None:
    fat: list[object] = [[[]] * 50_000]
    entries = [fat] * 20 + [f"https://a{n}.example" for n in range(200_000)]
    started = time.process_time()
    found = csp.declared({"csp": {"resourceDomains": entries}}, OWN)
    assert time.process_time() - started < 0.2  # to look at all takes more than a second
    assert len(found.accepted) == csp.MAX_ORIGINS
    assert len(found.accepted) + len(found.dropped) == csp.MAX_ENTRIES
    assert found.dropped[0] == "(list)"
