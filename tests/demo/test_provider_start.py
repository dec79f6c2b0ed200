"""The provider stays on this machine, keeps its key when told to, and ends quietly."""

import json
import os
import signal
import stat
import subprocess
import sys
from pathlib import Path

import pytest

from demo.provider.keys import Keys
from demo.provider.people import DEMO_PEOPLE
from demo.provider.settings import SettingsError, load
from tests.demo.conftest import REDIRECT

BASE = {"REDIRECT_URI": REDIRECT}


@pytest.mark.parametrize(
    ("environ", "fix"),
    [
        ({"HOST": "192.0.2.7"}, "HOST"),
        ({"HOST": "0.0.0.0"}, "HOST"),
        ({"HOST": "0.0.0.0", "ISSUER": "http://127.0.0.1:8081"}, "HOST"),
        ({"HOST": "::"}, "HOST"),
        ({"HOST": "0.0.0.0", "ISSUER": "http://login.example.test"}, "ISSUER"),
        ({"ISSUER": "http://accounts.example.com"}, "ISSUER"),
        ({"ISSUER": "http://127.0.0.1.example.com"}, "ISSUER"),
        ({"ISSUER": "http://notlocalhost"}, "ISSUER"),
        ({"ISSUER": "http://localhost.example.com"}, "ISSUER"),
        ({"ISSUER": "http://[::1"}, "ISSUER"),
        ({"ISSUER": "ftp://127.0.0.1"}, "ISSUER"),
        ({"ISSUER": "http://127.0.0.1:8081/realm"}, "ISSUER"),
        ({"PORT": "eighty"}, "PORT"),
        ({"PORT": "70000"}, "PORT"),
        ({"PEOPLE": "/no/such/file"}, "PEOPLE"),
        ({"REDIRECT_URI": ""}, "REDIRECT_URI"),
        ({"REDIRECT_URI": "/auth/callback"}, "REDIRECT_URI"),
    ],
)
def test_it_refuses_to_leave_the_machine_or_to_start_half_configured(
    environ: dict[str, str], fix: str
) -> None:
    with pytest.raises(SettingsError, match=f"(?m)^{fix}"):
        load(BASE | environ)


def test_every_mistake_is_told_at_once() -> None:
    with pytest.raises(SettingsError) as told:
        load({"HOST": "192.0.2.7", "PORT": "x", "ISSUER": "http://example.com"})
    assert len(str(told.value).splitlines()) == 4


@pytest.mark.parametrize(
    "environ",
    [
        {},
        {"HOST": "::1"},
        {"HOST": "127.9.9.9", "ISSUER": "http://localhost:1"},
        {"HOST": "0.0.0.0", "ISSUER": "http://provider.localhost:8081"},
    ],
)
def test_loopback_names_are_accepted(environ: dict[str, str]) -> None:
    assert load(BASE | environ).people == DEMO_PEOPLE


def test_other_people_can_be_given(tmp_path: Path) -> None:
    person = {"sub": "s", "name": "Grace Hopper", "email": "g@strad.test", "locale": "en-US"}
    file = tmp_path / "people.json"
    file.write_text(json.dumps([person]))
    found = load(BASE | {"PEOPLE": str(file)}).people
    assert [one.email for one in found] == ["g@strad.test"]
    for wrong in ([], [person, person], [{"sub": "s"}], [person | {"admin": "yes"}]):
        file.write_text(json.dumps(wrong))
        with pytest.raises(SettingsError):
            load(BASE | {"PEOPLE": str(file)})


def test_the_key_survives_a_restart_and_is_readable_by_its_owner_only(tmp_path: Path) -> None:
    first = Keys(tmp_path / "state")
    kept = tmp_path / "state" / "provider.json"
    assert stat.S_IMODE(kept.stat().st_mode) == 0o600
    assert Keys(tmp_path / "state").published() == first.published()
    first.rotate()
    assert Keys(tmp_path / "state").published() == first.published()


@pytest.mark.parametrize("spoilt", ["", "[]", '{"kty": "RSA"}', '{"kty": "oct", "k": "AAAA"}'])
def test_a_spoilt_key_file_is_named_with_its_fix(tmp_path: Path, spoilt: str) -> None:
    (tmp_path / "provider.json").write_text(spoilt)
    with pytest.raises(SettingsError, match="Delete it"):
        Keys(tmp_path)


def test_the_private_half_is_never_published() -> None:
    (key,) = Keys().published()["keys"]
    assert key.keys() == {"kty", "n", "e", "use", "alg", "kid"}


@pytest.mark.parametrize("ending", [signal.SIGTERM, signal.SIGINT])
def test_it_prints_one_line_and_ends_quietly(ending: signal.Signals) -> None:
    environ = os.environ | BASE | {"PORT": "0"}
    with subprocess.Popen(
        [sys.executable, "-m", "demo.provider"],
        env=environ,
        stdout=subprocess.PIPE,
        stderr=subprocess.PIPE,
        text=True,
    ) as process:
        assert process.stdout is not None
        line = process.stdout.readline()
        process.send_signal(ending)
        rest, errors = process.communicate(timeout=10)
    assert line.startswith("demo provider ready at http://127.0.0.1:")
    assert (process.returncode, rest, errors) == (0, "", "")


def test_a_mistake_is_told_and_ends_with_one() -> None:
    done = subprocess.run(
        [sys.executable, "-m", "demo.provider"],
        env=os.environ | {"HOST": "192.0.2.7", "REDIRECT_URI": ""},
        capture_output=True,
        text=True,
        check=False,
    )
    assert done.returncode == 1
    assert "HOST=192.0.2.7" in done.stderr
    assert "Traceback" not in done.stderr
