"""When it ends for a machine: it gives a token back, or the file names it no longer."""

from pathlib import Path
from typing import Any

import pytest
import yaml

from tests.auth.conftest import Auth, StartBoth
from tests.auth.machine import (
    DESK,
    REPORT,
    ROBOT,
    MachineClient,
    desk,
    robot,
    tokens,
    with_machines,
)
from tests.auth.oauth_client import OAuthClient
from tests.auth.test_admission import eventually
from tests.auth.test_machines import metadata
from tests.auth.test_trail import trail


@pytest.fixture
async def machines(start_both: StartBoth) -> Auth:
    return await with_machines(start_both)


@pytest.mark.parametrize("who", ["report", "robot"])
async def test_a_machine_gives_its_token_back(machines: Auth, who: str) -> None:
    machine = MachineClient(machines) if who == "report" else robot(machines)
    told: list[bytes] = []
    got = (await machine.token()).body["access_token"]
    kept = (await machine.token()).body["access_token"]
    publish = machines.store.publish

    async def heard(channel: str, message: bytes) -> None:
        told.append(message)
        await publish(channel, message)

    machines.store.publish = heard  # type: ignore[method-assign]
    for _ in range(2):
        assert (await machine.give_back(got)).status == 200
        assert await tokens(machines).verify(got) is None
    assert await tokens(machines).verify(kept) is not None
    assert told == [tokens(machines).digest(got).encode()]
    assert [one["event"] for one in await trail(machines)][2:] == ["token-revoked"]


async def test_a_machine_gives_back_no_token_but_its_own(machines: Auth) -> None:
    client, browser = OAuthClient(machines), await machines.signed_in()
    persons = (await client.connected(browser))["access_token"]
    robots = (await robot(machines).token()).body["access_token"]
    for token in (persons, robots):
        refused = await MachineClient(machines).give_back(token)
        assert (refused.status, refused.body["error"]) == (400, "invalid_grant")
    wrong = await MachineClient(machines, secret="x" * 40).give_back(robots)
    assert (wrong.status, wrong.body["error"]) == (401, "invalid_client")
    assert (await client.post("/oauth/revoke", {"token": robots, "client_id": "robot"})).status in {
        400,
        401,
    }
    await client.post("/oauth/revoke", {"token": robots, "client_id": client.id})
    for token in (persons, robots):
        assert await tokens(machines).verify(token) is not None


def written(auth: Auth, path: Path, *listed: dict[str, Any]) -> None:
    """The file as it is in force, with these machines."""
    raw = auth.config.model_dump(mode="json", exclude_none=True)
    raw["oauth"]["machines"] = list(listed)
    path.write_text(yaml.safe_dump(raw))


async def test_a_machine_that_the_file_no_longer_names_gets_nothing_from_then_on(
    start_both: StartBoth, tmp_path: Path
) -> None:
    path = tmp_path / "strad.yaml"
    auth = await with_machines(start_both, config_path=path)
    assert (await MachineClient(auth).token()).status == 200
    written(auth, path, ROBOT, DESK)

    async def ended() -> bool:
        return (await MachineClient(auth).token()).status == 401

    await eventually(ended)
    assert (await robot(auth).token()).status == 200
    told = await metadata(auth)
    assert told["token_endpoint_auth_methods_supported"][1:] == [
        "client_secret_basic",
        "client_secret_post",
        "private_key_jwt",
    ]
    written(auth, path)

    async def nobody() -> bool:
        return "unsupported_grant_type" in (await robot(auth).token()).body.values()

    await eventually(nobody)
    assert (await desk(auth).link()).status == 401
    assert (await metadata(auth))["grant_types_supported"] == [
        "authorization_code",
        "refresh_token",
    ]


async def test_what_a_machine_may_use_counts_at_once(start_both: StartBoth, tmp_path: Path) -> None:
    path = tmp_path / "strad.yaml"
    auth = await with_machines(start_both, config_path=path)
    written(auth, path, REPORT | {"servers": ["news"]})

    async def narrowed() -> bool:
        return (await MachineClient(auth).token(scope="mcp:toys")).status == 400

    await eventually(narrowed)
    assert (await MachineClient(auth).token(scope="mcp:news")).status == 200
