"""`make run`: one clear screen, one clean end, whatever ends it."""

import os
import re
import signal
import socket
from collections.abc import Callable
from pathlib import Path

import pytest

from demo.run.ports import LOOPBACK, free_ports, is_free
from tests.stack.terminal import Run, alive, run
from tests.until import until
from tests.visitor import ask

pytestmark = pytest.mark.stack

# guard, redis, provider, catalog, hostile, relay, auth, apphost, edge, and the supervisor
PROCESSES = 10


@pytest.fixture
def port() -> int:
    (found,) = free_ports(1, in_a_row=2)
    return found


def nothing_is_left(pids: list[int], folder: Path, port: int) -> bool:
    gone = until(lambda: not alive(pids) and not folder.exists(), 15)
    return gone and is_free(port) and is_free(port + 1)


def press_ctrl_c(running: Run) -> None:
    running.press(b"\x03")


def close_the_window(running: Run) -> None:
    running.hang_up()


def terminate(running: Run) -> None:
    running.process.terminate()


def kill(running: Run) -> None:
    running.process.kill()


@pytest.mark.parametrize(
    ("end", "status"),
    [(press_ctrl_c, 0), (terminate, 0), (close_the_window, 0), (kill, -signal.SIGKILL)],
)
def test_however_it_ends_nothing_is_left(
    tmp_path: Path, port: int, end: Callable[[Run], None], status: int
) -> None:
    with run(tmp_path, port, terminal=True) as running:
        assert "\033[" in running.ready().painted
        pids, folder = running.processes(), running.folder
        assert len(pids) == PROCESSES
        assert len(alive(pids)) == PROCESSES
        assert ask(f"http://127.0.0.1:{port}/").status == 303
        end(running)
        assert running.ended() == status
        assert nothing_is_left(pids, folder, port)


def test_the_screen_can_be_plain_and_show_the_logs_as_well(tmp_path: Path, port: int) -> None:
    url = f"http://127.0.0.1:{port}"
    with run(tmp_path, port, NO_COLOR="1", VERBOSE="1") as running:
        text = running.ready().screen
        for needed in (url, f"{url}/mcp", f"{url}/auth/tokens", "Ada Lovelace", "Charles Babbage"):
            assert needed in text
        assert "\033" not in running.painted
        # the logs are on the screen as well, each line with the name of its process
        assert until(lambda: re.search(r"auth \| \{.*\"ready\"", running.screen) is not None)
        log = running.folder / "logs" / "auth.log"
        assert '"event":"ready"' in log.read_text()


def test_a_second_run_says_that_the_port_is_taken_and_what_to_type(
    tmp_path: Path, port: int
) -> None:
    for taken in (port, port + 1):
        with socket.create_server((LOOPBACK, taken)), run(tmp_path, port) as running:
            assert running.ended() == 1
        assert f"Port {taken}" in running.screen
        assert re.search(r"make run PORT=\d+", running.screen)


@pytest.mark.parametrize(
    ("command", "words"),
    [
        ("services.relay", r'relay ended by itself \(signal SIGKILL\)[\s\S]*"event":"ready"'),
        ("guard.py", r"guard ended by itself\."),
    ],
)
def test_a_process_that_dies_is_named_and_takes_the_rest_along(
    tmp_path: Path, port: int, command: str, words: str
) -> None:
    with run(tmp_path, port) as running:
        running.ready()
        pids, folder = running.processes(), running.folder
        (pid,) = running.processes(command)
        os.kill(pid, signal.SIGKILL)
        assert running.ended() == 1
        assert re.search(words, running.screen)
        assert nothing_is_left(pids, folder, port)


def test_ctrl_c_while_it_starts_is_an_end_too(tmp_path: Path, port: int) -> None:
    with run(tmp_path, port, terminal=True) as running:
        assert until(lambda: len(running.processes()) >= PROCESSES - 1, 20)
        pids = running.processes()
        press_ctrl_c(running)
        assert running.ended() == 0
        assert until(lambda: not alive(pids), 15)
        assert is_free(port)


@pytest.mark.parametrize(
    ("text", "words"),
    [
        ("servers: [\n", "is not YAML"),
        ("public_url: http://strad.example.com\n", "use https"),
        ("public_url: http://127.0.0.1:1\nservres: []\n", "servres: is not a setting"),
    ],
)
def test_a_wrong_configuration_is_explained_before_anything_starts(
    tmp_path: Path, port: int, text: str, words: str
) -> None:
    config = tmp_path / "strad.yaml"
    config.write_text(text)
    with run(tmp_path, port, STRAD_CONFIG=str(config)) as running:
        assert running.ended() == 1
    assert words in running.screen
    assert "fix:" in running.screen
    assert "Traceback" not in running.screen


@pytest.mark.parametrize(
    ("file", "words"),
    [
        ("keys/auth/seal.key", "run `strad keys`"),
        ("redis/appendonlydir/appendonly.aof.manifest", "manifest"),
    ],
)
def test_what_is_spoilt_on_disk_is_told_by_the_process_that_reads_it(
    tmp_path: Path, port: int, file: str, words: str
) -> None:
    data = tmp_path / "data"
    path = data / file
    path.parent.mkdir(parents=True)
    path.write_text("not what it should be\n")
    with run(tmp_path, port, STRAD_DATA=str(data)) as running:
        assert running.ended() == 1
    assert "ended by itself (exit status 1)" in running.screen
    assert words in running.screen
    assert path.exists(), "a given folder is not removed"
