"""The SDK's example server: fetched, hash-checked and unpacked once, then run on loopback."""

import hashlib
import os
import shutil
import subprocess
import sys
from collections.abc import Iterator
from contextlib import contextmanager
from importlib.util import find_spec
from pathlib import Path

from uv import find_uv_bin

from demo.run.ports import LOOPBACK, free_ports
from demo.run.ready import answers
from tests.peers.process import running

HERE = Path(__file__).parent
LOCK = HERE / "example_server.lock"
BUILD = HERE / "unpack" / "hatchling" / "build.py"
CACHE = HERE.parent.parent / ".cache" / "conformance"
FETCH_SECONDS = 120


class NotFetched(Exception):
    """The archive could not be had, or is not the one that the lock names."""


def unpacked(lock: Path = LOCK, cache: Path = CACHE) -> Path:
    """The folder that holds `mcp_everything_server`, and `mcp_conformance_client`.

    Fetched when the lock is new, or what is taken out of the archive.
    """
    wanted = hashlib.sha256(lock.read_bytes() + BUILD.read_bytes()).hexdigest()[:16]
    folder = cache / wanted
    if not folder.exists():
        part = cache / f"{wanted}.{os.getpid()}"
        shutil.rmtree(part, ignore_errors=True)
        _fetch(lock, part)
        part.rename(folder)
    return folder


def _fetch(lock: Path, target: Path) -> None:
    # No cache of the installer's: its next user must not find our wheel under the SDK's name.
    command = [*_installer(), "--quiet", "--no-deps", "--no-binary=mcp", "--no-build-isolation"]
    command += ["--require-hashes", "--target", str(target), "--requirement", str(lock)]
    environ = {**os.environ, "PYTHONPATH": str(HERE / "unpack")}
    done = subprocess.run(
        command, env=environ, capture_output=True, text=True, timeout=FETCH_SECONDS, check=False
    )
    if done.returncode:
        raise NotFetched(f"the source archive of mcp cannot be fetched:\n{done.stderr}")


def _installer() -> list[str]:
    """pip, as `make` uses it, so that its settings hold here too; uv in an environment without."""
    if find_spec("pip"):
        options = ["--disable-pip-version-check", "--no-cache-dir"]
        return [sys.executable, "-m", "pip", "install", *options]
    return [find_uv_bin(), "pip", "install", "--no-cache", "--python", sys.executable]


@contextmanager
def example_server(log: Path) -> Iterator[str]:
    """The running server; gives the address of its MCP endpoint."""
    (port,) = free_ports(1)
    command = [sys.executable, "-m", "mcp_everything_server", "--port", str(port)]
    command += ["--log-level", "WARNING"]
    variables = {"PYTHONPATH": str(unpacked())}
    with running(command, log, answers(port, "/mcp"), variables):
        yield f"http://{LOOPBACK}:{port}/mcp"
