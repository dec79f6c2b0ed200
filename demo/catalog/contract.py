"""What the tools answer: the shape that the page checks before it draws anything."""

from typing import Annotated

from pydantic import BaseModel, ConfigDict, Field
from pydantic.alias_generators import to_camel


class Shape(BaseModel):
    """Python names here, camelCase on the wire."""

    model_config = ConfigDict(alias_generator=to_camel, populate_by_name=True, frozen=True)


class ToyCard(Shape):
    """One toy, ready to show: texts, price and date are written for the caller already."""

    id: str
    art: Annotated[str, Field(description="Which drawing of the page shows it")]
    name: str
    description: str
    price: str
    price_cents: int
    added: str
    added_iso: str
    left: Annotated[int, Field(description="Pieces that can still be set aside")]
    held_until: Annotated[str | None, Field(description="End of the caller's own hold, HH:MM UTC")]


class Who(Shape):
    """`known` is false without an identity from strad."""

    known: bool
    email: str | None


class CatalogResult(Shape):
    """What show_catalog and list_toys answer."""

    locale: str
    currency: str
    query: str
    caller: Who
    toys: list[ToyCard]


class SetAsideResult(Shape):
    """What set_aside answers: the toy as it is now, and one sentence."""

    locale: str
    message: str
    toy: ToyCard
