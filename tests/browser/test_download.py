"""`ui/download-file`: nothing is saved that the person has not seen the name and size of."""

import asyncio
import base64
from pathlib import Path
from typing import Any

import pytest
from playwright.async_api import Download, Frame, expect

from tests.apphost.console import Console
from tests.browser import IN_BROWSER
from tests.browser.people import Person, until
from tests.browser.probe import probe
from tests.browser.sdk import Sdk

pytestmark = IN_BROWSER


def held(uri: str, **more: Any) -> Any:
    return {"type": "resource", "resource": {"uri": uri, "mimeType": "text/html"} | more}


async def ask(frame: Frame, *contents: Any) -> None:
    """The page asks; its answer is `asked`. (Playwright's evaluate counts as a click.)"""
    await frame.evaluate(
        "(contents) => { window.asked = ask('ui/download-file', { contents }); }", list(contents)
    )


async def press(visitor: Person, name: str) -> None:
    button = visitor.page.get_by_role("alertdialog").get_by_role("button", name=name)
    await expect(button).to_be_enabled()
    await button.click()


async def save(visitor: Person) -> Download:
    async with visitor.page.expect_download() as saving:
        await press(visitor, "Save")
    return await saving.value


async def test_the_sdk_saves_a_text_once_the_person_agrees(
    sdk: Sdk, console: Console, visitor: Person, tmp_path: Path
) -> None:
    frame = await sdk.page(console, visitor)
    await frame.evaluate(
        "(contents) => { window.asked = app.downloadFile({ contents }); }",
        [held("file:///toys/list.csv", text="a;b\r\nü\n")],
    )
    strip = visitor.page.get_by_role("alertdialog")
    await expect(strip).to_contain_text("This page wants to save list.csv (8 bytes)")
    download = await save(visitor)
    assert download.suggested_filename == "list.csv"
    await download.save_as(tmp_path / "got")
    assert (tmp_path / "got").read_bytes() == "a;b\r\nü\n".encode()
    assert await frame.evaluate("asked") == {}
    assert visitor.complaints == []  # neither policy nor Trusted Types minded


async def test_a_blob_is_saved_byte_for_byte(
    console: Console, visitor: Person, tmp_path: Path
) -> None:
    frame = await probe(console, visitor)
    raw = bytes(range(256)) * 50
    await ask(frame, held("toys://picture.png", blob=base64.b64encode(raw).decode()))
    await expect(visitor.page.get_by_role("alertdialog")).to_contain_text("picture.png (0.01 MB)")
    await (await save(visitor)).save_as(tmp_path / "got")
    assert (tmp_path / "got").read_bytes() == raw


async def test_a_link_is_read_from_the_pages_own_server(
    console: Console, visitor: Person, tmp_path: Path
) -> None:
    frame = await probe(console, visitor)
    console.toys.contents["toys://report/7"] = [{"uri": "toys://report/7", "text": "seven"}]
    link = {"type": "resource_link", "uri": "toys://report/7", "name": "Report 7.txt"}
    await ask(frame, link)
    download = await save(visitor)
    assert download.suggested_filename == "Report 7.txt"
    await download.save_as(tmp_path / "got")
    assert (tmp_path / "got").read_text() == "seven"
    await ask(frame, link | {"uri": "https://evil.test/x"})
    assert (await frame.evaluate("asked"))["error"]["message"] == "Resource not found"


async def test_cancel_saves_nothing_and_says_so(console: Console, visitor: Person) -> None:
    frame = await probe(console, visitor)
    saved: list[Download] = []
    visitor.page.on("download", lambda download: saved.append(download))
    await ask(frame, held("a.txt", text="x"))
    await press(visitor, "Cancel")
    assert (await frame.evaluate("asked"))["result"] == {"isError": True}
    await asyncio.sleep(0.2)
    assert saved == []


async def test_nothing_is_asked_without_a_click_in_the_page(
    console: Console, visitor: Person
) -> None:
    script = "<script>ready.then(async () => { window.early = await ask('ui/download-file',"
    script += " { contents: [{ type: 'resource', resource: { uri: 'a', text: 'x' } }] }); });"
    frame = await probe(console, visitor, extra=script + "</script>")
    answer = await until(frame, "window.early")
    assert answer["error"]["message"] == "This happens on a person's click only."
    assert await visitor.page.get_by_role("alertdialog").is_hidden()


NAMES = {
    "file:///etc/../../home/x/.bashrc": "bashrc",
    "..\\..\\windows\\evil.exe": "evil.exe",
    "https://x.test/a/b/report.pdf?token=1#top": "report.pdf",
    "toys://invoice\u202efdp.exe": "invoicefdp.exe",
    "a\r\nb\u0000c.txt": "abc.txt",
    "CON.txt": "_CON.txt",
    "aux": "_aux",
    'a<b>:"c|*.txt': "abc.txt",
    "...": "download",
    "": "download",
    "x" * 500 + ".csv": "x" * 80 + ".csv",
    "/.html": "html",
    "name. . ": "name",
}


@pytest.mark.parametrize(("uri", "name"), NAMES.items(), ids=map(repr, NAMES.values()))
async def test_a_name_is_only_a_name(
    console: Console, visitor: Person, uri: str, name: str
) -> None:
    frame = await probe(console, visitor)
    await ask(frame, held(uri, text="x"))
    await expect(visitor.page.locator("#link-title strong")).to_have_text(name)
    assert (await save(visitor)).suggested_filename == name


async def test_several_files_are_one_question_with_all_names(
    console: Console, visitor: Person
) -> None:
    frame = await probe(console, visitor)
    await ask(frame, held("a.txt", text="x"), held("b.txt", text="yy"))
    strip = visitor.page.get_by_role("alertdialog")
    await expect(strip).to_contain_text("This page wants to save 2 files (3 bytes)")
    assert await visitor.page.locator("#link-address").text_content() == "a.txt\nb.txt"


WRONG: list[Any] = [
    None,
    {},
    "x",
    [],
    [held("a", text="x")] * 11,
    [None],
    ["x"],
    [{"type": "resource"}],
    [{"type": "resource", "resource": "x"}],
    [{"type": "resource", "resource": {"uri": "a"}}],
    [{"type": "resource", "resource": {"uri": "a", "text": 7}}],
    [{"type": "resource", "resource": {"uri": "a", "blob": "not base64!"}}],
    [{"type": "resource_link"}],
    [{"type": "resource_link", "uri": {"a": 1}}],
]


async def test_what_is_no_file_is_refused(console: Console, visitor: Person) -> None:
    frame = await probe(console, visitor)
    for contents in WRONG:
        answer = await frame.evaluate(
            "(contents) => ask('ui/download-file', { contents })", contents
        )
        assert answer["error"]["code"] == -32602, contents
    assert await visitor.page.get_by_role("alertdialog").is_hidden()
    assert visitor.complaints == []


async def test_a_file_may_be_larger_than_any_other_message(
    console: Console, visitor: Person, tmp_path: Path
) -> None:
    frame = await probe(console, visitor)
    await frame.evaluate(
        "window.asked = ask('ui/download-file', { contents: [{ type: 'resource',"
        " resource: { uri: 'big.txt', text: 'x'.repeat(4000000) } }] }); undefined"
    )
    download = await save(visitor)
    await download.save_as(tmp_path / "got")
    assert (tmp_path / "got").stat().st_size == 4_000_000


async def test_a_request_of_any_other_kind_that_is_too_large_is_refused_and_not_left_waiting(
    console: Console, visitor: Person
) -> None:
    frame = await probe(console, visitor)
    for method, size in (("tools/call", 2_000_000), ("ui/download-file", 20_000_000)):
        answer = await frame.evaluate(
            "([method, size]) => ask(method, { name: 'x'.repeat(size) })", [method, size]
        )
        assert answer["error"]["code"] == -32600


async def test_more_than_ten_megabytes_are_not_saved(console: Console, visitor: Person) -> None:
    frame = await probe(console, visitor)
    console.toys.contents["toys://big"] = [{"uri": "toys://big", "text": "x" * 10_500_000}]
    await ask(frame, {"type": "resource_link", "uri": "toys://big", "name": "big"})
    answer = await frame.evaluate("asked")
    assert answer["error"]["message"] == "More than 10 MB is not saved from a page."
