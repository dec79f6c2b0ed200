"""From the claims of a checked ID token to a person who may sign in, or a named refusal."""

from collections.abc import Mapping
from typing import Any

from pydantic import TypeAdapter, ValidationError

from services.auth.refusals import Reason, Refused
from shared.contracts.config import Provider
from shared.contracts.fields import Email
from shared.contracts.identity import Person
from shared.entitled import may_sign_in

_MAX_EMAIL = 254  # RFC 5321 §4.5.3.1.3
_MAX_NAME = 80
_EMAIL: TypeAdapter[str] = TypeAdapter(Email)


def person_of(claims: Mapping[str, Any], rules: Provider) -> Person:
    """Who this is. Raises `Refused`: no, unverified or odd e-mail, or not allowed here.

    Identity is issuer and `sub`; the e-mail address is an attribute that rules are written with.
    """
    email = _email(claims.get("email"))
    if rules.require_email_verified and claims.get("email_verified") is not True:
        # the text "true" is not true: some provider would let a person write it
        raise Refused(Reason.EMAIL_UNVERIFIED)
    # the configured issuer: Google's two spellings must not make two people of one
    person = Person(
        issuer=rules.issuer,
        sub=claims["sub"],
        email=email,
        name=_name(claims.get("name"), email),
        organisation=_organisation(claims.get("hd")),
    )
    if not may_sign_in(rules.allow, person):
        raise Refused(Reason.NOT_ALLOWED, person=person)
    return person


def _organisation(value: object) -> str | None:
    return (_plain(value) or None) if isinstance(value, str) else None


def _email(value: object) -> str:
    if not isinstance(value, str) or not value:
        raise Refused(Reason.EMAIL_MISSING)
    plain = _plain(value)
    try:
        email = _EMAIL.validate_python(plain)
    except ValidationError as error:
        raise Refused(Reason.EMAIL_MALFORMED) from error
    if email != plain or len(email) > _MAX_EMAIL:
        raise Refused(Reason.EMAIL_MALFORMED)
    return email


def _plain(value: str) -> str:
    # before lower(): the Kelvin sign is not ASCII, and its lower case is the letter k
    return value.lower() if value.isascii() else ""


def _name(value: object, email: str) -> str:
    """The name for people to read: printable, one line, or else the e-mail address."""
    words = value.split() if isinstance(value, str) else []
    clean = "".join(char for char in " ".join(words) if char.isprintable())
    return clean[:_MAX_NAME].strip() or email
