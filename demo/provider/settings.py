"""What the provider reads from its environment, and the rule that it stays on this machine."""

import ipaddress
import json
from collections.abc import Mapping
from dataclasses import dataclass
from pathlib import Path
from urllib.parse import SplitResult, urlsplit

from demo.provider.people import DEMO_PEOPLE, Person, people_from_json

EVERY_INTERFACE = ("0.0.0.0", "::")  # noqa: S104 — named here to be refused, see _bind_problem


class SettingsError(Exception):
    """Every mistake at once, one line each, each with its fix."""


@dataclass(frozen=True)
class Settings:
    """`issuer` is empty until the port is known, when neither ISSUER nor a fixed PORT was given."""

    host: str
    port: int
    issuer: str
    client_id: str
    client_secret: str
    redirect_uri: str
    state_dir: Path | None = None
    people: tuple[Person, ...] = DEMO_PEOPLE
    faults: bool = False

    @property
    def redirect_origin(self) -> str:
        parts = urlsplit(self.redirect_uri)
        return f"{parts.scheme}://{parts.netloc}"


def load(environ: Mapping[str, str]) -> Settings:
    """HOST, PORT, ISSUER, CLIENT_ID, CLIENT_SECRET, REDIRECT_URI, STATE_DIR, PEOPLE, FAULTS.

    PORT 0 asks for a free port. PEOPLE is the path of a JSON file (see `people.py`).
    Raises SettingsError.
    """
    problems: list[str] = []
    host = environ.get("HOST") or "127.0.0.1"
    issuer = (environ.get("ISSUER") or "").rstrip("/")
    port = _port(environ.get("PORT") or "8081", problems)
    redirect_uri = environ.get("REDIRECT_URI") or ""
    problems += filter(None, [_bind_problem(host, issuer), _issuer_problem(issuer)])
    problems += filter(None, [_redirect_problem(redirect_uri)])
    people = _people(environ.get("PEOPLE"), problems)
    if problems:
        raise SettingsError("\n".join(problems))
    state_dir = environ.get("STATE_DIR")
    return Settings(
        host=host,
        port=port,
        issuer=issuer,
        client_id=environ.get("CLIENT_ID") or "strad-demo",
        client_secret=environ.get("CLIENT_SECRET") or "demo-secret",
        redirect_uri=redirect_uri,
        state_dir=Path(state_dir) if state_dir else None,
        people=people,
        faults=environ.get("FAULTS") == "1",
    )


def is_loopback(host: str) -> bool:
    """True for 127.0.0.0/8, ::1, localhost and *.localhost (RFC 6761 §6.3)."""
    name = host.lower().strip("[]")
    if name == "localhost" or name.endswith(".localhost"):
        return True
    try:
        return ipaddress.ip_address(name).is_loopback
    except ValueError:
        return False


def _bind_problem(host: str, issuer: str) -> str | None:
    # In a container the published port arrives on a non-loopback interface. What makes that
    # bearable is the issuer: *.localhost leads every browser back to its own machine.
    if host in EVERY_INTERFACE:
        if (_split(issuer).hostname or "").endswith(".localhost"):
            return None
        return f"HOST={host} is for containers and needs an ISSUER on a name like demo.localhost."
    if is_loopback(host):
        return None
    return f"HOST={host} is not a loopback address. Use 127.0.0.1: this provider asks no password."


def _issuer_problem(issuer: str) -> str | None:
    if not issuer:
        return None
    parts = _split(issuer)
    if parts.scheme not in ("http", "https") or not parts.hostname or parts.path or parts.query:
        return f"ISSUER={issuer} must look like http://127.0.0.1:8081, with nothing after the port."
    if not is_loopback(parts.hostname):
        return f"ISSUER={issuer} is not a loopback name. Use 127.0.0.1 or a name under .localhost."
    return None


def _redirect_problem(redirect_uri: str) -> str | None:
    parts = _split(redirect_uri)
    if parts.scheme in ("http", "https") and parts.hostname and not parts.fragment:
        return None
    return (
        "REDIRECT_URI must be the client's exact callback, as http://127.0.0.1:8080/auth/callback."
    )


def _split(url: str) -> SplitResult:
    try:
        return urlsplit(url)
    except ValueError:
        return urlsplit("")


def _port(text: str, problems: list[str]) -> int:
    if text.isascii() and text.isdigit() and int(text) < 65536:
        return int(text)
    problems.append(f"PORT={text} is not a port number. Use 0 to 65535.")
    return 0


def _people(path: str | None, problems: list[str]) -> tuple[Person, ...]:
    if not path:
        return DEMO_PEOPLE
    try:
        return people_from_json(json.loads(Path(path).read_text(encoding="utf-8")))
    except (OSError, ValueError) as error:
        problems.append(f"PEOPLE={path} cannot be read: {error}")
        return DEMO_PEOPLE
