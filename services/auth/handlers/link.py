"""/auth/link: a sign-in link. Its token leaves the address before anything is shown.

The address with the token answers with a redirect and a cookie, and nothing else: so the token is
in no page's address, history or referrer. What is shown then asks before anybody is signed in (a
stranger's link must not sign people in as somebody else), and never takes the place of a session.
"""

from aiohttp import web

from services.auth import cookies, links
from services.auth.device import device_of
from services.auth.login_links import LINK_PATH, Offer, limited_session
from services.auth.parts import PARTS, Parts
from services.auth.refusals import Reason, Refused, problem
from services.auth.return_to import HOME
from services.auth.trail import by_machine, note
from shared import log
from shared.contracts.audit import Event
from shared.contracts.machines import Machine
from shared.web.pages import html


async def show(request: web.Request) -> web.Response:
    """GET: with a token, the way to the clean address; without, the question."""
    parts = request.app[PARTS]
    if "token" in request.query:
        return _cleaned(request)
    here = await parts.identify(request)
    offered, maker = None, None
    if here is None:
        offer = _require(parts, await parts.login_links.look(_brought(request)))
        offered, maker = offer.person, _maker(parts, offer)
    return html(
        request,
        parts.pages,
        "link.html",
        offered=offered,
        maker=maker.name if maker is not None else None,
        signed_in=here.person if here else None,
        home=HOME,
    )


async def take(request: web.Request) -> web.Response:
    """POST: the person's press. Signs in, once. Raises `SignInFailed`."""
    parts = request.app[PARTS]
    if await parts.identify(request) is not None:
        # somebody's session, perhaps with unsaved work behind it, is not swapped for another
        raise web.HTTPSeeOther(LINK_PATH)
    offer = _require(parts, await parts.login_links.take(_brought(request)))
    person = offer.person
    await note(parts.trail, Event.LINK_USED, person, by=by_machine(offer.machine))
    rules = parts.config.sessions
    session = limited_session(
        person,
        int(parts.clock()),
        absolute=rules.absolute,
        idle=rules.idle,
        device=device_of(request.headers.get("User-Agent", "")),
    )
    cookie = await parts.sessions.begin(session)
    response = web.Response(status=303, headers={"Location": offer.return_to})
    cookies.set_session(response, cookie, session.expires - session.created)
    cookies.clear_link(response)
    log.event("link-used", subject=person.subject)
    return response


def _cleaned(request: web.Request) -> web.Response:
    given = request.query.getall("token")
    response = web.Response(
        status=303, headers={"Location": LINK_PATH, "Referrer-Policy": "no-referrer"}
    )
    cookies.set_link(response, given[0] if len(given) == 1 else "")
    return response


def _brought(request: web.Request) -> str:
    if not (token := cookies.link(request)):
        raise problem(Refused(Reason.LINK_MISSING), links.sign_in(), "")
    return token


def _maker(parts: Parts, offer: Offer) -> Machine | None:
    """The machine that made it, if it may make one for this person now."""
    found = parts.config.oauth.machine(offer.machine or "")
    if found is None or not found.login_links or parts.admission.administers(offer.person):
        return None
    return found


def _require(parts: Parts, offer: Offer | None) -> Offer:
    if offer is None or (offer.machine is not None and _maker(parts, offer) is None):
        # a machine that may not make it any more: what it has made is worth nothing either
        raise problem(Refused(Reason.LINK_UNUSABLE), links.sign_in(), "")
    if not parts.admission.admits(offer.person):
        raise problem(Refused(Reason.NOT_ALLOWED), links.sign_in(), "")
    return offer
