"""Entitlements from `strad.yaml`: people, groups, everyone."""

from shared.contracts.config import Config
from shared.contracts.identity import Person
from shared.entitled import Directory


class FileSource:
    """See `entitlements.Source`."""

    remote = False

    def __init__(self, config: Config) -> None:
        self._directory = Directory(config)
        self.version = self._directory.digest

    async def servers_of(self, person: Person) -> frozenset[str]:
        return self._directory.of(person)

    def agrees(self, other: "FileSource", person: Person) -> bool:
        """Whether both give this person the same."""
        return self._directory.of(person) == other._directory.of(person)
