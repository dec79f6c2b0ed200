"""An MCP client, as far as OAuth goes, and the person who connects it."""

import base64
import hashlib
import re
import secrets
from dataclasses import dataclass, field
from html import unescape
from typing import Any
from urllib.parse import parse_qsl, urlencode, urlsplit

from tests.auth.browser import Browser, Page
from tests.auth.conftest import Auth

REDIRECT = "http://127.0.0.1:49152/callback"


@dataclass
class Answered:
    """What a direct request got."""

    status: int
    body: Any
    headers: Any


@dataclass
class OAuthClient:
    """One client. `id` empty: it has not registered yet."""

    auth: Auth
    id: str = ""
    redirect: str = REDIRECT
    verifier: str = field(default_factory=lambda: secrets.token_urlsafe(32))
    state: str = field(default_factory=lambda: secrets.token_urlsafe(16))

    @property
    def resource(self) -> str:
        return f"{self.auth.url}/mcp"

    @property
    def challenge(self) -> str:
        digest = hashlib.sha256(self.verifier.encode()).digest()
        return base64.urlsafe_b64encode(digest).rstrip(b"=").decode()

    async def register(self, **changes: Any) -> Answered:
        """RFC 7591. Takes the id that it is given."""
        body: dict[str, Any] = {
            "client_name": "Toy client",
            "redirect_uris": [self.redirect],
            "grant_types": ["authorization_code", "refresh_token"],
            "response_types": ["code"],
            "token_endpoint_auth_method": "none",
        }
        answer = await self.direct("/oauth/register", json=body | changes)
        self.id = answer.body.get("client_id", self.id)
        return answer

    def address(self, **changes: str | None) -> str:
        """Where it sends the browser. None takes a parameter away."""
        asked: dict[str, str | None] = {
            "response_type": "code",
            "client_id": self.id,
            "redirect_uri": self.redirect,
            "state": self.state,
            "resource": self.resource,
            "code_challenge": self.challenge,
            "code_challenge_method": "S256",
        }
        kept = {name: value for name, value in (asked | changes).items() if value is not None}
        return f"{self.auth.url}/oauth/authorize?{urlencode(kept)}"

    async def ask(self, browser: Browser, **changes: str | None) -> Page:
        """The browser arrives from elsewhere."""
        return await browser.get(self.address(**changes), "cross-site")

    async def code(self, browser: Browser, servers: list[str] | None = None, **more: Any) -> str:
        """The person allows it; gives the code."""
        page = await answer(browser, await self.ask(browser), servers, **more)
        return answered(page)["code"]

    async def redeem(self, code: str, /, **changes: str | None) -> Answered:
        """The code for tokens."""
        form: dict[str, str | None] = {
            "grant_type": "authorization_code",
            "code": code,
            "redirect_uri": self.redirect,
            "client_id": self.id,
            "code_verifier": self.verifier,
            "resource": self.resource,
        }
        return await self.post("/oauth/token", form | changes)

    async def refresh(self, token: str, /, **changes: str | None) -> Answered:
        """A refresh token for tokens."""
        form: dict[str, str | None] = {
            "grant_type": "refresh_token",
            "refresh_token": token,
            "client_id": self.id,
            "resource": self.resource,
        }
        return await self.post("/oauth/token", form | changes)

    async def connected(self, browser: Browser, servers: list[str] | None = None) -> dict[str, Any]:
        """All of it; gives the tokens."""
        if not self.id:
            await self.register()
        got = await self.redeem(await self.code(browser, servers))
        assert got.status == 200, got.body
        return dict(got.body)

    async def post(self, path: str, form: dict[str, str | None], **headers: str) -> Answered:
        """A form that a client posts."""
        data = {name: value for name, value in form.items() if value is not None}
        return await self.direct(path, data=data, headers=headers)

    async def direct(self, path: str, **request: Any) -> Answered:
        """A request of the client itself: no cookie, no origin."""
        async with self.auth.http.post(self.auth.url + path, **request) as found:
            return Answered(found.status, await found.json(content_type=None), found.headers)


def sealed_request(page: Page) -> str:
    """What the form of the page holds."""
    assert page.status == 200, page.text
    found = re.search(r'name="request" value="([^"]*)"', page.text)
    assert found, page.text
    return unescape(found[1])


async def answer(
    browser: Browser,
    page: Page,
    servers: list[str] | None = None,
    *,
    access: str = "write",
    allow: bool = True,
) -> Page:
    """Fill the form in, and press a button."""
    form = [("request", sealed_request(page)), ("access", access)]
    form += [("servers", one) for one in servers or ()]
    form.append(("reach", "some" if servers else "every"))
    form.append(("answer", "allow" if allow else "deny"))
    return await browser.post(page.url.partition("?")[0], form)


def not_led_on(page: Page) -> dict[str, str]:
    """What the client would hear if the person pressed the link: nothing goes there by itself."""
    assert page.status == 400, page.text
    assert "Location" not in page.headers
    assert "http-equiv" not in page.text
    return dict(parse_qsl(urlsplit(page.link("go back to")).query))


def answered(page: Page) -> dict[str, str]:
    """What the client hears, by our page or by a redirect."""
    if page.status == 303:
        return dict(parse_qsl(urlsplit(page.headers["Location"]).query))
    assert page.status == 200, page.text
    found = re.search(r'http-equiv="refresh" content="0;url=([^"]*)"', page.text)
    assert found, page.text
    return dict(parse_qsl(urlsplit(unescape(found[1])).query))
