"""The stack as tests use it: `make run`'s own, and the demo people at it."""

import re
import subprocess
import sys
from html import unescape

from demo.run.settings import ROOT
from demo.run.stack import Stack
from shared.contracts.wire import SESSION_COOKIE, SIGN_IN_PATH, TOKEN_PREFIX, TOKENS_PATH, Service
from shared.ids import new_id
from tests.visitor import Reply, Visitor

ACCOUNTS = {"ada": "demo-ada", "charles": "demo-charles"}
DAY = 86400


class LiveStack(Stack):
    """A running stack that people sign in at, over HTTP, through the real flow."""

    def visitor(self, account: str | None = None) -> Visitor:
        """A new browser; signed in as "ada" or "charles" when one is named."""
        visitor = Visitor(self.url)
        if account is not None:
            self.sign_in_at(visitor, account)
            assert visitor.cookie(SESSION_COOKIE), "signed in, and no session cookie"
        return visitor

    def sign_in_at(self, visitor: Visitor, account: str, return_to: str = "/") -> Reply:
        """From the sign-in page to the callback's answer, which may also be a refusal."""
        page = visitor.get(f"{SIGN_IN_PATH}?return_to={return_to}")
        away = visitor.get(link(page, "/auth/start"), Sec_Fetch_Site="same-origin")
        assert away.status == 303, f"{away.status}: {away.text}"
        chosen = visitor.post(away.location, {"person": ACCOUNTS[account]})
        assert chosen.status == 303, f"{chosen.status}: {chosen.text}"
        # the provider is another site, and so the way back is a cross-site navigation
        return visitor.get(chosen.location, Sec_Fetch_Site="cross-site")

    def sign_in(self, account: str) -> str:
        """The session cookie's value of a new sign-in."""
        cookie = self.visitor(account).cookie(SESSION_COOKIE)
        assert cookie is not None
        return cookie

    def token(self, account: str, *servers: str) -> str:
        """A new personal access token; for all servers of that person when none is named."""
        return make_token(self.visitor(account), *servers)

    def fault(self, **switches: object) -> None:
        """Break the demo provider on purpose; `reset=True` mends it (demo/provider/faults.py)."""
        reply = Visitor(self.provider_url).post_json("/faults", switches)
        assert reply.status == 200, reply.text


def make_token(visitor: Visitor, *servers: str, label: str = "") -> str:
    """A token that a signed-in visitor makes on the page for tokens."""
    form = {"label": label or new_id(), "life": str(DAY), "servers": servers}
    form["reach"] = "some" if servers else "every"
    page = visitor.post(TOKENS_PATH, form)
    found = re.search(rf"{TOKEN_PREFIX}[0-9A-Za-z]+", page.text)
    assert found, f"{page.status}: {page.text}"
    return found[0]


def operator(stack: LiveStack, *arguments: str) -> str:
    """What a command of the operator prints, with auth's own environment."""
    auth = next(part for part in stack.plan.parts if part.name == Service.AUTH)
    command = [sys.executable, "-m", "cli", *arguments]
    done = subprocess.run(
        command, cwd=ROOT, env=dict(auth.environment), capture_output=True, text=True, check=False
    )
    assert done.returncode == 0, done.stderr
    return done.stdout


def login_link(stack: LiveStack, email: str) -> str:
    """A sign-in link, by the operator's command."""
    return operator(stack, "login-link", email).split("\n")[0]


def revoke_tokens(visitor: Visitor) -> None:
    """Press every Revoke button on the page for tokens."""
    page = visitor.get(TOKENS_PATH)
    buttons = re.findall(rf'action="({TOKENS_PATH}/[^"]+/revoke)"', page.text)
    assert buttons, page.text
    for action in buttons:
        assert visitor.post(unescape(action), {}).status == 303


def link(page: Reply, begins: str) -> str:
    """The first link of a page that begins so."""
    found = re.search(rf'href="({re.escape(begins)}[^"]*)"', page.text)
    assert found, f"no link to {begins}: {page.status}: {page.text}"
    return unescape(found[1])
