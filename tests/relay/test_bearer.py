"""Who may talk to /mcp at all: one token, in the header, valid now."""

import gc
import re
from collections.abc import Collection, Sequence
from typing import Any

import aiohttp
import pytest
from joserfc import jwt
from joserfc.jwk import KeySet

from services.relay.callers import bearer
from shared import keys
from shared.contracts.wire import ASSERTION_HEADER, INTERNAL_RPC_PATH
from shared.stores.kv import StoreUnavailable
from shared.stores.memory import MemoryKeyValue
from shared.web import body as incoming
from tests.relay.house import VERSION, House, house
from tests.relay.upstreams import modern_fake, sdk_app, served, toy_server
from tests.slow import unfinished

DEAD = "http://127.0.0.1:9/mcp"
LIST = {"jsonrpc": "2.0", "id": 1, "method": "tools/list"}
META = {
    "io.modelcontextprotocol/protocolVersion": VERSION,
    "io.modelcontextprotocol/clientCapabilities": {},
}
LISTING = LIST | {"params": {"_meta": META}}
ACCEPT = {"Accept": "*/*", "MCP-Protocol-Version": VERSION, "Mcp-Method": "tools/list"}


async def _post(h: House, path: str, headers: Any) -> tuple[int, Any, str]:
    async with h.http.post(h.url + path, json=LIST, headers=headers) as response:
        body = await response.json()
        return response.status, body, response.headers.get("WWW-Authenticate", "")


async def test_without_a_token_the_answer_says_where_to_learn_about_tokens() -> None:
    async with house([{"slug": "x", "url": DEAD}]) as h:
        for path, scope in (
            ("/mcp", "mcp"),
            ("/mcp?servers=x", "mcp:x"),
            ("/mcp?servers=x,y", "mcp:x mcp:y"),
            ("/mcp?servers=,", "mcp"),
            ("/mcp/x", "mcp:x"),
            ("/mcp/nothing", "mcp:nothing"),
            ("/mcp/no%22slug", "mcp"),
        ):
            status, body, challenge = await _post(h, path, {"X-Forwarded-Proto": "https"})
            assert status == 401
            assert body["jsonrpc"] == "2.0"
            assert body["error"]["data"]["kind"] == "sign-in-needed"
            found = re.fullmatch('Bearer resource_metadata="(.*)", scope="(.*)"', challenge)
            assert found, challenge
            assert found[2] == scope
            assert found[1] == f"{h.url}/.well-known/oauth-protected-resource/mcp"
            async with h.http.get(found[1], headers={"Origin": "https://client.test"}) as response:
                assert response.status == 200
                assert response.headers["Access-Control-Allow-Origin"] == "*"
                assert await response.json() == {
                    "resource": f"{h.url}/mcp",
                    "resource_name": "strad",
                    "authorization_servers": [h.url],
                    "scopes_supported": ["mcp"],
                    "bearer_methods_supported": ["header"],
                }


async def test_a_token_counts_in_the_one_header_and_nowhere_else() -> None:
    async with house([{"slug": "x", "url": DEAD}]) as h:
        token = await h.token()
        for headers in (
            {"Cookie": f"__Host-strad={token}"},
            {"Authorization": f"Basic {token}"},
            {"Authorization": token},
            {"Authorization": ""},
            {"Authorization": f"Bearer {token[:-1]}{'x' if token[-1] != 'x' else 'y'}"},
            {"Authorization": "Bearer " + "A" * 6000},
            [("Authorization", f"Bearer {token}"), ("Authorization", f"Bearer {token}")],
        ):
            status, _, challenge = await _post(h, "/mcp", headers)
            assert status == 401, headers
            if "Cookie" not in headers:
                assert 'error="invalid_token"' in challenge
        for query in (f"access_token={token}", f"token={token}"):
            status, _, challenge = await _post(h, f"/mcp?{query}", {})
            assert status == 401
            assert "invalid_token" not in challenge


async def test_a_revoked_or_expired_token_is_refused_on_the_next_request() -> None:
    async with served(sdk_app(toy_server())) as url, house([{"slug": "x", "url": url}]) as h:
        assert (await h.modern("/mcp/x", "tools/list"))[0] == 200
        (record,) = (await h.token_writer.of(h.person("ada").subject)).values()
        assert await h.token_writer.revoke(h.person("ada").subject, record.id)
        assert (await h.modern("/mcp/x", "tools/list"))[0] == 401
        h.tokens.clear()
        assert (await h.modern("/mcp/x", "tools/list"))[0] == 200
        h.clock.offset += 3601
        assert (await h.modern("/mcp/x", "tools/list"))[0] == 401


async def test_another_record_under_a_token_is_what_counts_from_the_next_request() -> None:
    """In all that is made of it, whatever was made of the one before."""
    async with (
        served(sdk_app(toy_server())) as url,
        house([{"slug": "x", "url": url}, {"slug": "y", "url": url}]) as h,
    ):
        token = await h.token()
        key, seal = keys.TOKEN.key(h.token_writer.digest(token)), h.settings.base.seal
        sealed = await h.store.get(key)
        assert sealed is not None
        record = seal.open(key, sealed, h.clock())

        async def reached(**more: Any) -> list[int]:
            await h.store.put(key, seal.seal(key, record | more, record["expires"]), 3600)
            return [(await h.modern(path, "tools/list"))[0] for path in ("/mcp/x", "/mcp/y")]

        async def deletes() -> bool:
            call = {"name": "delete", "arguments": {"item": "bear"}}
            return "deleted bear" in str((await h.modern("/mcp/x", "tools/call", call))[1])

        assert (await reached(), await deletes()) == ([200, 200], True)
        assert await reached(servers=["x"]) == [200, 404]
        assert (await reached(read_only=True), await deletes()) == ([200, 200], False)
        assert await reached(person=h.person("bob").model_dump()) == [404, 404]
        nobody = h.person("ada").model_dump() | {"email": "a@b.test", "organisation": "b.test"}
        assert await reached(person=nobody) == [401, 401]
        assert (await reached(), await deletes()) == ([200, 200], True)
        assert await reached(label=7) == [401, 401]  # as of another version
        assert await reached() == [200, 200]
        await h.store.put(key, seal.seal(key, record, h.clock() + 5), 3600)
        assert (await h.modern("/mcp/x", "tools/list"))[0] == 200
        h.clock.offset += 5
        assert (await h.modern("/mcp/x", "tools/list"))[0] == 401


async def test_a_token_limited_to_servers_reaches_only_those() -> None:
    async with (
        served(sdk_app(toy_server())) as url,
        house([{"slug": "x", "url": url}, {"slug": "y", "url": url}]) as h,
    ):
        h.tokens["ada"] = await h.token(servers=("x",))
        assert (await h.modern("/mcp/x", "tools/list"))[0] == 200
        assert (await h.modern("/mcp/y", "tools/list"))[0] == 404
        _, merged = await h.modern("/mcp", "tools/list")
        assert {t["name"].split("__")[0] for t in merged["result"]["tools"]} == {"x"}


async def test_the_last_use_of_a_token_is_noted_once_a_minute() -> None:
    writes: list[str] = []

    class Counting(MemoryKeyValue):
        async def put(self, key: str, value: bytes, seconds: int) -> None:
            writes.append(key)
            await super().put(key, value, seconds)

    async with house([], store=Counting()) as h:
        for _ in range(3):
            await h.modern("/mcp", "tools/list")
        noted = sorted(key for key in writes if key.startswith(keys.TOKEN_SEEN.prefix))
        assert len(noted) == 2  # when, and by whom
        seen = await h.store.get(next(key for key in noted if ":by:" not in key))
        assert seen is not None
        assert abs(int(seen) - h.clock()) < 5
        h.clock.offset += 61
        await h.modern("/mcp", "tools/list")
        assert len([key for key in writes if key.startswith(keys.TOKEN_SEEN.prefix)]) == 4


async def test_who_used_a_token_is_noted_sealed_and_in_plain_letters() -> None:
    async with house([]) as h:
        headers = {"User-Agent": "node/24 <b>\u00e9" + "x" * 99, "X-Forwarded-For": "203.0.113.5"}
        await h.modern("/mcp", "tools/list", headers=headers)
        digest = h.token_writer.digest(await h.token())
        key = keys.TOKEN_USE.key(digest)
        sealed = await h.store.get(key)
        assert sealed is not None
        assert b"203.0" not in sealed
        use = h.settings.base.seal.open(key, sealed, h.clock())
        assert use["address"] == "203.0.113.5"
        assert use["client"].startswith("node/24 b")
        assert len(use["client"]) == 60


class Broken(MemoryKeyValue):
    """A store that can be switched off, as a whole or for keys with a prefix."""

    off: str | None = None

    async def get(self, key: str) -> bytes | None:
        if self.off is not None and key.startswith(self.off):
            raise StoreUnavailable("gone")
        return await super().get(key)


@pytest.mark.parametrize("prefix", ["", "tok:", "ent:"])
async def test_without_the_store_nobody_gets_in_and_nobody_is_called_unknown(prefix: str) -> None:
    store = Broken()
    fake = modern_fake([])
    async with fake.served() as url, house([{"slug": "x", "url": url}], store=store) as h:
        await h.token()
        store.off = prefix
        for path in ("/mcp", "/mcp/x"):
            status, body = await h.modern(path, "tools/list")
            assert status == 503
            assert body["error"]["data"]["kind"] == "store-unavailable"
        assert fake.messages == []


async def test_a_browser_on_another_site_is_refused_with_or_without_a_token() -> None:
    async with house([{"slug": "x", "url": DEAD}]) as h:
        for origin in ("https://evil.test", "null", h.url + ".evil.test"):
            for headers in ({"Origin": origin}, await h.bearer() | {"Origin": origin}):
                status, body, challenge = await _post(h, "/mcp/x", headers)
                assert status == 403
                assert body["error"]["data"]["kind"] == "cross-origin"
                assert challenge == ""
        own = await h.bearer() | {"Origin": h.url}
        assert (await _post(h, "/mcp", own))[0] not in {401, 403}


async def test_another_host_name_is_refused() -> None:
    async with house([]) as h:
        headers = await h.bearer() | {"Host": "evil.example.com"}
        status, body, _ = await _post(h, "/mcp", headers)
        assert status == 421
        assert body["error"]["data"]["kind"] == "wrong-host"


async def test_the_metadata_is_the_same_below_every_path_and_tells_nothing_of_servers() -> None:
    async with house([{"slug": "x", "url": DEAD}]) as h:
        texts = set()
        for path in ("", "/mcp", "/mcp/x", "/mcp/nothing"):
            url = f"{h.url}/.well-known/oauth-protected-resource{path}"
            async with h.http.get(url) as response:
                assert response.status == 200
                texts.add(await response.text())
            async with h.http.options(url) as response:
                assert response.status == 204
                assert response.headers["Access-Control-Allow-Methods"] == "GET"
        assert len(texts) == 1


async def test_a_server_learns_its_caller_from_a_signature_that_anybody_can_verify() -> None:
    fake, plain = modern_fake([]), modern_fake([])
    async with (
        fake.served() as url,
        plain.served() as plain_url,
        house(
            [
                {"slug": "signed", "url": url, "identity": "signed"},
                {"slug": "plain", "url": plain_url},
            ]
        ) as h,
    ):
        forged = {"Strad-Identity": "forged"}
        await h.modern("/mcp/signed", "tools/list", headers=forged)
        await h.modern("/mcp/plain", "tools/list", headers=forged)
        async with h.http.get(f"{h.url}/mcp/.well-known/jwks.json") as response:
            published = KeySet.import_key_set(await response.json())
        ids = set()
        for request in fake.seen:
            (text,) = request.headers.getall("Strad-Identity")
            claims = jwt.decode(text, published, algorithms=["ES256"]).claims
            assert claims["iss"] == h.url
            assert claims["sub"] == h.person("ada").subject
            assert claims["email"] == "ada@strad.test"
            assert claims["aud"] == url
            assert claims["exp"] - claims["iat"] == 60
            ids.add(claims["jti"])
        assert len(ids) == len(fake.seen) == 2
        assert not any("Strad-Identity" in request.headers for request in plain.seen)


async def test_the_key_set_never_holds_the_private_half() -> None:
    async with house([]) as h, h.http.get(f"{h.url}/mcp/.well-known/jwks.json") as response:
        (key,) = (await response.json())["keys"]
        assert set(key) == {"kty", "crv", "x", "y", "kid", "use", "alg"}


async def test_a_warm_call_asks_the_store_once() -> None:
    trips: list[list[str]] = []

    class Counting(MemoryKeyValue):
        async def look(
            self, keys: Sequence[str], counted: Sequence[str], ending: Collection[str], seconds: int
        ) -> tuple[list[bytes | None], list[int]]:
            trips.append([key.split(":")[0] for key in (*keys, *counted)])
            values = [await MemoryKeyValue.get(self, key) for key in keys]
            return values, [await MemoryKeyValue.count(self, key, seconds) for key in counted]

        async def get(self, key: str) -> bytes | None:
            trips.append([key])
            return await super().get(key)

        async def count(self, key: str, seconds: int) -> int:
            trips.append([key])
            return await super().count(key, seconds)

    fake = modern_fake([{"name": "go", "inputSchema": {}}])
    async with fake.served() as url, house([{"slug": "x", "url": url}], store=Counting()) as h:
        for _ in range(3):
            trips.clear()
            await h.modern("/mcp/x", "tools/list")
        assert trips == [["tok", "ent", "limit", "limit"]]


async def test_what_was_read_ahead_for_one_request_serves_no_other() -> None:
    async with (
        modern_fake([]).served() as url,
        house([{"slug": "x", "url": url}]) as h,
        aiohttp.ClientSession(connector=aiohttp.TCPConnector(limit=1)) as http,
    ):
        for name, status in (("ada", 200), ("bob", 404), ("ada", 200)):
            headers = await h.bearer(name) | ACCEPT
            async with http.post(h.url + "/mcp/x", json=LISTING, headers=headers) as response:
                assert response.status == status
        subject = h.person("ada").subject
        (record,) = (await h.token_writer.of(subject)).values()
        await h.token_writer.revoke(subject, record.id)
        headers = await h.bearer("ada") | ACCEPT
        async with http.post(h.url + "/mcp/x", json=LISTING, headers=headers) as response:
            assert response.status == 401


async def test_a_request_cannot_be_held_back_until_its_token_has_been_revoked(
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    monkeypatch.setattr(incoming, "SECONDS", 0.2)
    async with house([{"slug": "toys", "url": DEAD}]) as h:
        sent = {"Content-Type": "application/json", "Accept": "*/*"}
        bearer = await h.bearer()
        assert b" 408 " in await unfinished(f"{h.url}/mcp/toys", sent | bearer)
        signed = {ASSERTION_HEADER: h.assertion("ada", await h.session("ada"), "toys")}
        path = INTERNAL_RPC_PATH.format(slug="toys")
        assert b" 408 " in await unfinished(h.internal_url + path, sent | signed)


async def test_of_so_many_tokens_it_is_known_whom_they_let_in_and_of_no_more(
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    monkeypatch.setattr(bearer, "_MAX_REMEMBERED", 2)
    before = known()
    async with house([]) as h:
        for _ in range(5):
            h.tokens["ada"] = await h.token(read_only=False)
            assert (await h.modern("/mcp", "tools/list"))[0] == 200
        assert known() - before == 2


def known() -> int:
    gc.collect()
    return sum(isinstance(one, bearer._Caller) for one in gc.get_objects())
