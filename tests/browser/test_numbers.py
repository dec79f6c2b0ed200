"""Numbers of a server in a page: as near as JavaScript has them, and none of them ends a call."""

from typing import Any

from shared.numbers import Number
from tests.apphost.console import Console
from tests.browser import IN_BROWSER
from tests.browser.people import Person
from tests.browser.probe import SCHEMA, probe

pytestmark = IN_BROWSER

ODD: dict[str, Any] = {
    "far": Number("1e999"),
    "fine": Number("0.1234567890123456789012345"),
    "id": 9007199254740993,
    "long": 10**400,
    "least": Number("1e-400"),
}
SEEN = "(n) => [n.far === Infinity, n.fine, n.id, n.long === Infinity, n.least]"
NEAR = [True, 0.12345678901234568, 9007199254740992, True, 0]


async def test_a_page_gets_the_nearest_and_its_call_an_answer(
    console: Console, visitor: Person
) -> None:
    frame = await probe(console, visitor)
    console.toys.on_call = lambda _: {"content": [], "structuredContent": ODD}
    called = "ask('tools/call', { name: 'plain' }).then(({ result }) => result.structuredContent)"
    assert await frame.evaluate(f"{called}.then({SEEN})") == NEAR
    item = {"uri": "toys://odd", "text": "x", "_meta": {"odd": ODD}}
    console.toys.contents["toys://odd"] = [item]
    read = "ask('resources/read', { uri: 'toys://odd' }).then(({ result }) => result.contents[0])"
    assert await frame.evaluate(f"{read}.then((one) => one._meta.odd).then({SEEN})") == NEAR


async def test_a_tool_with_such_numbers_in_its_schema_opens_its_page(
    console: Console, visitor: Person
) -> None:
    far = {"type": "number", "default": Number("1e999"), "maximum": Number("1e999")}
    schema = SCHEMA | {"properties": {"far": far, "all": {"default": ODD}}, "required": []}
    frame = await probe(console, visitor, inputSchema=schema)
    tool = "(await ready).result.hostContext.toolInfo.tool"
    seen = f"(async () => {tool}.inputSchema.properties.far.default === Infinity)()"
    assert await frame.evaluate(seen) is True


async def test_a_page_that_sends_what_is_no_json_is_told_so_and_goes_on(
    console: Console, visitor: Person
) -> None:
    frame = await probe(console, visitor)
    for number in ("Infinity", "NaN"):
        sent = f"ask('tools/call', {{ name: 'plain', arguments: {{ n: {number} }} }})"
        assert (await frame.evaluate(sent))["error"]["code"] == -32600
    sent = "ask('tools/call', { name: 'plain', arguments: { n: Number.MAX_VALUE } })"
    assert "result" in await frame.evaluate(sent)
    assert console.relay.calls()[-1]["params"]["arguments"] == {"n": 1.7976931348623157e308}
