"""Random identifiers and secrets, and the shape of a personal access token."""

import secrets
import zlib

from shared.contracts.wire import TOKEN_PREFIX

ALPHABET = "0123456789ABCDEFGHIJKLMNOPQRSTUVWXYZabcdefghijklmnopqrstuvwxyz"
_SECRET_CHARS = 43  # 62**43 > 2**256
_CHECK_CHARS = 6  # 62**6 > 2**32


def new_id() -> str:
    """A short public identifier, 96 bits, URL-safe."""
    return secrets.token_urlsafe(12)


def new_secret() -> str:
    """A 256-bit secret, URL-safe (a session cookie, state, nonce, PKCE verifier)."""
    return secrets.token_urlsafe(32)


def new_token() -> str:
    """A personal access token: prefix, 256 random bits, and a checksum that scanners can verify."""
    body = "".join(secrets.choice(ALPHABET) for _ in range(_SECRET_CHARS))
    return f"{TOKEN_PREFIX}{body}{_checksum(body)}"


def is_token(text: str) -> bool:
    """Whether the text has the shape and checksum of a token of ours. Says nothing of validity."""
    if len(text) != len(TOKEN_PREFIX) + _SECRET_CHARS + _CHECK_CHARS:
        return False
    if not text.startswith(TOKEN_PREFIX):
        return False
    body, check = text[len(TOKEN_PREFIX) : -_CHECK_CHARS], text[-_CHECK_CHARS:]
    return all(char in ALPHABET for char in body) and _checksum(body) == check


def _checksum(body: str) -> str:
    number, out = zlib.crc32(body.encode()), ""
    for _ in range(_CHECK_CHARS):
        number, digit = divmod(number, len(ALPHABET))
        out = ALPHABET[digit] + out
    return out
