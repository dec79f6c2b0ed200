"""JSON of our own, written the short way: records and log lines, of which every request has some.

Not for other people's messages: a number in them may be none that a float holds.
"""

import json
from typing import Any

from pydantic_core import PydanticSerializationError, to_json


def compact(value: Any) -> bytes:
    """A JSON value (RFC 8259) in UTF-8; what JSON has no word for is written as text."""
    try:
        return to_json(value, fallback=str)
    except PydanticSerializationError:  # half of a surrogate pair: a caller's text can hold one
        return json.dumps(value, separators=(",", ":"), default=str).encode()
