"""The bench runs, and writes only what it may. It says nothing of how fast anything is."""

from collections.abc import Iterator
from pathlib import Path

import pytest

from tests.bench import pages, people, report, rounds, sessions, startup, streams, tables
from tests.bench.caller import Call, CallFailed, Era
from tests.bench.paths import SERVERS, WAYS, Paths, paths
from tests.bench.rounds import Load, Sample
from tests.bench.startup import Startup
from tests.live import LiveStack

LOAD = Load(rounds=1, alone=3, crowd=8, callers=(4,))


@pytest.fixture(scope="module")
def ways(tmp_path_factory: pytest.TempPathFactory) -> Iterator[Paths]:
    """Servers, forwarders and a relay."""
    with paths(tmp_path_factory.mktemp("bench")) as found:
        yield found


@pytest.mark.stack
async def test_every_way_to_every_server_is_measured_in_both_eras(ways: Paths) -> None:
    samples = await rounds.measure(ways, LOAD, lambda _: None)
    assert len(samples) == len(SERVERS) * len(WAYS) * len(Era) * 2
    for cell, sample in samples.items():
        assert sample.p50 > 0
        assert (sample.cpu_ms > 0) is (cell.way != "direct")


@pytest.mark.stack
async def test_a_refused_call_is_not_counted_as_a_fast_one(ways: Paths) -> None:
    call = ways.call("relay", "stub", Era.MODERN)
    without_token = Call(call.url, call.era, {"Host": call.headers["Host"]})
    with pytest.raises(ExceptionGroup) as failed:
        await without_token.measure(1, 1)
    assert failed.group_contains(CallFailed, match="401")


@pytest.mark.stack
async def test_the_whole_stack_is_started_and_called(tmp_path: Path) -> None:
    found = await startup.measure(tmp_path, 1, 8, lambda _: None)
    assert found.ready > 0
    assert all(after > 0 for _, after in found.memory.values())
    assert "relay" in found.memory


@pytest.mark.stack
@pytest.mark.browser
async def test_a_page_is_opened_and_its_result_comes_both_ways(
    stack: LiveStack, tmp_path: Path
) -> None:
    with pages.pages(tmp_path, stack) as found:
        served = await pages.served(found, 2)
        shown = await pages.shown(found, 1)
    assert set(served) == {(part, way) for part in ("host page", "frame") for way in pages.WAYS}
    assert set(shown) == set(pages.WAYS)
    for times in (*served.values(), *shown.values()):
        assert 0 < times.percentile(0.5) < 30
    # the very same page
    assert b"</html>" in (tmp_path / "frame").read_bytes()
    text = tables.pages(served, shown)
    assert "2 requests of each kind, and 1 openings in Chromium" in text
    assert "| to the result in the page | strad |" in text


@pytest.mark.stack
@pytest.mark.parametrize("kind", streams.KINDS)
def test_streams_are_opened_and_all_of_them_are_told(kind: str, tmp_path: Path) -> None:
    found = streams.measure(kind, 5, 3, tmp_path, rest=0.2)
    assert found.mib[1] > 0
    assert 0 < found.told[0] <= found.told[1]
    assert f"| {kind} | 5 |" in tables.streams([found])


@pytest.mark.stack
@pytest.mark.parametrize("view", sessions.VIEWS)
def test_sessions_are_opened_and_each_is_called(view: str, tmp_path: Path) -> None:
    found = sessions.measure(view, [2, 5], 3, tmp_path)
    assert [(one.number, len(one.one.each), len(one.turn.each)) for one in found.steps] == [
        (2, 3, 3),
        (5, 3, 5),
    ]
    assert all(one.turn.cpu > 0 for one in found.steps)
    text = tables.sessions({view: found})
    assert f"| {view} | 0 |" in text
    assert f"| {view} | 5 |" in text


@pytest.mark.parametrize(("begin", "end"), report.MARKS.values())
def test_the_words_around_a_measured_part_stay(tmp_path: Path, begin: str, end: str) -> None:
    document = tmp_path / "performance.md"
    document.write_text(f"before\n{begin}old\n{end}after\n")
    report.write("new", begin, end, document)
    assert document.read_text() == f"before\n{begin}\nnew\n\n{end}after\n"


def test_the_document_has_every_part() -> None:
    text = report.DOCUMENT.read_text()
    for mark in (mark for pair in report.MARKS.values() for mark in pair):
        assert text.count(mark) == 1


def test_a_document_without_marks_is_left_alone(tmp_path: Path) -> None:
    document = tmp_path / "performance.md"
    document.write_text("mine\n")
    with pytest.raises(ValueError, match="lost its marks"):
        report.write("new", *report.MARKS["calls"], document)
    assert document.read_text() == "mine\n"


def test_the_report_names_each_way_and_each_process() -> None:
    cell = rounds.Cell("sdk", Era.LEGACY, 32, "relay")
    hop = cell._replace(way="forwarder")
    whole = Startup(1.25, {"relay": (60.0, 70.0)}, 100)
    samples = {cell: Sample(1.5, 9.0, 640.0, 0.7), hop: Sample(1.0, 5.0, 900.0, 0.2)}
    text = report.text(samples, LOAD, whole)
    assert "| SDK server | 2025-11-25 | 32 | relay | 1.50 | 9.0 | 640 | 0.70 | 3.5 |" in text
    assert "| SDK server | 2025-11-25 | 32 | forwarder | 1.00 | 5.0 | 900 | 0.20 | 1.0 |" in text
    assert "| relay | 60 | 70 |" in text


async def test_a_large_file_and_its_grants_are_measured(tmp_path: Path) -> None:
    size = people.Size(people=30, servers=10, looks=20)
    cost = await people.measure(tmp_path, size, lambda _: None)
    assert cost.read > 0
    assert len(cost.index.each) == len(cost.again.each) == 20
    assert len(cost.first.each) == 30
    text = tables.people([cost, cost])
    assert "| what | 30 people, 10 servers | 30 people, 10 servers |" in text
