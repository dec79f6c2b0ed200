"""Ending in order: what is under way is finished or broken off; nothing is waited for for ever."""

import http.client
import json
import os
import signal
import time
from collections.abc import Iterator
from contextlib import contextmanager

import pytest

from demo.run.ports import free_ports
from demo.run.settings import Settings
from tests.live import LiveStack
from tests.stack.callers import hello, message, post

pytestmark = pytest.mark.stack


@contextmanager
def open_stream(stack: LiveStack, token: str) -> Iterator[http.client.HTTPResponse]:
    """A client's GET stream, as the SDK keeps one open for as long as it runs."""
    session = hello(f"{stack.url}/mcp/catalog", token).headers["Mcp-Session-Id"]
    more = {"Mcp_Session_Id": session}
    post(f"{stack.url}/mcp/catalog", token, message("notifications/initialized", id_=None), **more)
    connection = http.client.HTTPConnection("127.0.0.1", stack.settings.port, timeout=20)
    headers = {
        "Authorization": f"Bearer {token}",
        "Accept": "text/event-stream",
        "Mcp-Session-Id": session,
        "MCP-Protocol-Version": "2025-11-25",
    }
    connection.request("GET", "/mcp/catalog", headers=headers)
    try:
        yield connection.getresponse()
    finally:
        connection.close()


def test_an_open_stream_does_not_hold_up_the_end() -> None:
    with LiveStack(Settings(port=free_ports(1, in_a_row=2)[0])) as stack:
        with open_stream(stack, stack.token("ada")) as stream:
            assert stream.status == 200
            stack.close()
        statuses = {name: stack.child(name).exit_status for name in stack.names}
    # only the edge may have been cut off; all behind it ended by themselves when they were asked
    # to, and in time: who takes too long is killed
    del statuses["edge"]
    assert set(statuses.values()) == {"exit status 0"}, statuses


def test_the_signals_of_a_terminal_reach_only_the_supervisor(stack: LiveStack) -> None:
    groups = {os.getpgid(stack.child(name).pid) for name in stack.names}
    assert groups == {stack.group}
    assert os.getpgid(0) not in groups


def test_a_call_under_way_is_answered_before_a_service_ends(fragile: LiveStack) -> None:
    token = fragile.token("ada")
    url = f"{fragile.url}/mcp/catalog"
    session = hello(url, token).headers["Mcp-Session-Id"]
    connection = http.client.HTTPConnection("127.0.0.1", fragile.settings.port, timeout=20)
    fragile.child("catalog").signal(signal.SIGSTOP)
    try:
        body = message("tools/call", {"name": "list_toys", "arguments": {}})
        headers = {
            "Authorization": f"Bearer {token}",
            "Accept": "application/json, text/event-stream",
            "Content-Type": "application/json",
            "Mcp-Session-Id": session,
            "MCP-Protocol-Version": "2025-11-25",
        }
        connection.request("POST", "/mcp/catalog", body=body, headers=headers)
        time.sleep(0.5)
        fragile.child("relay").signal(signal.SIGTERM)
        time.sleep(0.3)
        assert fragile.child("relay").running, "it waits for its call"
    finally:
        fragile.child("catalog").signal(signal.SIGCONT)
    response = connection.getresponse()
    assert response.status == 200
    text = response.read().decode()
    value = json.loads(text if text.startswith("{") else text.partition("data:")[2])
    assert value["result"]["structuredContent"]["toys"]
    connection.close()
    assert fragile.child("relay").ended(10)
    assert fragile.child("relay").exit_status == "exit status 0"
    fragile.start("relay")
