"""What one person sees of a server's lists, to tell a change of it from a change of something else.

A server says that its list has changed to all of its callers. Who may not see what has changed is
not told: it would learn that there is something, and look for nothing.
"""

import hashlib
from typing import Any

from services.relay.catalog import Catalog, ServerSaidNo
from services.relay.gate import Way
from services.relay.messages import rpc
from services.relay.servers.hello import Hello
from shared.contracts.problems import Problem


class Seen:
    """For one stream of one caller."""

    def __init__(self, catalog: Catalog, hello: Hello) -> None:
        self._catalog = catalog
        self._hello = hello
        self._digests: dict[tuple[str, str], str | None] = {}

    async def note(self, way: Way, kind: str) -> None:
        """From here on `changed` compares with what is seen now."""
        self._digests[way.server.slug, kind] = await self._digest(way, kind)

    async def changed(self, way: Way, kind: str) -> bool:
        """Whether this person sees another list than before; also when it cannot be had."""
        before = self._digests.get((way.server.slug, kind))
        await self.note(way, kind)
        now = self._digests[way.server.slug, kind]
        return now is None or now != before

    async def _digest(self, way: Way, kind: str) -> str | None:
        try:
            return hashlib.sha256(rpc.dumps(await self._list(way, kind))).hexdigest()
        except (Problem, ServerSaidNo):
            return None

    async def _list(self, way: Way, kind: str) -> list[Any]:
        if kind == "tools":
            return list((await self._catalog.tools(way, self._hello, age=0)).tools)
        entries = await self._catalog.entries(way, self._hello, f"{kind}/list", kind)
        if kind == "resources":
            method, member = "resources/templates/list", "resourceTemplates"
            try:
                entries += await self._catalog.entries(way, self._hello, method, member)
            except ServerSaidNo:
                return entries  # it has none
        return entries
