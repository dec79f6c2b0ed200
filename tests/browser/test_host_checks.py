"""What the public checks for hosts of MCP Apps ask, judged here: each by its own id.

The ids are those of the host suite that is proposed for the specification (SEP-1865, stable
2026-01-26). `CHECKS` are judged in real Chromium, through the real relay; `NOT_JUDGED` says of each
of the others why this host, which has no model and shows a page in one opaque frame, cannot be
judged by it.
"""

import asyncio
from collections.abc import AsyncIterator, Awaitable, Callable
from dataclasses import dataclass
from typing import Any

import pytest
import pytest_asyncio
from playwright.async_api import Browser, Frame, expect

from shared.contracts.wire import APP_MIME_TYPE
from tests.apphost.pair import pair
from tests.browser import IN_BROWSER
from tests.browser.people import Person, until
from tests.browser.probe import PROBE
from tests.relay.upstreams import Fake, modern_fake

pytestmark = IN_BROWSER

_NO_MODEL = "the console has no model and no conversation; answered with -32601, not advertised"
_NO_PROXY = "no sandbox proxy: the frame is opaque by its header, and the host talks to it directly"
NOT_JUDGED = {
    "security/sandbox-permissions": "a page has no origin here, so no `allow-same-origin`",
    "security/sandbox-proxy-required": _NO_PROXY,
    "security/sandbox-proxy-ready": _NO_PROXY,
    "security/sandbox-resource-ready": _NO_PROXY,
    "security/sandbox-message-forwarding": _NO_PROXY,
    "security/sandbox-no-self-requests": _NO_PROXY,
    "security/csp-construct-from-domains": "no page gets the network, whatever it declares",
    "security/csp-allow-declared": "no page gets the network, whatever it declares",
    "security/global-allowlist": "optional; there is no list, since nothing declared is allowed",
    "lifecycle/tool-input-partial": "arguments come whole, from a person and not from a model",
    "visibility/app-tool-hidden": _NO_MODEL,
    "resources/prefetch": "optional; a page is read when it is opened, with the rights of then",
    "messages/add-to-conversation": _NO_MODEL,
    "messages/consent": _NO_MODEL,
    "model-context/provide-future-turns": _NO_MODEL,
    "model-context/last-wins": _NO_MODEL,
    "model-context/overwrite-defer-dedupe-display": _NO_MODEL,
    "sampling/create-message": _NO_MODEL,
    "capabilities/content-modalities": _NO_MODEL,
    "app-tools/call": "tools of a page are for a model to call",
    "context/theme-fonts": "optional; the console's fonts are those of the system, by name",
}

URI = "ui://checks/page"
TOOLS = [
    {
        "name": "show",
        "inputSchema": {"type": "object", "properties": {"word": {"default": "hello"}}},
        "annotations": {"readOnlyHint": True},
        "_meta": {"ui": {"resourceUri": URI}},
    },
    {"name": "conformance_probe", "inputSchema": {}, "_meta": {"ui": {"visibility": ["app"]}}},
    {"name": "model_only_probe", "inputSchema": {}, "_meta": {"ui": {"visibility": ["model"]}}},
]
DECLARED = {
    "csp": {
        "resourceDomains": ["https://cdn.test.example"],
        "connectDomains": ["https://api.test.example"],
    },
    "permissions": {"camera": {}},
}

# what the page asks for, and which directive stopped it
BLOCKED = """([what, url]) => new Promise((resolve) => {
  addEventListener("securitypolicyviolation", (event) => resolve({
    directive: event.effectiveDirective, policy: event.originalPolicy, url: event.blockedURI,
  }), { once: true });
  if (what === "fetch") fetch(url, { mode: "no-cors" }).catch(() => {});
  else document.body.append(Object.assign(document.createElement(what), { src: url }));
})"""


def _server(closed: asyncio.Event) -> Fake:
    def call(_: Any, message: dict[str, Any]) -> dict[str, Any]:
        params = message["params"]
        if closed.is_set():
            return {"error": {"code": -32000, "message": "closed today"}}
        said = {"type": "text", "text": f"{params['name']} of {params['arguments']}"}
        return {"result": {"resultType": "complete", "content": [said]}}

    def read(_: Any, __: Any) -> dict[str, Any]:
        item = {"uri": URI, "mimeType": APP_MIME_TYPE, "text": PROBE, "_meta": {"ui": DECLARED}}
        return {"result": {"contents": [item]} | _whole()}

    def resources(_: Any, __: Any) -> dict[str, Any]:
        return {"result": {"resources": [{"uri": "toys://one", "name": "one"}]} | _whole()}

    more = {"resources/read": read, "resources/list": resources}
    return modern_fake(TOOLS, call, **more)


def _whole() -> dict[str, Any]:
    return {"resultType": "complete", "ttlMs": 0, "cacheScope": "public"}


@dataclass
class Host:
    """The host as a page and a person find it: a page with declarations is open.

    Once `closed` is set, the server answers calls with an error.
    """

    server: Fake
    closed: asyncio.Event
    person: Person
    frame: Frame
    policy: str

    async def result(self, method: str, params: Any = None) -> Any:
        """What the host answers to a request of the page; an error fails the check."""
        return (await self.answer(method, params))["result"]

    async def answer(self, method: str, params: Any = None) -> Any:
        """The whole answer to a request of the page."""
        return await self.frame.evaluate("([m, p]) => ask(m, p)", [method, params or {}])

    async def told(self, method: str) -> Any:
        """The parameters of a notification, which comes within 4 s."""
        one = f"heard.find(({{ method }}) => method === 'ui/notifications/{method}')"
        return (await until(self.frame, one, seconds=4))["params"]

    async def introduced(self) -> Any:
        """The answer to `ui/initialize`."""
        return (await self.frame.evaluate("ready"))["result"]

    async def blocked(self, what: str, url: str) -> Any:
        """The policy's own report of what the page was not allowed."""
        return await self.frame.evaluate(BLOCKED, [what, url])


@pytest_asyncio.fixture(loop_scope="session")
async def host(browser: Browser) -> AsyncIterator[Host]:
    """Ada has opened the page; it has shaken hands and has its result."""
    closed = asyncio.Event()
    server = _server(closed)
    async with server.served() as url, pair([{"slug": "a", "url": url}]) as both:
        person = await Person.at(browser, both.url)
        await person.take_session(both.cookie)
        async with person.page.expect_response(lambda one: "/frame?" in one.url) as answered:
            await person.open("/apps/a")
        policy = (await answered.value).headers["content-security-policy"]
        found = Host(server, closed, person, await person.app(), policy)
        await found.told("tool-result")
        yield found
        await person.leave()


Check = Callable[[Host], Awaitable[None]]
CHECKS: dict[str, Check] = {}


def check(*ids: str) -> Callable[[Check], Check]:
    """These ids are judged by this function."""

    def keep(judge: Check) -> Check:
        CHECKS.update(dict.fromkeys(ids, judge))
        return judge

    return keep


@check("security/iframe-sandboxed")
async def _(host: Host) -> None:
    frame = host.person.page.locator("iframe")
    tokens = (await frame.get_attribute("sandbox") or "").split()
    assert "allow-scripts" in tokens
    assert not {"allow-same-origin", "allow-top-navigation", "allow-modals"} & set(tokens)
    assert host.policy.startswith(f"sandbox {' '.join(tokens)};")


@check("security/sandbox-distinct-origin")
async def _(host: Host) -> None:
    for window in ("parent", "top"):
        reads = f"try {{ {window}.location.href }} catch (error) {{ error.name }}"
        assert await host.frame.evaluate(reads) == "SecurityError"
    assert await host.frame.evaluate("origin") == "null"


@check("security/sandbox-csp-enforced")
async def _(host: Host) -> None:
    report = await host.blocked("fetch", "https://example.com/")
    assert report["policy"] == host.policy


@check("security/csp-default-deny")
async def _(host: Host) -> None:
    assert "default-src 'none'" in host.policy
    for what, directive in (("iframe", "frame-src"), ("embed", "object-src"), ("img", "img-src")):
        assert (await host.blocked(what, "https://example.com/"))["directive"] == directive


@check("security/csp-no-loosening")
async def _(host: Host) -> None:
    # not to a stranger, nor to what it declares: a declared origin opens media only
    for url in ("https://example.com/", "https://api.test.example/", "https://cdn.test.example/"):
        report = await host.blocked("fetch", url)
        assert (report["directive"], report["url"]) == ("connect-src", url)
    assert (await host.blocked("script", "https://cdn.test.example/x.js"))["directive"] == (
        "script-src-elem"
    )
    assert "img-src data: blob: https://cdn.test.example;" in host.policy


@check("security/permissions-allow-attr")
async def _(host: Host) -> None:
    assert await host.person.page.locator("iframe").get_attribute("allow") == ""
    may = "(name) => document.featurePolicy.allowsFeature(name)"
    assert not await host.frame.evaluate(may, "camera")


@check("security/csp-audit-log", "security/external-domain-warning")
async def _(host: Host) -> None:
    await host.person.page.get_by_role("button", name="Messages").click()
    await host.person.page.get_by_text("What this page may use").click()
    facts = host.person.page.locator("#log-facts")
    await expect(facts).to_contain_text("https://cdn.test.example")
    await expect(facts).to_contain_text("connectDomains https://api.test.example")


@check("lifecycle/initialize-capabilities")
async def _(host: Host) -> None:
    introduced = await host.introduced()
    assert introduced["protocolVersion"] == "2026-01-26"
    assert {"serverTools", "serverResources", "openLinks"} <= set(introduced["hostCapabilities"])


@check("lifecycle/tool-input")
async def _(host: Host) -> None:
    assert await host.told("tool-input") == {"arguments": {"word": "hello"}}


@check("lifecycle/tool-input-partial-stop")
async def _(host: Host) -> None:
    await asyncio.sleep(0.5)
    methods = await host.frame.evaluate("heard.flatMap(({ method }) => method ?? [])")
    assert methods == ["ui/notifications/tool-input", "ui/notifications/tool-result"]


@check("lifecycle/tool-result")
async def _(host: Host) -> None:
    result = await host.told("tool-result")
    assert result["content"] == [{"type": "text", "text": "show of {'word': 'hello'}"}]


@check("lifecycle/tool-cancelled")
async def _(host: Host) -> None:
    host.closed.set()
    await host.person.open("/apps/a?again")
    host.frame = await host.person.app()
    assert await host.told("tool-cancelled") == {"reason": "closed today"}


@check("lifecycle/teardown-notify", "lifecycle/teardown-await")
async def _(host: Host) -> None:
    await host.frame.evaluate(
        "addEventListener('message', ({ data }) => {"
        " if (data.method === 'ui/resource-teardown')"
        " setTimeout(() => post({ jsonrpc: '2.0', id: data.id, result: {} }), 300);"
        "}); undefined"
    )
    await host.frame.evaluate("note('ui/notifications/request-teardown')")
    await until(host.frame, "heard.some(({ method }) => method === 'ui/resource-teardown')")
    assert await host.person.page.locator("iframe").count() == 1
    await host.person.closed("The page asked to be closed")


@check("tools/proxy-call")
async def _(host: Host) -> None:
    params = {"name": "conformance_probe", "arguments": {"echo": 7}}
    content = (await host.result("tools/call", params))["content"]
    assert content == [{"type": "text", "text": "conformance_probe of {'echo': 7}"}]


@check("visibility/app-tool-call-guard")
async def _(host: Host) -> None:
    answer = await host.answer("tools/call", {"name": "model_only_probe", "arguments": {}})
    assert answer["error"]["code"] == -32602
    called = [
        one["params"]["name"] for one in host.server.messages if one["method"] == "tools/call"
    ]
    assert called == ["show"]


@check("resources/read-referenced")
async def _(host: Host) -> None:
    read = [one for one in host.server.messages if one["method"] == "resources/read"]
    assert [one["params"]["uri"] for one in read] == [URI]


@check("context/initialize-hostcontext")
async def _(host: Host) -> None:
    context = (await host.introduced())["hostContext"]
    assert context["theme"] == "light"
    assert context["displayMode"] == "inline"
    assert context["toolInfo"]["tool"]["name"] == "show"


@check("context/context-changed")
async def _(host: Host) -> None:
    await host.person.page.emulate_media(color_scheme="dark")
    assert await host.told("host-context-changed") == {"theme": "dark"}


@check("context/theme-variables", "context/light-dark")
async def _(host: Host) -> None:
    variables = (await host.introduced())["hostContext"]["styles"]["variables"]
    assert variables["--color-background-primary"].startswith("light-dark(")
    assert variables["--font-sans"]


@check("dimensions/listen-size-changed")
async def _(host: Host) -> None:
    # fixed on both sides, and so a page has no size to ask for
    size = await host.frame.evaluate("({ width: innerWidth, height: innerHeight })")
    assert (await host.introduced())["hostContext"]["containerDimensions"] == size
    await host.frame.evaluate(
        "note('ui/notifications/size-changed', { height: innerHeight + 320 })"
    )
    await host.result("ping")
    assert await host.frame.evaluate("innerHeight") == size["height"]


@check(
    "display/no-undeclared-mode",
    "display/return-resulting-mode",
    "display/unavailable-returns-current",
    "display/decline-undeclared",
)
async def _(host: Host) -> None:
    assert "pip" not in (await host.introduced())["hostContext"]["availableDisplayModes"]
    assert await host.result("ui/request-display-mode", {"mode": "pip"}) == {"mode": "inline"}
    assert await host.result("ui/request-display-mode", {"mode": "inline"}) == {"mode": "inline"}


@check("links/open-external")
async def _(host: Host) -> None:
    url = "https://modelcontextprotocol.io/docs"
    await host.person.context.route(url, lambda route: route.fulfill(body="there"))
    await host.frame.evaluate("(url) => { window.asked = ask('ui/open-link', { url }); }", url)
    async with host.person.context.expect_page() as opened:
        await host.person.page.get_by_role("button", name="Open", exact=True).click()
    await (await opened.value).wait_for_url(url)
    assert (await host.frame.evaluate("asked"))["result"] == {}


@check("download-file/confirm")
async def _(host: Host) -> None:
    item = {"type": "resource", "resource": {"uri": "file:///list.txt", "text": "toys"}}
    await host.frame.evaluate(
        "(contents) => { window.asked = ask('ui/download-file', { contents }); }", [item]
    )
    strip = host.person.page.get_by_role("alertdialog")
    await expect(strip).to_contain_text("list.txt")
    await strip.get_by_role("button", name="Cancel").click()
    assert (await host.frame.evaluate("asked"))["result"] == {"isError": True}


@check("capabilities/mimetypes-required")
async def _(host: Host) -> None:
    # at 2026-07-28 there is no `initialize`: every request says what its client can do
    asked = [one for one in host.server.messages if one["method"] in {"tools/list", "tools/call"}]
    assert asked
    for one in asked:
        said = one["params"]["_meta"]["io.modelcontextprotocol/clientCapabilities"]
        assert said["extensions"]["io.modelcontextprotocol/ui"] == {"mimeTypes": [APP_MIME_TYPE]}


@check("capabilities/server-passthrough")
async def _(host: Host) -> None:
    listed = await host.result("resources/list")
    assert [one["uri"] for one in listed["resources"]] == ["toys://one"]


@pytest.mark.parametrize("clause", CHECKS)
async def test_the_host_does_what_this_check_asks(clause: str, host: Host) -> None:
    await CHECKS[clause](host)


@pytest.mark.parametrize(
    ("method", "capability"),
    [
        ("ui/message", "message"),
        ("ui/update-model-context", "updateModelContext"),
        ("sampling/createMessage", "sampling"),
    ],
)
async def test_what_needs_a_model_is_neither_done_nor_advertised(
    method: str, capability: str, host: Host
) -> None:
    assert (await host.answer(method))["error"]["code"] == -32601
    assert capability not in (await host.introduced())["hostCapabilities"]


async def test_no_check_is_both_judged_and_excused() -> None:
    assert not CHECKS.keys() & NOT_JUDGED.keys()
