"""Machines: what they are told, what they get, and what they are."""

from typing import Any

import pytest
from pydantic import ValidationError

from shared import keys
from shared.contracts.config import AllowedPeople
from shared.contracts.identity import Person, Session, SessionKind
from shared.entitled import Admission
from shared.stores.kv import StoreUnavailable
from tests.auth.conftest import Auth, StartBoth, make_config
from tests.auth.machine import (
    EC_KEY,
    REPORT,
    ROBOT,
    RSA_KEY,
    SECRET,
    MachineClient,
    desk,
    robot,
    tokens,
    with_machines,
)
from tests.auth.oauth_client import OAuthClient
from tests.auth.test_trail import Unwritten, trail

METADATA = "/.well-known/oauth-authorization-server"


@pytest.fixture
async def machines(start_both: StartBoth) -> Auth:
    return await with_machines(start_both)


async def metadata(auth: Auth) -> dict[str, Any]:
    async with auth.http.get(auth.url + METADATA) as found:
        return dict(await found.json())


async def test_without_machines_there_is_no_such_grant_and_nothing_says_so(auth: Auth) -> None:
    told = await metadata(auth)
    assert told["grant_types_supported"] == ["authorization_code", "refresh_token"]
    assert told["token_endpoint_auth_methods_supported"] == ["none"]
    assert "token_endpoint_auth_signing_alg_values_supported" not in told
    got = await MachineClient(auth).token()
    assert (got.status, got.body["error"]) == (400, "unsupported_grant_type")
    async with auth.http.post(f"{auth.url}/auth/links", data={"person": "a@b.test"}) as found:
        assert found.status == 404


@pytest.mark.parametrize(
    ("machine", "methods"),
    [
        (REPORT, ["client_secret_basic", "client_secret_post"]),
        (ROBOT, ["private_key_jwt"]),
    ],
)
async def test_the_metadata_says_what_is_on_and_no_more(
    start_both: StartBoth, machine: dict[str, Any], methods: list[str]
) -> None:
    told = await metadata(await with_machines(start_both, machine))
    assert told["grant_types_supported"][-1] == "client_credentials"
    assert told["token_endpoint_auth_methods_supported"] == ["none", *methods]
    algorithms = told.get("token_endpoint_auth_signing_alg_values_supported")
    assert algorithms == (["ES256", "PS256", "RS256"] if machine is ROBOT else None)


async def test_a_machine_gets_a_token_for_itself_and_never_a_refresh_token(machines: Auth) -> None:
    got = await MachineClient(machines).token()
    assert got.status == 200, got.body
    assert set(got.body) == {"token_type", "access_token", "expires_in", "scope"}
    assert (got.body["expires_in"], got.body["scope"]) == (600, "mcp")
    assert got.headers["Cache-Control"] == "no-store"
    found = await tokens(machines).verify(got.body["access_token"])
    assert found is not None
    record = found[1]
    assert (record.person.machine, record.person.email) == ("report", "machine:report")
    assert (record.label, record.client, record.read_only) == ("Nightly report", "report", True)
    assert [one["event"] for one in await trail(machines)] == ["token-created"]
    (entry,) = await trail(machines)
    assert (entry["email"], entry["token"]) == ("machine:report", record.id)
    machines.clock.now += 601
    assert await tokens(machines).verify(got.body["access_token"]) is None


async def test_a_secret_may_come_in_the_form_too(machines: Auth) -> None:
    form: dict[str, str | None] = {
        "grant_type": "client_credentials",
        "client_id": "report",
        "client_secret": SECRET,
        "resource": f"{machines.url}/mcp",
    }
    assert (await OAuthClient(machines).post("/oauth/token", form)).status == 200


@pytest.mark.parametrize(
    ("key", "alg", "header"),
    [
        (EC_KEY, "ES256", {}),
        (EC_KEY, "ES256", {"kid": "ec"}),
        (RSA_KEY, "RS256", {}),
        (RSA_KEY, "PS256", {"kid": "rsa", "typ": "client-authentication+jwt"}),
    ],
)
async def test_a_machine_signs_with_any_of_its_keys(
    machines: Auth, key: Any, alg: str, header: dict[str, Any]
) -> None:
    machine = robot(machines, key, alg, **header)
    assert (await machine.token()).status == 200
    in_a_list = machine.assertion(aud=[machines.url])
    assert (await machine.token(client_assertion=in_a_list)).status == 200
    assert (await machine.token(client_id="robot")).status == 200


async def test_a_key_that_is_for_one_algorithm_takes_no_other(start_both: StartBoth) -> None:
    jwk = RSA_KEY.as_dict(private=False) | {"alg": "PS256"}
    auth = await with_machines(start_both, ROBOT | {"jwks": jwk})
    assert (await robot(auth, RSA_KEY, "PS256").token()).status == 200
    assert (await robot(auth, RSA_KEY, "RS256").token()).status == 401


@pytest.mark.parametrize(
    ("asked", "got"),
    [
        ("mcp", "mcp"),
        ("mcp:news", "mcp:news"),
        ("mcp:news mcp:vault", "mcp:news"),
        ("mcp:news offline_access", "mcp:news"),
    ],
)
async def test_a_machine_gets_of_a_scope_what_is_its_own(
    machines: Auth, asked: str, got: str
) -> None:
    assert (await MachineClient(machines).token(scope=asked)).body["scope"] == got


async def test_a_machine_that_may_use_no_server_gets_no_token(machines: Auth) -> None:
    got = await desk(machines).token()
    assert (got.status, got.body["error"]) == (400, "invalid_scope")


def test_a_machine_is_no_person_by_any_rule_that_names_people() -> None:
    machine = Person.of_machine("ada", "Ada")
    person = Person(issuer="https://idp.test", sub="ada", email="ada@strad.test", name="Ada")
    assert machine.subject != person.subject
    with pytest.raises(ValidationError, match="one e-mail address"):
        AllowedPeople(people=(machine.email,))
    config = make_config("https://strad.test", "https://idp.test", oauth={"machines": [REPORT]})
    admission = Admission(config)
    assert not admission.admits(machine)
    assert admission.admits(Person.of_machine("report", "x"))
    assert not admission.admits(person.model_copy(update={"sub": "report", "email": "report"}))
    with pytest.raises(ValidationError, match="a machine has no session"):
        Session(kind=SessionKind.OIDC, person=machine, created=0, expires=1, idle_seconds=1)


async def test_a_dump_of_the_store_holds_no_secret_token_or_assertion(machines: Auth) -> None:
    machine = robot(machines)
    assertion = machine.assertion(jti="an-id-of-its-own")
    got = (await machine.token(client_assertion=assertion)).body["access_token"]
    await MachineClient(machines).token()
    kept = repr(vars(machines.store))
    for secret in (SECRET, got, assertion, "an-id-of-its-own", "robot", "report"):
        assert secret not in kept
    assert keys.OAUTH.key("assertion") in kept


async def test_nobody_is_a_machine_while_it_cannot_be_told_or_remembered(
    start_both: StartBoth,
) -> None:
    class Away(Unwritten):
        forgetful = False

        async def add(self, key: str, value: bytes, seconds: int) -> bool:
            if self.forgetful:
                raise StoreUnavailable("away")
            return await super().add(key, value, seconds)

    store = Away()
    auth = await with_machines(start_both, store=store)
    store.away = True
    assert (await MachineClient(auth).token()).status == 503
    store.away, store.forgetful = False, True
    assert (await robot(auth).token()).status == 503
    store.forgetful = False
    assert (await MachineClient(auth).token()).status == 200
    assert (await robot(auth).token()).status == 200
