"""What a request for access could try, and a page elsewhere."""

import re
from html import unescape

import pytest

from services.auth.oauth import redirects
from shared.contracts.identity import Person, Session, SessionKind
from shared.contracts.wire import SESSION_COOKIE
from shared.stores.sessions import SessionWriter
from tests.auth.browser import Browser
from tests.auth.conftest import Auth
from tests.auth.oauth_client import (
    REDIRECT,
    OAuthClient,
    answer,
    answered,
    not_led_on,
    sealed_request,
)
from tests.auth.test_oauth import tokens


@pytest.fixture
async def browser(auth: Auth) -> Browser:
    return await auth.signed_in()


@pytest.fixture
async def client(auth: Auth) -> OAuthClient:
    """A client that has registered."""
    made = OAuthClient(auth)
    assert (await made.register()).status == 201
    return made


@pytest.mark.parametrize(
    ("changes", "error"),
    [
        ({"code_challenge": None, "code_challenge_method": None}, "invalid_request"),
        ({"code_challenge_method": None}, "invalid_request"),
        ({"code_challenge_method": "plain"}, "invalid_request"),
        ({"code_challenge": "short"}, "invalid_request"),
        ({"resource": None}, "invalid_target"),
        ({"resource": "https://other.test/mcp"}, "invalid_target"),
        ({"response_type": "token"}, "unsupported_response_type"),
        ({"response_type": "code token"}, "unsupported_response_type"),
        ({"scope": "everything"}, "invalid_scope"),
        ({"scope": "mcp:A/../b"}, "invalid_scope"),
    ],
)
async def test_a_request_that_asks_for_less_proof_or_another_audience_is_refused(
    auth: Auth, browser: Browser, client: OAuthClient, changes: dict[str, str], error: str
) -> None:
    page = await client.ask(browser, **changes)
    told = not_led_on(page)
    assert page.link("go back to").startswith(f"{REDIRECT}?")
    assert told["error"] == error
    assert (told["state"], told["iss"]) == (client.state, auth.url)


async def test_a_request_that_cannot_be_accepted_leads_nobody_to_a_stranger(
    auth: Auth, browser: Browser
) -> None:
    """Anybody can register a client: its address would be an open redirect."""
    stranger = OAuthClient(auth, redirect="https://evil.test/cb")
    await stranger.register(client_name="strad")
    page = await stranger.ask(browser, response_type="token")
    assert not_led_on(page)["error"] == "unsupported_response_type"
    assert "evil.test" in page.text
    await stranger.connected(browser)
    assert answered(await stranger.ask(browser, resource="x"))["error"] == "invalid_target"
    other = await auth.signed_in("demo-charles")
    not_led_on(await stranger.ask(other, resource="x"))


@pytest.mark.parametrize(
    "redirect",
    [
        "http://127.0.0.1:49152/callback/",
        "http://127.0.0.1:49152/other",
        "http://127.0.0.1:49152/callback?x=1",
        "http://127.0.0.1:49152/callback#x",
        "http://127.0.0.1@evil.test/callback",
        "http://127.0.0.1:49152@evil.test/callback",
        "http://127.0.0.1.evil.test/callback",
        "http://localhost:49152/callback",
        "https://127.0.0.1:49152/callback",
        "http://evil.test/callback",
        "http://127.0.0.1:99999/callback",
        "http://127.0.0.1:49152/callback%0d%0aSet-Cookie:x",
        "http://127.0.0.1:49152/callback\\..\\x",
        '"><script>',
        "//evil.test",
        "Your account is locked, call 555",
        "javascript:alert(1)",
        "",
        None,
    ],
)
async def test_an_address_that_was_not_registered_is_never_redirected_to(
    browser: Browser, client: OAuthClient, redirect: str | None
) -> None:
    for more in ({}, {"response_type": "token"}, {"resource": "x"}, {"scope": "x"}):
        page = await client.ask(browser, redirect_uri=redirect, **more)
        assert page.status == 400, page.headers
        assert "Nothing was allowed." in page.text
        assert "<script>" not in page.text
        assert "call 555" not in page.text


@pytest.mark.parametrize("port", [1, 8080, 65535])
async def test_a_program_on_the_persons_machine_may_listen_at_any_port(
    browser: Browser, client: OAuthClient, port: int
) -> None:
    page = await client.ask(browser, redirect_uri=f"http://127.0.0.1:{port}/callback")
    assert page.status == 200


@pytest.mark.parametrize(
    ("uri", "usable"),
    [
        ("https://app.example.com/cb", True),
        ("http://localhost/cb", True),
        ("http://[::1]:5/cb", True),
        ("com.example.app:/cb", True),
        ("editor://publisher.extension/cb", True),
        ("http://app.example.com/cb", False),
        ("http://127.0.0.2/cb", False),
        ("http://localhost.evil.test/cb", False),
        ("https://user@app.example.com/cb", False),
        ("https://app.example.com/cb#f", False),
        ("https://app.example.com/cb#", False),
        ("https:///cb", False),
        ("javascript:alert(1)", False),
        ("JavaScript://x/%0aalert(1)", False),
        ("data:text/html,x", False),
        ("file:///etc/passwd", False),
        ("blob:https://x.test/1", False),
        ("app:cb", False),
        ("/cb", False),
        ("https://app.example.com/" + "a" * 500, False),
        ("https://app.example.com/\u00e9", False),
        ("https://app.example.com/ x", False),
    ],
)
def test_only_addresses_that_lead_to_a_client_can_be_registered(uri: str, usable: bool) -> None:
    assert redirects.usable(uri) is usable


@pytest.mark.parametrize(
    "client_id", [None, "", "x", "nobody-at-all-registered", "a:b", "*", "https://", "\u00e9" * 20]
)
async def test_a_client_that_nobody_knows_gets_no_answer(
    browser: Browser, client: OAuthClient, client_id: str | None
) -> None:
    page = await client.ask(browser, client_id=client_id)
    assert page.status == 400
    assert "Location" not in page.headers


async def test_a_parameter_that_is_there_twice_is_not_believed(
    auth: Auth, browser: Browser, client: OAuthClient
) -> None:
    for name in ("redirect_uri", "client_id", "resource", "state", "code_challenge", "scope"):
        page = await browser.get(f"{client.address(scope='mcp')}&{name}=x", "cross-site")
        assert page.status == 400
        assert f"{name} is there twice" in page.text
    code = await client.code(browser)
    body = f"grant_type=authorization_code&code={code}&code=x"
    got = await client.direct(
        "/oauth/token",
        data=body,
        headers={"Content-Type": "application/x-www-form-urlencoded"},
    )
    assert got.body["error"] == "invalid_request"


async def test_a_page_elsewhere_cannot_press_allow(
    auth: Auth, browser: Browser, client: OAuthClient
) -> None:
    page = await client.ask(browser)
    form = {"request": sealed_request(page), "access": "write", "answer": "allow"}
    where = f"{auth.url}/oauth/authorize"
    for origin, site in (("https://evil.test", "cross-site"), ("null", "cross-site")):
        assert (await browser.post(where, form, origin=origin, site=site)).status == 403
    assert (await browser.post(where, form, origin=None)).status == 403
    assert page.headers["X-Frame-Options"] == "DENY"
    assert "frame-ancestors 'none'" in page.headers["Content-Security-Policy"]


async def test_a_question_put_to_one_session_is_not_answered_by_another(
    auth: Auth, browser: Browser, client: OAuthClient
) -> None:
    thief = await auth.signed_in("demo-charles")
    planted = sealed_request(await client.ask(thief))
    form = {"request": planted, "access": "write", "answer": "allow"}
    for text in (planted, "", "x", planted[:-8] + "AAAAAAA="):
        got = await browser.post(f"{auth.url}/oauth/authorize", form | {"request": text})
        assert got.status == 400
    auth.clock.now += 601
    assert (await thief.post(f"{auth.url}/oauth/authorize", form)).status == 400


async def test_a_page_cannot_use_what_is_for_clients(auth: Auth, client: OAuthClient) -> None:
    for path in ("/oauth/token", "/oauth/revoke", "/oauth/register"):
        for origin in ("https://evil.test", "null", auth.url):
            got = await client.post(path, {"token": "x"}, Origin=origin)
            assert got.status == 403
            assert "Access-Control-Allow-Origin" not in got.headers


async def test_a_client_on_this_machine_is_asked_for_each_time(
    auth: Auth, browser: Browser, client: OAuthClient
) -> None:
    """Any program there can listen at the address, or take the scheme, of another."""
    await client.connected(browser, ["news"])
    page = await client.ask(browser)
    assert page.status == 200
    assert 'value="news" checked' in page.text
    for redirect in (REDIRECT, "http://localhost/cb", "https://localhost/cb", "app://x.y/cb"):
        again = OAuthClient(auth, redirect=redirect)
        await again.connected(browser)
        assert (await again.ask(browser)).status == 200
        assert (await again.ask(browser, scope="mcp:news")).status == 200


async def test_a_client_that_is_not_asked_for_gets_no_more_than_it_was_allowed(
    auth: Auth, browser: Browser
) -> None:
    client = OAuthClient(auth, redirect="https://app.example.com/cb")
    await client.register()
    told = answered(await answer(browser, await client.ask(browser), ["news"], access="read"))
    await client.redeem(told["code"])
    for scope in (None, "mcp", "mcp:toys", "mcp:news mcp:toys"):
        assert (await client.ask(browser, scope=scope)).status == 200
    same = answered(await client.ask(browser, scope="mcp:news"))
    got = (await client.redeem(same["code"])).body
    assert got["scope"] == "mcp:news"
    found = await tokens(auth).verify(got["access_token"])
    assert found is not None
    assert (found[1].servers, found[1].read_only) == (("news",), True)


async def test_another_address_of_the_same_client_is_asked_for(
    auth: Auth, browser: Browser
) -> None:
    first, second = "https://app.example.com/cb", "https://other.example.com/cb"
    client = OAuthClient(auth, redirect=first)
    await client.register(redirect_uris=[first, second])
    await client.redeem(await client.code(browser))
    assert (await client.ask(browser)).status == 303
    assert (await client.ask(browser, redirect_uri=second)).status == 200


async def test_a_client_at_its_own_https_address_is_not_asked_for_again_until_it_is_ended(
    auth: Auth, browser: Browser
) -> None:
    client = OAuthClient(auth, redirect="https://app.example.com/cb")
    await client.connected(browser)
    told = answered(await client.ask(browser))
    assert (told["iss"], told["state"]) == (auth.url, client.state)
    assert (await client.redeem(told["code"])).status == 200
    assert (await client.ask(browser, prompt="consent")).status == 200
    stranger = await auth.signed_in("demo-charles")
    assert (await client.ask(stranger)).status == 200
    page = await browser.get(f"{auth.url}/auth/clients")
    for action in re.findall(r'action="(/auth/clients/[^"]+/end)"', page.text):
        await browser.post(auth.url + unescape(action), {})
    assert (await client.ask(browser)).status == 200


async def test_a_session_that_looks_only_connects_no_client(
    auth: Auth, client: OAuthClient
) -> None:
    looker = auth.browser()
    now = int(auth.clock())
    person = Person(
        issuer=auth.issuer, sub="x", email="x@strad.test", name="X", organisation="strad.test"
    )
    session = Session(
        kind=SessionKind.TOKEN, person=person, created=now, expires=now + 900, idle_seconds=900
    )
    writer = SessionWriter(auth.store, auth.seal, auth.clock)
    looker.plant(auth.url, SESSION_COOKIE, await writer.begin(session))
    page = await client.ask(looker)
    assert page.status == 403
    assert 'name="request"' not in page.text
