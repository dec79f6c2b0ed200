"""`/apps/<slug>/frame`: who may load it, and its headers on every status."""

import pytest
from aiohttp import web

from shared.contracts.problems import Problem, ProblemKind
from tests.apphost.console import Console, Reply, running

PATH = "/apps/toys/frame?uri=ui%3A%2F%2Ft%2Fpage"
CSP = (
    "sandbox allow-scripts; default-src 'none';"
    " script-src 'unsafe-inline'; style-src 'unsafe-inline';"
    " img-src data: blob:; font-src data: blob:; media-src data: blob:;"
    " connect-src 'none'; frame-src 'none'; worker-src 'none'; object-src 'none';"
    " manifest-src 'none'; base-uri 'none'; form-action 'none'; frame-ancestors 'self'"
)
FIXED = {
    "Content-Security-Policy": CSP,
    "Connection-Allowlist": "()",
    "Cross-Origin-Resource-Policy": "same-origin",
    "Cross-Origin-Opener-Policy": "same-origin",
    "Referrer-Policy": "no-referrer",
    "X-Content-Type-Options": "nosniff",
    "X-Frame-Options": "SAMEORIGIN",
    "X-DNS-Prefetch-Control": "off",
    "Origin-Agent-Cluster": "?1",
    "Cache-Control": "no-store",
    "Content-Type": "text/html; charset=utf-8",
}


def assert_sealed(answer: Reply, status: int, way_out: str = "") -> None:
    """The status, and every header of a frame exactly once. `way_out`: where its link may lead."""
    assert answer.status == status
    fixed = FIXED | {"Connection-Allowlist": f'("{way_out}")' if way_out else "()"}
    assert {name: answer.headers.getall(name) for name in fixed} == {
        name: [value] for name, value in fixed.items()
    }
    policy = answer.headers["Permissions-Policy"]
    assert "picture-in-picture=()" in policy
    assert "clipboard-write=()" in policy
    assert "self" not in policy
    assert "Location" not in answer.headers
    assert "Set-Cookie" not in answer.headers


async def test_the_hosts_iframe_gets_the_servers_page(console: Console, ada: str) -> None:
    answer = await console.frame(PATH, ada)
    assert_sealed(answer, 200)
    assert answer.text.startswith('<!doctype html><base target="_blank"><script>')
    assert answer.text.endswith("<title>toys</title><p>hello")
    assert [one["method"] for one in console.relay.asked] == ["resources/read", "resources/list"]


ADMITTED = {
    ("iframe", "same-origin"),
    ("document", "same-origin"),
    ("document", "none"),
}


@pytest.mark.parametrize("dest", ["iframe", "document", "image", "script", "embed", "empty", ""])
@pytest.mark.parametrize("site", ["same-origin", "none", "cross-site", "same-site", "NONE", ""])
async def test_only_our_own_iframe_or_a_persons_visit_loads_it(
    console: Console, ada: str, dest: str, site: str
) -> None:
    answer = await console.get(PATH, ada, Sec_Fetch_Dest=dest, Sec_Fetch_Site=site)
    if (dest, site) in ADMITTED:
        assert_sealed(answer, 200)
    else:
        app = f"{console.url}/apps/toys"
        assert_sealed(answer, 403, way_out=app if dest == "document" else "")
        assert "hello" not in answer.text
        assert f'<a href="{app}">{app}</a>' in answer.text
        assert console.relay.asked == []


async def test_a_signed_out_frame_is_told_so_and_never_redirected(console: Console) -> None:
    answer = await console.frame(PATH)
    assert_sealed(answer, 401)
    assert "You are not signed in." in answer.text


async def test_a_frame_under_another_host_is_sealed_too(console: Console, ada: str) -> None:
    answer = await console.get(PATH, ada, Host="evil.test")
    assert_sealed(answer, 421)


async def test_not_entitled_and_unknown_are_one_answer(console: Console, charles: str) -> None:
    answers = [
        await console.frame(f"/apps/{slug}/frame?uri=ui%3A%2F%2Ft%2Fpage", charles)
        for slug in ("toys", "nosuch")
    ]
    for answer in answers:
        assert_sealed(answer, 404)
    texts = [
        answer.text.replace("nosuch", "toys").replace(answer.headers["Strad-Request-Id"], "")
        for answer in answers
    ]
    assert texts[0] == texts[1]


@pytest.mark.parametrize(
    ("kind", "status"),
    [
        (ProblemKind.SIGN_IN_NEEDED, 401),
        (ProblemKind.UPSTREAM_UNREACHABLE, 502),
        (ProblemKind.UPSTREAM_REFUSED, 502),
        (ProblemKind.UPSTREAM_MALFORMED, 502),
        (ProblemKind.UPSTREAM_TOO_LARGE, 502),
        (ProblemKind.UPSTREAM_TIMEOUT, 504),
        (ProblemKind.STORE_UNAVAILABLE, 503),
        (ProblemKind.INTERNAL, 503),
    ],
)
async def test_each_failure_has_its_own_sealed_page(
    console: Console, ada: str, kind: ProblemKind, status: int
) -> None:
    console.relay.problem = Problem(kind, f"It was {kind}.", "Do this.")
    answer = await console.frame(PATH, ada)
    assert_sealed(answer, status)
    expected = "does not answer" if kind is ProblemKind.INTERNAL else f"It was {kind}."
    assert expected in answer.text


@pytest.mark.parametrize("uri", ["https://evil.test/", "file:///etc/passwd", "", "ui:/x"])
async def test_only_ui_addresses_are_read(console: Console, ada: str, uri: str) -> None:
    answer = await console.frame(f"/apps/toys/frame?uri={uri}", ada)
    assert_sealed(answer, 404)
    assert console.relay.asked == []


async def test_the_first_uri_of_the_query_is_the_hosts(console: Console, ada: str) -> None:
    await console.frame(PATH + "&uri=ui%3A%2F%2Fother", ada)
    assert console.relay.asked[0]["params"] == {"uri": "ui://t/page"}


async def test_a_direct_visit_without_a_uri_shows_the_servers_page(
    console: Console, ada: str
) -> None:
    answer = await console.get("/apps/toys/frame?view=week", ada)
    assert_sealed(answer, 200)
    assert "hello" in answer.text


async def test_a_page_the_server_lacks_is_404(console: Console, ada: str) -> None:
    answer = await console.frame("/apps/toys/frame?uri=ui%3A%2F%2Ft%2Fnone", ada)
    assert_sealed(answer, 404)
    assert "The server has no such page." in answer.text


async def test_declared_origins_open_media_and_nothing_else(console: Console, ada: str) -> None:
    declared = ["https://cdn.test.example", "https://evil.test; script-src *", "https://*.x.test"]
    meta = {"ui": {"csp": {"resourceDomains": declared, "connectDomains": ["https://a.test"]}}}
    console.toys.page("<p>x", _meta=meta)
    answer = await console.frame(PATH, ada)
    media = "data: blob: https://cdn.test.example"
    expected = CSP
    for name in ("img-src", "font-src", "media-src"):
        expected = expected.replace(f"{name} data: blob:", f"{name} {media}")
    assert answer.headers["Content-Security-Policy"] == expected
    assert answer.headers["Connection-Allowlist"] == '("https://cdn.test.example")'


async def test_the_item_wins_whole_over_the_listing(console: Console, ada: str) -> None:
    listed = {"ui": {"csp": {"resourceDomains": ["https://listed.test.example"]}}}
    console.toys.resources = [{"uri": "ui://t/page", "_meta": listed}]
    answer = await console.frame(PATH, ada)
    assert "https://listed.test.example" in answer.headers["Content-Security-Policy"]
    console.toys.page("<p>x", _meta={"ui": {"prefersBorder": True}})
    answer = await console.frame(PATH, ada)
    assert answer.headers["Content-Security-Policy"] == CSP


async def test_scripts_of_declared_origins_run_only_where_the_operator_says_so() -> None:
    declared = ["https://cdn.test.example", "https://*.evil.test"]
    async with running(scripts=True) as console:
        console.toys.page("<p>x", _meta={"ui": {"csp": {"resourceDomains": declared}}})
        answer = await console.frame(PATH, await console.sign_in())
        policy = answer.headers["Content-Security-Policy"]
        assert "; script-src 'unsafe-inline' https://cdn.test.example;" in policy
        assert "; style-src 'unsafe-inline' https://cdn.test.example;" in policy
        assert "connect-src 'none'; frame-src 'none'; worker-src 'none'" in policy
        console.toys.page("<p>x")
        answer = await console.frame(PATH, await console.sign_in())
        assert answer.headers["Content-Security-Policy"] == CSP


async def test_links_off_carries_no_link_to_the_host() -> None:
    async with running(links="off") as console:
        console.toys.page("<p>x")
        answer = await console.frame(PATH, await console.sign_in())
        assert answer.text.startswith('<base target="_blank"><script>')
        assert answer.text.endswith("</script><p>x")
        assert "x-strad/link" not in answer.text
        assert "x-strad/document" in answer.text
        assert "x-strad/blocked" in answer.text


async def test_a_gone_relay_is_named_and_no_fault_of_the_reader(console: Console, ada: str) -> None:
    for raw in (
        lambda: web.Response(text="<h1>502</h1>", status=502),
        lambda: web.json_response({"result": []}),
        lambda: web.json_response([1]),
        lambda: web.Response(text="[" * 100_000),
    ):
        console.relay.raw = raw
        answer = await console.frame(PATH, ada)
        assert_sealed(answer, 503)
        assert "The service that reaches the servers does not answer." in answer.text
