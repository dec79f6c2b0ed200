"""POST /oauth/token: a code or a refresh token becomes an access token (RFC 6749 §3.2).

Or a machine gets one for itself, where there are machines.
"""

from typing import Any

from aiohttp import web

from services.auth.oauth import fields, proving
from services.auth.oauth.machines import GRANT as MACHINE_GRANT
from services.auth.oauth.parts import OAUTH, OAuth
from services.auth.oauth.records import Allowed, Refresh
from services.auth.oauth.server import Answer, Asked, Loaded
from services.auth.oauth.tries import Tries
from services.auth.parts import PARTS
from services.auth.trail import note
from shared import ids, log
from shared.contracts import scopes
from shared.contracts.audit import Event
from shared.contracts.identity import Token
from shared.contracts.wire import TOKEN_PATH

_KNOWN = ("grant_type", "code", "redirect_uri", "code_verifier", *proving.FIELDS)
_MORE = ("refresh_token", "scope", "resource")


async def post(request: web.Request) -> web.Response:
    """A token, or the error by its name."""
    oauth = request.app[OAUTH]
    try:
        given = await fields.of_form(request, *_KNOWN, *_MORE, longer=proving.LONG)
    except fields.Malformed as error:
        return fields.refused("invalid_request", str(error))
    if given.get("grant_type") == MACHINE_GRANT and oauth.machines():
        answer = await _for_a_machine(request, oauth, given)
    else:
        answer = _plain(await _answer(request, oauth, given))
    if answer.status != 200:
        log.event("oauth-token-refused", error=answer.body.get("error"))
    headers = {"Pragma": "no-cache"} | answer.headers
    return web.json_response(answer.body, status=answer.status, headers=headers)


async def _for_a_machine(request: web.Request, oauth: OAuth, given: dict[str, str]) -> Answer:
    parts = request.app[PARTS]
    server, answer = await proving.proved(
        request, oauth, given, lambda server, asked: server.create_token_response(asked)
    )
    client = proving.client_of(oauth, server)
    if answer.status != 200 or server.issued is None or client is None:
        return answer if answer.status != 200 else _ended()
    await Tries(parts, oauth.seal, request).given(client.client_id, "token")
    now = int(oauth.clock())
    record = Token(
        id=ids.new_id(),
        person=client.person,
        label=client.machine.name,
        servers=scopes.servers(server.issued["scope"]),
        created=now,
        expires=now + oauth.rules.access,
        read_only=client.machine.read_only,
        client=client.client_id,
    )
    await note(parts.trail, Event.TOKEN_CREATED, client.person, token=record.id)
    await oauth.machine_tokens.give(record, server.issued["access_token"])
    log.event("machine-token", client=client.client_id, token=record.id)
    return answer


async def _answer(request: web.Request, oauth: OAuth, given: dict[str, str]) -> Answer:
    grant_type, loaded = given.get("grant_type"), Loaded()
    secret = given.get("code" if grant_type == "authorization_code" else "refresh_token", "")
    if grant_type == "authorization_code" and secret:
        loaded.code = await oauth.store.code(secret)
    elif grant_type == "refresh_token" and secret:
        loaded.refresh = await oauth.store.refresh(secret)
        if loaded.refresh is None:
            loaded.refresh = await _spent(oauth, secret)
            loaded.spent = loaded.refresh is not None
    found = loaded.code or loaded.refresh
    # what was made under another public address is for another audience
    if found is not None and found.resource == oauth.rules.resource:
        allowed = await oauth.store.allowed(found.allowed)
        if allowed is not None and oauth.admission.admits(allowed.person):
            loaded.allowed = allowed
    loaded.client = await oauth.known.at_token_endpoint(given.get("client_id", ""), loaded)
    server = oauth.server(loaded)
    answer: Answer = server.create_token_response(Asked("POST", TOKEN_PATH, given))
    if answer.status != 200 or server.issued is None or loaded.allowed is None:
        return answer
    await request.app[PARTS].limits.refresh(loaded.allowed.person.subject)
    fresh = server.issued
    if "refresh_token" in fresh:
        fresh["refresh_token"] = oauth.families.named(fresh["refresh_token"], loaded.allowed.id)
    mark = oauth.again.mark(secret, fresh)
    issued = await _claimed(oauth, loaded, secret, fresh, mark)
    if issued is None:
        return await _used_twice(request, oauth, loaded.allowed, str(grant_type))
    access, refresh = issued["access_token"], issued.get("refresh_token", "")
    if not await oauth.store.issue(loaded.allowed, access, refresh, oauth.rules.resource):
        return _ended()
    if loaded.refresh is not None and issued is fresh:
        await oauth.families.forget(secret, mark)
    return Answer(200, issued)


async def _spent(oauth: OAuth, text: str) -> Refresh | None:
    """What a refresh token was that is not kept any more, because it was used."""
    family = oauth.families.family_of(text)
    allowed = None if family is None else await oauth.store.allowed(family)
    if allowed is None:
        return None
    return Refresh(allowed=allowed.id, client=allowed.client.id, resource=oauth.rules.resource)


async def _claimed(
    oauth: OAuth, loaded: Loaded, secret: str, fresh: dict[str, Any], mark: bytes
) -> dict[str, Any] | None:
    """What is given out for a code or refresh token, here or a moment ago; None: it was used."""
    if loaded.refresh is None:
        return fresh if await oauth.store.claim_code(secret) else None
    if not loaded.spent and await oauth.store.claim(secret, mark):
        return fresh
    again = await oauth.again.answer(secret)
    if again is not None:
        log.event("oauth-answered-again")
    return again


async def _used_twice(
    request: web.Request, oauth: OAuth, allowed: Allowed, grant_type: str
) -> Answer:
    """Of two who bring the same one is not the client, and nobody can tell which (RFC 9700 §4.14):
    all that was given out for it ends."""
    reason = "code-replayed" if grant_type == "authorization_code" else "refresh-token-reused"
    log.warning("oauth-reuse", reason=reason, subject=allowed.person.subject, allowed=allowed.id)
    await oauth.store.end(allowed)
    trail = request.app[PARTS].trail
    await note(trail, Event.CLIENT_ENDED, allowed.person, token=allowed.id, reason=reason)
    return _ended()


def _ended() -> Answer:
    text = "It was used already, or what it stands for has ended. Connect the client again."
    return Answer(400, {"error": "invalid_grant", "error_description": text})


def _plain(answer: Answer) -> Answer:
    body = answer.body if isinstance(answer.body, dict) else {"error": "invalid_request"}
    return Answer(answer.status, body)
