"""What is changed in messages that otherwise pass as they are: three things, and nothing else.

Listings lose the tools that this caller may not call (`policy.py`), and who sees no change of them
is not told of one; `requestState` leaves sealed.
"""

from services.relay import policy
from services.relay.changes.changes import list_of
from services.relay.changes.seen import Seen
from services.relay.gate import Way
from services.relay.messages import rpc
from services.relay.messages.splice import with_text
from services.relay.questions.states import MEMBER, StateRefused, States, state_of
from services.relay.servers.hello import Hello


class Amend:
    """For one request and what answers it.

    `states`: None in versions without `requestState`. `seen`: where changes are told of and a
    policy takes tools away.
    """

    def __init__(
        self,
        way: Way,
        hello: Hello,
        asked: rpc.Message,
        states: States | None = None,
        seen: Seen | None = None,
    ) -> None:
        self.server = way.server
        self._way = way
        self._hello = hello
        self._method = asked.get("method", "")
        self._params = asked.get("params", {})
        self._states = states
        self._seen = seen

    async def passes(self, message: rpc.Message) -> bool:
        """Whether a message of the server is for this caller at all."""
        if self._seen is None or list_of(message) != "tools":
            return True
        return await self._seen.changed(self._way, "tools")

    def request(self, raw: bytes) -> bytes:
        """The bytes of the request as the server gets them. Raises `StateRefused`."""
        if self._states is None:
            return raw
        opened = self._states.opened(self._way, self._method, self._params)
        if opened is self._params:
            return raw
        if MEMBER not in opened:  # a state of the console's, where the server gave none
            raise StateRefused("state-not-for-this-call", "belongs to the console")
        return with_text(raw, ("params", MEMBER), opened[MEMBER])

    def concerns(self, event: bytes) -> bool:
        """Whether something could be taken out of it; any other event need not even be JSON."""
        if policy.restricts(self.server):
            return True
        return not self._hello.speaks_apps and policy.PAGES_ONLY_SIGN in event

    def answer(self, message: rpc.Message, raw: bytes) -> bytes:
        """The bytes of a message of the server as the caller gets them.

        It looks at the message and not at the request: a listing can come back in another stream
        than the one it was asked in.
        """
        if policy.filtered(self.server, self._hello, message):
            raw = rpc.dumps(message)
        if self._states is None:
            return raw
        state = state_of(self._method, message)
        if state is None:
            return raw
        sealed = self._states.seal(self._way, self._method, self._params, state)
        return with_text(raw, ("result", MEMBER), sealed)
