"""What a person has allowed, while a key is being replaced."""

from services.auth.oauth.connected import Connected
from services.auth.oauth.records import Allowed, Client
from shared import keys
from shared.contracts.wire import ACCESS_TOKEN_PREFIX
from shared.ids import new_token
from shared.signing import Seal
from shared.stores.memory import MemoryKeyValue
from shared.stores.tokens import TokenReader
from tests.shared.conftest import Clock
from tests.shared.people import ADA, HOUR

OLD = Seal([b"k" * 32], b"i" * 32)
NEW = Seal([b"n" * 32, b"k" * 32], b"i" * 32)


async def test_what_was_allowed_under_a_key_that_is_still_to_come_here_ends_with_the_rest() -> None:
    clock = Clock()
    store = MemoryKeyValue(clock)
    behind = Connected(store, OLD, clock, access=600, refresh=HOUR)
    ahead = Connected(store, NEW, clock, access=600, refresh=HOUR)
    where = ("http://127.0.0.1:9/back",)
    now = int(clock())
    allowed = Allowed(
        id="family",
        person=ADA,
        client=Client(id="c", name="C", redirect_uris=where, refreshes=True),
        redirect_uri=where[0],
        servers=None,
        read_only=False,
        created=now,
        expires=now + HOUR,
    )
    access = new_token(ACCESS_TOKEN_PREFIX)
    assert await ahead.issue(allowed, access, "", "http://127.0.0.1:9/mcp")
    assert await behind.of(ADA.subject) == []
    assert [one.id for one in await ahead.of(ADA.subject)] == ["family"]
    assert await behind.end_all(ADA.subject) == 1
    assert await ahead.of(ADA.subject) == []
    assert await TokenReader(store, NEW, clock).verify(access) is None
    assert await store.index(keys.CLIENTS_OF.key(ADA.subject)) == set()
