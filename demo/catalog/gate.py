"""ASGI middleware in front of the MCP endpoint: no request with a wrong identity gets past it."""

from starlette.responses import JSONResponse
from starlette.types import ASGIApp, Receive, Scope, Send

from demo.catalog.identity import HEADER, Caller, IdentityCheck, IdentityRefused, KeysUnavailable


class IdentityGate:
    """Leaves the `Caller`, or None without a header, in `request.state.caller`.

    403 for a wrong identity and 503 when it cannot be checked, both as `{"error", "reason"}`.
    Without `check` any identity is refused: one that nobody verifies must not be believed.
    """

    def __init__(self, app: ASGIApp, check: IdentityCheck | None) -> None:
        self._app, self._check = app, check

    async def __call__(self, scope: Scope, receive: Receive, send: Send) -> None:
        if scope["type"] != "http":
            await self._app(scope, receive, send)
            return
        try:
            caller = await self._caller(scope)
        except IdentityRefused as refusal:
            await _refuse(403, "identity_refused", refusal)(scope, receive, send)
        except KeysUnavailable as failure:
            await _refuse(503, "identity_unchecked", failure)(scope, receive, send)
        else:
            scope.setdefault("state", {})["caller"] = caller
            await self._app(scope, receive, send)

    async def _caller(self, scope: Scope) -> Caller | None:
        name = HEADER.encode()
        values = [value for header, value in scope["headers"] if header == name]
        if not values:
            return None
        if self._check is None:
            raise IdentityRefused("this server was started without RELAY_JWKS_URL")
        if len(values) > 1:
            raise IdentityRefused("more than one identity")
        return await self._check.caller(values[0].decode("latin-1"))


def _refuse(status: int, error: str, reason: Exception) -> JSONResponse:
    return JSONResponse({"error": error, "reason": str(reason)}, status)
