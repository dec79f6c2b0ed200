"""FastMCP's proxy: `PYTHON fastmcp_proxy.py default|shared PORT SERVER_URL`, secret in JWT_SECRET.

Runs in FastMCP's own environment, and imports nothing of this project. `default`: a
client for each request; `shared` gives it one client that is connected.
"""

import asyncio
import os
import sys

from fastmcp import Client  # type: ignore[import-not-found]
from fastmcp.server import create_proxy  # type: ignore[import-not-found]
from fastmcp.server.auth.providers.jwt import JWTVerifier  # type: ignore[import-not-found]


async def main(clients: str, port: int, url: str) -> None:
    """Serve until the end of the process."""
    auth = JWTVerifier(public_key=os.environ["JWT_SECRET"], algorithm="HS256")
    settings = {
        "host": "127.0.0.1",
        "port": port,
        "show_banner": False,
        "log_level": "error",
        "uvicorn_config": {"access_log": False},
    }
    if clients == "default":
        await create_proxy(url, name="bench", auth=auth).run_http_async(**settings)
        return
    async with Client(url) as client:
        await create_proxy(client, name="bench", auth=auth).run_http_async(**settings)


if __name__ == "__main__":
    asyncio.run(main(sys.argv[1], int(sys.argv[2]), sys.argv[3]))
