"""`strad.yaml`: every mistake at once, each with its place and its fix."""

from pathlib import Path
from typing import Any

import pytest

from shared.settings import Environment, read_config
from tests.shared.documents import GOOD, merged, read


def test_a_good_file_has_no_mistake(tmp_path: Path) -> None:
    config, mistakes = read(tmp_path, GOOD)
    assert mistakes == []
    assert config is not None
    assert config.provider.issuer == "https://accounts.google.com"
    assert config.groups["makers"] == ("ada@example.com",)
    assert config.host == "strad.example.com"


SERVER = GOOD["servers"][0]

# changes -> where, a part of the problem or its fix
MISTAKES: dict[str, tuple[dict[str, Any], str, str]] = {
    "http for others": ({"public_url": "http://strad.example.com"}, "public_url", "use https"),
    "a path": ({"public_url": "https://a.test/strad"}, "public_url", "scheme, host and port"),
    "no scheme": ({"public_url": "strad.example.com"}, "public_url", "http:// or https://"),
    "capitals": ({"public_url": "https://Strad.test"}, "public_url", "lower case"),
    "the usual port": ({"public_url": "https://a.test:443"}, "public_url", "leave out the port"),
    "a password": ({"public_url": "https://u:p@a.test"}, "public_url", "password"),
    "an unknown key": ({"pulic_url": "x"}, "pulic_url", "check the spelling"),
    "an unknown nested key": ({"provider": {"secret": "x"}}, "provider.secret", "not a setting"),
    "a secret in the file": (
        {"provider": {"client_secret": "hunter2"}},
        "provider.client_secret",
        "cannot be used",
    ),
    "two sources": (
        {"provider": {"client_secret": {"env": "A", "file": "b"}}},
        "provider.client_secret",
        "exactly one",
    ),
    "an http issuer": ({"provider": {"issuer": "http://id.test"}}, "provider", "use https"),
    "no openid": ({"provider": {"scopes": ["email"]}}, "provider", "`openid` and `email`"),
    "nobody": ({"provider": {"allow": {"domains": []}}}, "provider", "nobody can sign in"),
    "an address as domain": (
        {"provider": {"allow": {"domains": ["@a.test"]}}},
        "provider.allow.domains.0",
        "bare domain",
    ),
    "a name as person": ({"administrators": ["Ada"]}, "administrators.0", "one e-mail"),
    "two addresses": ({"administrators": ["a@b.c@d.e"]}, "administrators.0", "one e-mail"),
    "a duration without unit": ({"sessions": {"idle": "8"}}, "sessions.idle", "30m, 8h or 90d"),
    "a negative duration": ({"sessions": {"idle": -1}}, "sessions.idle", "greater than"),
    "idle over absolute": ({"sessions": {"idle": "2d"}}, "sessions", "longer than absolute"),
    "a slow cache": ({"entitlements": {"keep": "5m"}}, "entitlements.keep", "less than"),
    "version 2": ({"version": 2}, "version", "1"),
    "a slug in capitals": ({"servers": [SERVER | {"slug": "Toys"}]}, "servers.0.slug", "a-z"),
    "a slug with a slash": ({"servers": [SERVER | {"slug": "a/b"}]}, "servers.0.slug", "a-z"),
    "a slug with two underscores": (
        {"servers": [SERVER | {"slug": "a__b"}]},
        "servers.0.slug",
        "a-z",
    ),
    "a file as server": ({"servers": [SERVER | {"url": "file:///x"}]}, "servers.0.url", "http"),
    "a fragment": ({"servers": [SERVER | {"url": "http://a/#x"}]}, "servers.0.url", "#fragment"),
    "a password in a server's address": (
        {"servers": [SERVER | {"url": "http://u:p@a/"}]},
        "servers.0.url",
        "`headers` with a secret",
    ),
    "a header of ours": (
        {"servers": [SERVER | {"headers": {"Strad-Identity": {"env": "X"}}}]},
        "servers.0.headers",
        "sets this header itself",
    ),
    "a header that repeats an argument": (
        {"servers": [SERVER | {"headers": {"mcp-param-Region": {"env": "X"}}}]},
        "servers.0.headers",
        "sets this header itself",
    ),
    "a header of a trace": (
        {"servers": [SERVER | {"headers": {"TraceParent": {"env": "X"}}}]},
        "servers.0.headers",
        "sets this header itself",
    ),
    "a header that would have answers compressed": (
        {"servers": [SERVER | {"headers": {"Accept-Encoding": {"env": "X"}}}]},
        "servers.0.headers",
        "sets this header itself",
    ),
    "a header that is no name": (
        {"servers": [SERVER | {"headers": {"X\r\nY": {"env": "X"}}}]},
        "servers.0.headers",
        "no name",
    ),
    "a language that is none": (
        {"servers": [SERVER | {"language": "de\r\nX-Evil: 1"}]},
        "servers.0.language",
        "such as de-AT",
    ),
    "a network with host bits": (
        {"servers": [SERVER | {"addresses": ["10.0.0.1/8"]}]},
        "servers.0.addresses.0",
        "such as 10.20.0.0/16",
    ),
    "the same slug twice": ({"servers": [SERVER, SERVER]}, "servers.1.slug", "used twice"),
    "an unknown group": (
        {"servers": [SERVER | {"access": {"groups": ["x"]}}]},
        "servers.0.access.groups",
        "no group `x`",
    ),
    "a server for nobody": (
        {"servers": [SERVER | {"access": {}}]},
        "servers.0.access",
        "nobody may use",
    ),
    "a no that counts longer than a yes": (
        {"entitlements": {"keep": "1s", "keep_denied": "2s"}},
        "entitlements",
        "must not be longer",
    ),
    "endless grace": ({"entitlements": {"grace": "1h"}}, "entitlements.grace", "less than"),
    "two sources of entitlements": (
        {"entitlements": {"decision_point": {"url": "https://pdp.test"}}},
        "servers.0.access",
        "the decision point says",
    ),
    "a decision point with a query": (
        {"entitlements": {"decision_point": {"url": "https://pdp.test/?a=b"}}},
        "entitlements.decision_point.url",
        "leave out the query",
    ),
    "a secret of the decision point in the file": (
        {"entitlements": {"decision_point": {"url": "https://p.test", "headers": {"X": "y"}}}},
        "entitlements.decision_point.headers.X",
        "cannot be used",
    ),
    "a rule for a removed tool": (
        {"servers": [SERVER | {"tools": {"deny": ["t"], "each": {"t": {"read_only": True}}}}]},
        "servers.0.tools.each.t",
        "already remove",
    ),
}


@pytest.mark.parametrize("name", MISTAKES)
def test_a_mistake_is_found_with_its_place_and_its_fix(tmp_path: Path, name: str) -> None:
    changes, where, words = MISTAKES[name]
    config, mistakes = read(tmp_path, merged(GOOD, changes))
    assert config is None
    found = [(place, f"{problem} {fix}") for place, problem, fix in mistakes]
    assert any(place == where and words in text for place, text in found), found
    assert all(fix for _, _, fix in mistakes)


def test_all_mistakes_of_a_file_come_at_once(tmp_path: Path) -> None:
    document = merged(GOOD, {"public_url": "x", "typo": 1, "sessions": {"idle": "x"}})
    document["servers"] = [SERVER | {"slug": "NO", "url": "ftp://x"}]
    _, mistakes = read(tmp_path, document)
    places = {where for where, _, _ in mistakes}
    assert places == {"public_url", "typo", "sessions.idle", "servers.0.slug", "servers.0.url"}


@pytest.mark.parametrize(
    ("text", "words"),
    [
        ("a: [", "is not YAML"),
        ("a:\n\t- b", "is not YAML"),
        ("- a", "holds no settings"),
        ("", "holds no settings"),
        ("just text", "holds no settings"),
        ("public_url: !!python/object/apply:os.system [id]", "is not YAML"),
    ],
)
def test_what_is_no_document_is_named(tmp_path: Path, text: str, words: str) -> None:
    config, mistakes = read(tmp_path, text)
    assert config is None
    assert len(mistakes) == 1
    assert words in mistakes[0][1]


def test_a_missing_file_is_named(tmp_path: Path) -> None:
    env = Environment({})
    assert read_config(env, tmp_path / "none.yaml") is None
    assert "cannot be read" in str(env.mistakes[0])


def test_variables_are_filled_in_and_missing_ones_named(tmp_path: Path) -> None:
    document = merged(GOOD, {"public_url": "https://${HOST}:${PORT:-8443}"})
    config, mistakes = read(tmp_path, document, HOST="a.test")
    assert mistakes == []
    assert config is not None
    assert config.public_url == "https://a.test:8443"
    config, mistakes = read(tmp_path, document)
    assert config is None
    assert ("public_url", "the variable HOST is not set", "set HOST") in mistakes


def test_a_value_cannot_bring_a_variable_of_its_own(tmp_path: Path) -> None:
    document = merged(GOOD, {"provider": {"client_id": "${ID}"}})
    config, _ = read(tmp_path, document, ID="${SECRET}", SECRET="s")
    assert config is not None
    assert config.provider.client_id == "${SECRET}"
