"""Entitlements from `strad.yaml`: people, groups, everyone."""

from shared.contracts.config import Config
from shared.contracts.identity import Person
from shared.entitled import servers_of


class FileSource:
    """See `entitlements.Source`."""

    def __init__(self, config: Config) -> None:
        self._config = config

    async def servers_of(self, person: Person) -> frozenset[str]:
        return frozenset(servers_of(self._config, person.email))
