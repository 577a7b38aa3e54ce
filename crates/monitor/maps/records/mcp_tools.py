"""Writes the JSON-RPC messages between an MCP client and an MCP server of the Python SDK.

    pip install mcp
    python mcp_tools.py

Each line has the session, the time, the side that sends, and the message as it is on the wire.
"""

import json
from datetime import datetime, timezone

import anyio
from mcp import Client
from mcp.client._memory import InMemoryTransport
from mcp.server.mcpserver import MCPServer

server = MCPServer("files")


@server.tool()
def read_file(path: str) -> str:
    """Reads a file."""
    return f"the text of {path}"


@server.tool()
def delete_file(path: str) -> str:
    """Deletes a file."""
    raise ValueError(f"{path} is protected")


class Recorded:
    """A stream that writes every message that passes."""

    def __init__(self, stream, sender, session, out):
        self.stream, self.sender, self.session, self.out = stream, sender, session, out

    def write(self, item):
        message = item.message.model_dump(by_alias=True, mode="json", exclude_none=True)
        now = datetime.now(timezone.utc).isoformat().replace("+00:00", "Z")
        record = {"session": self.session, "time": now, "sender": self.sender, "message": message}
        print(json.dumps(record), file=self.out)

    async def send(self, item):
        self.write(item)
        await self.stream.send(item)

    async def receive(self):
        item = await self.stream.receive()
        self.write(item)
        return item

    def __aiter__(self):
        return self

    async def __anext__(self):
        try:
            return await self.receive()
        except anyio.EndOfStream:
            raise StopAsyncIteration from None

    async def __aenter__(self):
        await self.stream.__aenter__()
        return self

    async def __aexit__(self, *error):
        return await self.stream.__aexit__(*error)

    def __getattr__(self, name):
        return getattr(self.stream, name)


class RecordedTransport(InMemoryTransport):
    def __init__(self, session, out):
        super().__init__(server)
        self.session, self.out = session, out

    async def __aenter__(self):
        read, write = await super().__aenter__()
        return (
            Recorded(read, "server", self.session, self.out),
            Recorded(write, "client", self.session, self.out),
        )


async def main():
    with open("mcp.jsonl", "w") as out:
        for session in ("m-1", "m-2"):
            async with Client(RecordedTransport(session, out), mode="legacy") as client:
                await client.list_tools()
                await client.call_tool("read_file", {"path": "Notes (old).md"})
                if session == "m-2":
                    # A tool that fails, and a tool that does not exist.
                    await client.call_tool("delete_file", {"path": "notes.md"})
                    try:
                        await client.call_tool("format_disk", {})
                    except Exception:
                        pass


anyio.run(main)
