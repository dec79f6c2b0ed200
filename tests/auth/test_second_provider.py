"""The same flow with a provider that somebody else wrote: oidc-provider-mock."""

import socket
import subprocess
import sys
from collections.abc import Iterator

import pytest

from shared.contracts.wire import SESSION_COOKIE
from tests.auth.conftest import Auth, StartAuth
from tests.until import answers

GRACE = '{"sub":"grace","email":"grace@strad.test","email_verified":true,"name":"Grace Hopper"}'
UNVERIFIED = '{"sub":"mallory","email":"grace@strad.test","email_verified":false}'


@pytest.fixture(scope="module")
def mock_issuer() -> Iterator[str]:
    """The mock in a process of its own; it warns too much to live in this one."""
    with socket.create_server(("127.0.0.1", 0)) as sock:
        port = sock.getsockname()[1]
    command = [sys.executable, "-W", "ignore", "-m", "oidc_provider_mock", "--port", str(port)]
    command += ["--require-nonce", "true", "--user-claims", GRACE, "--user-claims", UNVERIFIED]
    with subprocess.Popen(command, stderr=subprocess.DEVNULL, stdout=subprocess.DEVNULL) as process:
        try:
            answers(f"http://127.0.0.1:{port}/.well-known/openid-configuration")
            yield f"http://127.0.0.1:{port}"
        finally:
            process.terminate()


@pytest.fixture
async def mocked(start_auth: StartAuth, mock_issuer: str) -> Auth:
    allow = {"allow": {"people": ["grace@strad.test"]}, "client_secret": {"env": "UNUSED"}}
    return await start_auth(mock_issuer, provider=allow)


async def test_a_person_signs_in_there_too(mocked: Auth) -> None:
    browser = mocked.browser()
    question = await mocked.start(browser, "/auth/start?return_to=/apps/toys")
    answer = await browser.post(question.location, {"sub": "grace"})
    page = await browser.get(answer.location, "cross-site")
    assert page.status == 200, page.text
    assert 'content="0;url=/apps/toys"' in page.text
    sessions = mocked.sessions()
    session = await sessions.find(sessions.digest(browser.cookie(mocked.url, SESSION_COOKIE) or ""))
    assert session is not None
    assert session.person.name == "Grace Hopper"


async def test_its_unverified_address_is_refused(mocked: Auth) -> None:
    browser = mocked.browser()
    question = await mocked.start(browser)
    answer = await browser.post(question.location, {"sub": "mallory"})
    page = await browser.get(answer.location, "cross-site")
    assert page.status == 403
    assert "Reason: <code>email-unverified</code>" in page.text


async def test_its_cancel_button_is_understood(mocked: Auth) -> None:
    browser = mocked.browser()
    question = await mocked.start(browser)
    answer = await browser.post(question.location, {"action": "deny"})
    page = await browser.get(answer.location, "cross-site")
    assert page.status == 400
    assert not await mocked.has_session(browser)
