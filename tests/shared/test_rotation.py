"""`strad keys rotate`: whatever moment it is, everybody reads what everybody else writes."""

import errno
import shutil
from collections.abc import Callable, Iterator
from itertools import product
from pathlib import Path

import pytest

from cli.keys import make_keys
from cli.rotation import Wrong, sealing, signing
from cli.rotation.command import KEYS, STEPS, rotate
from cli.write import write
from shared.contracts.identity import Assertion
from shared.contracts.wire import Service
from shared.ids import new_id
from shared.key_folder import APPHOST, APPHOST_PUBLIC, IDENTITY, IDENTITY_PUBLIC, Keys
from shared.settings import Environment
from shared.signing import Seal, SealBroken, sign_assertion, verify_assertion
from tests.shared.test_keys_command import tree

every_key = pytest.mark.parametrize("key", list(KEYS))
NOW = 1_900_000_000.0


class Broken(OSError):
    """The machine stopped here."""


@pytest.fixture
def folder(tmp_path: Path) -> Path:
    out = tmp_path / "keys"
    make_keys(out)
    return out


def run(folder: Path, *steps: str, key: str) -> None:
    for step in steps:
        assert rotate([str(folder), step, key]) == 0


def keys_of(folder: Path, service: str) -> Keys:
    return Keys(Environment({}), folder / service)


def seals(folder: Path, key: str) -> Iterator[Seal]:
    """As processes that start now would have it."""
    for holder in {"grant": ("relay",), "audit": ("auth", "relay", "auditor")}.get(key, Service):
        keys = keys_of(folder, holder)
        seal = keys.audit_seal() if key == "audit" else keys.seal(f"{key}.key")
        assert seal is not None
        yield seal


def stopping(monkeypatch: pytest.MonkeyPatch, after: int) -> None:
    """The command stops before it has written more than so many files."""
    left = iter(range(after))

    def some(path: Path, text: str, like: Path | None = None) -> None:
        if next(left, None) is None:
            raise Broken("stopped")
        write(path, text, like)

    for module in (sealing, signing):
        monkeypatch.setattr(module, "write", some)


def moments(folder: Path, key: str, monkeypatch: pytest.MonkeyPatch) -> Iterator[tuple[str, bool]]:
    """A rotation, looked at after each file that it writes; True: everybody starts again now."""
    for step in STEPS:
        for after in range(4):
            stopping(monkeypatch, after)
            rotate([str(folder), step, key])
            yield step, False
        assert (
            KEYS[key].state(folder).split(":")[0].split(",")[0]
            in {
                "prepare": "prepared",
                "use": "in use",
                "drop": "one key",
            }[step]
        )
        yield step, True


@pytest.mark.parametrize("key", ["seal", "audit", "grant"])
def test_at_every_moment_each_process_opens_what_any_other_seals(
    folder: Path, key: str, monkeypatch: pytest.MonkeyPatch
) -> None:
    running = list(seals(folder, key))
    for step, restart in moments(folder, key, monkeypatch):
        alive = [*running, *seals(folder, key)]
        for one, other in product(alive, alive):
            sealed = one.seal("k", {"n": 1}, NOW + 1)
            assert other.open("k", sealed, NOW) == {"n": 1}, step
        if restart:
            running = list(seals(folder, key))


def test_at_every_moment_the_relay_believes_each_apphost(
    folder: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    def signer() -> Callable[[], str]:
        found = keys_of(folder, "apphost").private(APPHOST)
        assert found is not None
        return lambda: sign_assertion(
            Assertion(
                caller=Service.APPHOST,
                audience=Service.RELAY,
                subject="subject",
                session="digest",
                slug=None,
                id=new_id(),
                expires=int(NOW) + 20,
            ),
            found,
        )

    def verifier() -> Callable[[str], object]:
        found = keys_of(folder, "relay").public(APPHOST_PUBLIC)
        assert found is not None
        return lambda text: verify_assertion(
            text, found, audience=Service.RELAY, slug=None, now=NOW
        )

    signers, verifiers = [signer()], [verifier()]
    for _, restart in moments(folder, "apphost", monkeypatch):
        for sign, verify in product([*signers, signer()], [*verifiers, verifier()]):
            verify(sign())
        if restart:
            signers, verifiers = [signer()], [verifier()]


def test_the_key_of_identities_is_published_before_it_signs_and_after(
    folder: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    def relay() -> tuple[str, set[str]]:
        keys = keys_of(folder, "relay")
        key = keys.private(IDENTITY)
        assert key is not None
        published = keys.published(IDENTITY_PUBLIC, key).as_dict(private=False)
        assert not any("d" in item for item in published["keys"]), "a private half"
        return str(key.kid), {str(item["kid"]) for item in published["keys"]}

    signs, known = relay()
    first = signs
    for step, restart in moments(folder, "identity", monkeypatch):
        now, published = relay()
        assert now in known, "servers have not heard of the key that signs"
        if step != "drop":
            assert first in published
        if restart:
            signs, known = relay()
    assert signs != first
    assert known == {signs}


@pytest.mark.parametrize("key", ["seal", "audit", "grant"])
def test_after_the_old_key_is_dropped_nothing_that_it_sealed_opens(folder: Path, key: str) -> None:
    (old, *_) = seals(folder, key)
    run(folder, "prepare", "use", key=key)
    (both, *_) = seals(folder, key)
    sealed = old.seal("k", {"n": 1}, NOW + 1)
    assert both.open("k", sealed, NOW) == {"n": 1}
    with pytest.raises(SealBroken):
        old.open("k", both.seal("k", {}, NOW + 1), NOW)
    run(folder, "drop", key=key)
    for seal in seals(folder, key):
        with pytest.raises(SealBroken):
            seal.open("k", sealed, NOW)


@every_key
def test_each_step_can_be_run_again_and_changes_nothing_more(folder: Path, key: str) -> None:
    for step in STEPS:
        run(folder, step, key=key)
        before = tree(folder)
        run(folder, step, key=key)
        assert make_keys(folder) == []
        assert tree(folder) == before


@every_key
def test_a_rotation_can_be_followed_by_another_before_the_oldest_is_dropped(
    folder: Path, key: str
) -> None:
    before = tree(folder)
    run(folder, *("prepare", "use") * 2, "drop", key=key)
    after = tree(folder)
    assert KEYS[key].state(folder) == "one key"
    own = {name for name in after if after[name] != before.get(name)}
    assert own
    assert own | before.keys() == after.keys()


@every_key
@pytest.mark.parametrize("steps", [("use",), ("prepare", "drop")])
def test_no_step_comes_before_the_one_that_it_needs(
    folder: Path, key: str, steps: tuple[str, ...], capsys: pytest.CaptureFixture[str]
) -> None:
    run(folder, *steps[:-1], key=key)
    before = tree(folder)
    assert rotate([str(folder), steps[-1], key]) == 1
    assert "fix: `" in capsys.readouterr().err
    assert tree(folder) == before


@every_key
def test_nothing_is_left_behind_and_nobody_else_may_read_more_than_before(
    folder: Path, key: str
) -> None:
    place = next(folder.rglob(APPHOST if key == "apphost" else f"{key}.*"), None)
    assert place is not None
    place.chmod(0o640)  # as where a group of the service's own reads it
    names = tree(folder).keys()
    run(folder, *STEPS, key=key)
    assert tree(folder).keys() - names <= {f"relay/{IDENTITY_PUBLIC}"}
    for path in folder.rglob("*"):
        rights = path.stat().st_mode & 0o777
        assert rights & (0o037 if path == place else 0o077) == 0, path
    assert place.stat().st_mode & 0o777 == 0o640


@every_key
def test_a_disk_that_fails_spoils_no_key_and_leaves_none_lying_about(
    folder: Path, key: str, monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    before = tree(folder)
    with monkeypatch.context() as failing:
        failing.setattr("os.fsync", _full)
        assert rotate([str(folder), "prepare", key]) == 1
    assert "No space left" in capsys.readouterr().err
    assert tree(folder) == before
    run(folder, *STEPS, key=key)


def _full(_: int) -> None:
    raise OSError(errno.ENOSPC, "No space left on device")


@pytest.mark.parametrize("key", ["index", "metrics", "redis"])
def test_what_cannot_overlap_is_refused_and_said_why(
    folder: Path, key: str, capsys: pytest.CaptureFixture[str]
) -> None:
    before = tree(folder)
    assert rotate([str(folder), "prepare", key]) == 1
    assert key in capsys.readouterr().err
    assert tree(folder) == before


@pytest.mark.parametrize(
    ("spoilt", "content", "words"),
    [
        ("relay/seal.key", None, "relay/seal.key"),
        ("relay/seal.key", "", "holds no key"),
        ("relay/seal.key", "no hex\n", "holds no key"),
        ("relay/seal.key", "ab" * 16, "holds no key"),
        ("relay/seal.key", "ab" * 32, "differs between folders"),
        ("relay/seal.next.key", "zz", "holds no key"),
    ],
)
def test_a_folder_that_is_not_well_is_left_alone(
    folder: Path, spoilt: str, content: str | None, words: str, capsys: pytest.CaptureFixture[str]
) -> None:
    if content is None:
        (folder / spoilt).unlink()
    else:
        (folder / spoilt).write_text(content)
    before = tree(folder)
    assert rotate([str(folder), "prepare", "seal"]) == 1
    told = capsys.readouterr().err
    assert words in told
    assert "fix:" in told
    assert tree(folder) == before


def test_two_new_keys_in_two_folders_are_no_new_key(folder: Path) -> None:
    run(folder, "prepare", key="seal")
    (folder / "relay" / "seal.next.key").write_text("ab" * 32)
    for step in ("prepare", "use", "drop"):
        assert rotate([str(folder), step, "seal"]) == 1
    with pytest.raises(Wrong, match="differs between folders"):
        KEYS["seal"].state(folder)


def test_a_service_that_cannot_read_a_key_to_come_does_not_start(folder: Path) -> None:
    run(folder, "prepare", key="seal")
    (folder / "auth" / "seal.next.key").write_text("nonsense")
    env = Environment({})
    assert Keys(env, folder / "auth").seal() is None
    assert env.mistakes


def test_a_folder_that_cannot_be_looked_into_is_a_mistake_and_no_crash(tmp_path: Path) -> None:
    env = Environment({})
    keys = Keys(env, tmp_path / ("x" * 300))
    assert (keys.seal(), keys.audit_seal(), keys.public(APPHOST_PUBLIC)) == (None, None, None)
    assert "cannot be read" in env.mistakes[0].problem


def test_a_folder_alone_tells_how_each_key_stands(
    folder: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    run(folder, "prepare", key="identity")
    run(folder, "prepare", "use", key="seal")
    capsys.readouterr()
    assert rotate([str(folder)]) == 0
    told = dict(line.split(maxsplit=1) for line in capsys.readouterr().out.splitlines())
    assert told["grant"] == "one key"
    assert told["identity"] == "prepared: restart relay; then wait five minutes, and `use`"
    assert told["seal"].startswith("in use, with older ones: restart auth, relay, apphost")
    shutil.rmtree(folder)
    assert rotate([str(folder)]) == 1


@pytest.mark.parametrize(
    ("key", "restarts"),
    [
        ("seal", ["auth, relay, apphost"] * 3),
        ("audit", ["auth, relay"] * 3),
        ("grant", ["relay"] * 3),
        ("identity", ["relay"] * 3),
        ("apphost", ["relay", "apphost", "relay"]),
    ],
)
def test_each_step_names_the_services_that_have_to_start_again(
    folder: Path, key: str, restarts: list[str], capsys: pytest.CaptureFixture[str]
) -> None:
    for step, who in zip(STEPS, restarts, strict=True):
        run(folder, step, key=key)
        told = capsys.readouterr().out.splitlines()[-1]
        assert told.partition("restart ")[2].partition(";")[0] == who, step
