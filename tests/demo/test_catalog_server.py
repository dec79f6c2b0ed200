"""The toy catalogue over real sockets, with the SDK's client, in both protocol eras."""

from collections.abc import AsyncIterator
from typing import Any

import httpx2
import pytest
from mcp.server.apps import APP_MIME_TYPE
from mcp_types import TextResourceContents

from demo.catalog.identity import IdentityCheck, RelayKeys
from demo.catalog.server import create_app
from demo.serve import Address
from tests.demo.conftest import Clock
from tests.demo.mcp_bed import ERAS, STRAD, Era, Relay, client, listening, relay, text_of

pytestmark = pytest.mark.parametrize("era", ERAS)


class Bed:
    """A catalogue and the relay that it trusts."""

    def __init__(self, url: str, signer: Relay, clock: Clock) -> None:
        self.url, self.signer, self.clock = url, signer, clock

    def as_(self, email: str, sub: str = "person-1") -> dict[str, str]:
        return {"Strad-Identity": self.signer.identity(self.url, email=email, sub=sub)}


@pytest.fixture
async def bed() -> AsyncIterator[Bed]:
    clock = Clock()
    async with relay() as signer:

        def wire(address: Address) -> Any:
            check = IdentityCheck(RelayKeys(signer.url), address.self_url, STRAD)
            return create_app(address, check, clock)

        async with listening(wire) as url:
            yield Bed(url, signer, clock)


async def test_a_host_finds_the_page_the_audiences_and_the_honest_hints(bed: Bed, era: Era) -> None:
    async with client(bed.url, era) as connected:
        tools = {tool.name: tool for tool in (await connected.list_tools()).tools}
    assert tools.keys() == {"show_catalog", "list_toys", "set_aside"}
    shows, writes = tools["show_catalog"], tools["set_aside"]
    assert shows.meta is not None
    assert shows.meta["ui"]["resourceUri"] == "ui://catalog/view-v1"
    for name in ("show_catalog", "list_toys"):
        hints = tools[name].annotations
        assert hints is not None
        assert hints.read_only_hint is True
    assert writes.annotations is not None
    assert writes.annotations.read_only_hint is None
    assert writes.annotations.destructive_hint is False
    assert writes.meta is not None
    assert writes.meta["ui"]["visibility"] == ["model", "app"]
    assert all(tool.output_schema for tool in tools.values())


async def test_the_page_asks_for_no_origin_and_for_a_border(bed: Bed, era: Era) -> None:
    async with client(bed.url, era) as connected:
        (page,) = (await connected.read_resource("ui://catalog/view-v1")).contents
    assert isinstance(page, TextResourceContents)
    assert page.mime_type == APP_MIME_TYPE
    assert page.meta is not None
    assert page.meta["ui"]["prefersBorder"] is True
    assert page.meta["ui"]["csp"] == {
        "connectDomains": [],
        "resourceDomains": [],
        "frameDomains": [],
        "baseUriDomains": [],
    }
    assert page.text.startswith("<!doctype html>")


@pytest.mark.parametrize(
    ("email", "locale", "name", "price", "added"),
    [
        ("ada@strad.test", "de-DE", "Blechrakete", "34,90\u00a0€", "4. Oktober 2026"),
        ("Charles@Strad.test", "en-US", "Tin rocket", "€34.90", "October 4, 2026"),
        ("alberto@strad.test", "pt-BR", "Foguete de lata", "€\u00a034,90", "4 de outubro de 2026"),
        ("someone@else.test", "en-US", "Tin rocket", "€34.90", "October 4, 2026"),
    ],
)
async def test_the_account_decides_the_language(
    bed: Bed, era: Era, email: str, locale: str, name: str, price: str, added: str
) -> None:
    headers = bed.as_(email) | {"Accept-Language": "fr-FR"}
    async with client(bed.url, era, **headers) as connected:
        result = await connected.call_tool("show_catalog", {})
    found = result.structured_content
    assert isinstance(found, dict)
    assert (found["locale"], len(found["toys"])) == (locale, 12)
    assert found["caller"] == {"known": True, "email": email.casefold()}
    first = found["toys"][0]
    assert (first["name"], first["price"], first["added"]) == (name, price, added)
    assert name in result.content[0].text  # type: ignore[union-attr]


async def test_an_unknown_caller_reads_english_is_told_so_and_holds_nothing(
    bed: Bed, era: Era
) -> None:
    async with client(bed.url, era) as connected:
        result = await connected.call_tool("list_toys", {"query": "TIN rocket"})
        failed, reason = await text_of(connected, "set_aside", toy="tin-rocket")
    found = result.structured_content
    assert isinstance(found, dict)
    assert (found["locale"], found["caller"]["known"]) == ("en-US", False)
    assert [toy["id"] for toy in found["toys"]] == ["tin-rocket"]
    assert "caller is unknown" in result.content[0].text  # type: ignore[union-attr]
    assert failed
    assert "does not know who you are" in reason


async def test_a_hold_belongs_to_its_caller_and_ends_by_itself(bed: Bed, era: Era) -> None:
    ada, charles = bed.as_("ada@strad.test", "a"), bed.as_("charles@strad.test", "c")
    async with client(bed.url, era, **ada) as first, client(bed.url, era, **charles) as second:
        held = await first.call_tool("set_aside", {"toy": "parade-drum"})
        again = await text_of(first, "set_aside", toy="parade-drum")
        too_late = await text_of(second, "set_aside", toy="parade-drum")
        seen = await second.call_tool("list_toys", {"query": "drum"})
        bed.clock.now += 1800
        freed = await text_of(second, "set_aside", toy="parade-drum")
    assert held.structured_content is not None
    assert held.structured_content["toy"]["left"] == 0
    assert held.structured_content["toy"]["heldUntil"] == "08:30"
    assert again[0]
    assert "schon bis 08:30" in again[1]
    assert too_late == (True, "The last Parade drum is already set aside. Try again later.")
    assert seen.structured_content is not None
    assert seen.structured_content["toys"][0]["heldUntil"] is None
    assert not freed[0]


@pytest.mark.parametrize(
    ("tool", "arguments", "words"),
    [
        ("set_aside", {"toy": "time-machine"}, "There is no toy 'time-machine'"),
        ("list_toys", {"query": "x" * 81}, "Use at most 80 characters"),
    ],
)
async def test_a_mistake_is_a_result_with_a_helpful_text(
    bed: Bed, era: Era, tool: str, arguments: dict[str, str], words: str
) -> None:
    async with client(bed.url, era, **bed.as_("charles@strad.test")) as connected:
        failed, text = await text_of(connected, tool, **arguments)
    assert failed
    assert words in text


async def test_another_host_name_or_any_web_page_is_refused(bed: Bed, era: Era) -> None:
    body = {"jsonrpc": "2.0", "id": 1, "method": "tools/list", "params": {}}
    accept = {"Accept": "application/json, text/event-stream", "MCP-Protocol-Version": "2025-11-25"}
    if era != "legacy":
        accept["MCP-Protocol-Version"] = era
    async with httpx2.AsyncClient(headers=accept) as http:
        rebound = await http.post(bed.url, json=body, headers={"Host": "evil.test"})
        page = await http.post(bed.url, json=body, headers={"Origin": "http://evil.test"})
    assert (rebound.status_code, page.status_code) == (421, 403)
