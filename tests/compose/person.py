"""A person who signs in at the containers."""

import re
from html import unescape
from urllib.parse import urlsplit

from shared.contracts.wire import SESSION_COOKIE, SIGN_IN_PATH
from tests.compose.stack import Stack
from tests.visitor import Visitor


def sign_in(containers: Stack, person: str, to: str) -> Visitor:
    """A browser in which `person` (a demo account) has signed in on the way to a path."""
    visitor = Visitor(containers.url)
    page = visitor.get(f"{SIGN_IN_PATH}?return_to={to}")
    button = re.search(r'href="(/auth/start[^"]*)"', page.text)
    assert button, page.text
    away = visitor.get(unescape(button[1]), Sec_Fetch_Site="same-origin").location
    assert away.startswith(f"{containers.issuer}/")
    # a browser knows that *.localhost is this machine; Python asks the system, which may not
    here = away.replace("provider.localhost", "127.0.0.1", 1)
    host = {"Host": urlsplit(containers.issuer).netloc, "Origin": containers.issuer}
    back = visitor.post(here, {"person": person}, **host).location
    assert back.startswith(containers.url)
    visitor.get(back, Sec_Fetch_Site="cross-site")
    assert visitor.cookie(SESSION_COOKIE)
    return visitor
