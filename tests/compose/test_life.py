"""What happens to the containers when one of them ends."""

import time

import pytest

from shared.contracts.wire import SESSION_COOKIE
from tests.compose.engine import docker, inspect
from tests.compose.person import sign_in
from tests.compose.stack import Stack
from tests.visitor import ask

pytestmark = pytest.mark.compose

PATIENCE_SECONDS = 30


def wait_until_healthy(containers: Stack, service: str) -> None:
    identity = containers.containers[service]["Id"]
    end = time.monotonic() + PATIENCE_SECONDS
    while inspect(identity)["State"]["Health"]["Status"] != "healthy":
        assert time.monotonic() < end, f"{service} did not become healthy again"
        time.sleep(0.2)


@pytest.mark.parametrize("service", ["auth", "relay", "apphost", "provider", "catalog", "hostile"])
def test_a_process_ends_in_order_when_it_is_told_to(containers: Stack, service: str) -> None:
    identity = containers.containers[service]["Id"]
    docker("stop", identity)
    try:
        assert inspect(identity)["State"]["ExitCode"] == 0
    finally:
        docker("start", identity)
    wait_until_healthy(containers, service)


def test_a_session_outlives_a_restart_of_redis_and_of_every_service(containers: Stack) -> None:
    ada = sign_in(containers, "demo-ada", "/")
    # the store writes to disk once a second
    time.sleep(1.2)
    for service in ("redis", "auth", "relay", "apphost"):
        docker("restart", containers.containers[service]["Id"])
        wait_until_healthy(containers, service)
    assert ada.get("/").status == 200
    assert ada.cookie(SESSION_COOKIE)


def test_the_edge_says_when_a_service_does_not_answer(containers: Stack) -> None:
    identity = containers.containers["apphost"]["Id"]
    docker("stop", identity)
    try:
        answer = ask(containers.url + "/")
    finally:
        docker("start", identity)
    assert answer.status in {502, 503}
    assert "try again" in answer.text
    assert answer.headers["Retry-After"]
    assert "Server" not in answer.headers
    wait_until_healthy(containers, "apphost")
