"""A caller whose request begins now and never comes to its end."""

import asyncio
from urllib.parse import urlsplit


async def unfinished(url: str, headers: dict[str, str]) -> bytes:
    """The status line of the answer to a POST that says nothing more after its headers."""
    parts = urlsplit(url)
    reader, writer = await asyncio.open_connection(parts.hostname, parts.port)
    lines = {"Host": parts.netloc, "Content-Length": "20"} | headers
    text = "".join(f"{name}: {value}\r\n" for name, value in lines.items())
    writer.write(f"POST {parts.path} HTTP/1.1\r\n{text}\r\nl".encode())
    async with asyncio.timeout(5):
        line = await reader.readline()
    writer.close()
    return line
