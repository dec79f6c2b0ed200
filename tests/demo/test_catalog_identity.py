"""The signed identity: accepted from the relay, for this server, now; and refused otherwise."""

import contextlib
import json
import time
from base64 import urlsafe_b64encode
from collections.abc import AsyncIterator
from typing import Any

import httpx2
import pytest
import pytest_asyncio
from joserfc import jwt
from joserfc.jwk import ECKey, OctKey
from starlette.types import ASGIApp

from demo.catalog.identity import (
    KEYS_FRESH,
    KEYS_PAUSE,
    IdentityCheck,
    IdentityRefused,
    KeysUnavailable,
    RelayKeys,
)
from demo.catalog.server import create_app
from demo.serve import Address
from tests.demo.conftest import Clock
from tests.demo.mcp_bed import STRAD, Relay, listening, new_key, relay

CALL = {
    "jsonrpc": "2.0",
    "id": 1,
    "method": "tools/call",
    "params": {"name": "list_toys", "arguments": {}},
}
HEADERS = {"Accept": "application/json, text/event-stream", "MCP-Protocol-Version": "2025-11-25"}


class Bed:
    def __init__(self, url: str, signer: Relay) -> None:
        self.url, self.signer = url, signer

    async def call(self, *identities: str, **other: str) -> tuple[int, dict[str, Any]]:
        """Status and body of one call with these identity headers."""
        sent = [(name.encode(), value.encode()) for name, value in (HEADERS | other).items()]
        sent += [(b"Strad-Identity", identity.encode("latin-1")) for identity in identities]
        async with httpx2.AsyncClient() as http:
            response = await http.post(self.url, json=CALL, headers=sent)
        return response.status_code, response.json()

    async def refusal(self, *identities: str) -> str:
        status, body = await self.call(*identities)
        assert (status, body["error"]) == (403, "identity_refused")
        return str(body["reason"])


# One server for the whole file: it keeps nothing between two requests but the relay's keys.
pytestmark = pytest.mark.asyncio(loop_scope="module")


@contextlib.asynccontextmanager
async def catalogue() -> AsyncIterator[Bed]:
    async with relay() as signer:

        def wire(address: Address) -> ASGIApp:
            check = IdentityCheck(RelayKeys(signer.url), address.self_url, STRAD)
            return create_app(address, check)

        async with listening(wire) as url:
            yield Bed(url, signer)


@pytest_asyncio.fixture(scope="module", loop_scope="module")
async def bed() -> AsyncIterator[Bed]:
    async with catalogue() as made:
        yield made


async def test_the_relays_token_is_believed(bed: Bed) -> None:
    status, body = await bed.call(bed.signer.identity(bed.url))
    assert status == 200
    assert body["result"]["structuredContent"]["caller"]["email"] == "ada@strad.test"


async def test_a_plain_identity_header_means_nothing(bed: Bed) -> None:
    status, body = await bed.call(**{"X-Forwarded-Email": "ada@strad.test", "X-User": "ada"})
    assert status == 200
    assert body["result"]["structuredContent"]["caller"] == {"known": False, "email": None}


async def test_a_forged_signature_is_refused(bed: Bed) -> None:
    thief = new_key("relay-1")
    assert "not signed" in await bed.refusal(bed.signer.identity(bed.url, key=thief))


async def test_an_unknown_key_is_refused(bed: Bed) -> None:
    assert "not signed" in await bed.refusal(bed.signer.identity(bed.url, key=new_key("other")))


@pytest.mark.parametrize("garbage", ["", "x", "a.b.c", "e30.e30.", "é" * 3, "x" * 5000])
async def test_garbage_is_refused(bed: Bed, garbage: str) -> None:
    assert "not signed" in await bed.refusal(garbage)


async def test_an_unsigned_token_is_refused(bed: Bed) -> None:
    _, claims, _ = bed.signer.identity(bed.url).split(".")
    header = urlsafe_b64encode(json.dumps({"alg": "none"}).encode()).rstrip(b"=").decode()
    assert "not signed" in await bed.refusal(f"{header}.{claims}.")


async def test_a_token_keyed_with_the_public_key_is_refused(bed: Bed) -> None:
    key = bed.signer.keys[0]
    public = OctKey.import_key(str(key.as_dict(private=False)["x"]))
    claims = jwt.decode(bed.signer.identity(bed.url), key, algorithms=["Ed25519"]).claims
    header = {"alg": "HS256", "kid": key.kid}
    forged = jwt.encode(header, claims, public, algorithms=["HS256"])
    assert "not signed" in await bed.refusal(forged)


@pytest.mark.parametrize(
    ("changes", "reason"),
    [
        ({"aud": "http://127.0.0.1:1/mcp"}, "meant for another server"),
        ({"aud": None}, "meant for another server"),
        ({"iss": "https://strad.example"}, "another strad"),
        ({"iss": None}, "another strad"),
        ({"sub": None}, "sub and jti"),
        ({"sub": 7}, "sub and jti"),
        ({"jti": None}, "sub and jti"),
        ({"exp": None}, "iat and exp"),
        ({"iat": None}, "iat and exp"),
        ({"exp": "2030"}, "iat and exp"),
        ({"exp": 10**12}, "more than 60"),
    ],
)
async def test_a_wrong_claim_is_refused(bed: Bed, changes: dict[str, Any], reason: str) -> None:
    assert reason in await bed.refusal(bed.signer.identity(bed.url, **changes))


@pytest.mark.parametrize("shift", [-70, 30])
async def test_a_token_of_another_time_is_refused(bed: Bed, shift: int) -> None:
    now = int(time.time()) + shift
    late = bed.signer.identity(bed.url, iat=now, exp=now + 60)
    assert "expired" in await bed.refusal(late)


async def test_an_audience_list_must_name_this_server_alone(bed: Bed) -> None:
    status, _ = await bed.call(bed.signer.identity(bed.url, aud=[bed.url]))
    assert status == 200
    both = bed.signer.identity(bed.url, aud=[bed.url, "http://127.0.0.1:1/mcp"])
    assert "another server" in await bed.refusal(both)


async def test_two_identities_are_refused(bed: Bed) -> None:
    one, two = bed.signer.identity(bed.url), bed.signer.identity(bed.url)
    assert "more than one" in await bed.refusal(one, two)


async def test_without_the_relays_keys_address_any_identity_is_refused() -> None:
    async with listening(lambda address: create_app(address, None)) as url:
        bed = Bed(url, Relay())
        assert "RELAY_JWKS_URL" in await bed.refusal(bed.signer.identity(url))
        assert (await bed.call())[0] == 200


async def test_unreachable_keys_are_a_503_and_never_a_guess() -> None:
    async with catalogue() as bed:
        bed.signer.status = 500
        status, body = await bed.call(bed.signer.identity(bed.url))
    assert (status, body["error"]) == (503, "identity_unchecked")


async def test_a_new_key_of_the_relay_is_found_without_a_restart() -> None:
    async with relay() as signer:
        clock = Clock()
        check = IdentityCheck(RelayKeys(signer.url, clock), "http://me/mcp")
        await check.caller(signer.identity("http://me/mcp"))
        signer.keys = [new_key("relay-2")]
        clock.now += KEYS_PAUSE
        await check.caller(signer.identity("http://me/mcp"))
        assert signer.asked == 2


async def test_invented_key_ids_ask_the_relay_once_in_ten_seconds() -> None:
    async with relay() as signer:
        clock = Clock()
        check = IdentityCheck(RelayKeys(signer.url, clock), "http://me/mcp")
        for number in range(50):
            with pytest.raises(IdentityRefused):
                await check.caller(signer.identity("http://me/mcp", key=new_key(str(number))))
        assert signer.asked == 1
        clock.now += KEYS_PAUSE
        with pytest.raises(IdentityRefused):
            await check.caller(signer.identity("http://me/mcp", key=new_key("51")))
        assert signer.asked == 2


async def test_keys_are_read_again_after_five_minutes_and_outlive_a_failure() -> None:
    async with relay() as signer:
        clock = Clock()
        keys = RelayKeys(signer.url, clock)
        await keys.current()
        await keys.current()
        assert signer.asked == 1
        clock.now += KEYS_FRESH
        signer.status = 500
        assert await keys.current()
        assert signer.asked == 2


async def test_a_redirect_or_an_empty_answer_is_no_key_set() -> None:
    async with relay() as signer:
        clock = Clock()
        for status in (204, 302):
            signer.status = status
            with pytest.raises(KeysUnavailable):
                await RelayKeys(signer.url, clock).current()


async def test_an_elliptic_curve_key_of_the_relay_works_too() -> None:
    async with relay() as signer:
        key = ECKey.generate_key("P-256", {"use": "sig", "kid": "ec"}, private=True)
        signer.keys.append(key)  # type: ignore[arg-type]
        now = int(time.time())
        claims = {"iss": STRAD, "sub": "s", "aud": "u", "jti": "j", "iat": now, "exp": now + 60}
        token = jwt.encode({"alg": "ES256", "kid": "ec"}, claims, key, algorithms=["ES256"])
        caller = await IdentityCheck(RelayKeys(signer.url), "u").caller(token)
        assert (caller.subject, caller.email) == ("s", "")


async def test_the_old_name_of_the_signature_is_read_without_a_warning() -> None:
    async with relay() as signer:
        now, key = int(time.time()), signer.keys[0]
        claims = {"iss": STRAD, "sub": "s", "aud": "u", "jti": "j", "iat": now, "exp": now + 60}
        with pytest.warns(match="EdDSA"):
            token = jwt.encode({"alg": "EdDSA", "kid": key.kid}, claims, key, algorithms=["EdDSA"])
        assert (await IdentityCheck(RelayKeys(signer.url), "u").caller(token)).subject == "s"
