"""The merged view's own cursors: where a list goes on, of use to one person in one list only."""

import base64

from mcp_types.jsonrpc import INVALID_PARAMS

from services.relay.messages import rpc
from services.relay.views import View
from shared.clock import Clock
from shared.signing import Seal, SealBroken

LIFE_SECONDS = 600


class CursorRefused(Exception):
    """A cursor that is not believed; `outcome` holds the error that the caller hears."""

    def __init__(self) -> None:
        super().__init__("cursor")
        text = "params.cursor is not of this list, or too old: list again without it"
        self.outcome = rpc.failure(INVALID_PARAMS, text, {"reason": "cursor-not-of-this-list"})


class Cursors:
    """Seals and opens positions: a server, and how many of its entries came before."""

    def __init__(self, seal: Seal, clock: Clock) -> None:
        self._seal = seal
        self._clock = clock

    def seal(self, view: View, method: str, slug: str, count: int) -> str:
        """The cursor that leads to this position."""
        record = {"slug": slug, "count": count}
        sealed = self._seal.seal(_binding(view, method), record, self._clock() + LIFE_SECONDS)
        return base64.urlsafe_b64encode(sealed).rstrip(b"=").decode()

    def open(self, view: View, method: str, cursor: object) -> tuple[str, int]:
        """(slug, count) of a cursor. Raises `CursorRefused`, also when its server is gone."""
        try:
            if not isinstance(cursor, str):
                raise CursorRefused
            sealed = base64.b64decode(cursor + "=" * (-len(cursor) % 4), b"-_", validate=True)
            record = self._seal.open(_binding(view, method), sealed, self._clock())
        except (SealBroken, ValueError) as error:
            raise CursorRefused from error
        if all(way.server.slug != record["slug"] for way in view.ways):
            raise CursorRefused
        return record["slug"], record["count"]


def _binding(view: View, method: str) -> str:
    return "\0".join(("cursor", view.subject, view.name, method))
