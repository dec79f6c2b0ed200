"""A machine at /mcp: what its token opens, what it is called, and when that ends."""

import asyncio
from pathlib import Path
from typing import Any

import pytest
from joserfc import jwt
from joserfc.jwk import KeySet

from shared import ids
from shared.contracts.config import Config
from shared.contracts.identity import Person, Token
from shared.reload import in_force, needs_restart
from tests.relay.house import House, house, write_config
from tests.relay.pdp import Pdp
from tests.relay.test_alive import open_stream
from tests.relay.test_audit import trail
from tests.relay.test_scopes import _challenge
from tests.relay.upstreams import modern_fake, sdk_app, served, toy_server

REPORT: dict[str, Any] = {
    "client_id": "report",
    "name": "Nightly report",
    "secret": {"env": "REPORT_SECRET"},
    "servers": ["a"],
}
OAUTH: dict[str, Any] = {"machines": [REPORT]}
EVERYONE = {"access": {"everyone": True}}


async def become(h: House, client_id: str = "report", **more: Any) -> None:
    """From now on "ada" of the house is this machine."""
    now = int(h.clock())
    record: dict[str, Any] = {"servers": None, "created": now, "expires": now + 600} | more
    person = Person.of_machine(client_id, "Nightly report")
    token = Token(id=ids.new_id(), person=person, label="t", client=client_id, **record)
    h.tokens["ada"] = await h.token_writer.create(token)


async def status(h: House, path: str = "/mcp/a") -> int:
    return (await h.modern(path, "tools/list"))[0]


async def test_a_machine_uses_the_servers_of_its_entry_and_everyone_does_not_mean_it() -> None:
    async with (
        served(sdk_app(toy_server())) as url,
        house(
            [{"slug": "a", "url": url, "access": {}}, {"slug": "b", "url": url} | EVERYONE],
            oauth=OAUTH,
        ) as h,
    ):
        assert await status(h, "/mcp/b") == 200
        assert await status(h, "/mcp/a") == 404
        await become(h)
        assert await status(h, "/mcp/a") == 200
        for path in ("/mcp/b", "/mcp/nothing"):
            # no step-up either: no scope would cure it
            code, told, _ = await _challenge(h, path)
            assert (code, told) == (404, "")
        code, body = await h.modern("/mcp", "tools/list")
        assert {tool["name"].partition("__")[0] for tool in body["result"]["tools"]} == {"a"}


async def test_a_narrower_token_of_a_machine_is_told_what_to_ask_for() -> None:
    machine = REPORT | {"servers": ["a", "b"]}
    async with (
        served(sdk_app(toy_server())) as url,
        house([{"slug": s, "url": url} for s in "ab"], oauth={"machines": [machine]}) as h,
    ):
        await become(h, servers=("a",))
        code, told, _ = await _challenge(h, "/mcp/b")
        assert code == 403
        assert 'scope="mcp:b", error="insufficient_scope"' in told


async def test_a_machine_that_the_file_does_not_name_is_nobody() -> None:
    async with (
        served(sdk_app(toy_server())) as url,
        house([{"slug": "a", "url": url} | EVERYONE], oauth=OAUTH) as h,
    ):
        await become(h, "robot")
        code, told, _ = await _challenge(h, "/mcp/a")
        assert code == 401
        assert 'error="invalid_token"' in told


async def test_a_machine_that_may_only_read_changes_nothing(tmp_path: Path) -> None:
    path = tmp_path / "strad.yaml"
    async with (
        served(sdk_app(toy_server())) as url,
        house([{"slug": "a", "url": url}], oauth=OAUTH, config_path=path) as h,
    ):
        await become(h)
        call = {"name": "delete", "arguments": {"item": "bear"}}

        async def refused() -> bool:
            _, body = await h.modern("/mcp/a", "tools/call", call)
            return "deleted bear" not in str(body)

        assert not await refused()
        write_config(path, with_machines(h.config, REPORT | {"read_only": True}))
        async with asyncio.timeout(5):
            while not await refused():
                await asyncio.sleep(0.05)
        assert (await trail(h, 1))[-1]["reason"] == "read-only-token"


def with_machines(config: Config, *machines: dict[str, Any]) -> Config:
    document = config.model_dump(mode="json")
    document["oauth"]["machines"] = list(machines)
    return Config.model_validate(document)


@pytest.mark.parametrize("left", [[], [REPORT | {"servers": ["b"]}]])
async def test_a_machine_that_is_taken_out_of_the_file_is_refused_and_its_streams_end(
    tmp_path: Path, left: list[dict[str, Any]]
) -> None:
    path = tmp_path / "strad.yaml"
    async with (
        served(sdk_app(toy_server())) as url,
        house(
            [{"slug": s, "url": url} for s in "ab"],
            oauth=OAUTH,
            config_path=path,
            entitlements={"keep": 60},
        ) as h,
    ):
        await become(h)
        async with open_stream(h, h.url) as stream:
            assert await status(h) == 200
            await asyncio.sleep(0.6)  # the file is at rest
            write_config(path, with_machines(h.config, *left))
            async with asyncio.timeout(2):
                await stream.read()
        assert await status(h) == (404 if left else 401)


async def test_the_trail_and_a_server_that_asks_are_told_which_machine_it_was() -> None:
    fake = modern_fake([])
    async with (
        fake.served() as url,
        house([{"slug": "a", "url": url, "identity": "signed"}], oauth=OAUTH) as h,
    ):
        await become(h)
        await status(h)
        entry = (await trail(h, 1))[0]
        subject = Person.of_machine("report", "").subject
        assert (entry["email"], entry["subject"]) == ("machine:report", subject)
        async with h.http.get(f"{h.url}/mcp/.well-known/jwks.json") as found:
            keys = KeySet.import_key_set(await found.json())
    text = fake.seen[-1].headers["Strad-Identity"]
    claims = jwt.decode(text, keys, algorithms=["ES256"]).claims
    assert (claims["sub"], claims["client_id"]) == (subject, "report")
    assert "email" not in claims


async def test_a_decision_point_is_asked_about_a_machine_as_far_as_its_entry_goes() -> None:
    pdp = Pdp(batches=False, **{"machine:report": {"a", "b"}})
    machine = REPORT | {"servers": ["a", "c"]}
    async with (
        served(sdk_app(toy_server())) as url,
        pdp.served() as point,
        house(
            [{"slug": s, "url": url, "access": {}} for s in "abc"],
            oauth={"machines": [machine]},
            entitlements={"keep": 1, "keep_denied": 1, "decision_point": {"url": point}},
        ) as h,
    ):
        await become(h)
        assert [await status(h, f"/mcp/{slug}") for slug in "abc"] == [200, 404, 404]
    subjects = [body["subject"] for body in pdp.bodies]
    assert subjects[0] == {
        "type": "machine",
        "id": "machine:report",
        "properties": {"client_id": "report", "name": "Nightly report"},
    }
    assert {body["resource"]["id"] for body in pdp.bodies} == {"a", "c"}


def test_a_new_machine_and_a_new_proof_count_from_the_next_start() -> None:
    old = Config.model_validate(base() | {"oauth": OAUTH})
    other = REPORT | {"client_id": "robot"}
    proof = REPORT | {"secret": {"env": "OTHER"}, "servers": ["b"], "name": "New name"}
    new = with_machines(old, proof, other)
    (machine,) = in_force(old, new).oauth.machines
    assert (machine.client_id, machine.name, machine.servers) == ("report", "New name", ("b",))
    assert machine.secret == old.oauth.machines[0].secret
    assert needs_restart(old, new) == ["oauth.machines.report", "oauth.machines.robot"]
    assert needs_restart(old, with_machines(old)) == []
    wider = Config.model_validate(base() | {"oauth": OAUTH | {"registration": False}})
    assert needs_restart(old, wider) == ["oauth.registration"]


def base() -> dict[str, Any]:
    return {
        "public_url": "https://strad.test",
        "provider": {
            "client_id": "c",
            "client_secret": {"env": "X"},
            "allow": {"domains": ["strad.test"]},
        },
        "servers": [
            {"slug": s, "name": s, "url": "http://x/", "access": {"everyone": True}} for s in "ab"
        ],
    }
