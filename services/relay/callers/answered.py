"""An answer of the relay's own to a caller of /mcp, with what it asked to hear meanwhile."""

from collections.abc import Awaitable, Callable

from aiohttp import web

from services.relay.callers.running import CalledOff
from services.relay.messages import rpc
from services.relay.messages.out import Out
from services.relay.messages.streams import event_of
from services.relay.servers import progress
from services.relay.servers.logs import Logs
from services.relay.servers.progress import Progress
from shared.contracts.problems import Problem
from shared.stores.kv import StoreUnavailable
from shared.web.problems import problem_of

Answer = Callable[[Progress | None], Awaitable[web.Response]]


async def answered(
    request: web.Request,
    message: rpc.Message,
    answer: Answer,
    level: str | None = None,
    out: Out | None = None,
) -> web.StreamResponse:
    """`answer`'s response; in a stream, once the server has said how far it is, or a log line.

    `level`: of the log lines that the caller wants. `out`: the stream, where `answer` uses it too.
    Until it begins everything that `answer` raises is raised here; afterwards it is told in it. Who
    called it off gets no answer.
    """
    out = out or Out(request)
    try:
        response = await answer(_wanted(message, out, level))
    except CalledOff:
        return await out.end()
    except (Problem, StoreUnavailable) as error:
        if not out.begun:
            raise
        await out.fail(message["id"], problem_of(error))
        return await out.end()
    if not out.begun:
        return response
    assert isinstance(response.body, bytes)
    await out.write(event_of(response.body))
    return await out.end()


def _wanted(message: rpc.Message, out: Out, level: str | None) -> Progress | None:
    token = progress.wanted(message.get("params", {}))
    if token is None and level is None:
        return None

    async def say(said: rpc.Message) -> None:
        await out.write(event_of(rpc.dumps(said)))

    async def tell(said: rpc.Message) -> None:
        assert token is not None
        await say(progress.notification(token, said))

    logs = Logs(level, say) if level is not None else None
    return Progress(tell if token is not None else None, logs)
