"""Which servers offer no stream to GET: remembered, so that not every client's GET asks again."""

from shared.clock import Clock

KEEP_SECONDS = 600
_NOT_ALLOWED = 405


class Offered:
    """In this process, by server."""

    def __init__(self, clock: Clock) -> None:
        self._clock = clock
        self._until: dict[str, float] = {}

    def nothing(self, slug: str) -> bool:
        """Whether the server is known to offer no stream."""
        return self._until.get(slug, 0.0) > self._clock()

    def note(self, slug: str, status: int) -> None:
        """How a server answered a GET that it gave no stream for."""
        if status == _NOT_ALLOWED:
            self._until[slug] = self._clock() + KEEP_SECONDS
