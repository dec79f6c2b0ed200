"""A client written with the SDK of the time before 2026-07-28: ADDRESS, then tools to call in turn.

`TOKEN` in the environment. Prints, as JSON, what it hears of each call.
"""

import asyncio
import json
import os
import sys
from typing import Any

import mcp
from mcp.client import streamable_http


async def run(url: str, tools: list[str]) -> list[Any]:
    """The texts of results, or the message of an error."""
    heard: list[Any] = []
    sdk: Any = mcp  # its types are of another version than the ones that are checked here
    connect: Any = vars(streamable_http)["streamablehttp_client"]
    headers = {"Authorization": f"Bearer {os.environ['TOKEN']}"}
    async with (
        connect(url, headers=headers) as (reader, writer, _),
        sdk.ClientSession(reader, writer) as session,
    ):
        await session.initialize()
        heard.append(sorted(tool.name for tool in (await session.list_tools()).tools))
        for tool in tools:
            try:
                result = await session.call_tool(tool, {"text": "x"})
                heard.append([block.text for block in result.content])
            except sdk.McpError as error:
                heard.append(str(error))
    return heard


if __name__ == "__main__":
    print(json.dumps(asyncio.run(run(sys.argv[1], sys.argv[2:]))))
