"""Ids of events, bound to the session that they are sent in.

A server may keep the events of all its sessions in one place and number them, as the SDK's examples
do: whoever names a number is sent what somebody else was sent. So an id leaves with a mark of its
session before it, and comes back with it or not at all.
"""

import hmac
import re
from collections.abc import Sequence

from shared.signing import Seal

HEADER = "Last-Event-ID"
_ID = re.compile(rb"(?:\A|(?<=[\r\n]))id:[ ]?([^\r\n]+)")
_MARK_CHARS = 16  # of 6 bits


class EventIds:
    """`place`: the key of a session."""

    def __init__(self, seal: Seal, place: str) -> None:
        self._seal = seal
        self._place = place

    def marked(self, events: bytes) -> bytes:
        """Whole events as the caller gets them."""
        if b"id:" not in events:  # as in most: this is looked for much faster
            return events
        return _ID.sub(lambda found: b"id: " + self._marked(found[1]), events)

    def after(self, given: Sequence[str]) -> dict[str, str] | None:
        """The header for the server, from those of the caller; None for what is not of this
        session."""
        own = [self._own(one) for one in given]
        if len(own) > 1 or None in own:
            return None
        return {HEADER: str(own[0])} if own else {}

    def _own(self, given: str) -> str | None:
        mark, _, own = given.partition(".")
        wanted = self._mark(own).encode()
        is_ours = hmac.compare_digest(mark.encode(errors="surrogateescape"), wanted)
        return own if own and is_ours else None

    def _marked(self, raw: bytes) -> bytes:
        # a header loses the blanks at its ends
        own = raw.strip(b" \t").decode(errors="surrogateescape")
        return f"{self._mark(own)}.{own}".encode(errors="surrogateescape")

    def _mark(self, own: str) -> str:
        return self._seal.digest("event", f"{self._place}\0{own}")[:_MARK_CHARS]
