"""Who may use which servers: where the answer comes from, and how long it is kept."""

from typing import Protocol

from shared.contracts.identity import Person


class Source(Protocol):
    """Where entitlements come from."""

    async def servers_of(self, person: Person) -> frozenset[str]:
        """The slugs of the servers this person may use; empty is an answer.

        Raises a `Problem` when the source cannot be asked: that is never read as "none".
        """
