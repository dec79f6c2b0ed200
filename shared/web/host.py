"""The first check of every public request: it was meant for us (DNS rebinding).

`request.url.host` is never used: with `Host: ours#@evil` it names somebody else.
"""

from aiohttp import web

from shared.contracts.problems import Problem, ProblemKind


def check_host(request: web.Request, expected: str) -> None:
    """Refuse any `Host` but the public address, and the absolute form of a request target."""
    hosts = request.headers.getall("Host", [])
    if hosts != [expected] or not request.raw_path.startswith("/"):
        raise Problem(
            ProblemKind.WRONG_HOST,
            "This address is not served here.",
            f"Use the public address of this installation: its host is {expected}.",
        )
