"""What somebody could try who would like to be a machine."""

import asyncio
import base64
import hmac
import json
import math
from typing import Any

import pytest
from joserfc.jwk import ECKey, RSAKey

from services.auth.oauth import tries
from tests.auth.conftest import Auth, StartBoth
from tests.auth.machine import (
    ASSERTION,
    EC_KEY,
    RSA_KEY,
    SECRET,
    MachineClient,
    basic,
    robot,
    tokens,
    with_machines,
)
from tests.auth.oauth_client import OAuthClient

UNPROVED = {
    "error": "invalid_client",
    "error_description": "The client is not known here, or did not prove who it is.",
}


@pytest.fixture
async def auth(start_both: StartBoth) -> Auth:
    return await with_machines(start_both)


@pytest.mark.parametrize(
    ("client_id", "secret"),
    [
        ("report", SECRET[:-1]),
        ("report", f"{SECRET}x"),
        ("report", SECRET.upper()),
        ("report", ""),
        ("desk", SECRET),
        ("robot", SECRET),
        ("robot", ""),
        ("nobody", SECRET),
        ("", ""),
        ("report\0", SECRET),
        ("a:b", "c"),
    ],
)
async def test_a_wrong_secret_and_an_unknown_machine_are_the_same_answer(
    auth: Auth, client_id: str, secret: str
) -> None:
    by_header = await MachineClient(auth, id=client_id, secret=secret).token()
    assert (by_header.status, by_header.body) == (401, UNPROVED)
    assert by_header.headers["WWW-Authenticate"].startswith("Basic ")
    form: dict[str, str | None] = {
        "grant_type": "client_credentials",
        "client_id": client_id,
        "client_secret": secret,
        "resource": f"{auth.url}/mcp",
    }
    by_form = await OAuthClient(auth).post("/oauth/token", form)
    if "\0" not in client_id:
        assert (by_form.status, by_form.body) == (401, UNPROVED)


@pytest.mark.parametrize(
    "header",
    [
        "Basic",
        "Basic ",
        "Basic !!!",
        "Basic /////w==",  # no text
        "Basic cmVwb3J0",  # no colon
        "Bearer x",
        f"Digest {base64.b64encode(b'report:x').decode()}",
        "Basic " + "A" * 5000,
    ],
)
async def test_a_header_that_cannot_be_read_is_no_proof_and_no_fault(
    auth: Auth, header: str
) -> None:
    form: dict[str, str | None] = {
        "grant_type": "client_credentials",
        "resource": f"{auth.url}/mcp",
    }
    got = await OAuthClient(auth).post("/oauth/token", form, Authorization=header)
    assert got.status in {400, 401}
    assert got.body["error"] in {"invalid_request", "invalid_client"}


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


async def test_two_proofs_at_once_are_refused(auth: Auth) -> None:
    machine = MachineClient(auth)
    for changes in (
        {"client_id": "report", "client_secret": SECRET},
        {"client_assertion": robot(auth).assertion(), "client_secret": SECRET},
    ):
        got = await machine.token(**changes)
        assert (got.status, got.body["error"]) == (400, "invalid_request")
    other = await machine.token(client_id="desk")
    assert (other.status, other.body["error"]) == (400, "invalid_request")


async def test_who_is_one_machine_is_not_another_by_naming_it(auth: Auth) -> None:
    machine = robot(auth)
    got = await machine.token(client_id="report", client_assertion=machine.assertion())
    assert (got.status, got.body["error"]) == (401, "invalid_client")
    assert "client_id is another" in got.body["error_description"]


@pytest.mark.parametrize(
    ("changes", "error"),
    [
        ({"resource": None}, "invalid_target"),
        ({"resource": "https://elsewhere.test/mcp"}, "invalid_target"),
        ({"scope": "mcp:vault"}, "invalid_scope"),
        ({"scope": "mcp:nothing"}, "invalid_scope"),
        ({"scope": "admin"}, "invalid_scope"),
    ],
)
async def test_another_audience_and_a_server_that_is_not_its_own_are_refused(
    auth: Auth, changes: dict[str, str | None], error: str
) -> None:
    got = await MachineClient(auth).token(**changes)
    assert (got.status, got.body["error"]) == (400, error)


async def test_a_resource_given_twice_is_refused(auth: Auth) -> None:
    fields = [("grant_type", "client_credentials"), ("resource", f"{auth.url}/mcp")]
    data = [*fields, ("resource", "https://elsewhere.test/mcp")]
    got = await OAuthClient(auth).direct("/oauth/token", data=data, headers=basic("report", SECRET))
    assert (got.status, got.body["error"]) == (400, "invalid_request")


async def test_a_machine_cannot_be_connected_by_a_person_or_use_another_grant(auth: Auth) -> None:
    browser, client = await auth.signed_in(), OAuthClient(auth)
    await client.register()
    page = await OAuthClient(auth, id="report").ask(browser)
    assert page.status == 400
    assert "This client is not known here" in page.text
    refresh = (await client.connected(browser))["refresh_token"]
    for grant in ({"refresh_token": refresh}, {"code": "x", "code_verifier": "x"}):
        kind = "refresh_token" if "refresh_token" in grant else "authorization_code"
        got = await MachineClient(auth).token(grant_type=kind, **grant)
        assert got.status in {400, 401}
    assert (await client.refresh(refresh)).status == 200


async def test_a_client_that_registers_is_no_machine(auth: Auth) -> None:
    client = OAuthClient(auth)
    refused = await client.register(grant_types=["client_credentials"])
    assert refused.status == 400
    got = await client.register(
        token_endpoint_auth_method="client_secret_basic",
        client_id="report",
        jwks={"keys": [EC_KEY.as_dict(private=False)]},
    )
    assert got.body["token_endpoint_auth_method"] == "none"
    assert got.body["client_id"] != "report"
    form: dict[str, str | None] = {
        "grant_type": "client_credentials",
        "client_id": client.id,
        "resource": client.resource,
    }
    answer = await client.post("/oauth/token", form)
    assert (answer.status, answer.body) == (401, UNPROVED)


async def test_a_page_cannot_be_a_machine(auth: Auth) -> None:
    fields, headers = MachineClient(auth).proof()
    form = {"grant_type": "client_credentials", "resource": f"{auth.url}/mcp"} | fields
    for path in ("/oauth/token", "/auth/links"):
        got = await OAuthClient(auth).post(path, form, Origin=auth.url, **headers)
        assert got.status == 403


async def test_an_address_that_fails_too_often_waits_and_the_machine_elsewhere_does_not(
    auth: Auth,
) -> None:
    wrong, right = MachineClient(auth, secret="x" * 40), MachineClient(auth)

    async def token(machine: MachineClient, address: str) -> int:
        form: dict[str, str | None] = {
            "grant_type": "client_credentials",
            "resource": f"{auth.url}/mcp",
        }
        headers = basic(machine.id, machine.secret) | {"X-Forwarded-For": address}
        return (await OAuthClient(auth).post("/oauth/token", form, **headers)).status

    for _ in range(tries.FROM_ONE):
        assert await token(wrong, "203.0.113.7") == 401
    # what is right is not even told apart any more
    assert await token(wrong, "203.0.113.7") == await token(right, "203.0.113.7") == 429
    assert await token(right, "203.0.113.8") == 200
    for number in range(tries.AT_ONE_MACHINE):
        await token(wrong, f"198.51.100.{number}")
    # from everywhere at once: each address has one try, and the machine itself its tokens
    assert await token(wrong, "192.0.2.1") == 401
    assert await token(wrong, "192.0.2.1") == 429
    assert await token(right, "203.0.113.8") == 200
    auth.clock.now += 61
    assert await token(right, "203.0.113.7") == 200


async def test_failures_of_machines_do_not_keep_people_from_signing_in(auth: Auth) -> None:
    for _ in range(tries.FROM_ONE + 1):
        await MachineClient(auth, secret="x" * 40).token()
    assert (await MachineClient(auth).token()).status == 429
    assert await auth.has_session(await auth.signed_in())


async def test_one_machine_gets_so_many_tokens_a_minute(auth: Auth) -> None:
    for _ in range(tries.GIVEN):
        assert (await MachineClient(auth).token()).status == 200
    refused = await MachineClient(auth).token()
    assert refused.status == 429
    assert int(refused.headers["Retry-After"]) > 0
    assert (await robot(auth).token()).status == 200


async def test_a_token_is_no_cookie_no_refresh_token_and_no_code(auth: Auth) -> None:
    got = (await MachineClient(auth).token()).body["access_token"]
    assert (await OAuthClient(auth, id="report").refresh(got)).status in {400, 401}
    assert (await OAuthClient(auth, id="report").redeem(got)).status in {400, 401}
    sessions = auth.sessions()
    assert await sessions.find(sessions.digest(got)) is None
    assert await tokens(auth).verify(got) is not None


async def test_the_type_of_the_assertion_is_named(auth: Auth) -> None:
    machine = robot(auth)
    for kind in (None, "urn:ietf:params:oauth:client-assertion-type:saml2-bearer", "jwt"):
        got = await machine.token(client_assertion=machine.assertion(), client_assertion_type=kind)
        assert (got.status, got.body) == (401, UNPROVED)
    good = await machine.token(
        client_assertion=machine.assertion(), client_assertion_type=ASSERTION
    )
    assert good.status == 200
