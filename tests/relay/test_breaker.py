"""Servers that cannot be reached: after some tries only one request tries, the others are told."""

import asyncio
import time
from typing import Any

import pytest
from aiohttp import web

from services.relay.servers import breaker
from services.relay.servers.breaker import FAILURES, Circuit
from shared import metrics
from shared.contracts.config import Server
from shared.contracts.problems import Problem, ProblemKind
from tests.relay.house import House, config_of, house
from tests.relay.upstreams import modern_fake

DONE = {"result": {"resultType": "complete", "content": []}}
DEAD = "http://127.0.0.1:9/mcp"
CALL = ("tools/call", {"name": "go"})
UNREACHABLE = Problem(ProblemKind.UPSTREAM_UNREACHABLE, "gone")


class Clock:
    now = 1000.0

    def __call__(self) -> float:
        return self.now


def circuit(clock: Clock) -> Circuit:
    server: Server = config_of([{"slug": "x", "url": DEAD}], 1).servers[0]
    return Circuit(server, clock)


def attempt(one: Circuit, problem: Problem | None = None) -> None:
    with one:
        if problem is not None:
            raise problem


def fail(one: Circuit, times: int = 1) -> None:
    for _ in range(times):
        with pytest.raises(Problem, match="gone"):
            attempt(one, UNREACHABLE)


def is_open(one: Circuit) -> bool:
    try:
        attempt(one)
    except Problem as problem:
        return problem.reason == "circuit-open" and problem.retry_after >= 1
    return False


def test_only_failures_in_a_row_open_it() -> None:
    one = circuit(Clock())
    for _ in range(3):
        fail(one, FAILURES - 1)
        attempt(one)
    fail(one, FAILURES)
    assert is_open(one)


@pytest.mark.parametrize("kind", sorted(set(ProblemKind) - breaker._TRANSPORT))
def test_what_a_server_says_never_opens_it(kind: ProblemKind) -> None:
    one = circuit(Clock())
    for _ in range(3 * FAILURES):
        with pytest.raises(Problem):
            attempt(one, Problem(kind, "its own affair"))
    assert not is_open(one)


def test_after_a_pause_one_tries_and_the_others_are_told() -> None:
    clock = Clock()
    one = circuit(clock)
    fail(one, FAILURES)
    clock.now += breaker.FIRST_PAUSE + 0.1
    with one:
        assert is_open(one)
        assert is_open(one)
        clock.now += breaker.TRY_SECONDS + 0.1  # the one hangs: another one may try
        with pytest.raises(Problem, match="gone"), one:
            raise UNREACHABLE
        assert is_open(one)
    assert not is_open(one)  # the first came through after all


def test_the_pause_grows_to_a_bound_and_begins_anew_after_success() -> None:
    clock = Clock()
    one = circuit(clock)
    fail(one, FAILURES)
    pauses = []
    for _ in range(6):
        pause = 0.0
        while is_open(one) if pause < 0.01 else True:
            clock.now += 0.25
            pause += 0.25
            try:
                attempt(one, UNREACHABLE)
            except Problem as problem:
                if problem.reason != "circuit-open":
                    break
        pauses.append(pause)
    assert pauses == [1, 2, 4, 5, 5, 5]
    clock.now += 5
    attempt(one)
    fail(one, FAILURES)
    clock.now += 1.1
    assert not is_open(one)


def test_one_who_leaves_while_he_tries_lets_the_next_one_try() -> None:
    clock = Clock()
    one = circuit(clock)
    fail(one, FAILURES)
    clock.now += 1.1
    with pytest.raises(asyncio.CancelledError), one:
        raise asyncio.CancelledError
    assert not is_open(one)


async def calls(h: House, count: int, path: str = "/mcp/x") -> list[Any]:
    return [await h.modern(path, *CALL) for _ in range(count)]


def state(slug: str) -> float | None:
    return metrics.REGISTRY.get_sample_value("strad_server_circuit", {"server": slug})


async def test_callers_are_told_at_once_and_other_servers_go_on() -> None:
    fake = modern_fake([], lambda *_: DONE)
    async with (
        fake.restartable() as (url, stop, start),
        modern_fake([], lambda *_: DONE).served() as good,
        house([{"slug": "x", "url": url}, {"slug": "good", "url": good}]) as h,
    ):
        assert [status for status, _ in await calls(h, 2)] == [200, 200]
        assert state("x") == 0
        await stop()
        answers = await calls(h, FAILURES + 1)
        assert {status for status, _ in answers} == {502}
        assert {body["error"]["data"]["kind"] for _, body in answers} == {"upstream-unreachable"}
        assert "Several tries have failed" in answers[-1][1]["error"]["message"]
        assert state("x") == 2
        assert (await h.modern("/mcp/good", *CALL))[0] == 200
        assert (await h.modern("/mcp", "tools/call", {"name": "good__go"}))[0] == 200
        _, body = await h.ask(None)
        listed = {one["slug"]: one for one in body["servers"]}
        assert (listed["x"]["state"], listed["x"]["reason"]) == (
            "unavailable",
            "upstream-unreachable",
        )
        assert "Several tries have failed" in listed["x"]["detail"]
        await start()
        started = time.monotonic()
        while (await h.modern("/mcp/x", *CALL))[0] != 200:
            assert time.monotonic() - started < 10
            await asyncio.sleep(0.05)
        assert state("x") == 0
        assert [status for status, _ in await calls(h, 3)] == [200] * 3


@pytest.mark.parametrize(
    "answer",
    [
        lambda *_: {"result": {"resultType": "complete", "content": [], "isError": True}},
        lambda *_: {"error": {"code": -32603, "message": "it failed"}},
        lambda *_: web.Response(status=400, text="no"),
        lambda *_: web.Response(status=403),
        lambda *_: web.Response(status=500),
        lambda *_: web.Response(text="garbage", content_type="application/json"),
    ],
    ids=["tool error", "error", "400", "403", "500", "garbage"],
)
async def test_a_servers_own_errors_never_shut_it_off(answer: Any) -> None:
    good = False

    def call(request: web.Request, message: Any) -> Any:
        return DONE if good else answer(request, message)

    fake = modern_fake([], call)
    async with fake.served() as url, house([{"slug": "x", "url": url}]) as h:
        await calls(h, 3 * FAILURES)
        assert state("x") == 0
        before, good = fake.methods.count("tools/call"), True
        assert [status for status, _ in await calls(h, 1)] == [200]
        assert fake.methods.count("tools/call") == before + 1


async def test_a_slow_server_is_not_shut_off() -> None:
    fake = modern_fake([], lambda *_: asyncio.sleep(30))
    async with fake.served() as url, house([{"slug": "x", "url": url, "timeout": 1}]) as h:
        await h.token()
        answers = await asyncio.gather(*(h.modern("/mcp/x", *CALL) for _ in range(3 * FAILURES)))
        assert {status for status, _ in answers} == {504}
        assert state("x") == 0
