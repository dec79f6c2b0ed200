"""What the handlers of OAuth work with."""

from dataclasses import dataclass

from aiohttp import web

from services.auth.oauth.again import Again
from services.auth.oauth.documents import Documents
from services.auth.oauth.known import Known
from services.auth.oauth.server import Loaded, Rules, Server
from services.auth.oauth.store import OAuthStore
from shared.clock import Clock
from shared.contracts.config import Config
from shared.contracts.wire import MCP_PATH
from shared.entitled import Admission
from shared.signing import Seal
from shared.stores.kv import KeyValue


@dataclass(frozen=True, slots=True)
class OAuth:
    """The authorization server, ready for use."""

    rules: Rules
    store: OAuthStore
    again: Again
    known: Known
    admission: Admission
    seal: Seal
    clock: Clock

    def server(self, loaded: Loaded) -> Server:
        """Authlib's part, for one request."""
        return Server(self.rules, loaded, self.clock())


def store_of(config: Config, store: KeyValue, seal: Seal, clock: Clock) -> OAuthStore:
    """Where it keeps what it knows."""
    rules = config.oauth
    return OAuthStore(store, seal, clock, access=rules.access, refresh=rules.refresh)


def oauth_of(
    config: Config,
    store: KeyValue,
    seal: Seal,
    clock: Clock,
    documents: Documents,
    admission: Admission,
) -> OAuth:
    """Everything, by the configuration."""
    kept = store_of(config, store, seal, clock)
    url = config.public_url
    return OAuth(
        rules=Rules(issuer=url, resource=f"{url}{MCP_PATH}", access=config.oauth.access),
        store=kept,
        again=Again(kept, store, seal, clock),
        known=Known(kept, documents if config.oauth.documents else None),
        admission=admission,
        seal=seal,
        clock=clock,
    )


OAUTH = web.AppKey("oauth", OAuth)
