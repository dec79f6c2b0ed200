"""`strad.yaml` changes while the relay runs: who may use what counts at once, on every replica."""

import asyncio
import gc
import os
from pathlib import Path
from typing import Any

import pytest

from shared.contracts.config import Config
from shared.reload import Reload, in_force, needs_restart
from tests.relay.house import House, config_of, house, write_config
from tests.relay.test_alive import open_stream
from tests.relay.twins import twin
from tests.relay.upstreams import sdk_app, served, toy_server

ADA, BOB = "ada@strad.test", "bob@strad.test"
A = {"slug": "a", "url": "http://a.test/mcp"}
B = {"slug": "b", "url": "http://b.test/mcp"}


def changed(config: Config, **access: Any) -> Config:
    """The same, with other people for a server."""
    document = config.model_dump(mode="json")
    for server in document["servers"]:
        server["access"] = access.get(server["slug"], server["access"])
    return Config.model_validate(document)


async def _status(h: House, name: str) -> int:
    return (await h.modern("/mcp/a", "tools/list", name=name))[0]


async def test_a_change_of_the_file_holds_and_ends_streams_on_every_replica(
    tmp_path: Path,
) -> None:
    path = tmp_path / "strad.yaml"
    async with (
        served(sdk_app(toy_server())) as url,
        house([A | {"url": url}], config_path=path, entitlements={"keep": 60}) as h,
        twin(h) as other,
        open_stream(h, h.url) as here,
        open_stream(h, other) as there,
    ):
        assert (await _status(h, "ada"), await _status(h, "bob")) == (200, 404)
        await asyncio.sleep(0.6)  # the file is at rest
        write_config(path, changed(h.config, a={"people": [BOB]}))
        # half a second until the file is known to be at rest, and the second that is promised
        async with asyncio.timeout(1.5):
            await asyncio.gather(here.read(), there.read())
        assert (await _status(h, "ada"), await _status(h, "bob")) == (404, 200)


def allowing(config: Config, *people: str) -> Config:
    """The same, with other people who may sign in."""
    document = config.model_dump(mode="json")
    document["provider"]["allow"] = {"people": people}
    return Config.model_validate(document)


async def test_who_may_not_sign_in_any_more_has_no_token_and_no_stream_left(
    tmp_path: Path,
) -> None:
    path = tmp_path / "strad.yaml"
    async with (
        served(sdk_app(toy_server())) as url,
        house([A | {"url": url}], config_path=path) as h,
        open_stream(h, h.url) as stream,
    ):
        assert await _status(h, "ada") == 200
        await asyncio.sleep(0.6)  # the file is at rest
        write_config(path, allowing(h.config, BOB))
        async with asyncio.timeout(1.5):
            await stream.read()
        assert await _status(h, "ada") == 401
        assert await _status(h, "bob") == 404
        write_config(path, allowing(h.config, ADA, BOB))
        async with asyncio.timeout(5):
            while await _status(h, "ada") != 200:
                await asyncio.sleep(0.05)


async def test_who_keeps_what_they_had_keeps_their_streams(tmp_path: Path) -> None:
    path = tmp_path / "strad.yaml"
    async with (
        served(sdk_app(toy_server())) as url,
        house([A | {"url": url}], config_path=path, entitlements={"keep": 60}) as h,
        open_stream(h, h.url) as stream,
    ):
        await asyncio.sleep(0.6)
        write_config(path, changed(h.config, a={"people": [ADA, BOB]}))
        async with asyncio.timeout(5):
            while await _status(h, "bob") != 200:
                await asyncio.sleep(0.05)
        with pytest.raises(TimeoutError):
            async with asyncio.timeout(0.5):
                await stream.read()


def alive(group: str) -> int:
    """How many configurations with this group there are in memory."""
    gc.collect()
    return sum(isinstance(one, Config) and group in one.groups for one in gc.get_objects())


async def test_a_token_that_nobody_uses_keeps_no_configuration_that_is_over(tmp_path: Path) -> None:
    """Else the memory of a relay grows with each change of a file that names thousands."""
    path = tmp_path / "strad.yaml"
    async with (
        served(sdk_app(toy_server())) as url,
        house([A | {"url": url}], config_path=path) as h,
    ):
        assert await _status(h, "ada") == 200
        await asyncio.sleep(0.6)
        both = changed(h.config, a={"people": [ADA, BOB]})
        write_config(path, both.model_copy(update={"groups": {"second": (ADA,)}}))
        del both
        async with asyncio.timeout(5):
            while await _status(h, "bob") != 200:
                await asyncio.sleep(0.05)
        assert alive("second") == 1
        write_config(path, changed(h.config, a={"people": [BOB]}))
        async with asyncio.timeout(5):
            while await _status(h, "ada") != 404:
                await asyncio.sleep(0.05)
            while alive("second"):
                await asyncio.sleep(0.05)


class Follower:
    """A `Reload`, what it made of the file, and what it logged."""

    def __init__(self, path: Path, config: Config, caplog: pytest.LogCaptureFixture) -> None:
        caplog.set_level("INFO", "strad")
        self.path = path
        self.config = config
        self.seen: list[Config] = []
        self._caplog = caplog
        self._reload = Reload(path, config, self.seen.append, {})
        write_config(path, config)

    async def look(self, times: int = 2) -> None:
        for _ in range(times):
            await self._reload.look()

    def logged(self, event: str) -> list[dict[str, Any]]:
        return [getattr(r, "fields", {}) for r in self._caplog.records if r.message == event]


@pytest.fixture
async def follower(tmp_path: Path, caplog: pytest.LogCaptureFixture) -> Follower:
    """At rest with a file of two servers for ada."""
    config = config_of([A, B], 8080, groups={"makers": [BOB]})
    follower = Follower(tmp_path / "strad.yaml", config, caplog)
    await follower.look()
    assert follower.seen == []
    return follower


async def test_what_is_the_same_is_no_change(follower: Follower) -> None:
    os.utime(follower.path)
    await follower.look()
    follower.path.write_text(follower.path.read_text() + "\n# a remark\n")
    await follower.look()
    assert follower.seen == []
    assert follower.logged("config-refused") == []


async def test_a_file_with_mistakes_changes_nothing_and_all_of_them_are_named(
    follower: Follower,
) -> None:
    good = follower.path.read_text()
    follower.path.write_text(good.replace("ada@strad.test", "Ada") + "\nserverz: []\n")
    await follower.look()
    (refused,) = follower.logged("config-refused")
    named = "\n".join(refused["mistakes"])
    for part in ("servers.0.access.people.0", "servers.1.access.people.0", "serverz", "fix:"):
        assert part in named
    await follower.look()
    assert len(follower.logged("config-refused")) == 1
    write_config(follower.path, changed(follower.config, a={"people": [BOB]}))
    await follower.look()
    assert [one.servers[0].access.people for one in follower.seen] == [(BOB,)]


@pytest.mark.parametrize("text", ["", "a: [", "[]", "\x00", "version: 1"])
async def test_what_is_no_configuration_changes_nothing(follower: Follower, text: str) -> None:
    follower.path.write_text(text)
    await follower.look()
    assert follower.seen == []
    assert len(follower.logged("config-refused")) == 1


async def test_a_file_that_is_gone_changes_nothing(follower: Follower) -> None:
    follower.path.unlink()
    await follower.look()
    assert follower.seen == []
    (refused,) = follower.logged("config-refused")
    assert "cannot be read" in refused["mistakes"][0]


async def test_a_file_that_is_still_being_written_is_not_read(follower: Follower) -> None:
    new = changed(follower.config, a={"people": [BOB]}, b={"people": [BOB]})
    whole = changed(follower.config, a={"people": [BOB]})
    write_config(follower.path, new)
    await follower.look(1)
    write_config(follower.path, whole)
    os.utime(follower.path, ns=(1, 1))
    await follower.look(1)
    assert follower.seen == []
    await follower.look(1)
    assert [one.server("b") for one in follower.seen] == [whole.server("b")]


async def test_a_link_that_is_turned_to_another_file_is_followed(
    tmp_path: Path, caplog: pytest.LogCaptureFixture
) -> None:
    """As a mounted ConfigMap does it."""
    config = config_of([A], 8080)
    (tmp_path / "1").mkdir()
    (tmp_path / "2").mkdir()
    (tmp_path / "now").symlink_to(tmp_path / "1")
    follower = Follower(tmp_path / "now" / "strad.yaml", config, caplog)
    await follower.look()
    write_config(tmp_path / "2" / "strad.yaml", changed(config, a={"people": [BOB]}))
    (tmp_path / "next").symlink_to(tmp_path / "2")
    (tmp_path / "next").replace(tmp_path / "now")
    await follower.look()
    assert len(follower.seen) == 1


async def test_a_group_counts_at_once(follower: Follower) -> None:
    new = follower.config.model_copy(update={"groups": {"makers": (ADA,)}})
    write_config(follower.path, new)
    await follower.look()
    assert [one.groups for one in follower.seen] == [{"makers": (ADA,)}]


def test_a_server_that_is_gone_is_nobodys_and_a_new_one_waits() -> None:
    old, new = config_of([A, B], 8080), config_of([B, {"slug": "c", "url": "http://c/"}], 8080)
    current = in_force(old, new)
    assert [(s.slug, s.access.people) for s in current.servers] == [("a", ()), ("b", (ADA,))]
    assert needs_restart(old, new) == ["servers.a", "servers.c"]


LATER: dict[str, dict[str, Any]] = {
    "sessions": {"sessions": {"idle": "1h"}},
    "public_url": {"public_url": "http://127.0.0.1:9"},
    "servers.a": {"servers": [A | {"name": "A", "access": {"people": [ADA]}, "timeout": "9s"}]},
    "entitlements.keep": {"entitlements": {"keep": 2, "keep_denied": 1}},
    "tokens": {"tokens": {"longest": "1d"}},
}


@pytest.mark.parametrize("setting", LATER)
async def test_what_counts_from_the_next_start_is_named(follower: Follower, setting: str) -> None:
    document = follower.config.model_dump(mode="json")
    document["servers"] = document["servers"][:1]
    follower.config = Config.model_validate(document)
    new = Config.model_validate(document | LATER[setting])
    assert needs_restart(follower.config, new) == [setting]
    write_config(follower.path, new)
    await follower.look()
    (named,) = follower.logged("config-needs-restart")
    assert setting in named["settings"]


async def test_another_source_waits_for_a_restart_with_all_that_belongs_to_it(
    follower: Follower,
) -> None:
    rules = {"keep": 1, "keep_denied": 1, "decision_point": {"url": "https://pdp.test"}}
    new = config_of([A | {"access": {}}, B | {"access": {}}], 8080, entitlements=rules)
    write_config(follower.path, new)
    await follower.look()
    assert follower.seen == []
    (named,) = follower.logged("config-needs-restart")
    assert "entitlements.decision_point" in named["settings"]


def test_of_the_provider_only_who_may_sign_in_counts_at_once() -> None:
    config = config_of([A], 8080)
    other = allowing(config, BOB)
    assert needs_restart(config, other) == []
    assert in_force(config, other).provider.allow.people == (BOB,)
    client = config.provider.model_copy(update={"client_id": "another"})
    renamed = other.model_copy(update={"provider": client})
    assert needs_restart(config, renamed) == ["provider.client_id"]
    assert in_force(config, renamed).provider.client_id == config.provider.client_id
