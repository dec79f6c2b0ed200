"""The OpenID provider is wrong, slow or gone: each has its page, and nobody gets in by it."""

import json
from collections.abc import Iterator

import pytest

from shared.contracts.wire import SESSION_COOKIE
from tests.live import LiveStack
from tests.until import until

pytestmark = pytest.mark.stack


@pytest.fixture
def provider(fragile: LiveStack) -> Iterator[LiveStack]:
    """The stack, with a provider that is mended after the test."""
    yield fragile
    fragile.fault(reset=True)


@pytest.mark.parametrize(
    ("fault", "value", "reason"),
    [
        ("wrong_audience", True, "token-audience"),
        ("wrong_nonce", True, "token-nonce"),
        ("expired", True, "token-expired"),
        ("other_domain", True, "not-allowed"),
        ("token_error", "invalid_grant", "code-refused"),
    ],
)
def test_a_wrong_answer_lets_nobody_in_and_has_a_name(
    provider: LiveStack, fault: str, value: object, reason: str
) -> None:
    provider.fault(**{fault: value})
    visitor = provider.visitor()
    page = provider.sign_in_at(visitor, "ada")
    assert page.status in {400, 403}
    assert visitor.cookie(SESSION_COOKIE) is None
    assert visitor.get("/").status == 303
    refusals = [line for line in provider.log("auth").splitlines() if "sign-in-refused" in line]
    assert json.loads(refusals[-1])["reason"] == reason


def test_a_key_that_the_provider_changed_is_fetched_again(provider: LiveStack) -> None:
    provider.visitor("ada")
    provider.fault(rotate_key=True)
    assert provider.visitor("ada").get("/").status == 200


def test_while_the_provider_is_down_those_inside_stay_inside(provider: LiveStack) -> None:
    inside = provider.visitor("ada")
    provider.stop("provider")
    try:
        # a provider that was never reached by this process, as after a restart of auth
        provider.stop("auth")
        provider.start("auth")
        assert inside.get("/").status == 200
        assert inside.get("/auth/tokens").status == 200
        page = provider.visitor().get("/auth/start", Sec_Fetch_Site="same-origin")
        assert page.status == 503
        assert "does not answer" in page.text
    finally:
        provider.start("provider")
    # auth does not ask again for two seconds
    assert until(lambda: provider.visitor().get("/auth/start").status == 303, 5)
    assert provider.visitor("ada").get("/").status == 200


def test_a_slow_provider_is_waited_for_but_not_for_ever(provider: LiveStack) -> None:
    provider.fault(slow=1)
    assert provider.visitor("ada").get("/").status == 200
    provider.fault(slow=60)
    visitor = provider.visitor()
    page = provider.sign_in_at(visitor, "ada")
    assert page.status == 503
    assert visitor.cookie(SESSION_COOKIE) is None
