"""Cross-site rules (Fetch Metadata, RFC 6454 Origin) for requests that change something.

No route sends CORS headers, and a session cookie alone never proves that a page of ours asked.
"""

from aiohttp import web

from shared.contracts.problems import Problem, ProblemKind

SAFE = frozenset({"GET", "HEAD", "OPTIONS"})
_FORM = "application/x-www-form-urlencoded"


def check_origin(request: web.Request, public_url: str) -> None:
    """An unsafe request must come from our own pages: `Origin` equal to the public address.

    Missing and `null` are refused: every browser sends Origin with such a request, and `null` is
    what an opaque frame sends.
    """
    if request.method in SAFE:
        return
    origins = request.headers.getall("Origin", [])
    site = request.headers.get("Sec-Fetch-Site", "same-origin")
    if origins != [public_url] or site != "same-origin":
        raise Problem(
            ProblemKind.CROSS_ORIGIN,
            "This request did not come from a page of this console.",
            f"Open {public_url} and try again from there.",
        )


def started_here(request: web.Request) -> bool:
    """Whether a navigation began on a page of ours or with the person (typed, bookmark).

    A missing, repeated or unknown `Sec-Fetch-Site` counts as somebody else's.
    """
    values = request.headers.getall("Sec-Fetch-Site", [])
    return values in (["same-origin"], ["none"])


def refuse_pages(request: web.Request) -> None:
    """For what programs ask and no page does: browsers say where a POST of a page comes from."""
    if "Origin" in request.headers:
        raise Problem(
            ProblemKind.CROSS_ORIGIN,
            "Pages may not use this address.",
            "It is for programs, which send no Origin.",
        )


def require_json(request: web.Request) -> None:
    """Exactly `application/json`: a form on another site cannot send it."""
    if request.headers.get("Content-Type", "").strip().lower() not in {
        "application/json",
        "application/json; charset=utf-8",
        "application/json;charset=utf-8",
    }:
        raise Problem(
            ProblemKind.MEDIA_TYPE,
            "Only JSON is accepted here.",
            "Send the body with Content-Type: application/json.",
        )


def require_form(request: web.Request) -> None:
    """A form of ours, in UTF-8: any other charset that Python knows would be tried on the body."""
    if request.content_type != _FORM or (request.charset or "utf-8").lower() != "utf-8":
        raise Problem(
            ProblemKind.MEDIA_TYPE,
            "Only a form of this console is accepted here.",
            "Go back and use the form on the page.",
        )
