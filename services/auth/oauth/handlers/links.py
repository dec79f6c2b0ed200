"""POST /auth/links: a machine that may (`login_links`) makes a sign-in link for a person.

It proves who it is as at the token endpoint, with each request: there is no token for this that
could be taken along, and none that the relay ever sees is good for it.
"""

from typing import Any

from aiohttp import web
from authlib.oauth2.rfc6749 import UnauthorizedClientError  # type: ignore[import-untyped]
from authlib.oauth2.rfc6749.token_endpoint import TokenEndpoint  # type: ignore[import-untyped]
from pydantic import TypeAdapter, ValidationError

from services.auth.login_links import LINK_SECONDS
from services.auth.oauth import fields, proving
from services.auth.oauth.machines import METHODS, MachineClient
from services.auth.oauth.parts import OAUTH
from services.auth.oauth.server import Answer, Asked, Server
from services.auth.oauth.tries import Tries
from services.auth.parts import PARTS, Parts
from services.auth.return_to import HOME, safe_path
from services.auth.trail import by_machine, note_done_to
from shared import log
from shared.contracts.audit import Event
from shared.contracts.fields import Email
from shared.contracts.identity import Person

_EMAIL: TypeAdapter[str] = TypeAdapter(Email)
_NAME = "login_links"


class _Making(TokenEndpoint):  # type: ignore[misc]
    """Who it is, and whether it may make links at all."""

    ENDPOINT_NAME = _NAME
    CLIENT_AUTH_METHODS = METHODS

    def create_endpoint_response(self, request: Any) -> tuple[int, dict[str, Any], list[Any]]:
        client = self.authenticate_endpoint_client(request)
        if not client.machine.login_links:
            raise UnauthorizedClientError("This client makes no sign-in links (login_links).")
        return 200, {}, []


async def post(request: web.Request) -> web.Response:
    """201 with the link; the error by its name otherwise. Raises TOO_MANY_REQUESTS."""
    oauth, parts = request.app[OAUTH], request.app[PARTS]
    try:
        known = ("person", "to", *proving.FIELDS)
        given = await fields.of_form(request, *known, longer=proving.LONG)
    except fields.Malformed as error:
        return fields.refused("invalid_request", str(error))
    server, answer = await proving.proved(request, oauth, given, _authenticated)
    client = proving.client_of(oauth, server)
    if answer.status != 200 or client is None:
        return web.json_response(answer.body, status=answer.status, headers=answer.headers)
    tries = Tries(parts, oauth.seal, request)
    await tries.given(client.client_id, "link")
    try:
        email = _EMAIL.validate_python(given.get("person", ""))
    except ValidationError:
        return fields.refused("invalid_request", "person has to be one e-mail address.")
    to = given.get("to", HOME)
    if safe_path(to) != to:
        return fields.refused("invalid_request", "to has to be a path of the console's own.")
    return await _made(parts, tries, client, email, to)


async def _made(
    parts: Parts, tries: Tries, client: MachineClient, email: str, to: str
) -> web.Response:
    person = await parts.people.find(email)
    by = by_machine(client.client_id) or ""
    if person is None or (reason := _why_not(parts, person)) is not None:
        reason = "person-unknown" if person is None else reason
        subject = None if person is None else person.subject
        await note_done_to(parts.trail, Event.LINK_MADE, subject, email, by=by, reason=reason)
        log.warning("link-refused", client=client.client_id, reason=reason)
        # who has signed in, and who is an administrator, is not for every service to find out
        return fields.refused("access_denied", "There is no link for this person.", 403)
    await tries.link_for(person.subject)
    await note_done_to(parts.trail, Event.LINK_MADE, person.subject, email, by=by)
    path = await parts.login_links.make(person, to, client.client_id)
    log.event("link-made", client=client.client_id, subject=person.subject)
    made = {"link": f"{parts.config.public_url}{path}", "expires_in": LINK_SECONDS}
    return web.json_response(made, status=201)


def _why_not(parts: Parts, person: Person) -> str | None:
    if not parts.admission.admits(person):
        return "not-allowed"
    # a link looks only, but an administrator's looks at what nobody else sees
    return "administrator" if parts.admission.administers(person) else None


def _authenticated(server: Server, asked: Asked) -> Answer:
    server.register_endpoint(_Making())
    answer: Answer = server.create_endpoint_response(_NAME, asked)
    return answer
