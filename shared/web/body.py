"""Reading a request's body, in time.

Who asks is checked before the body is there. Without a deadline, somebody whose session or token
was ended meanwhile could finish, hours later, a request that he had begun.
"""

import asyncio

from aiohttp import web

from shared.contracts.problems import Problem, ProblemKind

SECONDS = 15.0


async def read(request: web.Request) -> bytes:
    """The whole body.

    Raises TOO_SLOW, BAD_REQUEST, and aiohttp's own error for one that is too large.
    """
    try:
        async with asyncio.timeout(SECONDS):
            return await request.read()
    except web.RequestPayloadError as error:
        title = "The request cannot be read."
        advice = "Its body is not what its Content-Encoding or Transfer-Encoding says."
        raise Problem(ProblemKind.BAD_REQUEST, title, advice) from error
    except TimeoutError as error:
        title = "The request took too long to arrive."
        raise Problem(ProblemKind.TOO_SLOW, title, "Send it again, all at once.") from error
