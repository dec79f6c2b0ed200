"""What the tools answer, from the shop and the caller."""

from mcp_types import CallToolResult, TextContent

from demo.catalog.contract import CatalogResult, SetAsideResult, Shape, ToyCard, Who
from demo.catalog.identity import Caller
from demo.catalog.locales import ACCOUNTS, DEFAULT, long_date, money, phrase
from demo.catalog.shop import Shop, ShopRefusal, Toy

LONGEST_QUERY = 80


def catalog(shop: Shop, caller: Caller | None, query: str) -> CallToolResult:
    """The matching toys, as text for a model and as data for the page."""
    locale = locale_of(caller)
    if len(query) > LONGEST_QUERY:
        return refusal(phrase(locale, "long_query", longest=LONGEST_QUERY))
    toys = [card(shop, caller, toy, locale) for toy in shop.search(query, locale)]
    count = phrase(locale, "found_one" if len(toys) == 1 else "found", count=len(toys))
    lines = [count, *(phrase(locale, "line", stock=toy.left, **toy.model_dump()) for toy in toys)]
    if caller is None:
        lines.append(phrase(locale, "unknown_caller"))
    result = CatalogResult(
        locale=locale,
        currency="EUR",
        query=query,
        caller=Who(known=caller is not None, email=caller.email if caller else None),
        toys=toys,
    )
    return answer("\n".join(lines), result)


def hold(shop: Shop, caller: Caller | None, toy_id: str) -> CallToolResult:
    """Sets a toy aside, or says why not: a result with isError, for the model and the page."""
    locale = locale_of(caller)
    if caller is None:
        return refusal(phrase(locale, "who"))
    try:
        toy = shop.set_aside(caller.subject, toy_id, locale)
    except ShopRefusal as reason:
        return refusal(str(reason))
    shown = card(shop, caller, toy, locale)
    message = phrase(locale, "held", name=shown.name, until=shown.held_until)
    return answer(message, SetAsideResult(locale=locale, message=message, toy=shown))


def locale_of(caller: Caller | None) -> str:
    """The account's locale; English for everyone else."""
    return ACCOUNTS.get(caller.email, DEFAULT) if caller else DEFAULT


def card(shop: Shop, caller: Caller | None, toy: Toy, locale: str) -> ToyCard:
    name, description = toy.texts[locale]
    return ToyCard(
        id=toy.id,
        art=toy.art,
        name=name,
        description=description,
        price=money(toy.cents, locale),
        price_cents=toy.cents,
        added=long_date(toy.added, locale),
        added_iso=toy.added.isoformat(),
        left=shop.left(toy),
        held_until=shop.held_until(caller.subject, toy) if caller else None,
    )


def answer(text: str, result: Shape) -> CallToolResult:
    return CallToolResult(
        content=[TextContent(type="text", text=text)],
        structured_content=result.model_dump(by_alias=True),
    )


def refusal(text: str) -> CallToolResult:
    return CallToolResult(content=[TextContent(type="text", text=text)], is_error=True)
