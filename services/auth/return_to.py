"""Where a person wanted to go: paths of ours only, or the console's home.

The value comes from a link, so anybody can write it. What is not certainly a page of ours becomes
"/" without a word. It is sealed in a cookie (`attempts`), not carried through the provider.
"""

import re
from urllib.parse import unquote_plus

from shared.contracts.wire import (
    APPS_PATH,
    AUTHORIZE_PATH,
    CLIENTS_PATH,
    PEOPLE_PATH,
    SESSIONS_PATH,
    TOKENS_PATH,
)

HOME = "/"
MAX_LENGTH = 2000

# No percent sign, backslash or second slash can pass, and no segment begins with a dot: nothing
# is left that a browser or a proxy might read in another way.
_PATH = re.compile(r"(?:/[A-Za-z0-9_~-][A-Za-z0-9._~-]*)+/?")
_QUERY = re.compile(r"[!-~]*")
_NOT_IN_QUERY = frozenset("\\#")
_PAGES = (APPS_PATH, TOKENS_PATH, SESSIONS_PATH, PEOPLE_PATH, CLIENTS_PATH, AUTHORIZE_PATH)


def safe_path(wanted: str) -> str:
    """The path and query to go to, or "/". A `token` parameter is removed."""
    path, mark, query = wanted.partition("?")
    if len(wanted) > MAX_LENGTH or not _QUERY.fullmatch(query) or _NOT_IN_QUERY & set(query):
        return HOME
    if path != HOME and not (_PATH.fullmatch(path) and _is_page(path)):
        return HOME
    kept = "&".join(part for part in query.split("&") if not _is_token(part))
    return f"{path}{mark}{kept}" if kept else path


def _is_page(path: str) -> bool:
    return any(path == page or path.startswith(f"{page}/") for page in _PAGES)


def _is_token(parameter: str) -> bool:
    name, _, _ = parameter.partition("=")
    return unquote_plus(name).strip().lower() == "token"
