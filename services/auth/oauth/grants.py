"""The two grants, on Authlib's: code with PKCE, and refresh. Resource indicators are ours."""

from typing import TYPE_CHECKING, Any

from authlib.oauth2.rfc6749 import (  # type: ignore[import-untyped]
    InvalidGrantError,
    InvalidRequestError,
    InvalidScopeError,
    OAuth2Error,
)
from authlib.oauth2.rfc6749.grants import (  # type: ignore[import-untyped]
    AuthorizationCodeGrant,
    RefreshTokenGrant,
)
from authlib.oauth2.rfc7636 import CodeChallenge  # type: ignore[import-untyped]

from services.auth.oauth.records import CODE_SECONDS, Allowed, Code, Refresh
from shared.contracts import scopes
from shared.contracts.identity import Person

if TYPE_CHECKING:
    from services.auth.oauth.public_client import PublicClient
    from services.auth.oauth.server import Server

_METHOD = "S256"


class InvalidTargetError(OAuth2Error):  # type: ignore[misc]
    """The resource is missing, given in another form, or another one (RFC 8707 §2)."""

    error = "invalid_target"


class Pkce(CodeChallenge):  # type: ignore[misc]
    """S256, named, and nothing else: `plain`, which is what no name means, is no proof."""

    SUPPORTED_CODE_CHALLENGE_METHOD = (_METHOD,)
    DEFAULT_CODE_CHALLENGE_METHOD = _METHOD

    def validate_code_challenge(self, grant: Any, redirect_uri: str) -> None:
        """See Authlib, which lets both be missing."""
        fields = grant.request.payload.data
        if not fields.get("code_challenge") or fields.get("code_challenge_method") != _METHOD:
            raise InvalidRequestError("Send code_challenge, and code_challenge_method=S256.")
        super().validate_code_challenge(grant, redirect_uri)


class ResourceIndicator:
    """An extension of a grant: `resource` is there in both steps, and is ours (RFC 8707)."""

    def __init__(self, resource: str) -> None:
        self._resource = resource

    def __call__(self, grant: Any) -> None:
        for moment in ("validate_authorization_request_payload", "validate_token_request"):
            grant.register_hook(f"after_{moment}", self.check)

    def check(self, grant: Any, _: Any) -> None:
        """Raises `InvalidTargetError`."""
        check_resource(grant.request.payload.data, self._resource)


def check_resource(fields: dict[str, str], resource: str) -> None:
    """Raises `InvalidTargetError`."""
    if fields.get("resource") != resource:
        raise InvalidTargetError(f"Send resource={resource}, which is all that this server serves.")


class _HeldCode:
    """A code's record, as Authlib reads it."""

    def __init__(self, record: Code, scope: str) -> None:
        self.record = record
        self.code_challenge = record.challenge
        self.code_challenge_method = _METHOD
        self._scope = scope

    def get_redirect_uri(self) -> str:
        return self.record.redirect_uri

    def get_scope(self) -> str:
        return self._scope


class CodeGrant(AuthorizationCodeGrant):  # type: ignore[misc]
    """RFC 6749 §4.1. What was allowed stands in `server.allowed` before a code is made."""

    TOKEN_ENDPOINT_AUTH_METHODS = ("none",)
    server: "Server"

    def save_authorization_code(self, code: str, request: Any) -> None:
        """See Authlib."""
        allowed = self.server.allowed
        assert allowed is not None  # set by the handler, with the person's answer
        fields = request.payload.data
        record = Code(
            client=request.client.record,
            redirect_uri=fields["redirect_uri"],
            resource=fields["resource"],
            challenge=fields["code_challenge"],
            allowed=allowed.id,
            expires=self.server.now + CODE_SECONDS,
        )
        self.server.code = (code, record)

    def query_authorization_code(self, _: str, client: "PublicClient") -> _HeldCode | None:
        """See Authlib. That it was used already is found out when it is claimed."""
        code, allowed = self.server.loaded.code, self.server.loaded.allowed
        if code is None or allowed is None or code.client.id != client.record.id:
            return None
        return _HeldCode(code, scopes.of(allowed.servers))

    def delete_authorization_code(self, authorization_code: _HeldCode) -> None:
        """It is claimed when the answer is stored."""

    def authenticate_user(self, authorization_code: _HeldCode) -> Person | None:
        """See Authlib. A code that is too old is kept to know a replay, and is good for nothing."""
        if authorization_code.record.expires <= self.server.now:
            raise InvalidGrantError("The code is too old.")
        allowed = self.server.loaded.allowed
        return None if allowed is None else allowed.person


class _HeldRefresh:
    """A refresh token's record, as Authlib reads it."""

    def __init__(self, record: Refresh, allowed: Allowed) -> None:
        self.record = record
        self.allowed = allowed

    def check_client(self, client: "PublicClient") -> bool:
        return self.record.client == client.record.id

    def get_scope(self) -> str:
        return scopes.of(self.allowed.servers)


class RefreshGrant(RefreshTokenGrant):  # type: ignore[misc]
    """RFC 6749 §6, with a new refresh token each time (RFC 9700 §4.14)."""

    TOKEN_ENDPOINT_AUTH_METHODS = ("none",)
    INCLUDE_NEW_REFRESH_TOKEN = True
    server: "Server"

    def validate_token_request(self) -> None:
        """See Authlib."""
        super().validate_token_request()
        check_resource(self.request.payload.data, self.server.rules.resource)

    def authenticate_refresh_token(self, _: str) -> _HeldRefresh | None:
        """See Authlib. That it was used already is found out when it is claimed."""
        refresh, allowed = self.server.loaded.refresh, self.server.loaded.allowed
        return None if refresh is None or allowed is None else _HeldRefresh(refresh, allowed)

    def _validate_token_scope(self, token: _HeldRefresh) -> None:
        # narrower tokens from the same refresh token are not made: what was allowed stands
        asked = self.request.payload.scope
        try:
            wanted = scopes.servers(asked or "")
        except ValueError as error:
            raise InvalidScopeError() from error
        have = token.allowed.servers
        if asked and have is not None and (wanted is None or not set(wanted) <= set(have)):
            raise InvalidScopeError()

    def issue_token(self, user: Person, refresh_token: _HeldRefresh) -> dict[str, Any]:
        """See Authlib."""
        token: dict[str, Any] = self.generate_token(
            user=user, scope=refresh_token.get_scope(), include_refresh_token=True
        )
        return token

    def authenticate_user(self, refresh_token: _HeldRefresh) -> Person:
        """See Authlib."""
        return refresh_token.allowed.person

    def revoke_old_credential(self, refresh_token: _HeldRefresh) -> None:
        """It is claimed when the answer is stored."""
