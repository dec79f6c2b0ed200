"""The official client's connection breaks while it refreshes: nobody has to connect it again."""

import json
from dataclasses import dataclass, field

import httpx2
import pytest
from mcp.client import Client
from mcp.client.streamable_http import streamable_http_client

from shared.contracts.wire import TOKEN_PATH
from tests.browser import IN_BROWSER
from tests.browser.oauth_listener import listening
from tests.browser.people import Person
from tests.browser.test_oauth_clients import SECONDS, Kept, provider_of
from tests.live import LiveStack

pytestmark = IN_BROWSER


@dataclass
class Breaking(httpx2.AsyncHTTPTransport):
    """Loses answers to refreshes, when it is told to."""

    lose: int = 0
    lost: list[bytes] = field(default_factory=list)

    def __post_init__(self) -> None:
        super().__init__()

    async def handle_async_request(self, request: httpx2.Request) -> httpx2.Response:
        response = await super().handle_async_request(request)
        if self.lose and request.url.path == TOKEN_PATH:
            self.lose -= 1
            assert response.status_code == 200
            self.lost.append(await response.aread())
            raise httpx2.ReadError("the connection broke", request=request)
        return response


async def test_a_client_that_lost_the_answer_to_a_refresh_goes_on_without_its_person(
    stack: LiveStack, ada: Person
) -> None:
    url, kept, transport = f"{stack.url}/mcp/catalog", Kept(), Breaking()
    async with listening() as listener:
        provider = provider_of(url, ada, listener, kept)

        async def toys(lose: int = 0) -> int:
            transport.lose = lose
            async with (
                httpx2.AsyncClient(auth=provider, transport=transport, timeout=SECONDS) as http,
                Client(streamable_http_client(url, http_client=http), mode="2026-07-28") as client,
            ):
                result = await client.call_tool("list_toys", {"query": ""})
                assert result.structured_content is not None
                return len(result.structured_content["toys"])

        assert await toys() > 3
        before = kept.tokens
        provider.context.token_expiry_time = 1.0  # as if ten minutes had passed
        with pytest.raises(BaseExceptionGroup) as broke:
            await toys(lose=1)
        assert broke.value.subgroup(httpx2.ReadError) is not None
        assert kept.tokens == before
        # a second press of Allow would be a press of Refuse
        assert await toys() > 3
    assert kept.tokens is not None
    assert [kept.tokens.refresh_token] == [
        json.loads(one)["refresh_token"] for one in transport.lost
    ]
    assert "oauth-answered-again" in stack.log("auth")
