"""Page addresses in what servers send to the merged view: all rewritten by one rule, or none.

A tool's `_meta.ui.resourceUri`, its older flat form, listed pages and read contents must agree, or
a host reads an address that nobody lists.
"""

from typing import Any

from services.relay.names import expose_uri

_FLAT = "ui/resourceUri"


def with_pages(slug: str, entry: dict[str, Any]) -> dict[str, Any]:
    """A tool, a listed resource, or the result of a call or a read, with exposed page addresses.

    Copies what it changes and shares the rest.
    """
    changed = dict(entry)
    if isinstance(entry.get("uri"), str):
        changed["uri"] = expose_uri(slug, entry["uri"])
    if isinstance(entry.get("_meta"), dict):
        changed["_meta"] = _meta(slug, entry["_meta"])
    for member in ("contents", "content"):
        if isinstance(entry.get(member), list):
            changed[member] = [_block(slug, block) for block in entry[member]]
    return changed


def _meta(slug: str, meta: dict[str, Any]) -> dict[str, Any]:
    changed = dict(meta)
    if isinstance(meta.get(_FLAT), str):
        changed[_FLAT] = expose_uri(slug, meta[_FLAT])
    ui = meta.get("ui")
    if isinstance(ui, dict) and isinstance(ui.get("resourceUri"), str):
        changed["ui"] = {**ui, "resourceUri": expose_uri(slug, ui["resourceUri"])}
    return changed


def _block(slug: str, block: Any) -> Any:
    """One of a read's contents, or a content block: a link to a resource, or one inside."""
    if not isinstance(block, dict):
        return block
    changed = dict(block)
    if isinstance(block.get("uri"), str):
        changed["uri"] = expose_uri(slug, block["uri"])
    inner = block.get("resource")
    if isinstance(inner, dict) and isinstance(inner.get("uri"), str):
        changed["resource"] = {**inner, "uri": expose_uri(slug, inner["uri"])}
    return changed
