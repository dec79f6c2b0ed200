"""Random identifiers and secrets, and the shape of tokens."""

import base64
import os
import secrets
import zlib
from collections.abc import Sequence

from shared.contracts.wire import ACCESS_TOKEN_PREFIX, TOKEN_PREFIX

ALPHABET = "0123456789ABCDEFGHIJKLMNOPQRSTUVWXYZabcdefghijklmnopqrstuvwxyz"
_CHARS = frozenset(ALPHABET)
_SECRET_CHARS = 43  # 62**43 > 2**256
_CHECK_CHARS = 6  # 62**6 > 2**32
_PAIRS = tuple(first + second for first in ALPHABET for second in ALPHABET)
_BEARER = (TOKEN_PREFIX, ACCESS_TOKEN_PREFIX)


def new_id() -> str:
    """A short public identifier, 96 bits, URL-safe."""
    return base64.urlsafe_b64encode(os.urandom(12)).decode()


def new_secret() -> str:
    """A 256-bit secret, URL-safe (a session cookie, state, nonce, PKCE verifier)."""
    return secrets.token_urlsafe(32)


def new_token(prefix: str = TOKEN_PREFIX) -> str:
    """A token: prefix, 256 random bits, and a checksum that scanners can verify."""
    body = "".join(secrets.choice(ALPHABET) for _ in range(_SECRET_CHARS))
    return f"{prefix}{body}{_checksum(body)}"


def is_token(text: str, prefixes: Sequence[str] = _BEARER) -> bool:
    """Whether the text has the shape and checksum of a token of ours. Says nothing of validity."""
    for prefix in prefixes:
        if text.startswith(prefix):
            break
    else:
        return False
    if len(text) != len(prefix) + _SECRET_CHARS + _CHECK_CHARS:
        return False
    body, check = text[len(prefix) : -_CHECK_CHARS], text[-_CHECK_CHARS:]
    return _CHARS.issuperset(body) and _checksum(body) == check


def _checksum(body: str) -> str:
    high, low = divmod(zlib.crc32(body.encode()), len(_PAIRS))
    high, middle = divmod(high, len(_PAIRS))
    return _PAIRS[high] + _PAIRS[middle] + _PAIRS[low]
