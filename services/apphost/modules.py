"""The host page's own modules and stylesheet, served as written.

They import each other by relative paths, so the version is a folder of the address: one page never
mixes two versions, and a browser may keep a version for ever.
"""

import hashlib
from pathlib import Path
from typing import NamedTuple

from aiohttp import web

from shared.contracts.wire import STATIC_PATH
from shared.web.routes import Access, Answer, Route

FOLDER = Path(__file__).parent / "web"
_TYPES = {".js": "text/javascript; charset=utf-8", ".css": "text/css; charset=utf-8"}
_FOR_EVER = "public, max-age=31536000, immutable"


class Modules(NamedTuple):
    """`files`: body and content type by name. `version`: 12 hex digits over all of them."""

    files: dict[str, tuple[bytes, str]]
    version: str

    def address(self, name: str) -> str:
        """The public path of one of the files. Raises KeyError for a name that is none."""
        _ = self.files[name]
        return f"{STATIC_PATH}/host/{self.version}/{name}"

    def host_scripts(self) -> list[str]:
        """What the host page imports, so that a browser can fetch all of it at once."""
        return [name for name in self.files if name.endswith(".js") and name != "open.js"]


def read_modules() -> Modules:
    """Read the folder once, at start: no path of a request ever reaches the file system."""
    files = {}
    total = hashlib.sha256()
    for path in sorted(FOLDER.iterdir()):
        if path.suffix in _TYPES:
            body = path.read_bytes()
            files[path.name] = (body, _TYPES[path.suffix])
            total.update(path.name.encode() + b"\0" + hashlib.sha256(body).digest())
    return Modules(files, total.hexdigest()[:12])


def module_routes(modules: Modules) -> list[Route]:
    """The route of the host page's own files."""

    async def answer(request: web.Request) -> web.Response:
        file = modules.files.get(request.match_info["name"])
        if file is None:
            raise web.HTTPNotFound
        headers = {"Content-Type": file[1]}
        if request.match_info["version"] == modules.version:
            headers["Cache-Control"] = _FOR_EVER
        return web.Response(body=file[0], headers=headers)

    path = f"{STATIC_PATH}/host/{{version}}/{{name}}"
    return [Route("GET", path, answer, Access.PUBLIC, Answer.JSON)]
