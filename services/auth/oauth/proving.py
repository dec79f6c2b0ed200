"""A machine proves who it is: where it gets tokens, gives them back, or makes sign-in links.

Authlib decides; here is what has to wait for the store: limits, and that an assertion works once.
Whoever did not prove anything hears one and the same answer, whichever machine there is or is not.
"""

import base64
import binascii
from collections.abc import Callable, Mapping

from aiohttp import web

from services.auth.oauth.assertions import LEEWAY_SECONDS
from services.auth.oauth.machines import MachineClient
from services.auth.oauth.parts import OAuth
from services.auth.oauth.server import Answer, Asked, Loaded, Server
from services.auth.oauth.tries import Tries
from services.auth.parts import PARTS
from shared import keys, log

# of a form, besides its own fields; those that may be longer than others
FIELDS = ("client_id", "client_secret", "client_assertion", "client_assertion_type")
LONG = {"client_assertion": 4096}
_UNPROVED = "The client is not known here, or did not prove who it is."


async def proved(
    request: web.Request,
    oauth: OAuth,
    given: Mapping[str, str],
    respond: Callable[[Server, Asked], Answer],
) -> tuple[Server, Answer]:
    """`respond`'s answer, or the refusal. `server.asked_for`: which machine it was.

    Raises TOO_MANY_REQUESTS.
    """
    tries = Tries(request.app[PARTS], oauth.seal, request)
    await tries.check(None)
    machines = oauth.machines()
    server = oauth.server(Loaded(machines=machines))
    header = request.headers.getall("Authorization", [])
    if (mistake := _mistake(header, given)) is not None:
        log.event("machine-refused", reason=mistake)
        return server, _refused(400, "invalid_request", _TEXTS[mistake])
    asked = Asked(request.method, request.path, dict(given), header[0] if header else None)
    answer = respond(server, asked)
    known = server.asked_for if server.asked_for in machines else None
    await tries.check(known)
    if server.assertion is not None and not await _claim(request, oauth, *server.assertion):
        server.refusal, server.told = "assertion-replayed", "jti was used before."
    elif not _unproved(answer):
        return server, Answer(answer.status, answer.body)
    if known is None and server.asked_for:
        server.refusal = "client-unknown"
    log.warning("machine-refused", reason=server.refusal, client=known)
    await tries.failed(known)
    headers = {"WWW-Authenticate": 'Basic realm="strad"'} if header else {}
    return server, _refused(401, "invalid_client", server.told or _UNPROVED, headers)


def tried(request: web.Request, given: Mapping[str, str]) -> bool:
    """Whether a request brings anything that could prove a machine."""
    proofs = ("client_secret", "client_assertion")
    return "Authorization" in request.headers or any(name in given for name in proofs)


def client_of(oauth: OAuth, server: Server) -> MachineClient | None:
    """The machine that has proved who it is, unless the file has let it go meanwhile."""
    return oauth.machines().get(server.asked_for)


async def _claim(request: web.Request, oauth: OAuth, client_id: str, jti: str, end: int) -> bool:
    """Use an assertion up: of two who bring the same, one only gets True."""
    key = keys.OAUTH.key("assertion", oauth.seal.digest("assertion", f"{client_id}\0{jti}"))
    seconds = max(1, end + LEEWAY_SECONDS + 1 - int(oauth.clock()))
    return await request.app[PARTS].store.add(key, b"1", seconds)


_TEXTS = {
    "authentication-twice": "Prove who you are in one way (RFC 6749, section 2.3).",
    "authentication-unreadable": "The Authorization header cannot be read.",
    "client-id-differs": "client_id is another one than the one that is proved.",
}


def _mistake(header: list[str], given: Mapping[str, str]) -> str | None:
    """What cannot even be asked about."""
    secret, assertion = "client_secret" in given, "client_assertion" in given
    if len(header) + secret + assertion > 1:
        return "authentication-twice"
    if not header:
        return None
    scheme, _, text = header[0].partition(" ")
    try:
        user = base64.b64decode(text, validate=True).decode("ascii").partition(":")[0]
    except (binascii.Error, ValueError):
        return "authentication-unreadable"
    if scheme.lower() != "basic":
        return "authentication-unreadable"
    return "client-id-differs" if given.get("client_id", user) != user else None


def _unproved(answer: Answer) -> bool:
    return isinstance(answer.body, dict) and answer.body.get("error") == "invalid_client"


def _refused(status: int, error: str, text: str, headers: dict[str, str] | None = None) -> Answer:
    return Answer(status, {"error": error, "error_description": text}, headers or {})
