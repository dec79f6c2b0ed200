"""Who acts through apphost: its signed assertion, believed once, and the session read again."""

from aiohttp import web
from joserfc.jwk import KeySet

from shared import keys, log
from shared.clock import Clock
from shared.contracts.identity import Assertion, Principal
from shared.contracts.wire import ASSERTION_HEADER, Service
from shared.entitled import Admission
from shared.signing import ASSERTION_SECONDS, AssertionRefused, verify_assertion
from shared.stores.kv import KeyValue
from shared.stores.sessions import SessionReader
from shared.web.routes import Identify

_REMEMBER_SECONDS = 2 * ASSERTION_SECONDS  # longer than any assertion is accepted


def by_assertion(
    apphost: KeySet,
    sessions: SessionReader,
    store: KeyValue,
    clock: Clock,
    admission: Admission,
) -> Identify:
    """Identify by `Strad-Assertion`, bound to the slug in the path.

    apphost has no authority of its own: a session that has ended is refused here too.
    """

    async def identify(request: web.Request) -> Principal | None:
        try:
            assertion = _verify(request, apphost, clock())
            if not await store.add(_key(assertion), b"1", _REMEMBER_SECONDS):
                raise AssertionRefused("used before")
            session = await sessions.find(assertion.session)
            if session is None or session.person.subject != assertion.subject:
                raise AssertionRefused("the session has ended, or is another person's")
            if not admission.admits(session.person):
                raise AssertionRefused("this person may not sign in any more")
        except AssertionRefused as refusal:
            log.warning("assertion-refused", reason=str(refusal))
            return None
        return Principal(person=session.person, digest=assertion.session, session_kind=session.kind)

    return identify


def _verify(request: web.Request, apphost: KeySet, now: float) -> Assertion:
    values = request.headers.getall(ASSERTION_HEADER, [])
    if len(values) != 1:
        raise AssertionRefused("not exactly one")
    slug = request.match_info.get("slug")
    return verify_assertion(values[0], apphost, audience=Service.RELAY, slug=slug, now=now)


def _key(assertion: Assertion) -> str:
    try:
        return keys.ASSERTION_SEEN.key(assertion.id)
    except ValueError as error:
        raise AssertionRefused("its id is not one of ours") from error
