"""Policy decision points for tests: one that says what it is told to, and a real one (Cerbos)."""

import asyncio
import contextlib
import json
import subprocess
from collections.abc import AsyncIterator, Callable
from contextlib import asynccontextmanager
from pathlib import Path
from typing import Any

import aiohttp
from aiohttp import web

from demo.run.ports import free_ports
from demo.run.settings import ROOT
from tests.conftest import need

ONE, MANY = "/access/v1/evaluation", "/access/v1/evaluations"
METADATA = "/.well-known/authzen-configuration"
_CERBOS = ROOT / "node_modules" / "@cerbos" / "cerbos-linux-x64" / "cerbos-linux-x64"

Says = Callable[[dict[str, Any]], Any]


class Pdp:
    """Answers from a table of e-mail to slugs, or as `says` has it; keeps what it was asked."""

    def __init__(self, *, batches: bool = True, **may: set[str]) -> None:
        self.may = may
        self.batches = batches
        self.says: Says | None = None
        self.metadata: Any = None
        self.asked: list[web.Request] = []
        self.bodies: list[Any] = []
        self.url = ""

    @asynccontextmanager
    async def served(self, path: str = "") -> AsyncIterator[str]:
        app = web.Application()
        app.router.add_route("*", "/{rest:.*}", self._answer)
        runner = web.AppRunner(app, handler_cancellation=True, shutdown_timeout=0.1)
        await runner.setup()
        await web.TCPSite(runner, "127.0.0.1", 0).start()
        self.url = f"http://127.0.0.1:{runner.addresses[0][1]}{path}"
        try:
            yield self.url
        finally:
            await runner.cleanup()

    def _one(self, asked: Any) -> dict[str, Any]:
        person = asked["subject"]["id"].partition("@")[0]
        return {"decision": asked["resource"]["id"] in self.may.get(person, set())}

    async def _answer(self, request: web.Request) -> web.StreamResponse:
        self.asked.append(request)
        if METADATA in request.path:
            return web.json_response(self.metadata or self._metadata())
        body = json.loads(await request.read())
        self.bodies.append(body)
        if self.says is not None:
            said = self.says(body)
            said = await said if asyncio.iscoroutine(said) else said
            return said if isinstance(said, web.StreamResponse) else web.json_response(said)
        if request.path.endswith(MANY):
            each = [self._one(body | one) for one in body["evaluations"]]
            return web.json_response({"evaluations": each})
        return web.json_response(self._one(body))

    def _metadata(self) -> dict[str, str]:
        told = {
            "policy_decision_point": self.url,
            "access_evaluation_endpoint": self.url + ONE,
        }
        return told | ({"access_evaluations_endpoint": self.url + MANY} if self.batches else {})


def policy(*rules: tuple[str, str]) -> str:
    """A Cerbos policy: who (an e-mail, or a group behind `group:`) may use which server."""
    lines = ["apiVersion: api.cerbos.dev/v1", "resourcePolicy:", "  resource: mcp_server"]
    lines += ["  version: default", "  rules:"]
    for who, slug in rules:
        group = who.removeprefix("group:")
        is_group = group != who
        member = f'"{group}" in P.attr.groups' if is_group else f'P.id == "{who}"'
        lines += ["    - actions: [use]", "      effect: EFFECT_ALLOW", '      roles: ["*"]']
        lines += ["      condition:", "        match:"]
        lines += [f"          expr: '{member} && R.id == \"{slug}\"'"]
    if not rules:
        lines += ["    - {actions: [use], effect: EFFECT_DENY, roles: ['*']}"]
    return "\n".join(lines) + "\n"


@asynccontextmanager
async def cerbos(folder: Path) -> AsyncIterator[str]:
    """A running Cerbos whose policies are in this folder; it follows changes."""
    binary = need(_CERBOS if _runs() else None, "Cerbos (npm ci, on Linux x64)")
    http, grpc = free_ports(2)
    url = f"http://127.0.0.1:{http}"
    options = {
        "server.httpListenAddr": f"127.0.0.1:{http}",
        "server.grpcListenAddr": f"127.0.0.1:{grpc}",
        "storage.driver": "disk",
        "storage.disk.directory": str(folder),
        "storage.disk.watchForChanges": "true",
        "telemetry.disabled": "true",
    }
    command = [str(binary), "server", *(f"--set={name}={value}" for name, value in options.items())]
    with subprocess.Popen(command, stdout=subprocess.DEVNULL, stderr=subprocess.DEVNULL) as process:
        try:
            async with aiohttp.ClientSession() as client, asyncio.timeout(20):
                while not await _answers(client, url):
                    assert process.poll() is None, "Cerbos ended"
                    await asyncio.sleep(0.05)
            yield url
        finally:
            process.kill()


def _runs() -> bool:
    if not _CERBOS.exists():
        return False
    with contextlib.suppress(OSError):
        return subprocess.run([_CERBOS, "--version"], capture_output=True).returncode == 0
    return False


async def _answers(client: aiohttp.ClientSession, url: str) -> bool:
    with contextlib.suppress(aiohttp.ClientError):
        async with client.get(url + METADATA) as response:
            return response.status == 200
    return False
