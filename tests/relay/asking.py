"""A server of 2026-07-28, written with the SDK, whose tools, prompt and resource ask back."""

from typing import Any

from mcp.server.mcpserver import Context, MCPServer
from mcp_types import (
    CreateMessageRequest,
    CreateMessageRequestParams,
    CreateMessageResult,
    ElicitRequest,
    ElicitRequestFormParams,
    ElicitRequestURLParams,
    ElicitResult,
    InputRequiredResult,
    ListRootsRequest,
    ListRootsResult,
    SamplingMessage,
    TextContent,
)

WHERE = "https://bank.example/pay?order=7"


def form(field: str, message: str = "") -> ElicitRequest:
    """A question for one text."""
    schema = {"type": "object", "properties": {field: {"type": "string"}}, "required": [field]}
    text = message or f"Which {field}?"
    return ElicitRequest(params=ElicitRequestFormParams(message=text, requested_schema=schema))


def visit() -> ElicitRequest:
    """A question that is answered elsewhere."""
    return ElicitRequest(
        params=ElicitRequestURLParams(message="Pay there.", url=WHERE, elicitation_id="e-1")
    )


def sample() -> CreateMessageRequest:
    """A question to a model."""
    message = SamplingMessage(role="user", content=TextContent(type="text", text="A colour?"))
    return CreateMessageRequest(
        params=CreateMessageRequestParams(messages=[message], max_tokens=10)
    )


def ask(state: str | None = None, **questions: Any) -> InputRequiredResult:
    """The result that asks."""
    return InputRequiredResult(input_requests=questions or None, request_state=state)


def said(ctx: Context, key: str) -> str:
    """What was answered: the text of a form, else the action."""
    answer = (ctx.input_responses or {})[key]
    if isinstance(answer, ElicitResult):
        return str(next(iter((answer.content or {}).values()), answer.action))
    if isinstance(answer, ListRootsResult):
        return ",".join(str(root.uri) for root in answer.roots)
    assert isinstance(answer, CreateMessageResult)
    assert isinstance(answer.content, TextContent)
    return answer.content.text


def asking_server(name: str = "asking") -> MCPServer:
    """Every way to ask."""
    server = MCPServer(name)
    _ask_people(server)
    _ask_clients(server)
    return server


def _ask_people(server: MCPServer) -> None:
    @server.tool()
    async def paint(thing: str, ctx: Context) -> str | InputRequiredResult:
        if not ctx.input_responses:
            return ask("painting", colour=form("colour"))
        return f"{thing} {said(ctx, 'colour')} after {ctx.request_state}"

    @server.tool()
    async def pay(ctx: Context) -> str | InputRequiredResult:
        return f"paid {said(ctx, 'p')}" if ctx.input_responses else ask("paying", p=visit())

    @server.tool()
    async def order(ctx: Context) -> str | InputRequiredResult:
        if not ctx.input_responses:
            return ask("ordering", p=visit(), size=form("size"))
        return f"{said(ctx, 'size')} paid {said(ctx, 'p')}"

    @server.tool()
    async def dress(ctx: Context) -> str | InputRequiredResult:
        worn, answers = ctx.request_state or "", ctx.input_responses or {}
        for piece in ("hat", "coat", "shoes"):
            if piece in answers:
                worn += f"{said(ctx, piece)} {piece};"
            elif piece not in worn:
                return ask(worn, **{piece: form(piece)})
        return worn

    @server.tool()
    async def wait(ctx: Context) -> str | InputRequiredResult:
        return "waited" if ctx.request_state == "ready" else ask("ready")

    @server.tool()
    async def forget(ctx: Context) -> str | InputRequiredResult:
        return said(ctx, "name") if ctx.input_responses else ask(name=form("name"))


def _ask_clients(server: MCPServer) -> None:
    @server.tool()
    async def think(ctx: Context) -> str | InputRequiredResult:
        return said(ctx, "m") if ctx.input_responses else ask("thinking", m=sample())

    @server.tool()
    async def look(ctx: Context) -> str | InputRequiredResult:
        if ctx.input_responses:
            return said(ctx, "r")
        return ask("looking", r=ListRootsRequest())

    @server.tool()
    async def known(ctx: Context) -> str:
        given = ctx.client_capabilities
        assert given is not None
        return given.model_dump_json(
            exclude_none=True, include={"elicitation", "sampling", "roots"}
        )

    @server.prompt()
    async def poem(ctx: Context) -> str | InputRequiredResult:
        if not ctx.input_responses:
            return ask("rhyming", theme=form("theme"))
        return f"A poem of {said(ctx, 'theme')}"

    @server.resource("asking://{shelf}")
    async def book(shelf: str, ctx: Context) -> str | InputRequiredResult:
        if not ctx.input_responses:
            return ask("reading", title=form("title"))
        return f"{said(ctx, 'title')} from {shelf}"
