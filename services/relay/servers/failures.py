"""What goes wrong with a server, as the problem that a person reads."""

from types import TracebackType

import aiohttp

from shared.contracts.config import Server
from shared.contracts.problems import Problem, ProblemKind

MAX_ANSWER_BYTES = 16 * 1024 * 1024
CONNECT_SECONDS = 5.0


class told:  # noqa: N801 (it is used as a function)
    """Turn what goes wrong while reading from a server into a named problem."""

    __slots__ = ("_server",)

    def __init__(self, server: Server) -> None:
        self._server = server

    def __enter__(self) -> None:
        return None

    def __exit__(
        self,
        kind: type[BaseException] | None,
        error: BaseException | None,
        trace: TracebackType | None,
    ) -> None:
        if error is not None and (problem := problem_with(self._server, error)) is not None:
            raise problem from error


def problem_with(server: Server, error: BaseException) -> Problem | None:
    """What went wrong while talking to a server, by name; None for what is not its doing."""
    if isinstance(error, TimeoutError):
        return too_slow(server, CONNECT_SECONDS)
    if isinstance(error, aiohttp.ClientPayloadError):
        return broke_off(server)
    if isinstance(error, aiohttp.ClientConnectionError | OSError):
        advice = "It may be restarting. Try again in a moment, or tell its owner."
        title = f"{server.name} cannot be reached."
        return Problem(ProblemKind.UPSTREAM_UNREACHABLE, title, advice)
    if isinstance(error, aiohttp.ClientError | ValueError):
        return malformed(server, "its answer is not HTTP that can be read")
    return None


def too_slow(server: Server, seconds: float) -> Problem:
    advice = f"strad waited {seconds:g} s. Try again, or tell its owner."
    return Problem(ProblemKind.UPSTREAM_TIMEOUT, f"{server.name} did not answer in time.", advice)


def too_large(server: Server, most: str = f"{MAX_ANSWER_BYTES // 2**20} MiB") -> Problem:
    advice = f"More than {most} came back; that is not passed on."
    title = f"The answer of {server.name} is too large."
    return Problem(ProblemKind.UPSTREAM_TOO_LARGE, title, advice)


def broke_off(server: Server) -> Problem:
    advice = "What it was asked to do may or may not have happened. Check before you try again."
    title = f"{server.name} broke off in the middle of its answer."
    return Problem(ProblemKind.UPSTREAM_UNREACHABLE, title, advice)


def malformed(server: Server, detail: str) -> Problem:
    title = f"{server.name} sent something that cannot be used: {detail}."
    return Problem(ProblemKind.UPSTREAM_MALFORMED, title, "Tell its owner.")


def refused(server: Server, detail: str) -> Problem:
    title = f"{server.name} refused the request: {detail}."
    advice = "Tell an administrator: the server, its address or its credentials need attention."
    return Problem(ProblemKind.UPSTREAM_REFUSED, title, advice)


def check_status(server: Server, status: int) -> None:
    """Raise a `Problem` for a status that is never an answer."""
    if status < 300:
        return
    if status < 400:
        # following it could carry the operator's credentials to another host
        raise refused(server, f"it answered with a redirect (HTTP {status})")
    if status in {401, 403, 407}:
        # not the caller's fault: passed on, it would make a client drop its own good token
        raise refused(server, f"it does not accept strad's credentials (HTTP {status})")
    if status >= 500:
        raise refused(server, f"it failed inside (HTTP {status})")
