"""The people one can sign in as."""

from dataclasses import dataclass, fields
from typing import Any


@dataclass(frozen=True)
class Person:
    """One demo account. `sub` never changes; everything else is an attribute of it."""

    sub: str
    name: str
    email: str
    locale: str
    hd: str = "strad.test"

    @property
    def initials(self) -> str:
        return "".join(word[0] for word in self.name.split())[:2].upper()

    def claims(self) -> dict[str, str | bool]:
        """The claims about this person in the ID token and at /userinfo."""
        return {
            "sub": self.sub,
            "name": self.name,
            "email": self.email,
            "email_verified": True,
            "locale": self.locale,
            "hd": self.hd,
        }


DEMO_PEOPLE = (
    Person("demo-ada", "Ada Lovelace", "ada@strad.test", "de-DE"),
    Person("demo-charles", "Charles Babbage", "charles@strad.test", "en-US"),
)


def people_from_json(value: Any) -> tuple[Person, ...]:
    """A list of objects with sub, name, email, locale and optionally hd. Raises ValueError."""
    names = {field.name for field in fields(Person)}
    if not isinstance(value, list) or not value:
        raise ValueError("expected a list of people, at least one")
    people = []
    for entry in value:
        if not isinstance(entry, dict) or not names - {"hd"} <= entry.keys() <= names:
            raise ValueError("every person has sub, name, email, locale and optionally hd")
        if not all(isinstance(text, str) and text.strip() for text in entry.values()):
            raise ValueError("every value of a person is a text")
        people.append(Person(**entry))
    if len({person.sub for person in people}) != len(people):
        raise ValueError("two people have the same sub")
    return tuple(people)
