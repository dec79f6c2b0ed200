"""What a server sends, as the merged view shows it: names and addresses rewritten, all by one rule.

A tool's `_meta.ui.resourceUri`, its older flat form, what is listed, what a read returns and what a
result links to must agree, or a host reads an address that nobody lists. Nothing else is touched:
each function copies what it changes and shares the rest.
"""

from collections.abc import Callable
from typing import Any

from services.relay.merged.names import expose, expose_uri
from services.relay.messages import rpc

_FLAT = "ui/resourceUri"

Entry = dict[str, Any]


def tool(slug: str, entry: Entry) -> Entry:
    """One of a list of tools."""
    return _with_pages(slug, {**entry, "name": expose(slug, entry["name"])})


def prompt(slug: str, entry: Entry) -> Entry:
    """One of a list of prompts."""
    return {**entry, "name": expose(slug, entry["name"])}


def resource(slug: str, entry: Entry) -> Entry:
    """One of a list of resources, or of what a read returns."""
    return {**entry, "uri": expose_uri(slug, entry["uri"])}


def template(slug: str, entry: Entry) -> Entry:
    """One of a list of templates."""
    return {**entry, "uriTemplate": expose_uri(slug, entry["uriTemplate"])}


def called(slug: str, result: rpc.Message) -> rpc.Message:
    """The result of a call. `structuredContent` is the tool's own and stays as it is."""
    return _with_pages(slug, _each(result, "content", lambda block: _block(slug, block)))


def read(slug: str, result: rpc.Message) -> rpc.Message:
    """The result of a read."""
    return _each(result, "contents", lambda one: _addressed(slug, one))


def prompted(slug: str, result: rpc.Message) -> rpc.Message:
    """The result of a prompt: its messages hold content blocks, one or several."""

    def message(given: Entry) -> Entry:
        if isinstance(given.get("content"), dict):
            return {**given, "content": _block(slug, given["content"])}
        return _each(given, "content", lambda block: _block(slug, block))

    return _each(result, "messages", message)


def refused(slug: str, error: Entry, own: str) -> Entry:
    """An error about the server's own address."""
    data = error.get("data")
    if isinstance(data, dict) and data.get("uri") == own:
        return {**error, "data": {**data, "uri": expose_uri(slug, own)}}
    return error


def _each(entry: Entry, member: str, change: Callable[[Entry], Entry]) -> Entry:
    found = entry.get(member)
    if not isinstance(found, list):
        return entry
    return {**entry, member: [change(one) if isinstance(one, dict) else one for one in found]}


def _with_pages(slug: str, entry: Entry) -> Entry:
    meta = entry.get("_meta")
    if not isinstance(meta, dict):
        return entry
    changed = dict(meta)
    if isinstance(meta.get(_FLAT), str):
        changed[_FLAT] = expose_uri(slug, meta[_FLAT])
    ui = meta.get("ui")
    if isinstance(ui, dict) and isinstance(ui.get("resourceUri"), str):
        changed["ui"] = {**ui, "resourceUri": expose_uri(slug, ui["resourceUri"])}
    return {**entry, "_meta": changed}


def _block(slug: str, block: Entry) -> Entry:
    """A content block: a link to a resource, one inside, or none of both."""
    if block.get("type") == "resource_link":
        return _addressed(slug, block)
    if block.get("type") == "resource" and isinstance(block.get("resource"), dict):
        return {**block, "resource": _addressed(slug, block["resource"])}
    return block


def _addressed(slug: str, entry: Entry) -> Entry:
    return resource(slug, entry) if isinstance(entry.get("uri"), str) else entry
