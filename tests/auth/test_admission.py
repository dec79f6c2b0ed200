"""auth follows the people of `strad.yaml` while it runs: who may sign in, administer, use what."""

import asyncio
from collections.abc import Awaitable, Callable
from pathlib import Path
from typing import Any

import pytest
import yaml

from tests.auth.browser import Browser, assert_refused
from tests.auth.conftest import CHARLES, Auth, StartBoth
from tests.auth.oauth_client import OAuthClient


def write(path: Path, auth: Auth, **changes: Any) -> None:
    document = auth.config.model_dump(mode="json")
    path.write_text(yaml.safe_dump(document | changes))


def allow(path: Path, auth: Auth, **people: list[str]) -> None:
    provider = auth.config.provider.model_dump(mode="json")
    write(path, auth, provider=provider | {"allow": people})


async def eventually(true: Callable[[], Awaitable[bool]]) -> None:
    async with asyncio.timeout(5):
        while not await true():
            await asyncio.sleep(0.05)


async def test_who_is_no_longer_allowed_loses_the_session_and_gets_no_new_one(
    start_both: StartBoth, tmp_path: Path
) -> None:
    path = tmp_path / "strad.yaml"
    auth = await start_both(config_path=path)
    ada, charles = await auth.signed_in(), await auth.signed_in(CHARLES)

    async def out(browser: Browser = ada) -> bool:
        return (await browser.get(f"{auth.url}/auth/tokens")).status == 303

    assert not await out()
    allow(path, auth, people=["charles@strad.test"])
    await eventually(out)
    assert not await out(charles)
    assert_refused(await auth.sign_in(auth.browser()), "not-allowed", 403)
    # an organisation counts by the provider's word, also for a session that is there already
    allow(path, auth, domains=["strad.test"])
    await eventually(lambda: _not(out()))
    allow(path, auth, domains=["elsewhere.test"])
    await eventually(lambda: out(charles))


async def test_an_administrator_is_one_from_a_change_of_the_file_on_and_until_the_next(
    start_both: StartBoth, tmp_path: Path
) -> None:
    path = tmp_path / "strad.yaml"
    auth = await start_both(config_path=path, administrators=["ada@strad.test"])
    ada, charles = await auth.signed_in(), await auth.signed_in(CHARLES)

    async def administers(browser: Browser) -> bool:
        return "/auth/people" in (await browser.get(f"{auth.url}/auth/sessions")).text

    assert (await administers(ada), await administers(charles)) == (True, False)
    write(path, auth, administrators=["charles@strad.test"])
    await eventually(lambda: administers(charles))
    assert (await charles.get(f"{auth.url}/auth/people")).status == 200
    refused = await ada.post(f"{auth.url}/auth/people/end", {"email": "charles@strad.test"})
    assert refused.status == 403
    # still signed in, with a person's own rights
    assert await auth.has_session(ada)
    assert await auth.has_session(charles)
    write(path, auth, administrators=[])
    await eventually(lambda: _not(administers(charles)))


async def test_a_file_with_mistakes_neither_makes_nor_unmakes_an_administrator(
    start_both: StartBoth, tmp_path: Path, caplog: pytest.LogCaptureFixture
) -> None:
    path = tmp_path / "strad.yaml"
    auth = await start_both(config_path=path, administrators=["ada@strad.test"])
    ada, charles = await auth.signed_in(), await auth.signed_in(CHARLES)
    write(path, auth, administrators=["charles@strad.test"], sessions={"idle": "no time"})
    async with asyncio.timeout(5):
        while "config-refused" not in caplog.messages:
            await asyncio.sleep(0.05)
    assert (await ada.get(f"{auth.url}/auth/people")).status == 200
    assert (await charles.get(f"{auth.url}/auth/people")).status == 403


async def test_the_pages_offer_the_servers_that_a_person_may_use_by_the_file_of_now(
    start_both: StartBoth, tmp_path: Path
) -> None:
    path = tmp_path / "strad.yaml"
    auth = await start_both(config_path=path)
    ada, client = await auth.signed_in(), OAuthClient(auth)
    await client.register()
    assert "Toys" in (await ada.get(f"{auth.url}/auth/tokens")).text
    assert "Toys" in (await client.ask(ada)).text
    write(path, auth, groups={"makers": ["charles@strad.test"]})

    async def gone() -> bool:
        return "Toys" not in (await ada.get(f"{auth.url}/auth/tokens")).text

    await eventually(gone)
    asked = await client.ask(ada)
    assert "News" in asked.text
    assert "Toys" not in asked.text


async def _not(answer: Awaitable[bool]) -> bool:
    return not await answer
