"""The two MCP servers start with one line, keep to loopback unless told, and end quietly."""

import os
import signal
import socket
import subprocess
import sys
from collections.abc import Iterator
from contextlib import contextmanager

import httpx2
import pytest

from demo.serve import Address, bind

SERVERS = ("catalog", "hostile")
LIST = {"jsonrpc": "2.0", "id": 1, "method": "tools/list", "params": {}}
HEADERS = {"Accept": "application/json, text/event-stream", "MCP-Protocol-Version": "2025-11-25"}


@contextmanager
def started(name: str, **environ: str) -> Iterator[tuple[subprocess.Popen[str], str]]:
    """The process and the address that its line says."""
    with subprocess.Popen(
        [sys.executable, "-W", "error", "-m", f"demo.{name}"],
        env=os.environ | {"PORT": "0"} | environ,
        stdout=subprocess.PIPE,
        stderr=subprocess.PIPE,
        text=True,
    ) as process:
        assert process.stdout is not None
        line = process.stdout.readline()
        try:
            yield process, line.rpartition(" ")[2].strip()
        finally:
            process.kill()


@pytest.mark.parametrize("name", SERVERS)
@pytest.mark.parametrize("ending", [signal.SIGTERM, signal.SIGINT])
def test_a_server_answers_and_ends_quietly(name: str, ending: signal.Signals) -> None:
    with started(name) as (process, url):
        assert url.startswith("http://127.0.0.1:")
        assert httpx2.get(url.replace("/mcp", "/healthz")).text == "ok"
        assert httpx2.post(url, json=LIST, headers=HEADERS).status_code == 200
        process.send_signal(ending)
        rest, errors = process.communicate(timeout=10)
    assert (process.returncode, rest, errors) == (0, "", "")


def test_only_its_own_names_and_the_allowed_ones_reach_a_server() -> None:
    address = Address("0.0.0.0", 8080, "http://catalog.test/mcp", ("other.test",))
    rules = address.transport_security()
    assert rules.enable_dns_rebinding_protection
    assert rules.allowed_hosts == ["catalog.test", "127.0.0.1:8080", "other.test"]
    assert rules.allowed_origins == []


def test_an_answer_does_not_wait_for_an_acknowledgement() -> None:
    sock, address = bind({"PORT": "0"})
    with sock, socket.create_connection((address.host, address.port), timeout=2):
        accepted, _ = sock.accept()
        with accepted:
            assert accepted.getsockopt(socket.IPPROTO_TCP, socket.TCP_NODELAY) != 0


def test_the_environment_is_read() -> None:
    sock, address = bind({"ALLOWED_HOSTS": " a.test , b.test,", "PORT": "0"})
    with sock:
        port = sock.getsockname()[1]
        assert sock.getsockname()[0] == "127.0.0.1"
    own = f"http://127.0.0.1:{port}/mcp"
    assert address == Address("127.0.0.1", port, own, ("a.test", "b.test"))


@pytest.mark.parametrize("wrong", [{"PORT": "eighty"}, {"PORT": "70000"}, {"HOST": "192.0.2.7"}])
def test_a_mistake_is_told_without_a_traceback(wrong: dict[str, str]) -> None:
    done = subprocess.run(
        [sys.executable, "-m", "demo.hostile"],
        env=os.environ | {"PORT": "0"} | wrong,
        capture_output=True,
        text=True,
        check=False,
        timeout=30,
    )
    assert done.returncode == 1
    assert done.stderr.startswith("demo hostile cannot start: ")
    assert "Traceback" not in done.stderr
