"""What an operator may switch on for one app, and that it is off otherwise."""

import asyncio
from collections.abc import AsyncIterator
from contextlib import asynccontextmanager
from typing import Any

import pytest
from playwright.async_api import Browser, Frame, expect

from tests.apphost.console import Console, running
from tests.browser import IN_BROWSER
from tests.browser.people import Person, until
from tests.browser.probe import probe
from tests.browser.test_blocked import stands_in_the_log

pytestmark = IN_BROWSER

# a page of the kind that goes blank where storage throws: it reads it before anything else
READS_FIRST = """<!doctype html><title>t</title><h1></h1><script>
const seen = Number(localStorage.getItem("seen") ?? 0);
localStorage.setItem("seen", seen + 1);
document.querySelector("h1").textContent = `seen ${localStorage.seen}`;
</script>"""


@asynccontextmanager
async def somebody(browser: Browser, **app: Any) -> AsyncIterator[tuple[Console, Person]]:
    """A console whose server `toys` has these settings, and a person signed in there."""
    async with running(**app) as console:
        person = await Person.at(browser, console.url)
        await person.take_session(await console.sign_in())
        yield console, person
        await person.leave()


async def test_a_page_that_needs_storage_draws_with_the_stand_in_and_forgets(
    browser: Browser,
) -> None:
    async with somebody(browser, storage="memory") as (console, person):
        console.toys.page(READS_FIRST)
        console.toys.tool("show", "ui://t/page")
        for _ in range(2):  # the second visit finds nothing of the first
            await person.open("/apps/toys")
            await expect((await person.app()).locator("h1")).to_have_text("seen 1")
        assert person.complaints == []
        assert await person.page.evaluate("localStorage.length + sessionStorage.length") == 0


async def test_without_the_stand_in_the_notice_names_storage(
    console: Console, visitor: Person
) -> None:
    console.toys.page(READS_FIRST)
    console.toys.tool("show", "ui://t/page")
    await visitor.open_silent("/apps/toys")
    await stands_in_the_log(visitor)
    await visitor.late()
    notice = visitor.page.locator("#notices .notice")
    await expect(notice).to_contain_text("storage")
    assert await (await visitor.app()).locator("h1").text_content() == ""


BEHAVES: list[tuple[str, Any]] = [
    ("localStorage.getItem('none')", None),
    ("localStorage.none === undefined", True),
    ("(localStorage.setItem('a', 1), localStorage.getItem('a'))", "1"),
    ("(localStorage.b = { }, localStorage.b)", "[object Object]"),
    ("localStorage.length", 2),
    ("JSON.stringify(localStorage)", '{"a":"1","b":"[object Object]"}'),
    ("Object.keys(localStorage)", ["a", "b"]),
    ("localStorage.key(1) + localStorage.key(9)", "bnull"),
    ("'a' in localStorage && !('z' in localStorage)", True),
    ("(delete localStorage.a, localStorage.removeItem('b'), localStorage.length)", 0),
    ("(localStorage.setItem('__proto__', 'x'), localStorage.getItem('__proto__'))", "x"),
    ("({}).x === undefined", True),
    ("(sessionStorage.c = 1, localStorage.c === undefined && sessionStorage.length)", 1),
    ("(localStorage.clear(), localStorage.length)", 0),
    ("typeof localStorage.getItem", "function"),
]


async def test_the_stand_in_behaves_like_storage(browser: Browser) -> None:
    async with somebody(browser, storage="memory") as (console, person):
        frame = await probe(console, person)
        for expression, value in BEHAVES:
            assert await frame.evaluate(expression) == value, expression


async def loads(frame: Frame) -> str:
    """What becomes of a script and a stylesheet of the declared origin."""
    await frame.evaluate(
        "(() => { const add = (tag, more) => Object.assign(document.head.appendChild("
        "Object.assign(document.createElement(tag), more)));"
        " addEventListener('securitypolicyviolation', (e) => (window.blocked ??= [])"
        ".push(e.effectiveDirective));"
        " add('script', { src: 'https://cdn.test.example/a.js' });"
        " add('link', { rel: 'stylesheet', href: 'https://cdn.test.example/a.css' }); })()"
    )
    await asyncio.sleep(1)
    found: str = await frame.evaluate(
        "JSON.stringify({ ran: !!window.ran, styled: getComputedStyle(document.body).color,"
        " blocked: (window.blocked ?? []).sort() })"
    )
    return found


@pytest.mark.parametrize("scripts", [True, False])
async def test_a_declared_origin_may_serve_code_only_where_the_operator_says_so(
    browser: Browser, scripts: bool
) -> None:
    async with somebody(browser, scripts=scripts) as (console, person):
        asked: list[str] = []

        async def answer(route: Any) -> None:
            asked.append(route.request.url)
            kind = "text/javascript" if route.request.url.endswith(".js") else "text/css"
            body = "window.ran = true" if kind == "text/javascript" else "body { color: red }"
            await route.fulfill(body=body, content_type=kind)

        await person.context.route("https://cdn.test.example/**", answer)
        frame = await probe(console, person)
        console.toys.contents["ui://t/page"][0]["_meta"] = {
            "ui": {"csp": {"resourceDomains": ["https://cdn.test.example"]}}
        }
        await person.open("/apps/toys")
        frame = await person.app()
        await until(frame, "ready")
        found = await loads(frame)
        if scripts:
            assert '"ran":true,"styled":"rgb(255, 0, 0)","blocked":[]' in found
        else:
            assert '"ran":false' in found
            assert '"blocked":["script-src-elem","style-src-elem"]' in found
            assert asked == []
