"""`/apps/<slug>`: which page is shown, what the host's script is told, what the page may reach."""

import json
import re
from typing import Any

import pytest

from services.apphost import policy_facts
from services.apphost.introduction import introduction
from shared.contracts.identity import SessionKind
from shared.contracts.problems import Problem, ProblemKind
from tests.apphost.console import Console
from tests.apphost.fake_relay import Fault


def boot(text: str) -> dict[str, Any]:
    """What the page tells the host's script."""
    found = re.search(r'<script type="application/json" id="boot">(.*?)</script>', text, re.S)
    assert found, text
    told: dict[str, Any] = json.loads(found[1])
    return told


def tool_info(text: str) -> Any:
    """The tool that the page is told of."""
    return boot(text)["introduction"]["hostContext"]["toolInfo"]["tool"]


async def test_the_script_is_told_what_the_operator_and_the_server_said(
    console: Console, ada: str
) -> None:
    answer = await console.get("/apps/toys", ada)
    told = boot(answer.text)
    assert told.pop("remedies") == policy_facts.REMEDIES
    assert told == {
        "name": "Toy shop",
        "page": "ui://t/page",
        "frame": "/apps/toys/frame",
        "call": "/apps/toys/tools/call",
        "reads": "/apps/toys",
        "sandbox": "allow-scripts",
        "introduction": introduction(
            {"name": "show", "inputSchema": {"type": "object"}}, look_only=False
        ),
        "tool": "show",
        "fields": [],
        "defaults": {},
        "readOnly": True,
        "lookOnly": False,
    }


async def test_a_page_that_may_call_what_writes_is_not_said_to_only_read(
    console: Console, ada: str
) -> None:
    console.toys.tool("restock", _meta={"ui": {"visibility": ["app"]}})
    answer = await console.get("/apps/toys", ada)
    assert "Reads only" not in answer.text
    assert "It may call tools that may change something: plain, restock." in answer.text
    assert boot(answer.text)["readOnly"] is True  # its own tool still runs as it opens


async def test_what_a_page_cannot_call_and_what_the_operator_vouches_for_writes_nothing(
    console: Console, ada: str
) -> None:
    console.toys.tools.pop()
    console.toys.tool("for_models", _meta={"ui": {"visibility": ["model"]}})
    console.toys.tool("trusted")
    answer = await console.get("/apps/toys", ada)
    assert "Reads only" in answer.text
    assert "It may call only tools that read." in answer.text


async def test_the_host_page_reaches_its_own_frame_and_routes_only(
    console: Console, ada: str
) -> None:
    answer = await console.get("/apps/toys", ada)
    base = f"{console.url}/apps/toys"
    assert answer.headers.getall("Content-Security-Policy") == [
        "default-src 'none'; script-src 'self'; style-src 'self'; img-src 'self' data:;"
        f" connect-src {base}/tools/call {base}/tools/list"
        f" {base}/resources/read {base}/resources/list; frame-src {base}/frame;"
        " frame-ancestors 'none'; base-uri 'none'; form-action 'none'; object-src 'none';"
        " require-trusted-types-for 'script'; trusted-types 'none'"
    ]
    assert answer.headers["Referrer-Policy"] == "no-referrer"
    assert answer.headers["X-Frame-Options"] == "DENY"
    assert answer.headers["Cross-Origin-Opener-Policy"] == "same-origin"
    assert answer.headers["Cache-Control"] == "no-store"
    granted = re.findall(r"([a-z-]+)=\((?!\))", answer.headers["Permissions-Policy"])
    assert granted == ["clipboard-write", "fullscreen"]


async def test_no_markup_of_a_server_becomes_ours(console: Console, ada: str) -> None:
    evil = "</script><script src=x><img onerror=1>\"'"
    console.toys.tools = []
    console.toys.tool(evil, "ui://t/page", title=evil, description=evil)
    console.toys.tools[0]["inputSchema"]["description"] = evil
    answer = await console.get("/apps/toys", ada)
    assert tool_info(answer.text)["description"] == evil
    outside = answer.text.replace(json.dumps(evil), "")
    assert "<img" not in outside
    assert "<script src=x" not in outside


async def test_the_operators_word_on_a_tool_wins_over_its_hint(console: Console, ada: str) -> None:
    console.toys.tools = []
    console.toys.tool("trusted", "ui://t/page")
    assert boot((await console.get("/apps/toys", ada)).text)["readOnly"] is True


@pytest.mark.parametrize("hint", [None, False, "true", 1])
async def test_a_tool_that_does_not_say_it_only_reads_counts_as_writing(
    console: Console, ada: str, hint: object
) -> None:
    console.toys.tools = []
    console.toys.tool("show", "ui://t/page", annotations={"readOnlyHint": hint})
    answer = await console.get("/apps/toys", ada)
    assert boot(answer.text)["readOnly"] is False
    assert "Reads only" not in answer.text


async def test_the_flat_key_is_read_and_the_nested_one_wins(console: Console, ada: str) -> None:
    console.toys.tools = [{"name": "flat", "_meta": {"ui/resourceUri": "ui://t/page"}}]
    assert boot((await console.get("/apps/toys", ada)).text)["page"] == "ui://t/page"
    both = {"ui/resourceUri": "ui://t/old", "ui": {"resourceUri": "ui://t/page"}}
    console.toys.tools = [{"name": "both", "_meta": both}]
    assert boot((await console.get("/apps/toys", ada)).text)["page"] == "ui://t/page"


async def test_a_page_address_that_is_not_ui_is_a_named_error(console: Console, ada: str) -> None:
    console.toys.tools = [{"name": "odd", "_meta": {"ui": {"resourceUri": "https://evil.test"}}}]
    answer = await console.get("/apps/toys", ada)
    assert answer.status == 502
    assert "<code>odd</code> must name a ui:// address" in answer.text


async def test_a_page_that_no_tool_names_is_shown_without_a_call(
    console: Console, ada: str
) -> None:
    console.toys.tools = []
    page = {"uri": "ui://t/page", "name": "A page", "mimeType": "text/html;profile=mcp-app"}
    console.toys.resources = [page, {"uri": "ui://t/x", "mimeType": "text/plain"}]
    told = boot((await console.get("/apps/toys", ada)).text)
    assert (told["page"], told["tool"], told["readOnly"]) == ("ui://t/page", None, False)


async def test_several_pages_give_a_choice_and_uri_picks_one(console: Console, ada: str) -> None:
    console.toys.tool("edit", "ui://t/edit", title="Edit <toys>")
    answer = await console.get("/apps/toys", ada)
    assert 'href="/apps/toys?uri=ui%3A//t/edit"' in answer.text
    assert "Edit &lt;toys&gt;" in answer.text
    assert "boot" not in answer.text
    picked = await console.get("/apps/toys?uri=ui%3A//t/edit&view=x", ada)
    assert boot(picked.text)["page"] == "ui://t/edit"


async def test_a_uri_that_is_none_of_the_servers_pages_is_404(console: Console, ada: str) -> None:
    for uri in ("ui://t/none", "", "https://evil.test", "ui://t/page/"):
        answer = await console.get(f"/apps/toys?uri={uri}", ada)
        assert answer.status == 404
        assert "This server has no such page." in answer.text


async def test_a_server_without_a_page_says_how_else_to_use_it(console: Console, ada: str) -> None:
    console.toys.tools = [{"name": "plain"}]
    answer = await console.get("/apps/toys", ada)
    assert answer.status == 404
    assert "Toy shop ships no page." in answer.text
    assert "Use its 1 tool from an MCP client." in answer.text


async def test_not_entitled_and_unknown_are_one_answer(console: Console, charles: str) -> None:
    texts = []
    for slug in ("toys", "nosuch"):
        answer = await console.get(f"/apps/{slug}", charles)
        assert answer.status == 404
        texts.append(answer.text.replace(answer.headers["Strad-Request-Id"], ""))
    assert texts[0] == texts[1].replace("nosuch", "toys")
    assert "Toy shop" not in texts[0]


async def test_both_kinds_of_no_ask_the_relay_the_same(console: Console, charles: str) -> None:
    for slug in ("toys", "nosuch"):
        await console.get(f"/apps/{slug}", charles)
    methods = sorted(one["method"] for one in console.relay.asked)
    assert methods == ["resources/list"] * 2 + ["tools/list"] * 2


async def test_a_server_with_pages_only_needs_no_tools(console: Console, ada: str) -> None:
    console.toys.resources = [{"uri": "ui://t/page", "mimeType": "text/html;profile=mcp-app"}]
    answer_as_usual = console.relay._answer

    def without_tools(server: Any, body: Any) -> Any:
        if body["method"] == "tools/list":
            raise Fault(-32601, "Method not found")
        return answer_as_usual(server, body)

    console.relay._answer = without_tools  # type: ignore[method-assign]
    assert boot((await console.get("/apps/toys", ada)).text)["tool"] is None


async def test_a_broken_list_of_resources_does_not_hide_a_declared_page(
    console: Console, ada: str
) -> None:
    answer_as_usual = console.relay._answer

    def without_resources(server: Any, body: Any) -> Any:
        if body["method"] == "resources/list":
            raise Fault(-32603, "broken")
        return answer_as_usual(server, body)

    console.relay._answer = without_resources  # type: ignore[method-assign]
    assert boot((await console.get("/apps/toys", ada)).text)["page"] == "ui://t/page"


async def test_a_look_only_session_is_told_so(console: Console) -> None:
    cookie = await console.sign_in(kind=SessionKind.TOKEN)
    assert boot((await console.get("/apps/toys", cookie)).text)["lookOnly"] is True


@pytest.mark.parametrize(
    ("kind", "status"),
    [
        (ProblemKind.UPSTREAM_UNREACHABLE, 502),
        (ProblemKind.UPSTREAM_TIMEOUT, 504),
        (ProblemKind.STORE_UNAVAILABLE, 503),
    ],
)
async def test_a_server_that_fails_has_its_own_page(
    console: Console, ada: str, kind: ProblemKind, status: int
) -> None:
    console.relay.problem = Problem(kind, f"It was {kind}.", "Do this.")
    answer = await console.get("/apps/toys", ada)
    assert answer.status == status
    assert f"It was {kind}." in answer.text
    assert "Do this." in answer.text


async def test_a_session_that_ended_at_the_relay_leads_to_sign_in(
    console: Console, ada: str
) -> None:
    console.relay.problem = Problem(ProblemKind.SIGN_IN_NEEDED, "The session ended.")
    answer = await console.get("/apps/toys", ada)
    assert answer.status == 303
    assert answer.headers["Location"].startswith("/auth/sign-in?return_to=")


async def test_a_schema_that_a_page_would_choke_on_is_left_out(console: Console, ada: str) -> None:
    console.toys.tools = []
    console.toys.tool("show", "ui://t/page", inputSchema=[1], title=7, annotations="x")
    answer = await console.get("/apps/toys", ada)
    assert boot(answer.text)["fields"] == []
    assert tool_info(answer.text) == {"name": "show", "inputSchema": {"type": "object"}}
