"""POST /token: a code, the client's secret and the PKCE verifier, for an ID token."""

import hashlib
import hmac
import re
from base64 import b64decode, urlsafe_b64encode
from binascii import Error as NotBase64
from collections.abc import Mapping
from urllib.parse import unquote_plus

from aiohttp import web

from demo.provider.ledger import ACCESS_SECONDS, CodeRefused
from demo.provider.state import PROVIDER, Provider
from demo.provider.tokens import id_token

VERIFIER = re.compile(r"[A-Za-z0-9._~-]{43,128}")


class Refused(Exception):
    """An OAuth error answer (RFC 6749 §5.2)."""

    def __init__(self, error: str, description: str, status: int = 400) -> None:
        super().__init__(description)
        self.error, self.description, self.status = error, description, status


async def token(request: web.Request) -> web.Response:
    provider = request.app[PROVIDER]
    try:
        return web.json_response(redeem(provider, request, await fields(request)))
    except Refused as refusal:
        return web.json_response(
            {"error": refusal.error, "error_description": refusal.description},
            status=refusal.status,
            headers={"WWW-Authenticate": 'Basic realm="token"'} if refusal.status == 401 else {},
        )


async def fields(request: web.Request) -> dict[str, str]:
    """The form's fields, each a text and each once."""
    if request.content_type != "application/x-www-form-urlencoded":
        raise Refused("invalid_request", "send application/x-www-form-urlencoded")
    form = await request.post()
    if len(form) != len(set(form)):
        raise Refused("invalid_request", "a field is given more than once")
    return {name: value for name, value in form.items() if isinstance(value, str)}


def redeem(provider: Provider, request: web.Request, form: Mapping[str, str]) -> dict[str, object]:
    """The token answer (OpenID Connect Core 1.0 §3.1.3.3). Raises Refused."""
    client_id = authenticate(provider, request.headers.get("Authorization"), form)
    if provider.faults.token_error:
        raise Refused(provider.faults.token_error, "on purpose (fault token_error)")
    if form.get("grant_type") != "authorization_code":
        raise Refused("unsupported_grant_type", "grant_type must be authorization_code")
    try:
        grant, access = provider.ledger.redeem(form.get("code", ""))
    except CodeRefused as refusal:
        raise Refused("invalid_grant", str(refusal)) from refusal
    if grant.client_id != client_id:
        raise Refused("invalid_grant", "this code was given to another client")
    if form.get("redirect_uri") != grant.redirect_uri:
        raise Refused("invalid_grant", "redirect_uri is not the one of the authorization request")
    if not proves(form.get("code_verifier", ""), grant.challenge):
        raise Refused("invalid_grant", "code_verifier does not match code_challenge")
    return {
        "access_token": access,
        "token_type": "Bearer",
        "expires_in": ACCESS_SECONDS,
        "scope": grant.scope,
        "id_token": id_token(
            grant,
            access,
            issuer=provider.settings.issuer,
            now=int(provider.clock()),
            keys=provider.keys,
            faults=provider.faults,
        ),
    }


def authenticate(provider: Provider, header: str | None, form: Mapping[str, str]) -> str:
    """The client's id, by client_secret_basic or client_secret_post, not both."""
    posted = "client_secret" in form
    if header is not None and posted:
        raise Refused("invalid_request", "authenticate in one way, not in two")
    if header is not None:
        client_id, secret = basic(header)
    else:
        client_id, secret = form.get("client_id", ""), form.get("client_secret", "")
    settings = provider.settings
    same = hmac.compare_digest(secret.encode(), settings.client_secret.encode())
    if client_id != settings.client_id or not same:
        raise Refused("invalid_client", "unknown client, or wrong secret", 401)
    return client_id


def basic(header: str) -> tuple[str, str]:
    """Id and secret, each form-encoded before they were joined (RFC 6749 §2.3.1)."""
    scheme, _, credentials = header.partition(" ")
    try:
        pair = b64decode(credentials, validate=True).decode()
    except (NotBase64, UnicodeDecodeError) as error:
        raise Refused("invalid_client", "the Basic credentials are not base64", 401) from error
    if scheme.lower() != "basic" or ":" not in pair:
        raise Refused("invalid_client", "use Basic, as id:secret", 401)
    client_id, _, secret = pair.partition(":")
    return unquote_plus(client_id), unquote_plus(secret)


def proves(verifier: str, challenge: str) -> bool:
    """RFC 7636 §4.6, S256."""
    if not VERIFIER.fullmatch(verifier):
        return False
    digest = hashlib.sha256(verifier.encode()).digest()
    return hmac.compare_digest(urlsafe_b64encode(digest).rstrip(b"=").decode(), challenge)
