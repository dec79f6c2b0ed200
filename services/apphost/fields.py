"""A JSON Schema as the fields of a form, for `web/form.js` to draw: one field a property.

The schema is a server's text. What comes out is of a known shape (`Field` in web/types.d.ts), and
nothing of it becomes markup.
"""

import re
import sys
from itertools import pairwise
from typing import Any

from shared import numbers
from shared.numbers import Number

Field = dict[str, Any]
"""`name`, `label`, `hint`; the control as `tag`, `attributes` and `choices` (value, label, chosen);
`reads`: how its value is read; `optional`: an empty one is left out."""

MAX_HINT = 300
MAX_LABEL = 120
MOST_ASKED = 20
_TYPES = {"string": "text", "number": "number", "integer": "number", "boolean": "checkbox"}
_FORMATS = {"email": "email", "uri": "url", "date": "date", "date-time": "datetime-local"}
_READS = {"number": "number", "checkbox": "check", "datetime-local": "moment"}
_LIMITS = {"minLength": "minLength", "maxLength": "maxLength", "minimum": "min", "maximum": "max"}
_LONGEST = 2**31 - 1
_LARGEST = sys.float_info.max
_WORDS = re.compile(r"[A-Z]?[a-z]+|[A-Z]+(?![a-z])|\d+")
_SECRETS = frozenset(
    {"apikey", "credential", "credentials", "cvc", "cvv", "mnemonic", "otp", "passcode"}
    | {"passphrase", "passwd", "password", "passwords", "passwort", "pin", "pwd", "secret"}
    | {"secrets", "seed", "ssn", "token", "tokens", "totp"}
)
_SECRET_PAIRS = frozenset({"api key", "access key", "private key", "secret key", "security code"})


class Unaskable(Exception):
    """A person is not asked this. The text says why."""


def of_tool(schema: object) -> list[Field]:
    """The fields for a tool's arguments. What is no simple value gets a field for JSON."""
    return [
        _field(name, item, required, _simple(item, required) or _json(item, required))
        for name, item, required in _properties(schema)
    ]


def defaults(schema: object) -> dict[str, Any]:
    """The arguments that the schema's own defaults make."""
    return {name: item["default"] for name, item, _ in _properties(schema) if "default" in item}


def of_question(schema: object) -> list[Field]:
    """The fields of an elicitation's `requestedSchema` (MCP 2026-07-28, "Elicitation", form mode).

    Raises `Unaskable` for anything but simple values, and for secrets, which that section forbids.
    """
    if not isinstance(schema, dict) or schema.get("type") != "object":
        raise Unaskable("It asks without saying what for: its schema is no object.")
    properties = _properties(schema)
    if len(properties) > MOST_ASKED:
        raise Unaskable(f"It asks for {len(properties)} things at once; {MOST_ASKED} is the limit.")
    fields = []
    for name, item, required in properties:
        if _is_secret(name, item):
            title = str(item.get("title", name))[:MAX_LABEL]
            raise Unaskable(f"It asks for “{title}”. Secrets are never asked for here.")
        if (control := _simple(item, required)) is None:
            raise Unaskable(f"“{name[:MAX_LABEL]}” is not a simple value.")
        fields.append(_field(name, item, required, control))
    return fields


def _simple(schema: dict[str, Any], required: bool) -> dict[str, Any] | None:
    """The control of a simple value; None when it is none."""
    given = schema.get("default")
    if (choices := _choices(schema)) is not None:
        left_out = [] if required else [("", "", False)]
        chosen = [(value, label, value == given) for value, label in choices]
        return {"tag": "select", "choices": left_out + chosen, "reads": "text", "attributes": {}}
    if schema.get("type") == "array":
        items = schema.get("items")
        several = _choices(items) if isinstance(items, dict) else None
        marked = given if isinstance(given, list) else []
        if several is None:
            return None
        return {
            "tag": "select",
            "attributes": {"multiple": True},
            "choices": [(value, label, value in marked) for value, label in several],
            "reads": "several",
        }
    return _input(schema, required) if isinstance(schema.get("type"), str) else None


def _input(schema: dict[str, Any], required: bool) -> dict[str, Any] | None:
    kind, given = schema["type"], schema.get("default")
    if (type_ := _TYPES.get(kind)) is None:
        return None
    if kind == "string":
        type_ = _FORMATS.get(str(schema.get("format")), type_)
    attributes: dict[str, Any] = {"type": type_, "autocomplete": "off"}
    attributes |= _limits(schema)
    if kind == "number":
        attributes["step"] = "any"
    if type_ == "checkbox":
        attributes["checked"] = given is True
    elif isinstance(given, (str, int, float, Number)):
        attributes["value"] = str(given)
    # a text may be empty and still be given; nothing else can
    attributes["required"] = required and type_ not in {"text", "checkbox"}
    return {"tag": "input", "attributes": attributes, "reads": _READS.get(type_, "text")}


def _limits(schema: dict[str, Any]) -> dict[str, float]:
    """The limits that make sense: a browser throws at the others."""
    given = {html: _number(schema.get(word)) for word, html in _LIMITS.items()}
    found = {html: limit for html, limit in given.items() if limit is not None}
    lengths = [found.get("minLength", 0), found.get("maxLength", _LONGEST)]
    if lengths != sorted(lengths) or not all(0 <= length <= _LONGEST for length in lengths):
        return {html: limit for html, limit in found.items() if html in {"min", "max"}}
    return found


def _number(value: object) -> int | float | None:
    """A number that a browser can hold, too."""
    if isinstance(value, Number):
        value = float(value)
    if not isinstance(value, (int, float)) or isinstance(value, bool):
        return None
    return value if -_LARGEST <= value <= _LARGEST else None


def _json(schema: dict[str, Any], required: bool) -> dict[str, Any]:
    attributes = {"rows": 3, "placeholder": "JSON", "spellcheck": False, "required": required}
    if "default" in schema:
        attributes["value"] = numbers.dumps(schema["default"], indent=1, ascii_only=False)
    return {"tag": "textarea", "attributes": attributes, "reads": "json"}


def _properties(schema: object) -> list[tuple[str, dict[str, Any], bool]]:
    properties = schema.get("properties") if isinstance(schema, dict) else None
    if not isinstance(schema, dict) or not isinstance(properties, dict):
        return []
    named = schema.get("required")
    required = named if isinstance(named, list) else []
    return [
        (name, item if isinstance(item, dict) else {}, name in required)
        for name, item in properties.items()
    ]


def _field(name: str, schema: dict[str, Any], required: bool, control: dict[str, Any]) -> Field:
    title, about = schema.get("title"), schema.get("description")
    label = title if isinstance(title, str) and title.strip() else name
    hint = about if isinstance(about, str) else ""
    is_check = control["reads"] == "check"
    return {
        "name": name,
        "label": label[:MAX_LABEL] + ("" if required else " (optional)"),
        "hint": (hint or ("" if label.casefold() == name.casefold() else name))[:MAX_HINT],
        "optional": not required and not (is_check and "default" in schema),
        "choices": [],
        **control,
    }


def _choices(schema: dict[str, Any]) -> list[tuple[str, str]] | None:
    """Values with their labels: `enum` with `enumNames`, or `oneOf`/`anyOf` of titled constants."""
    found: list[tuple[Any, Any]] = []
    if isinstance(values := schema.get("enum"), list):
        names = schema.get("enumNames")
        labels = names if isinstance(names, list) and len(names) == len(values) else values
        found = list(zip(values, labels, strict=True))
    else:
        options = schema.get("oneOf", schema.get("anyOf"))
        for option in options if isinstance(options, list) else ():
            if not isinstance(option, dict) or "const" not in option:
                return None
            found.append((option["const"], option.get("title", option["const"])))
    texts = [(v, str(label)[:MAX_LABEL]) for v, label in found if isinstance(v, str)]
    return texts if texts and len(texts) == len(found) else None


def _is_secret(name: str, schema: dict[str, Any]) -> bool:
    if schema.get("format") == "password" or schema.get("writeOnly") is True:
        return True
    for text in (name, str(schema.get("title", ""))):
        words = [word.lower() for word in _WORDS.findall(text)]
        pairs = {" ".join(pair) for pair in pairwise(words)}
        if _SECRETS.intersection(words) or _SECRET_PAIRS & pairs:
            return True
    return False
