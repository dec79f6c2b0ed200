"""With a data folder, what people have outlives a restart; with another configuration, no demo."""

import os
import signal
import time
from pathlib import Path

import pytest

from demo.run.folder import FolderUnusable
from demo.run.ports import free_ports
from demo.run.settings import Settings
from shared.contracts.wire import SESSION_COOKIE
from tests.live import LiveStack
from tests.stack.callers import hello

pytestmark = pytest.mark.stack

# With a slow disk Redis holds back what it writes for up to two seconds (appendfsync everysec).
REDIS_MAY_WAIT_SECONDS = 2.5

OWN = """\
public_url: ${STRAD_PUBLIC_URL}
provider:
  issuer: http://127.0.0.1:1
  client_id: mine
  client_secret: {env: SIGN_IN_SECRET}
  allow: {domains: [example.com]}
"""


def test_sessions_and_tokens_outlive_a_restart_and_even_a_crash(tmp_path: Path) -> None:
    (port,) = free_ports(1, in_a_row=2)
    settings = Settings(port=port, data=tmp_path / "data")
    with LiveStack(settings) as first:
        visitor = first.visitor("ada")
        token = first.token("ada")
        with pytest.raises(FolderUnusable):
            LiveStack(Settings(port=free_ports(1, in_a_row=2)[0], data=settings.data)).__enter__()
        time.sleep(REDIS_MAY_WAIT_SECONDS)
        os.killpg(first.group, signal.SIGKILL)  # as when the machine dies
    with LiveStack(settings) as second:
        assert visitor.get("/").status == 200
        assert hello(f"{second.url}/mcp/catalog", token).status == 200
        # who came back is who was there: the provider kept its key, and Ada her tokens
        assert second.visitor("ada").get("/auth/tokens").text.count("/revoke") == 1


def test_without_a_data_folder_everything_is_new(tmp_path: Path) -> None:
    (port,) = free_ports(1, in_a_row=2)
    with LiveStack(Settings(port=port)) as first:
        visitor = first.visitor("ada")
        folder = first.folder.path
    assert not folder.exists()
    with LiveStack(Settings(port=port)):
        assert visitor.cookie(SESSION_COOKIE)
        assert visitor.get("/").status == 303


def test_a_configuration_of_ones_own_runs_without_the_demo(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setenv("SIGN_IN_SECRET", "a")
    config = tmp_path / "strad.yaml"
    config.write_text(OWN)
    (port,) = free_ports(1, in_a_row=2)
    with LiveStack(Settings(port=port, config=config, demo=False)) as stack:
        assert list(stack.names) == ["redis", "relay", "auth", "apphost", "edge"]
        visitor = stack.visitor()
        assert visitor.get("/").location.startswith("/auth/sign-in")
        # its provider is nowhere: strad runs, and says so when somebody wants to sign in
        page = visitor.get("/auth/start", Sec_Fetch_Site="same-origin")
        assert page.status == 503
        assert "does not answer" in page.text
