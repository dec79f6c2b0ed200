"""POST /auth/back-channel-logout: the provider says that somebody signed out there.

No cookie and no origin: what proves the request is the provider's signature (OpenID Connect
Back-Channel Logout 1.0 §2.5 to §2.8). Access tokens stay: signing out is no withdrawal of a right.
"""

from aiohttp import web

from services.auth.logout_token import USED_SECONDS, SignedOut
from services.auth.parts import PARTS, Parts
from services.auth.refusals import TEXTS, Reason, Refused
from services.auth.trail import note_done_to
from shared import keys, log
from shared.contracts.audit import Event
from shared.contracts.identity import Session
from shared.contracts.problems import ProblemKind
from shared.web import body
from shared.web.origin import refuse_pages, require_form

SIGNED_OUT: web.RequestKey[SignedOut] = web.RequestKey("signed_out", SignedOut)


async def guard(request: web.Request) -> web.Response | None:
    """Let only the provider's own, fresh word through; 400 for every other (§2.8)."""
    parts = request.app[PARTS]
    refuse_pages(request)
    await parts.limits.check(request)
    require_form(request)
    await body.read(request)
    given = (await request.post()).getall("logout_token", [])
    try:
        if len(given) != 1 or not isinstance(given[0], str):
            raise Refused(Reason.TOKEN_MALFORMED, "not exactly one logout_token")
        word = await parts.flow.signed_out(given[0])
        used = keys.SIGN_IN.key(parts.sessions.digest(f"logout {word.id}"))
        if not await parts.store.add(used, b"1", USED_SECONDS):
            raise Refused(Reason.ALREADY_USED)
    except Refused as refused:
        log.warning("logout-token-refused", reason=refused.reason, detail=refused.detail)
        if TEXTS[refused.reason][0] is not ProblemKind.PROVIDER_UNAVAILABLE:
            await parts.limits.failed(request)
        return web.json_response({"error": "invalid_request"}, status=400)
    request[SIGNED_OUT] = word
    return None


async def end(request: web.Request) -> web.Response:
    """End the sessions that are meant, on every replica; 200 also when there are none."""
    parts, word = request.app[PARTS], request[SIGNED_OUT]
    for digest, session in (await _meant(parts, word)).items():
        person = session.person
        await note_done_to(
            parts.trail, Event.SIGNED_OUT, person.subject, person.email, by="provider"
        )
        await parts.sessions.end(digest)
        log.event("signed-out", by="provider")
    return web.Response(status=200)


async def _meant(parts: Parts, word: SignedOut) -> dict[str, Session]:
    if word.sid is None:
        return await parts.sessions.of(word.subject or "")
    found = await parts.sessions.of_provider_session(word.sid)
    return {
        digest: session
        for digest, session in found.items()
        if word.subject in {None, session.person.subject}
    }
