"""A service that follows `strad.yaml` while it runs."""

import asyncio
from collections.abc import AsyncIterator, Callable

from aiohttp import web

from shared.always import always
from shared.contracts.config import Config
from shared.entitled import Admission
from shared.reload import Reload
from shared.settings import Base


def following(base: Base, admission: Admission) -> Callable[[web.Application], AsyncIterator[None]]:
    """For `cleanup_ctx`: whom the file no longer names is signed out from the next request on."""

    def changed(config: Config) -> None:
        admission.config = config

    async def followed(_: web.Application) -> AsyncIterator[None]:
        task = None
        if base.config_path is not None:
            task = asyncio.create_task(always(Reload(base.config_path, base.config, changed).run))
        yield
        if task is not None:
            task.cancel()

    return followed
