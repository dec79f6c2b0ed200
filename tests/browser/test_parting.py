"""Before a page goes it is told, and has a moment: over a bridge that still answers."""

import asyncio
import time

import pytest
from playwright.async_api import Frame, expect

from shared.contracts.problems import Problem, ProblemKind
from tests.apphost.console import Console
from tests.browser import IN_BROWSER
from tests.browser.people import Person, until
from tests.browser.probe import opened, probe
from tests.browser.sdk import Sdk

pytestmark = IN_BROWSER

SAVES = """app.onteardown = async (params) => {
  await app.callServerTool({ name: "save", arguments: params });
  return {};
}; undefined"""


async def saving(sdk: Sdk, console: Console, visitor: Person) -> Frame:
    """A page that saves something when it is told to go."""
    frame = await sdk.page(console, visitor)
    await until(frame, "told.length >= 2")
    await frame.evaluate(SAVES)
    return frame


def saved(console: Console) -> list[object]:
    return [one["params"] for one in console.relay.calls() if one["params"]["name"] == "save"]


async def test_reload_waits_for_the_page_to_save(
    sdk: Sdk, console: Console, visitor: Person
) -> None:
    await saving(sdk, console, visitor)
    async with visitor.page.expect_navigation():
        await visitor.page.get_by_role("button", name="Reload").click()
    assert saved(console) == [{"name": "save", "arguments": {}}]


@pytest.mark.parametrize("name", ["Close", "strad, home"])
async def test_close_waits_for_the_page_to_save(
    sdk: Sdk, console: Console, visitor: Person, name: str
) -> None:
    await saving(sdk, console, visitor)
    await visitor.page.get_by_role("link", name=name).click()
    await visitor.page.wait_for_url(f"{visitor.url}/")
    assert len(saved(console)) == 1


async def test_a_page_may_ask_to_be_closed_and_is_told_as_always(
    sdk: Sdk, console: Console, visitor: Person
) -> None:
    frame = await saving(sdk, console, visitor)
    await frame.evaluate("void app.requestTeardown()")
    await visitor.closed("The page asked to be closed")
    assert len(saved(console)) == 1
    await expect(visitor.page.get_by_role("link", name="Open again")).to_be_visible()


async def test_a_page_whose_right_ended_is_told_once_and_gets_nothing_more(
    console: Console, visitor: Person
) -> None:
    frame = await probe(console, visitor)
    await opened(frame)
    # it answers only after it has tried to call again, which fails as the first call did
    await frame.evaluate(
        "addEventListener('message', async ({ data }) => {"
        " if (data.method !== 'ui/resource-teardown') return;"
        " await ask('tools/call', { name: 'late' });"
        " post({ jsonrpc: '2.0', id: data.id, error: { code: -32601, message: 'x' } });"
        "}); undefined"
    )
    console.relay.problem = Problem(ProblemKind.NOT_FOUND, "Ended.")
    await frame.evaluate("void ask('tools/call', { name: 'first' })")
    await visitor.closed("You no longer have this app")
    assert [call["name"] for call in visitor.calls] == ["show", "first", "late"]
    assert [one["params"]["name"] for one in console.relay.calls()] == ["show"]


async def test_a_page_that_never_answers_goes_all_the_same(
    console: Console, visitor: Person
) -> None:
    frame = await probe(console, visitor)
    await opened(frame)
    started = time.monotonic()
    await frame.evaluate("note('ui/notifications/request-teardown')")
    await visitor.closed("The page asked to be closed")
    assert 0.4 < time.monotonic() - started < 6


async def test_any_answer_will_do_but_only_to_what_was_asked(
    console: Console, visitor: Person
) -> None:
    frame = await probe(console, visitor)
    await opened(frame)
    await frame.evaluate(
        "addEventListener('message', ({ data }) => {"
        " if (data.method !== 'ui/resource-teardown') return;"
        " for (const id of ['strad-1', 0, '', data.id + ' '])"
        "  post({ jsonrpc: '2.0', id, result: {} });"
        " setTimeout(() => post({ jsonrpc: '2.0', id: data.id,"
        "  error: { code: -32601, message: 'Method not found' } }), 200);"
        "}); undefined"
    )
    started = time.monotonic()
    await frame.evaluate("note('ui/notifications/request-teardown')")
    await asyncio.sleep(0.1)
    assert await visitor.page.locator("iframe").count() == 1
    await visitor.closed("The page asked to be closed")
    assert time.monotonic() - started < 6
    assert visitor.complaints == []


async def test_a_second_document_gets_no_parting(
    sdk: Sdk, console: Console, visitor: Person
) -> None:
    frame = await saving(sdk, console, visitor)
    await frame.evaluate("void location.reload()")
    await visitor.closed("The page tried to load another page")
    await asyncio.sleep(0.3)
    assert saved(console) == []


async def test_a_page_that_never_started_is_closed_at_once(
    console: Console, visitor: Person
) -> None:
    frame = await probe(console, visitor, "?shy")
    await frame.evaluate("ready")
    await visitor.page.get_by_role("link", name="Close").click()
    await visitor.page.wait_for_url(f"{visitor.url}/")
