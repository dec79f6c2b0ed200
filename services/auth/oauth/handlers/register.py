"""POST /oauth/register: dynamic client registration (RFC 7591), for clients without a document.

Anybody may register, so it is worth nothing by itself: a client that nobody allows anything is
forgotten within a day, so many a minute are taken and no more, and so many are kept at once.
"""

import json

from aiohttp import web

from services.auth.oauth import description, fields
from services.auth.oauth.description import GRANTS, Undescribed
from services.auth.oauth.limit import Limit
from services.auth.oauth.parts import OAUTH
from services.auth.parts import PARTS
from shared import log
from shared.web import body
from shared.web.origin import require_json

MAX_BYTES = 16 * 1024
_FROM_ONE, _FROM_ALL = 20, 200


async def post(request: web.Request) -> web.Response:
    """201 with the client's id, and what of its wishes was granted."""
    parts, oauth = request.app[PARTS], request.app[OAUTH]
    require_json(request)
    await Limit(parts, oauth.seal, "register", _FROM_ONE, _FROM_ALL).enter(request)
    try:
        raw = await body.read(request)
        if len(raw) > MAX_BYTES:
            raise Undescribed("invalid_client_metadata", "It is too large.")
        described = description.read(json.loads(raw))
        client = described.client(await oauth.known.registered.new_id())
    except Undescribed as error:
        return fields.refused(error.error, str(error))
    except (ValueError, RecursionError):
        return fields.refused("invalid_client_metadata", "Send one JSON object.")
    await oauth.known.registered.keep(client)
    log.event("client-registered", client=client.id)
    # RFC 7591 §3.2.1: what was granted, which may be less than was asked for. No client gets a
    # secret: what runs on a person's machine could not keep it.
    granted = {
        "client_id": client.id,
        "client_id_issued_at": int(parts.clock()),
        "client_name": client.name,
        "redirect_uris": list(client.redirect_uris),
        "grant_types": list(GRANTS if client.refreshes else GRANTS[:1]),
        "response_types": ["code"],
        "token_endpoint_auth_method": "none",
    }
    if described.application_type is not None:
        granted["application_type"] = described.application_type
    return web.json_response(granted, status=201)
