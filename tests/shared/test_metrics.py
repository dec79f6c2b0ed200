"""Who reads the metrics: who holds the token of the operator, and nobody else."""

from collections.abc import AsyncIterator

import pytest
from aiohttp import web
from aiohttp.test_utils import TestClient, TestServer

from shared.contracts.config import Config
from shared.contracts.wire import HEALTH_PATH, METRICS_PATH, READY_PATH, Service
from shared.stores.memory import MemoryKeyValue
from shared.web.app import build
from shared.web.problems import renderer
from shared.web.serve import health_routes
from tests.shared.documents import GOOD

TOKEN = "t" * 64
Client = TestClient[web.Request, web.Application]


async def internal(token: str) -> Client:
    app = build(
        Service.RELAY,
        health_routes(MemoryKeyValue(), token),
        config=Config.model_validate(GOOD),
        render=renderer(),
        identify={},
        internal=True,
    )
    return TestClient(TestServer(app))


@pytest.fixture
async def client() -> AsyncIterator[Client]:
    async with await internal(TOKEN) as found:
        yield found


async def test_metrics_open_to_their_token(client: Client) -> None:
    answer = await client.get(METRICS_PATH, headers={"Authorization": f"Bearer {TOKEN}"})
    assert answer.status == 200
    assert "strad_requests" in await answer.text()


@pytest.mark.parametrize(
    "given",
    [
        [],
        ["Bearer"],
        ["Bearer "],
        [f"Bearer {TOKEN[1:]}"],
        [f"Bearer {TOKEN}x"],
        [f"Basic {TOKEN}"],
        [TOKEN],
        ["Bearer \xff"],
        [f"Bearer {TOKEN}", f"Bearer {TOKEN}"],
    ],
)
async def test_nobody_else_reads_them(client: Client, given: list[str]) -> None:
    headers = [("Authorization", one) for one in given]
    answer = await client.get(METRICS_PATH, headers=headers)
    assert answer.status == 401
    assert "strad_requests" not in await answer.text()


async def test_without_a_token_they_open_to_nobody() -> None:
    async with await internal("") as client:
        for given in ("Bearer ", "Bearer", ""):
            answer = await client.get(METRICS_PATH, headers={"Authorization": given})
            assert answer.status == 401


async def test_health_needs_no_token(client: Client) -> None:
    for path in (HEALTH_PATH, READY_PATH):
        assert (await client.get(path)).status == 200
