"""Relays as processes over one store, asked in strict turn: everything works as with one.

Each request goes to the replica after the one that had the last, so nothing can lean on memory.
"""

import asyncio
from collections.abc import AsyncIterator, Iterator
from contextlib import AsyncExitStack, asynccontextmanager
from dataclasses import dataclass
from typing import Any
from urllib.parse import urlsplit

import httpx2
import pytest
from mcp.client import Client
from mcp.client.streamable_http import streamable_http_client
from mcp.server.mcpserver import Context, MCPServer
from mcp_types import (
    Completion,
    ElicitResult,
    PromptReference,
    ResourceTemplateReference,
    ToolListChangedNotification,
)
from pydantic import BaseModel

from demo.run.ports import LOOPBACK, free_ports
from tests.conformance.front import front, with_token
from tests.peers.lone_relay import LoneRelay, lone_relay
from tests.relay.upstreams import sdk_app, served

pytestmark = pytest.mark.stack

ERAS = ("legacy", "modern", "both")
MODES = ("legacy", "2026-07-28")
VIEWS = [*(f"/mcp/{era}" for era in ERAS), "/mcp"]
EVERYTHING = pytest.mark.parametrize("view", VIEWS)
both_modes = pytest.mark.parametrize("mode", MODES)
two = pytest.mark.parametrize("in_turn", [2], indirect=True, ids=["two"])
three = pytest.mark.parametrize("in_turn", [3], indirect=True, ids=["three"])


class Colour(BaseModel):
    colour: str


def _featured() -> MCPServer:
    server = MCPServer("featured")

    @server.tool()
    def echo(text: str) -> str:
        return text

    @server.tool()
    async def steps(ctx: Context[Any]) -> str:
        for number in range(3):
            await ctx.report_progress(number, 3)
        return "done"

    @server.tool()
    async def ask(ctx: Context[Any]) -> str:
        answer = await ctx.elicit("Which colour?", Colour)
        return answer.data.colour if answer.action == "accept" else "none"

    @server.tool()
    async def change(ctx: Context[Any]) -> str:
        server.add_tool(lambda: "x", name=f"new-{len(await server.list_tools())}")
        await ctx.session.send_tool_list_changed()
        await ctx.notify_tools_changed()
        return "changed"

    @server.resource("x://r")
    def resource() -> str:
        return "the resource"

    @server.resource("x://{name}/part")
    def part(name: str) -> str:
        return f"the part {name}"

    @server.prompt()
    def describe(toy: str) -> str:
        return f"Describe {toy}"

    @server.completion()  # type: ignore[no-untyped-call, untyped-decorator]
    async def complete(ref: Any, argument: Any, context: Any) -> Completion:
        return Completion(values=[f"{argument.value}-completed"])

    return server


@dataclass(frozen=True)
class InTurn:
    """The address in front of the replicas, and how names look on a view."""

    url: str

    @staticmethod
    def tool(view: str, name: str) -> str:
        return name if view != "/mcp" else f"both__{name}"

    @staticmethod
    def uri(view: str, uri: str) -> str:
        return uri if view != "/mcp" else f"strad+both:{uri}"

    @asynccontextmanager
    async def client(self, view: str, mode: str, **options: Any) -> AsyncIterator[Client]:
        """The SDK's client, connected."""
        async with httpx2.AsyncClient(timeout=httpx2.Timeout(10, read=20)) as http:
            transport = streamable_http_client(self.url + view, http_client=http)
            async with Client(transport, mode=mode, **options) as client:
                yield client


@pytest.fixture(scope="module")
def ports() -> dict[str, int]:
    """Where the servers are."""
    return dict(zip(ERAS, free_ports(len(ERAS)), strict=True))


@pytest.fixture(scope="module")
def relay(ports: dict[str, int], tmp_path_factory: pytest.TempPathFactory) -> Iterator[LoneRelay]:
    """Three replicas."""
    (port,) = free_ports(1)
    servers = {era: f"http://{LOOPBACK}:{ports[era]}/mcp" for era in ERAS}
    folder = tmp_path_factory.mktemp("in-turn")
    with lone_relay(folder, f"http://{LOOPBACK}:{port}", servers, replicas=3) as running:
        yield running


@pytest.fixture
async def in_turn(
    request: pytest.FixtureRequest, relay: LoneRelay, ports: dict[str, int]
) -> AsyncIterator[InTurn]:
    """So many of them behind one address, and the servers behind them."""
    port = urlsplit(relay.public_url).port
    assert port is not None
    replicas = [one.url for one in relay.replicas[: request.param]]
    async with AsyncExitStack() as stack:
        for era in ERAS:
            await stack.enter_async_context(served(sdk_app(_featured(), era), ports[era]))
        await stack.enter_async_context(front(port, replicas, with_token(relay.token)))
        yield InTurn(relay.public_url)


def _text(result: Any) -> str:
    assert not result.is_error, result
    return str(result.content[0].text)


@EVERYTHING
@both_modes
@two
async def test_every_request_works_whoever_had_the_last(
    in_turn: InTurn, mode: str, view: str
) -> None:
    steps: list[float] = []

    async def heard(progress: float, total: float | None, message: str | None) -> None:
        steps.append(progress)

    tool, uri = in_turn.tool, in_turn.uri
    async with in_turn.client(view, mode) as client:
        for _ in range(3):  # each of them at each replica
            assert tool(view, "echo") in {one.name for one in (await client.list_tools()).tools}
            assert _text(await client.call_tool(tool(view, "echo"), {"text": "hi"})) == "hi"
            assert (
                _text(await client.call_tool(tool(view, "steps"), {}, progress_callback=heard))
                == "done"
            )
            read = await client.read_resource(uri(view, "x://r"))
            assert read.contents[0].text == "the resource"  # type: ignore[union-attr]
            templates = (await client.list_resource_templates()).resource_templates
            assert uri(view, "x://{name}/part") in {one.uri_template for one in templates}
            part = await client.read_resource(uri(view, "x://one/part"))
            assert part.contents[0].text == "the part one"  # type: ignore[union-attr]
            prompt = tool(view, "describe")
            assert prompt in {one.name for one in (await client.list_prompts()).prompts}
            described = await client.get_prompt(prompt, {"toy": "bear"})
            assert described.messages[0].content.text == "Describe bear"  # type: ignore[union-attr]
            for ref in (
                PromptReference(name=prompt),
                ResourceTemplateReference(uri=uri(view, "x://{name}/part")),
            ):
                got = await client.complete(ref, {"name": "toy", "value": "b"})
                assert got.completion.values == ["b-completed"]
    assert steps == [0, 1, 2] * 3


@two
async def test_a_servers_question_and_its_answer_pass_through_different_replicas(
    in_turn: InTurn,
) -> None:
    async def answer(_: Any, params: Any) -> ElicitResult:
        return ElicitResult(action="accept", content={"colour": "red"})

    for view in ("/mcp/legacy", "/mcp/both"):
        async with in_turn.client(view, "legacy", elicitation_callback=answer) as client:
            for _ in range(3):
                assert _text(await client.call_tool("ask", {})) == "red"


@pytest.mark.parametrize("view", ["/mcp/modern", "/mcp/both", "/mcp"])
@three
async def test_a_subscription_hears_of_a_change_that_came_through_another_replica(
    in_turn: InTurn, view: str
) -> None:
    async with (
        in_turn.client(view, "2026-07-28") as client,
        client.listen(tools_list_changed=True) as changes,
    ):
        for _ in range(2):
            assert _text(await client.call_tool(in_turn.tool(view, "change"), {})) == "changed"
            async with asyncio.timeout(5):
                assert "tools" in str(await anext(aiter(changes))).lower()


@EVERYTHING
@three
async def test_a_sessions_stream_hears_of_a_change_that_came_through_another_replica(
    in_turn: InTurn, view: str
) -> None:
    heard = asyncio.Event()

    async def message(said: Any) -> None:
        if isinstance(said, ToolListChangedNotification):
            heard.set()

    async with in_turn.client(view, "legacy", message_handler=message) as client:
        async with asyncio.timeout(10):
            while not heard.is_set():  # the stream opens beside the first requests
                assert _text(await client.call_tool(in_turn.tool(view, "change"), {})) == "changed"
                await asyncio.sleep(0.1)
