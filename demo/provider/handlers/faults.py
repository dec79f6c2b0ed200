"""GET and POST /faults: see and set the switches of `demo/provider/faults.py`."""

import json

from aiohttp import web

from demo.provider.faults import UnknownFault
from demo.provider.settings import is_loopback
from demo.provider.state import PROVIDER


async def faults(request: web.Request) -> web.Response:
    """`{name: value}`, `{"rotate_key": true}`, `{"reset": true}`; answers with all switches."""
    provider = request.app[PROVIDER]
    if not is_loopback(request.remote or ""):
        raise web.HTTPForbidden(text="The fault switches answer this machine only.")
    if request.method == "POST":
        asked = await _asked(request)
        if asked.pop("reset", False) is True:
            provider.faults.reset()
        if asked.pop("rotate_key", False) is True:
            provider.keys.rotate()
        try:
            for name, value in asked.items():
                provider.faults.set(name, value)
        except UnknownFault as error:
            raise web.HTTPBadRequest(text=str(error)) from error
    return web.json_response(provider.faults.documented())


async def _asked(request: web.Request) -> dict[str, object]:
    # JSON only, so that a form on some web page cannot reach the switches.
    if request.content_type == "application/json":
        try:
            asked = json.loads(await request.read())
        except ValueError:
            asked = None
        if isinstance(asked, dict):
            return asked
    raise web.HTTPBadRequest(text='Send a JSON object, as {"slow": 2}.')
