"""A link from another site asks first, for everybody alike, and runs nothing."""

import pytest

from tests.apphost.console import Console

FOREIGN = ["cross-site", "same-site", "SAME-ORIGIN", "None", "", "nonsense", "same-origin, none"]


@pytest.mark.parametrize("site", FOREIGN)
async def test_a_link_from_elsewhere_gets_the_page_that_asks(
    console: Console, ada: str, site: str
) -> None:
    answer = await console.get("/apps/toys?view=week", ada, Sec_Fetch_Site=site)
    assert answer.status == 200
    assert 'href="/apps/toys?view=week"' in answer.text
    assert "Nothing has run yet" in answer.text
    assert console.relay.asked == []


async def test_a_header_given_twice_counts_as_elsewhere(console: Console, ada: str) -> None:
    twice = await console.http.get(
        console.url + "/apps/toys",
        headers=[
            ("Sec-Fetch-Site", "same-origin"),
            ("Sec-Fetch-Site", "same-origin"),
            ("Cookie", f"__Host-strad={ada}"),
        ],
    )
    assert "Nothing has run yet" in await twice.text()
    assert console.relay.asked == []


@pytest.mark.parametrize("site", ["same-origin", "none"])
async def test_a_persons_own_visit_opens_the_app(console: Console, ada: str, site: str) -> None:
    answer = await console.get("/apps/toys", ada, Sec_Fetch_Site=site)
    assert answer.status == 200
    assert 'id="boot"' in answer.text


async def test_everybody_gets_the_same_page_whatever_they_may_use(
    console: Console, ada: str, charles: str
) -> None:
    for slug in ("toys", "never-heard-of"):
        answers = [
            await console.get(f"/apps/{slug}", who, Sec_Fetch_Site="cross-site")
            for who in (ada, charles, None)
        ]
        assert len({(answer.status, answer.body) for answer in answers}) == 1
        assert f"Open “{slug}”?" in answers[0].text  # from the address alone
        assert "Toy shop" not in answers[0].text
    assert console.relay.asked == []


async def test_the_open_link_keeps_the_query_but_never_a_token(console: Console) -> None:
    answer = await console.get(
        "/apps/toys?a=1&token=SECRET&a=2&b=%3C%22%26&uri=ui%3A%2F%2Ft", Sec_Fetch_Site="cross-site"
    )
    assert "SECRET" not in answer.text
    assert 'href="/apps/toys?a=1&amp;a=2&amp;b=%3C%22%26&amp;uri=ui%3A%2F%2Ft"' in answer.text


async def test_the_page_that_asks_cannot_be_framed_or_leak_its_address(console: Console) -> None:
    answer = await console.get("/apps/toys?x=1", Sec_Fetch_Site="cross-site")
    assert "frame-ancestors 'none'" in answer.headers["Content-Security-Policy"]
    assert answer.headers["Referrer-Policy"] == "no-referrer"
    assert answer.headers["Cache-Control"] == "no-store"


async def test_a_signed_out_visitor_is_sent_to_sign_in_and_back(console: Console) -> None:
    answer = await console.get("/apps/toys?view=week")
    assert answer.status == 303
    assert answer.headers["Location"] == "/auth/sign-in?return_to=%2Fapps%2Ftoys%3Fview%3Dweek"
