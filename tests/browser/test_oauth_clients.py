"""Official SDKs connect with nothing but an address; their person answers in a browser."""

import asyncio
import json
import os
from pathlib import Path
from typing import Any

import httpx2
import pytest
from mcp.client import Client
from mcp.client.auth import OAuthClientProvider
from mcp.client.streamable_http import streamable_http_client
from mcp.shared.auth import (
    AuthorizationCodeResult,
    OAuthClientInformationFull,
    OAuthClientMetadata,
    OAuthToken,
)
from pydantic import AnyUrl

from tests.browser import IN_BROWSER
from tests.browser.oauth_listener import Listener, listening
from tests.browser.people import Person
from tests.conftest import need
from tests.live import LiveStack
from tests.stack.test_other_clients import NODE

pytestmark = IN_BROWSER

SCRIPT = Path(__file__).parent / "typescript_oauth.mjs"
SECONDS = 60


class Refused(Exception):
    """The person pressed Refuse."""


class Kept:
    """What a client keeps."""

    def __init__(self) -> None:
        self.tokens: OAuthToken | None = None
        self.client: OAuthClientInformationFull | None = None

    async def get_tokens(self) -> OAuthToken | None:
        return self.tokens

    async def set_tokens(self, tokens: OAuthToken) -> None:
        self.tokens = tokens

    async def get_client_info(self) -> OAuthClientInformationFull | None:
        return self.client

    async def set_client_info(self, client_info: OAuthClientInformationFull) -> None:
        self.client = client_info


async def answer(person: Person, address: str, button: str, name: str) -> None:
    """The browser opens what a client asks to be opened, and the person presses a button."""
    await person.page.goto(address)
    await person.page.get_by_role("heading", name=name).wait_for()
    await person.page.get_by_role("button", name=button).click()
    await person.page.wait_for_url("http://127.0.0.1:*/callback*")


async def disconnect(person: Person, name: str) -> None:
    """By the page that lists clients."""
    await person.open("/auth/clients")
    await person.page.get_by_role("button", name=f"Disconnect {name}").first.click()
    await person.page.get_by_text("The client is disconnected").wait_for()


def provider_of(
    url: str,
    person: Person,
    listener: Listener,
    kept: Kept,
    *,
    name: str = "Python client",
    document: str | None = None,
) -> OAuthClientProvider:
    """The Python SDK's. `kept.client` is None the first time, so it registers.

    `document`: the address of the client's own, which then is its id; `name`: as it says there.
    """
    buttons = iter(["Allow", "Refuse"])

    async def open_browser(address: str) -> None:
        await answer(person, address, next(buttons), name)

    async def arrived() -> AuthorizationCodeResult:
        found = await asyncio.wait_for(listener.answers.get(), SECONDS)
        if "error" in found:
            raise Refused(found["error"])
        return AuthorizationCodeResult(
            code=found["code"], state=found.get("state"), iss=found.get("iss")
        )

    metadata = OAuthClientMetadata(
        client_name="Python client",
        redirect_uris=[AnyUrl(listener.url)],
        token_endpoint_auth_method="none",
    )
    return OAuthClientProvider(
        url, metadata, kept, open_browser, arrived, client_metadata_url=document
    )


@pytest.mark.parametrize(("path", "prefix"), [("/mcp/catalog", ""), ("/mcp", "catalog__")])
async def test_the_python_client_connects_calls_refreshes_and_is_ended(
    stack: LiveStack, ada: Person, path: str, prefix: str
) -> None:
    url, kept = stack.url + path, Kept()
    async with listening() as listener:
        provider = provider_of(url, ada, listener, kept)

        async def toys() -> int:
            async with (
                httpx2.AsyncClient(auth=provider, timeout=SECONDS) as http,
                Client(streamable_http_client(url, http_client=http), mode="2026-07-28") as client,
            ):
                result = await client.call_tool(f"{prefix}list_toys", {"query": ""})
                assert result.structured_content is not None
                assert result.structured_content["caller"]["email"] == "ada@strad.test"
                return len(result.structured_content["toys"])

        assert await toys() > 3
        first = kept.tokens
        assert first is not None
        assert first.scope == ("mcp:catalog" if prefix == "" else "mcp")
        provider.context.token_expiry_time = 1.0  # as if ten minutes had passed
        assert await toys() > 3
        assert kept.tokens is not None
        assert kept.tokens.refresh_token != first.refresh_token
        await disconnect(ada, "Python client")
        with pytest.raises(BaseExceptionGroup) as refused:
            await toys()
    assert refused.value.subgroup(Refused) is not None


async def test_the_python_client_asks_for_one_more_server_once_and_never_for_what_is_not_theirs(
    stack: LiveStack, ada: Person
) -> None:
    kept = Kept()
    async with listening() as listener:

        async def tools(slug: str) -> int:
            url = f"{stack.url}/mcp/{slug}"
            provider = provider_of(url, ada, listener, kept)
            async with (
                httpx2.AsyncClient(auth=provider, timeout=SECONDS) as http,
                Client(streamable_http_client(url, http_client=http), mode="2026-07-28") as client,
            ):
                return len((await client.list_tools()).tools)

        assert await tools("catalog") > 0
        # a provider that is asked twice would press Refuse
        assert await tools("hostile") > 0
        assert kept.tokens is not None
        assert kept.tokens.scope == "mcp:catalog mcp:hostile"
        where = ada.page.url
        with pytest.raises(BaseExceptionGroup):
            await tools("nothing-here")
        assert ada.page.url == where
        assert await tools("catalog") > 0


async def test_the_typescript_client_connects_calls_refreshes_and_is_ended(
    stack: LiveStack, ada: Person, tmp_path: Path
) -> None:
    await typescript_client(f"{stack.url}/mcp/catalog", ada, tmp_path)


async def typescript_client(
    url: str, person: Person, home: Path, *document: str, name: str = "TypeScript client"
) -> None:
    """All of its life, step by step. `document`, `name`: as for the Python client."""
    need(NODE.is_file(), "Node 22 and the packages of package.json: npm ci")
    process = await asyncio.create_subprocess_exec(
        *(str(NODE), str(SCRIPT), url, "list_toys", *document),
        env={"PATH": os.environ["PATH"], "HOME": str(home)},
        stdin=asyncio.subprocess.PIPE,
        stdout=asyncio.subprocess.PIPE,
        stderr=asyncio.subprocess.STDOUT,
    )
    assert process.stdin is not None
    assert process.stdout is not None
    buttons, said, other = iter(["Allow", "Refuse"]), dict[str, Any](), ""
    try:
        async with asyncio.timeout(SECONDS):
            async for raw in process.stdout:
                line = raw.decode().strip()
                if line.startswith("OPEN "):
                    await answer(person, line[5:], next(buttons), name)
                elif line == "END IT":
                    await disconnect(person, name)
                    process.stdin.write(b"done\n")
                elif line.startswith("{"):
                    step = json.loads(line)
                    said[step["step"]] = step["value"]
                else:
                    other += f"{line}\n"
    finally:
        if process.returncode is None:
            process.kill()
        await process.wait()
    assert said.pop("called", 0) > 3, other
    assert said.pop("refreshed", 0) > 3, other
    assert said == {"before": True, "rotated": True, "ended": True, "refused": "access_denied"}, (
        other
    )
