"""What is true of every request: Host, Origin, headers, declared routes, a page for every miss."""

import pytest
from aiohttp import web

from services.auth.app import ROUTES
from shared import ui
from shared.contracts.wire import SESSION_COOKIE
from shared.stores.kv import StoreUnavailable
from shared.stores.memory import MemoryKeyValue
from shared.web.routes import Access
from tests.auth.browser import Browser
from tests.auth.conftest import Auth, Clock, StartAuth

FORMS = [
    "/auth/link",
    "/auth/sign-out",
    "/auth/tokens",
    "/auth/tokens/some-id/revoke",
    "/auth/sessions/end-all",
    "/auth/sessions/some-id/end",
    "/auth/people/end",
]
PAGES = ["/auth/sign-in", "/auth/start", "/auth/callback", "/auth/signed-out", "/auth/tokens"]
PAGES += ["/auth/sessions", "/auth/people", "/auth/link"]


def test_every_route_that_changes_something_is_in_these_tests() -> None:
    unsafe = [route.path for route in ROUTES if route.method != "GET"]
    unsafe = [path for path in unsafe if path != "/auth/back-channel-logout"]  # has no cookie
    assert unsafe == [path.replace("some-id", "{id}") for path in FORMS]
    assert {route.path for route in ROUTES if route.method == "GET"} == {
        *PAGES,
        "/auth/static/{name}",
    }


def test_only_the_sign_in_and_its_files_are_public() -> None:
    public = {route.path for route in ROUTES if route.access is Access.PUBLIC}
    guarded = [route.path for route in ROUTES if route.access is Access.GUARDED]
    assert guarded == ["/auth/back-channel-logout"]
    known = {Access.PUBLIC, Access.SIGNED_IN, Access.ADMIN, Access.GUARDED}
    assert all(route.access in known for route in ROUTES)
    assert not any(word in path for path in public for word in ("tokens", "sessions", "people"))


@pytest.mark.parametrize(
    "origin",
    [
        None,
        "null",
        "",
        "https://evil.test",
        "http://127.0.0.1",
        "http://127.0.0.1.evil.test",
        "http://localhost",
        "OWN-UPPER",
        "OWN/",
        "OWN https://evil.test",
        "OWN.evil.test",
        "//OWN",
    ],
)
@pytest.mark.parametrize("path", FORMS)
async def test_a_form_from_elsewhere_is_refused(auth: Auth, path: str, origin: str | None) -> None:
    browser = await auth.signed_in()
    if origin is not None and origin.startswith("OWN-UPPER"):
        origin = auth.url.upper()
    elif origin is not None:
        origin = origin.replace("OWN", auth.url)
    page = await browser.post(auth.url + path, {"label": "x", "life": "86400"}, origin=origin)
    assert page.status == 403
    assert "did not come from a page of this console" in page.text
    assert await auth.has_session(browser)


@pytest.mark.parametrize("site", ["cross-site", "same-site", "none", "odd"])
@pytest.mark.parametrize("path", FORMS)
async def test_a_form_that_the_browser_calls_foreign_is_refused(
    auth: Auth, path: str, site: str
) -> None:
    browser = await auth.signed_in()
    page = await browser.post(auth.url + path, {"label": "x", "life": "86400"}, site=site)
    assert page.status == 403
    assert await auth.has_session(browser)


async def test_two_origins_are_none(auth: Auth) -> None:
    browser = await auth.signed_in()
    headers = [("Origin", auth.url), ("Origin", auth.url), ("Cookie", _cookie(auth, browser))]
    async with auth.http.post(f"{auth.url}/auth/sign-out", headers=headers) as answer:
        assert answer.status == 403
    assert await auth.has_session(browser)


def _cookie(auth: Auth, browser: Browser) -> str:
    return f"{SESSION_COOKIE}={browser.cookie(auth.url, SESSION_COOKIE)}"


@pytest.mark.parametrize(
    "host",
    [
        "evil.test",
        "127.0.0.1",
        "localhost",
        "127.0.0.1:1",
        "OWN.evil.test",
        "evil.test#OWN",
        "OWN/#@evil.test",
        "OWN@evil.test",
        "OWN:80",
        "",
    ],
)
@pytest.mark.parametrize("path", PAGES)
async def test_a_wrong_host_is_not_served(auth: Auth, path: str, host: str) -> None:
    own = auth.url.removeprefix("http://")
    given = host.replace("OWN", own)
    page = await auth.browser().get(auth.url + path, Host=given)
    assert page.status in {400, 421}
    assert not page.cookies


@pytest.mark.parametrize("path", [*PAGES, "/auth/nothing", "/auth/static/strad.css"])
async def test_every_answer_carries_the_security_headers(auth: Auth, path: str) -> None:
    page = await auth.browser().get(auth.url + path)
    csp = page.headers["Content-Security-Policy"]
    assert "default-src 'none'" in csp
    assert "frame-ancestors 'none'" in csp
    assert "unsafe" not in csp
    assert page.headers["X-Content-Type-Options"] == "nosniff"
    assert page.headers["X-Frame-Options"] == "DENY"
    assert page.headers["Cross-Origin-Opener-Policy"] == "same-origin"
    assert page.headers["Referrer-Policy"] in {"same-origin", "no-referrer"}
    assert "Access-Control-Allow-Origin" not in page.headers
    assert "Server" not in page.headers
    if "static" not in path:
        assert page.headers["Cache-Control"] == "no-store"


@pytest.mark.parametrize("path", PAGES)
async def test_no_page_holds_script_or_style_of_its_own(auth: Auth, path: str) -> None:
    browser = await auth.signed_in()
    text = (await browser.get(auth.url + path)).text
    assert "<style" not in text
    assert " style=" not in text
    assert " onclick=" not in text
    assert text.count("<script") == text.count('<script type="module" src="/auth/static/copy.js')


@pytest.mark.parametrize("name", ui.static_files())
async def test_a_file_with_its_version_is_cached_for_ever_and_without_it_not_at_all(
    auth: Auth, name: str
) -> None:
    file = ui.static_files()[name]
    url = f"{auth.url}/auth/static/{name}"
    page = await auth.browser().get(f"{url}?v={file.version}")
    assert page.status == 200
    assert page.headers["Content-Type"] == file.content_type
    assert page.headers["Cache-Control"] == "public, max-age=31536000, immutable"
    for query in ("", "?v=", "?v=0", f"?v={file.version}&v=1"):
        assert (await auth.browser().get(url + query)).headers["Cache-Control"] == "no-store"


@pytest.mark.parametrize("name", ["base.html", "..%2Fapp.py", "%2e%2e/app.py", "strad.css/", "x"])
async def test_no_other_file_can_be_had(auth: Auth, name: str) -> None:
    assert (await auth.browser().get(f"{auth.url}/auth/static/{name}")).status == 404


async def test_what_is_not_there_has_a_page(auth: Auth) -> None:
    page = await auth.browser().get(f"{auth.url}/auth/nothing")
    assert page.status == 404
    assert "There is nothing here." in page.text
    assert page.headers["Content-Type"].startswith("text/html")


@pytest.mark.parametrize("path", ["/auth/sign-out", "/auth/tokens/x/revoke"])
async def test_a_link_cannot_do_what_a_form_does(auth: Auth, path: str) -> None:
    browser = await auth.signed_in()
    page = await browser.get(auth.url + path)
    assert page.status == 405
    assert page.headers["Allow"] == "POST"
    assert await auth.has_session(browser)


@pytest.mark.parametrize("charset", ["nope", "idna", "punycode", "utf-7", "zlib", "utf-16"])
async def test_a_form_in_another_charset_is_refused(auth: Auth, charset: str) -> None:
    browser = await auth.signed_in()
    headers = {
        "Cookie": f"{SESSION_COOKIE}={browser.cookie(auth.url, SESSION_COOKIE)}",
        "Origin": auth.url,
        "Content-Type": f"application/x-www-form-urlencoded; charset={charset}",
    }
    form = b"label=x&life=86400"
    async with auth.http.post(f"{auth.url}/auth/tokens", data=form, headers=headers) as answer:
        assert answer.status == 415


class Gone(MemoryKeyValue):
    """A store that can stop answering."""

    down = False

    async def get(self, key: str) -> bytes | None:
        self._check()
        return await super().get(key)

    async def put(self, key: str, value: bytes, seconds: int) -> None:
        self._check()
        await super().put(key, value, seconds)

    async def add(self, key: str, value: bytes, seconds: int) -> bool:
        self._check()
        return await super().add(key, value, seconds)

    async def ping(self) -> None:
        self._check()

    def _check(self) -> None:
        if self.down:
            raise StoreUnavailable("gone")


async def test_without_the_store_nobody_is_let_in_and_the_page_says_so(
    start_both: StartAuth, clock: Clock
) -> None:
    store = Gone(clock)
    auth = await start_both(store=store)
    browser = await auth.signed_in()
    answer = await auth.choose(browser, await auth.start(browser))
    store.down = True
    for path in ("/auth/tokens", "/auth/sign-in", "/auth/start", answer.removeprefix(auth.url)):
        page = await browser.get(auth.url + path, "cross-site")
        assert page.status == 503, path
        assert "The store of sessions does not answer." in page.text
        assert not page.cookies
    page = await browser.post(f"{auth.url}/auth/sign-out", {})
    assert page.status == 503
    assert not page.cookies  # the session lives on, and its owner keeps the means to end it
    store.down = False
    assert (await browser.get(f"{auth.url}/auth/tokens")).status == 200


async def test_the_internal_port_serves_health_and_nothing_of_people(auth: Auth) -> None:
    assert isinstance(auth.internal, web.Application)
    paths = {resource.canonical for resource in auth.internal.router.resources()}
    assert paths == {"/healthz", "/readyz", "/metrics"}
