"""Who calls `/mcp`: one bearer token, in the header and nowhere else (RFC 6750, RFC 9728)."""

from collections import OrderedDict
from collections.abc import Sequence
from typing import NamedTuple
from weakref import ReferenceType, ref

from aiohttp import web

from services.relay.callers.guesses import Guesses
from services.relay.callers.limits import KEEP_SECONDS, Limits
from services.relay.callers.read_ahead import ReadAhead
from services.relay.callers.sessions import McpSessions
from services.relay.callers.token_seen import TokenSeen
from services.relay.servers.lost import SESSION_HEADER
from services.relay.views import named, named_alone
from shared import keys
from shared.contracts import scopes
from shared.contracts.config import Config
from shared.contracts.identity import Principal, Token
from shared.contracts.problems import Problem, ProblemKind
from shared.contracts.wire import MCP_PATH, RESOURCE_METADATA_PATH, TOKENS_PATH
from shared.entitled import Admission
from shared.ids import is_token
from shared.stores.tokens import TokenReader
from shared.web.routes import Access, route_of

_MAX_REMEMBERED = 10_000
_NO_KEYS: tuple[str, ...] = ()


class _Caller(NamedTuple):
    """Whom a token's record lets in by a configuration: true of these two objects and no others.

    `config`: not held, for it may name thousands and end long before a token does.
    `keys`: where the token's record lies, and the person's grant.
    """

    token: Token
    config: ReferenceType[Config]
    principal: Principal
    keys: tuple[str, ...]


class Bearer:
    """Identifies by `Authorization: Bearer`. The token's record is read again on every request."""

    def __init__(
        self,
        store: ReadAhead,
        tokens: TokenReader,
        sessions: McpSessions,
        seen: TokenSeen,
        limits: Limits,
        guesses: Guesses,
        admission: Admission,
    ) -> None:
        self._store = store
        self._guesses = guesses
        self._limits = limits
        self._admission = admission
        self._tokens = tokens
        self._sessions = sessions
        self._seen = seen
        # by digest: whom it let in last time, who is asked about with it next time
        self._callers: OrderedDict[str, _Caller] = OrderedDict()

    async def identify(self, request: web.Request) -> Principal:
        """The caller. Raises SIGN_IN_NEEDED, or TOO_MANY_REQUESTS for guesses without end;
        `StoreUnavailable` when it cannot be known.
        """
        return await self._identified(request, new=True)

    async def again(self, request: web.Request) -> Principal:
        """The caller of a request that goes on, as `identify`: it is no new one to count."""
        return await self._identified(request, new=False)

    async def _identified(self, request: web.Request, *, new: bool) -> Principal:
        values = request.headers.getall("Authorization", ())
        caller = await self._caller(request, values, new) if values else None
        if caller is None:
            raise Problem(
                ProblemKind.SIGN_IN_NEEDED,
                "The token is not valid." if values else "A token is needed.",
                "Connect a client that signs in by OAuth, or make a token in the console, under"
                f" {TOKENS_PATH}, and send it as `Bearer`.",
                reason="invalid_token" if values else "no_token",
            )
        await self._seen.note(caller.principal.digest, caller.token, request)
        return caller.principal

    async def _caller(
        self, request: web.Request, values: Sequence[str], new: bool
    ) -> _Caller | None:
        scheme, _, text = values[0].partition(" ")
        text = text.strip() if len(values) == 1 and scheme.lower() == "bearer" else ""
        digest = self._tokens.digest(text)
        before = self._callers.get(digest)
        if before is None and not is_token(text):
            await self._guesses.one_more(request)
            return None
        key, *more = before.keys if before is not None else (keys.TOKEN.key(digest),)
        counted, ending = _NO_KEYS, _NO_KEYS
        if before is not None and new:
            counted, ending = self._limits.keys(before.principal.subject, named_alone(request))
        if session := request.headers.get(SESSION_HEADER):
            more += self._sessions.keys(session)
        fetched = await self._store.fetch((key, *more), counted, ending, KEEP_SECONDS)
        token = self._tokens.open(key, fetched.pop(key))
        if token is not None:
            return self._let_in(digest, token, before)
        # a token that has ended must not use up what its person may still ask
        self._callers.pop(digest, None)
        # and who holds it hears 401, at which clients get themselves a new one
        if before is None and new:
            await self._guesses.one_more(request)
        return None

    def _let_in(self, digest: str, token: Token, before: _Caller | None) -> _Caller | None:
        config = self._admission.config
        if before is not None and before.token is token and before.config() is config:
            caller = before
        elif self._admission.admits(token.person):
            caller = self._made(digest, token)
        else:
            return None
        self._callers[digest] = caller
        self._callers.move_to_end(digest)
        if len(self._callers) > _MAX_REMEMBERED:
            self._callers.popitem(last=False)
        return caller

    def _made(self, digest: str, token: Token) -> _Caller:
        person, machine = token.person, self._admission.machine(token.person)
        principal = Principal(
            person=person,
            digest=digest,
            session_kind=None,
            servers=token.servers,
            read_only=token.read_only or (machine is not None and machine.read_only),
            client=token.client,
        )
        places = (keys.TOKEN.key(digest), keys.GRANT.key(person.subject))
        return _Caller(token, ref(self._admission.config), principal, places)


def _asked(request: web.Request) -> list[str] | None:
    try:
        return named(request)
    except Problem:  # it will be told when it comes with a token
        return None


def challenge(request: web.Request, problem: Problem, public_url: str) -> str | None:
    """The `WWW-Authenticate` of a 401 at /mcp, and of a 403 that another scope would cure.

    RFC 9728 §5.1, RFC 6750 §3.1. The scope is all that the address needs, at once. None for
    everything else: a refusal that no scope cures must not send a client to ask for one.
    """
    route = route_of(request)
    if route is None or route.access is not Access.BEARER:
        return None
    if problem.kind is not ProblemKind.SIGN_IN_NEEDED and problem.reason != scopes.INSUFFICIENT:
        return None
    scope = scopes.of(_asked(request))
    metadata = f"{public_url}{RESOURCE_METADATA_PATH}{MCP_PATH}"
    told = f'Bearer resource_metadata="{metadata}", scope="{scope}"'
    error = problem.reason if problem.reason in {"invalid_token", scopes.INSUFFICIENT} else ""
    return f'{told}, error="{error}"' if error else told
