"""The relay's answers, read with suspicion: lists as models, problem+json as a `Problem` again."""

from typing import Any

import aiohttp
from pydantic import BaseModel, ConfigDict

from shared.contracts.problems import Problem, ProblemKind
from shared.numbers import Reader

MAX_ANSWER = 24 * 1024 * 1024  # a page of the largest size as base64 in JSON, with room
_PROBLEM_TYPE = "urn:strad:problem:"
_READER = Reader()


class _Answer(BaseModel):
    model_config = ConfigDict(frozen=True, extra="ignore")


class AppEntry(_Answer):
    """One page of a server: its `ui://` address and the tool that opens it, if any."""

    uri: str
    tool: str | None
    title: str
    read_only: bool


class ServerEntry(_Answer):
    """One server that the person may use. `reason`: a problem's kind when it is unavailable."""

    slug: str
    name: str
    description: str
    origin: str
    state: str
    reason: str | None
    detail: str | None
    apps: tuple[AppEntry, ...]
    tools: int


class Servers(_Answer):
    """The list of servers."""

    servers: tuple[ServerEntry, ...]


async def read(response: aiohttp.ClientResponse) -> bytes:
    """The body, up to a limit. Raises `Problem`."""
    body = bytearray()
    async for chunk in response.content.iter_any():
        body += chunk
        if len(body) > MAX_ANSWER:
            raise too_large()
    return bytes(body)


def parse(text: bytes) -> dict[str, Any]:
    """The JSON object that every answer is. Raises `Problem`."""
    try:
        answer = _READER.read(text.decode())
    except (ValueError, RecursionError) as error:
        raise unreadable() from error
    if not isinstance(answer, dict):
        raise unreadable()
    return answer


def too_large() -> Problem:
    """More came than is passed on."""
    title = "The server's answer is too large."
    return Problem(ProblemKind.UPSTREAM_TOO_LARGE, title, "Ask for less at once.")


def no_such_server(slug: str) -> Problem:
    """The one answer for an unknown server and for one that this person may not use."""
    advice = (
        f"There is no server called “{slug[:40]}”, or you have no access to it. If you expected"
        " to see it, ask the person who runs strad here."
    )
    return Problem(ProblemKind.NOT_FOUND, "No app here for you.", advice, "no-server")


def problem_in(status: int, answer: dict[str, Any], slug: str | None) -> Problem:
    """The relay's problem+json (RFC 9457) as the `Problem` it was."""
    name = str(answer.get("type", "")).removeprefix(_PROBLEM_TYPE)
    title = answer.get("title")
    if name not in set(ProblemKind) or not isinstance(title, str):
        return unavailable(f"status-{status}")
    kind = ProblemKind(name)
    if kind is ProblemKind.NOT_FOUND and slug is not None:
        return no_such_server(slug)
    if kind in {ProblemKind.INTERNAL, ProblemKind.METHOD, ProblemKind.WRONG_HOST}:
        return unavailable(name)  # a fault between our own services, not the reader's
    return Problem(kind, title, str(answer.get("detail") or ""), "relay")


def unavailable(reason: str) -> Problem:
    """The relay itself cannot be used."""
    title = "The service that reaches the servers does not answer."
    advice = "Nothing was run. Try again in a moment; tell an administrator if it stays so."
    return Problem(ProblemKind.RELAY_UNAVAILABLE, title, advice, reason)


def unreadable() -> Problem:
    """The relay said something that is no answer."""
    return unavailable("unreadable-answer")
