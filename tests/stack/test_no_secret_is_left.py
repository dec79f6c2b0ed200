"""What is secret to people is in no log file and readable in nothing that Redis writes to disk."""

import json
import re
from collections.abc import Iterator
from pathlib import Path
from urllib.parse import parse_qs, quote, urlencode, urlsplit

import pytest

from demo.run.settings import DEMO_SECRET
from shared.contracts.wire import SESSION_COOKIE
from shared.web.serve import MAX_LINE
from tests.live import ACCOUNTS, LiveStack, link, login_link, make_token, revoke_tokens
from tests.stack.callers import hello, message, post
from tests.stack.connecting import connect
from tests.stack.machines import ASSERTION, FORM, KEY, SECRET, beside, by_secret, signed
from tests.visitor import Visitor, ask

pytestmark = pytest.mark.stack

CANARY = "canary-7f3a-"
CHARLES = "charles@strad.test"


@pytest.fixture(scope="module")
def told(fragile: LiveStack) -> dict[str, str]:
    """Everything secret that passes through strad in a day, by what it is; all of it used."""
    visitor = fragile.visitor()
    secrets = sign_in_slowly(fragile, visitor)
    secrets["token"] = make_token(visitor, label=f"{CANARY}label")
    secrets |= connect(visitor)
    use(fragile, visitor, secrets["access token"])
    secrets["sign-in link"] = follow_a_link(fragile, login_link(fragile, "ada@strad.test"))
    secrets |= machines_at_work(fragile)
    use(fragile, visitor, secrets["token"])
    misuse(fragile, visitor)
    while_parts_are_down(fragile, visitor, secrets["token"])
    secrets["revoked token"] = make_token(visitor)
    revoke_tokens(visitor)
    post(f"{fragile.url}/mcp", secrets["revoked token"], message("ping"))
    return secrets


def sign_in_slowly(stack: LiveStack, visitor: Visitor) -> dict[str, str]:
    """Step by step, to take down what each step carries."""
    page = visitor.get(f"/auth/sign-in?return_to=/apps/catalog%3Fx%3D{CANARY}return")
    away = visitor.get(link(page, "/auth/start"), Sec_Fetch_Site="same-origin")
    attempt = dict(visitor.cookies[stack.url])
    chosen = visitor.post(away.location, {"person": ACCOUNTS["ada"]})
    visitor.get(chosen.location, Sec_Fetch_Site="cross-site")
    asked, answered = (parse_qs(urlsplit(url).query) for url in (away.location, chosen.location))
    session = visitor.cookie(SESSION_COOKIE)
    assert session
    return {
        "session cookie": session,
        "sign-in cookie": next(iter(attempt.values())),
        "code": answered["code"][0],
        "state": asked["state"][0],
        "nonce": asked["nonce"][0],
    }


def follow_a_link(stack: LiveStack, address: str) -> str:
    """A sign-in link to the press of its button; gives its token."""
    visitor = press(stack, address)
    # it looks, and calls nothing, whatever it is asked from
    call = {"name": "list_toys", "arguments": {}, "page": "ui://catalog/view-v1", "surface": "app"}
    assert visitor.get("/").status == 200
    assert visitor.post_json("/apps/catalog/tools/call", call).status == 403
    assert visitor.post("/auth/tokens", {"label": "x", "life": "86400"}).status == 403
    return parse_qs(urlsplit(address).query)["token"][0]


def press(stack: LiveStack, address: str) -> Visitor:
    """Who has followed a link, and pressed its button."""
    visitor = stack.visitor()
    away = visitor.get(address.removeprefix(stack.url))
    assert (away.status, away.location) == (303, "/auth/link")
    visitor.get(away.location)
    assert visitor.post("/auth/link", {}).status == 303
    return visitor


def machines_at_work(stack: LiveStack) -> dict[str, str]:
    """A token by a secret, one by an assertion, both used; and a sign-in link, used too."""
    stack.visitor("charles")
    secret, link = beside(stack, SECRET), by_secret(stack, "desk", "/auth/links", person=CHARLES)
    assert press(stack, str(link["link"])).get("/").status == 200
    secrets = {"machine's secret": secret, "machine's key": beside(stack, KEY).split("\n")[1]}
    secrets["link of a machine"] = parse_qs(urlsplit(str(link["link"])).query)["token"][0]
    resource = f"{stack.url}/mcp"
    asked = {"grant_type": "client_credentials", "resource": resource}
    secrets["machine's token"] = by_secret(stack, "report", "/oauth/token", **asked)["access_token"]
    assertion = signed(stack, f"{CANARY}jti")
    proof = {"client_assertion": assertion, "client_assertion_type": ASSERTION}
    for status in (200, 401):
        sent = ask(f"{stack.url}/oauth/token", "POST", body=urlencode(asked | proof), headers=FORM)
        assert sent.status == status, sent.text
    secrets["assertion"] = assertion
    assert hello(f"{stack.url}/mcp/catalog", secrets["machine's token"]).status == 200
    wrong = urlencode(asked | {"client_id": "report", "client_secret": f"{CANARY}wrong"})
    assert ask(f"{stack.url}/oauth/token", "POST", body=wrong, headers=FORM).status == 401
    return secrets


def use(stack: LiveStack, visitor: Visitor, token: str) -> None:
    """Calls with arguments that are nobody's business, from a page and from a client."""
    arguments = {"query": f"{CANARY}argument"}
    call = {"name": "list_toys", "arguments": arguments, "page": "ui://catalog/view-v1"}
    assert visitor.post_json("/apps/catalog/tools/call", call | {"surface": "app"}).status == 200
    url = f"{stack.url}/mcp/catalog?x={CANARY}query"
    session = hello(url, token).headers["Mcp-Session-Id"]
    body = message("tools/call", {"name": "list_toys", "arguments": arguments})
    assert post(url, token, body, Mcp_Session_Id=session).status == 200


def misuse(stack: LiveStack, visitor: Visitor) -> None:
    """Requests that are refused: what is refused is logged with less care, as a rule."""
    odd = {"X-Odd": f"{CANARY}header", "Referer": f"{stack.url}/?x={CANARY}referrer"}
    ask(f"{stack.url}/nowhere/{CANARY}path?x={CANARY}query", headers=odd)
    ask(f"{stack.url}/auth/callback?code={CANARY}code&state={CANARY}state", headers=odd)
    ask(stack.url, headers={"Host": f"{CANARY}host.test"})
    ask(stack.url, headers={"Cookie": f"{SESSION_COOKIE}={CANARY}cookie"})
    for port in stack.ports.values():  # a header that no parser takes
        huge = f"{SESSION_COOKIE}={CANARY}cookie; x={'x' * MAX_LINE}"
        assert ask(f"http://127.0.0.1:{port}/", headers={"Cookie": huge}).status == 400
    hello(f"{stack.url}/mcp", f"{CANARY}bearer")
    hello(f"{stack.url}/mcp?access_token={CANARY}token", None)
    token = make_token(visitor)
    # a token pasted into the address
    post(f"{stack.url}/mcp/strad_pat_{CANARY}", token, message("ping"))
    post(f"{stack.url}/mcp?servers=strad_pat_{CANARY}", token, message("ping"))
    post(f"{stack.url}/mcp/catalog", token, f'{{"{CANARY}malformed')
    post(f"{stack.url}/mcp/catalog", token, message(f"{CANARY}method"))
    post(f"{stack.url}/mcp/catalog", token, message("tools/call", {"name": f"{CANARY}tool"}))
    visitor.post_json("/apps/catalog/tools/call", {"name": f"{CANARY}tool", "x": CANARY})
    visitor.post("/auth/tokens", {"label": f"{CANARY}label" * 9, "life": f"{CANARY}life"})


def while_parts_are_down(stack: LiveStack, visitor: Visitor, token: str) -> None:
    """Requests that fail: what fails is logged with the most detail of all."""
    for name in ("catalog", "relay", "auth", "apphost", "redis"):
        stack.stop(name, kill=True)
        visitor.get(f"/apps/catalog?x={CANARY}query")
        visitor.get(f"/auth/callback?code={CANARY}code&state={CANARY}state")
        body = message("tools/call", {"name": "list_toys", "arguments": {"query": CANARY}})
        post(f"{stack.url}/mcp/catalog?x={CANARY}query", token, body, X_Odd=f"{CANARY}header")
        stack.start(name)


def written(folder: Path) -> Iterator[tuple[str, bytes]]:
    """Every file in a folder, with its content."""
    for path in sorted(folder.rglob("*")):
        if path.is_file():
            yield path.name, path.read_bytes()


def keys_of(folder: Path) -> dict[str, str]:
    """The secrets of the services themselves."""
    found = {"client secret": DEMO_SECRET}
    for path in folder.rglob("*"):
        if path.suffix in {".key", ".password"}:
            found[f"{path.parent.name}/{path.name}"] = path.read_text().strip()
        elif path.suffix == ".json" and "d" in (key := json.loads(path.read_text())):
            found[f"{path.parent.name}/{path.name}"] = key["d"]
    return found


def test_no_log_and_no_dump_holds_a_secret(fragile: LiveStack, told: dict[str, str]) -> None:
    secrets = told | keys_of(fragile.folder.keys) | {"canary": CANARY}
    assert len(secrets) > 15
    logs = dict(written(fragile.folder.logs))
    dump = dict(written(fragile.folder.made("redis")))
    # that there is something to find at all
    assert b'"event":"signed-in"' in logs["auth.log"]
    assert b'"problem":"upstream-unreachable"' in logs["relay.log"]
    assert b"sess:" in b"".join(dump.values())
    found = [
        (file, name)
        for file, content in (logs | dump).items()
        for name, value in secrets.items()
        if value.encode() in content or quote(value).encode() in content
    ]
    assert found == []


def test_a_dump_names_no_person(fragile: LiveStack, told: dict[str, str]) -> None:
    content = b"".join(data for _, data in written(fragile.folder.made("redis")))
    for word in (b"ada@strad.test", b"Lovelace", b"demo-ada", b"catalog"):
        assert word not in content


def test_the_logs_of_the_services_name_no_person(fragile: LiveStack, told: dict[str, str]) -> None:
    for name in ("auth", "relay", "apphost", "edge"):
        text = fragile.log(name)
        assert not re.search(r"ada@strad\.test|Lovelace|demo-ada", text), name


def test_only_the_owner_of_the_run_reads_its_files(fragile: LiveStack) -> None:
    assert fragile.folder.path.stat().st_mode & 0o077 == 0
    for path in fragile.folder.keys.rglob("*"):
        assert path.stat().st_mode & 0o077 == 0, path
