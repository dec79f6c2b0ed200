"""The routes of OAuth. What clients ask directly has no cookie, and no page may ask it."""

from aiohttp import web

from services.auth.limits import counting_clients
from services.auth.oauth.handlers import (
    authorize,
    clients,
    links,
    metadata,
    register,
    revoke,
    token,
)
from shared.contracts.config import Config
from shared.contracts.wire import (
    AUTHORIZATION_SERVER_METADATA_PATH,
    AUTHORIZE_PATH,
    CLIENTS_PATH,
    LINKS_PATH,
    REGISTER_PATH,
    REVOKE_PATH,
    TOKEN_PATH,
)
from shared.web.origin import refuse_pages
from shared.web.routes import Access, Answer, Handler, Route


def oauth_routes(config: Config) -> list[Route]:
    """All of them, or those that the configuration leaves."""
    well_known = AUTHORIZATION_SERVER_METADATA_PATH
    routes = [
        Route("GET", AUTHORIZE_PATH, authorize.ask, Access.SIGNED_IN),
        Route("POST", AUTHORIZE_PATH, authorize.decide, Access.SIGNED_IN),
        Route("GET", CLIENTS_PATH, clients.show, Access.SIGNED_IN),
        Route("POST", f"{CLIENTS_PATH}/{{id}}/end", clients.end, Access.SIGNED_IN),
        Route("GET", well_known, metadata.show, Access.PUBLIC, Answer.JSON),
        Route("OPTIONS", well_known, metadata.preflight, Access.PUBLIC, Answer.JSON),
        _direct(TOKEN_PATH, counting_clients(token.post)),
        _direct(REVOKE_PATH, counting_clients(revoke.post)),
    ]
    if config.oauth.registration:
        routes.append(_direct(REGISTER_PATH, register.post))
    if config.oauth.machines:  # one of them may be allowed links while this runs
        routes.append(_direct(LINKS_PATH, counting_clients(links.post)))
    return routes


def _direct(path: str, handler: Handler) -> Route:
    return Route("POST", path, handler, Access.GUARDED, Answer.JSON, _no_page)


async def _no_page(request: web.Request) -> None:
    refuse_pages(request)
