"""The Docker engine, through its own command."""

import json
import subprocess
from typing import Any


class EngineError(Exception):
    """A `docker` command failed; holds what it printed."""


def docker(*arguments: str, timeout: float = 60) -> str:
    """What `docker …` prints. Raises EngineError if it fails or takes more than `timeout` s."""
    try:
        done = subprocess.run(
            ["docker", *arguments], capture_output=True, text=True, timeout=timeout, check=False
        )
    except (OSError, subprocess.TimeoutExpired) as error:
        raise EngineError(str(error)) from error
    if done.returncode:
        raise EngineError(f"docker {' '.join(arguments)}: {done.stderr.strip()}")
    return done.stdout


def why_not() -> str | None:
    """Why the containers cannot be tested on this machine, or None."""
    try:
        major = int(docker("version", "--format", "{{.Server.Version}}", timeout=20).split(".")[0])
        docker("compose", "version", timeout=20)
    except (EngineError, ValueError) as error:
        return f"NO DOCKER ENGINE WITH COMPOSE ANSWERS: {error}"
    return None if major >= 25 else f"THE DOCKER ENGINE IS TOO OLD: {major}, and 25 is needed"


def inspect(container: str) -> dict[str, Any]:
    """`docker inspect` of one container."""
    found: list[dict[str, Any]] = json.loads(docker("inspect", container))
    return found[0]
