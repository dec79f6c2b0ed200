"""The end of all that a person holds: sessions and tokens, on every replica, open streams too."""

from dataclasses import dataclass

from shared.stores.sessions import SessionWriter
from shared.stores.tokens import TokenWriter


@dataclass(frozen=True, slots=True)
class Ended:
    """How many there were."""

    sessions: int
    tokens: int

    def __str__(self) -> str:
        return f"sessions: {self.sessions}, access tokens: {self.tokens}"


async def end_everything(sessions: SessionWriter, tokens: TokenWriter, subject: str) -> Ended:
    """Tokens first: a session could still make one. May raise `StoreUnavailable`, half done."""
    first = await tokens.revoke_all(subject)
    ended = await sessions.end_all(subject)
    return Ended(ended, first + await tokens.revoke_all(subject))
