"""The provider's /token and /userinfo: one code, one client, one verifier, one time."""

from base64 import b64encode

import pytest
from joserfc import jwt
from joserfc.jwk import KeySet

from demo.provider.tokens import at_hash
from tests.demo.conftest import REDIRECT, SignIn


async def refused(sign_in: SignIn, code: str, **changes: str | None) -> str:
    response = await sign_in.exchange(code, **changes)
    told = await response.json()
    assert response.status in (400, 401)
    assert "id_token" not in told
    return str(told["error"])


async def test_the_id_token_says_who_for_whom_and_until_when(sign_in: SignIn) -> None:
    tokens = await sign_in.tokens()
    keys = KeySet.import_key_set(await (await sign_in.get("/jwks")).json())
    token = jwt.decode(tokens["id_token"], keys, algorithms=["RS256"])
    now = int(sign_in.clock.now)
    assert token.claims == {
        "iss": sign_in.issuer,
        "aud": "strad-demo",
        "azp": "strad-demo",
        "iat": now,
        "exp": now + 300,
        "auth_time": now,
        "nonce": sign_in.nonce,
        "at_hash": at_hash(tokens["access_token"]),
        "sub": "demo-ada",
        "name": "Ada Lovelace",
        "email": "ada@strad.test",
        "email_verified": True,
        "locale": "de-DE",
        "hd": "strad.test",
    }


async def test_a_wrong_verifier_is_refused_and_spends_the_code(sign_in: SignIn) -> None:
    code = await sign_in.code()
    assert await refused(sign_in, code, code_verifier="w" * 43) == "invalid_grant"
    assert await refused(sign_in, code) == "invalid_grant"


@pytest.mark.parametrize("verifier", [None, "", "too-short"])
async def test_no_verifier_is_refused(sign_in: SignIn, verifier: str | None) -> None:
    assert await refused(sign_in, await sign_in.code(), code_verifier=verifier) == "invalid_grant"


async def test_a_code_works_once_and_its_reuse_revokes_what_it_gave(sign_in: SignIn) -> None:
    code = await sign_in.code()
    tokens = await (await sign_in.exchange(code)).json()
    bearer = f"Bearer {tokens['access_token']}"
    assert (await sign_in.get("/userinfo", Authorization=bearer)).status == 200
    assert await refused(sign_in, code) == "invalid_grant"
    assert (await sign_in.get("/userinfo", Authorization=bearer)).status == 401


async def test_a_code_lives_sixty_seconds(sign_in: SignIn) -> None:
    young, old = await sign_in.code(), await sign_in.code()
    sign_in.clock.now += 59
    assert (await sign_in.exchange(young)).status == 200
    sign_in.clock.now += 1
    assert await refused(sign_in, old) == "invalid_grant"


@pytest.mark.parametrize("redirect", [None, REDIRECT + "/", "http://evil.test/auth/callback"])
async def test_a_code_is_bound_to_its_redirect(sign_in: SignIn, redirect: str | None) -> None:
    assert await refused(sign_in, await sign_in.code(), redirect_uri=redirect) == "invalid_grant"


@pytest.mark.parametrize(
    "changes", [{"client_secret": "wrong"}, {"client_secret": None}, {"client_id": "another"}]
)
async def test_a_wrong_client_is_refused_and_the_code_stays(
    sign_in: SignIn, changes: dict[str, str | None]
) -> None:
    code = await sign_in.code()
    assert await refused(sign_in, code, **changes) == "invalid_client"
    assert (await sign_in.exchange(code)).status == 200


async def test_the_secret_may_come_as_basic_but_not_twice(sign_in: SignIn) -> None:
    basic = "Basic " + b64encode(b"strad-demo:demo-secret").decode()
    form = {
        "grant_type": "authorization_code",
        "code": await sign_in.code(),
        "redirect_uri": REDIRECT,
        "code_verifier": sign_in.verifier,
    }
    url, headers = f"{sign_in.issuer}/token", {"Authorization": basic}
    twice = await sign_in.http.post(
        url, data=form | {"client_secret": "demo-secret"}, headers=headers
    )
    assert (twice.status, (await twice.json())["error"]) == (400, "invalid_request")
    assert (await sign_in.http.post(url, data=form, headers=headers)).status == 200


@pytest.mark.parametrize("header", ["Basic !", "Basic bm9jb2xvbg==", "Bearer x", "Basic " + "/w=="])
async def test_a_malformed_client_header_is_refused(sign_in: SignIn, header: str) -> None:
    response = await sign_in.http.post(
        f"{sign_in.issuer}/token", data={"code": "x"}, headers={"Authorization": header}
    )
    assert (response.status, (await response.json())["error"]) == (401, "invalid_client")
    assert response.headers["WWW-Authenticate"].startswith("Basic")


async def test_another_grant_type_or_a_json_body_is_refused(sign_in: SignIn) -> None:
    error = await refused(sign_in, await sign_in.code(), grant_type="refresh_token")
    assert error == "unsupported_grant_type"
    response = await sign_in.http.post(f"{sign_in.issuer}/token", json={"code": "x"})
    assert (response.status, (await response.json())["error"]) == (400, "invalid_request")


async def test_userinfo_repeats_the_claims_and_wants_a_live_token(sign_in: SignIn) -> None:
    bearer = f"Bearer {(await sign_in.tokens())['access_token']}"
    found = await (await sign_in.get("/userinfo", Authorization=bearer)).json()
    assert (found["sub"], found["email"]) == ("demo-ada", "ada@strad.test")
    assert (await sign_in.get("/userinfo")).status == 401
    sign_in.clock.now += 300
    assert (await sign_in.get("/userinfo", Authorization=bearer)).status == 401
