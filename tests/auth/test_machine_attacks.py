"""What somebody could try who would like to be a machine."""

import base64

import pytest

from services.auth.oauth import tries
from tests.auth.conftest import Auth, StartBoth
from tests.auth.machine import (
    EC_KEY,
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
