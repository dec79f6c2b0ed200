"""An access token of OAuth: what it opens, and how a client learns that it should ask for more."""

from typing import Any

import pytest
from mcp.shared.exceptions import MCPError

from shared.stores.memory import MemoryKeyValue
from tests.relay.house import House, house
from tests.relay.old_caller import OldCaller, message
from tests.relay.upstreams import LegacyFake, modern_fake, sdk_app, served, toy_server

MODES = ("legacy", "2026-07-28")
LIST = {"jsonrpc": "2.0", "id": 1, "method": "tools/list"}
OTHERS = {"access": {"people": ["charles@strad.test"]}}


async def _challenge(h: House, path: str) -> tuple[int, str, Any]:
    headers = await h.bearer() | {"Accept": "application/json, text/event-stream"}
    async with h.http.post(h.url + path, json=LIST, headers=headers) as response:
        return response.status, response.headers.get("WWW-Authenticate", ""), await response.json()


async def test_a_server_that_only_the_person_may_use_is_named_as_a_scope_to_ask_for() -> None:
    async with (
        served(sdk_app(toy_server())) as url,
        house([{"slug": slug, "url": url} for slug in ("x", "y", "z")]) as h,
    ):
        h.tokens["ada"] = await h.token(servers=("x",), client="c")
        assert (await h.modern("/mcp/x", "tools/list"))[0] == 200
        metadata = f'resource_metadata="{h.url}/.well-known/oauth-protected-resource/mcp"'
        for path, scope in (
            ("/mcp/y", "mcp:y"),
            ("/mcp?servers=y", "mcp:y"),
            ("/mcp?servers=x,y,z", "mcp:x mcp:y mcp:z"),
        ):
            status, told, body = await _challenge(h, path)
            assert status == 403
            assert told == f'Bearer {metadata}, scope="{scope}", error="insufficient_scope"'
            assert body["error"]["data"]["kind"] == "forbidden"


@pytest.mark.parametrize(
    "path", ["/mcp/no", "/mcp/secret", "/mcp?servers=x,secret,y", "/mcp?servers=y,no"]
)
async def test_a_refusal_that_no_scope_cures_never_asks_for_one(path: str) -> None:
    async with (
        served(sdk_app(toy_server())) as url,
        house(
            [
                {"slug": "x", "url": url},
                {"slug": "y", "url": url},
                {"slug": "secret", "url": url} | OTHERS,
            ]
        ) as h,
    ):
        answers = []
        for servers in (("x",), ("x", "y", "secret", "no"), None):
            h.tokens["ada"] = await h.token(servers=servers, client="c")
            status, told, body = await _challenge(h, path)
            body["error"]["data"].pop("request_id")
            answers.append((status, told, body))
        assert answers == [answers[0]] * 3
        assert answers[0][:2] == (404, "")


async def test_a_token_that_a_person_made_and_limited_invites_to_no_step() -> None:
    async with (
        served(sdk_app(toy_server())) as url,
        house([{"slug": "x", "url": url}, {"slug": "y", "url": url}]) as h,
    ):
        h.tokens["ada"] = await h.token(servers=("x",))
        status, told, _ = await _challenge(h, "/mcp/y")
        assert (status, told) == (404, "")


@pytest.mark.parametrize("mode", MODES)
@pytest.mark.parametrize("path", ["/mcp/x", "/mcp"])
async def test_a_token_that_may_only_read_calls_nothing_that_may_change(
    path: str, mode: str
) -> None:
    prefix = "x__" if path == "/mcp" else ""
    policy = {"each": {"echo": {"read_only": True}}}
    async with (
        served(sdk_app(toy_server())) as url,
        house([{"slug": "x", "url": url, "tools": policy}]) as h,
    ):
        h.tokens["ada"] = await h.token(read_only=True, client="c")
        async with h.client(path, mode) as client:
            said = await client.call_tool(f"{prefix}echo", {"text": "read"})
            assert said.is_error is not True
            with pytest.raises(MCPError, match="This token may only read") as caught:
                await client.call_tool(f"{prefix}delete", {"item": "x"})
            assert caught.value.error.code == -32602
            with pytest.raises(MCPError, match="Unknown tool"):
                await client.call_tool(f"{prefix}nothing", {})


@pytest.mark.parametrize("era", ["legacy", "modern"])
async def test_a_token_that_may_only_read_says_nothing_that_strad_does_not_know(era: str) -> None:
    vendor = ("tasks/cancel", "vendor/delete", "Tools/Call", "tools/call ", "notifications/x")

    def said(*_: Any) -> Any:
        return {"result": {"resultType": "complete"}}

    fake = LegacyFake() if era == "legacy" else modern_fake([], **dict.fromkeys(vendor, said))
    async with fake.served() as url, house([{"slug": "x", "url": url}]) as h:
        h.tokens["ada"] = await h.token(read_only=True)
        caller = await OldCaller.begin(h, "/mcp/x") if era == "legacy" else None
        for method in vendor:
            if caller is None:
                status, body = await h.modern("/mcp/x", method)
            else:
                async with caller.post(message(method)) as response:
                    status, body = response.status, await response.json()
                assert await caller.tell(method.replace("notifications/x", "vendor/x")) == 202
            assert (status, body["error"]["code"]) == (200 if caller else 400, -32602)
            assert body["error"]["data"]["reason"] == "read-only-token"
        if caller is not None:
            assert (await caller.ask("tools/list"))[-1]["result"]["tools"]
        assert not set(fake.methods) & {*vendor, "vendor/x"}
        h.tokens["ada"] = await h.token(read_only=False)
        if caller is None:
            assert (await h.modern("/mcp/x", "vendor/delete"))[0] == 200


async def test_an_access_token_costs_the_same_one_round_trip() -> None:
    class Counting(MemoryKeyValue):
        trips = 0

        async def get(self, key: str) -> bytes | None:
            self.trips += 1
            return await super().get(key)

        async def look(self, *args: Any) -> Any:
            found = await super().look(*args)
            self.trips = 1  # what it reads together
            return found

    store = Counting()
    async with (
        served(sdk_app(toy_server())) as url,
        house([{"slug": "x", "url": url}], store=store) as h,
    ):
        h.tokens["ada"] = await h.token(servers=("x",), client="c")
        for _ in range(3):
            assert (await h.modern("/mcp/x", "tools/list"))[0] == 200
        assert store.trips == 1
