"""GET and POST /authorize: who asks, who is it, and back with a code.

The form repeats the query it was drawn for, so there is no record of unfinished sign-ins: the POST
checks the same request again. A mistake in `client_id` or `redirect_uri` is shown to the person;
every other one goes back to the client (RFC 6749 §4.1.2.1).
"""

import re
from urllib.parse import urlencode

from aiohttp import web
from multidict import MultiMapping

from demo.provider import pages
from demo.provider.ledger import Grant
from demo.provider.settings import Settings
from demo.provider.state import PROVIDER, Provider
from demo.provider.tokens import OTHER_ISSUER

S256_CHALLENGE = re.compile(r"[A-Za-z0-9_-]{43}")
SINGLE = (
    *("client_id", "redirect_uri", "response_type", "response_mode", "scope", "state", "nonce"),
    *("code_challenge", "code_challenge_method", "prompt"),
)


class BackToClient(Exception):
    """An error for the client, as its two OAuth fields."""

    def __init__(self, error: str, description: str) -> None:
        super().__init__(description)
        self.error, self.description = error, description


async def show(request: web.Request) -> web.Response:
    """The demo people, one button each."""
    provider = request.app[PROVIDER]
    refuse_strangers(request, provider.settings)
    try:
        check(request.query)
    except BackToClient as answer:
        return back(provider, request, error=answer.error, error_description=answer.description)
    return pages.choice(provider.settings, request.rel_url.raw_query_string, request.query)


async def choose(request: web.Request) -> web.Response:
    """A pressed button: 303 to the client with a code, or with access_denied."""
    provider = request.app[PROVIDER]
    refuse_strangers(request, provider.settings)
    if request.headers.get("Sec-Fetch-Site", "same-origin") != "same-origin":
        raise web.HTTPForbidden(text="This form was sent by another site. Start again from yours.")
    form = await request.post()
    try:
        check(request.query)
        code = issue(provider, request.query, form.get("person"))
    except BackToClient as answer:
        return back(provider, request, error=answer.error, error_description=answer.description)
    return back(provider, request, code=code)


def refuse_strangers(request: web.Request, settings: Settings) -> None:
    """Raises 400 for the person to read: nothing is sent to an address that is not registered."""
    query = request.query
    known = {"client_id": settings.client_id, "redirect_uri": settings.redirect_uri}
    for name, expected in known.items():
        if query.getall(name, []) != [expected]:
            raise web.HTTPBadRequest(
                text=f"The {name} of this request is not the one registered here. "
                f"Start the provider with the client's own value, or correct the client."
            )


def check(query: MultiMapping[str]) -> None:
    """Raises BackToClient unless this is a code request with PKCE S256, state and nonce."""
    doubled = [name for name in SINGLE if len(query.getall(name, [])) > 1]
    if doubled:
        raise BackToClient("invalid_request", f"{doubled[0]} is given more than once")
    if query.get("response_type") != "code":
        raise BackToClient("unsupported_response_type", "response_type must be code")
    if query.get("response_mode", "query") != "query":
        raise BackToClient("invalid_request", "response_mode must be query")
    if "openid" not in query.get("scope", "").split():
        raise BackToClient("invalid_scope", "scope must contain openid")
    if missing := [name for name in ("state", "nonce") if not query.get(name)]:
        raise BackToClient("invalid_request", f"{missing[0]} is required")
    if query.get("code_challenge_method") != "S256":
        raise BackToClient("invalid_request", "code_challenge_method must be S256")
    if not S256_CHALLENGE.fullmatch(query.get("code_challenge", "")):
        raise BackToClient("invalid_request", "code_challenge must be 43 base64url characters")
    check_prompt(query.get("prompt", "").split())


def check_prompt(prompt: list[str]) -> None:
    """The people are always shown, which is what select_account and login ask for."""
    if prompt == ["none"]:
        raise BackToClient("login_required", "nobody is signed in here between two requests")
    if "none" in prompt:
        raise BackToClient("invalid_request", "prompt none stands alone")


def issue(provider: Provider, query: MultiMapping[str], choice: object) -> str:
    """A code for the chosen person. No choice is a Cancel."""
    if choice is None:
        raise BackToClient("access_denied", "the person chose Cancel")
    person = next((one for one in provider.settings.people if one.sub == choice), None)
    if person is None:
        raise BackToClient("access_denied", "no such person")
    return provider.ledger.issue(
        Grant(
            person=person,
            client_id=query["client_id"],
            redirect_uri=query["redirect_uri"],
            challenge=query["code_challenge"],
            nonce=query["nonce"],
            scope=query["scope"],
            auth_time=int(provider.clock()),
        )
    )


def back(provider: Provider, request: web.Request, **answer: str) -> web.Response:
    """303 to the client, always with `iss` (RFC 9207) and with the state if there was one."""
    state = request.query.getall("state", [])
    if len(state) == 1:
        answer["state"] = state[0]
    issuer = provider.settings.issuer
    answer["iss"] = OTHER_ISSUER if provider.faults.wrong_answer_issuer else issuer
    redirect = provider.settings.redirect_uri
    joint = "&" if "?" in redirect else "?"
    # 303 and not 302: the client's callback must never receive the form that was posted here.
    return web.Response(status=303, headers={"Location": redirect + joint + urlencode(answer)})
