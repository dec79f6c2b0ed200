"""Each fault switch breaks what it says, and nothing else stays broken afterwards."""

import json
import time
from base64 import urlsafe_b64decode
from dataclasses import fields
from typing import Any

import pytest
from joserfc import jwt
from joserfc.errors import JoseError
from joserfc.jwk import KeySet

from demo.provider.faults import Faults
from demo.provider.keys import Keys
from demo.provider.tokens import at_hash
from tests.demo.conftest import SignIn, StartProvider, answer


def unpacked(token: str) -> tuple[dict[str, Any], dict[str, Any]]:
    """Header and claims, unchecked."""
    header, claims, _ = token.split(".")
    read = [json.loads(urlsafe_b64decode(part + "==")) for part in (header, claims)]
    return read[0], read[1]


async def published(sign_in: SignIn) -> KeySet:
    return KeySet.import_key_set(await (await sign_in.get("/jwks")).json())


async def broken_claims(sign_in: SignIn, **switches: Any) -> dict[str, Any]:
    """The claims with these switches on, after a check that the signature is still right."""
    await sign_in.break_it(**switches)
    token = (await sign_in.tokens())["id_token"]
    return jwt.decode(token, await published(sign_in), algorithms=["RS256"]).claims


async def test_wrong_audience(sign_in: SignIn) -> None:
    claims = await broken_claims(sign_in, wrong_audience=True)
    assert (claims["aud"], claims["azp"]) == ("another-client", "another-client")


async def test_wrong_nonce(sign_in: SignIn) -> None:
    assert (await broken_claims(sign_in, wrong_nonce=True))["nonce"] != sign_in.nonce


async def test_wrong_issuer(sign_in: SignIn) -> None:
    assert (await broken_claims(sign_in, wrong_issuer=True))["iss"] != sign_in.issuer


async def test_wrong_at_hash(sign_in: SignIn) -> None:
    await sign_in.break_it(wrong_at_hash=True)
    tokens = await sign_in.tokens()
    assert unpacked(tokens["id_token"])[1]["at_hash"] != at_hash(tokens["access_token"])


async def test_expired(sign_in: SignIn) -> None:
    claims, now = await broken_claims(sign_in, expired=True), sign_in.clock.now
    assert claims["iat"] < claims["exp"] < now - 600


async def test_future(sign_in: SignIn) -> None:
    claims, now = await broken_claims(sign_in, future=True), sign_in.clock.now
    assert now + 600 < claims["iat"] < claims["exp"]


async def test_unverified_email(sign_in: SignIn) -> None:
    claims = await broken_claims(sign_in, unverified_email=True)
    assert (claims["email"], claims["email_verified"]) == ("ada@strad.test", False)


async def test_no_email(sign_in: SignIn) -> None:
    assert not {"email", "email_verified"} & (await broken_claims(sign_in, no_email=True)).keys()


async def test_other_domain(sign_in: SignIn) -> None:
    claims = await broken_claims(sign_in, other_domain=True)
    assert claims["hd"] == "elsewhere.test"
    assert claims["email"].endswith("@elsewhere.test")


async def test_unknown_kid(sign_in: SignIn) -> None:
    await sign_in.break_it(unknown_kid=True)
    token = (await sign_in.tokens())["id_token"]
    with pytest.raises(JoseError):
        jwt.decode(token, await published(sign_in), algorithms=["RS256"])


async def test_alg_none(sign_in: SignIn) -> None:
    await sign_in.break_it(alg_none=True)
    token = (await sign_in.tokens())["id_token"]
    assert unpacked(token)[0]["alg"] == "none"
    assert token.endswith(".")


async def test_hs256(sign_in: SignIn) -> None:
    await sign_in.break_it(hs256=True)
    header, claims = unpacked((await sign_in.tokens())["id_token"])
    assert (header["alg"], claims["nonce"]) == ("HS256", sign_in.nonce)


async def test_rotate_key_forgets_the_old_key_at_once(start_provider: StartProvider) -> None:
    sign_in = await start_provider(keys=Keys())
    before, token = await published(sign_in), (await sign_in.tokens())["id_token"]
    await sign_in.break_it(rotate_key=True)
    after = await published(sign_in)
    assert before.keys[0].kid != after.keys[0].kid
    with pytest.raises(JoseError):
        jwt.decode(token, after, algorithms=["RS256"])
    jwt.decode((await sign_in.tokens())["id_token"], after, algorithms=["RS256"])


async def test_slow_delays_what_the_clients_server_asks(sign_in: SignIn) -> None:
    await sign_in.break_it(slow=0.2)
    began = time.monotonic()
    await sign_in.get("/jwks")
    assert time.monotonic() - began >= 0.2


@pytest.mark.parametrize(("value", "error"), [(True, "invalid_grant"), ("slow_down", "slow_down")])
async def test_token_error(sign_in: SignIn, value: bool | str, error: str) -> None:
    await sign_in.break_it(token_error=value)
    response = await sign_in.exchange(await sign_in.code())
    assert (response.status, (await response.json())["error"]) == (400, error)


async def test_jwks_down(sign_in: SignIn) -> None:
    await sign_in.break_it(jwks_down=True)
    assert (await sign_in.get("/jwks")).status == 503


async def test_discovery_wrong_issuer(sign_in: SignIn) -> None:
    await sign_in.break_it(discovery_wrong_issuer=True)
    found = await (await sign_in.get("/.well-known/openid-configuration")).json()
    assert found["issuer"] != sign_in.issuer


async def test_wrong_answer_issuer(sign_in: SignIn) -> None:
    await sign_in.break_it(wrong_answer_issuer=True)
    assert answer(await sign_in.press({"person": "demo-ada"}))["iss"] != sign_in.issuer


async def test_reset_mends_everything(sign_in: SignIn) -> None:
    await sign_in.break_it(wrong_nonce=True, token_error=True, slow=3)
    await sign_in.break_it(reset=True)
    claims = unpacked((await sign_in.tokens())["id_token"])[1]
    assert claims["nonce"] == sign_in.nonce


@pytest.mark.parametrize(
    "body",
    [
        '{"no_such_switch": true}',
        '{"wrong_nonce": "yes"}',
        '{"slow": -1}',
        '{"slow": true}',
        '{"slow": 61}',
        '{"token_error": 4}',
        "[]",
        "not json",
    ],
)
async def test_a_wrong_switch_is_refused(sign_in: SignIn, body: str) -> None:
    response = await sign_in.http.post(
        f"{sign_in.issuer}/faults", data=body, headers={"Content-Type": "application/json"}
    )
    assert response.status == 400


async def test_a_web_form_cannot_reach_the_switches(sign_in: SignIn) -> None:
    response = await sign_in.http.post(f"{sign_in.issuer}/faults", data={"slow": "9"})
    assert response.status == 400


async def test_every_switch_is_documented_and_off(sign_in: SignIn) -> None:
    found = await (await sign_in.get("/faults")).json()
    assert found.keys() == {item.name for item in fields(Faults)}
    assert all(item["what"] and not item["value"] for item in found.values())
