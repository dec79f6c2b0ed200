"""Authlib's authorization server, for one request.

Authlib works synchronously, so it never meets the store: what it may ask for was loaded before, and
what it decides is kept here until it is stored after. An aiohttp handler does both.
"""

from collections.abc import Mapping
from dataclasses import dataclass, field
from typing import Any

from authlib.oauth2.rfc6749 import (  # type: ignore[import-untyped]
    AuthorizationServer,
    InvalidScopeError,
    OAuth2Request,
)
from authlib.oauth2.rfc6749.requests import BasicOAuth2Payload  # type: ignore[import-untyped]
from authlib.oauth2.rfc9207 import IssuerParameter  # type: ignore[import-untyped]

from services.auth.oauth.assertions import Assertions
from services.auth.oauth.grants import CodeGrant, Pkce, RefreshGrant, ResourceIndicator
from services.auth.oauth.machines import BY_ASSERTION, MachineClient, MachineGrant
from services.auth.oauth.public_client import PublicClient
from services.auth.oauth.records import Allowed, Client, Code, Refresh
from shared import ids
from shared.contracts import scopes
from shared.contracts.identity import Person
from shared.contracts.wire import ACCESS_TOKEN_PREFIX, REFRESH_TOKEN_PREFIX


@dataclass(frozen=True, slots=True)
class Rules:
    """Of this installation. `access`: seconds that an access token lasts."""

    issuer: str
    resource: str
    access: int


@dataclass(slots=True)
class Loaded:
    """What is known about the request at hand. `machines`: by client id, for who may be one."""

    client: Client | None = None
    code: Code | None = None
    refresh: Refresh | None = None
    spent: bool = False  # a refresh token that is known by its family's name alone
    allowed: Allowed | None = None
    machines: Mapping[str, MachineClient] = field(default_factory=dict)


@dataclass(slots=True)
class Answer:
    """What to send back."""

    status: int
    body: Any
    headers: dict[str, str] = field(default_factory=dict)

    @property
    def location(self) -> str | None:
        """Where it redirects to."""
        return self.headers.get("Location")

    @location.setter
    def location(self, value: str) -> None:
        self.headers["Location"] = value


class Asked(OAuth2Request):  # type: ignore[misc]
    """A request: its parameters, each there once. `authorization`: the header, that can be read."""

    def __init__(
        self, method: str, path: str, fields: dict[str, str], authorization: str | None = None
    ) -> None:
        headers = {} if authorization is None else {"Authorization": authorization}
        # that the public address is https, or this machine, was checked when the settings were read
        super().__init__(method, f"https://strad{path}", headers=headers)
        self.payload = BasicOAuth2Payload(fields)

    @property
    def form(self) -> dict[str, str]:
        """The same parameters."""
        fields: dict[str, str] = self.payload.data
        return fields


class _Issuer(IssuerParameter):  # type: ignore[misc]
    def __init__(self, issuer: str) -> None:
        self._issuer = issuer

    def get_issuer(self) -> str:
        return self._issuer


class Server(AuthorizationServer):  # type: ignore[misc]
    """Decides about one request. `issued` and `code` are what it decided, to be stored.

    Of a machine: `assertion` is to be used up, whatever else becomes of the request: client id, its
    own id and end. `refusal`: why it was not believed, for the log; `told`: for itself.
    """

    def __init__(self, rules: Rules, loaded: Loaded, now: float) -> None:
        super().__init__()
        self.rules = rules
        self.loaded = loaded
        self.now = now
        self.issued: dict[str, Any] | None = None
        self.code: tuple[str, Code] | None = None
        self.allowed: Allowed | None = None
        self.asked_for = ""
        self.assertion: tuple[str, str, int] | None = None
        self.refusal, self.told = "client-not-proved", ""
        indicator = ResourceIndicator(rules.resource)
        self.register_grant(CodeGrant, [Pkce(required=True), indicator])
        self.register_grant(RefreshGrant)
        if loaded.machines:
            self.register_grant(MachineGrant)
        self.register_client_auth_method(BY_ASSERTION, Assertions(self))
        self.register_token_generator("default", self._generate)
        _Issuer(rules.issuer)(self)

    def query_client(self, client_id: str) -> PublicClient | MachineClient | None:
        """See Authlib."""
        self.asked_for = client_id
        if client_id in self.loaded.machines:
            return self.loaded.machines[client_id]
        found = self.loaded.client
        return PublicClient(found) if found is not None and found.id == client_id else None

    def save_token(self, token: dict[str, Any], request: Any) -> None:
        """See Authlib."""
        self.issued = token

    def send_signal(self, name: str, *args: Any, **kwargs: Any) -> None:
        """Nobody listens."""

    def create_oauth2_request(self, request: Asked) -> Asked:
        """It is one already."""
        return request

    def handle_response(self, status: int, body: Any, headers: Any) -> Answer:
        """See Authlib."""
        return Answer(status, body, dict(headers))

    def validate_requested_scope(self, scope: str | None) -> None:
        """See Authlib."""
        try:
            scopes.servers(scope or "")
        except ValueError as error:
            raise InvalidScopeError() from error

    def _generate(
        self,
        grant_type: str,
        client: PublicClient | MachineClient,
        user: Person | None,
        scope: str,
        expires_in: int | None,
        include_refresh_token: bool,
    ) -> dict[str, Any]:
        token = {
            "token_type": "Bearer",
            "access_token": ids.new_token(ACCESS_TOKEN_PREFIX),
            "expires_in": self.rules.access,
            "scope": scope,
        }
        if include_refresh_token:
            token["refresh_token"] = ids.new_token(REFRESH_TOKEN_PREFIX)
        return token
