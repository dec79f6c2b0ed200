"""What a server's page may do, as headers. Everything is off; declared origins open media, and
scripts and styles too where the operator says so.

The server declares origins (`_meta.ui.csp.resourceDomains`); this file decides what of that can
reach a header. An entry that is not a bare https origin is dropped, never mended: a `;` or a comma
in it would be a directive or a second policy of the server's own.
"""

import ipaddress
import re
from collections.abc import Sequence
from dataclasses import dataclass, field
from typing import Any
from urllib.parse import urlsplit

from shared.contracts.config import AppSettings
from shared.web.headers import PERMISSIONS_POLICY

BRIDGE_ROUTES = ("tools/call", "tools/list", "resources/read", "resources/list")
MAX_ORIGINS = 20
MAX_ENTRIES = 100  # looked at; a server writes as many as it likes, of any size
_HOST = re.compile(
    r"(?=.{4,253}$)(?:[a-z0-9](?:[a-z0-9-]{0,61}[a-z0-9])?\.)+[a-z](?:[a-z0-9-]{0,61}[a-z0-9])"
)
_PORT = re.compile(r"[1-9][0-9]{0,4}")
_PLAIN = AppSettings()
# For the header and for the iframe's attribute. No popups: where `Connection-Allowlist` is unknown
# one click would let a page open an address of its own, with what it has read in it.
SANDBOX = "allow-scripts"
# the host's own full screen and Copy buttons; `self` leaves out the frame, whose origin is opaque
_HOST_PERMISSIONS = PERMISSIONS_POLICY.replace("fullscreen=()", "fullscreen=(self)").replace(
    "clipboard-write=()", "clipboard-write=(self)"
)


@dataclass(frozen=True, slots=True)
class Declared:
    """Declared origins, sorted: `accepted` go into the policy, `dropped` are logged and shown."""

    accepted: tuple[str, ...] = ()
    dropped: tuple[str, ...] = field(default=())


def is_bare_origin(entry: object, own_host: str) -> bool:
    """Whether a declared entry is a bare https origin of a public name, and not this console."""
    if not isinstance(entry, str) or not entry.isascii() or len(entry) > 300:
        return False
    if not entry.startswith("https://"):
        return False
    try:
        parts = urlsplit(entry)
        host = parts.hostname or ""
    except ValueError:
        return False
    port = parts.netloc.removeprefix(host)
    if port and not (_PORT.fullmatch(port[1:]) and port[0] == ":" and int(port[1:]) <= 65535):
        return False
    if not _HOST.fullmatch(host) or _is_local(host) or host == _name(own_host):
        return False
    return entry == f"https://{host}{port}"


def _is_local(host: str) -> bool:
    if host == "localhost" or host.endswith(".localhost"):
        return True
    try:
        ipaddress.ip_address(host)
    except ValueError:
        return False
    return True


def _name(netloc: str) -> str:
    return urlsplit(f"//{netloc}").hostname or ""


def declared(ui: dict[str, Any], own_host: str) -> Declared:
    """Sort `_meta.ui.csp.resourceDomains` (SEP-1865, "UI resource metadata")."""
    csp = ui.get("csp")
    entries = csp.get("resourceDomains") if isinstance(csp, dict) else None
    if not isinstance(entries, list):
        return Declared()
    accepted: list[str] = []
    dropped: list[str] = []
    for entry in entries[:MAX_ENTRIES]:
        fits = is_bare_origin(entry, own_host) and len(accepted) < MAX_ORIGINS
        if fits and entry not in accepted:
            accepted.append(entry)
        elif not fits:
            dropped.append(entry[:200] if isinstance(entry, str) else f"({type(entry).__name__})")
    return Declared(tuple(accepted), tuple(dropped))


def policy(origins: Sequence[str], app: AppSettings) -> str:
    """The frame's Content-Security-Policy (CSP Level 3)."""
    media = " ".join(["data:", "blob:", *origins])
    code = " ".join(["'unsafe-inline'", *(origins if app.scripts else ())])
    return (
        f"sandbox {SANDBOX}; default-src 'none';"
        f" script-src {code}; style-src {code};"
        f" img-src {media}; font-src {media}; media-src {media};"
        " connect-src 'none'; frame-src 'none'; worker-src 'none'; object-src 'none';"
        " manifest-src 'none'; base-uri 'none'; form-action 'none'; frame-ancestors 'self'"
    )


def frame_headers(
    origins: Sequence[str] = (), app: AppSettings = _PLAIN, way_out: str = ""
) -> dict[str, str]:
    """All headers of `/apps/<slug>/frame`, for every status.

    `Connection-Allowlist` closes what no CSP reaches: WebRTC, preconnect, DNS prefetch and the
    TLS connection of a blocked navigation. It names no parameters: unknown ones mean "allow".
    `way_out`: the one address that a link of our own leads to, on a page without a server's byte.
    """
    allowed = " ".join(f'"{place}"' for place in (*origins, way_out) if place)
    return {
        "Content-Security-Policy": policy(origins, app),
        "Connection-Allowlist": f"({allowed})",
        "Permissions-Policy": PERMISSIONS_POLICY,
        "Cross-Origin-Resource-Policy": "same-origin",
        "Cross-Origin-Opener-Policy": "same-origin",
        "Referrer-Policy": "no-referrer",
        "X-Content-Type-Options": "nosniff",
        "X-Frame-Options": "SAMEORIGIN",
        "X-DNS-Prefetch-Control": "off",
        "Origin-Agent-Cluster": "?1",
        "Cache-Control": "no-store",
        "Content-Type": "text/html; charset=utf-8",
    }


def host_headers(public_url: str, slug: str) -> dict[str, str]:
    """Headers of `/apps/<slug>`: it may ask this server's routes and hold this frame, no other."""
    base = f"{public_url}/apps/{slug}"
    routes = " ".join(f"{base}/{route}" for route in BRIDGE_ROUTES)
    return {
        "Content-Security-Policy": (
            "default-src 'none'; script-src 'self'; style-src 'self'; img-src 'self' data:;"
            f" connect-src {routes}; frame-src {base}/frame;"
            " frame-ancestors 'none'; base-uri 'none'; form-action 'none'; object-src 'none';"
            " require-trusted-types-for 'script'; trusted-types 'none'"
        ),
        "Permissions-Policy": _HOST_PERMISSIONS,
        "Referrer-Policy": "no-referrer",
    }
