"""Domain problems: raised anywhere, written as HTTP in one place (`shared.web.problems`)."""

from dataclasses import dataclass
from enum import StrEnum


class ProblemKind(StrEnum):
    """The name of a problem. It goes into the answer, the log line and the metric."""

    BAD_REQUEST = "bad-request"
    WRONG_HOST = "wrong-host"
    SIGN_IN_NEEDED = "sign-in-needed"
    FORBIDDEN = "forbidden"
    CROSS_ORIGIN = "cross-origin"
    NOT_FOUND = "not-found"
    METHOD = "method-not-allowed"
    TOO_LARGE = "too-large"
    TOO_SLOW = "too-slow"
    MEDIA_TYPE = "unsupported-media-type"
    TOO_MANY_REQUESTS = "too-many-requests"
    INTERNAL = "internal"
    STORE_UNAVAILABLE = "store-unavailable"
    ENTITLEMENTS_UNAVAILABLE = "entitlements-unavailable"
    PROVIDER_UNAVAILABLE = "provider-unavailable"
    SIGN_IN_FAILED = "sign-in-failed"
    NOT_ALLOWED_HERE = "not-allowed-here"
    RELAY_UNAVAILABLE = "relay-unavailable"
    UPSTREAM_UNREACHABLE = "upstream-unreachable"
    UPSTREAM_TIMEOUT = "upstream-timeout"
    UPSTREAM_REFUSED = "upstream-refused"
    UPSTREAM_MALFORMED = "upstream-malformed"
    UPSTREAM_TOO_LARGE = "upstream-too-large"
    PAGE_WRONG_TYPE = "page-wrong-type"
    PAGE_TOO_LARGE = "page-too-large"
    PAGE_INVALID = "page-invalid"


STATUS: dict[ProblemKind, int] = {
    ProblemKind.BAD_REQUEST: 400,
    ProblemKind.WRONG_HOST: 421,
    ProblemKind.SIGN_IN_NEEDED: 401,
    ProblemKind.FORBIDDEN: 403,
    ProblemKind.CROSS_ORIGIN: 403,
    ProblemKind.NOT_FOUND: 404,
    ProblemKind.METHOD: 405,
    ProblemKind.TOO_LARGE: 413,
    ProblemKind.TOO_SLOW: 408,
    ProblemKind.MEDIA_TYPE: 415,
    ProblemKind.TOO_MANY_REQUESTS: 429,
    ProblemKind.INTERNAL: 500,
    ProblemKind.STORE_UNAVAILABLE: 503,
    ProblemKind.ENTITLEMENTS_UNAVAILABLE: 503,
    ProblemKind.PROVIDER_UNAVAILABLE: 503,
    ProblemKind.SIGN_IN_FAILED: 400,
    ProblemKind.NOT_ALLOWED_HERE: 403,
    ProblemKind.RELAY_UNAVAILABLE: 503,
    ProblemKind.UPSTREAM_UNREACHABLE: 502,
    ProblemKind.UPSTREAM_TIMEOUT: 504,
    ProblemKind.UPSTREAM_REFUSED: 502,
    ProblemKind.UPSTREAM_MALFORMED: 502,
    ProblemKind.UPSTREAM_TOO_LARGE: 502,
    ProblemKind.PAGE_WRONG_TYPE: 502,
    ProblemKind.PAGE_TOO_LARGE: 502,
    ProblemKind.PAGE_INVALID: 502,
}


@dataclass
class Problem(Exception):
    """A refusal or failure that the reader should understand.

    `title`: what happened, one short sentence. `advice`: what to do about it.
    `reason`: a finer name for logs (never shown where it would tell a stranger something).
    `retry_after`: seconds after which it is worth trying again; 0: not known.
    """

    kind: ProblemKind
    title: str
    advice: str = ""
    reason: str = ""
    retry_after: int = 0

    @property
    def status(self) -> int:
        """HTTP status code."""
        return STATUS[self.kind]

    def __str__(self) -> str:
        return f"{self.kind}: {self.title}"
