"""Numbers that no float holds come through as they were written."""

import json
from typing import Any

import pytest
from aiohttp import web
from hypothesis import given
from hypothesis import strategies as st

from services.relay.messages import rpc
from shared import numbers
from shared.numbers import Number
from tests.relay.house import house
from tests.relay.upstreams import LegacyFake, modern_fake

BEYOND = ["1e999", "-1E+400", "1e-400", "0.1234567890123456789012345", "9" * 5000, "-" + "1" * 4500]
HELD = ["0.5", "2.50", "1e2", "-0.0", "12345678901234567890", "1" * 4000]


@pytest.mark.parametrize("text", BEYOND)
def test_a_number_that_python_cannot_hold_is_written_as_it_came(text: str) -> None:
    raw = f'{{"a":[{text},{{"b":{text}}}],"c":"x"}}'.encode()
    for read in (rpc.loads, rpc.loads_once):
        assert rpc.dumps(read(raw)) == raw
    assert isinstance(rpc.loads(text.encode()), Number)


@pytest.mark.parametrize("text", HELD)
def test_any_other_number_is_pythons_own(text: str) -> None:
    value = rpc.loads(text.encode())
    assert value == json.loads(text)
    assert json.loads(rpc.dumps(value)) == value


_NUMBERS = st.from_regex(
    r"-?(0|[1-9][0-9]{0,40})(\.[0-9]{1,40})?([eE][-+]?[0-9]{1,5})?", fullmatch=True
)


@given(_NUMBERS)
def test_no_number_changes_its_value(text: str) -> None:
    written = rpc.dumps(rpc.loads(text.encode())).decode()
    if written != text:
        # exactly the same number, which the standard library's own reader confirms
        assert repr(float(text)) in {written, repr(json.loads(written))} or int(text) == int(
            written
        )
    assert rpc.loads(written.encode()) == rpc.loads(text.encode())


def test_a_digest_tells_such_numbers_apart() -> None:
    one, other = rpc.loads(b'{"b":1e400,"a":1}'), rpc.loads(b'{"a":1,"b":1e500}')
    assert rpc.digest(one) == rpc.digest(rpc.loads(b'{"a":1,"b":1e400}')) != rpc.digest(other)


@pytest.mark.parametrize(
    "text",
    [
        *(' {"a":1}', '{"a":1} ', '{"a":1}\r\n', "\t[1]", "[1]\n", '"x"', "1", "null"),
        *('{"a":1}{}', '{"a":1} x', '{"a":1}\u00a0', '{"a":', "{", "{}}", '{"a":nul}', "", " "),
    ],
)
def test_blanks_around_a_value_are_read_over_and_nothing_else_is(text: str) -> None:
    try:
        wanted = json.loads(text)
    except ValueError:
        with pytest.raises(json.JSONDecodeError):
            numbers.Reader().read(text)
    else:
        assert numbers.Reader().read(text) == wanted


def test_what_is_no_json_stays_unreadable_and_unwritable() -> None:
    for raw in (b"Infinity", b"NaN", b"-Infinity", b"1e", b"01", b'{"a":1,"a":2}'):
        with pytest.raises(rpc.Unreadable):
            rpc.loads_once(raw)
    with pytest.raises(TypeError):
        rpc.dumps({"a": object()})


ODD = '{"far":1e999,"fine":0.1234567890123456789012345,"long":' + "9" * 400 + "}"


def _answers_oddly(_: Any, message: dict[str, Any]) -> web.Response:
    head = json.dumps({"jsonrpc": "2.0", "id": message["id"]})[:-1]
    result = f',"result":{{"resultType":"complete","content":[],"structuredContent":{ODD}}}}}'
    return web.Response(text=head + result, content_type="application/json")


async def test_numbers_survive_where_the_relay_rewrites_a_call_and_its_result() -> None:
    fake = modern_fake([], _answers_oddly)
    meta = (
        '"io.modelcontextprotocol/protocolVersion":"2026-07-28",'
        f'"io.modelcontextprotocol/clientCapabilities":{{"x":{ODD}}}'
    )
    params = f'{{"name":"a__go","arguments":{ODD},"_meta":{{{meta}}}}}'
    body = f'{{"jsonrpc":"2.0","id":1,"method":"tools/call","params":{params}}}'
    headers = {"MCP-Protocol-Version": "2026-07-28", "Mcp-Method": "tools/call"}
    headers |= {"Mcp-Name": "a__go", "Content-Type": "application/json", "Accept": "*/*"}
    async with fake.served() as url, house([{"slug": "a", "url": url}]) as h:
        headers |= await h.bearer()
        async with h.http.post(h.url + "/mcp", data=body, headers=headers) as response:
            assert f'"structuredContent":{ODD}' in await response.text()
        sent = (await fake.seen[-1].read()).decode()
        assert f'"arguments":{ODD}' in sent
        assert f'"x":{ODD}' in sent


async def test_a_session_keeps_the_numbers_of_its_first_message() -> None:
    fake = LegacyFake()
    begin = (
        '{"jsonrpc":"2.0","id":0,"method":"initialize","params":{"protocolVersion":"2025-11-25",'
        f'"capabilities":{{"experimental":{{"x":{ODD}}}}},"clientInfo":{{"name":"t"}}}}}}'
    )
    async with fake.served() as url, house([{"slug": "a", "url": url}]) as h:
        headers = await h.bearer() | {"Content-Type": "application/json", "Accept": "*/*"}
        async with h.http.post(h.url + "/mcp", data=begin, headers=headers) as response:
            session = {"Mcp-Session-Id": response.headers["Mcp-Session-Id"]}
        call = {"jsonrpc": "2.0", "id": 1, "method": "tools/call", "params": {"name": "a__go"}}
        status, _ = await h.send("/mcp", call, headers=session)
        assert status == 200
        opened = fake.methods.index("initialize")
        assert f'"x":{ODD}' in (await fake.seen[opened].read()).decode()
