"""`tools:` of a server in `strad.yaml`: which tools exist for people, and the word on each."""

import fnmatch
import functools
import re
from collections.abc import Iterator

from pydantic import Field

from shared.contracts.fields import Strict

FRESH = "\0"  # stands in no pattern, so that only a `*` can match it


class ToolRule(Strict):
    """The operator's word on one tool. It wins over the server's own hints."""

    read_only: bool | None = None


class ToolsPolicy(Strict):
    """Which tools of a server exist for people. Names may use `*`. `deny` wins over `allow`."""

    allow: tuple[str, ...] | None = Field(None, description="left out: all tools")
    deny: tuple[str, ...] = ()
    each: dict[str, ToolRule] = Field(default_factory=dict, description="rules by tool name")

    def permits(self, tool: str) -> bool:
        """Whether `allow` and `deny` let this tool exist."""
        if self.deny and any(matches(pattern, tool) for pattern in self.deny):
            return False
        return self.allow is None or any(matches(pattern, tool) for pattern in self.allow)


def dead_rules(policy: ToolsPolicy) -> Iterator[tuple[str, str, str]]:
    """Rules that never decide anything: (path, problem, fix). One of two is not what was meant."""
    for name, patterns in (("allow", policy.allow or ()), ("deny", policy.deny)):
        for number, pattern in enumerate(patterns):
            where = f"{name}.{number}"
            others = [*patterns[:number], *patterns[number + 1 :]]
            wider = _covering(pattern, others)
            if not pattern:
                yield where, "matches no tool: it is empty", "write a name, or remove it"
            elif wider == pattern:
                if pattern in patterns[:number]:
                    yield where, f"`{pattern}` stands there twice", "remove one"
            elif wider is not None:
                yield where, f"`{pattern}` is a part of `{wider}`", "remove one of the two"
    for number, pattern in enumerate(policy.allow or ()):
        denied = _covering(pattern, policy.deny)
        if pattern and denied is not None:
            problem = f"`{pattern}` never counts: deny has `{denied}`, and deny wins"
            yield f"allow.{number}", problem, "remove one of the two"
    if policy.allow is not None:
        for number, pattern in enumerate(policy.deny):
            if pattern and not any(overlap(pattern, one) for one in policy.allow):
                problem = f"`{pattern}` removes nothing: allow has no such tool"
                yield f"deny.{number}", problem, "remove it, or allow what it is about"
    for name, rule in policy.each.items():
        yield from ((f"each.{name}", *mistake) for mistake in _mistakes_of(policy, name, rule))


def matches(pattern: str, name: str) -> bool:
    """Whether a name is meant by a pattern; `*` is any text, all else is itself."""
    return _compiled(pattern).match(name) is not None


def overlap(one: str, other: str) -> bool:
    """Whether some name is meant by both patterns."""
    waiting, seen = [(0, 0)], {(0, 0)}
    while waiting:
        i, j = waiting.pop()
        if i == len(one) and j == len(other):
            return True
        a, b = one[i : i + 1], other[j : j + 1]
        steps = []
        if a == "*":
            steps += [(i + 1, j), (i, j + 1)]
        if b == "*":
            steps += [(i, j + 1), (i + 1, j)]
        if a == b:
            steps += [(i + 1, j + 1)]
        for i, j in steps:
            if i <= len(one) and j <= len(other) and (i, j) not in seen:
                seen.add((i, j))
                waiting.append((i, j))
    return False


def covers(wide: str, narrow: str) -> bool:
    """Whether all names that `narrow` means are meant by `wide`.

    They are if one is in which every `*` of `narrow` became something that `wide` does not name.
    """
    return matches(wide, narrow.replace("*", FRESH))


def _covering(pattern: str, others: tuple[str, ...] | list[str]) -> str | None:
    return next((other for other in others if covers(other, pattern)), None)


def _mistakes_of(policy: ToolsPolicy, name: str, rule: ToolRule) -> Iterator[tuple[str, str]]:
    if "*" in name or not name:
        yield "is a rule for no tool", "write the whole name of one tool"
    elif not policy.permits(name):
        yield "`allow` and `deny` already remove this tool", "remove the rule, or let the tool be"
    if rule.read_only is None:
        yield "says nothing", "write read_only, or remove it"


@functools.lru_cache(1024)
def _compiled(pattern: str) -> re.Pattern[str]:
    # fnmatch has more than `*`, and its translation does not go back and forth over long names
    return re.compile(fnmatch.translate(pattern.replace("[", "[[]").replace("?", "[?]")))
