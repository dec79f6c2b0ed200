"""One server for a caller of the other version: discovery, lists, reads and calls.

What a server asks back is answered where the caller is (`interview.py`, for callers of the versions
before 2026-07-28); what it tells of changes is in `listener.py`.
"""

from typing import Any

from mcp_types.jsonrpc import METHOD_NOT_FOUND

from services.relay import policy
from services.relay.calls import Calls
from services.relay.gate import Way
from services.relay.messages import rpc
from services.relay.servers.ask import DISCOVER, Asker
from services.relay.servers.hello import Hello
from services.relay.servers.offered import Offered
from services.relay.servers.pool import REPEATABLE
from services.relay.servers.progress import Progress
from shared.contracts.wire import Surface

_CARRIED = REPEATABLE - {"ping"}
_ANNOUNCED = frozenset(
    {"completions", "experimental", "extensions", "logging", "prompts", "resources", "tools"}
)
_CHANGES = frozenset({"listChanged", "subscribe"})


class Bridge:
    """Answers in place of one server. Methods may raise a `Problem`."""

    def __init__(self, asker: Asker, calls: Calls, offered: Offered) -> None:
        self._offered = offered
        self._asker = asker
        self._calls = calls

    async def answer(
        self,
        way: Way,
        hello: Hello,
        method: str,
        params: rpc.Message,
        headers: dict[str, str] | None = None,
        progress: Progress | None = None,
    ) -> rpc.Message:
        """The outcome of one request: `result` or `error`. `progress` hears of it meanwhile."""
        if method == "tools/call":
            refusal = await self._calls.refusal(way, hello, params.get("name"), Surface.CLIENT)
            return refusal or await self._calls.call(way, hello, params, headers, progress)
        if method == DISCOVER:
            tells = not self._offered.nothing(way.server.slug)
            return announced(await self._asker.ask(way, hello, DISCOVER, {}), tells=tells)
        if method not in _CARRIED:
            return unknown_method(method)
        answer = await self._asker.ask(way, hello, method, params, progress=progress)
        policy.filtered(way.server, hello, answer)
        return answer


def unknown_method(method: str) -> rpc.Message:
    """A method that is not served here."""
    return rpc.failure(METHOD_NOT_FOUND, f"Method not found: {method[:128]}")


def announced(answer: rpc.Message, *, tells: bool) -> rpc.Message:
    """A server's introduction with those capabilities that work here.

    `tells`: whether it can be listened to, so that it may be said to tell of changes.
    """
    if "error" in answer:
        return answer
    given = answer["result"]["capabilities"]
    kept = {name: given[name] for name in given if name in _ANNOUNCED}
    if not tells:
        kept = {name: _without_changes(value) for name, value in kept.items()}
    return {"result": {**answer["result"], "capabilities": kept}}


def _without_changes(value: Any) -> Any:
    if not isinstance(value, dict):
        return value
    return {key: item for key, item in value.items() if key not in _CHANGES}
