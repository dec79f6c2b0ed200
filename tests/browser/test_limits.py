"""A page that asks too much is told so, and goes on."""

import pytest

from services.apphost import limits
from tests.apphost.console import Console
from tests.browser import IN_BROWSER
from tests.browser.people import Person
from tests.browser.probe import opened, probe

pytestmark = IN_BROWSER


async def test_a_page_that_asks_too_much_gets_an_error_that_says_so(
    console: Console, visitor: Person, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(limits, "A_MINUTE", 3)  # one of them is the opening call
    frame = await probe(console, visitor)
    await opened(frame)
    calls = "Promise.all([1, 2, 3].map(() => ask('tools/call', { name: 'plain' })))"
    answers = await frame.evaluate(calls)
    refused = [answer["error"] for answer in answers if "error" in answer]
    text = "This app asks its server too much. At most 3 requests a minute: wait a moment."
    assert refused == [{"code": -32000, "message": text}]
    assert len(console.relay.calls()) == 3
    assert (await frame.evaluate("ask('ping')"))["result"] == {}
