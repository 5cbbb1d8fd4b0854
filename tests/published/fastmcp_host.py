"""A scripted host with the client of FastMCP 4; scripted.py says how it is run.

Run by the environment `fastmcp4`.
"""

from contextlib import asynccontextmanager

import mcp_types as types
from fastmcp import Client
from fastmcp.client.transports import StdioTransport
from pydantic import BaseModel
from scripted import main


def sent(model: BaseModel):
    """What was on the wire: no defaults that the SDK fills in."""
    return model.model_dump(mode="json", by_alias=True, exclude_unset=True)


class Host:
    def __init__(self, client: Client):
        self._client = client

    def about(self):
        session = self._client.session
        return {
            "version": session.protocol_version,
            "server": session.server_info and sent(session.server_info),
            "capabilities": session.server_capabilities and sent(session.server_capabilities),
            "instructions": session.instructions,
        }

    async def list_tools(self):
        return sent(await self._client.list_tools_mcp())

    async def list_resources(self):
        return sent(await self._client.list_resources_mcp())

    async def list_prompts(self):
        return sent(await self._client.list_prompts_mcp())

    async def call(self, tool, arguments):
        return sent(await self._client.call_tool_mcp(tool, arguments))

    async def read(self, uri):
        return sent(await self._client.read_resource_mcp(uri))

    async def prompt(self, name, arguments):
        return sent(await self._client.get_prompt_mcp(name, arguments))

    async def complete(self, prompt, argument):
        return sent(await self._client.complete_mcp(types.PromptReference(name=prompt), argument))


async def fill_in(message, response_type, params, context):
    return {"name": "Ada"}


async def complete(messages, params, context):
    return "Hello."


async def list_roots(context):
    return ["file:///a", "file:///b"]


@asynccontextmanager
async def connect(mode, server):
    transport = StdioTransport(command=server[0], args=server[1:], keep_alive=False)
    async with Client(
        transport,
        mode=mode,
        elicitation_handler=fill_in,
        sampling_handler=complete,
        roots=list_roots,
    ) as client:
        yield Host(client)


if __name__ == "__main__":
    main(connect)
