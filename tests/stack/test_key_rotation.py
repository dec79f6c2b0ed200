"""Keys are replaced by the operator's command while people and clients are at work.

The services start again one at a time, as in docs/operating.md, and after each start everybody who
was there goes on: a signed-in person, a client with a token, and sign-ins that began before.
"""

import subprocess
import sys
from collections.abc import Iterator
from pathlib import Path
from urllib.parse import urlencode

import pytest

from cli.rotation.command import KEYS, rotate
from demo.run.ports import free_ports
from demo.run.settings import ROOT, Settings
from shared.contracts.wire import JWKS_PATH, Service
from tests.live import ACCOUNTS, LiveStack, link, make_token
from tests.stack.callers import answer, hello, message, post
from tests.stack.connecting import FORM, connect, registered
from tests.visitor import Visitor, ask

pytestmark = pytest.mark.stack

SERVICES = tuple(service.value for service in Service)
CALL = {"name": "list_toys", "arguments": {"query": ""}}
PAGE = {"page": "ui://catalog/view-v1", "surface": "app"}


class Day:
    """A stack, and who is there."""

    def __init__(self, stack: LiveStack) -> None:
        self.stack = stack
        self.ada = stack.visitor("ada")
        self.token = make_token(self.ada)
        self.client = registered(stack.url)
        self.refresh = connect(self.ada, self.client)["refresh token"]

    def rotate_all(self, step: str) -> None:
        """One step for every key there is."""
        for key in KEYS:
            assert rotate([str(self.stack.folder.keys), step, key]) == 0

    def restart(self) -> None:
        """One service at a time; everything goes on after each."""
        for name in SERVICES:
            self.stack.stop(name)
            self.stack.start(name)
            self.goes_on()

    def five_minutes_pass(self) -> None:
        """So long a server keeps the relay's keys; a new process has none yet."""
        self.stack.stop("catalog")
        self.stack.start("catalog")
        self.page_calls()

    def goes_on(self) -> None:
        """Ada's pages and their calls, her token, and a client that refreshes."""
        assert self.ada.get("/auth/tokens").status == 200
        self.page_calls()
        known = self.caller(self.token)
        assert known == {"known": True, "email": "ada@strad.test"}
        got = self.refreshed()
        assert got["scope"] == "mcp"
        self.refresh = got["refresh_token"]
        assert self.caller(got["access_token"]) == known

    def page_calls(self) -> None:
        reply = self.ada.post_json("/apps/catalog/tools/call", CALL | PAGE)
        assert reply.status == 200, reply.text
        assert reply.json()["result"]["structuredContent"]["toys"]

    def caller(self, token: str) -> object:
        """Whom the server sees: it verifies what the relay signs."""
        url = f"{self.stack.url}/mcp/catalog"
        begun = hello(url, token)
        assert begun.status == 200, begun.text
        session = begun.headers["Mcp-Session-Id"]
        reply = post(url, token, message("tools/call", CALL), Mcp_Session_Id=session)
        return answer(reply)["result"]["structuredContent"]["caller"]

    def refreshed(self, status: int = 200) -> dict[str, str]:
        form = {"grant_type": "refresh_token", "refresh_token": self.refresh}
        form |= {"client_id": self.client, "resource": f"{self.stack.url}/mcp"}
        url = f"{self.stack.url}/oauth/token"
        reply = ask(url, "POST", body=urlencode(form), headers=FORM)
        assert reply.status == status, reply.text
        return dict(reply.json())

    def trail(self) -> str:
        """What `strad audit` prints, if it can read all of it."""
        env = {
            "STRAD_KEYS": str(self.stack.folder.keys / "auditor"),
            "STRAD_REDIS": f"redis://127.0.0.1:{self.stack.redis_port}/0",
        }
        command = [sys.executable, "-m", "cli", "audit", "--since", "1h"]
        told = subprocess.run(
            command, cwd=ROOT, env=env, capture_output=True, text=True, check=True
        )
        assert told.stderr == ""
        return told.stdout

    def published(self) -> set[str]:
        """The ids of the keys that servers may read."""
        reply = ask(f"{self.stack.url}{JWKS_PATH}")
        found = reply.json()["keys"]
        assert not any("d" in key for key in found)
        return {key["kid"] for key in found}


@pytest.fixture(scope="module")
def day(tmp_path_factory: pytest.TempPathFactory) -> Iterator[Day]:
    data: Path = tmp_path_factory.mktemp("rotating")
    settings = Settings(free_ports(1, in_a_row=2)[0], data=data / "data")
    with LiveStack(settings) as stack:
        yield Day(stack)


class HalfWay:
    """Somebody who has been sent to the provider, and chooses an account there."""

    def __init__(self, stack: LiveStack) -> None:
        self.visitor = Visitor(stack.url)
        page = self.visitor.get("/auth/sign-in")
        away = self.visitor.get(link(page, "/auth/start"), Sec_Fetch_Site="same-origin")
        self._there = away.location

    def arrives(self) -> int:
        """The status of what the callback says."""
        back = self.visitor.post(self._there, {"person": ACCOUNTS["charles"]})
        return self.visitor.get(back.location, Sec_Fetch_Site="cross-site").status


def test_all_keys_are_replaced_and_nobody_notices_until_the_old_ones_are_dropped(day: Day) -> None:
    (old,) = day.published()
    before, after = HalfWay(day.stack), HalfWay(day.stack)
    day.rotate_all("prepare")
    day.restart()
    assert before.arrives() == 200
    between, both = HalfWay(day.stack), day.published()
    assert len(both) == 2
    assert old in both
    day.five_minutes_pass()
    day.rotate_all("use")
    day.restart()
    # begun under the old key, finished under the new one
    assert [after.arrives(), between.arrives()] == [200, 200]
    assert day.published() == both
    entries = day.trail()
    assert entries.count('"event": "signed-in"') >= 4

    new, late = day.stack.visitor("ada"), HalfWay(day.stack)
    token = make_token(new)
    day.rotate_all("drop")
    for name in SERVICES:
        day.stack.stop(name)
        day.stack.start(name)
    # what the old key sealed is gone, and what the new one sealed is not
    assert day.ada.get("/auth/tokens").status == 303
    assert hello(f"{day.stack.url}/mcp/catalog", day.token).status == 401
    assert day.published() == both - {old}
    assert late.arrives() == 200
    day.ada, day.token = new, token
    # every refresh got a new record, under the newer key
    day.goes_on()
