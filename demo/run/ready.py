"""Signs of life. Each answers at once, or within half a second."""

import http.client
import socket
from collections.abc import Callable

from demo.run.ports import LOOPBACK

TIMEOUT_SECONDS = 0.5

Probe = Callable[[], bool]
"""Whether a process can be used now."""


def answers(port: int, path: str, host: str = "") -> Probe:
    """An HTTP server that answers GET with anything below 500. `host`: the Host header."""

    def probe() -> bool:
        connection = http.client.HTTPConnection(LOOPBACK, port, timeout=TIMEOUT_SECONDS)
        try:
            connection.request("GET", path, headers={"Host": host} if host else {})
            return connection.getresponse().status < 500
        except (OSError, http.client.HTTPException):
            return False
        finally:
            connection.close()

    return probe


def redis_answers(port: int) -> Probe:
    """A Redis server. It lets nobody in without a password, so its refusal is the sign of life."""

    def probe() -> bool:
        try:
            with socket.create_connection((LOOPBACK, port), TIMEOUT_SECONDS) as connection:
                connection.sendall(b"PING\r\n")
                return connection.recv(64).startswith((b"-NOAUTH", b"+PONG"))
        except OSError:
            return False

    return probe
