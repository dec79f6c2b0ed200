"""The SDK's example servers: fetched, hash-checked and unpacked once, then run on loopback.

Two of them: the one of the SDK that this environment has, which speaks every version, and the one
of the SDK before it, which knows nothing of 2026-07-28 and runs on packages of its own.
"""

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
from demo.run.settings import ROOT
from tests.peers.process import running

HERE = Path(__file__).parent
LOCK = HERE / "example_server.lock"
OLDER_LOCK = HERE / "older_example_server.lock"
OLDER_PACKAGES = ROOT / "requirements" / "older-sdk.lock"
BUILD = HERE / "unpack" / "hatchling" / "build.py"
CACHE = ROOT / ".cache" / "conformance"
FETCH_SECONDS = 120


class NotFetched(Exception):
    """The archive could not be had, or is not the one that the lock names."""


def unpacked(lock: Path = LOCK, cache: Path = CACHE) -> Path:
    """The folder that holds `mcp_everything_server`, and `mcp_conformance_client`.

    Fetched when the lock is new, or what is taken out of the archive.
    """
    # No dependencies: the server's own come with the SDK that it runs on.
    options = ["--no-deps", "--no-binary=mcp", "--no-build-isolation"]
    return _kept(lock, BUILD.read_bytes(), options, cache)


def installed(lock: Path = OLDER_PACKAGES, cache: Path = CACHE) -> Path:
    """The folder that holds the packages of a lock, for this Python; no code of theirs is run."""
    return _kept(lock, sys.version.encode(), ["--only-binary=:all:"], cache)


def _kept(lock: Path, more: bytes, options: list[str], cache: Path) -> Path:
    wanted = hashlib.sha256(lock.read_bytes() + more).hexdigest()[:16]
    folder = cache / wanted
    if not folder.exists():
        part = cache / f"{wanted}.{os.getpid()}"
        shutil.rmtree(part, ignore_errors=True)
        _fetch(lock, part, options)
        part.rename(folder)
    return folder


def _fetch(lock: Path, target: Path, options: list[str]) -> None:
    # No cache of the installer's: its next user must not find our wheel under the SDK's name.
    command = [*_installer(), "--quiet", *options, "--require-hashes"]
    command += ["--target", str(target), "--requirement", str(lock)]
    environ = {**os.environ, "PYTHONPATH": str(HERE / "unpack")}
    done = subprocess.run(
        command, env=environ, capture_output=True, text=True, timeout=FETCH_SECONDS, check=False
    )
    if done.returncode:
        raise NotFetched(f"what {lock.name} names cannot be fetched:\n{done.stderr}")


def _installer() -> list[str]:
    """pip, as `make` uses it, so that its settings hold here too; uv in an environment without."""
    if find_spec("pip"):
        options = ["--disable-pip-version-check", "--no-cache-dir"]
        return [sys.executable, "-m", "pip", "install", *options]
    return [find_uv_bin(), "pip", "install", "--no-cache", "--python", sys.executable]


@contextmanager
def example_server(log: Path) -> Iterator[str]:
    """The running server; gives the address of its MCP endpoint."""
    with _served(log, unpacked()) as url:
        yield url


@contextmanager
def older_example_server(log: Path) -> Iterator[str]:
    """The running server of the SDK before 2026-07-28; gives the address of its MCP endpoint."""
    with _served(log, unpacked(OLDER_LOCK), installed()) as url:
        yield url


@contextmanager
def _served(log: Path, *folders: Path) -> Iterator[str]:
    (port,) = free_ports(1)
    command = [sys.executable, "-m", "mcp_everything_server", "--port", str(port)]
    command += ["--log-level", "WARNING"]
    variables = {"PYTHONPATH": os.pathsep.join(map(str, folders))}
    with running(command, log, answers(port, "/mcp"), variables):
        yield f"http://{LOOPBACK}:{port}/mcp"
