"""GET /auth/callback: the provider's answer. Everything is checked here, in this order.

The attempt (cookie, single use), its state, the answer (error, issuer, code), the exchange, the ID
token, the person, the rules, whose the address is; then a new session, whatever session this
browser had before.
"""

from aiohttp import web

from services.auth import cookies, links
from services.auth.attempts import Attempt, check_state
from services.auth.code_flow import Proof
from services.auth.device import device_of
from services.auth.parts import PARTS, Parts
from services.auth.refusals import Reason, Refused, problem
from services.auth.return_to import HOME
from services.auth.trail import note
from shared import log
from shared.contracts.audit import Event
from shared.contracts.identity import Session, SessionKind
from shared.web.pages import html


async def finish(request: web.Request) -> web.Response:
    """Sign somebody in, or say why not. Raises `SignInFailed`."""
    parts = request.app[PARTS]
    attempt = await _attempt(request, parts)
    try:
        proof = await parts.flow.prove(attempt, request.query)
        if not await parts.people.claim(proof.person):
            raise Refused(Reason.BOUND_ELSEWHERE, person=proof.person)
    except Refused as refused:
        denied = refused.person
        if denied is not None and await parts.limits.is_first_denial(
            denied.subject, refused.reason
        ):
            await note(parts.trail, Event.SIGN_IN_DENIED, denied, reason=refused.reason)
        raise _failed(refused, attempt) from refused
    await note(parts.trail, Event.SIGNED_IN, proof.person)
    cookie = await _new_session(request, parts, proof)
    response = _onward(request, parts, attempt)
    cookies.set_session(response, cookie, parts.config.sessions.absolute)
    log.event("signed-in", subject=proof.person.subject)
    return response


async def _attempt(request: web.Request, parts: Parts) -> Attempt:
    try:
        attempt = await parts.attempts.take(cookies.attempt(request))
        check_state(attempt, request.query.getall("state", []))
    except Refused as refused:
        # nothing is known of where this came from, so nothing is carried on
        raise problem(refused, links.sign_in(), "") from refused
    return attempt


def _failed(refused: Refused, attempt: Attempt) -> Exception:
    log.event("sign-in-refused", reason=refused.reason, detail=refused.detail)
    trusted = attempt.trusted
    return problem(
        refused,
        links.start(attempt.return_to, trusted=trusted),
        links.start(attempt.return_to, trusted=trusted, choose_account=True),
    )


async def _new_session(request: web.Request, parts: Parts, proof: Proof) -> str:
    """A session under a new name: one that somebody planted, or that leaked, ends here."""
    if old := cookies.session(request):
        await parts.sessions.end(parts.sessions.digest(old))
    rules, now = parts.config.sessions, int(parts.clock())
    session = Session(
        kind=SessionKind.OIDC,
        person=proof.person,
        created=now,
        expires=now + rules.absolute,
        idle_seconds=rules.idle,
        device=device_of(request.headers.get("User-Agent", "")),
        provider_session=proof.provider_session,
        auth_time=proof.auth_time,
    )
    return await parts.sessions.begin(session)


def _onward(request: web.Request, parts: Parts, attempt: Attempt) -> web.Response:
    """To where the person wanted to go.

    After a redirect the next page sees a request from another site, for that is where the answer
    came from, and asks before it opens anything: right for a stranger's link. A person who came on
    their own is led on by a page of ours instead, so that the next page sees a step of ours.
    """
    if not attempt.trusted:
        return web.Response(status=303, headers={"Location": attempt.return_to})
    here = "the console" if attempt.return_to == HOME else attempt.return_to
    title = "You are signed in"
    return html(
        request,
        parts.pages,
        "onward.html",
        to=attempt.return_to,
        name=here,
        title=title,
        at_once=True,
    )
