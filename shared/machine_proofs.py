"""What machines of `oauth.machines` prove themselves with, read and checked: by auth at its start,
and by `strad check`."""

import json
import re
import warnings
from collections.abc import Mapping
from dataclasses import dataclass
from pathlib import Path
from typing import Any

from joserfc.errors import JoseError, SecurityWarning
from joserfc.jwk import ECKey, RSAKey, import_key

from shared.contracts.config import Config
from shared.contracts.machines import Machine
from shared.settings import Environment

PublicKey = ECKey | RSAKey

MIN_SECRET_CHARS = 32
MIN_RSA_BITS = 2048
MOST_KEYS = 10
ALGORITHMS: Mapping[str, tuple[str, ...]] = {"EC": ("ES256",), "RSA": ("RS256", "PS256")}
# nothing that one client would encode for HTTP Basic, and another not (RFC 6749 §2.3.1)
_SECRET = re.compile(r"[A-Za-z0-9._~-]*")
_PRIVATE = frozenset({"d", "p", "q", "dp", "dq", "qi", "k"})


@dataclass(frozen=True, slots=True)
class Proof:
    """A secret, or public keys with the signature algorithms of each; the other one is empty."""

    secret: str = ""
    keys: tuple[tuple[PublicKey, tuple[str, ...]], ...] = ()


def read_proofs(env: Environment, config: Config) -> dict[str, Proof]:
    """By client id. Mistakes are noted in `env`."""
    return {
        machine.client_id: _proof(env, f"oauth.machines.{number}", machine)
        for number, machine in enumerate(config.oauth.machines)
    }


def _proof(env: Environment, where: str, machine: Machine) -> Proof:
    if machine.secret is not None:
        return Proof(secret=_secret(env, f"{where}.secret", machine))
    if machine.jwks is not None:
        return Proof(keys=_keys(env, f"{where}.jwks", machine.jwks))
    where = f"{where}.jwks_file"
    text = env.file(Path(machine.jwks_file or ""), where)
    if text is None:
        return Proof()
    try:
        return Proof(keys=_keys(env, where, json.loads(text)))
    except (ValueError, RecursionError):
        env.wrong(where, "is not JSON", "write a JWK set with the machine's public keys")
        return Proof()


def _secret(env: Environment, where: str, machine: Machine) -> str:
    assert machine.secret is not None
    secret = env.secret(machine.secret, where)
    unread = any(mistake.where == where for mistake in env.mistakes)
    if not unread and (len(secret) < MIN_SECRET_CHARS or not _SECRET.fullmatch(secret)):
        problem = f"is shorter than {MIN_SECRET_CHARS} characters, or holds others than a-z A-Z 0-9"
        env.wrong(where, f"{problem} . _ ~ -", "make one with `openssl rand -hex 32`")
    return secret


def _keys(
    env: Environment, where: str, given: Any
) -> tuple[tuple[PublicKey, tuple[str, ...]], ...]:
    listed = given.get("keys", [given]) if isinstance(given, dict) else None
    if not isinstance(listed, list) or not 1 <= len(listed) <= MOST_KEYS:
        fix = f'write {{"keys": [...]}} with 1 to {MOST_KEYS} public keys'
        env.wrong(where, "is no JWK set", fix)
        return ()
    found: list[tuple[PublicKey, tuple[str, ...]]] = []
    for number, one in enumerate(listed):
        try:
            found.append(_key(one))
        except (_Unusable, JoseError, ValueError, TypeError, KeyError) as error:
            problem = str(error) if isinstance(error, _Unusable) else "is no public JWK"
            fix = "use an EC key of P-256 or an RSA key of 2048 bits or more, its public half alone"
            env.wrong(f"{where}.keys.{number}", problem, fix)
    kids = [key.kid for key, _ in found if key.kid is not None]
    if len(set(kids)) != len(kids):
        env.wrong(where, "two keys have the same kid", "give each key a kid of its own")
    return tuple(found)


class _Unusable(Exception):
    """A key that no machine may use."""


def _key(given: Any) -> tuple[PublicKey, tuple[str, ...]]:
    if not isinstance(given, dict):
        raise _Unusable("is no public JWK")
    if not _PRIVATE.isdisjoint(given):
        # it was in a file that others read: whoever mends this should not keep using it
        raise _Unusable("holds a private key, which only the machine may have: make a new pair")
    with warnings.catch_warnings():
        warnings.simplefilter("ignore", SecurityWarning)  # of weak keys, which are refused below
        key = import_key(given)
    usable = (isinstance(key, ECKey) and key.curve_name == "P-256") or (
        isinstance(key, RSAKey) and key.raw_value.key_size >= MIN_RSA_BITS
    )
    if not usable or not isinstance(key, ECKey | RSAKey):
        raise _Unusable("is of a kind that is not accepted")
    if given.get("use", "sig") != "sig" or not isinstance(given.get("kid", ""), str):
        raise _Unusable("is not for signatures, or its kid is no text")
    algorithms = ALGORITHMS[key.key_type]
    named = given.get("alg")
    if named is None:
        return key, algorithms
    if named not in algorithms:
        raise _Unusable("is for an algorithm that is not accepted")
    return key, (named,)
