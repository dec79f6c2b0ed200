"""Joins the files of `page/` into one document, in an order in which each finds what it uses."""

from pathlib import Path

FOLDER = Path(__file__).parent / "page"
SCRIPTS = (
    "bridge.js",
    "tries_storage.js",
    "tries_network.js",
    "tries_documents.js",
    "tries_host.js",
    "run.js",
)


def room() -> str:
    """The escape room's HTML. Raises OSError when a file of `page/` is missing."""
    scripts = "\n".join(f"<script>\n{_read(name)}</script>" for name in SCRIPTS)
    shell = _read("room.html")
    return shell.replace("/* room.css */", _read("room.css")).replace("<!-- scripts -->", scripts)


def _read(name: str) -> str:
    return (FOLDER / name).read_text(encoding="utf-8")
