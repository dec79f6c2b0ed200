"""Hashes of tools as their servers list them: the audit trail says which definition was called."""

import contextlib
from collections import OrderedDict
from typing import Any

from services.relay.messages import rpc
from shared.contracts.problems import Problem

_MOST = 20_000
_MOST_OF_A_LISTING = 1000
_HASH_CHARS = 24


class Definitions:
    """What was listed last, in this process; a listing can differ from person to person."""

    def __init__(self) -> None:
        self._hashes: OrderedDict[tuple[str, str, str], str] = OrderedDict()

    def learn(self, slug: str, subject: str, tools: Any) -> None:
        """A person has been shown these entries of a `tools/list`."""
        if not isinstance(tools, list) or len(tools) > _MOST_OF_A_LISTING:
            return
        for tool in tools:
            name = tool.get("name") if isinstance(tool, dict) else None
            if isinstance(name, str):
                key = (slug, subject, name)
                with contextlib.suppress(Problem):
                    self._hashes[key] = hash_of(tool)
                    self._hashes.move_to_end(key)
        while len(self._hashes) > _MOST:
            self._hashes.popitem(last=False)

    def of(self, slug: str, subject: str, tool: str) -> str | None:
        """The hash of a tool; None when it has not been listed to this person here."""
        return self._hashes.get((slug, subject, tool))


def hash_of(tool: dict[str, Any]) -> str:
    """24 characters of SHA-256, the same whatever the order of the members of a definition.

    Raises a `Problem` for one that is nested too deep.
    """
    return rpc.digest(tool)[:_HASH_CHARS]
