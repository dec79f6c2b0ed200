"""What a browser calls itself, in a few words of ours: for a person who looks at their sessions.

Anybody can write anything into `User-Agent`. No part of it is kept or shown: only words from here.
"""

_BROWSERS = (
    ("Edg", "Edge"),
    ("OPR/", "Opera"),
    ("SamsungBrowser", "Samsung Internet"),
    ("Firefox/", "Firefox"),
    ("FxiOS", "Firefox"),
    ("Chrome/", "Chrome"),
    ("CriOS", "Chrome"),
    ("Safari/", "Safari"),
)
_SYSTEMS = (
    ("iPhone", "iPhone"),
    ("iPad", "iPad"),
    ("Android", "Android"),
    ("CrOS", "ChromeOS"),
    ("Windows", "Windows"),
    ("Macintosh", "macOS"),
    ("Linux", "Linux"),
)


def device_of(user_agent: str) -> str:
    """Such as `Firefox on Linux`; `Unknown browser` when nothing of it is known."""
    browser = next((name for mark, name in _BROWSERS if mark in user_agent), "Unknown browser")
    system = next((name for mark, name in _SYSTEMS if mark in user_agent), "")
    return f"{browser} on {system}" if system else browser
