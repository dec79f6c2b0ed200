"""Names in the merged view lead back to exactly the tool and the page that they came from."""

import re

from hypothesis import given
from hypothesis import strategies as st

from services.relay import names

SLUGS = st.from_regex(r"[a-z0-9](?:[a-z0-9-]{0,30}[a-z0-9])?", fullmatch=True)
TOOLS = st.one_of(
    st.text(min_size=1, max_size=80),
    st.from_regex(r"[A-Za-z0-9_-]{1,70}", fullmatch=True),
    st.from_regex(r"[a-z]{0,5}-[a-z2-7]{10}", fullmatch=True),
)


def _back(name: str, tools: list[str]) -> tuple[str, str | None]:
    parts = names.split(name)
    assert parts is not None
    slug, rest = parts
    return slug, rest if names.expose(slug, rest) == name else names.find(name, slug, tools)


@given(SLUGS, st.lists(TOOLS, min_size=1, max_size=5, unique=True))
def test_every_tool_is_found_again_by_its_exposed_name(slug: str, tools: list[str]) -> None:
    exposed = [names.expose(slug, tool) for tool in tools]
    assert len(set(exposed)) == len(tools)
    for tool, name in zip(tools, exposed, strict=True):
        assert re.fullmatch(r"[A-Za-z0-9_-]{1,64}", name)
        assert _back(name, tools) == (slug, tool)


@given(SLUGS, TOOLS, TOOLS)
def test_two_servers_never_share_a_name(slug: str, one: str, two: str) -> None:
    other = "a" if slug != "a" else "b"
    assert names.expose(slug, one) != names.expose(other, two)


def test_a_readable_name_stays_readable() -> None:
    assert names.expose("catalog", "list_toys") == "catalog__list_toys"
    assert names.expose("a", "x__y") == "a__x__y"
    assert names.split("a__x__y") == ("a", "x__y")
    assert names.expose("a", "files.read").startswith("a__files-read-")


@given(SLUGS, st.text(min_size=1))
def test_a_page_address_leads_back(slug: str, rest: str) -> None:
    uri = "ui://" + rest
    assert names.split_uri(names.expose_uri(slug, uri)) == (slug, uri)


def test_what_is_no_exposed_name_is_nobodys() -> None:
    assert [names.split(n) for n in ("", "x", "__x", "a__", "a_b")] == [None] * 5
    assert [names.split_uri(u) for u in ("ui://a", "ui:///x", "https://a/b", "")] == [None] * 4
    assert names.expose_uri("a", "file:///x") == "file:///x"
