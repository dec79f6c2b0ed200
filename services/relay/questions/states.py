"""`requestState` on its way out and back (2026-07-28, "Multi Round-Trip Requests").

A server writes in it what it has learned so far and must believe it when it comes back; it knows
its callers only as the relay. So what leaves is sealed to the person, the server, the method, what
is named and its arguments, for ten minutes: one person's answers are of no use in another's call.

It may come back twice: then the same person repeats the same call, which only the server can tell
from a retry.
"""

import base64

from mcp.shared.inbound import NAME_BEARING_METHODS
from mcp_types.jsonrpc import INVALID_PARAMS
from mcp_types.methods import INPUT_REQUIRED_METHODS, is_input_required

from services.relay.gate import Way
from services.relay.messages import rpc
from shared.clock import Clock
from shared.signing import Seal, SealBroken, SealExpired

MEMBER = "requestState"
LIFE_SECONDS = 600
_NOT_THIS = "does not belong to this call of yours: begin again without it"


class StateRefused(Exception):
    """A `requestState` that is not believed; `outcome` holds the error that the caller hears."""

    def __init__(self, reason: str, text: str) -> None:
        super().__init__(reason)
        message = f"params.{MEMBER} {text}"
        self.outcome = rpc.failure(INVALID_PARAMS, message, {"reason": reason})


class States:
    """Seals and opens. A state belongs to the request that it is sealed with, whoever retries."""

    def __init__(self, seal: Seal, clock: Clock) -> None:
        self._seal = seal
        self._clock = clock

    def seal(self, way: Way, method: str, params: rpc.Message, state: str | None) -> str:
        """What the caller gets for a server's state; also where the server gave none."""
        end = self._clock() + LIFE_SECONDS
        sealed = self._seal.seal(_binding(way, method, params), {"state": state}, end)
        return base64.urlsafe_b64encode(sealed).rstrip(b"=").decode()

    def open(self, way: Way, method: str, params: rpc.Message) -> str | None:
        """What the server gave for the state that these params bring. Raises `StateRefused`."""
        given = params[MEMBER]
        if not isinstance(given, str):
            raise StateRefused("state-malformed", "must be text")
        try:
            sealed = base64.b64decode(
                given + "=" * (-len(given) % 4), altchars=b"-_", validate=True
            )
            record = self._seal.open(_binding(way, method, params), sealed, self._clock())
        except SealExpired as error:
            raise StateRefused("state-expired", "has expired: begin again without it") from error
        except (SealBroken, ValueError) as error:
            raise StateRefused("state-not-for-this-call", _NOT_THIS) from error
        state: str | None = record["state"]
        return state

    def opened(self, way: Way, method: str, params: rpc.Message) -> rpc.Message:
        """Params as the server may have them. Raises `StateRefused`."""
        if method not in INPUT_REQUIRED_METHODS or MEMBER not in params:
            return params
        state = self.open(way, method, params)
        rest = {key: value for key, value in params.items() if key != MEMBER}
        return rest if state is None else {**rest, MEMBER: state}

    def sealed(
        self, way: Way, method: str, params: rpc.Message, answer: rpc.Message
    ) -> rpc.Message:
        """An answer as the caller may have it. `params`: what the caller sent."""
        state = state_of(method, answer)
        if state is None:
            return answer
        result = {**answer["result"], MEMBER: self.seal(way, method, params, state)}
        return {**answer, "result": result}


def state_of(method: str, answer: rpc.Message) -> str | None:
    """The state in an answer that asks for more; None in any other."""
    result = answer.get("result")
    if method not in INPUT_REQUIRED_METHODS or not isinstance(result, dict):
        return None
    state = result.get(MEMBER)
    return state if isinstance(state, str) and is_input_required(result) else None


def _binding(way: Way, method: str, params: rpc.Message) -> str:
    named = [params.get(NAME_BEARING_METHODS[method]), params.get("arguments")]
    owner = way.principal.subject
    return "\0".join(("mrtr", owner, way.server.slug, method, rpc.digest(named)))
