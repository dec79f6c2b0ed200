"""The decisions as tables: who may use a server, which tool exists, which call runs, or why not."""

from itertools import product
from typing import Any

import pytest

from shared.contracts.access import Allowed, Call, Denied, Grant, Reason, ToolFacts
from shared.contracts.config import Server
from shared.contracts.identity import Person, Principal, SessionKind
from shared.contracts.tools import ToolsPolicy
from shared.contracts.wire import Surface
from shared.decide import may_call, may_use, reads_only, tool_exists, tool_facts

ADA = Person(issuer="https://id.test", sub="1", email="ada@strad.test", name="Ada")
EVE = Person(issuer="https://id.test", sub="2", email="ada@strad.test", name="Eve")
OTHER_ISSUER = Person(issuer="https://evil.test", sub="1", email="ada@strad.test", name="Ada")
GRANT = Grant(subject=ADA.subject, servers=frozenset({"toys"}))


def server(**tools: Any) -> Server:
    return Server.model_validate(
        {
            "slug": "toys",
            "name": "Toys",
            "url": "http://toys/mcp",
            "access": {"everyone": True},
            "tools": tools,
        }
    )


def principal(
    person: Person = ADA,
    kind: SessionKind | None = SessionKind.OIDC,
    servers: tuple[str, ...] | None = None,
) -> Principal:
    return Principal(person=person, digest="d", session_kind=kind, servers=servers)


def facts(**changes: Any) -> ToolFacts:
    right: dict[str, Any] = {"name": "t", "app_visible": True, "page": "ui://p", "read_only": True}
    return ToolFacts(**(right | changes))


@pytest.mark.parametrize(
    ("who", "grant", "slug", "reason"),
    [
        (principal(), GRANT, "toys", None),
        (principal(servers=("toys",)), GRANT, "toys", None),
        (principal(), GRANT, None, Reason.UNKNOWN_SERVER),
        (principal(), Grant(subject=ADA.subject, servers=frozenset()), "toys", "not-entitled"),
        (principal(), Grant(subject=ADA.subject, servers=frozenset({"x"})), "toys", "not-entitled"),
        (principal(EVE), GRANT, "toys", Reason.NOT_ENTITLED),  # the same address, another person
        (principal(OTHER_ISSUER), GRANT, "toys", Reason.NOT_ENTITLED),
        (principal(servers=()), GRANT, "toys", Reason.TOKEN_SCOPE),
        (principal(servers=("news",)), GRANT, "toys", Reason.TOKEN_SCOPE),
        (principal(EVE, servers=("toys",)), GRANT, "toys", Reason.NOT_ENTITLED),
    ],
)
def test_who_may_use_a_server(
    who: Principal, grant: Grant, slug: str | None, reason: str | None
) -> None:
    decision = may_use(who, grant, server() if slug else None)
    assert decision == (Allowed() if reason is None else Denied(Reason(reason)))


@pytest.mark.parametrize(
    ("policy", "tool", "reason"),
    [
        ({}, "anything", None),
        ({"allow": ["list_*"]}, "list_toys", None),
        ({"allow": ["list_*"]}, "delete_toys", Reason.TOOL_NOT_ALLOWED),
        ({"allow": []}, "list_toys", Reason.TOOL_NOT_ALLOWED),
        ({"allow": ["list_*"]}, "LIST_toys", Reason.TOOL_NOT_ALLOWED),
        ({"deny": ["*"]}, "list_toys", Reason.TOOL_DENIED),
        ({"deny": ["delete_*"]}, "delete_toys", Reason.TOOL_DENIED),
        ({"deny": ["delete_*"]}, "list_toys", None),
        ({"allow": ["*"], "deny": ["delete_toys"]}, "delete_toys", Reason.TOOL_DENIED),
        ({"allow": ["list_toys"]}, "list_toys\n", Reason.TOOL_NOT_ALLOWED),
        ({"allow": ["list_toys"]}, "other__list_toys", Reason.TOOL_NOT_ALLOWED),
        ({"allow": ["list_toys"]}, "", Reason.TOOL_NOT_ALLOWED),
    ],
)
def test_which_tools_exist(policy: dict[str, Any], tool: str, reason: Reason | None) -> None:
    decision = tool_exists(ToolsPolicy.model_validate(policy), tool)
    assert decision == (Allowed() if reason is None else Denied(reason))


# surface, facts -> reason
CALLS = [
    (Surface.CLIENT, None, None),
    (Surface.CLIENT, facts(app_visible=False, page=None, read_only=False), None),
    (Surface.CONSOLE, facts(), None),
    (Surface.CONSOLE, None, Reason.UNKNOWN_TOOL),
    (Surface.APP, facts(), None),
    (Surface.APP, facts(page=None, read_only=False), None),
    (Surface.APP, facts(app_visible=False), Reason.NOT_VISIBLE_TO_APPS),
    (Surface.APP, None, Reason.UNKNOWN_TOOL),
    (Surface.OPEN, facts(), None),
    (Surface.OPEN, facts(app_visible=False), None),
    (Surface.OPEN, facts(page=None), Reason.NOT_DECLARING),
    (Surface.OPEN, facts(read_only=False), Reason.NOT_READ_ONLY),
    (Surface.OPEN, facts(page=None, read_only=False), Reason.NOT_DECLARING),
    (Surface.OPEN, None, Reason.UNKNOWN_TOOL),
    (Surface.RUN, facts(read_only=False), None),
    (Surface.RUN, facts(page=None), Reason.NOT_DECLARING),
    (Surface.RUN, None, Reason.UNKNOWN_TOOL),
]


def call(surface: Surface, known: ToolFacts | None, tool: str = "t") -> Call:
    return Call(tool=tool, surface=surface, facts=known)


@pytest.mark.parametrize(("surface", "known", "reason"), CALLS)
def test_which_calls_run(surface: Surface, known: ToolFacts | None, reason: Reason | None) -> None:
    decision = may_call(principal(), GRANT, server(), call(surface, known))
    assert decision == (Allowed() if reason is None else Denied(reason))


@pytest.mark.parametrize("surface", Surface)
def test_no_surface_gets_past_entitlement_policy_or_a_look_only_session(surface: Surface) -> None:
    wanted = call(surface, facts())
    nobody = Grant(subject=ADA.subject, servers=frozenset())
    denied = [
        (may_call(principal(), nobody, server(), wanted), Reason.NOT_ENTITLED),
        (may_call(principal(EVE), GRANT, server(), wanted), Reason.NOT_ENTITLED),
        (may_call(principal(), GRANT, None, wanted), Reason.UNKNOWN_SERVER),
        (may_call(principal(servers=()), GRANT, server(), wanted), Reason.TOKEN_SCOPE),
        (may_call(principal(), GRANT, server(deny=["t"]), wanted), Reason.TOOL_DENIED),
        (may_call(principal(), GRANT, server(allow=[]), wanted), Reason.TOOL_NOT_ALLOWED),
        (
            may_call(principal(kind=SessionKind.TOKEN), GRANT, server(), wanted),
            Reason.LOOK_ONLY_SESSION,
        ),
    ]
    for decision, reason in denied:
        assert decision == Denied(reason)


@pytest.mark.parametrize(("operator", "hint"), list(product([None, True, False], [True, False])))
def test_the_operators_word_on_reading_wins_over_the_servers(
    operator: bool | None, hint: bool
) -> None:
    policy = ToolsPolicy.model_validate({"each": {"t": {"read_only": operator}}})
    expected = hint if operator is None else operator
    assert reads_only(policy, facts(read_only=hint)) is expected


TOOLS: list[tuple[dict[str, Any], dict[str, Any]]] = [
    ({}, {"app_visible": True, "page": None, "read_only": False}),
    ({"_meta": {"ui": {"resourceUri": "ui://a"}}}, {"page": "ui://a"}),
    ({"_meta": {"ui/resourceUri": "ui://a"}}, {"page": "ui://a"}),
    (
        {"_meta": {"ui": {"resourceUri": "ui://a"}, "ui/resourceUri": "ui://b"}},
        {"page": "ui://a"},
    ),
    ({"_meta": {"ui": {"visibility": ["app"]}}}, {"app_visible": True}),
    ({"_meta": {"ui": {"visibility": ["model"]}}}, {"app_visible": False}),
    ({"_meta": {"ui": {"visibility": []}}}, {"app_visible": False}),
    ({"_meta": {"ui": {"visibility": "app"}}}, {"app_visible": False}),
    ({"_meta": {"ui": {"visibility": None}}}, {"app_visible": False}),
    ({"_meta": {"ui": {"visibility": {"app": True}}}}, {"app_visible": False}),
    ({"_meta": None}, {"app_visible": True, "page": None}),
    ({"_meta": []}, {"page": None}),
    ({"_meta": {"ui": "ui://a"}}, {"page": None}),
    ({"annotations": {"readOnlyHint": True}}, {"read_only": True}),
    ({"annotations": {"readOnlyHint": "true"}}, {"read_only": False}),
    ({"annotations": {"readOnlyHint": 1}}, {"read_only": False}),
    ({"annotations": None}, {"read_only": False}),
    ({"annotations": {"destructiveHint": False}}, {"read_only": False}),
]


@pytest.mark.parametrize(("tool", "expected"), TOOLS)
def test_an_odd_listing_counts_as_the_stricter_choice(
    tool: dict[str, Any], expected: dict[str, Any]
) -> None:
    found = tool_facts({"name": "t"} | tool)
    for name, value in expected.items():
        assert getattr(found, name) == value, name


@pytest.mark.parametrize(
    "page", ["https://evil.test", "", 5, [], "UI://a", "javascript:x", " ui://"]
)
def test_a_page_that_is_no_page_of_the_server_is_its_mistake(page: object) -> None:
    with pytest.raises(ValueError, match="ui://"):
        tool_facts({"name": "t", "_meta": {"ui": {"resourceUri": page}}})
