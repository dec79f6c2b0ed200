"""/oauth/authorize: a client asks for access, and its person answers (RFC 6749 §4.1, RFC 9207).

A request that cannot be believed is told to the person and not to an address that it names.
"""

from typing import Any

from aiohttp import web
from authlib.common.urls import add_params_to_uri  # type: ignore[import-untyped]
from authlib.oauth2.rfc6749 import OAuth2Error  # type: ignore[import-untyped]

from services.auth.acting import ended, has_ended, is_fresh, require_change
from services.auth.oauth import consent, fields, pages
from services.auth.oauth.consent import Consent, Question
from services.auth.oauth.description import Undescribed
from services.auth.oauth.parts import OAUTH
from services.auth.oauth.records import Client
from services.auth.oauth.server import Asked, Loaded, Server
from services.auth.parts import PARTS
from services.auth.trail import note
from shared import log
from shared.contracts import scopes
from shared.contracts.audit import Event
from shared.contracts.problems import Problem, ProblemKind
from shared.contracts.wire import AUTHORIZE_PATH
from shared.web import body
from shared.web.origin import require_form
from shared.web.routes import PRINCIPAL, SESSION

_KNOWN = frozenset(
    {"response_type", "client_id", "redirect_uri", "scope", "state", "resource", "prompt"}
    | {"code_challenge", "code_challenge_method", "response_mode"}
)


async def ask(request: web.Request) -> web.Response:
    """GET: the page that asks; or the answer, where the same was allowed before."""
    parts, oauth, principal = request.app[PARTS], request.app[OAUTH], request[PRINCIPAL]
    try:
        given = fields.read(request.query.items(), _KNOWN)
    except fields.Malformed as error:
        raise _unbelievable(str(error)) from error
    checked = await _checked(request, given)
    if isinstance(checked, web.Response):
        return checked
    server, grant, asked = checked
    if not is_fresh(request[SESSION], parts.clock()):
        return pages.sign_in_first(request, asked, given)
    last = await consent.before(oauth.store, principal.subject, asked.client.id, asked.redirect_uri)
    if last is not None and given.get("prompt") != "consent" and consent.needs_no_page(asked, last):
        location = await _allow(request, server, grant, asked, consent.narrowed(asked, last))
        return web.Response(status=303, headers={"Location": location})
    sealed = consent.sealed(oauth.seal, principal.digest, given, parts.clock())
    return pages.question(request, asked, last, sealed)


async def decide(request: web.Request) -> web.Response:
    """POST: the person's answer."""
    parts, oauth, principal = request.app[PARTS], request.app[OAUTH], request[PRINCIPAL]
    require_form(request)
    await body.read(request)
    posted = await request.post()
    sealed = str(posted.get("request", ""))
    given = consent.opened(oauth.seal, principal.digest, sealed, parts.clock())
    if given is None:
        raise _unbelievable("This form is too old, or was put to another session.")
    checked = await _checked(request, given)
    if isinstance(checked, web.Response):
        return checked
    server, grant, asked = checked
    if posted.get("answer") != "allow":
        refused = server.create_authorization_response(
            Asked("GET", AUTHORIZE_PATH, given), None, grant
        )
        return pages.onward(request, asked, str(refused.location), allowed=False)
    if not is_fresh(request[SESSION], parts.clock()):
        return pages.sign_in_first(request, asked, given, status=403)
    answer = consent.answer(asked, posted)
    if answer is None:
        error = "Choose all of your servers, or at least one."
        last = consent.chosen(asked, posted)
        return pages.question(request, asked, last, sealed, error, 422)
    location = await _allow(request, server, grant, asked, answer)
    return pages.onward(request, asked, location, allowed=True)


async def _checked(
    request: web.Request, given: dict[str, str]
) -> tuple[Server, Any, Question] | web.Response:
    """Authlib's verdict on a request, and what to ask; or the error for the client."""
    parts, oauth, principal = request.app[PARTS], request.app[OAUTH], request[PRINCIPAL]
    require_change(principal)
    await parts.limits.question(principal.subject)
    try:
        client = await oauth.known.find(given.get("client_id", ""))
        server = oauth.server(Loaded(client=client))
        asked = Asked("GET", AUTHORIZE_PATH, given)
        grant = server.get_consent_grant(asked, principal.person)
    except Undescribed as error:
        raise _unbelievable(str(error)) from error
    except OAuth2Error as error:
        return await _refused(request, client, error)
    wanted = scopes.servers(given.get("scope", ""))
    where = given["redirect_uri"]
    question = consent.question(parts.config, principal.person.email, client, where, wanted)
    if not question.servers and not question.every:
        title = "You may use none of the servers that this client asks for."
        raise Problem(ProblemKind.FORBIDDEN, title, "Ask an administrator for access.", "no-server")
    return server, grant, question


async def _allow(
    request: web.Request, server: Server, grant: Any, asked: Question, given: Consent
) -> str:
    """Keep what is allowed, and the code for it; gives where to take the code."""
    parts, oauth, principal = request.app[PARTS], request.app[OAUTH], request[PRINCIPAL]
    now = int(parts.clock())
    server.allowed = consent.allowed(parts.config, principal, asked, given, now)
    answer = server.create_authorization_response(grant.request, principal.person, grant)
    assert server.code is not None  # everything was checked before
    await note(
        parts.trail,
        Event.CLIENT_CONNECTED,
        principal.person,
        digest=principal.digest,
        token=server.allowed.id,
    )
    for old in await oauth.store.too_many(principal.subject):
        reason = "too-many-clients"
        await note(parts.trail, Event.CLIENT_ENDED, old.person, token=old.id, reason=reason)
        await oauth.store.end(old)
    await oauth.store.allow(server.allowed, *server.code)
    if await has_ended(parts.sessions, principal):
        await oauth.store.end(server.allowed)
        raise ended()
    log.event("client-allowed", subject=principal.subject, allowed=server.allowed.id)
    return str(answer.location)


async def _refused(request: web.Request, client: Client, error: Any) -> web.Response:
    """The error for the client. Anybody can register one and send people here with a request that
    cannot be accepted: a browser is led on only to where its person has let answers go before.
    """
    oauth, principal = request.app[OAUTH], request[PRINCIPAL]
    log.event("authorization-refused", error=error.error)
    if not error.redirect_uri:
        # in words of ours: the library's own repeat the address, in which anybody could write any
        raise _unbelievable("It wants its answer at an address that it has not registered.")
    answer = [*error.get_body(), ("iss", oauth.rules.issuer)]
    location = add_params_to_uri(error.redirect_uri, answer)
    if await consent.before(oauth.store, principal.subject, client.id, error.redirect_uri):
        return web.Response(status=303, headers={"Location": location})
    asked = Question(client, error.redirect_uri, (), every=False)
    return pages.not_accepted(request, asked, location)


def _unbelievable(text: str) -> Problem:
    title = "A client sent you here with a request that cannot be accepted."
    advice = f"{text} Nothing was allowed. Go back to the client, and connect it anew."
    return Problem(ProblemKind.BAD_REQUEST, title, advice, "authorization-request")
