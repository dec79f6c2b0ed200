"""Nothing outlives the supervisor, however it ends."""

import os
import signal
import sys
import time
from pathlib import Path

import pytest

from demo.run import guard
from demo.run.child import Child, start_guard
from tests.until import until

OBEDIENT = "import time; print('up', flush=True); time.sleep(60)"
STUBBORN = f"import signal; signal.signal(signal.SIGTERM, signal.SIG_IGN); {OBEDIENT}"


@pytest.mark.parametrize(
    ("script", "number"), [(OBEDIENT, signal.SIGTERM), (STUBBORN, signal.SIGKILL)]
)
def test_when_the_pipe_closes_the_group_ends_and_the_folder_goes(
    tmp_path: Path, script: str, number: int
) -> None:
    folder = tmp_path / "run"
    folder.mkdir()
    (folder / "secret.key").write_text("x")
    process = start_guard(folder)
    child = Child("child", tmp_path / "child.log", process.pid)
    child.start([sys.executable, "-c", script], os.environ, tmp_path)
    assert until(lambda: child.tail() == "up", 10)
    process.communicate()  # closes the pipe, as the supervisor's death does
    assert child.ended(guard.GRACE_SECONDS + 5)
    assert child.exit_status == f"signal {signal.Signals(number).name}"
    assert until(lambda: not folder.exists(), 5)


def test_the_signals_of_a_terminal_do_not_end_the_guard(tmp_path: Path) -> None:
    process = start_guard(None)
    child = Child("child", tmp_path / "child.log", process.pid)
    child.start([sys.executable, "-c", STUBBORN], os.environ, tmp_path)
    assert until(lambda: child.tail() == "up", 10)
    for number in (signal.SIGINT, signal.SIGTERM, signal.SIGHUP):
        process.send_signal(number)
    time.sleep(0.2)
    assert process.poll() is None
    os.killpg(process.pid, signal.SIGKILL)
    process.communicate()
    assert child.ended(5)
