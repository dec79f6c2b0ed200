"""A client connects: what it learns, how it is asked for, and what it gets."""

import re
from urllib.parse import unquote

import pytest

from services.auth.oauth.connected import MAX_CLIENTS
from shared.contracts.wire import CLIENTS_PATH
from shared.ids import is_token
from shared.stores.tokens import TokenReader
from tests.auth.conftest import Auth, StartBoth
from tests.auth.oauth_client import OAuthClient, answer, answered, sealed_request


def tokens(auth: Auth) -> TokenReader:
    """What the relay reads tokens with."""
    return TokenReader(auth.store, auth.seal, auth.clock)


async def test_the_authorization_server_describes_itself_to_anybody(auth: Auth) -> None:
    where = f"{auth.url}/.well-known/oauth-authorization-server"
    async with auth.http.get(where, headers={"Origin": "https://client.test"}) as found:
        assert found.status == 200
        assert found.content_type == "application/json"
        assert found.headers["Access-Control-Allow-Origin"] == "*"
        document = await found.json()
    assert document["issuer"] == auth.url
    assert document["authorization_endpoint"] == f"{auth.url}/oauth/authorize"
    assert document["code_challenge_methods_supported"] == ["S256"]
    assert document["token_endpoint_auth_methods_supported"] == ["none"]
    assert document["authorization_response_iss_parameter_supported"] is True
    assert document["client_id_metadata_document_supported"] is True
    assert document["registration_endpoint"] == f"{auth.url}/oauth/register"


async def test_a_person_connects_a_client_and_it_gets_tokens_for_minutes(auth: Auth) -> None:
    browser, client = await auth.signed_in(), OAuthClient(auth)
    assert (await client.register()).status == 201
    page = await client.ask(browser)
    for words in ("Toy client", "ada@strad.test", "127.0.0.1:49152", "nobody answers for it"):
        assert words in page.text
    assert "Toys" in page.text
    assert "vault" not in page.text
    told = answered(await answer(browser, page))
    assert told["state"] == client.state
    assert told["iss"] == auth.url
    got = await client.redeem(told["code"])
    assert got.status == 200, got.body
    assert got.headers["Cache-Control"] == "no-store"
    assert got.body["token_type"] == "Bearer"
    assert got.body["expires_in"] == 600
    assert got.body["scope"] == "mcp"
    assert is_token(got.body["access_token"])
    assert not is_token(got.body["refresh_token"])
    found = await tokens(auth).verify(got.body["access_token"])
    assert found is not None
    assert (found[1].person.email, found[1].servers) == ("ada@strad.test", None)
    assert (found[1].client, found[1].read_only) == (client.id, False)
    auth.clock.now += 601
    assert await tokens(auth).verify(got.body["access_token"]) is None


async def test_a_person_chooses_servers_and_only_reading(auth: Auth) -> None:
    browser, client = await auth.signed_in(), OAuthClient(auth)
    await client.register()
    got = await client.redeem(await client.code(browser, ["news"], access="read"))
    assert got.body["scope"] == "mcp:news"
    found = await tokens(auth).verify(got.body["access_token"])
    assert found is not None
    assert (found[1].servers, found[1].read_only) == (("news",), True)


@pytest.mark.parametrize(
    "reach",
    [
        [],
        [("reach", "some")],
        [("reach", "other")],
        [("reach", "every"), ("servers", "news")],
        [("servers", "news"), ("reach", "every"), ("reach", "some")],
        [("reach", "some"), ("servers", "vault")],
    ],
)
async def test_all_servers_are_allowed_only_by_saying_so(
    auth: Auth, reach: list[tuple[str, str]]
) -> None:
    """A box that was left out, or was ticked beside "all", must not become every server."""
    browser, client = await auth.signed_in(), OAuthClient(auth)
    await client.register()
    page = await client.ask(browser)
    form = [("request", sealed_request(page)), ("access", "read"), ("answer", "allow")]
    refused = await browser.post(f"{auth.url}/oauth/authorize", form + reach)
    assert refused.status == 422
    assert "Nothing was allowed yet" in refused.text
    assert 'value="some" checked' in refused.text
    assert 'value="read" checked' in refused.text
    assert 'value="every" checked' not in refused.text


async def test_who_has_no_server_yet_can_allow_those_to_come(start_both: StartBoth) -> None:
    """Also where a decision point says who may use what: then none can be listed."""
    vault = {"slug": "vault", "name": "Vault", "url": "http://v/mcp"}
    auth = await start_both(servers=[vault | {"access": {"people": ["x@x.test"]}}])
    browser, client = await auth.signed_in(), OAuthClient(auth)
    await client.register()
    page = await client.ask(browser)
    assert "All servers that you may use, later ones too." in page.text
    form = dict(re.findall(r'type="hidden" name="(\w+)" value="([^"]*)"', page.text))
    form |= {"access": "write", "answer": "allow"}
    told = answered(await browser.post(f"{auth.url}/oauth/authorize", form))
    assert (await client.redeem(told["code"])).body["scope"] == "mcp"


async def test_who_is_signed_out_signs_in_first_and_is_asked_then(auth: Auth) -> None:
    client, browser = OAuthClient(auth), auth.browser()
    await client.register()
    page = await client.ask(browser)
    assert page.status == 303
    assert page.location.startswith(f"{auth.url}/auth/sign-in?return_to=")
    page = await browser.get(page.location, "cross-site")
    question = await auth.start(browser, page.link("Sign in").removeprefix(auth.url))
    done = await browser.get(await auth.choose(browser, question), "cross-site")
    assert unquote(done.location) == unquote(client.address())
    assert "Toy client" in (await browser.get(done.location, "cross-site")).text


async def test_a_refusal_is_told_to_the_client(auth: Auth) -> None:
    browser, client = await auth.signed_in(), OAuthClient(auth)
    await client.register()
    told = answered(await answer(browser, await client.ask(browser), allow=False))
    assert told["error"] == "access_denied"
    assert (told["state"], told["iss"]) == (client.state, auth.url)
    assert "code" not in told


async def test_a_client_that_asks_for_one_server_gets_no_other(auth: Auth) -> None:
    browser, client = await auth.signed_in(), OAuthClient(auth)
    await client.register()
    page = await client.ask(browser, scope="mcp:toys")
    assert "News" not in page.text
    refused = await answer(browser, page, ["news"])
    assert refused.status == 422
    told = answered(await answer(browser, page, ["toys"]))
    assert (await client.redeem(told["code"])).body["scope"] == "mcp:toys"


@pytest.mark.parametrize("scope", ["mcp:vault", "mcp:nothing"])
async def test_a_server_that_is_not_theirs_is_as_unknown_as_one_that_is_not(
    auth: Auth, scope: str
) -> None:
    browser, client = await auth.signed_in(), OAuthClient(auth)
    await client.register()
    page = await client.ask(browser, scope=scope)
    assert page.status == 403
    assert "You may use none of the servers that this client asks for." in page.text
    assert scope.partition(":")[2] not in page.text


async def test_a_refresh_gives_new_tokens_of_the_same_right(auth: Auth) -> None:
    client = OAuthClient(auth)
    first = await client.connected(await auth.signed_in(), ["news"])
    auth.clock.now += 900
    second = await client.refresh(first["refresh_token"])
    assert second.status == 200, second.body
    assert second.body["scope"] == "mcp:news"
    assert second.body["refresh_token"] != first["refresh_token"]
    found = await tokens(auth).verify(second.body["access_token"])
    assert found is not None
    assert found[1].servers == ("news",)


async def test_a_client_that_is_idle_for_too_long_is_connected_again(
    start_both: StartBoth,
) -> None:
    auth = await start_both(oauth={"refresh": "1d"}, tokens={"longest": "3d"})
    client = OAuthClient(auth)
    token = (await client.connected(await auth.signed_in()))["refresh_token"]
    for _ in range(3):
        auth.clock.now += 80_000
        got = await client.refresh(token)
        assert got.status == 200, got.body
        token = got.body["refresh_token"]
    auth.clock.now += 80_000
    assert (await client.refresh(token)).body["error"] == "invalid_grant"


async def test_a_person_sees_a_client_and_ends_it(auth: Auth) -> None:
    browser, client = await auth.signed_in(), OAuthClient(auth)
    got = await client.connected(browser, ["news"])
    page = await browser.get(auth.url + CLIENTS_PATH)
    assert "Toy client" in page.text
    assert "News" in page.text
    (action,) = re.findall(rf'action="({CLIENTS_PATH}/[^"]+/end)"', page.text)
    stranger = await auth.signed_in("demo-charles")
    assert (await stranger.post(auth.url + action, {})).status == 404
    assert await tokens(auth).verify(got["access_token"]) is not None
    assert (await browser.post(auth.url + action, {})).status == 303
    assert await tokens(auth).verify(got["access_token"]) is None
    assert (await client.refresh(got["refresh_token"])).body["error"] == "invalid_grant"
    assert "Toy client" not in (await browser.get(auth.url + CLIENTS_PATH)).text


@pytest.mark.parametrize("kind", ["access_token", "refresh_token"])
async def test_a_client_gives_back_what_it_was_allowed(auth: Auth, kind: str) -> None:
    client = OAuthClient(auth)
    got = await client.connected(await auth.signed_in())
    form = {"token": got[kind], "client_id": client.id}
    assert (await client.post("/oauth/revoke", dict(form))).status == 200
    assert await tokens(auth).verify(got["access_token"]) is None
    assert (await client.refresh(got["refresh_token"])).body["error"] == "invalid_grant"
    assert (await client.post("/oauth/revoke", dict(form))).status == 200


async def test_the_client_unused_for_longest_makes_room(auth: Auth) -> None:
    browser, client = await auth.signed_in(), OAuthClient(auth)
    first = await client.connected(browser)
    for _ in range(MAX_CLIENTS):
        assert await tokens(auth).verify(first["access_token"]) is not None
        auth.clock.now += 5
        await client.connected(browser)
    assert await tokens(auth).verify(first["access_token"]) is None


async def test_a_client_that_nobody_uses_is_forgotten_and_one_in_use_is_not(auth: Auth) -> None:
    used, unused, browser = OAuthClient(auth), OAuthClient(auth), await auth.signed_in()
    await used.connected(browser)
    await unused.register()
    auth.clock.now += 86_401
    browser = await auth.signed_in()
    assert (await unused.ask(browser)).status == 400
    assert (await used.ask(browser)).status == 200
