"""The lists of the merged view: every page of every server, in the operator's order."""

from collections.abc import Callable
from dataclasses import dataclass
from typing import Any

from mcp_types.jsonrpc import METHOD_NOT_FOUND

from services.relay.catalog import Catalog, Entries, ServerSaidNo
from services.relay.gate import Way
from services.relay.merged import exposed
from services.relay.merged.cursors import Cursors
from services.relay.merged.together import Together, together
from services.relay.messages import rpc
from services.relay.servers.hello import Hello
from services.relay.views import View

PAGE_ENTRIES = 1000
# what somebody may use can change at any time, and no server knows of it
MOST_FRESH_MS = 60_000


@dataclass(frozen=True, slots=True)
class _Kind:
    """`member` of the result; `key`: the text of an entry without which it cannot be shown."""

    member: str
    key: str
    shown: Callable[[str, exposed.Entry], exposed.Entry]


LISTS = {
    "tools/list": _Kind("tools", "name", exposed.tool),
    "prompts/list": _Kind("prompts", "name", exposed.prompt),
    "resources/list": _Kind("resources", "uri", exposed.resource),
    "resources/templates/list": _Kind("resourceTemplates", "uriTemplate", exposed.template),
}


class MergedLists:
    """Lists. Methods may raise a `Problem` or `CursorRefused`."""

    def __init__(self, catalog: Catalog, cursors: Cursors) -> None:
        self._catalog = catalog
        self._cursors = cursors

    async def page(self, view: View, hello: Hello, method: str, cursor: object) -> rpc.Message:
        """One page, with the names of the servers that are missing from it."""
        ways = {way.server.slug: way for way in view.ways}
        first, before = next(iter(ways), ""), 0
        if cursor is not None:
            first, before = self._cursors.open(view, method, cursor)
        asked = list(ways)[list(ways).index(first) :] if ways else []
        kind = LISTS[method]

        async def one(way: Way) -> Entries:
            found: dict[str, Any] = {}
            own = await self._listed(way, hello, method)
            for entry in own.found:
                shown = kind.shown(way.server.slug, entry)
                # a name leads to the first that has it; models refuse a list that says one twice
                found.setdefault(shown[kind.key], shown)
            return Entries(list(found.values()), own.fresh_ms)

        got = await together({slug: ways[slug] for slug in asked}, one)
        got.check()
        entries, goes_on = _cut(got, first, before)
        result: rpc.Message = {kind.member: entries, "ttlMs": _fresh_ms(got)}
        if goes_on is not None:
            result["nextCursor"] = self._cursors.seal(view, method, *goes_on)
        if got.failed:
            result["_meta"] = got.missing
        return {"result": result}

    async def entries(self, way: Way, hello: Hello, method: str) -> list[dict[str, Any]]:
        """What one server lists and can be shown."""
        return (await self._listed(way, hello, method)).found

    async def _listed(self, way: Way, hello: Hello, method: str) -> Entries:
        kind = LISTS[method]
        if method == "tools/list":
            listing = await self._catalog.tools(way, hello, age=0)
            return Entries(listing.tools, listing.fresh_ms)
        try:
            own = await self._catalog.listed(way, hello, method, kind.member)
        except ServerSaidNo as refusal:
            if refusal.answer["error"].get("code") == METHOD_NOT_FOUND:
                # a server that has none of these does not know the method, and will not soon
                return Entries([], MOST_FRESH_MS)
            raise
        fit = [one for one in own.found if isinstance(one, dict) and _is_text(one.get(kind.key))]
        return Entries(fit, own.fresh_ms)


def _is_text(value: object) -> bool:
    return isinstance(value, str)


def _fresh_ms(got: Together[Entries]) -> int:
    """As long as what changes first; who is missing may come at once."""
    if got.failed or not got.found:
        return 0
    return min([MOST_FRESH_MS, *(one.fresh_ms for one in got.found.values())])


def _cut(
    got: Together[Entries], first: str, before: int
) -> tuple[list[Any], tuple[str, int] | None]:
    """The entries of one page, and where the next one begins."""
    entries: list[Any] = []
    for slug, own in got.found.items():
        found = own.found
        skipped = before if slug == first else 0
        room = PAGE_ENTRIES - len(entries)
        if room == 0 and found:
            return entries, (slug, 0)
        entries += found[skipped : skipped + room]
        if len(found) > skipped + room:
            return entries, (slug, skipped + room)
    return entries, None
