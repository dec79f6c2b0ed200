"""`deploy/redis.acl` against `shared/keys.py`: each family tried as each user on a real server."""

import asyncio
from itertools import product
from typing import Any

import pytest
from redis.asyncio import Redis
from redis.exceptions import AuthenticationError, NoPermissionError

from shared.contracts.wire import Service
from shared.keys import AUDIT, AUDITOR, CHANNELS, FAMILIES, Channel, Family
from tests.shared.valkey import Valkey

PAIRS = list(product(Service, FAMILIES))


def name(value: Service | Family | Channel) -> str:
    if isinstance(value, Channel):
        return value.name
    return value.prefix if isinstance(value, Family) else value.value


async def may(server: Valkey, service: str, *command: str) -> bool:
    """Whether the server lets this service run a command. Anything but a refusal is a yes."""
    client: Any = Redis.from_url(
        server.url, username=service, password=server.password(service), protocol=3
    )
    try:
        await client.execute_command(*command)
    except NoPermissionError:
        return False
    finally:
        await client.aclose()
    return True


@pytest.mark.parametrize(("service", "family"), PAIRS, ids=name)
async def test_only_the_owner_writes(server: Valkey, service: Service, family: Family) -> None:
    key, index = family.key("written"), family.key("members")
    writes = [
        ("SET", key, "x", "EX", "60"),
        ("SET", key, "x", "EX", "60", "NX"),
        ("DEL", key),
        ("INCR", family.key("counted")),
        ("SADD", index, "a"),
        ("SREM", index, "a"),
        ("EXPIRE", index, "60"),
        ("EXPIRE", index, "60", "NX"),
    ]
    answers = [await may(server, service, *command) for command in writes]
    assert answers == [service is family.owner] * len(writes)


@pytest.mark.parametrize(("service", "family"), PAIRS, ids=name)
async def test_only_the_owner_and_the_named_readers_read(
    server: Valkey, service: Service, family: Family
) -> None:
    reads = [("GET", family.key("read")), ("SMEMBERS", family.key("members"))]
    allowed = service is family.owner or service in family.readers
    assert [await may(server, service, *command) for command in reads] == [allowed] * len(reads)


@pytest.mark.parametrize(("service", "channel"), list(product(Service, CHANNELS)), ids=name)
async def test_only_who_has_to_speaks_and_hears(
    server: Valkey, service: Service, channel: Channel
) -> None:
    for heard, other in ((True, channel.name), (False, f"{channel.name}x"), (False, "*")):
        speaks = heard and service is channel.speaker
        assert await may(server, service, "PUBLISH", other, "x") is speaks
        with server.admin() as admin:
            verdict = admin.acl_dryrun(service.value, "SUBSCRIBE", other)
        assert (verdict in {b"OK", "OK"}) is (heard and service is channel.hearer), verdict


@pytest.mark.parametrize("service", Service)
async def test_no_service_has_a_command_it_does_not_need(server: Valkey, service: Service) -> None:
    own = next(family for family in FAMILIES if family.owner is service).key("own")
    commands = [
        ("KEYS", "*"),
        ("SCAN", "0"),
        ("FLUSHALL",),
        ("FLUSHDB",),
        ("CONFIG", "GET", "*"),
        ("ACL", "LIST"),
        ("ACL", "SETUSER", "evil", "on", "nopass", "~*", "+@all"),
        ("MONITOR",),
        ("SAVE",),
        ("SHUTDOWN",),
        ("INFO",),
        ("CLIENT", "LIST"),
        ("CLIENT", "KILL", "ID", "1"),
        ("EVAL", "return 1", "0"),
        ("FUNCTION", "LIST"),
        ("SUBSCRIBE", "all"),
        ("PSUBSCRIBE", "*"),
        ("PUBLISH", "all", "x"),
        ("DUMP", own),
        ("RESTORE", own, "0", "x"),
        ("RENAME", own, own),
        ("COPY", own, own),
        ("OBJECT", "ENCODING", own),
        ("APPEND", own, "x"),
        ("INCRBY", own, "7"),
        ("DECR", own),
        ("PERSIST", own),
        ("REPLICAOF", "127.0.0.1", "1"),
        ("MODULE", "LIST"),
    ]
    answers = {command[0]: await may(server, service, *command) for command in commands}
    assert not any(answers.values()), answers


@pytest.mark.parametrize("user", [*Service, AUDITOR])
async def test_the_trail_is_appended_to_by_some_and_read_by_the_auditor(
    server: Valkey, user: str
) -> None:
    key = AUDIT.key
    appends = [("XADD", key, "MAXLEN", "~", "9", "*", "e", "x"), ("XTRIM", key, "MINID", "1")]
    reads = [
        ("XRANGE", key, "-", "+"),
        ("XREVRANGE", key, "+", "-"),
        ("XREAD", "STREAMS", key, "0"),
    ]
    others = [
        ("DEL", key),
        ("XDEL", key, "1-1"),
        ("SET", key, "x"),
        ("GET", key),
        ("EXPIRE", key, "9"),
    ]
    others += [("XADD", family.key("x"), "*", "e", "x") for family in FAMILIES]
    assert [await may(server, user, *c) for c in appends] == [user in AUDIT.appenders] * 2
    assert [await may(server, user, *c) for c in reads] == [user == AUDITOR, False, False]
    assert not any([await may(server, user, *c) for c in others])


async def test_the_auditor_reads_the_trail_and_nothing_else(server: Valkey) -> None:
    for family in FAMILIES:
        for command in (("GET", family.key("x")), ("XRANGE", family.key("x"), "-", "+")):
            assert not await may(server, AUDITOR, *command)


@pytest.mark.parametrize("service", Service)
async def test_a_key_of_no_family_belongs_to_nobody(server: Valkey, service: Service) -> None:
    for key in ("other", "session", "sess", "", "SESS:x", "xsess:x", "seen:", "seen:other:x"):
        assert not await may(server, service, "GET", key), key
        assert not await may(server, service, "SET", key, "x"), key


async def test_nobody_comes_in_without_a_name_or_with_anothers_password(server: Valkey) -> None:
    wrong = [(None, None), ("default", ""), ("default", "x"), ("auth", ""), ("nobody", "x")]
    wrong += [(a.value, server.password(b)) for a, b in product(Service, Service) if a is not b]
    for user, password in wrong:
        client = Redis.from_url(server.url, username=user, password=password, protocol=3)
        with pytest.raises((AuthenticationError, NoPermissionError)):
            await client.ping()
        await client.aclose()


async def test_the_acl_file_holds_digests_and_no_password(server: Valkey) -> None:
    text = await asyncio.to_thread((server.keys / "redis" / "users.acl").read_text)
    for user in (*Service, AUDITOR):
        assert server.password(user) not in text
    assert ">" not in text
    assert "nopass" not in text
    assert text.count("#") == len(Service) + 1


def test_no_family_begins_like_another_with_a_different_owner_or_reader() -> None:
    """ACL patterns are prefixes: a family inside another would inherit its rights."""
    for one, other in product(FAMILIES, FAMILIES):
        if one is not other and other.prefix.startswith(one.prefix):
            assert (one.owner, one.readers) == (other.owner, other.readers)


@pytest.mark.parametrize("part", ["", "a:b", "a b", "*", "a/b", "a\n", "ü:", "[a]", "\x00"])
def test_a_key_part_cannot_lead_out_of_its_family(part: str) -> None:
    with pytest.raises(ValueError, match="not key parts"):
        FAMILIES[0].key(part)
