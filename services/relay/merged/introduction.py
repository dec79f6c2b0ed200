"""How the merged view presents itself: what any of its servers can do, and what each one says."""

from typing import Any

from services.relay.catalog import ServerSaidNo
from services.relay.gate import Way
from services.relay.merged.together import Ways, together
from services.relay.messages import rpc
from services.relay.servers.ask import DISCOVER, Asker
from services.relay.servers.hello import Hello

SERVER_INFO = {"name": "strad", "title": "strad", "version": "1"}
MAX_CHARACTERS = 8000
_CHANGES: dict[str, tuple[str, ...]] = {
    "prompts": ("listChanged",),
    "resources": ("listChanged", "subscribe"),
    "tools": ("listChanged",),
}
_MERGED = ("completions", "logging", "prompts", "resources", "tools")


async def introduce(asker: Asker, ways: Ways, hello: Hello) -> rpc.Message:
    """The answer to `server/discover`, in the one form of `Asker.ask`.

    Servers that do not answer are named in `_meta`, and count as able to do everything: they may be
    back before the caller asks again.
    """

    async def one(way: Way) -> rpc.Message:
        answer = await asker.ask(way, hello, DISCOVER, {})
        if "error" in answer:
            raise ServerSaidNo(answer)
        result: rpc.Message = answer["result"]
        return result

    got = await together(ways, one)
    given = [said["capabilities"] for said in got.found.values()]
    capabilities: rpc.Message = {
        name: _changes(name, given, tells=bool(got.failed))
        for name in _MERGED
        if got.failed or name == "tools" or any(name in one for one in given)
    }
    if extensions := _extensions(given):
        capabilities["extensions"] = extensions
    result: rpc.Message = {
        "capabilities": capabilities,
        "serverInfo": SERVER_INFO,
        "instructions": _instructions(ways, got.found),
    }
    return {"result": result | ({"_meta": got.missing} if got.failed else {})}


def _changes(kind: str, given: list[rpc.Message], *, tells: bool) -> rpc.Message:
    """Which changes of a kind any of them tells of."""
    found = [value for one in given if isinstance(value := one.get(kind), dict)]
    return {
        flag: True
        for flag in _CHANGES.get(kind, ())
        if tells or any(value.get(flag) is True for value in found)
    }


def _extensions(given: list[rpc.Message]) -> rpc.Message:
    """Those of all; where two servers differ in a setting, the first one's."""
    found: rpc.Message = {}
    for capabilities in given:
        extra = capabilities.get("extensions")
        for name, settings in extra.items() if isinstance(extra, dict) else ():
            have = found.setdefault(name, settings)
            if isinstance(have, dict) and isinstance(settings, dict):
                found[name] = {**settings, **have}
    return found


def _instructions(ways: Ways, said: dict[str, Any]) -> str:
    listed = ", ".join(f"{slug} ({way.server.name})" for slug, way in ways.items())
    parts = [f"Each tool's name begins with the server that it belongs to: {listed or 'none'}."]
    for slug, result in said.items():
        text = result.get("instructions")
        if isinstance(text, str) and text.strip():
            parts.append(f"{slug} ({ways[slug].server.name}) says:\n{text[:MAX_CHARACTERS]}")
    return "\n\n".join(parts)
