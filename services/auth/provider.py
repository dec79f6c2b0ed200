"""The OpenID provider as it describes itself (OpenID Connect Discovery 1.0), and its keys."""

from collections.abc import Mapping
from dataclasses import dataclass
from typing import Any
from urllib.parse import urlencode, urlsplit

from joserfc.errors import JoseError
from joserfc.jwk import ECKey, KeySet, RSAKey

from services.auth.back_channel import BackChannel
from services.auth.kept import Kept
from services.auth.refusals import Reason, Refused
from shared.clock import Clock
from shared.contracts.config import GOOGLE_ISSUER
from shared.contracts.fields import is_loopback

# asymmetric only: with an HMAC, whoever checks a signature could also make it
ALGORITHMS = ("RS256", "PS256", "ES256")
_KEY_TYPES: dict[str, type[RSAKey] | type[ECKey]] = {"RSA": RSAKey, "EC": ECKey}
_RSA_2048_CHARS = 342  # a modulus of 2048 bits in base64url; shorter ones are too weak


@dataclass(frozen=True, slots=True)
class Metadata:
    """What strad needs of a provider's description.

    `posts_secret`: client_secret_post instead of client_secret_basic (RFC 6749 §2.3.1).
    `choosing`: the `prompt` that lets a person choose an account; empty: there is none.
    `names_itself`: every answer in the browser carries `iss` (RFC 9207).
    """

    issuer: str
    authorization_endpoint: str
    token_endpoint: str
    jwks_uri: str
    algorithms: tuple[str, ...]
    posts_secret: bool
    names_itself: bool
    choosing: str = "select_account"

    def authorization_url(self, parameters: Mapping[str, str]) -> str:
        """Where to send the browser."""
        joint = "&" if urlsplit(self.authorization_endpoint).query else "?"
        return f"{self.authorization_endpoint}{joint}{urlencode(parameters)}"


class Provider:
    """The configured provider. Nothing is fetched before somebody wants to sign in."""

    def __init__(self, issuer: str, channel: BackChannel, clock: Clock) -> None:
        self.issuer = issuer
        self._channel = channel
        self._metadata = Kept(self._fetch_metadata, clock)
        self._keys = Kept(self._fetch_keys, clock)

    @property
    def issuers(self) -> tuple[str, ...]:
        """The `iss` values to accept. Google also writes its name without a scheme."""
        google = self.issuer == GOOGLE_ISSUER
        return (self.issuer, "accounts.google.com") if google else (self.issuer,)

    async def metadata(self) -> Metadata:
        """The provider's description. Raises `Refused`."""
        return await self._metadata.get()

    async def keys(self) -> KeySet:
        """The provider's signing keys. Raises `Refused`."""
        return await self._keys.get()

    async def newer_keys(self, than: KeySet) -> KeySet:
        """The keys once more, for a token whose key is not among those. Raises `Refused`."""
        return await self._keys.newer(than)

    async def _fetch_metadata(self) -> Metadata:
        url = f"{self.issuer.rstrip('/')}/.well-known/openid-configuration"
        return read_metadata(self.issuer, await self._channel.get(url))

    async def _fetch_keys(self) -> KeySet:
        metadata = await self.metadata()
        return read_keys(await self._channel.get(metadata.jwks_uri))


def read_metadata(issuer: str, document: Mapping[str, Any]) -> Metadata:
    """Check a discovery document. Raises `Refused` (provider-unusable) and says what is wrong."""
    if document.get("issuer") != issuer:
        # another issuer's document would make its keys good for ours (Discovery §4.3)
        raise Refused(Reason.PROVIDER_UNUSABLE, "the document names another issuer")
    offered = _texts(document, "id_token_signing_alg_values_supported", "RS256")
    algorithms = tuple(name for name in ALGORITHMS if name in offered)
    if not algorithms:
        raise Refused(Reason.PROVIDER_UNUSABLE, "no signing algorithm in common")
    methods = _texts(document, "token_endpoint_auth_methods_supported", "client_secret_basic")
    if not {"client_secret_basic", "client_secret_post"} & set(methods):
        raise Refused(Reason.PROVIDER_UNUSABLE, "it takes no client secret, by header or form")
    return Metadata(
        issuer=issuer,
        authorization_endpoint=_endpoint(document, "authorization_endpoint", issuer),
        token_endpoint=_endpoint(document, "token_endpoint", issuer),
        jwks_uri=_endpoint(document, "jwks_uri", issuer),
        algorithms=algorithms,
        posts_secret="client_secret_basic" not in methods,
        names_itself=document.get("authorization_response_iss_parameter_supported") is True,
        choosing=_choosing(document),
    )


def _choosing(document: Mapping[str, Any]) -> str:
    """`select_account`, or what comes next to it where a provider says that it does not know it."""
    usual = "select_account"
    if "prompt_values_supported" not in document:
        return usual
    known = _texts(document, "prompt_values_supported", usual)
    return next((prompt for prompt in (usual, "login") if prompt in known), "")


def _texts(document: Mapping[str, Any], name: str, default: str) -> list[str]:
    value = document.get(name, [default])
    return [item for item in value if isinstance(item, str)] if isinstance(value, list) else []


def _endpoint(document: Mapping[str, Any], name: str, issuer: str) -> str:
    """An address of the provider: https, or http on this machine for an issuer that is there."""
    value = document.get(name)
    try:
        parts = urlsplit(value if isinstance(value, str) else "")
        host = parts.hostname or ""
    except ValueError:
        host = ""
    if host and not parts.fragment and not parts.username and isinstance(value, str):
        local = is_loopback(host) and urlsplit(issuer).scheme == "http"
        if parts.scheme == "https" or (parts.scheme == "http" and local):
            return value
    raise Refused(Reason.PROVIDER_UNUSABLE, f"{name} is not an address that can be used")


def read_keys(document: Mapping[str, Any]) -> KeySet:
    """The signing keys of a JWK Set (RFC 7517 §5); others in it are passed over. May be empty."""
    found = document.get("keys")
    if not isinstance(found, list):
        raise Refused(Reason.PROVIDER_UNUSABLE, "its key set holds no list of keys")
    keys = [key for item in found if (key := _signing_key(item)) is not None]
    return KeySet(list(keys))


def _signing_key(item: object) -> RSAKey | ECKey | None:
    if not isinstance(item, dict) or item.get("use", "sig") != "sig":
        return None
    kind = _KEY_TYPES.get(str(item.get("kty")))
    if kind is None or (kind is RSAKey and len(str(item.get("n"))) < _RSA_2048_CHARS):
        return None
    try:
        return kind.import_key(item)
    except (JoseError, ValueError, TypeError, KeyError):
        return None
