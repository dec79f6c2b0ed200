"""`oauth.machines` in `strad.yaml`: programs that act for themselves and not for a person."""

import re
from collections.abc import Collection, Sequence
from typing import Annotated, Any

from pydantic import AfterValidator, Field, model_validator

from shared.contracts.fields import SecretRef, Slug, Strict

_CLIENT_ID = re.compile(r"[a-z0-9](?:[a-z0-9-]{0,62}[a-z0-9])?")


def _client_id(value: str) -> str:
    if not _CLIENT_ID.fullmatch(value):
        raise ValueError("use 1 to 64 of a-z, 0-9 and -, not starting or ending with -")
    return value


class Machine(Strict):
    """A client of the client credentials grant (RFC 6749 §4.4), known beforehand.

    It proves who it is in one way: by a secret, or by assertions that it signs (RFC 7523).
    """

    client_id: Annotated[str, AfterValidator(_client_id)]
    name: str = Field(min_length=1, max_length=60, description="what people read")
    secret: SecretRef | None = Field(
        None, description="32 characters or more: client_secret_basic, client_secret_post"
    )
    jwks: dict[str, Any] | None = Field(
        None, description="its public keys, as a JWK set or one JWK: private_key_jwt"
    )
    jwks_file: str | None = Field(None, description="the same in a file")
    servers: tuple[Slug, ...] = Field(
        (), description="the servers that it may use; `everyone` of a server does not mean it"
    )
    read_only: bool = Field(False, description="it may only call tools that read")
    login_links: bool = Field(
        False, description="it may make sign-in links that let a person look: POST /auth/links"
    )

    @model_validator(mode="after")
    def _one_proof(self) -> "Machine":
        if sum(one is not None for one in (self.secret, self.jwks, self.jwks_file)) != 1:
            raise ValueError("give exactly one of `secret`, `jwks` and `jwks_file`")
        if not self.servers and not self.login_links:
            raise ValueError("name `servers` that it may use, or set login_links: true")
        return self

    def proves_like(self, other: "Machine") -> bool:
        """Whether both prove who they are by the same."""
        return (self.secret, self.jwks, self.jwks_file) == (
            other.secret,
            other.jwks,
            other.jwks_file,
        )


def machine_mistakes(
    machines: Sequence[Machine], slugs: Collection[str]
) -> list[tuple[str, str, str]]:
    """Mistakes between them, and with the servers that there are: (path, problem, fix)."""
    found: list[tuple[str, str, str]] = []
    seen: set[str] = set()
    for number, machine in enumerate(machines):
        where = f"oauth.machines.{number}"
        if machine.client_id in seen:
            problem = f"`{machine.client_id}` is used twice"
            found.append((f"{where}.client_id", problem, "choose another client_id"))
        seen.add(machine.client_id)
        for slug in machine.servers:
            if slug not in slugs:
                known = ", ".join(sorted(slugs)) or "none yet"
                problem = f"there is no server `{slug}`"
                found.append((f"{where}.servers", problem, f"name servers of this file ({known})"))
    return found
