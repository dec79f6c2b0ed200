"""The audit trail of the whole stack, as the operator's command reads it; also when parts break."""

import http.client
import json
import os
import signal
import subprocess
import sys
from collections.abc import Iterator
from contextlib import closing, contextmanager
from typing import Any

import pytest

from demo.run.settings import ROOT
from tests.live import LiveStack
from tests.stack.callers import hello, message, post
from tests.until import until

pytestmark = pytest.mark.stack

# `fragile` gives its other server two seconds to answer, too few to read the trail meanwhile
SERVER, TOOL = "hostile", "open_escape_room"
PATH = f"/mcp/{SERVER}"
CALL = message("tools/call", {"name": TOOL, "arguments": {}})


def trail(stack: LiveStack, *arguments: str) -> list[dict[str, Any]]:
    """What `strad audit` prints."""
    places = {
        "STRAD_REDIS": f"redis://127.0.0.1:{stack.redis_port}/0",
        "STRAD_KEYS": str(stack.folder.keys / "auditor"),
    }
    command = [sys.executable, "-m", "cli", "audit", "--since", "1h", *arguments]
    done = subprocess.run(
        command, cwd=ROOT, env=os.environ | places, capture_output=True, text=True, check=True
    )
    return [json.loads(line) for line in done.stdout.splitlines()]


def calls(stack: LiveStack, session: str) -> list[dict[str, Any]]:
    """The entries of tool calls that one token made."""
    found = [one for one in trail(stack) if one.get("method") == "tools/call"]
    return [one for one in found if one.get("session") == session]


def tokens(stack: LiveStack) -> set[str]:
    """How the trail names the tokens that were used."""
    return {one["session"] for one in trail(stack) if one.get("method") == "initialize"}


def connected(stack: LiveStack) -> "closing[http.client.HTTPConnection]":
    return closing(http.client.HTTPConnection("127.0.0.1", stack.settings.port, timeout=30))


@contextmanager
def under_way(
    stack: LiveStack, token: str, connection: http.client.HTTPConnection
) -> Iterator[str]:
    """A call whose server stands still for as long as the block lasts. Gives the trail's name of a
    token that is used for the first time."""
    before = tokens(stack)
    session = hello(f"{stack.url}{PATH}", token).headers["Mcp-Session-Id"]
    headers = {
        "Authorization": f"Bearer {token}",
        "Accept": "application/json, text/event-stream",
        "Content-Type": "application/json",
        "Mcp-Session-Id": session,
        "MCP-Protocol-Version": "2025-11-25",
    }
    assert until(lambda: len(tokens(stack) - before) == 1, 30)
    (name,) = tokens(stack) - before
    stack.child(SERVER).signal(signal.SIGSTOP)
    try:
        connection.request("POST", PATH, body=CALL, headers=headers)
        yield name
    finally:
        stack.child(SERVER).signal(signal.SIGCONT)


def call_again(stack: LiveStack, token: str) -> int:
    session = hello(f"{stack.url}{PATH}", token).headers["Mcp-Session-Id"]
    return post(f"{stack.url}{PATH}", token, CALL, Mcp_Session_Id=session).status


def test_what_people_did_and_what_they_were_refused_is_told(stack: LiveStack) -> None:
    ada, charles = stack.token("ada"), stack.token("charles")
    assert call_again(stack, ada) == 200
    assert hello(f"{stack.url}{PATH}", charles).status == 404

    def told() -> bool:
        found = trail(stack, "--person", "ada@strad.test", "--server", SERVER)
        return any(one.get("tool") == TOOL and "running" not in one for one in found)

    assert until(told, 20)
    events = {one["event"] for one in trail(stack, "--person", "ada@strad.test")}
    assert {"signed-in", "token-created", "request"} <= events
    refused = trail(stack, "--person", "charles@strad.test", "--server", SERVER)
    assert (refused[-1]["event"], refused[-1]["reason"]) == ("denied", "not-entitled")


def test_a_call_that_a_crash_cut_off_is_told_and_the_next_one_works(fragile: LiveStack) -> None:
    token = fragile.token("ada")
    with connected(fragile) as connection, under_way(fragile, token, connection) as session:
        assert until(lambda: len(calls(fragile, session)) == 1, 30)
        fragile.stop("relay", kill=True)
        response = connection.getresponse()
        assert response.status in {502, 503, 504}
        response.read()
    fragile.start("relay")
    assert call_again(fragile, token) == 200
    assert calls(fragile, session)[0]["running"] is True


def test_a_call_that_ends_while_redis_is_away_is_told_when_it_is_back(fragile: LiveStack) -> None:
    token = fragile.token("ada")
    with connected(fragile) as connection:
        with under_way(fragile, token, connection) as session:
            assert until(lambda: len(calls(fragile, session)) == 1, 30)
            fragile.stop("redis", kill=True)
        try:
            response = connection.getresponse()
            assert response.status == 200
            assert b"The escape room is open" in response.read()
        finally:
            fragile.start("redis")

    def told() -> bool:
        ends = [one for one in calls(fragile, session) if "running" not in one]
        return [one["outcome"] for one in ends] == ["result"]

    assert until(told, 30)
    assert call_again(fragile, token) == 200
