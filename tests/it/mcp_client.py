"""Drives our MCP server with the protocol's own Python client, for mcp.rs.

mcp_client.py stdio COMMAND...  or  mcp_client.py http URL [KEY]

Reads one JSON object {"tool": NAME, "arguments": {...}} per line from standard input (or
{"list": true}) and prints one JSON line for each: the tools, or {"error": bool, "value": ...}.
"""

import asyncio
import contextlib
import json
import sys

import mcp
from mcp.client.streamable_http import create_mcp_http_client, streamable_http_client


@contextlib.asynccontextmanager
async def connected(arguments):
    if arguments[0] == "stdio":
        parameters = mcp.StdioServerParameters(command=arguments[1], args=arguments[2:])
        async with mcp.stdio_client(parameters) as streams:
            yield streams[:2]
        return
    headers = {"Authorization": f"Bearer {arguments[2]}"} if len(arguments) > 2 else {}
    async with create_mcp_http_client(headers=headers) as client:
        async with streamable_http_client(arguments[1], http_client=client) as streams:
            yield streams[:2]


async def main():
    async with connected(sys.argv[1:]) as (read, write):
        async with mcp.ClientSession(read, write) as session:
            await session.initialize()
            while line := await asyncio.to_thread(sys.stdin.readline):
                wanted = json.loads(line)
                if wanted.get("list"):
                    listed = await session.list_tools()
                    answer = [tool.model_dump(mode="json", by_alias=True) for tool in listed.tools]
                else:
                    result = await session.call_tool(wanted["tool"], wanted["arguments"])
                    result = result.model_dump(mode="json", by_alias=True)
                    text = result["content"][0]["text"]
                    failed = bool(result.get("isError"))
                    answer = {"error": failed, "value": text if failed else json.loads(text)}
                print(json.dumps(answer), flush=True)


asyncio.run(main())
