"""The cookies, and nothing else that a browser keeps.

`__Host-` binds them to this very host. Lax, not Strict: the provider's answer is a navigation from
another site, and under Strict every link from elsewhere would look signed out.
"""

import re

from aiohttp import web

from services.auth.attempts import LIFE_SECONDS
from services.auth.login_links import LINK_SECONDS
from shared.contracts.wire import LINK_COOKIE, SESSION_COOKIE, SIGN_IN_COOKIE
from shared.web.cookies import read

_LINK = re.compile(r"[A-Za-z0-9_-]{43}")
MAX_ATTEMPT = 4096  # what browsers keep


def set_attempt(response: web.StreamResponse, value: str) -> None:
    """Bind a sign-in to this browser, for ten minutes."""
    _set(response, SIGN_IN_COOKIE, value, LIFE_SECONDS)


def set_session(response: web.StreamResponse, value: str, seconds: int) -> None:
    """Hand out a session until its absolute end."""
    _set(response, SESSION_COOKIE, value, seconds)


def clear_session(response: web.StreamResponse) -> None:
    """Make the browser forget its session."""
    _set(response, SESSION_COOKIE, "", 0)


def set_link(response: web.StreamResponse, token: str) -> None:
    """Take a sign-in link's token out of the address; one that cannot be ours is forgotten."""
    if _LINK.fullmatch(token):
        _set(response, LINK_COOKIE, token, LINK_SECONDS)
    else:
        clear_link(response)


def clear_link(response: web.StreamResponse) -> None:
    """Make the browser forget a sign-in link."""
    _set(response, LINK_COOKIE, "", 0)


def link(request: web.Request) -> str:
    """The token of a sign-in link that this browser followed; empty when there is none."""
    return read(request, LINK_COOKIE)


def session(request: web.Request) -> str:
    """The session cookie; empty when there is none that could be ours."""
    return read(request, SESSION_COOKIE)


def attempt(request: web.Request) -> str:
    """The cookie that binds a sign-in to this browser; empty when there is none."""
    return read(request, SIGN_IN_COOKIE, longest=MAX_ATTEMPT)


def _set(response: web.StreamResponse, name: str, value: str, seconds: int) -> None:
    response.set_cookie(
        name, value, max_age=seconds, path="/", secure=True, httponly=True, samesite="Lax"
    )
