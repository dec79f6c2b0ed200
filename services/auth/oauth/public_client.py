"""A client that people connect, as Authlib sees it."""

from authlib.oauth2.rfc6749 import ClientMixin  # type: ignore[import-untyped]

from services.auth.oauth import redirects
from services.auth.oauth.description import GRANTS
from services.auth.oauth.records import Client
from shared.contracts import scopes


class PublicClient(ClientMixin):  # type: ignore[misc]
    """A client to Authlib. It has no secret: who it is shows in where it is answered."""

    def __init__(self, record: Client) -> None:
        self.record = record
        self.client_id = record.id

    def get_client_id(self) -> str:
        return self.record.id

    def get_default_redirect_uri(self) -> None:
        """None: it says each time where it wants its answer."""

    def get_allowed_scope(self, scope: str | None) -> str:
        return scopes.of(scopes.servers(scope or ""))

    def check_redirect_uri(self, redirect_uri: str) -> bool:
        return any(redirects.same(one, redirect_uri) for one in self.record.redirect_uris)

    def check_client_secret(self, _: str) -> bool:
        return False

    def check_endpoint_auth_method(self, method: str, _: str) -> bool:
        return bool(method == "none")

    def check_response_type(self, response_type: str) -> bool:
        return response_type == "code"

    def check_grant_type(self, grant_type: str) -> bool:
        return grant_type in GRANTS and (grant_type != GRANTS[1] or self.record.refreshes)
