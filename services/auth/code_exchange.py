"""The two sides of the code flow: the question in the browser, the exchange behind it.

OpenID Connect Core §3.1, PKCE S256 (RFC 7636), issuer in the answer (RFC 9207).
"""

import re
from collections.abc import Mapping
from dataclasses import dataclass
from urllib.parse import quote_plus

import aiohttp
from authlib.oauth2.rfc7636 import create_s256_code_challenge  # type: ignore[import-untyped]
from multidict import MultiMapping

from services.auth.acting import FRESH_SECONDS
from services.auth.attempts import Attempt
from services.auth.back_channel import BackChannel
from services.auth.provider import Metadata
from services.auth.refusals import Reason, Refused

_ERROR_CODE = re.compile(r"[a-z_]{1,40}")
_MAX_CODE = 4096


@dataclass(frozen=True, slots=True)
class Client:
    """This installation as the provider knows it."""

    client_id: str
    secret: str
    scopes: tuple[str, ...]
    redirect_uri: str


@dataclass(frozen=True, slots=True)
class Tokens:
    """What a code was exchanged for. The access token only proves `at_hash`, then is dropped."""

    id_token: str
    access_token: str


def question(attempt: Attempt, client: Client, *, prompt: str, fresh: bool) -> dict[str, str]:
    """The parameters of the authorization request. `fresh`: the person is to prove it anew.

    `prompt`: what the provider is to show in any case (OpenID Connect Core §3.1.2.1); may be empty.
    """
    parameters = {
        "response_type": "code",
        "client_id": client.client_id,
        "redirect_uri": client.redirect_uri,
        "scope": " ".join(client.scopes),
        "state": attempt.state,
        "nonce": attempt.nonce,
        "code_challenge": str(create_s256_code_challenge(attempt.verifier)),
        "code_challenge_method": "S256",
    }
    if fresh:
        # not prompt=login, which Google does not know; a provider passes over what it does not know
        parameters["max_age"] = str(FRESH_SECONDS)
    return parameters | ({"prompt": prompt} if prompt else {})


def read_answer(query: MultiMapping[str], metadata: Metadata) -> str:
    """The code in the browser's answer, once its state is known to be right. Raises `Refused`."""
    named = query.getall("iss", [])
    if named != [metadata.issuer] and (named or metadata.names_itself):
        raise Refused(Reason.ANSWER_ISSUER)
    if errors := query.getall("error", []):
        if errors == ["access_denied"]:
            raise Refused(Reason.CANCELLED)
        # anybody can write the text into a link: only a well-known form of it is logged
        code = errors[0] if _ERROR_CODE.fullmatch(errors[0]) else "unreadable"
        raise Refused(Reason.PROVIDER_SAID_NO, code)
    codes = query.getall("code", [])
    if len(codes) != 1 or not 0 < len(codes[0]) <= _MAX_CODE:
        raise Refused(Reason.CODE_MISSING)
    return codes[0]


async def redeem(
    code: str, attempt: Attempt, client: Client, metadata: Metadata, channel: BackChannel
) -> Tokens:
    """Exchange a code for tokens, with the verifier and the client's secret. Raises `Refused`."""
    form = {
        "grant_type": "authorization_code",
        "code": code,
        "redirect_uri": client.redirect_uri,
        "code_verifier": attempt.verifier,
    }
    headers = {}
    if metadata.posts_secret:
        form |= {"client_id": client.client_id, "client_secret": client.secret}
    else:
        # form-encoded before they are joined (RFC 6749 §2.3.1)
        name, secret = quote_plus(client.client_id), quote_plus(client.secret)
        headers["Authorization"] = aiohttp.encode_basic_auth(name, secret)
    status, answer = await channel.post(metadata.token_endpoint, form, headers)
    if status != 200:
        raise _refusal(answer)
    id_token, access_token = answer.get("id_token"), answer.get("access_token")
    if not isinstance(id_token, str) or not isinstance(access_token, str) or not access_token:
        raise Refused(Reason.PROVIDER_UNUSABLE, "a token answer without the two tokens")
    return Tokens(id_token, access_token)


def _refusal(answer: Mapping[str, object]) -> Refused:
    error = str(answer.get("error"))
    if error in {"invalid_client", "unauthorized_client"}:
        return Refused(Reason.CLIENT_REFUSED, error)
    return Refused(Reason.CODE_REFUSED, error if _ERROR_CODE.fullmatch(error) else "unreadable")
