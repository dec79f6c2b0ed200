"""Links between the steps of a sign-in, and whether somebody else's link began it.

A page of a server must not open, with its opening call, because a foreign link led through our own
sign-in page. `Sec-Fetch-Site` tells how a person came, but only for the first step: a click on our
sign-in page is same-origin again. So a foreign beginning leaves a mark in our own links. A stranger
can set the mark, which only takes trust away; he cannot take it off a link of ours.
"""

from urllib.parse import urlencode

from aiohttp import web

from services.auth.return_to import HOME, safe_path
from shared.contracts.wire import SIGN_IN_PATH
from shared.web.origin import started_here

START_PATH = "/auth/start"
SIGNED_OUT_PATH = "/auth/signed-out"
PROVIDER_SIGN_OUT_PATH = "/auth/back-channel-logout"
_MARK = "via"


def wanted(request: web.Request) -> str:
    """Where this request wants to end up."""
    given = request.query.getall("return_to", [])
    return safe_path(given[0]) if len(given) == 1 else HOME


def marked(request: web.Request) -> bool:
    """Whether a link of ours says that the beginning was foreign."""
    return _MARK in request.query


def trusted(request: web.Request) -> bool:
    """Whether this sign-in began on a page of ours or with the person."""
    return started_here(request) and not marked(request)


def start(
    return_to: str, *, trusted: bool, choose_account: bool = False, fresh: bool = False
) -> str:
    """The link that begins a sign-in at the provider."""
    more = ({"choose": "1"} if choose_account else {}) | ({"fresh": "1"} if fresh else {})
    return _link(START_PATH, return_to, trusted, more)


def sign_in(return_to: str = HOME, *, trusted: bool = True) -> str:
    """The link to the sign-in page."""
    return _link(SIGN_IN_PATH, return_to, trusted, {})


def _link(path: str, return_to: str, trusted: bool, more: dict[str, str]) -> str:
    query = dict(more)
    if return_to != HOME:
        query["return_to"] = return_to
    if not trusted:
        query[_MARK] = "link"
    return f"{path}?{urlencode(query)}" if query else path
