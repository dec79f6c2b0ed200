"""The client credentials grant (RFC 6749 §4.4), on Authlib's: a machine gets a token for itself.

Machines are those of `oauth.machines`, and no client that registers ever is one. A machine proves
who it is by a secret or by an assertion (`assertions`), in one of these ways and in one only.
"""

import hmac
from collections.abc import Callable
from typing import TYPE_CHECKING, Any

from authlib.oauth2.rfc6749 import ClientMixin, InvalidScopeError  # type: ignore[import-untyped]
from authlib.oauth2.rfc6749.grants import ClientCredentialsGrant  # type: ignore[import-untyped]

from services.auth.oauth.grants import check_resource
from shared.contracts import scopes
from shared.contracts.identity import Person
from shared.contracts.machines import Machine
from shared.machine_proofs import Proof

if TYPE_CHECKING:
    from services.auth.oauth.server import Server

GRANT = "client_credentials"
BY_SECRET = ("client_secret_basic", "client_secret_post")
BY_ASSERTION = "private_key_jwt"
METHODS = (*BY_SECRET, BY_ASSERTION)


def methods_of(proof: Proof) -> tuple[str, ...]:
    """The ways in which a machine can prove who it is (RFC 7591 §2)."""
    return (BY_ASSERTION,) if proof.keys else BY_SECRET


class MachineClient(ClientMixin):  # type: ignore[misc]
    """A machine to Authlib. `digest`: a keyed digest, so that no secret is compared itself."""

    def __init__(self, machine: Machine, proof: Proof, digest: Callable[[str], str]) -> None:
        self.machine = machine
        self.proof = proof
        self.client_id = machine.client_id
        self._digest = digest

    @property
    def person(self) -> Person:
        """Who it is to everybody else."""
        return Person.of_machine(self.client_id, self.machine.name)

    def get_client_id(self) -> str:
        return self.client_id

    def check_client_secret(self, client_secret: str) -> bool:
        mine, given = self._digest(self.proof.secret), self._digest(client_secret)
        return hmac.compare_digest(mine, given) and bool(self.proof.secret)

    def check_endpoint_auth_method(self, method: str, _: str) -> bool:
        return method in methods_of(self.proof)

    def check_grant_type(self, grant_type: str) -> bool:
        return grant_type == GRANT

    def narrowed(self, scope: str | None) -> str:
        """What it may have of a scope, at least one server. Raises `InvalidScopeError`.

        A server that it may not use is left out, as if there was none.
        """
        mine = self.machine.servers
        try:
            asked = scopes.servers(scope or "")
        except ValueError as error:
            raise InvalidScopeError() from error
        kept = mine if asked is None else tuple(slug for slug in asked if slug in mine)
        if not kept:
            raise InvalidScopeError("There is no such server for this client.")
        return scopes.of(None if asked is None else kept)


class MachineGrant(ClientCredentialsGrant):  # type: ignore[misc]
    """With a resource indicator (RFC 8707), and never a refresh token (RFC 6749 §4.4.3)."""

    TOKEN_ENDPOINT_AUTH_METHODS = METHODS
    server: "Server"

    def validate_token_request(self) -> None:
        """See Authlib."""
        super().validate_token_request()
        check_resource(self.request.payload.data, self.server.rules.resource)
        self.request.client.narrowed(self.request.payload.scope)

    def generate_token(self, **_: Any) -> dict[str, Any]:
        """See Authlib. The scope is what was allowed, and not what was asked for."""
        scope = self.request.client.narrowed(self.request.payload.scope)
        token: dict[str, Any] = super().generate_token(scope=scope, include_refresh_token=False)
        return token
