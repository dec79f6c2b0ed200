"""What is no frame, at a frame's address: it comes in the frame's headers all the same."""

from pathlib import Path

import aiohttp
import pytest

from demo.run.ports import free_ports
from tests.apphost.console import Console
from tests.apphost.test_frame import PATH, assert_sealed
from tests.apphost.test_through_the_edge import edge

METHODS = ["HEAD", "OPTIONS", "POST", "PUT", "PATCH", "DELETE", "TRACE", "PROPFIND"]


@pytest.mark.parametrize("method", METHODS)
@pytest.mark.parametrize("signed_in", [True, False])
async def test_another_method_is_405_in_the_frames_headers(
    console: Console, ada: str, method: str, signed_in: bool
) -> None:
    answer = await console.get(PATH, ada if signed_in else None, method=method)
    assert_sealed(answer, 405)
    assert answer.headers["Allow"] == "GET"
    assert console.relay.asked == []


@pytest.mark.parametrize(
    "path",
    [
        "/apps/toys/frame/",
        "/apps/toys/frame//",
        "/apps/toys/frame/x?uri=ui%3A%2F%2Ft%2Fpage",
        "/apps/toys/frame%2F",
        "/apps/toys/frame%00",
        "/apps/toys/frame%0d%0aSet-Cookie:%20a=b",
        "/apps/toys/frame;a",
        "/apps/TOYS/frame",
        "/apps/-toys/frame",
        "/apps/to_ys/frame",
        "/apps/toys%2F..%2Ftoys/frame",
        f"/apps/{'a' * 33}/frame",
        f"/apps/{'a' * 6000}/frame",
    ],
    ids=lambda path: path[:40],
)
async def test_what_only_looks_like_a_frame_is_404_in_the_frames_headers(
    console: Console, ada: str, path: str
) -> None:
    assert_sealed(await console.frame(path, ada), 404)
    assert console.relay.asked == []


@pytest.mark.parametrize(
    ("query", "status"),
    [
        ("?%", 200),
        ("?uri=%ff", 404),
        ("?uri=ui%3A%2F%2F%00", 404),
        ("?uri=%", 404),
        (f"?uri=ui%3A%2F%2F{'x' * 2048}", 404),
        (f"?a={'x' * 7000}", 200),
        ("?a=%u1&&&==", 200),
    ],
    ids=lambda query: str(query)[:24],
)
async def test_a_malformed_query_gets_a_sealed_answer(
    console: Console, ada: str, query: str, status: int
) -> None:
    assert_sealed(await console.frame(f"/apps/toys/frame{query}", ada), status)


async def test_where_no_service_answers_the_edge_says_so_in_a_sandbox(tmp_path: Path) -> None:
    public, nobody = free_ports(2)
    async with edge(public, nobody, tmp_path), aiohttp.ClientSession() as http:
        address = f"http://127.0.0.1:{public}/apps/toys/frame"
        async with http.get(address, allow_redirects=False) as answer:
            assert answer.status in {502, 503}
            policy = answer.headers["Content-Security-Policy"]
            assert policy == "sandbox; default-src 'none'; frame-ancestors 'self'"
            assert answer.headers["X-Content-Type-Options"] == "nosniff"
            assert answer.headers["Content-Type"].startswith("text/plain")
