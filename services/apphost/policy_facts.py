"""What a page's policy came to, for people: told to the host page, which shows it.

The frame's answer carries it as `Server-Timing`, the one header of a frame that its embedder can
read (Resource Timing, same origin), so what is shown is the policy of this very answer. The page
can read it too; it holds nothing but what the page's own server has declared.
"""

import json
from collections.abc import Sequence
from typing import Any
from urllib.parse import quote

from services.apphost.csp import Declared
from shared.contracts.config import AppSettings, Storage

_DECLARE = 'Declare it: _meta.ui.csp.resourceDomains: ["{origin}"].'
_BUNDLE = (
    "Bundle it into the page; or declare {origin} in _meta.ui.csp.resourceDomains, and have the"
    " operator set scripts: true for this app."
)
REMEDIES = {
    **dict.fromkeys(("img-src", "font-src", "media-src"), _DECLARE),
    **dict.fromkeys(("script-src-elem", "style-src-elem", "style-src-attr"), _BUNDLE),
    "script-src": "Bundle the page without eval and WebAssembly.",
    "connect-src": "There is no network here. Ask your own server: tools/call, resources/read.",
    "storage": "There is no storage here. An operator can set storage: memory for this app.",
    "": "A page here does not get this.",
}
"""By directive: what helps against a block. The empty one is for all others."""

_LONGEST = 500  # characters of one fact; a header has its limits
_NEVER = ("connectDomains", "frameDomains", "baseUriDomains")


def facts(found: Declared, ui: dict[str, Any], app: AppSettings) -> list[tuple[str, str]]:
    """Pairs of a heading and its text."""
    told = [("Images, fonts and media from", listed(["data:", "blob:", *found.accepted]))]
    code = ["the page itself", *(found.accepted if app.scripts else ())]
    told.append(("Scripts and styles from", listed(code)))
    told.append(("Network", "none: an app reaches its own server only, through strad"))
    kept = app.storage is Storage.MEMORY
    told.append(("Storage", "in memory, until the page closes" if kept else "none"))
    if found.dropped:
        why = "Each must be an https origin and nothing else, such as https://cdn.example.com: "
        told.append(("Declared and dropped", why + listed(found.dropped)))
    if refused := _never_given(ui):
        told.append(("Declared and not given here", listed(refused)))
    return told


def header(told: Sequence[tuple[str, str]], ui: dict[str, Any]) -> str:
    """The facts as the value of `Server-Timing`; also whether the page wants no border."""
    plain = ", plain" if ui.get("prefersBorder") is False else ""
    return f'policy;desc="{quote(json.dumps(told, separators=(",", ":")))}"{plain}'


def _never_given(ui: dict[str, Any]) -> list[str]:
    csp, permissions = ui.get("csp"), ui.get("permissions")
    found = []
    if isinstance(csp, dict):
        found = [f"{name} {listed(csp[name])}" for name in _NEVER if csp.get(name)]
    if isinstance(permissions, dict):
        found += [f"permission {name}" for name in list(permissions)[:10]]
    return found


def listed(entries: Any) -> str:
    """A list in words, cut where it gets too long. Whatever a server wrote instead, as it is."""
    if not isinstance(entries, Sequence) or isinstance(entries, str):
        entries = [entries]
    more = ["…"] if len(entries) > 20 else []
    text = ", ".join([*(str(entry)[:100] for entry in entries[:20]), *more])
    return text if len(text) <= _LONGEST else text[:_LONGEST] + "…"
