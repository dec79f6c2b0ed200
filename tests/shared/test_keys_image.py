"""The command where there are no services beside it, as in the image that makes keys."""

import shutil
import subprocess
import sys
from pathlib import Path

import pytest

ROOT = Path(__file__).parent.parent.parent


@pytest.mark.parametrize(
    ("command", "fix"),
    [
        ("sessions end ada@strad.test", "exec auth python -m services.auth.operator sessions end"),
        ("refresh", "exec relay python -m services.relay.refresh"),
    ],
)
def test_a_command_of_a_service_says_where_it_goes(tmp_path: Path, command: str, fix: str) -> None:
    for name in ("cli", "shared"):
        shutil.copytree(ROOT / name, tmp_path / name)
    done = subprocess.run(
        [sys.executable, "-m", "cli", *command.split()],
        cwd=tmp_path,
        capture_output=True,
        text=True,
        check=False,
    )
    assert (done.returncode, fix in done.stderr, "Traceback" in done.stderr) == (1, True, False)
