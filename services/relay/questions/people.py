"""What a server asks a person of the console while a tool runs, and what the person answers.

Every question leaves with a state of ours, also where the server gave none: an answer to nothing
that was asked does not reach a server.
"""

from typing import Annotated, Literal

from mcp_types.jsonrpc import INVALID_PARAMS
from mcp_types.methods import is_input_required
from pydantic import ConfigDict, Field, FiniteFloat, TypeAdapter, ValidationError, model_validator

from services.relay.gate import Way
from services.relay.messages import rpc
from services.relay.questions.states import MEMBER, States, state_of
from services.relay.servers.hello import CONSOLE, CONSOLE_CALLING, Hello
from shared.contracts.identity import Frozen
from shared.contracts.problems import Problem, ProblemKind
from shared.contracts.wire import Surface

ANSWERS = "inputResponses"
MAX_ANSWERS = 32
MAX_FIELDS = 128
MAX_BYTES = 256 * 1024
MAX_STATE_CHARACTERS = 512 * 1024
_CALL = "tools/call"
_ASKED = frozenset({Surface.APP, Surface.OPEN, Surface.RUN})
_MEMBERS = (ANSWERS, MEMBER)
_STRICT = ConfigDict(frozen=True, extra="forbid", strict=True)

_Name = Annotated[str, Field(min_length=1, max_length=256)]
_Value = str | bool | int | FiniteFloat | Annotated[list[str], Field(max_length=MAX_FIELDS)]


class _Answer(Frozen):
    """`ElicitResult` of 2026-07-28; content belongs to a form that was sent off."""

    model_config = _STRICT

    action: Literal["accept", "decline", "cancel"]
    content: Annotated[dict[_Name, _Value], Field(max_length=MAX_FIELDS)] | None = None

    @model_validator(mode="after")
    def _only_what_was_accepted(self) -> "_Answer":
        if self.content is not None and self.action != "accept":
            raise ValueError("content without action accept")
        return self


_ANSWERS = TypeAdapter[dict[str, _Answer]](
    Annotated[dict[_Name, _Answer], Field(max_length=MAX_ANSWERS)]
)


def hello_of(surface: Surface, method: str) -> Hello:
    """What a server hears of the console: that it can ask, where there is somebody to be asked."""
    return CONSOLE_CALLING if surface in _ASKED and method == _CALL else CONSOLE


def check_answers(surface: Surface, method: str, params: rpc.Message) -> None:
    """Raises BAD_REQUEST for answers in another form, or where nothing can be answered."""
    brought = [member for member in _MEMBERS if member in params]
    if not brought:
        return
    if hello_of(surface, method) is not CONSOLE_CALLING:
        raise _bad(f"{brought[0]} on surface {surface} with {method}")
    state = params.get(MEMBER, "")
    if not isinstance(state, str) or len(state) > MAX_STATE_CHARACTERS:
        raise _bad(f"{MEMBER} is no text of at most {MAX_STATE_CHARACTERS} characters")
    if ANSWERS not in params:
        return
    try:
        _ANSWERS.validate_python(params[ANSWERS])
    except ValidationError as error:
        raise _bad(mistake_of(error)) from error
    if len(rpc.dumps(params[ANSWERS])) > MAX_BYTES:
        raise _bad(f"{ANSWERS} has more than {MAX_BYTES // 1024} KiB")


class Questions:
    """The state of each question to the console."""

    def __init__(self, states: States) -> None:
        self._states = states

    def refusal(self, params: rpc.Message) -> rpc.Message | None:
        """Why answers are not passed on; None when they may be, as far as their state exists."""
        if ANSWERS not in params or MEMBER in params:
            return None
        text = f"params.{ANSWERS} without params.{MEMBER}: begin again without both"
        return rpc.failure(INVALID_PARAMS, text, {"reason": "state-missing"})

    def stated(self, way: Way, params: rpc.Message, answer: rpc.Message) -> rpc.Message:
        """The outcome of a call, with a state if it asks for something."""
        result = answer.get("result")
        if not is_input_required(result) or state_of(_CALL, answer) is not None:
            return answer
        state = self._states.seal(way, _CALL, params, None)
        return {"result": {**rpc.Message(result), MEMBER: state}}


def mistake_of(error: ValidationError) -> str:
    """The first mistake and its place. What stands there is a person's word, and for no log."""
    first = error.errors(include_url=False, include_input=False)[0]
    return f"{'.'.join(map(str, first['loc']))}: {first['msg']}"[:300]


def _bad(reason: str) -> Problem:
    title = "The answers to the server's questions cannot be understood."
    return Problem(ProblemKind.BAD_REQUEST, title, reason=reason)
