"""`strad keys`: each service gets its own folder and nothing of the others."""

import hashlib
import json
import os
from pathlib import Path

import pytest

from cli.keys import make_keys
from shared.contracts.wire import Service
from shared.key_folder import Keys
from shared.settings import Environment

EXPECTED = {
    *(f"auth/{name}" for name in ("seal.key", "index.key", "redis.password")),
    *(f"relay/{name}" for name in ("seal.key", "index.key", "redis.password", "apphost.pub.json")),
    *("relay/grant.key", "relay/identity.json", "apphost/apphost.json", "redis/users.acl"),
    *(f"apphost/{name}" for name in ("seal.key", "index.key", "redis.password")),
    *("auth/metrics.token", "relay/metrics.token", "apphost/metrics.token"),
    *("auth/audit.key", "relay/audit.key", "auditor/audit.key", "auditor/redis.password"),
}


def tree(folder: Path) -> dict[str, str]:
    return {
        str(path.relative_to(folder)): path.read_text()
        for path in folder.rglob("*")
        if path.is_file()
    }


def test_the_files_are_these_and_no_others(tmp_path: Path) -> None:
    written = make_keys(tmp_path)
    assert tree(tmp_path).keys() == EXPECTED
    assert {str(path.relative_to(tmp_path)) for path in written} == EXPECTED


def test_nobody_else_on_the_machine_can_read_them(tmp_path: Path) -> None:
    old = os.umask(0)
    try:
        make_keys(tmp_path / "keys")
    finally:
        os.umask(old)
    for path in (tmp_path / "keys").rglob("*"):
        assert path.stat().st_mode & 0o077 == 0, path


def test_running_it_again_changes_nothing(tmp_path: Path) -> None:
    make_keys(tmp_path)
    before = tree(tmp_path)
    assert make_keys(tmp_path) == []
    assert tree(tmp_path) == before


def test_what_is_missing_is_added_and_fits_the_rest(tmp_path: Path) -> None:
    make_keys(tmp_path)
    before = tree(tmp_path)
    for name in ("relay/seal.key", "relay/apphost.pub.json", "redis/users.acl"):
        (tmp_path / name).unlink()
    make_keys(tmp_path)
    assert tree(tmp_path) == before


def test_two_runs_make_different_secrets(tmp_path: Path) -> None:
    one, other = tmp_path / "a", tmp_path / "b"
    make_keys(one)
    make_keys(other)
    first, second = tree(one), tree(other)
    assert all(first[name] != second[name] for name in EXPECTED)


def test_services_share_the_seal_and_nothing_that_proves_who_they_are(tmp_path: Path) -> None:
    make_keys(tmp_path)
    files = tree(tmp_path)
    for name in ("seal.key", "index.key"):
        assert len({files[f"{service}/{name}"] for service in Service}) == 1
    assert len({files[f"{service}/redis.password"] for service in Service}) == len(Service)
    assert "d" not in json.loads(files["relay/apphost.pub.json"])
    private = [name for name, text in files.items() if '"d"' in text]
    assert sorted(private) == ["apphost/apphost.json", "relay/identity.json"]


def test_the_acl_holds_the_digests_of_these_passwords(tmp_path: Path) -> None:
    make_keys(tmp_path)
    files = tree(tmp_path)
    for service in Service:
        password = files[f"{service}/redis.password"].strip()
        digest = hashlib.sha256(password.encode()).hexdigest()
        assert f"user {service} on #{digest} " in files["redis/users.acl"]
        assert password not in files["redis/users.acl"]


@pytest.mark.parametrize(
    ("service", "private"), [("relay", "identity.json"), ("apphost", "apphost.json")]
)
def test_every_key_is_read_back_by_its_service(tmp_path: Path, service: str, private: str) -> None:
    make_keys(tmp_path)
    env = Environment({})
    keys = Keys(env, tmp_path / service)
    assert keys.seal() is not None
    key = keys.private(private)
    assert key is not None
    assert key.is_private
    assert env.mistakes == []
