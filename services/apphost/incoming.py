"""The body of a bridge request: one JSON object of a known shape, and nothing else."""

from typing import TypeVar

from aiohttp import web
from pydantic import BaseModel, ConfigDict, ValidationError

from shared.contracts.problems import Problem, ProblemKind
from shared.numbers import Reader
from shared.web import body
from shared.web.origin import require_json


class Incoming(BaseModel):
    """Strict, and closed: a field that nobody reads is a mistake of the sender's."""

    model_config = ConfigDict(frozen=True, extra="forbid", strict=True)


_READER = Reader()

T = TypeVar("T", bound=Incoming)


async def read(request: web.Request, shape: type[T], noun: str) -> T:
    """The body as `shape`. Raises `Problem`: not JSON (415, 400), or not `noun`, with the place."""
    require_json(request)
    raw = await body.read(request)
    try:
        return shape.model_validate(_READER.read(raw.decode()))
    except ValidationError as error:
        first = error.errors(include_url=False, include_input=False)[0]
        where = ".".join(map(str, first["loc"])) or "the body"
        advice = f"{where}: {first['msg']}"
        raise Problem(ProblemKind.BAD_REQUEST, f"This is not {noun}.", advice) from error
    except (ValueError, RecursionError) as error:
        title = "The request is not JSON."
        raise Problem(ProblemKind.BAD_REQUEST, title, "Send one JSON object.") from error
