"""What a server may send as its page, and what is refused by name."""

import base64
from typing import Any

import pytest

from tests.apphost.console import Console
from tests.apphost.test_frame import PATH, assert_sealed


def item(**changes: Any) -> dict[str, Any]:
    """A content item with some keys changed; None leaves one out."""
    whole = {"uri": "ui://t/page", "mimeType": "text/html;profile=mcp-app", "text": "<p>x"}
    return {name: value for name, value in (whole | changes).items() if value is not None}


def blob(html: bytes) -> dict[str, Any]:
    return item(text=None, blob=base64.b64encode(html).decode())


MEGA = 1024 * 1024
BAD: list[tuple[list[Any], str]] = [
    ([], "0 items"),
    ([item(), item()], "2 items"),
    (["<p>"], "1 items"),
    ([item(mimeType="text/html")], "it must be text/html;profile=mcp-app"),
    ([item(mimeType=None)], "missing"),
    ([item(mimeType="application/json")], "“application/json”"),
    ([item(text=None)], "either <code>text</code> or a base64 <code>blob</code>"),
    ([item(blob="PHA+")], "either <code>text</code> or a base64 <code>blob</code>"),
    ([item(text=7)], "either <code>text</code> or a base64 <code>blob</code>"),
    ([item(text=" \n")], "It is empty."),
    ([item(text="\ud800")], "half a character"),
    ([item(text=None, blob="PHA-")], "not base64"),
    ([item(text=None, blob="PHA")], "not base64"),
    ([blob(b"\xff\xfe<\0p\0")], "not UTF-8"),
    ([item(text="x" * (5 * MEGA + 1))], "It is 5.0 MB; the limit is 5 MB."),
    ([item(text="é" * (3 * MEGA))], "It is 6.0 MB; the limit is 5 MB."),
    ([item(text="x" * (10 * MEGA))], "It is 10.0 MB; the limit is 5 MB."),
    ([blob(b"x" * (6 * MEGA))], "It is 6.0 MB; the limit is 5 MB."),
]


@pytest.mark.parametrize(("contents", "words"), BAD, ids=[words[:30] for _, words in BAD])
async def test_what_is_no_page_is_refused_by_name(
    console: Console, ada: str, contents: list[Any], words: str
) -> None:
    console.toys.contents["ui://t/page"] = contents
    answer = await console.frame(PATH, ada)
    assert_sealed(answer, 502)
    assert words in answer.text


@pytest.mark.parametrize(
    "content",
    [
        item(text="<p>ünïcode ✓"),
        blob("<p>ünïcode ✓".encode()),
        item(text="<p>ünïcode ✓", mimeType='Text/HTML ; charset=UTF-8; profile="mcp-app"'),
    ],
)
async def test_text_and_blob_give_the_same_bytes(
    console: Console, ada: str, content: dict[str, Any]
) -> None:
    console.toys.contents["ui://t/page"] = [content]
    answer = await console.frame(PATH, ada)
    assert_sealed(answer, 200)
    assert answer.body.endswith("<p>ünïcode ✓".encode())


async def test_a_page_of_the_largest_size_is_shown(console: Console, ada: str) -> None:
    console.toys.contents["ui://t/page"] = [blob(b"x" * (5 * MEGA))]
    answer = await console.frame(PATH, ada)
    assert answer.status == 200
    assert len(answer.body) > 5 * MEGA
