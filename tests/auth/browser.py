"""As much of a browser as a sign-in needs: cookies, one step at a time, and where it came from."""

import re
from dataclasses import dataclass, field
from html import unescape
from http.cookies import Morsel
from urllib.parse import urljoin, urlsplit

from aiohttp import ClientSession
from multidict import CIMultiDict

from shared.contracts.wire import SESSION_COOKIE

_LINK = re.compile(r'<a\b[^>]*\bhref="([^"]*)"[^>]*>(.*?)</a>', re.DOTALL)


@dataclass
class Page:
    """One answer, read whole."""

    url: str
    status: int
    headers: "CIMultiDict[str]"
    text: str
    cookies: dict[str, "Morsel[str]"]

    @property
    def location(self) -> str:
        """Where a redirect leads, in full."""
        return urljoin(self.url, self.headers["Location"])

    def link(self, label: str) -> str:
        """The address behind a link with this text."""
        for href, text in _LINK.findall(self.text):
            if label in text:
                return urljoin(self.url, unescape(href))
        raise AssertionError(f"no link {label!r} in {self.text}")


@dataclass
class Browser:
    """Cookies by host and port. Nothing is followed by itself."""

    http: ClientSession
    cookies: dict[str, dict[str, str]] = field(default_factory=dict)

    async def get(self, url: str, site: str | None = "none", **headers: str) -> Page:
        """A navigation. `site`: what the browser says of its beginning (Sec-Fetch-Site)."""
        return await self._ask("GET", url, self._headers(url, site, headers), None)

    async def post(
        self,
        url: str,
        form: dict[str, str] | list[tuple[str, str]],
        *,
        origin: str | None = "own",
        site: str | None = "same-origin",
        **headers: str,
    ) -> Page:
        """A form. `origin`: "own" is the page's own; None sends no Origin at all."""
        if origin is not None:
            headers["Origin"] = _origin(url) if origin == "own" else origin
        return await self._ask("POST", url, self._headers(url, site, headers), form)

    def cookie(self, url: str, name: str) -> str | None:
        """What this browser would send there."""
        return self.cookies.get(urlsplit(url).netloc, {}).get(name)

    def plant(self, url: str, name: str, value: str) -> None:
        """Put a cookie into this browser, as malware on the machine could."""
        self.cookies.setdefault(urlsplit(url).netloc, {})[name] = value

    def _headers(self, url: str, site: str | None, more: dict[str, str]) -> dict[str, str]:
        headers = {name.replace("_", "-"): value for name, value in more.items()}
        if site is not None:
            headers["Sec-Fetch-Site"] = site
        jar = self.cookies.get(urlsplit(url).netloc, {})
        if jar:
            headers.setdefault("Cookie", "; ".join(f"{k}={v}" for k, v in jar.items()))
        return headers

    async def _ask(
        self,
        method: str,
        url: str,
        headers: dict[str, str],
        form: dict[str, str] | list[tuple[str, str]] | None,
    ) -> Page:
        async with self.http.request(
            method, url, headers=headers, data=form, allow_redirects=False
        ) as answer:
            set_now = dict(answer.cookies.items())
            page = Page(
                url, answer.status, CIMultiDict(answer.headers), await answer.text(), set_now
            )
        jar = self.cookies.setdefault(urlsplit(url).netloc, {})
        for name, morsel in set_now.items():
            if morsel["max-age"] == "0":
                jar.pop(name, None)
            else:
                jar[name] = morsel.value
        return page


def _origin(url: str) -> str:
    parts = urlsplit(url)
    return f"{parts.scheme}://{parts.netloc}"


def assert_refused(page: Page, reason: str, status: int = 400) -> None:
    """A page of its own, that names the reason and sets no session."""
    assert page.status == status, page.text
    assert f"Reason: <code>{reason}</code>" in page.text
    assert SESSION_COOKIE not in page.cookies
