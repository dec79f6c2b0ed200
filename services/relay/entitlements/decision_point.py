"""Entitlements from a policy decision point: it is asked about each server.

About a machine it is asked as far as the machine's own entry goes: beyond that, no answer helps.
"""

import hashlib
import json
from typing import Any

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
        self._machines = {one.client_id: one for one in config.oauth.machines}
        reach = {one.client_id: one.servers for one in config.oauth.machines}
        about = [point.url, point.known_by, self._slugs, config.groups, reach]
        digest = hashlib.sha256(json.dumps(about, sort_keys=True).encode())
        self.version = digest.hexdigest()[:16]

    async def servers_of(self, person: Person) -> frozenset[str]:
        slugs = self._slugs if person.machine is None else self._reach(person.machine)
        if not slugs:
            return frozenset()
        question = {"subject": self._subject(person), "action": {"name": ACTION}}
        resources = [{"type": RESOURCE_TYPE, "id": slug} for slug in slugs]
        decisions = await self._authzen.evaluate(question, resources)
        return frozenset(s for s, yes in zip(slugs, decisions, strict=True) if yes)

    def _reach(self, client_id: str) -> list[str]:
        machine = self._machines.get(client_id)
        return [] if machine is None else [one for one in self._slugs if one in machine.servers]

    def _subject(self, person: Person) -> dict[str, Any]:
        if person.machine is not None:
            # `machine:` before it: a policy that does not look at types takes it for nobody else
            properties = {"client_id": person.machine, "name": person.name}
            return {"type": "machine", "id": person.email, "properties": properties}
        return {
            "type": "user",
            "id": person.email if self._known_by is KnownBy.EMAIL else person.sub,
            "properties": {
                "email": person.email,
                "issuer": person.issuer,
                "sub": person.sub,
                "groups": sorted(groups_of(self._config, person.email)),
            },
        }
