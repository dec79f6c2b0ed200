"""Entitlements from a policy decision point: it is asked about each server."""

import hashlib
import json

from services.relay.entitlements.authzen import AuthZen
from shared.contracts.config import Config
from shared.contracts.entitlements import KnownBy
from shared.contracts.identity import Person
from shared.entitled import groups_of

ACTION = "use"
RESOURCE_TYPE = "mcp_server"


class DecisionPointSource:
    """See `entitlements.Source`."""

    remote = True

    def __init__(self, config: Config, authzen: AuthZen) -> None:
        point = config.entitlements.decision_point
        assert point is not None
        self._config = config
        self._authzen = authzen
        self._known_by = point.known_by
        self._slugs = [server.slug for server in config.servers]
        about = [point.url, point.known_by, self._slugs, config.groups]
        digest = hashlib.sha256(json.dumps(about, sort_keys=True).encode())
        self.version = digest.hexdigest()[:16]

    async def servers_of(self, person: Person) -> frozenset[str]:
        question = {
            "subject": {
                "type": "user",
                "id": person.email if self._known_by is KnownBy.EMAIL else person.sub,
                "properties": {
                    "email": person.email,
                    "issuer": person.issuer,
                    "sub": person.sub,
                    "groups": sorted(groups_of(self._config, person.email)),
                },
            },
            "action": {"name": ACTION},
        }
        resources = [{"type": RESOURCE_TYPE, "id": slug} for slug in self._slugs]
        decisions = await self._authzen.evaluate(question, resources)
        return frozenset(s for s, yes in zip(self._slugs, decisions, strict=True) if yes)
