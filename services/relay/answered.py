"""An answer of the relay's own to a caller of /mcp, with the progress that it asked for."""

from collections.abc import Awaitable, Callable

from aiohttp import web

from services.relay import progress, rpc
from services.relay.events import Alive
from services.relay.out import Out
from services.relay.progress import Progress
from services.relay.streams import event_of
from shared.contracts.problems import Problem
from shared.stores.kv import StoreUnavailable
from shared.web.problems import problem_of

Answer = Callable[[Progress | None], Awaitable[web.Response]]


async def answered(
    request: web.Request, message: rpc.Message, alive: Alive, answer: Answer
) -> web.StreamResponse:
    """`answer`'s response; in a stream, once the server has said how far it is.

    Until then everything that it raises is raised here too; afterwards it is told in the stream.
    """
    token = progress.wanted(message.get("params", {}))
    if message["method"] != "tools/call" or token is None:
        return await answer(None)
    out = Out(request)

    async def tell(said: rpc.Message) -> None:
        await out.write(event_of(rpc.dumps(progress.notification(token, said))))

    try:
        response = await answer(Progress(tell, alive))
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
