"""What a server says of a call while it runs, on its way to the one caller who asked for it.

The token that goes to the server is the relay's own, new for each call; the caller's never leaves
the relay. So no server can name another caller's call, and no caller can be told of one.
"""

import asyncio
from collections.abc import Awaitable, Callable

from services.relay.messages import rpc
from services.relay.servers.deadlines import Patience, deadline
from services.relay.servers.logs import Logs
from shared import ids
from shared.contracts.config import Server
from shared.numbers import Number

METHOD = "notifications/progress"
PER_SECOND = 20.0
MAX_TEXT = 1000
_LARGEST = 1e300  # what JSON readers everywhere take as a number

Tell = Callable[[rpc.Message], Awaitable[None]]
"""Gets `progress`, and `total` and `message` where the server gave them."""


class Progress:
    """For one call. `token`: what its server is given as `progressToken`; None if nobody asks.

    `logs`: for callers that want log lines too.
    """

    def __init__(self, tell: Tell | None, logs: Logs | None = None) -> None:
        self.token = ids.new_id() if tell is not None else None
        self.logs = logs
        self._tell = tell
        self._patience: Patience | None = None
        self._clock = asyncio.get_running_loop().time
        self._filled_at = self._clock()
        self._room = PER_SECOND

    def during(self, limit: deadline, server: Server) -> None:
        """The call ends by this, unless the server says that it is at work."""
        self._patience = Patience(limit, server)

    async def heard(self, message: rpc.Message) -> None:
        """Pass on what the server says of this call; anything else is for nobody.

        More than PER_SECOND are left out.
        """
        if self.logs is not None:
            await self.logs.heard(message)
        said = _read(message, self.token)
        if said is None or self._tell is None:
            return
        if self._patience is not None:
            self._patience.renew()
        now = self._clock()
        self._room = min(PER_SECOND, self._room + (now - self._filled_at) * PER_SECOND)
        self._filled_at = now
        if self._room >= 1:
            self._room -= 1
            await self._tell(said)


def notification(token: rpc.Id, said: rpc.Message) -> rpc.Message:
    """A caller's own notification (2025-11-25 and 2026-07-28, basic/utilities/progress)."""
    return {"jsonrpc": "2.0", "method": METHOD, "params": {**said, "progressToken": token}}


def wanted(params: rpc.Message) -> rpc.Id | None:
    """The `progressToken` of a request that asks for progress."""
    meta = params.get("_meta")
    token = meta.get("progressToken") if isinstance(meta, dict) else None
    return token if isinstance(token, str | int) and not isinstance(token, bool) else None


def _read(message: rpc.Message, token: str | None) -> rpc.Message | None:
    params = message.get("params")
    if message.get("method") != METHOD or "id" in message or not isinstance(params, dict):
        return None
    if token is None or params.get("progressToken") != token:
        return None
    if not _is_number(params.get("progress")):
        return None
    said = {"progress": params["progress"]}
    if _is_number(params.get("total")):
        said["total"] = params["total"]
    if isinstance(params.get("message"), str):
        said["message"] = params["message"][:MAX_TEXT]
    return said


def _is_number(value: object) -> bool:
    if isinstance(value, bool) or not isinstance(value, int | float | Number):
        return False
    near = float(value) if isinstance(value, Number) else value
    return -_LARGEST < near < _LARGEST
