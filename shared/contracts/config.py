"""`strad.yaml`: what an operator writes. The JSON Schema for editors is made from this model."""

from enum import StrEnum
from functools import cached_property
from ipaddress import IPv4Network, IPv6Network, ip_network
from typing import Literal
from urllib.parse import urlsplit

from pydantic import Field, model_validator

from shared.contracts.audit import AuditRules
from shared.contracts.entitlements import Entitlements
from shared.contracts.fields import (
    PRIVATE_NETWORKS,
    Domain,
    Email,
    Headers,
    HttpUrl,
    Language,
    Network,
    Origin,
    Proxy,
    Seconds,
    SecretRef,
    Slug,
    Strict,
    is_loopback,
)
from shared.contracts.limits import LimitRules
from shared.contracts.machines import machine_mistakes
from shared.contracts.oauth import OAuthRules
from shared.contracts.tools import ToolsPolicy, dead_rules

GOOGLE_ISSUER = "https://accounts.google.com"


class AllowedPeople(Strict):
    """Who may sign in at all. Both lists empty means nobody."""

    domains: tuple[Domain, ...] = Field(
        (), description="organisations, by the provider's verified `hd` claim (Google Workspace)"
    )
    people: tuple[Email, ...] = Field((), description="single people, by verified e-mail")


class Provider(Strict):
    """The OpenID provider that people sign in with (OpenID Connect Core, discovery)."""

    issuer: HttpUrl = GOOGLE_ISSUER
    name: str = Field(
        "",
        max_length=60,
        description="what people read on the button; left out: Google, or the issuer's host",
    )
    client_id: str = Field(min_length=1)
    client_secret: SecretRef
    scopes: tuple[str, ...] = ("openid", "email", "profile")
    allow: AllowedPeople
    require_email_verified: bool = True

    @model_validator(mode="after")
    def _safe(self) -> "Provider":
        parts = urlsplit(self.issuer)
        if parts.scheme != "https" and not is_loopback(parts.hostname or ""):
            raise ValueError("issuer: use https (http is for a provider on this machine only)")
        if "openid" not in self.scopes or "email" not in self.scopes:
            raise ValueError("scopes: `openid` and `email` are needed")
        if not self.allow.domains and not self.allow.people:
            raise ValueError("allow: name at least one domain or person, or nobody can sign in")
        return self


class Access(Strict):
    """Who may use a server."""

    people: tuple[Email, ...] = ()
    groups: tuple[str, ...] = ()
    everyone: bool = Field(False, description="everyone who may sign in")


class Links(StrEnum):
    """What plain links of a page do."""

    HOST = "host"
    OFF = "off"


class Storage(StrEnum):
    """What a page finds as localStorage and sessionStorage. Its origin has none of its own."""

    NONE = "none"
    MEMORY = "memory"


class AppSettings(Strict):
    """How a server's page is shown."""

    links: Links = Field(Links.HOST, description="`host`: the console opens them; `off`: nothing")
    scripts: bool = Field(
        False,
        description="the page's declared origins may also serve it scripts and styles: whoever runs"
        " them can then act as this server's page",
    )
    storage: Storage = Field(
        Storage.NONE,
        description="`memory`: a stand-in that lasts as long as the page is open; `none`: reading"
        " localStorage fails, as in any sandboxed page",
    )


class Identity(StrEnum):
    """What a server learns of its caller."""

    NONE = "none"
    SIGNED = "signed"


class Server(Strict):
    """One private MCP server (Streamable HTTP)."""

    slug: Slug = Field(description="its name in addresses and, in /mcp, before its tools' names")
    name: str = Field(min_length=1, max_length=60, description="what people read; yours, not its")
    description: str = Field("", max_length=200)
    url: HttpUrl
    access: Access = Access()
    headers: Headers = Field(
        default_factory=dict, description="credentials sent to the server, from secrets"
    )
    tools: ToolsPolicy = ToolsPolicy()
    identity: Identity = Identity.NONE
    app: AppSettings = AppSettings()
    timeout: Seconds = Field(
        60,
        description="how long strad waits for a sign of life: an answer, or progress, which lets a"
        " call run up to ten times as long, at most an hour",
    )

    language: Language | None = Field(
        None,
        description="sent as Accept-Language, the same for everybody: a listing is kept for many"
        " callers",
    )
    addresses: tuple[Network, ...] = Field(
        (),
        description="the networks that its name may lead to, and no others; left out: any but"
        " link-local addresses and those of cloud metadata",
    )
    at_once: int = Field(
        64,
        ge=1,
        description="requests that one replica has open there at a time, streams of changes aside;"
        " one person has at most half of them",
    )
    per_minute: int | None = Field(
        None, ge=1, description="requests a minute of all people; left out: `limits.server`"
    )

    @cached_property
    def networks(self) -> tuple[IPv4Network | IPv6Network, ...]:
        """`addresses`, read."""
        return tuple(map(ip_network, self.addresses))

    @property
    def longest(self) -> int:
        """Seconds after which a call ends, whatever progress its server reports."""
        return max(self.timeout, min(10 * self.timeout, 3600))

    @property
    def origin(self) -> str:
        """Scheme, host and port of the server: what the console's bar shows."""
        parts = urlsplit(self.url)
        return f"{parts.scheme}://{parts.netloc}"


class SessionRules(Strict):
    """How long a sign-in lasts."""

    idle: Seconds = 8 * 3600
    absolute: Seconds = 24 * 3600

    @model_validator(mode="after")
    def _order(self) -> "SessionRules":
        if self.idle > self.absolute:
            raise ValueError("idle must not be longer than absolute")
        return self


class TokenRules(Strict):
    """Personal access tokens."""

    longest: Seconds = Field(90 * 86400, description="the longest life a person may choose")


class Config(Strict):
    """The whole of `strad.yaml`."""

    version: Literal[1] = 1
    public_url: Origin = Field(description="the one address of the console and of /mcp")
    provider: Provider
    administrators: tuple[Email, ...] = ()
    groups: dict[str, tuple[Email, ...]] = Field(default_factory=dict)
    servers: tuple[Server, ...] = ()
    sessions: SessionRules = SessionRules()
    tokens: TokenRules = TokenRules()
    oauth: OAuthRules = OAuthRules()
    audit: AuditRules = AuditRules()
    limits: LimitRules = LimitRules()
    trusted_proxies: tuple[Proxy, ...] = Field(
        PRIVATE_NETWORKS,
        description="networks of strad's own edge and what stands before it: their word on where a"
        " request comes from is believed, for limits and for people to read",
    )
    entitlements: Entitlements = Entitlements()

    def server(self, slug: str) -> Server | None:
        """The server with this slug."""
        return next((server for server in self.servers if server.slug == slug), None)

    @property
    def host(self) -> str:
        """The only `Host` header that is answered."""
        return urlsplit(self.public_url).netloc


def cross_mistakes(config: Config) -> list[tuple[str, str, str]]:
    """Mistakes between parts of a configuration: (path, problem, fix)."""
    found = []
    seen: set[str] = set()
    for number, server in enumerate(config.servers):
        where = f"servers.{number}"
        if server.slug in seen:
            found.append((f"{where}.slug", f"`{server.slug}` is used twice", "choose another slug"))
        seen.add(server.slug)
        for group in server.access.groups:
            if group not in config.groups:
                known = ", ".join(sorted(config.groups)) or "none yet"
                problem = f"there is no group `{group}`"
                found.append((f"{where}.access.groups", problem, f"add it under groups ({known})"))
        if mistake := _access_mistake(config, server):
            found.append((f"{where}.access", *mistake))
        for path, problem, fix in dead_rules(server.tools):
            found.append((f"{where}.tools.{path}", problem, fix))
    return [*found, *machine_mistakes(config.oauth.machines, seen)]


def _access_mistake(config: Config, server: Server) -> tuple[str, str] | None:
    access = server.access
    given = bool(access.people or access.groups or access.everyone)
    if config.entitlements.decision_point is None:
        if given or any(server.slug in machine.servers for machine in config.oauth.machines):
            return None
        return "nobody may use this server", "name people or groups, or set everyone: true"
    fix = "remove it, and say it in the decision point's policies"
    return ("the decision point says who may use this server", fix) if given else None
