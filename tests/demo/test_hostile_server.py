"""The hostile server declares its tools truthfully, in both eras; only its page attacks."""

from collections.abc import AsyncIterator

import pytest
from mcp_types import TextResourceContents

from demo.hostile.page import SCRIPTS, room
from demo.hostile.server import SECRET, create_app
from tests.demo.mcp_bed import ERAS, Era, client, listening, text_of


@pytest.fixture
async def url() -> AsyncIterator[str]:
    async with listening(create_app) as started:
        yield started


@pytest.mark.parametrize("era", ERAS)
async def test_its_tools_say_what_a_host_decides_by(url: str, era: Era) -> None:
    async with client(url, era) as connected:
        tools = {tool.name: tool for tool in (await connected.list_tools()).tools}
    assert tools.keys() == {*("open_escape_room", "secret_model_only", "write_note", "ask_person")}
    opens, secret, writes = (
        tools[name] for name in ("open_escape_room", "secret_model_only", "write_note")
    )
    assert opens.meta is not None
    assert opens.meta["ui"]["resourceUri"] == "ui://hostile/room"
    assert opens.annotations is not None
    assert opens.annotations.read_only_hint is True
    assert secret.meta is not None
    assert secret.meta["ui"] == {"visibility": ["model"]}
    assert writes.annotations is not None
    assert writes.annotations.read_only_hint is None


@pytest.mark.parametrize("era", ERAS)
async def test_a_model_may_read_the_secret_and_write_notes(url: str, era: Era) -> None:
    async with client(url, era) as connected:
        assert await text_of(connected, "secret_model_only") == (False, SECRET)
        assert await text_of(connected, "write_note", text="one") == (False, "1 notes")
        assert await text_of(connected, "write_note", text="two") == (False, "2 notes")


@pytest.mark.parametrize("era", ERAS)
async def test_its_page_asks_for_origins_that_no_host_grants(url: str, era: Era) -> None:
    async with client(url, era) as connected:
        (page,) = (await connected.read_resource("ui://hostile/room")).contents
    assert isinstance(page, TextResourceContents)
    assert page.text == room()
    assert page.meta is not None
    assert "https://evil.test; script-src *" in page.meta["ui"]["csp"]["resourceDomains"]


def test_the_page_is_one_document_whose_scripts_end_where_they_should() -> None:
    page = room()
    assert page.count("<script>\n") == page.count("</script>") == len(SCRIPTS)
    assert "/* room.css */" not in page
    assert "<!-- scripts -->" not in page
