"""Which server a name or address of the merged view belongs to, and what that server calls it."""

from mcp_types.jsonrpc import INVALID_PARAMS

from services.relay import names, rpc
from services.relay.catalog import Catalog, ServerSaidNo, as_problem
from services.relay.gate import Way
from services.relay.hello import Hello
from services.relay.merged_lists import MergedLists
from services.relay.together import Ways, together


class Nowhere(Exception):
    """A name that leads to no server; `outcome` holds the error that the caller hears."""

    def __init__(self, outcome: rpc.Message) -> None:
        super().__init__(outcome["error"]["message"])
        self.outcome = outcome


class Where:
    """Finds. Methods return the way and the server's own name; they raise `Nowhere` or `Problem`s.

    A name that was shortened or cleaned is looked up in its server's list; any other says all.
    """

    def __init__(self, catalog: Catalog, lists: MergedLists) -> None:
        self._catalog = catalog
        self._lists = lists

    async def tool(self, ways: Ways, hello: Hello, name: str) -> tuple[Way, str]:
        """A tool by the view's name, or by its own where only one server has one of that name."""
        parts = names.split(name)
        if parts is None or parts[0] not in ways:
            return await self._bare(ways, hello, name)
        way, own = ways[parts[0]], parts[1]
        if names.expose(*parts) == name:
            return way, own
        try:
            tool = names.find(name, parts[0], (await self._catalog.tools(way, hello)).facts)
            if tool is None:
                tool = names.find(name, parts[0], (await self._catalog.young(way, hello)).facts)
        except ServerSaidNo as refusal:
            raise as_problem(way, refusal) from refusal
        if tool is None:
            raise Nowhere(rpc.unknown_tool(name))
        return way, tool

    async def prompt(self, ways: Ways, hello: Hello, name: str) -> tuple[Way, str]:
        """A prompt by the view's name."""
        parts = names.split(name)
        if parts is not None and parts[0] in ways:
            way, own = ways[parts[0]], parts[1]
            if names.expose(*parts) == name:
                return way, own
            try:
                listed = await self._lists.entries(way, hello, "prompts/list")
            except ServerSaidNo as refusal:
                raise as_problem(way, refusal) from refusal
            found = names.find(name, parts[0], (one["name"] for one in listed))
            if found is not None:
                return way, found
        raise Nowhere(rpc.failure(INVALID_PARAMS, f"Unknown prompt: {name}"))

    @staticmethod
    def resource(ways: Ways, uri: str) -> tuple[Way, str]:
        """A resource or a template by the view's address."""
        parts = names.split_uri(uri)
        if parts is None or parts[0] not in ways:
            raise Nowhere(rpc.failure(INVALID_PARAMS, f"Unknown resource: {uri}", {"uri": uri}))
        return ways[parts[0]], parts[1]

    async def _bare(self, ways: Ways, hello: Hello, name: str) -> tuple[Way, str]:
        """Pages call tools by their own names, and a host may not know whose page it shows."""
        got = await together(ways, lambda way: self._catalog.tools(way, hello))
        holders = [slug for slug, listing in got.found.items() if name in listing.facts]
        if len(holders) == 1 and not got.failed:
            return ways[holders[0]], name
        if len(holders) > 1:
            full = " or ".join(names.expose(slug, name) for slug in holders)
            raise _unclear(f"Several servers have a tool of this name: call it {full}")
        if not got.failed:
            raise Nowhere(rpc.unknown_tool(name))
        # one of the silent servers may have a tool of that name: then this call is not another's
        silent = ", ".join(got.failed)
        raise _unclear(
            f"Not known whose tool {name} is while {silent} is silent: use its full name"
        )


def _unclear(text: str) -> Nowhere:
    return Nowhere(rpc.failure(INVALID_PARAMS, text, {"reason": "tool-name-unclear"}))
