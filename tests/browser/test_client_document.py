"""A client that nobody has registered: its id is the address of a document that describes it.

The official SDKs, a browser, all services; only where the document's host is found differs
(`auth_on_this_machine`).
"""

import asyncio
import sys
from collections.abc import AsyncIterator
from dataclasses import replace
from pathlib import Path

import httpx2
import pytest
import pytest_asyncio
from mcp.client import Client
from mcp.client.streamable_http import streamable_http_client
from playwright.async_api import Browser

from demo.run.plan import Part
from demo.run.ports import free_ports
from demo.run.settings import Settings
from shared.contracts.wire import REGISTER_PATH
from tests.auth.document_host import Host, document_host
from tests.browser import IN_BROWSER
from tests.browser.oauth_listener import listening
from tests.browser.people import Person
from tests.browser.test_oauth_clients import (
    SECONDS,
    Kept,
    Refused,
    disconnect,
    provider_of,
    typescript_client,
)
from tests.live import LiveStack

pytestmark = IN_BROWSER

NAME = "Documented client"


class Documented(LiveStack):
    """A stack whose auth finds and trusts the host of documents."""

    def __init__(self, settings: Settings, certificate: Path) -> None:
        super().__init__(settings)
        self._certificate = certificate

    def _launch(self, part: Part) -> None:
        if part.name == "auth":
            command = (sys.executable, "-m", "tests.browser.auth_on_this_machine")
            variables = {**part.environment, "CERTIFICATE": str(self._certificate)}
            part = replace(part, command=command, environment=variables)
        super()._launch(part)


@pytest_asyncio.fixture(loop_scope="session", scope="module")
async def host(tmp_path_factory: pytest.TempPathFactory) -> AsyncIterator[Host]:
    async with document_host(tmp_path_factory.mktemp("host")) as found:
        yield found


@pytest_asyncio.fixture(loop_scope="session", scope="module")
async def documented(host: Host) -> AsyncIterator[LiveStack]:
    """Everything is up."""
    stack = Documented(Settings(port=free_ports(1, in_a_row=2)[0]), host.certificate)
    await asyncio.to_thread(stack.__enter__)
    try:
        yield stack
    finally:
        await asyncio.to_thread(stack.__exit__, None, None, None)


@pytest_asyncio.fixture(loop_scope="session")
async def person(documented: LiveStack, browser: Browser) -> AsyncIterator[Person]:
    """Ada, at this stack."""
    found = await Person.at(browser, documented.url)
    await found.sign_in("Ada Lovelace")
    yield found
    await found.leave()


async def test_the_python_client_connects_by_its_document_calls_refreshes_and_is_ended(
    documented: LiveStack, host: Host, person: Person
) -> None:
    url, kept = f"{documented.url}/mcp/catalog", Kept()
    async with listening() as listener:
        provider = provider_of(url, person, listener, kept, name=NAME, document=host.id)

        async def toys() -> int:
            async with (
                httpx2.AsyncClient(auth=provider, timeout=SECONDS) as http,
                Client(streamable_http_client(url, http_client=http), mode="2026-07-28") as client,
            ):
                result = await client.call_tool("list_toys", {"query": ""})
                assert result.structured_content is not None
                return len(result.structured_content["toys"])

        assert await toys() > 3
        assert kept.client is not None
        assert kept.client.client_id == host.id
        first = kept.tokens
        assert first is not None
        provider.context.token_expiry_time = 1.0  # as if ten minutes had passed
        assert await toys() > 3
        assert kept.tokens is not None
        assert kept.tokens.refresh_token != first.refresh_token
        await disconnect(person, NAME)
        with pytest.raises(BaseExceptionGroup) as refused:
            await toys()
    assert refused.value.subgroup(Refused) is not None
    assert f'"route": "{REGISTER_PATH}"' not in documented.log("auth")


async def test_the_typescript_client_connects_by_its_document(
    documented: LiveStack, host: Host, person: Person, tmp_path: Path
) -> None:
    url = f"{documented.url}/mcp/catalog"
    await typescript_client(url, person, tmp_path, host.id, name=NAME)
    assert f'"route": "{REGISTER_PATH}"' not in documented.log("auth")


async def test_the_page_names_the_host_that_answers_for_the_client(
    documented: LiveStack, host: Host, person: Person
) -> None:
    asked = {
        "response_type": "code",
        "client_id": host.id,
        "redirect_uri": "https://app.example.com/cb",
        "state": "s",
        "resource": f"{documented.url}/mcp",
        "code_challenge": "A" * 43,
        "code_challenge_method": "S256",
    }
    await person.page.goto(str(httpx2.URL(f"{documented.url}/oauth/authorize", params=asked)))
    card = person.page.locator(".card", has_text="Who asks")
    words = await card.inner_text()
    assert f"{host.id.split('/')[2]} says that this client is its own." in words
    assert "It gets its answer at app.example.com." in words
    assert host.seen.count("/client.json") <= 1, "it is kept for a while"
