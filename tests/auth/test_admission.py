"""Whom `provider.allow` no longer names is signed out at once, while auth runs."""

import asyncio
from collections.abc import Awaitable, Callable
from pathlib import Path

import yaml

from tests.auth.browser import Browser, assert_refused
from tests.auth.conftest import CHARLES, Auth, StartBoth


def write(path: Path, auth: Auth, **allow: list[str]) -> None:
    document = auth.config.model_dump(mode="json")
    document["provider"]["allow"] = allow
    path.write_text(yaml.safe_dump(document))


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
    write(path, auth, people=["charles@strad.test"])
    await eventually(out)
    assert not await out(charles)
    assert_refused(await auth.sign_in(auth.browser()), "not-allowed", 403)
    # an organisation counts by the provider's word, also for a session that is there already
    write(path, auth, domains=["strad.test"])
    await eventually(lambda: _not(out()))
    write(path, auth, domains=["elsewhere.test"])
    await eventually(lambda: out(charles))


async def _not(answer: Awaitable[bool]) -> bool:
    return not await answer
