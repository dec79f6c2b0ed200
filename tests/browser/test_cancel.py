"""A page that cancels its call, or goes, cancels it at the server: within 200 ms."""

import asyncio
from typing import Any

import pytest
from playwright.async_api import Browser

from tests.browser import IN_BROWSER
from tests.browser.people import until
from tests.browser.test_log import lines, log_of
from tests.browser.working import at_work, working
from tests.relay.test_cancel import SOON, Cancelled
from tests.relay.test_progress import both_eras, told

pytestmark = IN_BROWSER
CALL = (
    "(_meta) => { const id = next; void ask('tools/call', { name: 'go', arguments: {}, _meta });"
    " return id; }"
)
CANCEL = "(requestId) => note('notifications/cancelled', { requestId, reason: 'enough' })"


@both_eras
@pytest.mark.parametrize("meta", [{}, {"progressToken": 1}])
async def test_a_cancelled_call_is_cancelled_at_the_server_and_not_answered(
    era: str, meta: Any, browser: Browser
) -> None:
    call = Cancelled(era, reports=True, make=working)
    async with at_work(call.server, browser) as at:
        number = await at.frame.evaluate(CALL, meta)
        await asyncio.wait_for(call.began.wait(), 5)
        await at.frame.evaluate(CANCEL, number)
        assert await call.took() < SOON
        await at.frame.evaluate("ask('ping')")  # whatever was on its way has come by now
        assert await at.frame.evaluate("(id) => heard.filter((m) => m.id === id)", number) == []
        panel = await log_of(at.person)
        assert "page tools/call cancelled" in await lines(panel)
        assert at.person.complaints == []


@both_eras
async def test_a_page_that_is_left_cancels_its_calls(era: str, browser: Browser) -> None:
    call = Cancelled(era, reports=True, make=working)
    async with at_work(call.server, browser) as at:
        await at.frame.evaluate(CALL, {})
        await asyncio.wait_for(call.began.wait(), 5)
        await at.person.page.goto("about:blank")
        assert await call.took() < SOON


async def test_a_page_that_is_closed_for_a_second_document_cancels_its_calls(
    browser: Browser,
) -> None:
    call = Cancelled("modern", reports=True, make=working)
    async with at_work(call.server, browser) as at:
        await at.frame.evaluate(CALL, {})
        await asyncio.wait_for(call.began.wait(), 5)
        await at.frame.evaluate("void (location.href = 'about:blank')")
        await at.person.closed("The page tried to load another page")
        async with asyncio.timeout(5):
            await call.noticed()


async def test_cancelling_what_is_not_there_or_is_another_call_does_nothing(
    browser: Browser,
) -> None:
    go_on, began = asyncio.Event(), asyncio.Event()

    async def work(given: Any, send: Any) -> None:
        await send(told(given, 1))
        began.set()
        await go_on.wait()

    async with at_work(working("modern", work), browser) as at:
        number = await at.frame.evaluate(CALL, {})
        await asyncio.wait_for(began.wait(), 5)
        others: list[Any] = [number + 1, number - 1, str(number), None, "__proto__", [number], {}]
        for other in others:
            await at.frame.evaluate(CANCEL, other)
        await at.frame.evaluate("note('notifications/cancelled')")
        go_on.set()
        answer = await until(at.frame, f"heard.find((m) => m.id === {number})")
        assert "result" in answer
        await at.frame.evaluate(CANCEL, number)
        assert (await at.frame.evaluate("ask('ping')"))["result"] == {}
