"""The console's own look, in the words that a page knows (SEP-1865, "Theming").

Only the standard names: the official SDK refuses to start a page that is told one it does not know.
Colours stay `light-dark(…)`, as the specification asks, so a change of theme needs no new values.
"""

import re
from functools import cache

from shared.ui import STYLESHEET

_TOKEN = re.compile(r"--([a-z0-9-]+):\s*([^;]+);")
_COLOURS = {
    "background": "primary=surface secondary=canvas tertiary=sunken inverse=ink info=info-wash"
    " danger=bad-wash success=good-wash warning=warn-wash disabled=sunken",
    "text": "primary=ink secondary=ink-soft tertiary=ink-faint inverse=canvas ghost=ink-faint"
    " info=info danger=bad success=good warning=warn disabled=ink-faint",
    "border": "primary=line-strong secondary=line tertiary=line inverse=ink info=info-line"
    " danger=bad-line success=good-line warning=warn-line disabled=line",
    "ring": "primary=varnish secondary=line-strong inverse=canvas info=info danger=bad"
    " success=good warning=warn",
}
_SIZES = {
    "--font-text-": "xs=text-xs sm=text-s md=text-m lg=text-l",
    "--font-heading-": "xs=text-s sm=text-m md=text-l lg=text-xl xl=text-xl 2xl=text-xxl"
    " 3xl=text-xxl",
}
_OTHERS = (
    "--font-sans=sans --font-mono=mono --border-radius-xs=radius-s --border-radius-sm=radius-s"
    " --border-radius-md=radius --border-radius-lg=radius-l --border-radius-xl=radius-l"
    " --shadow-hairline=shadow-1 --shadow-sm=shadow-1 --shadow-md=shadow-2 --shadow-lg=shadow-3"
)
_FIXED = {
    "--color-background-ghost": "transparent",
    "--color-border-ghost": "transparent",
    "--font-weight-normal": "400",
    "--font-weight-medium": "500",
    "--font-weight-semibold": "600",
    "--font-weight-bold": "700",
    "--border-radius-full": "9999px",
    "--border-width-regular": "1px",
}
_TEXT_LINE, _HEADING_LINE = "1.55", "1.25"


@cache
def variables() -> dict[str, str]:
    """`hostContext.styles.variables`. Raises KeyError for a token that the stylesheet lacks."""
    # the first block is the one that holds always; a later one is for more contrast
    text = STYLESHEET.read_text(encoding="utf-8").partition(":root {")[2].partition("}")[0]
    tokens = dict(_TOKEN.findall(text))
    found = dict(_FIXED)
    for group, names in _COLOURS.items():
        found |= {f"--color-{group}-{name}": tokens[token] for name, token in _pairs(names)}
    for start, names in _SIZES.items():
        line = _TEXT_LINE if "text" in start else _HEADING_LINE
        for name, token in _pairs(names):
            found[f"{start}{name}-size"] = tokens[token]
            found[f"{start}{name}-line-height"] = line
    return found | {name: tokens[token] for name, token in _pairs(_OTHERS)}


def _pairs(words: str) -> list[tuple[str, str]]:
    return [(name, token) for name, _, token in (word.partition("=") for word in words.split())]
