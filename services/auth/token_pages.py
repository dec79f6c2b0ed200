"""What the pages about tokens show: rows of the list, and a client's configuration."""

import json
from collections.abc import Mapping
from dataclasses import dataclass
from datetime import UTC, datetime

from shared.contracts.config import Config
from shared.contracts.identity import Token, TokenUse
from shared.contracts.wire import MCP_PATH
from shared.entitled import servers_of

_SOON_SECONDS = 7 * 86400


@dataclass(frozen=True, slots=True)
class Choice:
    """A server that a person may use."""

    slug: str
    name: str


@dataclass(frozen=True, slots=True)
class Row:
    """One token in the list, in words. `by`: who used it last. `soon`: it ends within a week."""

    id: str
    label: str
    servers: str
    created: str
    used: str
    by: str
    ends: str
    soon: bool


def choices(config: Config, email: str) -> list[Choice]:
    """The servers of a person, in the order of the configuration."""
    mine = servers_of(config, email)
    return [Choice(one.slug, one.name) for one in config.servers if one.slug in mine]


def row(
    token: Token, seen: bytes | None, use: TokenUse | None, mine: Mapping[str, str], now: float
) -> Row:
    """A token's row. `seen`, `use`: the relay's notes of the last use; `mine`: slug to name.

    A server that the person may no longer use is shown by its slug, which they chose themselves.
    """
    if token.servers is None:
        servers = "All of yours"
    else:
        servers = ", ".join(mine.get(slug, slug) for slug in token.servers)
    return Row(
        id=token.id,
        label=token.label,
        servers=f"{servers} · read only" if token.read_only else servers,
        created=day(token.created),
        used=_used(seen, now),
        by="" if use is None else " · ".join(filter(None, (use.client, use.address))),
        ends=day(token.expires),
        soon=token.expires - now < _SOON_SECONDS,
    )


def client_configuration(config: Config, token: str, servers: tuple[str, ...]) -> str:
    """The JSON that most MCP clients take; for one server its own address, with bare names."""
    path = f"{MCP_PATH}/{servers[0]}" if len(servers) == 1 else MCP_PATH
    entry = {
        "type": "http",
        "url": f"{config.public_url}{path}",
        "headers": {"Authorization": f"Bearer {token}"},
    }
    name = servers[0] if len(servers) == 1 else "strad"
    return json.dumps({"mcpServers": {name: entry}}, indent=2)


def _used(seen: bytes | None, now: float) -> str:
    try:
        moment = int(seen) if seen is not None else 0
    except ValueError:  # anything can stand in Redis
        moment = 0
    if not 0 < moment <= now + 60:
        return "Never" if seen is None else "Unknown"
    when = f"{datetime.fromtimestamp(moment, UTC):%H:%M} UTC"
    return f"Today, {when}" if day(moment) == day(now) else f"{day(moment)}, {when}"


def day(moment: float) -> str:
    """A date for people, in UTC; no line ends within it."""
    return f"{datetime.fromtimestamp(moment, UTC):%-d\N{NO-BREAK SPACE}%b\N{NO-BREAK SPACE}%Y}"
