"""`POST /apps/<slug>/tools/call`: one tool call of a page, or of the host on its behalf.

The server is the one in the path, whatever the message says. Signed in, JSON only, from our own
origin (`shared.web.origin`); the relay decides the rest: entitlement, policy, visibility, surface.
"""

from collections.abc import Awaitable
from functools import partial
from typing import Any, Literal

from aiohttp import web
from pydantic import Field

from services.apphost.incoming import Incoming, read
from services.apphost.limits import Limits
from services.apphost.questions import Again, asked
from services.apphost.relay_client import SPARE_SECONDS, RelayClient, RpcError
from shared import numbers
from shared.contracts.config import Config, Server
from shared.contracts.identity import SessionKind
from shared.contracts.problems import Problem, ProblemKind
from shared.contracts.wire import Service, Surface
from shared.web.lines import Lines, takes_lines
from shared.web.routes import PRINCIPAL

_DEFAULT_SECONDS = 60


class CallBody(Incoming):
    """The body. `page` is the `ui://` address that is shown; `surface` says who asks.

    `again`: the same call once more, with what a person answered to the server's questions.
    """

    name: str = Field(min_length=1, max_length=256)
    arguments: dict[str, Any]
    page: str = Field(pattern=r"^ui://", max_length=2048)
    surface: Literal["app", "open", "run"]
    again: Again | None = None


class ToolCall:
    """The bridge's one route."""

    def __init__(self, config: Config, relay: RelayClient, limits: Limits) -> None:
        self._config = config
        self._relay = relay
        self._limits = limits

    async def post(self, request: web.Request) -> web.StreamResponse:
        """`{"result"}`, or `{"error"}` as the server or the relay said it (JSON-RPC 2.0 §5), or
        `{"asks"}` when the server asks something back first (`services.apphost.questions`).

        Who takes lines hears of the call's progress before: `{"progress"}`, and a problem that
        comes afterwards as a last line `{"problem"}`. Who leaves cancels the call at its server.
        """
        who, slug = request[PRINCIPAL], request.match_info["slug"]
        if who.session_kind is SessionKind.TOKEN:
            title = "This sign-in may look, but not act."
            advice = "Sign out, and sign in yourself to use the app."
            raise Problem(ProblemKind.FORBIDDEN, title, advice, "look-only-session")
        call = await read(request, CallBody, "a tool call")
        idle, longest = _seconds(self._config.server(slug))
        lines = Lines(Service.APPHOST, request)
        async with self._limits.one(who.digest, slug, idle) as renew:

            async def told(said: dict[str, Any]) -> None:
                await renew()
                await lines.say(_json({"progress": said}))

            ask = partial(
                self._relay.rpc,
                who,
                slug,
                "tools/call",
                {"name": call.name, "arguments": call.arguments}
                | (call.again.params() if call.again else {}),
                surface=Surface(call.surface),
                page=call.page,
                seconds=idle,
            )
            answer = ask(longest=longest, told=told) if takes_lines(request) else ask()
            return await lines.end(_outcome(answer))


async def _outcome(answer: Awaitable[dict[str, Any]]) -> bytes:
    try:
        result = await answer
        asks = asked(result)
        return _json({"result": result} if asks is None else {"asks": asks})
    except RpcError as error:
        return _json({"error": error.error})


def _seconds(server: Server | None) -> tuple[int, int]:
    """How long to wait for a sign of life, and in all: a little longer than the relay does."""
    if server is None:
        return _DEFAULT_SECONDS, _DEFAULT_SECONDS
    return server.timeout + SPARE_SECONDS, server.longest + SPARE_SECONDS


def _json(value: dict[str, Any]) -> bytes:
    return numbers.dumps(value).encode()
