"""Sign-in links that a machine makes: for whom, by whom, how often, and what they are good for."""

from pathlib import Path
from typing import Any
from urllib.parse import parse_qs, urlsplit

import pytest

from services.auth.oauth import tries
from shared.contracts.identity import SessionKind
from shared.contracts.wire import SESSION_COOKIE
from tests.auth.browser import Browser, assert_refused
from tests.auth.conftest import CHARLES, Auth, StartBoth
from tests.auth.machine import (
    DESK,
    JWKS,
    REPORT,
    ROBOT,
    MachineClient,
    desk,
    robot,
    with_machines,
)
from tests.auth.oauth_client import OAuthClient
from tests.auth.test_admission import allow, eventually, write
from tests.auth.test_login_links import followed, pressed
from tests.auth.test_machine_ends import written
from tests.auth.test_people import desk_of
from tests.auth.test_trail import trail


@pytest.fixture
async def auth(start_both: StartBoth) -> Auth:
    found = await with_machines(start_both, administrators=["charles@strad.test"])
    await found.signed_in()
    return found


async def told(auth: Auth, event: str) -> list[dict[str, Any]]:
    """What the trail says of it, without what differs each time."""
    names = ("email", "by", "decision", "reason")
    return [
        {name: one[name] for name in names if name in one}
        for one in await trail(auth)
        if one["event"] == event
    ]


async def with_a_followed_link(start_both: StartBoth, path: Path) -> tuple[Auth, Browser, str]:
    """A service's link, opened in a browser and not pressed yet; and its address."""
    auth = await with_machines(start_both, config_path=path)
    await auth.signed_in()
    address = (await desk(auth).link()).body["link"]
    browser = auth.browser()
    await followed(auth, browser, address)
    return auth, browser, address


async def test_a_link_of_a_machine_signs_in_to_look_once_and_says_who_made_it(auth: Auth) -> None:
    made = await desk(auth).link(to="/apps/toys?x=1")
    assert made.status == 201, made.body
    assert made.body["expires_in"] == 600
    assert made.headers["Cache-Control"] == "no-store"
    address = made.body["link"]
    assert address.startswith(f"{auth.url}/auth/link?token=")
    browser = auth.browser()
    asked = await followed(auth, browser, address)
    assert "Help desk made this link for ada@strad.test." in asked.text
    token = parse_qs(urlsplit(address).query)["token"][0]
    assert token not in asked.text
    assert not await auth.has_session(browser)
    page = await pressed(auth, browser)
    assert page.location == f"{auth.url}/apps/toys?x=1"
    assert token not in str(page.headers)
    sessions = auth.sessions()
    found = await sessions.find(sessions.digest(browser.cookie(auth.url, SESSION_COOKIE) or ""))
    assert found is not None
    assert (found.kind, found.person.email) == (SessionKind.TOKEN, "ada@strad.test")
    assert found.expires - found.created == 3600
    assert_refused(await followed(auth, auth.browser(), address), "link-unusable")
    by = {"email": "ada@strad.test", "by": "machine:desk", "decision": "allowed"}
    assert await told(auth, "link-made") == await told(auth, "link-used") == [by]


@pytest.mark.parametrize(
    ("person", "reason"),
    [
        ("charles@strad.test", "administrator"),
        ("nobody@strad.test", "person-unknown"),
        ("ada@elsewhere.test", "person-unknown"),
    ],
)
async def test_for_whom_there_is_no_link_the_machine_hears_no_reason_and_the_trail_does(
    auth: Auth, person: str, reason: str
) -> None:
    await auth.signed_in(CHARLES)
    got = await desk(auth).link(person)
    assert (got.status, got.body) == (
        403,
        {"error": "access_denied", "error_description": "There is no link for this person."},
    )
    denied = {"email": person, "by": "machine:desk", "decision": "denied", "reason": reason}
    assert await told(auth, "link-made") == [denied]


@pytest.mark.parametrize(
    "changes",
    [
        {"person": None},
        {"person": "Ada"},
        {"person": "machine:report"},
        {"person": "ada@strad.test, charles@strad.test"},
        {"to": "https://evil.test/"},
        {"to": "//evil.test"},
        {"to": "/\\evil.test"},
        {"to": "/auth/link"},
        {"to": "/apps/toys?token=x"},
        {"to": "apps/toys"},
    ],
)
async def test_a_link_for_no_person_or_to_no_page_of_ours_is_not_made(
    auth: Auth, changes: dict[str, str | None]
) -> None:
    got = await desk(auth).link(**changes)
    assert (got.status, got.body["error"]) == (400, "invalid_request")
    assert await told(auth, "link-made") == []


async def test_only_a_machine_that_may_and_proves_who_it_is_makes_links(auth: Auth) -> None:
    for machine in (MachineClient(auth), robot(auth)):
        got = await machine.link()
        assert (got.status, got.body["error"]) == (400, "unauthorized_client")
    for wrong in (MachineClient(auth, id="desk", secret="x" * 40), MachineClient(auth, id="no")):
        got = await wrong.link()
        assert (got.status, got.body["error"]) == (401, "invalid_client")
    form: dict[str, str | None] = {"person": "ada@strad.test"}
    token = (await MachineClient(auth).token()).body["access_token"]
    for headers in ({}, {"Authorization": f"Bearer {token}"}):
        got = await OAuthClient(auth).post("/auth/links", form, **headers)
        assert got.status in {400, 401}
    named = await OAuthClient(auth).post("/auth/links", form | {"client_id": "desk"})
    assert named.status == 401
    browser = await auth.signed_in()
    page = await browser.post(f"{auth.url}/auth/links", {"person": "ada@strad.test"})
    assert page.status == 403
    assert await told(auth, "link-made") == []


async def test_a_machine_that_signs_makes_links_and_each_assertion_makes_one(
    start_both: StartBoth,
) -> None:
    signing = {"client_id": "robot", "name": "Signing desk", "jwks": JWKS, "login_links": True}
    auth = await with_machines(start_both, signing)
    await auth.signed_in()
    machine = robot(auth)
    assertion = machine.assertion()
    assert (await machine.link(client_assertion=assertion)).status == 201
    replayed = await machine.link(client_assertion=assertion)
    assert (replayed.status, replayed.body["error_description"]) == (401, "jti was used before.")


async def test_so_many_links_a_minute_for_one_person_and_by_one_machine(
    auth: Auth, monkeypatch: pytest.MonkeyPatch
) -> None:
    for _ in range(tries.LINKS_OF_ONE):
        assert (await desk(auth).link()).status == 201
    refused = await desk(auth).link()
    assert refused.status == 429
    assert int(refused.headers["Retry-After"]) > 0
    auth.clock.now += 61
    monkeypatch.setattr(tries, "GIVEN", 3)
    asked = [(await desk(auth).link("nobody@strad.test")).status for _ in range(4)]
    assert asked == [403, 403, 403, 429]


async def test_a_link_of_a_machine_that_may_make_none_any_more_is_worth_nothing(
    start_both: StartBoth, tmp_path: Path
) -> None:
    path = tmp_path / "strad.yaml"
    auth, browser, address = await with_a_followed_link(start_both, path)
    written(auth, path, REPORT, ROBOT, DESK | {"login_links": False, "servers": ["news"]})

    async def over() -> bool:
        return (await desk(auth).link("nobody@strad.test")).status == 400

    await eventually(over)
    assert_refused(await pressed(auth, browser), "link-unusable")
    assert_refused(await followed(auth, auth.browser(), address), "link-unusable")
    person = await desk_of(auth).people.find("ada@strad.test")
    assert person is not None
    path_of_operators = await desk_of(auth).login_links.make(person)
    assert (await followed(auth, auth.browser(), auth.url + path_of_operators)).status == 200


async def test_a_machine_that_may_make_links_from_now_on_makes_one_without_a_restart(
    start_both: StartBoth, tmp_path: Path
) -> None:
    path, none = tmp_path / "strad.yaml", DESK | {"login_links": False, "servers": ["news"]}
    auth = await with_machines(start_both, none, config_path=path)
    await auth.signed_in()
    refused = await desk(auth).link()
    assert (refused.status, refused.body["error"]) == (400, "unauthorized_client")
    written(auth, path, DESK)

    async def made() -> bool:
        return (await desk(auth).link()).status == 201

    await eventually(made)


async def test_who_may_not_sign_in_any_more_gets_no_link(
    start_both: StartBoth, tmp_path: Path
) -> None:
    path = tmp_path / "strad.yaml"
    auth, browser, _ = await with_a_followed_link(start_both, path)
    allow(path, auth, people=["charles@strad.test"])

    async def out() -> bool:
        return (await desk(auth).link()).status == 403

    await eventually(out)
    assert (await told(auth, "link-made"))[-1]["reason"] == "not-allowed"
    assert_refused(await pressed(auth, browser), "not-allowed", 403)


async def test_who_has_become_an_administrator_is_not_signed_in_by_a_link_of_a_machine(
    start_both: StartBoth, tmp_path: Path
) -> None:
    path = tmp_path / "strad.yaml"
    auth, browser, _ = await with_a_followed_link(start_both, path)
    write(path, auth, administrators=["ada@strad.test"])

    async def promoted() -> bool:
        return (await desk(auth).link()).status == 403

    await eventually(promoted)
    assert_refused(await pressed(auth, browser), "link-unusable")
    assert not await auth.has_session(browser)
