"""The SDK's example server: fetched, hash-checked and unpacked once, then run on loopback."""

import hashlib
import os
import shutil
import subprocess
import sys
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path

from uv import find_uv_bin

from demo.run.ports import LOOPBACK, free_ports
from demo.run.ready import answers
from tests.peers.process import running

HERE = Path(__file__).parent
LOCK = HERE / "example_server.lock"
CACHE = HERE.parent.parent / ".cache" / "conformance"
FETCH_SECONDS = 120


class NotFetched(Exception):
    """The archive could not be had, or is not the one that the lock names."""


def unpacked() -> Path:
    """The folder that holds `mcp_everything_server`; fetches it when the lock is new."""
    wanted = hashlib.sha256(LOCK.read_bytes()).hexdigest()[:16]
    folder = CACHE / wanted
    if not folder.exists():
        part = CACHE / f"{wanted}.{os.getpid()}"
        shutil.rmtree(part, ignore_errors=True)
        _fetch(part)
        part.rename(folder)
    return folder


def _fetch(target: Path) -> None:
    # No cache of the installer's: its next user must not find our wheel under the SDK's name.
    options = ["--no-cache", "--no-deps", "--no-binary=mcp", "--no-build-isolation"]
    argv = [find_uv_bin(), "pip", "install", "--quiet", *options, "--require-hashes"]
    argv += ["--python", sys.executable, "--target", str(target), "--requirement", str(LOCK)]
    environ = {**os.environ, "PYTHONPATH": str(HERE / "unpack")}
    done = subprocess.run(
        argv, env=environ, capture_output=True, text=True, timeout=FETCH_SECONDS, check=False
    )
    if done.returncode:
        raise NotFetched(f"the source archive of mcp cannot be fetched:\n{done.stderr}")


@contextmanager
def example_server(log: Path) -> Iterator[str]:
    """The running server; gives the address of its MCP endpoint."""
    (port,) = free_ports(1)
    command = [sys.executable, "-m", "mcp_everything_server", "--port", str(port)]
    command += ["--log-level", "WARNING"]
    variables = {"PYTHONPATH": str(unpacked())}
    with running(command, log, answers(port, "/mcp"), variables):
        yield f"http://{LOOPBACK}:{port}/mcp"
