"""The pages around a client's request: the question, and the way back to the client."""

from collections.abc import Mapping
from urllib.parse import urlencode

from aiohttp import web

from services.auth import links
from services.auth.oauth.consent import Consent, Question
from services.auth.parts import PARTS
from shared.contracts.wire import AUTHORIZE_PATH
from shared.web.pages import html


def question(
    request: web.Request,
    asked: Question,
    last: Consent | None,
    sealed: str,
    error: str = "",
    status: int = 200,
) -> web.Response:
    """What the person is asked. `sealed`: the request, for the form."""
    context = {"last": last, "sealed": sealed, "error": error, "sign_in": ""}
    return _consent(request, asked, status, context)


def sign_in_first(
    request: web.Request, asked: Question, given: dict[str, str], status: int = 200
) -> web.Response:
    """In place of the question, for a session whose sign-in is old: it could be a stolen one."""
    here = f"{AUTHORIZE_PATH}?{urlencode(given)}"
    again = links.start(here, trusted=links.trusted(request), fresh=True)
    return _consent(request, asked, status, {"sign_in": again, "error": ""})


def _consent(
    request: web.Request, asked: Question, status: int, more: Mapping[str, object]
) -> web.Response:
    environment = request.app[PARTS].pages
    return html(
        request,
        environment,
        "oauth_consent.html",
        status=status,
        asked=asked,
        action=AUTHORIZE_PATH,
        here="clients",
        **more,
    )


def onward(request: web.Request, asked: Question, to: str, *, allowed: bool) -> web.Response:
    """To the client by a page of ours: a form of ours may redirect nowhere else (CSP)."""
    title = "The client is connected" if allowed else "Nothing was allowed"
    return _onward(request, asked, to, 200, title=title, at_once=True)


def not_accepted(request: web.Request, asked: Question, to: str) -> web.Response:
    """A link to the client, with the error. Nobody is led anywhere who has not pressed it."""
    title = "This client's request cannot be accepted"
    return _onward(request, asked, to, 400, title=title, at_once=False)


def _onward(
    request: web.Request, asked: Question, to: str, status: int, **more: object
) -> web.Response:
    environment = request.app[PARTS].pages
    return html(
        request, environment, "oauth_onward.html", status=status, to=to, asked=asked, **more
    )
