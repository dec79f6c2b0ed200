"""What somebody could try with an assertion: forge it, bend it, bring it twice."""

import asyncio
import base64
import hmac
import json
import math
from typing import Any

import pytest
from joserfc.jwk import ECKey, RSAKey

from tests.auth.conftest import Auth, StartBoth
from tests.auth.machine import (
    ASSERTION,
    EC_KEY,
    RSA_KEY,
    robot,
    with_machines,
)
from tests.auth.test_machine_attacks import UNPROVED


@pytest.fixture
async def auth(start_both: StartBoth) -> Auth:
    return await with_machines(start_both)


@pytest.mark.parametrize(
    ("claims", "told"),
    [
        ({"aud": None}, "aud has to be"),
        ({"aud": "https://elsewhere.test"}, "aud has to be"),
        ({"aud": "TOKEN"}, "aud has to be"),
        ({"aud": "MCP"}, "aud has to be"),
        ({"aud": "SLASH"}, "aud has to be"),
        ({"aud": ["ISSUER", "https://elsewhere.test"]}, "aud has to be"),
        ({"aud": []}, "aud has to be"),
        ({"aud": {"ISSUER": 1}}, "aud has to be"),
        ({"aud": [["ISSUER"]]}, "aud has to be"),
        ({"iss": "report"}, "iss and sub"),
        ({"iss": None}, "iss and sub"),
        ({"iss": ["robot"]}, "iss and sub"),
        ({"exp": None}, "exp is missing"),
        ({"exp": "9999999999"}, "exp is missing"),
        ({"exp": True}, "exp is missing"),
        ({"exp": math.nan}, "exp is missing"),
        ({"exp": 1}, "exp is missing"),
        ({"exp": math.inf}, "exp has to be within"),
        ({"exp": 10**400}, "exp has to be within"),
        ({"exp": 99999999999}, "exp has to be within"),
        ({"nbf": 99999999999}, "nbf is in the future"),
        ({"iat": 99999999999}, "iat is in the future"),
        ({"iat": "now"}, "iat is in the future"),
        ({"jti": None}, "jti has to be"),
        ({"jti": ""}, "jti has to be"),
        ({"jti": 7}, "jti has to be"),
        ({"jti": "x" * 257}, "jti has to be"),
    ],
)
async def test_a_bad_claim_of_an_assertion_is_refused_and_told_to_who_signed_it(
    auth: Auth, claims: dict[str, Any], told: str
) -> None:
    places = {
        "ISSUER": auth.url,
        "TOKEN": f"{auth.url}/oauth/token",
        "MCP": f"{auth.url}/mcp",
        "SLASH": f"{auth.url}/",
    }
    text = json.dumps(claims)
    for name, place in places.items():
        text = text.replace(name, place)
    machine = robot(auth)
    got = await machine.token(client_assertion=machine.assertion(**json.loads(text)))
    assert (got.status, got.body["error"]) == (401, "invalid_client")
    assert told in got.body["error_description"]


def b64(value: object) -> str:
    raw = json.dumps(value).encode() if not isinstance(value, bytes) else value
    return base64.urlsafe_b64encode(raw).rstrip(b"=").decode()


async def test_no_algorithm_hmac_with_a_public_key_and_keys_that_it_brings_prove_nothing(
    auth: Auth,
) -> None:
    claims = robot(auth).claims()
    stranger, rsa = ECKey.generate_key("P-256"), RSAKey.generate_key(2048)
    public = EC_KEY.as_pem(private=False)
    forged = {
        "none": f"{b64({'alg': 'none'})}.{b64(claims)}.",
        "None": f"{b64({'alg': 'None'})}.{b64(claims)}.",
        "hmac with the public key": _with_hmac({"alg": "HS256"}, claims, public),
        "hmac and a kid": _with_hmac({"alg": "HS256", "kid": "ec"}, claims, public),
        "another key": robot(auth, stranger).assertion(),
        "another key of that name": robot(auth, stranger, kid="ec").assertion(),
        "a key in the header": robot(
            auth, stranger, jwk=stranger.as_dict(private=False)
        ).assertion(),
        "a place of keys": robot(auth, rsa, "RS256", jku=f"{auth.url}/jwks").assertion(),
        "another of its algorithms": robot(auth, RSA_KEY, "RS512").assertion(),
        "its other key's name": robot(auth, RSA_KEY, "RS256", kid="ec").assertion(),
        "no such name": robot(auth, EC_KEY, kid="elsewhere").assertion(),
        "a changed payload": _changed(robot(auth).assertion(), claims),
    }
    for what, assertion in forged.items():
        got = await robot(auth).token(client_assertion=assertion)
        assert (got.status, got.body) == (401, UNPROVED), what
    assert (await robot(auth).token()).status == 200


def _with_hmac(header: dict[str, str], claims: dict[str, Any], secret: bytes) -> str:
    # by hand: libraries refuse to sign with a public key
    text = f"{b64(header)}.{b64(claims)}"
    return f"{text}.{b64(hmac.digest(secret, text.encode(), 'sha256'))}"


def _changed(assertion: str, claims: dict[str, Any]) -> str:
    header, _, signature = assertion.split(".")
    return f"{header}.{b64(claims)}.{signature}"


@pytest.mark.parametrize(
    "assertion",
    [
        "x",
        "a.b",
        "a.b.c",
        "..",
        f"{b64('alg')}.{b64({})}.x",
        f"{b64(['alg'])}.{b64({})}.x",
        f"{b64({'alg': 'ES256'})}.{b64([])}.x",
        f"{b64({'alg': 'ES256'})}.{b64({'sub': ['robot']})}.x",
        f"{b64({'alg': 'ES256'})}.{b64({'sub': {'robot': 1}})}.x",
        f"{b64({'alg': ['ES256'], 'kid': ['ec']})}.{b64({'sub': 'robot'})}.x",
        f"{b64({'alg': 'ES256'})}.{b64(b'[' * 1500)}.x",
        f"{b64({'alg': 'ES256', 'crit': ['exp'], 'exp': 1})}.{b64({'sub': 'robot'})}.x",
        f"{b64({'alg': 'ES256'})}.{b64({'sub': 'robot'})}.!!!",
        "x" * 4097,
    ],
)
async def test_what_is_no_assertion_is_refused_and_no_fault(auth: Auth, assertion: str) -> None:
    got = await robot(auth).token(client_assertion=assertion)
    assert got.status in {400, 401}
    assert got.body["error"] in {"invalid_client", "invalid_request"}


async def test_an_assertion_works_once_even_when_it_was_of_no_use(auth: Auth) -> None:
    machine = robot(auth)
    used = machine.assertion()
    assert (await machine.token(client_assertion=used)).status == 200
    replayed = await machine.token(client_assertion=used)
    assert (replayed.status, replayed.body["error_description"]) == (401, "jti was used before.")
    wasted = machine.assertion()
    wrong = await machine.token(client_assertion=wasted, resource="https://x.test/mcp")
    assert wrong.body["error"] == "invalid_target"
    assert (await machine.token(client_assertion=wasted)).status == 401
    same_id = machine.assertion(jti="once")
    assert (await machine.token(client_assertion=same_id)).status == 200
    assert (await machine.token(client_assertion=machine.assertion(jti="once"))).status == 401


async def test_of_two_who_bring_an_assertion_at_once_one_gets_a_token(auth: Auth) -> None:
    machine = robot(auth)
    assertion = machine.assertion()
    got = await asyncio.gather(*(machine.token(client_assertion=assertion) for _ in range(5)))
    assert sorted(one.status for one in got) == [200, 401, 401, 401, 401]


async def test_an_assertion_is_remembered_for_as_long_as_it_could_be_used(auth: Auth) -> None:
    machine = robot(auth)
    assertion = machine.assertion(exp=int(auth.clock()) + 600)
    assert (await machine.token(client_assertion=assertion)).status == 200
    auth.clock.now += 625
    replayed = await machine.token(client_assertion=assertion)
    assert replayed.body["error_description"] == "jti was used before."
    auth.clock.now += 10
    replayed = await machine.token(client_assertion=assertion)
    assert "has passed" in replayed.body["error_description"]


async def test_who_is_one_machine_is_not_another_by_naming_it(auth: Auth) -> None:
    machine = robot(auth)
    got = await machine.token(client_id="report", client_assertion=machine.assertion())
    assert (got.status, got.body["error"]) == (401, "invalid_client")
    assert "client_id is another" in got.body["error_description"]


async def test_the_type_of_the_assertion_is_named(auth: Auth) -> None:
    machine = robot(auth)
    for kind in (None, "urn:ietf:params:oauth:client-assertion-type:saml2-bearer", "jwt"):
        got = await machine.token(client_assertion=machine.assertion(), client_assertion_type=kind)
        assert (got.status, got.body) == (401, UNPROVED)
    good = await machine.token(
        client_assertion=machine.assertion(), client_assertion_type=ASSERTION
    )
    assert good.status == 200
