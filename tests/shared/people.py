"""Records that tests of the stores work with."""

from shared.contracts.identity import Person, Session, SessionKind, Token

ADA = Person(issuer="https://id.test", sub="1", email="ada@strad.test", name="Ada Lovelace")
BOB = Person(issuer="https://id.test", sub="2", email="bob@strad.test", name="Bob")
HOUR = 3600


def session(now: float, person: Person = ADA, life: int = 24 * HOUR, idle: int = HOUR) -> Session:
    """A session that began just now."""
    created = int(now)
    return Session(
        kind=SessionKind.OIDC,
        person=person,
        created=created,
        expires=created + life,
        idle_seconds=idle,
    )


def token(now: float, token_id: str = "t1", person: Person = ADA, life: int = 24 * HOUR) -> Token:
    """A token's record, made just now."""
    created = int(now)
    return Token(
        id=token_id,
        person=person,
        label=f"label of {token_id}",
        servers=None,
        created=created,
        expires=created + life,
    )
