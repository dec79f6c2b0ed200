"""What a server asks back while a tool runs: MCP 2026-07-28, `resultType: "input_required"`.

The host asks the person on its own surface and sends the answers with the call again. The page
hears of the final result only. Sampling and roots are not offered to servers, so not answered.
"""

from typing import Any, Literal

from pydantic import BaseModel, ConfigDict, Field

from services.apphost import fields
from shared.contracts.problems import Problem, ProblemKind

MAX_QUESTIONS = 8
MAX_MESSAGE = 2000
MAX_STATE = 256 * 1024
_ELICITATION = "elicitation/create"


class Answer(BaseModel):
    """An ElicitResult. `content`: the form's values, when the person has sent it."""

    model_config = ConfigDict(frozen=True, extra="forbid", strict=True)

    action: Literal["accept", "decline", "cancel"]
    content: dict[str, str | int | float | bool | list[str]] | None = None


class Again(BaseModel):
    """The call once more, with the answers. `state`: the server's, as it came."""

    model_config = ConfigDict(frozen=True, extra="forbid", strict=True)

    answers: dict[str, Answer] = Field(max_length=MAX_QUESTIONS)
    state: str | None = Field(None, max_length=MAX_STATE)

    def params(self) -> dict[str, Any]:
        """The members that a retried call carries."""
        given = {key: answer.model_dump(exclude_none=True) for key, answer in self.answers.items()}
        state = {} if self.state is None else {"requestState": self.state}
        return ({"inputResponses": given} if given else {}) | state


def asked(result: dict[str, Any]) -> dict[str, Any] | None:
    """A result as what it asks, or None when it is final.

    `questions`: each `key`, `message`, and either `fields`, or `url`, or `refused` with the reason
    why no person is asked that. `state`: goes back with the answers. Raises `Problem` when the
    server asks in a way that cannot be read.
    """
    if result.get("resultType") != "input_required":
        return None
    requests, state = result.get("inputRequests", {}), result.get("requestState")
    readable = (
        isinstance(requests, dict)
        and len(requests) <= MAX_QUESTIONS
        and (isinstance(state, str) or (state is None and requests))
    )
    if not readable:
        title = "The server answered in a way that cannot be used."
        raise Problem(ProblemKind.UPSTREAM_MALFORMED, title, "Tell its owner.", "input-required")
    questions = [_question(key, request) for key, request in requests.items()]
    return {"questions": questions, "state": state}


def _question(key: str, request: Any) -> dict[str, Any]:
    params = request.get("params") if isinstance(request, dict) else None
    if not isinstance(params, dict) or request.get("method") != _ELICITATION:
        return {"key": key, "message": "", "refused": "It asks for something other than a person."}
    message = params.get("message")
    question = {"key": key, "message": message[:MAX_MESSAGE] if isinstance(message, str) else ""}
    if params.get("mode") == "url":
        return question | {"url": str(params.get("url", ""))}
    try:
        return question | {"fields": fields.of_question(params.get("requestedSchema"))}
    except fields.Unaskable as reason:
        return question | {"refused": str(reason)}
