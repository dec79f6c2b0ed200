"""Who sends a request: the session cookie of the console and the sign-in pages."""

from aiohttp import web

from shared.contracts.identity import Principal
from shared.contracts.wire import SESSION_COOKIE
from shared.entitled import Admission
from shared.stores.sessions import SessionReader
from shared.web import cookies
from shared.web.routes import SESSION, Identify


def by_session(sessions: SessionReader, admission: Admission) -> Identify:
    """Identify by the session cookie. The session is read again on every request."""

    async def identify(request: web.Request) -> Principal | None:
        cookie = cookies.read(request, SESSION_COOKIE)
        if not cookie:
            return None
        digest = sessions.digest(cookie)
        session = await sessions.find(digest)
        if session is None or not admission.admits(session.person):
            return None
        request[SESSION] = session
        return Principal(person=session.person, digest=digest, session_kind=session.kind)

    return identify
