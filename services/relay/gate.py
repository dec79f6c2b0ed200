"""The one way to a server: identity, then grant, then decision, then upstream.

Everything that talks to a server takes a `Way`, and only the gate makes one. A server that does not
exist and a server that somebody may not use are the same answer.
"""

from typing import NamedTuple

from services.relay.audit.trail import Audit
from services.relay.entitlements.grants import Grants
from shared import metrics
from shared.contracts import scopes
from shared.contracts.access import Decision, Denied, Grant, Reason
from shared.contracts.config import Config, Server
from shared.contracts.identity import Principal
from shared.contracts.problems import Problem, ProblemKind
from shared.decide import may_use


class Way(NamedTuple):
    """One person's permitted way to one server, for the length of one request."""

    principal: Principal
    grant: Grant
    server: Server


class Gate:
    """Opens ways. Methods may raise `StoreUnavailable`."""

    def __init__(self, config: Config, grants: Grants, audit: Audit) -> None:
        self._servers = {server.slug: server for server in config.servers}
        self._grants = grants
        self._audit = audit

    async def open(self, principal: Principal, slug: str) -> Way:
        """The way to one server. Raises NOT_FOUND, whatever the reason, but for one.

        FORBIDDEN where the person may use the server and the OAuth client may not.
        """
        grant = await self._grants.of(principal.person, slug)
        server = self._servers.get(slug)
        decision = may_use(principal, grant, server)
        if isinstance(decision, Denied) or server is None:
            raise await self._nothing_here(principal, slug, decision)
        metrics.DECISIONS.add("allowed")
        return Way(principal, grant, server)

    async def open_all(self, principal: Principal) -> list[Way]:
        """The ways to every server this person may use, in the order of the configuration."""
        grant = await self._grants.of(principal.person)
        granted = [server for slug, server in self._servers.items() if slug in grant.servers]
        return [
            Way(principal, grant, server)
            for server in granted
            if may_use(principal, grant, server).ok
        ]

    async def check(self, way: Way) -> None:
        """Raises FORBIDDEN when a way that was open some time ago would not be opened now."""
        grant = await self._grants.of(way.principal.person, way.server.slug)
        decision = may_use(way.principal, grant, way.server)
        if isinstance(decision, Denied):
            metrics.DECISIONS.add(decision.reason)
            await self._audit.denied(way.principal, way.server.slug, decision.reason)
            title = f"Your access to {way.server.name} has ended."
            raise Problem(ProblemKind.FORBIDDEN, title, reason=decision.reason)

    async def _nothing_here(self, principal: Principal, slug: str, decision: Decision) -> Problem:
        reason = decision.reason if isinstance(decision, Denied) else Reason.UNKNOWN_SERVER
        metrics.DECISIONS.add(reason)
        await self._audit.denied(principal, slug, reason)
        if reason is Reason.TOKEN_SCOPE and principal.client is not None:
            # only here: its owner may use the server, so asking for more leads somewhere
            return Problem(
                ProblemKind.FORBIDDEN,
                "This client was not given access to this server.",
                "Connect it again, and allow it the server.",
                reason=scopes.INSUFFICIENT,
            )
        return Problem(
            ProblemKind.NOT_FOUND,
            "There is no such server here.",
            "Check the name, or ask an administrator for access to it.",
            reason=reason,
        )
