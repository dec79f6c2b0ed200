"""POST /oauth/revoke: a client gives back what it was allowed (RFC 7009).

Whichever token it brings, all of its family ends: what is left would be of no use to it.
A machine's token stands alone.
"""

from typing import Any

from aiohttp import web
from authlib.oauth2.rfc7009 import RevocationEndpoint  # type: ignore[import-untyped]

from services.auth.oauth import fields, proving
from services.auth.oauth.machines import METHODS, MachineClient
from services.auth.oauth.parts import OAUTH, OAuth
from services.auth.oauth.public_client import PublicClient
from services.auth.oauth.records import Allowed
from services.auth.oauth.server import Answer, Asked, Loaded, Server
from services.auth.parts import PARTS
from services.auth.trail import note
from shared.contracts.audit import Event
from shared.contracts.identity import Token
from shared.contracts.wire import REVOKE_PATH

_KNOWN = ("token", "token_type_hint", *proving.FIELDS)


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


class _OfMachine:
    """A machine's token, as Authlib reads it."""

    def __init__(self, record: Token) -> None:
        self.record = record

    def check_client(self, client: MachineClient) -> bool:
        return self.record.person.machine == client.client_id


class _MachineRevocation(RevocationEndpoint):  # type: ignore[misc]
    CLIENT_AUTH_METHODS = METHODS

    def __init__(self, record: Token | None) -> None:
        super().__init__()
        self._found = record
        self.given_back: Token | None = None

    def query_token(self, _: str, __: str | None) -> _OfMachine | None:
        return None if self._found is None else _OfMachine(self._found)

    def revoke_token(self, token: _OfMachine, _: Any) -> None:
        self.given_back = token.record


async def post(request: web.Request) -> web.Response:
    """200 also for a token that is none, or none any more (RFC 7009 §2.2)."""
    oauth = request.app[OAUTH]
    try:
        given = await fields.of_form(request, *_KNOWN, longer=proving.LONG)
    except fields.Malformed as error:
        return fields.refused("invalid_request", str(error))
    if oauth.machines() and proving.tried(request, given):
        return await _by_a_machine(request, oauth, given)
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


async def _by_a_machine(request: web.Request, oauth: OAuth, given: dict[str, str]) -> web.Response:
    text = given.get("token", "")
    endpoint = _MachineRevocation(await oauth.store.access(text))

    def respond(server: Server, asked: Asked) -> Answer:
        server.register_endpoint(endpoint)
        answer: Answer = server.create_endpoint_response(endpoint.ENDPOINT_NAME, asked)
        return answer

    _, answer = await proving.proved(request, oauth, given, respond)
    if answer.status == 200 and (ended := endpoint.given_back) is not None:
        trail = request.app[PARTS].trail
        await note(trail, Event.TOKEN_REVOKED, ended.person, token=ended.id)
        await oauth.machine_tokens.take_back(text)
    return web.json_response(answer.body, status=answer.status, headers=answer.headers)
