"""How a client describes itself: when it registers (RFC 7591), or in its own document (CIMD)."""

from typing import Any

from pydantic import BaseModel, ConfigDict, Field, ValidationError, field_validator

from services.auth.oauth import redirects
from services.auth.oauth.records import Client

_MAX_NAME = 60
_MAX_URIS = 10
GRANTS = ("authorization_code", "refresh_token")


class Undescribed(Exception):
    """A description that cannot be used. `error`: its name in RFC 7591 §3.2.2."""

    def __init__(self, error: str, description: str) -> None:
        super().__init__(description)
        self.error = error


class Description(BaseModel):
    """What is read of it; whatever else it says is left alone."""

    model_config = ConfigDict(strict=True, frozen=True)

    redirect_uris: list[str] = Field(min_length=1, max_length=_MAX_URIS)
    client_name: str = ""
    # RFC 7591 §2: left out, it is the code alone
    grant_types: list[str] = ["authorization_code"]
    response_types: list[str] = ["code"]
    token_endpoint_auth_method: str | None = None
    application_type: str | None = None

    @field_validator("redirect_uris")
    @classmethod
    def _usable(cls, value: list[str]) -> list[str]:
        if not all(redirects.usable(uri) for uri in value):
            raise ValueError("use https, or http to this machine, without user and fragment")
        return value

    def client(self, client_id: str, *, document: bool = False) -> Client:
        """The client under an id. Raises `Undescribed`."""
        if "authorization_code" not in self.grant_types or "code" not in self.response_types:
            raise Undescribed(
                "invalid_client_metadata", "Only the authorization code grant is used."
            )
        return Client(
            id=client_id,
            name=_clean(self.client_name),
            redirect_uris=tuple(self.redirect_uris),
            refreshes="refresh_token" in self.grant_types,
            document=document,
        )


def read(given: Any) -> Description:
    """A description. Raises `Undescribed`."""
    try:
        return Description.model_validate(given)
    except ValidationError as error:
        where = error.errors(include_url=False)[0]["loc"]
        name = str(where[0]) if where else "metadata"
        if name == "redirect_uris":
            text = "redirect_uris must be addresses of https, of this machine, or of a program."
            raise Undescribed("invalid_redirect_uri", text) from error
        text = f"{name} cannot be understood." if name in Description.model_fields else "Send JSON."
        raise Undescribed("invalid_client_metadata", text) from error


def _clean(name: str) -> str:
    """A name for people to read: printable, one line."""
    words = " ".join(name.split())
    return "".join(char for char in words if char.isprintable())[:_MAX_NAME].strip()
