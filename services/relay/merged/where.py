"""Which server a name or address of the merged view belongs to, and what that server calls it."""

from typing import Any

from mcp_types.jsonrpc import INVALID_PARAMS

from services.relay.catalog import Catalog, ServerSaidNo, as_problem
from services.relay.gate import Way
from services.relay.merged import names
from services.relay.merged.merged_lists import MergedLists
from services.relay.merged.together import Together, Ways, together
from services.relay.messages import rpc
from services.relay.servers.hello import Hello


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
        if names.is_bare(name):
            return await self._bare(ways, hello, name)
        parts = names.split(name)
        if parts is None or parts[0] not in ways:
            raise Nowhere(rpc.unknown_tool(name))
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
    def template(ways: Ways, uri: str) -> tuple[Way, str]:
        """A template, or an address that may be one, by the view's address."""
        parts = names.split_uri(uri)
        if parts is None or parts[0] not in ways:
            raise Nowhere(_unknown_resource(uri))
        return ways[parts[0]], parts[1]

    async def resource(self, ways: Ways, hello: Hello, uri: str) -> tuple[Way, str]:
        """A resource by the view's address, or by its own where only one server lists it."""
        parts = names.split_uri(uri)
        if parts is not None and parts[0] in ways:
            return ways[parts[0]], parts[1]
        if not names.is_bare_uri(uri):
            raise Nowhere(_unknown_resource(uri))

        async def addresses(way: Way) -> list[str]:
            listed = await self._lists.entries(way, hello, "resources/list")
            return [entry["uri"] for entry in listed]

        got = await together(ways, addresses)
        holders = [slug for slug, listed in got.found.items() if uri in listed]
        full = [names.expose_uri(slug, uri) for slug in holders]
        return ways[_only(got, holders, full, _unknown_resource(uri))], uri

    async def _bare(self, ways: Ways, hello: Hello, name: str) -> tuple[Way, str]:
        got = await together(ways, lambda way: self._catalog.tools(way, hello))
        holders = [slug for slug, listing in got.found.items() if name in listing.facts]
        full = [names.expose(slug, name) for slug in holders]
        return ways[_only(got, holders, full, rpc.unknown_tool(name))], name


def _only(got: Together[Any], holders: list[str], full: list[str], unknown: rpc.Message) -> str:
    """The one server that has what is named by its own name.

    Pages use such names, and a host may not know whose page it shows.
    """
    if len(holders) > 1:
        raise _unclear(f"Several servers have this: say {' or '.join(full)}")
    if got.failed:
        # a silent server may have the same: what is meant for it must not reach another
        silent = ", ".join(got.failed)
        raise _unclear(f"Not known whose this is while {silent} is silent: use the full name")
    if not holders:
        raise Nowhere(unknown)
    return holders[0]


def _unclear(text: str) -> Nowhere:
    return Nowhere(rpc.failure(INVALID_PARAMS, text, {"reason": "name-unclear"}))


def _unknown_resource(uri: str) -> rpc.Message:
    return rpc.failure(INVALID_PARAMS, f"Unknown resource: {uri}", {"uri": uri})
