"""The policy of a page that is shown: what it comes from, and that it is on record."""

import hashlib
from typing import Any

import pytest

from tests.apphost.conftest import HTML
from tests.apphost.console import Console, running
from tests.apphost.fake_relay import Fault
from tests.apphost.test_frame import CSP, PATH, assert_sealed

OPEN = {"ui": {"csp": {"resourceDomains": ["https://cdn.test.example"]}}}


def logged(caplog: pytest.LogCaptureFixture) -> list[dict[str, Any]]:
    return [getattr(one, "fields", {}) for one in caplog.records if one.message == "frame-policy"]


async def test_every_page_is_on_record_with_its_policy_and_the_hash_of_its_own_bytes(
    console: Console, ada: str, caplog: pytest.LogCaptureFixture
) -> None:
    caplog.set_level("INFO", "strad")
    declared = ["https://cdn.test.example", "https://*.evil.test"]
    await console.frame(PATH, ada)
    console.toys.page(HTML, _meta={"ui": {"csp": {"resourceDomains": declared}}})
    await console.frame(PATH, ada)
    own = hashlib.sha256(HTML.encode()).hexdigest()
    both = {"slug": "toys", "page": own, "scripts": False}
    assert logged(caplog) == [
        both | {"origins": (), "dropped": ()},
        both | {"origins": ("https://cdn.test.example",), "dropped": ("https://*.evil.test",)},
    ]


async def test_a_switch_of_the_operators_is_on_record_too(
    caplog: pytest.LogCaptureFixture,
) -> None:
    caplog.set_level("INFO", "strad")
    async with running(scripts=True) as console:
        console.toys.page(HTML, _meta=OPEN)
        await console.frame(PATH, await console.sign_in())
    assert [one["scripts"] for one in logged(caplog)] == [True]


async def test_what_a_tool_declares_opens_nothing(console: Console, ada: str) -> None:
    """Origins and permissions belong to the resource (SEP-1865), not to a tool."""
    ui = {"resourceUri": "ui://t/page", **OPEN["ui"], "permissions": {"camera": {}}}
    console.toys.tools.clear()
    console.toys.tool("show", _meta={"ui": ui, **OPEN["ui"]})
    answer = await console.frame("/apps/toys/frame", ada)
    assert_sealed(answer, 200)
    assert answer.headers["Content-Security-Policy"] == CSP


async def test_a_server_without_a_list_of_resources_still_shows_its_page(
    console: Console, ada: str
) -> None:
    as_usual = console.relay._answer

    def without_resources(server: Any, body: Any) -> Any:
        if body["method"] == "resources/list":
            raise Fault(-32601, "Method not found")
        return as_usual(server, body)

    console.relay._answer = without_resources  # type: ignore[method-assign]
    answer = await console.frame(PATH, ada)
    assert_sealed(answer, 200)
    assert answer.text.endswith("<title>toys</title><p>hello")
