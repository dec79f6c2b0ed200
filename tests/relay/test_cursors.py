"""The merged view's cursors: every entry once, and a cursor is worth nothing in other hands."""

import base64
from typing import Any

import pytest

from services.relay.merged import merged_lists
from services.relay.merged.cursors import LIFE_SECONDS
from tests.relay.house import House, house
from tests.relay.old_caller import OldCaller
from tests.relay.twins import twin
from tests.relay.upstreams import modern_fake

OBJECT = {"type": "object"}
MEMBERS = {
    "tools/list": "tools",
    "prompts/list": "prompts",
    "resources/list": "resources",
    "resources/templates/list": "resourceTemplates",
}


@pytest.fixture(autouse=True)
def _short_pages(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(merged_lists, "PAGE_ENTRIES", 4)


def _server(count: int) -> Any:
    """As many of everything as said, two on each page of the server's own."""

    def listing(method: str) -> Any:
        def page(_: Any, message: Any) -> Any:
            start = int(message["params"].get("cursor", 0))
            numbers = range(start, min(start + 2, count))
            more = {"nextCursor": str(start + 2)} if start + 2 < count else {}
            entries = [
                {
                    "name": f"n{n}",
                    "uri": f"x://{n}",
                    "uriTemplate": f"x://{n}",
                    "inputSchema": OBJECT,
                }
                for n in numbers
            ]
            return {"result": {"resultType": "complete", MEMBERS[method]: entries} | more}

        return page

    return modern_fake(**{method: listing(method) for method in MEMBERS})


async def _pages(h: House, path: str, method: str, name: str = "ada") -> list[list[str]]:
    pages: list[list[str]] = []
    cursor = None
    while True:
        params: dict[str, Any] = {} if cursor is None else {"cursor": cursor}
        status, body = await h.modern(path, method, params, name=name)
        assert status == 200, body
        key = {"resources": "uri", "resourceTemplates": "uriTemplate"}
        member = MEMBERS[method]
        pages.append([entry[key.get(member, "name")] for entry in body["result"][member]])
        cursor = body["result"].get("nextCursor")
        if cursor is None:
            return pages


@pytest.mark.parametrize("method", MEMBERS)
async def test_pages_hold_every_entry_once_and_in_order(method: str) -> None:
    async with (
        _server(3).served() as one,
        _server(0).served() as none,
        _server(5).served() as two,
        house(
            [
                {"slug": "a", "url": one},
                {"slug": "b", "url": none},
                {"slug": "c", "url": two},
                {"slug": "d", "url": none},
            ]
        ) as h,
    ):
        pages = await _pages(h, "/mcp", method)
        assert [len(page) for page in pages] == [4, 4]
        listed = [entry for page in pages for entry in page]
        before = "strad+{}:x://{}" if "resources" in method else "{}__n{}"
        assert listed == [
            before.format(slug, n) for slug, m in (("a", 3), ("c", 5)) for n in range(m)
        ]


async def test_a_legacy_caller_gets_the_same_pages() -> None:
    async with (
        _server(9).served() as url,
        house([{"slug": "a", "url": url}]) as h,
        h.client("/mcp", "legacy") as client,
    ):
        names, cursor = [], None
        while True:
            page = await client.list_tools(cursor=cursor)
            names += [tool.name for tool in page.tools]
            cursor = page.next_cursor
            if cursor is None:
                break
        assert names == [f"a__n{n}" for n in range(9)]


async def test_a_cursor_of_another_list_person_or_view_is_refused() -> None:
    access = {"people": ["ada@strad.test", "bob@strad.test"]}
    fake = _server(9)
    async with (
        fake.served() as url,
        house([{"slug": slug, "url": url, "access": access} for slug in "abc"]) as h,
    ):
        _, body = await h.modern("/mcp?servers=a,b", "tools/list")
        cursor = body["result"]["nextCursor"]
        raw = base64.urlsafe_b64decode(cursor + "=" * (-len(cursor) % 4))
        changed = base64.urlsafe_b64encode(raw[:-1] + bytes([raw[-1] ^ 1])).decode().rstrip("=")
        asked = len(fake.messages)
        tries: list[tuple[str, str, Any, str]] = [
            ("/mcp?servers=a,b", "prompts/list", cursor, "ada"),
            ("/mcp?servers=a,b", "tools/list", cursor, "bob"),
            ("/mcp", "tools/list", cursor, "ada"),
            ("/mcp?servers=a,c", "tools/list", cursor, "ada"),
            ("/mcp?servers=a,b", "tools/list", changed, "ada"),
        ]
        odd: list[Any] = ["", "2", "a/4", cursor + "é", 4, ["x"], True]
        tries += [("/mcp?servers=a,b", "tools/list", one, "ada") for one in odd]
        for path, method, one, name in tries:
            status, body = await h.modern(path, method, {"cursor": one}, name=name)
            assert (status, body["error"]["code"]) == (400, -32602), one
            assert body["error"]["data"] == {"reason": "cursor-not-of-this-list"}
        assert len(fake.messages) == asked
        assert (await h.modern("/mcp?servers=b,a", "tools/list", {"cursor": cursor}))[0] == 200
        h.clock.offset += LIFE_SECONDS + 1
        status, body = await h.modern("/mcp?servers=a,b", "tools/list", {"cursor": cursor})
        assert (status, body["error"]["code"]) == (400, -32602)


async def test_a_cursor_into_a_server_that_one_may_not_use_any_more_is_refused() -> None:
    async with (
        _server(3).served() as one,
        _server(9).served() as two,
        house([{"slug": "a", "url": one}, {"slug": "b", "url": two}]) as h,
    ):
        _, body = await h.modern("/mcp", "tools/list")
        cursor = body["result"]["nextCursor"]
        h.tokens["ada"] = await h.token(servers=frozenset({"a"}))
        status, body = await h.modern("/mcp", "tools/list", {"cursor": cursor})
        assert (status, body["error"]["code"]) == (400, -32602)


async def test_a_server_that_fails_on_a_later_page_is_named_there() -> None:
    fake = _server(9)
    async with (
        fake.restartable() as (url, stop, start),
        _server(3).served() as other,
        house([{"slug": "a", "url": url}, {"slug": "b", "url": other}]) as h,
    ):
        _, body = await h.modern("/mcp", "tools/list")
        cursor = body["result"]["nextCursor"]
        await stop()
        status, body = await h.modern("/mcp", "tools/list", {"cursor": cursor})
        assert status == 200
        assert [tool["name"] for tool in body["result"]["tools"]] == ["b__n0", "b__n1", "b__n2"]
        assert body["result"]["_meta"]["strad/left-out"][0]["server"] == "a"
        await start()


async def test_a_cursor_of_one_replica_is_good_at_another() -> None:
    async with (
        _server(9).served() as url,
        house([{"slug": "a", "url": url}]) as h,
        twin(h) as other,
    ):
        first, second = await OldCaller.begin(h, "/mcp"), h.url
        names: list[str] = []
        params: dict[str, Any] = {}
        for at in (second, other, second):
            first.at = at
            result = (await first.ask("tools/list", **params))[-1]["result"]
            names += [tool["name"] for tool in result["tools"]]
            params = {"cursor": result.get("nextCursor")}
        assert names == [f"a__n{n}" for n in range(9)]
        assert params == {"cursor": None}
