"""The stack of docker-compose.yml under a name and ports of its own."""

import json
import socket
import subprocess
from collections.abc import Iterator
from contextlib import contextmanager
from dataclasses import dataclass
from functools import cached_property
from pathlib import Path
from typing import Any

import pytest
from testcontainers.compose import DockerCompose

from tests.compose.engine import docker, inspect

ROOT = Path(__file__).parent.parent.parent
# Runs beside a container, in its network: says whether an address can be reached from there.
PROBE = """
import socket, sys
try:
    socket.create_connection((sys.argv[1], int(sys.argv[2])), 2).close()
    print("reached")
except OSError as error:
    print(error)
"""


@dataclass
class Stack:
    """A running stack. `containers` maps a service's name to what `docker inspect` says of it."""

    project: str
    port: int
    provider_port: int

    @property
    def url(self) -> str:
        """The one origin, as the browser sees it."""
        return f"http://127.0.0.1:{self.port}"

    @property
    def issuer(self) -> str:
        """The demo provider, as the browser and auth see it."""
        return f"http://provider.localhost:{self.provider_port}"

    @cached_property
    def containers(self) -> dict[str, dict[str, Any]]:
        """Every container of the project, also the one that has ended."""
        wanted = f"label=com.docker.compose.project={self.project}"
        found = map(inspect, docker("ps", "--all", "--quiet", "--filter", wanted).split())
        return {one["Config"]["Labels"]["com.docker.compose.service"]: one for one in found}

    def execute(self, service: str, *command: str) -> str:
        """What a command prints inside a service's container."""
        return docker("exec", self.containers[service]["Id"], *command)

    def address(self, service: str, network: str) -> str:
        """A container's IPv4 address in one of the project's networks."""
        networks = self.containers[service]["NetworkSettings"]["Networks"]
        address: str = networks[f"{self.project}_{network}"]["IPAddress"]
        return address

    def reach(self, service: str, host: str, port: int) -> str:
        """ "reached", or the error, for a connection made from a service's network."""
        beside = f"container:{self.containers[service]['Id']}"
        command = ["python", "-c", PROBE, host, str(port)]
        return docker("run", "--rm", "--network", beside, "strad-relay", *command).strip()


@contextmanager
def stack_up(project: str) -> Iterator[Stack]:
    """Builds and starts everything, waits until it is healthy, and removes it all at the end."""
    port, provider_port = _free_ports()
    stack = Stack(project, port, provider_port)
    with pytest.MonkeyPatch.context() as environment:
        environment.setenv("COMPOSE_PROJECT_NAME", project)
        environment.setenv("STRAD_PORT", str(stack.port))
        environment.setenv("STRAD_PROVIDER_PORT", str(stack.provider_port))
        for name in ("STRAD_CONFIG_FILE", "STRAD_PUBLIC_URL", "STRAD_LISTEN"):
            environment.delenv(name, raising=False)
        # a developer's .env must not change what is tested
        compose = DockerCompose(ROOT, build=True, profiles=["demo"], env_file="/dev/null")
        try:
            compose.start()
            yield stack
        except subprocess.CalledProcessError as error:
            out, _ = compose.get_logs()
            said = (error.stderr or b"").decode(errors="replace")
            pytest.fail(f"the stack did not come up:\n{said[-4000:]}\n{out[-8000:]}")
        finally:
            compose.stop()


def _free_ports() -> tuple[int, int]:
    with (
        socket.create_server(("127.0.0.1", 0)) as one,
        socket.create_server(("127.0.0.1", 0)) as other,
    ):
        return one.getsockname()[1], other.getsockname()[1]


def processes(stack: Stack, service: str) -> dict[str, str]:
    """/proc/1/status of a service's container, as name and value."""
    lines = stack.execute(service, "cat", "/proc/1/status").splitlines()
    return {name: value.strip() for name, _, value in (line.partition(":") for line in lines)}


def publishers(stack: Stack) -> dict[str, set[str]]:
    """The host addresses at which each service is published, without those that have none."""
    found: dict[str, set[str]] = {}
    for service, container in stack.containers.items():
        for bindings in container["NetworkSettings"]["Ports"].values():
            for binding in bindings or []:
                found.setdefault(service, set()).add(binding["HostIp"])
    return found


def networks(stack: Stack) -> dict[str, dict[str, Any]]:
    """Each network of the project by its short name."""
    wanted = f"label=com.docker.compose.project={stack.project}"
    names = docker("network", "ls", "--quiet", "--filter", wanted).split()
    found = json.loads(docker("network", "inspect", *names))
    return {one["Labels"]["com.docker.compose.network"]: one for one in found}
