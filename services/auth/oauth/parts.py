"""What the handlers of OAuth work with."""

from collections.abc import Mapping
from dataclasses import dataclass
from functools import partial

from aiohttp import web

from services.auth.oauth.again import Again
from services.auth.oauth.connected import Connected
from services.auth.oauth.documents import Documents
from services.auth.oauth.families import Families
from services.auth.oauth.known import Known
from services.auth.oauth.machine_tokens import MachineTokens
from services.auth.oauth.machines import METHODS, MachineClient, methods_of
from services.auth.oauth.registered import Registered
from services.auth.oauth.server import Loaded, Rules, Server
from shared.clock import Clock
from shared.contracts.config import Config
from shared.contracts.wire import MCP_PATH
from shared.entitled import Admission
from shared.machine_proofs import Proof
from shared.signing import Seal
from shared.stores.kv import KeyValue


@dataclass(frozen=True, slots=True)
class OAuth:
    """The authorization server, ready for use."""

    rules: Rules
    store: Connected
    again: Again
    families: Families
    known: Known
    admission: Admission
    seal: Seal
    clock: Clock
    proofs: Mapping[str, Proof]
    machine_tokens: MachineTokens

    def machines(self) -> dict[str, MachineClient]:
        """Those that the file names now, and that could prove themselves when auth started."""
        digest = partial(self.seal.digest, "machine")
        return {
            one.client_id: MachineClient(one, self.proofs[one.client_id], digest)
            for one in self.admission.config.oauth.machines
            if one.client_id in self.proofs
        }

    def methods(self) -> list[str]:
        """How machines prove who they are here; empty: there are none."""
        used = {method for one in self.machines().values() for method in methods_of(one.proof)}
        return [method for method in METHODS if method in used]

    def server(self, loaded: Loaded) -> Server:
        """Authlib's part, for one request."""
        return Server(self.rules, loaded, self.clock())


def store_of(config: Config, store: KeyValue, seal: Seal, clock: Clock) -> Connected:
    """Where it keeps what it knows."""
    rules = config.oauth
    return Connected(store, seal, clock, access=rules.access, refresh=rules.refresh)


def oauth_of(
    config: Config,
    store: KeyValue,
    seal: Seal,
    clock: Clock,
    documents: Documents,
    admission: Admission,
    proofs: Mapping[str, Proof],
) -> OAuth:
    """Everything, by the configuration."""
    kept = store_of(config, store, seal, clock)
    url = config.public_url
    return OAuth(
        rules=Rules(issuer=url, resource=f"{url}{MCP_PATH}", access=config.oauth.access),
        store=kept,
        again=Again(kept, store, seal, clock),
        families=Families(kept, store, seal),
        known=Known(
            Registered(kept, store, seal, clock), documents if config.oauth.documents else None
        ),
        admission=admission,
        seal=seal,
        clock=clock,
        proofs=proofs,
        machine_tokens=MachineTokens(store, seal, clock),
    )


OAUTH = web.AppKey("oauth", OAuth)
