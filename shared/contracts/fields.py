"""The kinds of value in `strad.yaml`: durations, slugs, addresses. Each says how to mend it."""

import ipaddress
import re
from typing import Annotated, Any
from urllib.parse import urlsplit

from pydantic import (
    AfterValidator,
    BaseModel,
    BeforeValidator,
    ConfigDict,
    Field,
    model_validator,
)

_SLUG = re.compile(r"[a-z0-9](?:[a-z0-9-]{0,30}[a-z0-9])?")
_EMAIL = re.compile(r"[!-?A-~]+@[a-z0-9-]+(?:\.[a-z0-9-]+)+")
_DOMAIN = re.compile(r"[a-z0-9-]+(?:\.[a-z0-9-]+)+")
_DURATION = re.compile(r"(\d{1,6})\s*([smhd])")
_LANGUAGE = re.compile(r"[A-Za-z0-9*][A-Za-z0-9*,;=. -]{0,99}")
_UNIT = {"s": 1, "m": 60, "h": 3600, "d": 86400}


# headers that strad sets itself, request by request; an operator's secret is none of them
_OURS = frozenset(
    {
        "accept",
        "accept-encoding",
        "accept-language",
        "connection",
        "content-length",
        "content-type",
        "cookie",
        "host",
        "mcp-method",
        "mcp-name",
        "mcp-protocol-version",
        "mcp-session-id",
        "strad-assertion",
        "strad-identity",
        "traceparent",
        "tracestate",
        "transfer-encoding",
    }
)


class Strict(BaseModel):
    """Unknown keys are mistakes: a misspelt rule must not silently mean "no rule"."""

    model_config = ConfigDict(frozen=True, extra="forbid")


class SecretRef(Strict):
    """Where a secret is kept: an environment variable or a file. Never its value."""

    env: str | None = Field(None, description="name of an environment variable")
    file: str | None = Field(None, description="path of a file; one trailing newline is ignored")
    prefix: str = Field("", description='text put before the secret, such as "Bearer "')

    @model_validator(mode="after")
    def _one_source(self) -> "SecretRef":
        if (self.env is None) == (self.file is None):
            raise ValueError("give exactly one of `env` and `file`")
        return self


def is_loopback(host: str) -> bool:
    """Whether a host name or address is this machine's own: 127.0.0.0/8, ::1, `*.localhost`."""
    if host == "localhost" or host.endswith(".localhost"):
        return True
    try:
        return ipaddress.ip_address(host).is_loopback
    except ValueError:
        return False


def _seconds(value: Any) -> Any:
    if isinstance(value, str) and (match := _DURATION.fullmatch(value.strip())):
        return int(match[1]) * _UNIT[match[2]]
    if isinstance(value, int) and not isinstance(value, bool):
        return value
    raise ValueError("write a number with a unit, such as 30m, 8h or 90d")


def is_slug(text: str) -> bool:
    """Whether a text could be the slug of a server."""
    return _SLUG.fullmatch(text) is not None


def _header_names(value: dict[str, SecretRef]) -> dict[str, SecretRef]:
    for name in value:
        ours = name.lower() in _OURS or name.lower().startswith("mcp-param-")
        if ours or not re.fullmatch(r"[A-Za-z0-9-]{1,64}", name):
            raise ValueError(f"{name}: strad sets this header itself, or it is no name")
    return value


def _slug(value: str) -> str:
    if not _SLUG.fullmatch(value):
        raise ValueError("use 1 to 32 of a-z, 0-9 and -, not starting or ending with -")
    return value


def _email(value: str) -> str:
    value = value.strip().lower()
    if not _EMAIL.fullmatch(value) or value.count("@") != 1:
        raise ValueError("write one e-mail address, such as ada@example.com")
    return value


def _domain(value: str) -> str:
    value = value.strip().lower()
    if not _DOMAIN.fullmatch(value):
        raise ValueError("write a bare domain, such as example.com")
    return value


def _http_url(value: str) -> str:
    parts = urlsplit(value)
    if parts.scheme not in {"http", "https"} or not parts.hostname:
        raise ValueError("write a full http:// or https:// address")
    if parts.username or parts.password:
        raise ValueError("leave user and password out of the address; use `headers` with a secret")
    if parts.fragment:
        raise ValueError("leave out the #fragment")
    return value


def _network(value: str) -> str:
    try:
        ipaddress.ip_network(value)
    except ValueError as error:
        raise ValueError("write a network or an address, such as 10.20.0.0/16") from error
    return value


def _language(value: str) -> str:
    if not _LANGUAGE.fullmatch(value):
        raise ValueError("write languages, such as de-AT, or de-AT, en;q=0.5")
    return value


def _origin(value: str) -> str:
    parts = urlsplit(_http_url(value))
    if parts.path.rstrip("/") or parts.query:
        raise ValueError("write scheme, host and port only, such as https://strad.example.com")
    if parts.scheme == "http" and not is_loopback(parts.hostname or ""):
        raise ValueError("use https: over plain http a session cookie can be read on the way")
    if parts.netloc.endswith({"http": ":80", "https": ":443"}[parts.scheme]):
        # browsers leave it out of Host and Origin, so nothing would ever match
        raise ValueError("leave out the port: it is the usual one of this scheme")
    if parts.netloc != parts.netloc.lower():
        raise ValueError("write the host in lower case")
    return f"{parts.scheme}://{parts.netloc}"


Seconds = Annotated[
    int,
    BeforeValidator(_seconds, json_schema_input_type=int | str),
    Field(ge=1, description="a duration: 30m, 8h, 90d, or seconds"),
]
Moment = Annotated[
    int,
    BeforeValidator(_seconds, json_schema_input_type=int | str),
    Field(ge=0, description="a duration: 30s, 2m, or seconds; 0 for none"),
]
Headers = Annotated[dict[str, SecretRef], AfterValidator(_header_names)]
Slug = Annotated[str, AfterValidator(_slug)]
Email = Annotated[str, AfterValidator(_email)]
Domain = Annotated[str, AfterValidator(_domain)]
Network = Annotated[str, AfterValidator(_network)]
Language = Annotated[str, AfterValidator(_language)]
HttpUrl = Annotated[str, AfterValidator(_http_url)]
Origin = Annotated[str, AfterValidator(_origin)]
Proxy = ipaddress.IPv4Network | ipaddress.IPv6Network
PRIVATE_NETWORKS: tuple[Proxy, ...] = tuple(
    ipaddress.ip_network(text)
    for text in (
        "127.0.0.0/8",
        "::1/128",
        "10.0.0.0/8",
        "172.16.0.0/12",
        "192.168.0.0/16",
        "fc00::/7",
    )
)
