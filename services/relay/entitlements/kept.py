"""An answer about a person as it lies in Redis."""

from dataclasses import dataclass
from typing import Any

from shared.contracts.access import Grant


@dataclass(frozen=True, slots=True)
class Kept:
    """`epoch`: the count from before its source was asked. `asked`: when that was."""

    grant: Grant
    email: str
    version: str
    epoch: int
    asked: float

    @classmethod
    def read(cls, subject: str, record: dict[str, Any]) -> "Kept":
        """From the record under the key of `subject`."""
        grant = Grant(subject=subject, servers=frozenset(record["servers"]))
        return cls(grant, record["email"], record["version"], record["epoch"], record["asked"])
