"""An OAuth client and its person at the stack, over HTTP."""

import base64
import hashlib
import json
import re
from html import unescape
from urllib.parse import parse_qs, urlencode, urlsplit

from shared.ids import new_secret
from tests.visitor import Visitor, ask

FORM = {"Content-Type": "application/x-www-form-urlencoded"}
REDIRECT = "http://127.0.0.1:9/callback"


def registered(url: str, redirect: str = REDIRECT) -> str:
    """The id of a new client."""
    body = {
        "client_name": "Test client",
        "redirect_uris": [redirect],
        "grant_types": ["authorization_code", "refresh_token"],
    }
    headers = {"Content-Type": "application/json"}
    reply = ask(f"{url}/oauth/register", "POST", body=json.dumps(body), headers=headers)
    assert reply.status == 201, reply.text
    return str(reply.json()["client_id"])


def allow(visitor: Visitor, address: str) -> str:
    """The person allows what a client asks for; gives where the browser goes then."""
    page = visitor.get(address, Sec_Fetch_Site="cross-site")
    found = re.search(r'name="request" value="([^"]*)"', page.text)
    assert found, page.text
    form = {"request": unescape(found[1]), "access": "write"}
    form |= {"reach": "every", "answer": "allow"}
    onward = visitor.post("/oauth/authorize", form)
    to = re.search(r'content="0;url=([^"]*)"', onward.text)
    assert to, onward.text
    return unescape(to[1])


def connect(visitor: Visitor, client: str = "") -> dict[str, str]:
    """All of it; gives everything secret, by what it is. `client`: empty for a new one."""
    url, redirect, verifier = visitor.home, REDIRECT, new_secret()
    challenge = base64.urlsafe_b64encode(hashlib.sha256(verifier.encode()).digest())
    asked = {
        "response_type": "code",
        "client_id": client or registered(url),
        "redirect_uri": redirect,
        "state": new_secret(),
        "resource": f"{url}/mcp",
        "code_challenge": challenge.rstrip(b"=").decode(),
        "code_challenge_method": "S256",
    }
    to = allow(visitor, f"{url}/oauth/authorize?{urlencode(asked)}")
    code = parse_qs(urlsplit(to).query)["code"][0]
    form = {"grant_type": "authorization_code", "code": code, "code_verifier": verifier}
    form |= {name: asked[name] for name in ("client_id", "redirect_uri", "resource")}
    reply = ask(f"{url}/oauth/token", "POST", body=urlencode(form), headers=FORM)
    assert reply.status == 200, reply.text
    return {
        "authorization code": code,
        "code verifier": verifier,
        "client's state": asked["state"],
        "access token": reply.json()["access_token"],
        "refresh token": reply.json()["refresh_token"],
    }
