"""POST /oauth/revoke: a client gives back what it was allowed (RFC 7009).

Whichever token it brings, all of its family ends: what is left would be of no use to it.
"""

from typing import Any

from aiohttp import web
from authlib.oauth2.rfc7009 import RevocationEndpoint  # type: ignore[import-untyped]

from services.auth.oauth import fields
from services.auth.oauth.parts import OAUTH
from services.auth.oauth.records import Allowed
from services.auth.oauth.server import Answer, Asked, Loaded, PublicClient
from services.auth.parts import PARTS
from services.auth.trail import note
from shared.contracts.audit import Event
from shared.contracts.wire import REVOKE_PATH

_KNOWN = ("token", "token_type_hint", "client_id", "client_secret")


class _Held:
    """A token of ours, as Authlib reads it."""

    def __init__(self, allowed: Allowed) -> None:
        self.allowed = allowed

    def check_client(self, client: PublicClient) -> bool:
        return self.allowed.client.id == client.record.id


class _Revocation(RevocationEndpoint):  # type: ignore[misc]
    CLIENT_AUTH_METHODS = ("none",)

    def __init__(self, allowed: Allowed | None) -> None:
        super().__init__()
        self._found = allowed
        self.given_back: Allowed | None = None

    def query_token(self, _: str, __: str | None) -> _Held | None:
        return None if self._found is None else _Held(self._found)

    def revoke_token(self, token: _Held, _: Any) -> None:
        self.given_back = token.allowed


async def post(request: web.Request) -> web.Response:
    """200 also for a token that is none, or none any more (RFC 7009 §2.2)."""
    oauth = request.app[OAUTH]
    try:
        given = await fields.of_form(request, *_KNOWN)
    except fields.Malformed as error:
        return fields.refused("invalid_request", str(error))
    text, loaded = given.get("token", ""), Loaded()
    refresh, access = await oauth.store.refresh(text), await oauth.store.access(text)
    family = access.id if access is not None else oauth.families.family_of(text)
    family = refresh.allowed if refresh is not None else family
    if family is not None:
        loaded.allowed = await oauth.store.allowed(family)
    loaded.client = await oauth.known.at_token_endpoint(given.get("client_id", ""), loaded)
    server, endpoint = oauth.server(loaded), _Revocation(loaded.allowed)
    server.register_endpoint(endpoint)
    answer: Answer = server.create_endpoint_response(
        endpoint.ENDPOINT_NAME, Asked("POST", REVOKE_PATH, given)
    )
    if (ended := endpoint.given_back) is not None:
        await note(request.app[PARTS].trail, Event.CLIENT_ENDED, ended.person, token=ended.id)
        await oauth.store.end(ended)
    return web.json_response(answer.body, status=answer.status)
