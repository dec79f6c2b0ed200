"""How servers say that they do not know a session any more: by 404, or in one of many words."""

import aiohttp

from services.relay.messages import rpc
from shared.contracts.config import Server
from shared.contracts.problems import Problem, ProblemKind

SESSION_HEADER = "Mcp-Session-Id"
_MOST_BYTES = 4096
_WORDS = ("session", "not initialized")


class SessionUnknown(Problem):
    """Said in an answer that is no message. Nothing was done."""

    def __init__(self, server: Server) -> None:
        title = f"{server.name} has lost its session with strad."
        super().__init__(ProblemKind.UPSTREAM_REFUSED, title, "Try again.", reason="session-lost")


def lost(status: int, answer: rpc.Message | None, request_id: rpc.Id | None) -> bool:
    """Whether the response to a request in a session says that the session is unknown.

    404 is what the specification asks for; many servers answer 400 and say so in words.
    """
    if status != 400 or answer is None:
        return status == 404
    error = answer.get("error")
    text = str(error.get("message", "")) if isinstance(error, dict) else ""
    return answer.get("id") != request_id and _in_words(text)


async def check_session(server: Server, response: aiohttp.ClientResponse) -> None:
    """Of a request in a session: read a refusal that is no message.

    Raises `SessionUnknown`, and what reading raises.
    """
    is_bare = response.status == 400 and response.content_type != "application/json"
    if is_bare or response.status == 503:
        said = await response.content.read(_MOST_BYTES)
        if _in_words(said.decode(errors="replace")):
            raise SessionUnknown(server)


def _in_words(text: str) -> bool:
    return any(words in text.lower() for words in _WORDS)
