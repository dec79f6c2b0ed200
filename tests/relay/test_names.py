"""Names in the merged view lead back to exactly the tool and the page that they came from."""

import re
from urllib.parse import urlsplit

from hypothesis import given
from hypothesis import strategies as st
from pydantic import AnyUrl

from services.relay.merged import names

SLUGS = st.from_regex(r"[a-z0-9](?:[a-z0-9-]{0,30}[a-z0-9])?", fullmatch=True)
TOOLS = st.one_of(
    st.text(max_size=80),
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


ADDRESSES = st.one_of(
    st.text(max_size=60),
    st.text(max_size=60).map("ui://".__add__),
    st.text(max_size=60).map("strad+a:".__add__),
    st.from_regex(
        r"[a-z]{1,6}://[a-z]{1,6}/\{[+#/?&]?[a-z]{1,6}\*?\}(\.[a-z]{1,4})?", fullmatch=True
    ),
)


@given(SLUGS, ADDRESSES)
def test_an_address_leads_back(slug: str, uri: str) -> None:
    exposed = names.expose_uri(slug, uri)
    assert names.split_uri(exposed) == (slug, uri)
    assert exposed.startswith("ui://") == uri.startswith("ui://")


@given(SLUGS, SLUGS, ADDRESSES, ADDRESSES)
def test_two_addresses_never_become_one(slug: str, other: str, one: str, two: str) -> None:
    same = (slug, one) == (other, two)
    assert (names.expose_uri(slug, one) == names.expose_uri(other, two)) == same


@given(
    SLUGS,
    st.sampled_from(["toys://t/", "ui://t/"]),
    st.from_regex(r"[a-z0-9]{0,9}", fullmatch=True),
)
def test_a_template_expands_to_what_its_expansion_is_called(
    slug: str, start: str, value: str
) -> None:
    template = names.expose_uri(slug, start + "{name}/view")
    assert template.replace("{name}", value) == names.expose_uri(slug, f"{start}{value}/view")
    assert urlsplit(template).scheme == ("ui" if start == "ui://t/" else f"strad+{slug}")


@given(SLUGS, TOOLS, ADDRESSES)
def test_an_exposed_name_is_never_taken_for_a_bare_one(slug: str, tool: str, uri: str) -> None:
    assert not names.is_bare(names.expose(slug, tool))
    assert not names.is_bare_uri(names.expose_uri(slug, uri))


def test_what_is_no_exposed_name_is_nobodys() -> None:
    assert [names.split(n) for n in ("", "x", "__x", "a__", "a_b")] == [None] * 5
    others = ("ui://a", "ui:///x", "https://a/b", "", "strad+a", "strad+:x", "a:x")
    assert [names.split_uri(u) for u in others] == [None] * len(others)


def test_addresses_that_others_parse_come_back_as_they_were() -> None:
    for uri in ("toys://Cat/../x?q=1#f", "file:///x/../y", "urn:isbn:1", "HTTPS://Ex.org:443/a//b"):
        exposed = names.expose_uri("a-b", uri)
        assert exposed == f"strad+a-b:{uri}"
        assert str(AnyUrl(exposed)) == exposed
