"""Which TCP ports of 127.0.0.1 are free."""

import random
import socket
from collections.abc import Collection

LOOPBACK = "127.0.0.1"
# below the ports that Linux and macOS give to outgoing connections, so that none slips in between
# the moment a port is chosen and the moment its process listens
_RANGE = range(20000, 32000)
_TRIES = 200


def is_free(port: int) -> bool:
    """Whether a server could listen there now. Raises `PermissionError` for low ports."""
    with socket.socket() as probe:
        # as servers do: a connection of the last run that is still fading must not count
        probe.setsockopt(socket.SOL_SOCKET, socket.SO_REUSEADDR, 1)
        try:
            probe.bind((LOOPBACK, port))
            probe.listen(1)  # macOS lets two bind, but not two listen
        except PermissionError:
            raise
        except OSError:
            return False
    return True


def free_ports(count: int, *, in_a_row: int = 1, but: Collection[int] = ()) -> list[int]:
    """Different free ports; each is the first of `in_a_row` free ones. Raises `OSError`.

    `but`: those that are meant for something else, which does not listen yet.
    """
    found: list[int] = []
    for start in random.sample(_RANGE, _TRIES):
        if not {*range(start, start + in_a_row)}.isdisjoint(but):
            continue
        if any(abs(start - port) < in_a_row for port in found):
            continue
        if all(is_free(start + step) for step in range(in_a_row)):
            found.append(start)
        if len(found) == count:
            return found
    raise OSError("no free TCP ports on 127.0.0.1")
