"""What a server lists, whole: all its pages, under the operator's policy, kept for seconds."""

from collections import OrderedDict
from dataclasses import dataclass
from typing import Any, Protocol

from services.relay import policy
from services.relay.audit.definitions import Definitions
from services.relay.gate import Way
from services.relay.messages import rpc
from services.relay.servers.deadlines import deadline
from services.relay.servers.failures import malformed, too_large
from services.relay.servers.hello import Hello
from shared.clock import Clock
from shared.contracts.access import ToolFacts
from shared.contracts.problems import Problem, ProblemKind
from shared.decide import tool_facts

KEEP_SECONDS = 5.0
YOUNG_SECONDS = 1.0
MAX_PAGES = 100
MAX_PAGED_BYTES = 2 * 1024 * 1024
MAX_PAGED_ENTRIES = 10_000
_MAX_KEPT = 256


@dataclass(frozen=True, slots=True)
class Listing:
    """The tools of a server as one caller may see them, and what decisions need of each.

    `hidden`: the names of those that are for pages only, for a caller that shows none.
    """

    tools: list[dict[str, Any]]
    facts: dict[str, ToolFacts]
    hidden: frozenset[str]
    taken: float
    fresh_ms: int = 0


@dataclass(frozen=True, slots=True)
class Entries:
    """What a server lists, of all pages. `fresh_ms`: how long it says that this is fresh."""

    found: list[Any]
    fresh_ms: int


class ServerSaidNo(Exception):
    """The server answered a listing with an error; `answer` holds it."""

    def __init__(self, answer: rpc.Message) -> None:
        super().__init__(str(answer["error"].get("message")))
        self.answer = answer


class Asks(Protocol):
    """Whoever can ask a server one thing."""

    async def ask(self, way: Way, hello: Hello, method: str, params: rpc.Message) -> rpc.Message:
        """The answer, with `result` or `error`. May raise a `Problem`."""


class Catalog:
    """Listings by server, person and capabilities. Methods raise a `Problem` or `ServerSaidNo`."""

    def __init__(self, asker: Asks, clock: Clock, definitions: Definitions) -> None:
        self._asker = asker
        self._definitions = definitions
        self._clock = clock
        self._kept: OrderedDict[tuple[str, str, str], Listing] = OrderedDict()

    def through(self, asker: Asks) -> "Catalog":
        """An empty one that asks by other means."""
        return Catalog(asker, self._clock, self._definitions)

    async def tools(self, way: Way, hello: Hello, *, age: float = KEEP_SECONDS) -> Listing:
        """All tools, from memory if they were listed at most `age` seconds ago."""
        key = (way.server.slug, way.principal.subject, hello.digest)
        kept = self._kept.get(key)
        if kept is not None and kept.taken + age > self._clock():
            self._kept.move_to_end(key)
            return kept
        entries = await self.listed(way, hello, "tools/list", "tools")
        listed = policy.callable_over_http(way.server, policy.keep(way.server, entries.found))
        tools = policy.shown(hello, listed)
        names = {tool["name"] for tool in listed} - {tool["name"] for tool in tools}
        facts, now = _facts(way, tools), self._clock()
        listing = Listing(tools, facts, frozenset(names), now, entries.fresh_ms)
        self._definitions.learn(way.server.slug, way.principal.subject, listed)
        # callers can make up capabilities: what is of no use any more must not add up
        old = listing.taken - KEEP_SECONDS
        self._kept = OrderedDict((k, one) for k, one in self._kept.items() if one.taken > old)
        self._kept[key] = listing
        if len(self._kept) > _MAX_KEPT:
            self._kept.popitem(last=False)
        return listing

    async def tool(self, way: Way, hello: Hello, name: str) -> ToolFacts | None:
        """The facts of one tool; None when the server does not list it now."""
        listing = await self.tools(way, hello)
        if name not in listing.facts:
            listing = await self.young(way, hello)
        return listing.facts.get(name)

    async def young(self, way: Way, hello: Hello) -> Listing:
        """The tools for somebody who misses one: it may be new, or only a wrong guess."""
        return await self.tools(way, hello, age=YOUNG_SECONDS)

    async def entries(self, way: Way, hello: Hello, method: str, member: str) -> list[Any]:
        """The entries of all pages of a listing, which together have the time of one request."""
        return (await self.listed(way, hello, method, member)).found

    async def listed(self, way: Way, hello: Hello, method: str, member: str) -> Entries:
        """The same, with how long they are fresh."""
        async with deadline(way.server):
            return await self._pages(way, hello, method, member)

    async def _pages(self, way: Way, hello: Hello, method: str, member: str) -> Entries:
        found: list[Any] = []
        fresh: list[int] = []
        seen: set[str] = set()
        params: rpc.Message = {}
        size = 0
        for _ in range(MAX_PAGES):
            answer = await self._asker.ask(way, hello, method, params)
            if "error" in answer:
                raise ServerSaidNo(answer)
            page = answer["result"].get(member)
            if not isinstance(page, list):
                raise malformed(way.server, f"{method} returned no list of {member}")
            found += page
            fresh.append(_fresh_ms(answer["result"]))
            cursor = answer["result"].get("nextCursor")
            if cursor is None:
                return Entries(found, min(fresh))
            if not isinstance(cursor, str) or cursor in seen:
                break
            size += len(rpc.dumps(page))
            if size > MAX_PAGED_BYTES or len(found) > MAX_PAGED_ENTRIES:
                raise too_large(way.server, f"{MAX_PAGED_BYTES // 2**20} MiB of {member}")
            seen.add(cursor)
            params = {"cursor": cursor}
        raise malformed(way.server, f"the pages of {method} do not come to an end")


def as_problem(way: Way, refusal: ServerSaidNo) -> Problem:
    """A server's own error, where only a problem can be told."""
    title = f"{way.server.name} answered with an error."
    return Problem(ProblemKind.UPSTREAM_REFUSED, title, str(refusal)[:300])


def _fresh_ms(result: rpc.Message) -> int:
    """A page's own hint (2026-07-28, "Caching"); older servers give none."""
    given = result.get("ttlMs")
    return given if isinstance(given, int) and not isinstance(given, bool) and given > 0 else 0


def _facts(way: Way, tools: list[dict[str, Any]]) -> dict[str, ToolFacts]:
    facts, faulty = {}, []
    for tool in tools:
        name = tool["name"]
        try:
            facts[name] = tool_facts(tool)
        except ValueError as error:
            facts[name] = ToolFacts(name, app_visible=False, page=None, read_only=False)
            faulty.append((name, str(error)))
    policy.warn_of("tools-malformed", way.server, faulty)
    return facts
