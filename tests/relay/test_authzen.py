"""A decision point over HTTP: a yes is a yes, a no a no, and anything else is neither."""

import asyncio
import time
from collections.abc import AsyncIterator
from contextlib import asynccontextmanager
from typing import Any

import pytest
from aiohttp import web

from services.relay.entitlements import SourceAway, SourceRefused, SourceUnavailable
from services.relay.entitlements.authzen import BATCH, MAX_BYTES, AuthZen
from shared.clock import system_clock
from tests.relay.pdp import MANY, METADATA, ONE, Pdp

# the examples of the specification: §6.1.1, §7.1.1; REASONS as in §5.5.2.1, ERROR as in §7.2.1
QUESTION: dict[str, Any] = {
    "subject": {"type": "user", "id": "alice@example.com"},
    "action": {"name": "can_read", "properties": {"method": "GET"}},
    "context": {"time": "1985-10-26T01:22-07:00"},
}
ACCOUNT = {"type": "account", "id": "123"}
DOCUMENTS = [{"type": "document", "id": f"{n}"} for n in ("boxcarring.md", "subject-search.md")]
REASONS = {
    "reason_admin": {"403": "Request failed policy C076E82F"},
    "reason_user": {"403": "Insufficient privileges. Contact your administrator"},
}
ERROR = {"error": {"status": 404, "message": "Resource not found"}}


@asynccontextmanager
async def asking(url: str, seconds: int = 2, **headers: str) -> AsyncIterator[AuthZen]:
    point = AuthZen(url, headers, seconds, system_clock)
    try:
        yield point
    finally:
        await point.close()


async def test_a_question_is_asked_in_the_form_of_the_specification() -> None:
    pdp = Pdp(batches=False)
    pdp.says = lambda _: {"decision": True}
    async with pdp.served() as url, asking(url, Authorization="Bearer mF_9.B5f-4.1JqM") as point:
        assert await point.evaluate(QUESTION, [ACCOUNT]) == [True]
    request = pdp.asked[-1]
    assert (request.method, request.path) == ("POST", ONE)
    assert request.content_type == "application/json"
    assert request.headers["Authorization"] == "Bearer mF_9.B5f-4.1JqM"
    assert len(request.headers["X-Request-ID"]) > 10
    assert pdp.bodies == [QUESTION | {"resource": ACCOUNT}]


async def test_several_are_asked_at_once_where_the_metadata_offers_it() -> None:
    pdp = Pdp()
    said = [{"decision": True}, {"decision": False, "context": ERROR}]
    pdp.says = lambda _: {"evaluations": said}
    async with pdp.served() as url, asking(url) as point:
        assert await point.evaluate(QUESTION, DOCUMENTS) == [True, False]
        assert await point.evaluate(QUESTION, DOCUMENTS) == [True, False]
    assert [request.path for request in pdp.asked] == [METADATA, MANY, MANY]
    assert pdp.bodies[0] == QUESTION | {"evaluations": [{"resource": one} for one in DOCUMENTS]}


@pytest.mark.parametrize("batches", [True, False])
async def test_many_are_asked_in_pieces_and_keep_their_order(batches: bool) -> None:
    names = [f"s{number}" for number in range(2 * BATCH + 7)]
    pdp = Pdp(batches=batches, alice={name for name in names if name.endswith("3")})
    async with pdp.served() as url, asking(url, 5) as point:
        found = await point.evaluate(QUESTION, [{"type": "t", "id": name} for name in names])
    assert [name for name, yes in zip(names, found, strict=True) if yes] == sorted(
        pdp.may["alice"], key=names.index
    )
    assert len(pdp.bodies) == (3 if batches else len(names))


async def test_what_comes_with_a_decision_changes_nothing() -> None:
    pdp = Pdp(batches=False)
    for decision in (True, False):
        pdp.says = lambda _, d=decision: {"decision": d, "context": REASONS, "more": 1}
        async with pdp.served() as url, asking(url) as point:
            assert await point.evaluate(QUESTION, [ACCOUNT]) == [decision]


NO_DECISIONS: list[Any] = [
    {},
    [],
    None,
    True,
    "true",
    {"decision": "true"},
    {"decision": 1},
    {"decision": None},
    {"decision": [True]},
    {"Decision": True},
    {"evaluations": [{"decision": True}]},
]


@pytest.mark.parametrize("said", NO_DECISIONS)
async def test_what_is_no_decision_is_neither_yes_nor_no(said: Any) -> None:
    for batches in (True, False):
        pdp = Pdp(batches=batches)
        pdp.says = lambda _, b=batches: {"evaluations": [said]} if b else said
        async with pdp.served() as url, asking(url) as point:
            with pytest.raises(SourceRefused):
                await point.evaluate(QUESTION, [ACCOUNT])


@pytest.mark.parametrize("count", [0, 1, 3])
async def test_answers_that_do_not_match_the_questions_are_worth_nothing(count: int) -> None:
    pdp = Pdp()
    pdp.says = lambda _: {"evaluations": [{"decision": True}] * count}
    async with pdp.served() as url, asking(url) as point:
        with pytest.raises(SourceRefused):
            await point.evaluate(QUESTION, DOCUMENTS)


HTTP = [
    (400, SourceRefused),
    (401, SourceRefused),
    (403, SourceRefused),
    (404, SourceRefused),
    (204, SourceRefused),
    (301, SourceRefused),
    (307, SourceRefused),
    (408, SourceUnavailable),
    (429, SourceUnavailable),
    (500, SourceUnavailable),
    (503, SourceUnavailable),
]


@pytest.mark.parametrize(("status", "error"), HTTP)
async def test_a_refusal_is_not_the_same_as_being_away(status: int, error: Any) -> None:
    pdp, elsewhere = Pdp(batches=False), Pdp(batches=False)
    async with elsewhere.served() as other, pdp.served() as url:
        pdp.says = lambda _: web.json_response(
            {"decision": True}, status=status, headers={"Location": other}
        )
        async with asking(url, Authorization="secret") as point:
            with pytest.raises(error) as caught:
                await point.evaluate(QUESTION, [ACCOUNT])
    assert type(caught.value) is error
    assert str(status) in str(caught.value)
    assert elsewhere.asked == []


@pytest.mark.parametrize(
    "raw",
    [
        b"",
        b"{",
        b"\xff",
        b"[" * 100_000,
        b'{"decision": true',
        b'{"decision": false, "decision": true}',
        b'{"decision": false, "d\\u0065cision": true}',
        b"NaN",
        b"x" * MAX_BYTES * 2,
    ],
)
async def test_an_answer_that_cannot_be_read_is_refused(raw: bytes) -> None:
    pdp = Pdp(batches=False)
    pdp.says = lambda _: web.Response(body=raw, content_type="application/json")
    async with pdp.served() as url, asking(url) as point:
        with pytest.raises(SourceRefused):
            await point.evaluate(QUESTION, [ACCOUNT])


async def test_a_decision_point_that_hangs_is_given_up_in_time() -> None:
    pdp = Pdp(batches=False)
    pdp.says = lambda _: asyncio.sleep(30)
    async with pdp.served() as url, asking(url, 1) as point:
        started = time.monotonic()
        with pytest.raises(SourceUnavailable):
            await point.evaluate(QUESTION, [ACCOUNT] * 100)
        assert 0.9 < time.monotonic() - started < 10  # and not a second for each question


async def test_one_that_is_not_there_is_away(free_port: int) -> None:
    async with asking(f"http://127.0.0.1:{free_port}") as point:
        with pytest.raises(SourceAway):
            await point.evaluate(QUESTION, [ACCOUNT])


@pytest.mark.parametrize("address", ["169.254.169.254", "0.0.0.0", "224.0.0.1"])
async def test_the_metadata_service_of_a_cloud_is_not_asked(address: str) -> None:
    async with asking(f"http://{address}") as point:
        with pytest.raises(SourceAway):
            await point.evaluate(QUESTION, [ACCOUNT])


async def test_no_environment_leads_it_through_a_proxy(monkeypatch: pytest.MonkeyPatch) -> None:
    proxy, pdp = Pdp(), Pdp(batches=False)
    pdp.says = lambda _: {"decision": False}
    async with proxy.served() as other, pdp.served() as url:
        for name in ("http_proxy", "HTTP_PROXY", "all_proxy"):
            monkeypatch.setenv(name, other)
        async with asking(url) as point:
            assert await point.evaluate(QUESTION, [ACCOUNT]) == [False]
    assert proxy.asked == []


async def test_metadata_of_another_name_or_origin_is_not_used() -> None:
    thief = Pdp()
    async with thief.served() as other:
        for changes in (
            {"policy_decision_point": other},
            {"access_evaluation_endpoint": other + ONE},
            {"access_evaluations_endpoint": other + MANY},
            {"access_evaluations_endpoint": 7},
            {"access_evaluation_endpoint": None},
            {"access_evaluations_endpoint": "http://user@127.0.0.1:1/"},
        ):
            pdp = Pdp()
            async with pdp.served() as url, asking(url, Authorization="secret") as point:
                pdp.metadata = {
                    "policy_decision_point": url,
                    "access_evaluation_endpoint": url + ONE,
                } | changes
                pdp.says = lambda _: {"decision": True}
                assert await point.evaluate(QUESTION, [ACCOUNT]) == [True]
            assert [request.path for request in pdp.asked] == [METADATA, ONE]
    assert thief.asked == []


async def test_the_well_known_part_stands_before_a_path_of_its_own() -> None:
    pdp = Pdp()
    pdp.says = lambda _: {"evaluations": [{"decision": True}]}
    async with pdp.served("/tenant1") as url, asking(url) as point:
        assert await point.evaluate(QUESTION, [ACCOUNT]) == [True]
    assert [request.path for request in pdp.asked] == [f"{METADATA}/tenant1", f"/tenant1{MANY}"]


async def test_metadata_that_offers_no_batches_is_followed_to_the_letter() -> None:
    """The example of the specification (§9.2.2), on an address of ours."""
    pdp = Pdp()
    pdp.says = lambda _: {"decision": True}
    async with pdp.served() as url, asking(url) as point:
        pdp.metadata = {
            "policy_decision_point": url,
            "access_evaluation_endpoint": f"{url}/elsewhere/evaluation",
            "search_subject_endpoint": f"{url}/access/v1/search/subject",
            "search_resource_endpoint": f"{url}/access/v1/search/resource",
        }
        assert await point.evaluate(QUESTION, DOCUMENTS) == [True, True]
    assert [one.path for one in pdp.asked] == [METADATA, *["/elsewhere/evaluation"] * 2]
