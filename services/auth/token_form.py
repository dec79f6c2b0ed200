"""The form for a new token: its choices, and what is wrong with what came back."""

from collections.abc import Collection
from dataclasses import dataclass, field

from multidict import MultiMapping

DAY = 86400
MAX_LABEL = 60
MAX_TOKENS = 50
_USUAL_DAYS = (1, 7, 30, 90, 365)
_DEFAULT = 30 * DAY
_UNITS = ((DAY, "day"), (3600, "hour"), (60, "minute"), (1, "second"))


@dataclass(frozen=True, slots=True)
class Lifetime:
    """One choice of "ends after"."""

    seconds: int
    words: str


def lifetimes(longest: int) -> list[Lifetime]:
    """The usual ones up to the operator's limit (seconds), and the limit itself."""
    seconds = {days * DAY for days in _USUAL_DAYS if days * DAY <= longest} | {longest}
    return [Lifetime(one, _words(one)) for one in sorted(seconds)]


def _words(seconds: int) -> str:
    unit, name = next(one for one in _UNITS if seconds % one[0] == 0)
    count = seconds // unit
    return f"{count} {name}" if count == 1 else f"{count} {name}s"


@dataclass(frozen=True, slots=True)
class TokenForm:
    """A filled form. `servers` is empty where `every` is chosen. `errors`: field to sentence."""

    label: str
    life: int
    servers: tuple[str, ...] = ()
    every: bool = True
    read_only: bool = False
    errors: dict[str, str] = field(default_factory=dict)


def blank(longest: int) -> TokenForm:
    """The form before anybody has filled it: thirty days, or the nearest shorter choice."""
    choices = [choice.seconds for choice in lifetimes(longest)]
    return TokenForm("", max((one for one in choices if one <= _DEFAULT), default=choices[0]))


def read(
    posted: MultiMapping[object],
    *,
    longest: int,
    servers: Collection[str],
    labels: Collection[str],
) -> TokenForm:
    """Check a posted form. `servers`: those the person may use; `labels`: their live tokens'.

    What was filled in is kept, so that nothing has to be typed again.
    """
    errors: dict[str, str] = {}
    label = str(posted.get("label", "")).strip()
    if problem := label_problem(label, labels):
        errors["label"] = problem
    life = _seconds(str(posted.get("life", "")))
    if life not in {choice.seconds for choice in lifetimes(longest)}:
        errors["life"] = "Choose one of the times in the list."
        life = blank(longest).life
    chosen = tuple(dict.fromkeys(str(slug) for slug in posted.getall("servers", [])))
    if not set(chosen) <= set(servers):
        # unknown and not yours are one answer, and the name is not repeated
        errors["servers"] = "Choose among your own servers. The list has changed; look again."
        chosen = tuple(slug for slug in chosen if slug in servers)
    every = posted.get("reach") == "every" or not servers
    if every == bool(chosen):
        errors.setdefault("servers", "Choose all of yours, or tick those that you mean.")
    if len(labels) >= MAX_TOKENS:
        errors["form"] = f"You have {MAX_TOKENS} tokens, which is the most. Revoke one first."
    # anything but the tick left out is the stricter choice
    reads = "read_only" in posted
    return TokenForm(label[:MAX_LABEL], life, chosen, every and not chosen, reads, errors)


def label_problem(label: str, labels: Collection[str]) -> str:
    """What is wrong with the name of a new token beside these; empty: nothing."""
    if not label:
        return "Give it a name that you will recognise, such as the client and the machine."
    if len(label) > MAX_LABEL:
        return f"Use at most {MAX_LABEL} characters."
    if not label.isprintable():
        return "Use letters, digits, spaces and signs only."
    if label in labels:
        return "You have a token with this name already. Choose another name, or revoke that one."
    return ""


def _seconds(text: str) -> int:
    return int(text) if text.isascii() and text.isdigit() and len(text) < 12 else 0
