"""Numbers come from the server to the page, and from the page to the server, as they were written.

JSON has no largest number and no last digit; what JavaScript makes of them is its own affair, and
none of them may end a call.
"""

import json
from typing import Any

import pytest
from aiohttp import web

from shared.contracts.wire import SESSION_COOKIE
from shared.numbers import Number
from shared.web.lines import LINES_TYPE
from tests.apphost.console import Console
from tests.apphost.pair import CALL, Pair, pair
from tests.apphost.test_host_page import boot
from tests.relay.test_progress import GO
from tests.relay.upstreams import Fake, modern_fake

ODD = (
    '{"far":1e999,"fine":0.1234567890123456789012345,"id":12345678901234567890,"least":-1E-400,'
    '"long":' + "9" * 5000 + ',"zero":-0.0}'
)
PAGE = "ui://toys/view.html"


def _oddly(member: str) -> Any:
    """An answer of the server that holds them."""

    def answer(_: Any, message: dict[str, Any]) -> web.Response:
        head = json.dumps({"jsonrpc": "2.0", "id": message["id"]})[:-1]
        result = f'"resultType":"complete","ttlMs":0,"cacheScope":"private",{member}'
        return web.Response(text=f'{head},"result":{{{result}}}}}', content_type="application/json")

    return answer


def server() -> Fake:
    """One whose result, resource and schema hold them."""
    properties = (
        f'"far":{{"type":"number","default":1e999,"maximum":1e999}},"all":{{"default":{ODD}}}'
    )
    schema = f'{{"type":"object","properties":{{{properties}}}}}'
    ui = f'"_meta":{{"ui":{{"resourceUri":"{PAGE}"}}}}'
    more = {
        "tools/list": _oddly(f'"tools":[{{"name":"go","inputSchema":{schema},{ui}}}]'),
        "resources/read": _oddly(
            f'"contents":[{{"uri":"x://r","text":"x","_meta":{{"odd":{ODD}}}}}]'
        ),
        "resources/list": _oddly(f'"resources":[{{"uri":"x://r","name":"r","size":{"9" * 4500}}}]'),
    }
    call = _oddly(f'"content":[],"structuredContent":{ODD}')
    return modern_fake(None, call, **more)


async def _post(p: Pair, route: str, text: str) -> tuple[int, str]:
    headers = {"Content-Type": "application/json", "Origin": p.url, "Sec-Fetch-Site": "same-origin"}
    headers["Cookie"] = f"{SESSION_COOKIE}={p.cookie}"
    async with p.house.http.post(f"{p.url}/apps/a/{route}", data=text, headers=headers) as answer:
        return answer.status, await answer.text()


@pytest.mark.parametrize("accept", [LINES_TYPE, "*/*"])
async def test_a_result_reaches_the_page_with_every_digit(accept: str) -> None:
    async with (
        server().served() as url,
        pair([{"slug": "a", "url": url}]) as p,
        p.calling(accept=accept) as response,
    ):
        assert response.status == 200
        assert f'"structuredContent":{ODD}' in await response.text()


async def test_arguments_reach_the_server_with_every_digit() -> None:
    fake = server()
    async with fake.served() as url, pair([{"slug": "a", "url": url}]) as p:
        given = ODD.replace("9" * 5000, "9" * 400)  # what the server of this test can read itself
        body = json.dumps(CALL).replace('"arguments": {}', f'"arguments":{given}')
        assert (await _post(p, "tools/call", body))[0] == 200
        assert f'"arguments":{given}' in (await fake.seen[-1].read()).decode()


async def test_what_a_page_reads_has_every_digit() -> None:
    async with server().served() as url, pair([{"slug": "a", "url": url}]) as p:
        status, text = await _post(p, "resources/read", '{"uri":"x://r"}')
        assert (status, f'"odd":{ODD}' in text) == (200, True)
        status, text = await _post(p, "resources/list", "{}")
        assert (status, '"size":' + "9" * 4500 in text) == (200, True)
        status, text = await _post(p, "tools/list", "{}")
        assert (status, f'"default":{ODD}' in text) == (200, True)


async def test_a_schema_with_such_numbers_still_makes_a_page_that_can_be_read(
    console: Console, ada: str
) -> None:
    odd = {"far": Number("1e999"), "fine": Number("0.1234567890123456789012345")}
    properties = {
        "far": {"type": "number", "default": Number("1e999"), "maximum": Number("1e999")},
        "fine": {"type": "number", "minimum": odd["fine"], "default": odd["fine"]},
        "all": {"default": odd},
        "most": {"type": "integer", "maximum": 10**400},
    }
    console.toys.tools[0]["inputSchema"] = {"type": "object", "properties": properties}
    console.toys.page("<p>x</p>")
    answer = await console.get("/apps/toys", ada)
    assert answer.status == 200
    assert '"default": 1e999' in answer.text or '"default":1e999' in answer.text
    for text in ("Infinity", "NaN"):
        assert text not in answer.text.split('id="boot">')[1].split("</script>")[0]
    drawn = {one["name"]: one["attributes"] for one in boot(answer.text)["fields"]}
    assert drawn["fine"]["value"] == "0.1234567890123456789012345"
    assert drawn["fine"]["min"] == 0.12345678901234568
    assert not {"min", "max"} & (set(drawn["far"]) | set(drawn["most"]))
    assert json.loads(drawn["all"]["value"], parse_float=str) == {
        "far": "1e999",
        "fine": "0.1234567890123456789012345",
    }


@pytest.mark.parametrize("text", ["NaN", "Infinity", "-Infinity", "01", "1e", "+1"])
async def test_what_is_no_number_is_refused_from_a_page_and_from_a_server(text: str) -> None:
    fake = modern_fake([GO], _oddly(f'"structuredContent":{text}'))
    async with fake.served() as url, pair([{"slug": "a", "url": url}]) as p:
        body = json.dumps(CALL).replace('"arguments": {}', f'"arguments":{{"a":{text}}}')
        assert (await _post(p, "tools/call", body))[0] == 400
        status, told = await _post(p, "tools/call", json.dumps(CALL))
        assert (status, json.loads(told)["type"]) == (502, "urn:strad:problem:upstream-malformed")
