"""What metrics say, and who reads them: who holds the token of the operator, and nobody else."""

import time
from collections.abc import AsyncIterator

import pytest
from aiohttp import web
from aiohttp.test_utils import TestClient, TestServer

from shared import metrics
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


def test_what_is_counted_can_be_read_by_its_name_and_labels() -> None:
    for status, seconds in ((200, 0.003), (200, 0.005), (502, 20)):
        metrics.request("relay", "/counted", status, seconds)
    lines = metrics.text().decode().splitlines()
    found = [line for line in lines if 'route="/counted"' in line and "_created{" not in line]
    labels, bounds = 'route="/counted",service="relay"', "0.005 0.01 0.025 0.05 0.075 0.1 0.25 0.5"
    assert found == [
        f'strad_requests_total{{{labels},status="200"}} 2.0',
        f'strad_requests_total{{{labels},status="502"}} 1.0',
        *(
            f'strad_request_seconds_bucket{{le="{bound}",{labels}}} 2.0'
            for bound in f"{bounds} 0.75 1.0 2.5 5.0 7.5 10.0".split()
        ),
        f'strad_request_seconds_bucket{{le="+Inf",{labels}}} 3.0',
        f"strad_request_seconds_count{{{labels}}} 3.0",
        f"strad_request_seconds_sum{{{labels}}} 20.008",
    ]
    assert {"# TYPE strad_requests_total counter", "# TYPE strad_request_seconds histogram"} < {
        *lines
    }


def test_what_is_counted_says_since_when() -> None:
    began = time.time()
    metrics.request("relay", "/counted-since", 200, 0.1)
    for name in ("strad_requests", "strad_request_seconds"):
        labels = {"service": "relay", "route": "/counted-since"}
        labels |= {"status": "200"} if name == "strad_requests" else {}
        since = metrics.REGISTRY.get_sample_value(f"{name}_created", labels)
        assert since is not None
        assert began <= since <= time.time()
