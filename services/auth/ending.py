"""The end of all that a person holds: sessions and tokens, on every replica, open streams too."""

from dataclasses import dataclass

from services.auth.oauth.connected import Connected
from shared.stores.sessions import SessionWriter
from shared.stores.tokens import TokenWriter


@dataclass(frozen=True, slots=True)
class Ended:
    """How many there were."""

    sessions: int
    tokens: int
    clients: int = 0

    def __str__(self) -> str:
        return (
            f"sessions: {self.sessions}, access tokens: {self.tokens},"
            f" connected clients: {self.clients}"
        )


async def end_everything(
    sessions: SessionWriter, tokens: TokenWriter, clients: Connected, subject: str
) -> Ended:
    """Tokens first: a session could still make one. May raise `StoreUnavailable`, half done."""
    first, connected = await tokens.revoke_all(subject), await clients.end_all(subject)
    ended = await sessions.end_all(subject)
    again, more = await tokens.revoke_all(subject), await clients.end_all(subject)
    return Ended(ended, first + again, connected + more)
