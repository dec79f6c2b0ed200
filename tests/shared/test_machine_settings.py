"""`oauth.machines`: every mistake in the file, a secret or a key, with its place and its fix."""

import base64
import json
from argparse import Namespace
from pathlib import Path
from typing import Any

import pytest
import yaml
from cryptography.hazmat.primitives.asymmetric import rsa
from joserfc.jwk import ECKey, OctKey, RSAKey

from cli.__main__ import check
from shared.contracts.machines import Machine
from shared.contracts.secrets import secrets_of
from shared.contracts.wire import Service
from shared.machine_proofs import Proof, read_proofs
from shared.settings import Environment, Mistake
from tests.shared.documents import GOOD, merged, read

SECRET = "x" * 32
EC, RSA = ECKey.generate_key("P-256"), RSAKey.generate_key(2048)
PUBLIC = EC.as_dict(private=False)
REPORT = {
    "client_id": "report",
    "name": "Nightly report",
    "secret": {"env": "REPORT_SECRET"},
    "servers": ["toys"],
}


def document(*machines: dict[str, Any], **changes: Any) -> dict[str, Any]:
    found: dict[str, Any] = merged(GOOD, {"oauth": {"machines": list(machines)}} | changes)
    return found


# machines -> where, a part of the problem or its fix
MISTAKES: dict[str, tuple[list[dict[str, Any]], str, str]] = {
    "capitals": ([REPORT | {"client_id": "Report"}], "0.client_id", "a-z, 0-9 and -"),
    "an address": ([REPORT | {"client_id": "a@b.test"}], "0.client_id", "a-z, 0-9 and -"),
    "a url": ([REPORT | {"client_id": "https://a.test/x"}], "0.client_id", "a-z, 0-9 and -"),
    "no name": ([REPORT | {"name": ""}], "0.name", "at least 1"),
    "a secret in the file": ([REPORT | {"secret": SECRET}], "0.secret", "cannot be used"),
    "no proof": ([REPORT | {"secret": None}], "0", "exactly one"),
    "two proofs": ([REPORT | {"jwks": {"keys": [PUBLIC]}}], "0", "exactly one"),
    "nothing that it may": ([REPORT | {"servers": []}], "0", "name `servers`"),
    "an unknown server": ([REPORT | {"servers": ["toys", "no"]}], "0.servers", "no server `no`"),
    "twice": ([REPORT, REPORT | {"name": "Other"}], "1.client_id", "used twice"),
    "misspelt": ([REPORT | {"readonly": True}], "0.readonly", "not a setting"),
}


@pytest.mark.parametrize("name", MISTAKES)
def test_a_mistake_about_a_machine_is_found_with_its_place_and_its_fix(
    tmp_path: Path, name: str
) -> None:
    machines, where, words = MISTAKES[name]
    config, mistakes = read(tmp_path, document(*machines))
    assert config is None
    found = [(place, f"{problem} {fix}") for place, problem, fix in mistakes]
    assert any(p == f"oauth.machines.{where}" and words in text for p, text in found), found
    assert all(fix for _, _, fix in mistakes)


def test_a_server_that_only_a_machine_uses_is_no_mistake(tmp_path: Path) -> None:
    server = GOOD["servers"][0] | {"access": {}}
    assert read(tmp_path, document(REPORT, servers=[server]))[1] == []
    ((where, problem, _),) = read(tmp_path, document(servers=[server]))[1]
    assert (where, problem) == ("servers.0.access", "nobody may use this server")


def proofs(
    tmp_path: Path, *machines: dict[str, Any], **variables: str
) -> tuple[dict[str, Proof], list[Mistake]]:
    config, mistakes = read(tmp_path, document(*machines))
    assert config is not None, mistakes
    env = Environment(variables)
    return read_proofs(env, config), env.mistakes


@pytest.mark.parametrize(
    ("secret", "words"),
    [
        (None, "REPORT_SECRET is not set"),
        ("x" * 31, "shorter than 32"),
        ("x" * 32 + "%", "holds others"),
        ("x" * 32 + ":", "holds others"),
        ("x" * 32 + "é", "odd characters"),
    ],
)
def test_a_secret_that_could_be_guessed_or_misread_is_a_mistake(
    tmp_path: Path, secret: str | None, words: str
) -> None:
    variables = {} if secret is None else {"REPORT_SECRET": secret}
    _, (mistake,) = proofs(tmp_path, REPORT, **variables)
    assert mistake.where == "oauth.machines.0.secret"
    assert words in mistake.problem
    assert mistake.fix


def test_an_empty_file_is_no_secret(tmp_path: Path) -> None:
    (tmp_path / "empty").write_text("\n")
    machine = REPORT | {"secret": {"file": str(tmp_path / "empty")}}
    _, (mistake,) = proofs(tmp_path, machine)
    assert "shorter than 32" in mistake.problem


KEYS: dict[str, tuple[Any, str]] = {
    "a private key": ({"keys": [EC.as_dict(private=True)]}, "holds a private key"),
    "a private rsa key": ({"keys": [RSA.as_dict(private=True)]}, "holds a private key"),
    "a secret": ({"keys": [OctKey.generate_key(256).as_dict()]}, "holds a private key"),
    "another curve": (ECKey.generate_key("P-521").as_dict(private=False), "kind that is not"),
    "for encryption": (PUBLIC | {"use": "enc"}, "is not for signatures"),
    "for another algorithm": (PUBLIC | {"alg": "RS256"}, "algorithm that is not"),
    "for no algorithm": (PUBLIC | {"alg": "none"}, "algorithm that is not"),
    "a point off the curve": (PUBLIC | {"x": PUBLIC["y"]}, "is no public JWK"),
    "no key": ({"kty": "EC"}, "is no public JWK"),
    "text": ({"keys": ["x"]}, "is no public JWK"),
    "none": ({"keys": []}, "is no JWK set"),
    "too many": ({"keys": [PUBLIC] * 11}, "is no JWK set"),
    "one name for two": (
        {"keys": [PUBLIC | {"kid": "a"}, RSA.as_dict(private=False) | {"kid": "a"}]},
        "same kid",
    ),
}


@pytest.mark.parametrize("name", KEYS)
def test_a_key_that_no_machine_may_use_is_a_mistake(tmp_path: Path, name: str) -> None:
    jwks, words = KEYS[name]
    machine = REPORT | {"secret": None, "jwks": jwks}
    _, mistakes = proofs(tmp_path, machine)
    assert any(words in one.problem for one in mistakes), mistakes
    assert all(one.where.startswith("oauth.machines.0.jwks") and one.fix for one in mistakes)


def test_a_short_rsa_key_is_a_mistake(tmp_path: Path) -> None:
    numbers = rsa.generate_private_key(65537, 1024).public_key().public_numbers()
    raw = numbers.n.to_bytes(128, "big")
    n = base64.urlsafe_b64encode(raw).rstrip(b"=").decode()
    short = {"kty": "RSA", "n": n, "e": "AQAB"}
    _, (mistake,) = proofs(tmp_path, REPORT | {"secret": None, "jwks": short})
    assert "kind that is not accepted" in mistake.problem


@pytest.mark.parametrize("text", ["{", "[]", "1", "[" * 5000, "null"])
def test_a_file_that_holds_no_keys_is_a_mistake(tmp_path: Path, text: str) -> None:
    (tmp_path / "keys").write_text(text)
    machine = REPORT | {"secret": None, "jwks_file": str(tmp_path / "keys")}
    found, (mistake,) = proofs(tmp_path, machine)
    assert mistake.where == "oauth.machines.0.jwks_file"
    assert found["report"].keys == ()


def test_what_is_right_is_read_and_auth_alone_reads_the_secret(tmp_path: Path) -> None:
    (tmp_path / "keys").write_text(json.dumps(PUBLIC))
    robot: dict[str, Any] = {"client_id": "robot", "name": "Robot", "servers": ["toys"]}
    machines: list[dict[str, Any]] = [
        REPORT,
        robot | {"jwks": {"keys": [PUBLIC, RSA.as_dict(private=False) | {"alg": "PS256"}]}},
        robot | {"client_id": "other", "jwks_file": str(tmp_path / "keys")},
    ]
    found, mistakes = proofs(tmp_path, *machines, REPORT_SECRET=SECRET)
    assert mistakes == []
    assert found["report"].secret == SECRET
    assert [algorithms for _, algorithms in found["robot"].keys] == [("ES256",), ("PS256",)]
    assert len(found["other"].keys) == 1
    config, _ = read(tmp_path, document(*machines))
    assert config is not None
    named = {s: [where for where, _ in secrets_of(config, s)] for s in Service}
    assert "oauth.machines.0.secret" in named[Service.AUTH]
    assert named[Service.RELAY] == named[Service.APPHOST] == []


def test_the_check_tells_all_mistakes_of_machines_at_once(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    monkeypatch.setenv("SECRET", "s")
    private = {"client_id": "robot", "name": "Robot", "servers": ["toys"]}
    path = tmp_path / "strad.yaml"
    bad = document(REPORT, private | {"jwks": EC.as_dict(private=True)})
    path.write_text(yaml.safe_dump(bad))
    assert check(Namespace(config=str(path))) == 1
    told = capsys.readouterr().err
    assert told.startswith("2 mistakes")
    assert "oauth.machines.0.secret: the variable REPORT_SECRET is not set" in told
    assert "oauth.machines.1.jwks.keys.0: holds a private key" in told
    assert str(EC.as_dict(private=True)["d"]) not in told
    monkeypatch.setenv("REPORT_SECRET", SECRET)
    path.write_text(yaml.safe_dump(document(REPORT)))
    assert check(Namespace(config=str(path))) == 0
    assert capsys.readouterr().out.endswith("Servers: toys. Machines: report.\n")


def test_a_machine_is_closed_against_what_it_does_not_know() -> None:
    with pytest.raises(ValueError, match="exactly one"):
        Machine(client_id="a", name="A", servers=("toys",))
