"""Firefox as its own process with a profile of its own, which both end with the tests."""

import asyncio
import json
import tempfile
from collections.abc import AsyncIterator, Mapping
from contextlib import asynccontextmanager
from pathlib import Path

from tests.firefox.bidi import Bidi, session

START = 40.0  # seconds until it listens
END = 10.0

# What automation switches off by itself, and people have on; and what would leave this machine.
PREFERENCES: Mapping[str, bool | int | str] = {
    "dom.disable_open_during_load": True,  # the popup blocker
    "dom.navigation.navigationRateLimit.count": 200,  # how often a page may change its address
    "fission.bfcacheInParent": True,
    "focusmanager.testmode": True,  # no window is ever in front here: behave as if ours were
    "app.update.auto": False,
    "browser.region.update.enabled": False,
    "browser.search.suggest.enabled": False,
    "browser.shell.checkDefaultBrowser": False,
    "browser.startup.page": 0,
    "datareporting.policy.dataSubmissionEnabled": False,
    "extensions.systemAddon.update.enabled": False,
    "media.gmp-manager.updateEnabled": False,
    "media.peerconnection.ice.loopback": True,  # else no datagram could reach a sink of ours
    "network.captive-portal-service.enabled": False,
    "network.connectivity-service.enabled": False,
    "services.settings.server": "data:,",
    "toolkit.telemetry.enabled": False,
}


@asynccontextmanager
async def launched(program: str) -> AsyncIterator[Bidi]:
    """A session with a new browser."""
    with tempfile.TemporaryDirectory(prefix="strad-firefox-", ignore_cleanup_errors=True) as folder:
        profile = Path(folder)
        lines = [f"user_pref({json.dumps(k)}, {json.dumps(v)});" for k, v in PREFERENCES.items()]
        (profile / "user.js").write_text("\n".join(lines))
        process = await asyncio.create_subprocess_exec(
            program,
            *("--headless", "--no-remote", "--remote-debugging-port=0"),
            "--remote-allow-system-access",  # for what BiDi has no word for yet (tab.py, theme)
            *("--profile", folder, "about:blank"),
            stdin=asyncio.subprocess.DEVNULL,
            stdout=asyncio.subprocess.DEVNULL,
            stderr=asyncio.subprocess.DEVNULL,
        )
        try:
            async with session(await _address(profile, process)) as bidi:
                yield bidi
        finally:
            await _end(process)


async def _address(profile: Path, process: asyncio.subprocess.Process) -> str:
    """Where it listens: it writes that into its profile."""
    told = profile / "WebDriverBiDiServer.json"
    async with asyncio.timeout(START):
        while not (told.exists() and told.stat().st_size):
            assert process.returncode is None, f"Firefox ended at once: {process.returncode}"
            await asyncio.sleep(0.05)
    found = json.loads(told.read_text())
    return f"ws://{found['ws_host']}:{found['ws_port']}"


async def _end(process: asyncio.subprocess.Process) -> None:
    if process.returncode is not None:
        return
    process.terminate()
    try:
        await asyncio.wait_for(process.wait(), END)
    except TimeoutError:
        process.kill()
        await process.wait()
