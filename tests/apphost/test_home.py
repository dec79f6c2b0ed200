"""`/`: the person's servers, their state in words, and what to do when there is none."""

from services.apphost.modules import FOLDER
from shared.contracts.problems import Problem, ProblemKind
from tests.apphost.console import Console


async def test_the_home_page_lists_only_what_the_person_may_use(
    console: Console, ada: str, charles: str
) -> None:
    mine = await console.get("/", ada)
    assert mine.status == 200
    assert 'href="/apps/toys"' in mine.text
    assert "The other" in mine.text
    theirs = await console.get("/", charles)
    assert "toys" not in theirs.text
    assert "No servers for you yet" in theirs.text
    assert "charles@strad.test" in theirs.text


async def test_a_server_that_does_not_answer_says_why_and_is_no_link(
    console: Console, ada: str
) -> None:
    console.toys.state = "unavailable"
    console.toys.detail = "The server refused the connection. <b>"
    answer = await console.get("/", ada)
    assert "Not reachable" in answer.text
    assert "The server refused the connection. &lt;b&gt;" in answer.text
    assert 'href="/apps/toys"' not in answer.text


async def test_a_server_without_a_page_says_how_else_to_use_it(console: Console, ada: str) -> None:
    console.toys.tools = [{"name": "a"}, {"name": "b"}]
    answer = await console.get("/", ada)
    assert "Use its 2 tools from a client." in answer.text
    assert "offers neither a page nor tools" in answer.text  # the other one
    assert 'href="/apps/' not in answer.text


async def test_several_pages_are_named(console: Console, ada: str) -> None:
    console.toys.tool("edit", "ui://t/edit")
    assert "2 pages: show, edit" in (await console.get("/", ada)).text


async def test_the_home_page_says_where_clients_connect(console: Console, ada: str) -> None:
    answer = await console.get("/", ada)
    assert f"{console.url}/mcp" in answer.text
    assert 'href="/auth/tokens"' in answer.text


async def test_a_signed_out_visitor_is_sent_to_sign_in(console: Console) -> None:
    answer = await console.get("/")
    assert (answer.status, answer.headers["Location"]) == (303, "/auth/sign-in?return_to=%2F")


async def test_a_relay_that_is_gone_is_told(console: Console, ada: str) -> None:
    console.relay.problem = Problem(ProblemKind.INTERNAL, "inside", "secret inside")
    answer = await console.get("/", ada)
    assert answer.status == 503
    assert "secret inside" not in answer.text
    assert "does not answer" in answer.text


async def test_a_use_of_the_session_is_noted(console: Console, ada: str) -> None:
    await console.get("/", ada)
    digest = console.sessions.digest(ada)
    assert await console.store.get(f"seen:sess:{digest}") is not None


async def test_our_own_files_are_served_by_name_and_nothing_else(console: Console) -> None:
    page = await console.get("/apps/toys", await console.sign_in())
    path = page.text.split('type="module" src="')[1].split('"')[0]
    script = await console.get(path)
    assert script.status == 200
    assert script.headers["Content-Type"] == "text/javascript; charset=utf-8"
    assert "immutable" in script.headers["Cache-Control"]
    folder = path.rsplit("/", 1)[0]
    for name in ("types.d.ts", "..%2F..%2Fapp.py", "nosuch.js", "host.js%00"):
        assert (await console.get(f"{folder}/{name}")).status == 404
    old = await console.get("/static/host/000000000000/host.js")
    assert old.headers["Cache-Control"] == "no-store"


def test_the_browser_code_stays_small() -> None:
    lines = [line.strip() for path in FOLDER.glob("*.js") for line in path.read_text().splitlines()]
    code = [line for line in lines if line and not line.startswith(("//", "/*", "*"))]
    assert 500 < len(code) < 1000
