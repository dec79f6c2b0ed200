"""The trace that a request belongs to (W3C Trace Context), on its way to every server it needs.

Only headers of the standard's form are carried: a malformed one would be the relay's own mistake.
"""

import re
from collections.abc import Mapping
from contextvars import ContextVar

from multidict import CIMultiDictProxy

_PARENT = re.compile(r"(?!ff)[0-9a-f]{2}-(?!0{32})[0-9a-f]{32}-(?!0{16})[0-9a-f]{16}-[0-9a-f]{2}")
_STATE = re.compile(r"[\x20-\x7e]{1,512}")
_current: ContextVar[Mapping[str, str]] = ContextVar("trace")


def begin(headers: CIMultiDictProxy[str]) -> None:
    """From here on this request is at work, with the trace that it brings, or with none."""
    parents = headers.getall("traceparent", ())
    carried: dict[str, str] = {}
    if len(parents) == 1 and _PARENT.fullmatch(parents[0]):
        carried["traceparent"] = parents[0]
        state = ",".join(headers.getall("tracestate", ()))
        if _STATE.fullmatch(state):
            carried["tracestate"] = state
    _current.set(carried)


def headers() -> Mapping[str, str]:
    """What a request to a server carries."""
    return _current.get({})
