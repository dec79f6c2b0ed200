"""A person at a browser, as far as HTTP goes: keeps cookies, says where a request comes from."""

import http.client
import json
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field
from typing import Any
from urllib.parse import urlencode, urlsplit

TIMEOUT_SECONDS = 20.0


@dataclass(frozen=True)
class Reply:
    """An answer. Redirects are not followed."""

    status: int
    headers: http.client.HTTPMessage
    body: bytes

    @property
    def text(self) -> str:
        return self.body.decode()

    @property
    def location(self) -> str:
        """Where a redirect leads."""
        return self.headers.get("Location", "")

    def json(self) -> Any:
        return json.loads(self.body)


def ask(
    url: str,
    method: str = "GET",
    *,
    body: bytes | str | None = None,
    headers: dict[str, str] | None = None,
) -> Reply:
    """One request on one connection, with exactly these headers (and Host, unless it is given)."""
    parts = urlsplit(url)
    connection = http.client.HTTPConnection(
        parts.hostname or "", parts.port or 80, timeout=TIMEOUT_SECONDS
    )
    try:
        target = parts.path or "/"
        target += f"?{parts.query}" if parts.query else ""
        connection.request(method, target, body=body, headers=headers or {})
        response = connection.getresponse()
        return Reply(response.status, response.headers, response.read())
    finally:
        connection.close()


@dataclass
class Visitor:
    """One browser. `home` is the console's address.

    Cookies are kept by origin and sent back over http: a browser does that for `__Host-` cookies of
    127.0.0.1, while Python's own cookie jar would not.
    """

    home: str
    cookies: dict[str, dict[str, str]] = field(default_factory=dict)

    def get(self, target: str, **headers: str) -> Reply:
        """A navigation that the person began. `target`: a path of the console, or an address."""
        return self._send("GET", target, None, {"Sec-Fetch-Site": "none"} | _named(headers))

    def post(self, target: str, form: Mapping[str, str | Sequence[str]], **headers: str) -> Reply:
        """A form on a page of the same origin."""
        url = self._url(target)
        sent = {"Content-Type": "application/x-www-form-urlencoded", "Origin": _origin(url)}
        sent |= {"Sec-Fetch-Site": "same-origin"} | _named(headers)
        return self._send("POST", url, urlencode(form, doseq=True), sent)

    def post_json(self, target: str, value: Any, **headers: str) -> Reply:
        """A `fetch` by a script of the same origin."""
        url = self._url(target)
        sent = {"Content-Type": "application/json", "Origin": _origin(url)}
        sent |= {"Sec-Fetch-Site": "same-origin"} | _named(headers)
        return self._send("POST", url, json.dumps(value), sent)

    def cookie(self, name: str) -> str | None:
        """The value of a cookie of the console."""
        return self.cookies.get(self.home, {}).get(name)

    def _url(self, target: str) -> str:
        return target if "://" in target else self.home + target

    def _send(self, method: str, target: str, body: str | None, headers: dict[str, str]) -> Reply:
        url = self._url(target)
        jar = self.cookies.setdefault(_origin(url), {})
        if jar:
            headers = {"Cookie": "; ".join(f"{n}={v}" for n, v in jar.items())} | headers
        reply = ask(url, method, body=body, headers=headers)
        for line in reply.headers.get_all("Set-Cookie", []):
            name, _, rest = line.partition("=")
            value, _, attributes = rest.partition(";")
            if value.strip('"') and "max-age=0" not in attributes.lower():
                jar[name] = value
            else:
                jar.pop(name, None)
        return reply


def _origin(url: str) -> str:
    parts = urlsplit(url)
    return f"{parts.scheme}://{parts.netloc}"


def _named(headers: dict[str, str]) -> dict[str, str]:
    """`Sec_Fetch_Site="cross-site"` as a header."""
    return {name.replace("_", "-"): value for name, value in headers.items()}
