"""A page hears how far its call is, under its own token, and only if it asked."""

import asyncio
from typing import Any

import pytest
from playwright.async_api import Browser, expect

from tests.browser import IN_BROWSER
from tests.browser.people import until
from tests.browser.sdk import Sdk
from tests.browser.working import at_work, working, working_with
from tests.relay.test_progress import DONE, both_eras, tokens, told

pytestmark = IN_BROWSER
CALL = "(_meta) => ask('tools/call', { name: 'go', arguments: {}, _meta })"
PROGRESS = "heard.filter(({ method }) => method === 'notifications/progress')"


@both_eras
@pytest.mark.parametrize("token", [0, 7, "p-1"])
async def test_progress_comes_while_the_call_runs_under_the_pages_own_token(
    era: str, token: Any, browser: Browser
) -> None:
    go_on = asyncio.Event()

    async def work(given: Any, send: Any) -> None:
        await send(told(given, 1, total=3, message="one of three"))
        await go_on.wait()
        await send(told(given, 2))

    server = working(era, work)
    async with at_work(server, browser) as at:
        await at.frame.evaluate(f"void ({CALL})({{ progressToken: {token!r} }}).then(a => end = a)")
        await until(at.frame, f"{PROGRESS}.length === 1")
        assert await at.frame.evaluate("typeof end === 'undefined'")
        go_on.set()
        await until(at.frame, "typeof end !== 'undefined'")
        one = {"progress": 1, "total": 3, "message": "one of three", "progressToken": token}
        two = {"progress": 2, "progressToken": token}
        found = await at.frame.evaluate(PROGRESS)
        assert [message["params"] for message in found] == [one, two]
        assert (await at.frame.evaluate("end"))["result"] == DONE
        # neither our own script's request nor the server's carries it
        assert "progressToken" not in str(at.person.calls)
        assert token not in tokens(server)
        assert at.person.complaints == []


async def test_a_page_that_did_not_ask_hears_nothing_and_nobody_is_asked(browser: Browser) -> None:
    async def work(given: Any, send: Any) -> None:
        await send(told(given, 1))

    server = working("modern", work)
    async with at_work(server, browser) as at:
        for meta in ("undefined", "{}", "{ progressToken: null }", "{ progressToken: 1.5 }", "[1]"):
            answer = await at.frame.evaluate(f"({CALL})({meta})")
            assert answer["result"] == DONE, meta
        assert await at.frame.evaluate(PROGRESS) == []
        assert set(tokens(server)) == {None}


async def test_calls_at_the_same_time_keep_their_progress_apart(browser: Browser) -> None:
    both = asyncio.Barrier(2)
    numbers = iter((1, 2))

    async def work(given: Any, send: Any) -> None:
        number = next(numbers)
        await both.wait()
        await send(told(given, number, message=f"call {number}"))

    async with at_work(working("modern", work), browser) as at:
        call = f"({CALL})"
        await at.frame.evaluate(
            f"Promise.all([{call}({{ progressToken: 'a' }}), {call}({{ progressToken: 'b' }})])"
        )
        found = [message["params"] for message in await at.frame.evaluate(PROGRESS)]
        assert {one["progressToken"] for one in found} == {"a", "b"}
        assert {one["message"] for one in found} == {"call 1", "call 2"}
        assert len(found) == 2


async def test_a_problem_after_some_progress_is_an_error_for_the_page(browser: Browser) -> None:
    async def work(given: Any, send: Any) -> None:
        await send(told(given, 1))
        raise ConnectionResetError

    async with at_work(working("modern", work), browser) as at:
        answer = await at.frame.evaluate(f"({CALL})({{ progressToken: 1 }})")
        assert answer["error"]["code"] == -32000
        assert "broke off" in answer["error"]["message"]
        assert len(await at.frame.evaluate(PROGRESS)) == 1


async def test_the_official_sdk_waits_longer_while_the_server_reports(
    sdk: Sdk, browser: Browser
) -> None:
    silent, left = False, asyncio.Event()

    async def work(given: Any, send: Any) -> None:
        try:
            for number in range(5):
                await asyncio.sleep(30 if silent else 0.4)
                await send(told(given, number, message="at work"))
        finally:
            left.set()

    call = """async () => {
      const said = [];
      const options = { timeout: 1000, onprogress: (one) => said.push(one.message) };
      try {
        return [said, await app.callServerTool({ name: "go", arguments: {} }, options)];
      } catch (error) {
        return [said, String(error)];
      }
    }"""
    async with at_work(working_with(sdk.html(), work), browser) as at:
        said, result = await at.frame.evaluate(call)
        assert said == ["at work"] * 5
        assert result["structuredContent"] == DONE["structuredContent"]
        # without a sign of life it gives up, and says so: the server need not go on either
        silent = True
        left.clear()
        said, error = await at.frame.evaluate(call)
        assert said == []
        assert "timed out" in error
        async with asyncio.timeout(5):
            await left.wait()


@both_eras
async def test_the_bar_tells_in_numbers_how_far_the_hosts_own_call_is(
    era: str, browser: Browser
) -> None:
    steps = [asyncio.Event(), asyncio.Event()]

    async def work(given: Any, send: Any) -> None:
        await send(told(given, 1, total=4, message="<b>Signed out</b>"))
        await steps[0].wait()
        await send(told(given, 9, total=4))
        await steps[1].wait()

    async with at_work(working(era, work), browser) as at:
        run = at.person.page.get_by_role("button", name="Run", exact=True)
        await expect(run).to_be_enabled()
        await run.click()
        await at.person.state("Running… 25 %")
        steps[0].set()
        await at.person.state("Running…")
        steps[1].set()
        await at.person.state("Ready")
