"""Who may use which servers: where the answer comes from, and how long it is believed.

A source (`file.py`, `authzen.py`) answers for a person as a whole. `grants.py` keeps the answers in
Redis for seconds; `epochs.py` knows which of them no longer count. `shared/reload.py`
follows the file.
"""

from typing import Protocol

from shared.contracts.identity import Person


class SourceUnavailable(Exception):
    """The source gives no answer, for now: nobody knows."""


class SourceAway(SourceUnavailable):
    """It cannot even be connected to, whoever is asked about."""


class SourceRefused(Exception):
    """The source was reached and gave no answer that can be used. It is not away, so it is no time
    for older answers either."""


class Source(Protocol):
    """Where entitlements come from."""

    @property
    def version(self) -> str:
        """Another one whenever older answers may be wrong as far as this process knows."""

    @property
    def remote(self) -> bool:
        """Whether asking takes so long that one replica should ask for all of them."""

    async def servers_of(self, person: Person) -> frozenset[str]:
        """The slugs of the servers this person may use; empty is an answer.

        Raises `SourceUnavailable` or `SourceRefused`, which are never read as "none".
        """
