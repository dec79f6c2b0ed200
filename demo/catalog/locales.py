"""Three languages: which account reads which, how they write money and dates, what they say."""

from datetime import date
from typing import Final

DEFAULT: Final = "en-US"
LOCALES: Final = ("en-US", "de-DE", "pt-BR")

# A shop keeps its customers' preferences; strad only says which customer it is.
ACCOUNTS: Final = {
    "ada@strad.test": "de-DE",
    "charles@strad.test": "en-US",
    "alberto@strad.test": "pt-BR",
}

MONTHS: Final = {
    "en-US": "January February March April May June July August September October November "
    "December",
    "de-DE": "Januar Februar März April Mai Juni Juli August September Oktober November Dezember",
    "pt-BR": "janeiro fevereiro março abril maio junho julho agosto setembro outubro novembro "
    "dezembro",
}
DAYS: Final = {
    "en-US": "{month} {day}, {year}",
    "de-DE": "{day}. {month} {year}",
    "pt-BR": "{day} de {month} de {year}",
}

# The phrases for an unknown caller exist in the default language only.
PHRASES: Final[dict[str, dict[str, str]]] = {
    "en-US": {
        "found": "{count} toys",
        "found_one": "1 toy",
        "line": "- {name} ({id}): {price}, {stock} in stock, added {added}. {description}",
        "unknown_caller": "The caller is unknown, so this is in English and nothing can be set "
        "aside.",
        "held": "{name} is set aside for you until {until} UTC.",
        "no_such_toy": "There is no toy {id!r}. Use an id from list_toys.",
        "sold_out": "The last {name} is already set aside. Try again later.",
        "already": "{name} is already set aside for you until {until} UTC.",
        "long_query": "The query is too long. Use at most {longest} characters.",
        "who": "The shop does not know who you are. Reach it through strad, signed in.",
    },
    "de-DE": {
        "found": "{count} Spielsachen",
        "found_one": "1 Spielzeug",
        "line": "- {name} ({id}): {price}, {stock} vorrätig, seit {added}. {description}",
        "held": "{name} ist bis {until} UTC für dich zurückgelegt.",
        "no_such_toy": "Es gibt kein Spielzeug {id!r}. Nimm eine id aus list_toys.",
        "sold_out": "{name}: Das letzte ist schon zurückgelegt. Versuch es später noch einmal.",
        "already": "{name} ist schon bis {until} UTC für dich zurückgelegt.",
        "long_query": "Die Suche ist zu lang. Höchstens {longest} Zeichen.",
    },
    "pt-BR": {
        "found": "{count} brinquedos",
        "found_one": "1 brinquedo",
        "line": "- {name} ({id}): {price}, {stock} em estoque, desde {added}. {description}",
        "held": "{name} está reservado para você até {until} UTC.",
        "no_such_toy": "Não existe o brinquedo {id!r}. Use um id de list_toys.",
        "sold_out": "{name}: o último já está reservado. Tente mais tarde.",
        "already": "{name} já está reservado para você até {until} UTC.",
        "long_query": "A busca é longa demais. Use até {longest} caracteres.",
    },
}


def money(cents: int, locale: str) -> str:
    """Euros, always: prices are not converted, only written as the reader is used to.

    The spaces are no-break spaces.
    """
    whole, rest = divmod(cents, 100)
    grouped = f"{whole:,}"
    if locale == "de-DE":
        return f"{grouped.replace(',', '.')},{rest:02}\u00a0€"
    if locale == "pt-BR":
        return f"€\u00a0{grouped.replace(',', '.')},{rest:02}"
    return f"€{grouped}.{rest:02}"


def long_date(day: date, locale: str) -> str:
    month = MONTHS[locale].split()[day.month - 1]
    return DAYS[locale].format(day=day.day, month=month, year=day.year)


def phrase(locale: str, key: str, /, **values: object) -> str:
    return PHRASES[locale][key].format(**values)
