"""Signing out at the provider signs out here: the logout token, and what it ends."""

from typing import Any

import pytest
from joserfc import jwt
from joserfc.jwk import RSAKey

from services.auth.logout_token import EVENT
from shared.contracts.wire import SESSION_COOKIE
from shared.stores.sessions import SessionWriter
from tests.auth.browser import Browser, Page
from tests.auth.conftest import CHARLES, Auth
from tests.auth.test_trail import trail
from tests.auth.tokens import make, reader

PATH = "/auth/back-channel-logout"


def claims(auth: Auth, **changes: Any) -> dict[str, Any]:
    now = int(auth.clock())
    good = {
        "iss": auth.issuer,
        "aud": "strad-demo",
        "iat": now,
        "exp": now + 120,
        "jti": f"jti-{now}",
        "sub": "demo-ada",
        "events": {EVENT: {}},
    }
    return {name: value for name, value in (good | changes).items() if value is not None}


def token(auth: Auth, *, key: Any = None, typ: str | None = "logout+jwt", **changes: Any) -> str:
    assert auth.keys is not None
    signer = key or auth.keys.current
    header = {"alg": "RS256", "kid": auth.keys.current.kid} | ({"typ": typ} if typ else {})
    return jwt.encode(header, claims(auth, **changes), signer, algorithms=["RS256"])


async def tell(auth: Auth, *logout_tokens: str) -> Page:
    """As a provider does: no cookie, no origin, no Fetch Metadata."""
    form = [("logout_token", one) for one in logout_tokens] or [("other", "x")]
    return await auth.browser().post(auth.url + PATH, form, origin=None, site=None)


async def marked(auth: Auth, browser: Browser, sid: str) -> None:
    """Give a browser's session the provider's name for its sign-in, as an ID token would."""
    sessions = auth.sessions()
    found = await sessions.find(sessions.digest(browser.cookie(auth.url, SESSION_COOKIE) or ""))
    assert found is not None
    writer = SessionWriter(auth.store, auth.seal, auth.clock)
    await writer.end(sessions.digest(browser.cookie(auth.url, SESSION_COOKIE) or ""))
    cookie = await writer.begin(found.model_copy(update={"provider_session": sid}))
    browser.plant(auth.url, SESSION_COOKIE, cookie)


async def test_who_signs_out_at_the_provider_is_signed_out_here(auth: Auth) -> None:
    first, second = await auth.signed_in(), await auth.signed_in()
    charles = await auth.signed_in(CHARLES)
    access = await make(auth, first)
    page = await tell(auth, token(auth))
    assert (page.status, page.headers["Cache-Control"]) == (200, "no-store")
    assert not await auth.has_session(first)
    assert not await auth.has_session(second)
    assert await auth.has_session(charles)
    assert await reader(auth).verify(access) is not None
    told = (await trail(auth))[-1]
    assert (told["event"], told["email"], told["by"]) == (
        "signed-out",
        "ada@strad.test",
        "provider",
    )


async def test_one_sign_in_at_the_provider_ends_its_own_session_only(auth: Auth) -> None:
    here, there = await auth.signed_in(), await auth.signed_in()
    charles = await auth.signed_in(CHARLES)
    await marked(auth, here, "sid-1")
    await marked(auth, there, "sid-2")
    await marked(auth, charles, "sid-1")  # whose it is, is checked besides
    assert (await tell(auth, token(auth, sid="sid-1"))).status == 200
    assert not await auth.has_session(here)
    assert await auth.has_session(there)
    assert await auth.has_session(charles)
    assert (await tell(auth, token(auth, sid="sid-2", sub=None, jti="other"))).status == 200
    assert not await auth.has_session(there)


async def test_nobody_who_is_signed_in_is_fine_too(auth: Auth) -> None:
    assert (await tell(auth, token(auth, sub="nobody"))).status == 200


WRONG: dict[str, dict[str, Any]] = {
    "another issuer": {"iss": "https://evil.test"},
    "another audience": {"aud": "another"},
    "no audience": {"aud": None},
    "a nonce": {"nonce": "n"},
    "no event": {"events": None},
    "another event": {"events": {"http://schemas.openid.net/event/other": {}}},
    "an event that is no object": {"events": {EVENT: True}},
    "nobody": {"sub": None},
    "a subject of another type": {"sub": 7},
    "an empty sid": {"sid": ""},
    "no id": {"jti": None},
    "no time": {"iat": None},
    "no end": {"exp": None},
    "the end long ago": {"exp": 1},
    "issued long ago": {"iat": 1},
    "from the future": {"iat": 2**40, "exp": 2**41},
    "a time that is no number": {"iat": True},
}


@pytest.mark.parametrize("name", WRONG)
async def test_a_wrong_logout_token_ends_nothing(auth: Auth, name: str) -> None:
    browser = await auth.signed_in()
    page = await tell(auth, token(auth, **WRONG[name]))
    assert (page.status, page.text) == (400, '{"error": "invalid_request"}')
    assert await auth.has_session(browser)


async def test_a_token_that_the_provider_did_not_sign_for_this_ends_nothing(auth: Auth) -> None:
    browser = await auth.signed_in()
    good = token(auth)
    head, body, signature = good.split(".")
    forged = token(auth, key=RSAKey.generate_key(2048))
    unsigned, reversed_ = f"{head}.{body}.", f"{head}.{body}.{signature[::-1]}"
    for wrong in (forged, token(auth, typ="at+jwt"), unsigned, reversed_, "", "x"):
        assert (await tell(auth, wrong)).status == 400
    assert (await tell(auth)).status == 400
    assert (await tell(auth, good, good)).status == 400
    assert await auth.has_session(browser)


async def test_a_logout_token_works_once(auth: Auth) -> None:
    word = token(auth)
    await auth.signed_in()
    assert (await tell(auth, word)).status == 200
    browser = await auth.signed_in()
    assert (await tell(auth, word)).status == 400
    assert await auth.has_session(browser)
