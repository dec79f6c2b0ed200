"""Who calls `/mcp`: one bearer token, in the header and nowhere else (RFC 6750, RFC 9728)."""

from collections import OrderedDict

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
from shared.contracts.identity import Principal, Token
from shared.contracts.problems import Problem, ProblemKind
from shared.contracts.wire import MCP_PATH, RESOURCE_METADATA_PATH, TOKENS_PATH
from shared.entitled import Admission
from shared.ids import is_token
from shared.stores.tokens import TokenReader
from shared.web.routes import PRINCIPAL, Access, route_of

_MAX_REMEMBERED = 10_000


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
        # a digest names one record of one person for good: no more is remembered of a token
        self._subjects: OrderedDict[str, str] = OrderedDict()

    async def identify(self, request: web.Request) -> Principal:
        """The caller. Raises SIGN_IN_NEEDED, or TOO_MANY_REQUESTS for guesses without end;
        `StoreUnavailable` when it cannot be known.
        """
        values = request.headers.getall("Authorization", [])
        scheme, _, text = values[0].partition(" ") if len(values) == 1 else ("", "", "")
        text = text.strip()
        found = None
        if scheme.lower() == "bearer" and is_token(text):
            found = await self._verify(request, text)
        elif values:
            await self._guesses.one_more(request)
        if found is None or not self._admission.admits(found[1].person):
            raise Problem(
                ProblemKind.SIGN_IN_NEEDED,
                "The token is not valid." if values else "A token is needed.",
                "Connect a client that signs in by OAuth, or make a token in the console, under"
                f" {TOKENS_PATH}, and send it as `Bearer`.",
                reason="invalid_token" if values else "no_token",
            )
        digest, token = found
        machine = self._admission.machine(token.person)
        self._remember(digest, token.person.subject)
        await self._seen.note(digest, token, request)
        return Principal(
            person=token.person,
            digest=digest,
            session_kind=None,
            servers=token.servers,
            read_only=token.read_only or (machine is not None and machine.read_only),
            client=token.client,
        )

    async def _verify(self, request: web.Request, text: str) -> tuple[str, Token] | None:
        digest = self._tokens.digest(text)
        counted, ending = list[str](), list[str]()
        wanted = [keys.TOKEN.key(digest)]
        if subject := self._subjects.get(digest):
            wanted.append(keys.GRANT.key(subject))
            if PRINCIPAL not in request:  # later, while a stream is open, it is no new request
                counted, ending = self._limits.keys(subject, named_alone(request))
        if session := request.headers.get(SESSION_HEADER):
            wanted.append(self._sessions.key(session))
        await self._store.fetch(wanted, counted, ending, KEEP_SECONDS)
        found = await self._tokens.find(digest)
        if found is None:
            # a token that has ended must not use up what its person may still ask
            was_one = self._subjects.pop(digest, None) is not None
            # and who holds it hears 401, at which clients get themselves a new one
            if not was_one and PRINCIPAL not in request:
                await self._guesses.one_more(request)
            return None
        return digest, found

    def _remember(self, digest: str, subject: str) -> None:
        self._subjects[digest] = subject
        self._subjects.move_to_end(digest)
        if len(self._subjects) > _MAX_REMEMBERED:
            self._subjects.popitem(last=False)


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
