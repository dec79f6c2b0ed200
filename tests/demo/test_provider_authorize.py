"""The provider's /authorize: what it refuses, where it sends people, what its page allows."""

import re

import pytest

from tests.demo.conftest import REDIRECT, SignIn, StartProvider, answer


@pytest.mark.parametrize(
    ("changes", "error"),
    [
        ({"nonce": None}, "invalid_request"),
        ({"nonce": ""}, "invalid_request"),
        ({"state": None}, "invalid_request"),
        ({"code_challenge": None}, "invalid_request"),
        ({"code_challenge": "short"}, "invalid_request"),
        ({"code_challenge_method": "plain"}, "invalid_request"),
        ({"code_challenge_method": None}, "invalid_request"),
        ({"response_type": "token"}, "unsupported_response_type"),
        ({"response_type": "code id_token"}, "unsupported_response_type"),
        ({"response_mode": "form_post"}, "invalid_request"),
        ({"scope": "email"}, "invalid_scope"),
        ({"prompt": "none"}, "login_required"),
        ({"prompt": "none login"}, "invalid_request"),
    ],
)
async def test_a_wrong_request_goes_back_to_the_client_with_its_error(
    sign_in: SignIn, changes: dict[str, str | None], error: str
) -> None:
    told = answer(await sign_in.show(**changes))
    assert told["error"] == error
    assert told["iss"] == sign_in.issuer
    assert told.get("state") == (None if "state" in changes else sign_in.state)


@pytest.mark.parametrize(
    "changes",
    [
        {"redirect_uri": REDIRECT + "/"},
        {"redirect_uri": "http://127.0.0.1:8080/auth/callback?next=//evil.test"},
        {"redirect_uri": "http://evil.test/auth/callback"},
        {"redirect_uri": None},
        {"client_id": "another"},
        {"client_id": None},
    ],
)
async def test_an_unregistered_client_or_redirect_is_never_sent_anywhere(
    sign_in: SignIn, changes: dict[str, str | None]
) -> None:
    response = await sign_in.show(**changes)
    assert response.status == 400
    assert "Location" not in response.headers
    assert "not the one registered here" in await response.text()


async def test_a_second_redirect_uri_in_the_query_is_refused(sign_in: SignIn) -> None:
    query = [*sign_in.request().items(), ("redirect_uri", "http://evil.test/")]
    response = await sign_in.http.get(
        f"{sign_in.issuer}/authorize", params=query, allow_redirects=False
    )
    assert response.status == 400


async def test_a_doubled_parameter_is_refused(sign_in: SignIn) -> None:
    query = [*sign_in.request().items(), ("nonce", "another")]
    response = await sign_in.http.get(
        f"{sign_in.issuer}/authorize", params=query, allow_redirects=False
    )
    assert answer(response)["error"] == "invalid_request"


async def test_the_page_shows_both_people_and_says_that_it_is_a_demo(sign_in: SignIn) -> None:
    response = await sign_in.show(prompt="select_account", login_hint="Charles@strad.test")
    page = await response.text()
    assert response.status == 200
    assert "Demo sign-in: not for real use" in page
    assert "Ada Lovelace" in page
    assert "Charles Babbage" in page
    assert re.search(r'value="demo-charles" autofocus', page)


async def test_the_pages_policy_lets_the_form_end_at_the_client_only(sign_in: SignIn) -> None:
    response = await sign_in.show()
    policy = response.headers["Content-Security-Policy"]
    assert "default-src 'none'" in policy
    assert "form-action 'self' http://127.0.0.1:8080;" in policy
    assert "frame-ancestors 'none'" in policy
    assert response.headers["Referrer-Policy"] == "same-origin"


async def test_a_query_cannot_write_markup_into_the_page(sign_in: SignIn) -> None:
    page = await (await sign_in.show(state='"><script>alert(1)</script>')).text()
    assert "<script" not in page


async def test_a_choice_goes_back_with_code_state_and_issuer(sign_in: SignIn) -> None:
    told = answer(await sign_in.press({"person": "demo-ada"}))
    assert told.keys() == {"code", "state", "iss"}
    assert told["state"] == sign_in.state
    assert told["iss"] == sign_in.issuer


async def test_cancel_tells_the_client_access_denied(sign_in: SignIn) -> None:
    told = answer(await sign_in.press({"cancel": "1"}))
    assert told["error"] == "access_denied"
    assert told["state"] == sign_in.state


async def test_an_unknown_person_gets_no_code(sign_in: SignIn) -> None:
    told = answer(await sign_in.press({"person": "demo-mallory"}))
    assert told["error"] == "access_denied"
    assert "code" not in told


async def test_a_form_on_another_site_cannot_choose_a_person(sign_in: SignIn) -> None:
    response = await sign_in.press({"person": "demo-ada"}, **{"Sec-Fetch-Site": "cross-site"})
    assert response.status == 403
    assert "Location" not in response.headers


async def test_another_host_name_is_refused(sign_in: SignIn) -> None:
    assert (await sign_in.get("/jwks", Host="evil.test")).status == 421
    assert (await sign_in.get("/healthz", Host="evil.test")).status == 200


async def test_discovery_names_what_is_there(sign_in: SignIn) -> None:
    found = await (await sign_in.get("/.well-known/openid-configuration")).json()
    assert found["issuer"] == sign_in.issuer
    assert found["authorization_response_iss_parameter_supported"] is True
    assert found["code_challenge_methods_supported"] == ["S256"]
    assert found["id_token_signing_alg_values_supported"] == ["RS256"]
    for name in ("authorization_endpoint", "token_endpoint", "userinfo_endpoint", "jwks_uri"):
        assert found[name].startswith(sign_in.issuer + "/")


async def test_without_the_setting_there_are_no_fault_switches(
    start_provider: StartProvider,
) -> None:
    plain = await start_provider(faults=False)
    assert (await plain.http.post(f"{plain.issuer}/faults", json={"slow": 1})).status == 404
