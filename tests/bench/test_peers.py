"""Other relays are measured where they can be had. No test needs or installs one."""

import hashlib
import os
import signal
import subprocess
import sys
from collections.abc import Iterator
from contextlib import contextmanager
from dataclasses import replace
from pathlib import Path

import pytest

from demo.run.ports import LOOPBACK, free_ports
from demo.run.ready import answers
from tests.bench.caller import Call, Era
from tests.bench.peers import beside, start_contextforge, start_fastmcp, table
from tests.bench.peers.installed import Installed, NotInstalled, Package, installed
from tests.bench.peers.peer import Peer
from tests.bench.rounds import Cell, Sample
from tests.bench.usage import family, family_mib, resident_mib
from tests.peers.process import running
from tests.until import until

PACKAGES = (start_fastmcp.PACKAGE, start_contextforge.PACKAGE)
LOAD = beside.Load(rounds=2, quick=4, slow=3, warm=1, callers=(1, 2))
NOWHERE = Installed(Path("/nowhere"), "1.0", "3.12.0")


@contextmanager
def hop(folder: Path, found: Installed, server: str) -> Iterator[Peer]:
    """The forwarder in the place of another relay."""
    (port,) = free_ports(1)
    command = [sys.executable, "-m", "tests.bench.forwarder", str(port), server]
    with running(command, folder / "hop.log", answers(port, "/"), {}) as process:
        yield Peer(Call(f"http://{LOOPBACK}:{port}/mcp", Era.MODERN), (process,))


@contextmanager
def liar(folder: Path, found: Installed, server: str) -> Iterator[Peer]:
    """One whose answers are not the tool's."""
    with hop(folder, found, server) as peer:
        yield replace(peer, call=replace(peer.call, expect=b"something else"))


def not_here(package: Package) -> Installed:
    """What cannot be had here is told as it is."""
    if package is start_contextforge.PACKAGE:
        raise NotInstalled("no Python of its own")
    return NOWHERE


@pytest.mark.stack
def test_others_are_measured_beside_the_relay_and_what_fails_is_named(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    starts = {
        "good": (start_fastmcp.PACKAGE, hop),
        "liar": (start_fastmcp.PACKAGE, liar),
        "absent": (start_contextforge.PACKAGE, hop),
    }
    monkeypatch.setattr(beside, "PEERS", starts)
    monkeypatch.setattr(beside, "installed", not_here)
    found = beside.measure(tmp_path, LOAD, lambda _: None)
    measured = {(cell.way, cell.era, cell.callers) for cell in found.samples}
    for era in Era:
        for callers in LOAD.callers:
            assert {("relay", era, callers), ("good", era, callers)} <= measured
    # an answer that is not the result is no fast answer
    assert not any(way == "liar" for way, _, _ in measured)
    text = table.text(found, LOAD)
    assert "| 2026-07-28 | 2 | good |" in text
    assert "- Not measured: absent, not started: no Python of its own" in text
    assert "- Not measured: liar at 2025-11-25, stopped with 1 callers: " in text
    assert "Others: fastmcp 1.0 on Python 3.12.0." in text
    assert all(end > 0 for _, end in found.memory.values())


def test_the_table_says_how_many_times_less_the_relay_takes() -> None:
    cell = Cell("stub", Era.LEGACY, 16, "relay")
    one = Sample(p50=7.0, p99=12.0, per_second=2000.0, cpu_ms=0.5)
    other = Sample(p50=400.0, p99=900.0, per_second=40.0, cpu_ms=25.0)
    found = beside.Beside({cell: one, cell._replace(way="x"): other}, {"x": (90.0, 120.0)})
    text = table.text(found, LOAD)
    assert "| 2025-11-25 | 16 | x | 400.00 | 900.0 | 40 | 25.00 | 50.0 |" in text
    assert "| 2025-11-25 | 16 | relay | 7.00 | 12.0 | 2000 | 0.50 | 1.0 |" in text
    assert "| x | 90 | 120 |" in text


@pytest.mark.parametrize("package", PACKAGES, ids=lambda package: package.name)
def test_each_has_a_lock_with_hashes(package: Package) -> None:
    text = package.lock.read_text()
    assert f"\n{package.distribution}==" in text.replace("[redis]", "")
    assert "--hash=sha256:" in text


def test_a_python_that_is_nowhere_is_a_reason_and_no_crash(tmp_path: Path) -> None:
    package = replace(start_fastmcp.PACKAGE, least=(3, 90), below=(3, 91))
    with pytest.raises(NotInstalled, match=r"^needs Python >=3\.90,<3\.91; none is found"):
        installed(package, tmp_path)


def test_an_environment_of_the_same_lock_is_not_made_again(tmp_path: Path) -> None:
    package = replace(start_fastmcp.PACKAGE, distribution="aiohttp")
    folder = tmp_path / package.name
    (folder / "bin").mkdir(parents=True)
    # a Python with no uv and no network behind it
    (folder / "bin" / "python").write_text(f'#!/bin/sh\nexec "{sys.executable}" "$@"\n')
    (folder / "bin" / "python").chmod(0o755)
    wanted = hashlib.sha256(package.lock.read_bytes()).hexdigest()
    (folder / "lock.sha256").write_text(wanted)
    made = (folder / "lock.sha256").stat().st_mtime_ns
    found = installed(package, tmp_path)
    assert found.version.startswith("3.")
    assert (folder / "lock.sha256").stat().st_mtime_ns == made


def test_a_process_counts_with_those_that_it_started() -> None:
    command = ["sh", "-c", "sleep 60 & wait"]
    process = subprocess.Popen(command, start_new_session=True)
    try:
        assert until(lambda: len(family(process.pid)) == 2)
        assert family(process.pid)[0] == process.pid
        assert family_mib(process.pid) > resident_mib(process.pid)
    finally:
        os.killpg(process.pid, signal.SIGKILL)
        process.wait()
