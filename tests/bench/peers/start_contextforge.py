"""ContextForge, started and told of one server: as it comes, or tuned.

Both keep what they know in SQLite. `tuned` has a Redis, the settings of the project's own compose
file that make calls cheaper, and neither metrics in the database nor plugins.
"""

import asyncio
import os
import secrets
import subprocess
from collections.abc import Iterator
from contextlib import ExitStack, contextmanager
from pathlib import Path
from typing import Any

from aiohttp import ClientSession

from demo.run.binaries import valkey
from demo.run.child import Child
from demo.run.ports import LOOPBACK, free_ports
from demo.run.ready import answers, redis_answers
from tests.bench.caller import Call, CallFailed, Era
from tests.bench.peers.installed import Installed, Package
from tests.bench.peers.peer import Peer
from tests.peers.process import running

PACKAGE = Package("contextforge", "mcp-contextforge-gateway", least=(3, 12), below=(3, 14))
KINDS = ("default", "tuned")
# its database is made in this time too
_START_SECONDS = 180.0
_ADMIN = "admin@example.com"
_ALWAYS = {
    "PLATFORM_ADMIN_EMAIL": _ADMIN,
    # the server is on this machine
    "SSRF_PROTECTION_ENABLED": "false",
    "RATE_LIMITING_ENABLED": "false",
    "MCPGATEWAY_MCP_APPS_ENABLED": "true",
    "LOG_LEVEL": "CRITICAL",
}
_SECRETS = (
    "JWT_SECRET_KEY",
    "AUTH_ENCRYPTION_SECRET",
    "BASIC_AUTH_PASSWORD",
    "PLATFORM_ADMIN_PASSWORD",
    "DEFAULT_USER_PASSWORD",
)
_TUNED = {
    "CACHE_TYPE": "redis",
    "REDIS_PARSER": "hiredis",
    "USE_STATEFUL_SESSIONS": "true",
    "MCPGATEWAY_SESSION_AFFINITY_ENABLED": "true",
    "AUTH_CACHE_USER_TTL": "300",
    "AUTH_CACHE_REVOCATION_TTL": "120",
    "AUTH_CACHE_TEAM_TTL": "300",
    "AUTH_CACHE_ROLE_TTL": "300",
    "AUTH_CACHE_TEAMS_TTL": "300",
    "REGISTRY_CACHE_TOOLS_TTL": "300",
    "REGISTRY_CACHE_SERVERS_TTL": "300",
    "REGISTRY_CACHE_GATEWAYS_TTL": "300",
    "TOOL_LOOKUP_CACHE_TTL_SECONDS": "300",
    "STRUCTURED_LOGGING_DATABASE_ENABLED": "false",
    "DB_METRICS_RECORDING_ENABLED": "false",
    "COMPRESSION_ENABLED": "false",
    "CORRELATION_ID_ENABLED": "false",
    "PLUGINS_ENABLED": "false",
}


@contextmanager
def contextforge(folder: Path, found: Installed, server: str, kind: str) -> Iterator[Peer]:
    """In front of one server. `server`: its address."""
    folder = folder / f"contextforge-{kind}"
    folder.mkdir()
    port, redis_port = free_ports(2)
    variables = {**_ALWAYS, **_secrets(), "DATABASE_URL": f"sqlite:///{folder}/gateway.db"}
    with ExitStack() as stack:
        processes: list[Child] = []
        if kind == "tuned":
            variables |= {**_TUNED, "REDIS_URL": f"redis://{LOOPBACK}:{redis_port}/0"}
            command = [str(valkey()), "--port", str(redis_port), "--bind", LOOPBACK]
            command += ["--save", "", "--dir", str(folder)]
            log, ready = folder / "redis.log", redis_answers(redis_port)
            processes.append(stack.enter_context(running(command, log, ready, {})))
        command = [found.program("mcpgateway"), "--host", LOOPBACK, "--port", str(port)]
        command.append("--no-access-log")
        log, ready = folder / "gateway.log", answers(port, "/health")
        gateway = running(command, log, ready, variables, folder, _START_SECONDS)
        processes.append(stack.enter_context(gateway))
        token = _token(folder, found, variables)
        call = asyncio.run(_register(f"http://{LOOPBACK}:{port}", token, server))
        yield Peer(call, tuple(processes))


def _secrets() -> dict[str, str]:
    # it asks for letters of both kinds, figures and signs
    return {name: secrets.token_urlsafe(48) + "aA1!" for name in _SECRETS}


def _token(folder: Path, found: Installed, variables: dict[str, str]) -> str:
    """One of its own kind, made by its own command."""
    command = [found.program("python"), "-m", "mcpgateway.utils.create_jwt_token", "--admin"]
    command += ["--username", _ADMIN, "--exp", "1440", "--secret", variables["JWT_SECRET_KEY"]]
    done = subprocess.run(
        command,
        env={**os.environ, **variables},
        cwd=folder,
        capture_output=True,
        text=True,
        check=True,
    )
    return done.stdout.split()[-1]


async def _register(gateway: str, token: str, server: str) -> Call:
    """The call of the server's one tool, through a virtual server that offers it."""
    headers = {"Authorization": f"Bearer {token}"}
    async with ClientSession(gateway, headers=headers) as http:
        body = {"name": "bench", "url": server, "transport": "STREAMABLEHTTP"}
        made = await _asked(http, "POST", "/gateways", body)
        (tool,) = await _asked(http, "GET", f"/tools?gateway_id={made['id']}")
        offered = {"server": {"name": "bench", "associated_tools": [tool["id"]]}}
        virtual = await _asked(http, "POST", "/servers", offered)
    url = f"{gateway}/servers/{virtual['id']}/mcp"
    return Call(url, Era.MODERN, headers, tool=tool["name"])


async def _asked(http: ClientSession, method: str, path: str, body: object = None) -> Any:
    async with http.request(method, path, json=body) as answer:
        if answer.status >= 300:
            raise CallFailed(f"{path}: {answer.status} {(await answer.read())[:500]!r}")
        return await answer.json()
