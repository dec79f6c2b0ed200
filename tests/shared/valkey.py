"""A real Valkey for tests, with the ACL file that `strad keys` makes."""

import socket
import subprocess
import time
from collections.abc import Iterator
from contextlib import contextmanager
from dataclasses import dataclass
from pathlib import Path

from redis import Redis
from redis.exceptions import RedisError

from cli.keys import make_keys
from demo.run import binaries
from shared.stores.redis import RedisKeyValue, connect

_TESTER = "user tester on >tester ~* &* +@all\n"


@dataclass(frozen=True)
class Valkey:
    """A running server. `keys`: the folder of `strad keys`."""

    url: str
    keys: Path
    process: subprocess.Popen[bytes]

    def password(self, service: str) -> str:
        """A service's own password, or the auditor's."""
        return (self.keys / service / "redis.password").read_text().strip()

    def connect(self, service: str, password: str | None = None) -> RedisKeyValue:
        """The store as this service, or the auditor, sees it."""
        return connect(self.url, service, password or self.password(service))

    def admin(self) -> "Redis":
        """A user of the tests alone, who may do everything."""
        return Redis.from_url(self.url, username="tester", password="tester", protocol=3)

    def later(self, seconds: float) -> None:
        """So long passes: each key has so much less to live, and ends if it had no more."""
        with self.admin() as admin:
            for key in admin.scan_iter():
                left = admin.pttl(key)
                if left >= 0:  # else it never ends
                    admin.pexpire(key, left - round(seconds * 1000))


@contextmanager
def valkey(folder: Path) -> Iterator[Valkey]:
    """Start a server on a free loopback port; gone at the end."""
    make_keys(folder / "keys")
    acl = folder / "users.acl"
    acl.write_text((folder / "keys" / "redis" / "users.acl").read_text() + _TESTER)
    with socket.create_server(("127.0.0.1", 0)) as sock:
        port = sock.getsockname()[1]
    command = [str(binaries.valkey()), "--port", str(port), "--bind", "127.0.0.1"]
    command += ["--aclfile", str(acl), "--save", "", "--appendonly", "no", "--dir", str(folder)]
    with subprocess.Popen(command, stdout=subprocess.DEVNULL) as process:
        server = Valkey(f"redis://127.0.0.1:{port}/0", folder / "keys", process)
        try:
            _wait(server)
            yield server
        finally:
            process.kill()


def _wait(server: Valkey) -> None:
    deadline = time.monotonic() + 10
    with server.admin() as admin:
        while True:
            try:
                admin.ping()
            except RedisError:
                if time.monotonic() > deadline:
                    raise
                time.sleep(0.02)
            else:
                return
