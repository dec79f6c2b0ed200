"""The same flow with npm's oidc-provider: sign-in, a young proof, its back-channel logout."""

import re
import subprocess
import time
from collections.abc import AsyncIterator
from dataclasses import dataclass
from html import unescape

import pytest

from demo.run.ports import free_ports
from shared.contracts.wire import SESSION_COOKIE
from tests.auth.browser import Browser, Page
from tests.auth.conftest import Auth, StartAuth
from tests.auth.test_process import ROOT
from tests.auth.tokens import make
from tests.conftest import need
from tests.until import answers

pytestmark = pytest.mark.node

NODE = ROOT / "node_modules" / "node" / "bin" / "node"
PACKAGE = ROOT / "node_modules" / "oidc-provider"


@dataclass
class Stand:
    """auth in front of the provider."""

    auth: Auth
    process: "subprocess.Popen[bytes]"

    async def sign_in(self, browser: Browser, name: str, path: str = "/auth/start") -> Page:
        """Through the provider's own pages; whom it knows it sends back at once."""
        page = await browser.get((await self.auth.start(browser, path)).location)
        while not page.location.startswith(self.auth.url):
            page = await browser.get(page.location)
            if page.status == 200:
                typed = {"login": name, "password": "any"} if 'name="login"' in page.text else {}
                page = await browser.post(action(page), hidden(page) | typed)
        return await browser.get(page.location, "cross-site")


def hidden(page: Page) -> dict[str, str]:
    """What a page's form sends besides what is typed."""
    return dict(re.findall(r'type="hidden" name="([^"]+)" value="([^"]*)"', page.text))


def action(page: Page) -> str:
    """Where a page's form leads."""
    found = re.search(r'action="([^"]+)"', page.text)
    assert found, page.text
    address = unescape(found[1])
    return address if address.startswith("http") else "/".join(page.url.split("/")[:3]) + address


@pytest.fixture
async def stand(start_auth: StartAuth) -> AsyncIterator[Stand]:
    need(PACKAGE.exists() and NODE.exists(), "npm's oidc-provider (npm ci)")
    port = free_ports(1)[0]
    auth = await start_auth(
        f"http://127.0.0.1:{port}", provider={"allow": {"people": ["grace@strad.test"]}}
    )
    script = str(ROOT / "tests" / "auth" / "oidc_provider.mjs")
    command = [str(NODE), script, str(port), f"{auth.url}/auth/callback"]
    command.append(f"{auth.url}/auth/back-channel-logout")
    with subprocess.Popen(command, stdout=subprocess.DEVNULL, stderr=subprocess.DEVNULL) as process:
        try:
            answers(f"{auth.issuer}/.well-known/openid-configuration")
            yield Stand(auth, process)
        finally:
            process.terminate()


async def test_a_person_signs_in_is_known_again_and_proves_it_anew_for_a_token(
    stand: Stand,
) -> None:
    auth, browser = stand.auth, stand.auth.browser()
    page = await stand.sign_in(browser, "grace")
    assert page.status == 200, page.text
    sessions = auth.sessions()
    first = await sessions.find(sessions.digest(browser.cookie(auth.url, SESSION_COOKIE) or ""))
    assert first is not None
    assert (first.person.email, first.provider_session is not None) == ("grace@strad.test", True)
    assert (await stand.sign_in(browser, "grace", "/auth/start?fresh=1")).status == 200
    assert await make(auth, browser)


async def test_another_account_can_be_chosen_there_and_may_be_refused_here(stand: Stand) -> None:
    browser = stand.auth.browser()
    assert (await stand.sign_in(browser, "grace")).status == 200
    page = await stand.sign_in(browser, "eve", "/auth/start?choose=1")
    assert page.status == 403
    assert "Reason: <code>not-allowed</code>" in page.text


async def test_signing_out_there_signs_out_here(stand: Stand) -> None:
    auth = stand.auth
    here, elsewhere = auth.browser(), auth.browser()
    for browser in (here, elsewhere):
        assert (await stand.sign_in(browser, "grace")).status == 200
    asked = await here.get(f"{auth.issuer}/session/end")
    token = re.search(r'name="xsrf" value="([^"]+)"', asked.text)
    assert token, asked.text
    await here.post(action(asked), {"xsrf": token[1], "logout": "yes"})
    deadline = time.monotonic() + 10
    while await auth.has_session(here) and time.monotonic() < deadline:
        await here.get(f"{auth.url}/auth/signed-out")
    assert not await auth.has_session(here)
    assert await auth.has_session(elsewhere)
