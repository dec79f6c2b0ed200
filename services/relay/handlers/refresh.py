"""POST /internal/v1/entitlements/refresh: somebody knows that entitlements have changed."""

import hmac

from aiohttp import web
from pydantic import ValidationError

from services.relay.entitlements.epochs import Epochs
from services.relay.messages import rpc
from shared import log
from shared.contracts.fields import Email
from shared.contracts.identity import Frozen
from shared.contracts.problems import Problem, ProblemKind
from shared.contracts.wire import INTERNAL_REFRESH_PATH
from shared.web import body as incoming
from shared.web.routes import Access, Answer, Route


class Whom(Frozen):
    """The body. Without `person`: everybody."""

    person: Email | None = None


class Refresh:
    """For who holds `entitlements.refresh_token`; without one in `strad.yaml` there is nothing."""

    def __init__(self, epochs: Epochs, token: str | None) -> None:
        self._epochs = epochs
        self._token = token

    def route(self) -> Route:
        """Where it is."""
        path, access = INTERNAL_REFRESH_PATH, Access.GUARDED
        return Route("POST", path, self.post, access, Answer.JSON, self._check)

    async def post(self, request: web.Request) -> web.Response:
        """204 once every replica has been told."""
        try:
            raw = await incoming.read(request)
            whom = Whom.model_validate(rpc.loads_once(raw) if raw else {})
        except (rpc.Unreadable, ValidationError) as error:
            title = "The request cannot be understood."
            advice = 'Send {"person": "ada@example.com"}, or {} for everybody.'
            raise Problem(ProblemKind.BAD_REQUEST, title, advice) from error
        await self._epochs.void(whom.person)
        log.event("entitlements-refreshed", everybody=whom.person is None)
        return web.Response(status=204)

    async def _check(self, request: web.Request) -> None:
        """Let nobody else through."""
        given = request.headers.getall("Authorization", [])
        if self._token is None:
            raise Problem(ProblemKind.NOT_FOUND, "There is nothing here.", "Check the address.")
        expected = f"Bearer {self._token}".encode()
        sent = given[0].encode(errors="surrogateescape") if len(given) == 1 else b""
        if not hmac.compare_digest(sent, expected):
            title, advice = (
                "The token is not valid.",
                "Send entitlements.refresh_token as `Bearer`.",
            )
            raise Problem(ProblemKind.SIGN_IN_NEEDED, title, advice, reason="refresh-token")
