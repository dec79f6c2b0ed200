"""What a person reads."""

import io
import json
import re
import socket
from collections.abc import Iterator
from pathlib import Path
from types import SimpleNamespace
from typing import Any

import pytest

from demo.run.folder import Folder
from demo.run.plan import Plan, Ports
from demo.run.ports import LOOPBACK, free_ports, is_free
from demo.run.screen import Screen
from demo.run.settings import Settings
from demo.run.stack import PartFailed, PortTaken


class Terminal(io.StringIO):
    def isatty(self) -> bool:
        return True


@pytest.fixture
def ready(tmp_path: Path) -> Iterator[Any]:
    """What the screen reads of a stack that is ready, without one."""
    settings = Settings(port=8123)
    folder = Folder(tmp_path / "data")
    plan = Plan(settings, folder, Ports.choose(settings))
    url = settings.public_url
    yield SimpleNamespace(settings=settings, folder=folder, plan=plan, url=url, ready_seconds=2.5)
    folder.close()


def shown(ready: Any, out: io.StringIO, **environ: str) -> str:
    Screen(out, environ).ready(ready)
    return out.getvalue()


def test_the_screen_has_all_that_a_newcomer_needs(ready: Any) -> None:
    text = shown(ready, io.StringIO())
    for needed in (
        "http://127.0.0.1:8123\n",
        "Ada Lovelace",
        "Charles Babbage",
        "http://127.0.0.1:8123/mcp ",
        "http://127.0.0.1:8123/mcp/catalog",
        "http://127.0.0.1:8123/auth/tokens",
        str(ready.folder.logs),
        "Ctrl-C ends it",
    ):
        assert needed in text
    assert max(map(len, text.splitlines())) <= 100


def test_the_snippet_can_be_pasted_as_it_is(ready: Any) -> None:
    text = shown(ready, io.StringIO())
    found = re.search(r"^ *\{$.*^ *\}$", text, re.MULTILINE | re.DOTALL)
    assert found
    server = json.loads(found[0])["mcpServers"]["strad"]
    assert server["url"] == "http://127.0.0.1:8123/mcp"
    assert server["headers"]["Authorization"].startswith("Bearer ")


def test_colours_are_for_terminals_that_want_them(ready: Any) -> None:
    assert "\033[" in shown(ready, Terminal(), TERM="xterm")
    assert "\033[" not in shown(ready, Terminal(), TERM="xterm", NO_COLOR="1")
    assert "\033[" not in shown(ready, Terminal(), TERM="dumb")
    assert "\033[" not in shown(ready, io.StringIO(), TERM="xterm")


def test_without_colours_the_words_are_the_same(ready: Any) -> None:
    coloured = shown(ready, Terminal(), TERM="xterm")
    assert re.sub(r"\033\[\d*m", "", coloured) == shown(ready, io.StringIO())


def test_a_taken_port_is_told_with_a_command_that_works() -> None:
    first = free_ports(1, in_a_row=30)[0]
    out = io.StringIO()
    # the second pair is half taken, so it must not be the advice
    with socket.create_server((LOOPBACK, first + 11)):
        Screen(out, {}).port_taken(PortTaken(first, "the one that people use", "is taken"), first)
    assert f"Port {first}" in out.getvalue()
    found = re.search(r"make run PORT=(\d+)", out.getvalue())
    assert found
    assert int(found[1]) == first + 20
    assert is_free(int(found[1]))


def test_a_process_that_failed_is_named_with_its_last_words() -> None:
    out = io.StringIO()
    Screen(out, {}).failed(PartFailed("relay", "ended by itself (exit status 1)", "one\ntwo"))
    assert "relay ended by itself (exit status 1)." in out.getvalue()
    assert "  one\n  two" in out.getvalue()
