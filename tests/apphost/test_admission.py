"""Whom `provider.allow` no longer names is signed out of the console, while it runs."""

import asyncio
from pathlib import Path

import yaml

from tests.apphost.console import ADA, CHARLES, config_of, running


async def test_who_may_not_sign_in_any_more_has_no_console_left(tmp_path: Path) -> None:
    path = tmp_path / "strad.yaml"
    async with running(config_path=path) as console:
        ada, charles = await console.sign_in(ADA), await console.sign_in(CHARLES)
        assert (await console.get("/", ada)).status == 200
        document = config_of(console.url, {}).model_dump(mode="json")
        document["provider"]["allow"] = {"people": [CHARLES.email]}
        path.write_text(yaml.safe_dump(document))
        async with asyncio.timeout(5):
            while (await console.get("/", ada)).status == 200:
                await asyncio.sleep(0.05)
        assert (await console.get("/", ada)).headers["Location"].startswith("/auth/sign-in")
        assert (await console.get("/apps/toys/frame", ada)).status == 401
        assert (await console.get("/", charles)).status == 200
