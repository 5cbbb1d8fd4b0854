"""A scripted host with the official Python SDK 2.x; scripted.py says how it is run.

Run by the environment `sdk-py2`.
"""

from contextlib import asynccontextmanager
from typing import Any

import mcp.types as types
from mcp.client import Client
from mcp.client.stdio import StdioServerParameters
from pydantic import BaseModel, TypeAdapter
from scripted import main

RAW = TypeAdapter(dict[str, Any])  # as it came, also the members that the SDK has no name for


def sent(model: BaseModel):
    """What was on the wire: no defaults that the SDK fills in."""
    return model.model_dump(mode="json", by_alias=True, exclude_unset=True)


class Host:
    def __init__(self, client: Client):
        self._client = client

    def about(self):
        server = self._client.server_info
        return {
            "version": self._client.protocol_version,
            "server": server and sent(server),
            "capabilities": sent(self._client.server_capabilities),
            "instructions": self._client.instructions,
        }

    async def list_tools(self):
        return await self._client.session.send_request(types.ListToolsRequest(), RAW)

    async def list_resources(self):
        return await self._client.session.send_request(types.ListResourcesRequest(), RAW)

    async def list_prompts(self):
        return await self._client.session.send_request(types.ListPromptsRequest(), RAW)

    async def call(self, tool, arguments):
        return sent(await self._client.call_tool(tool, arguments))

    async def read(self, uri):
        return sent(await self._client.read_resource(uri))

    async def prompt(self, name, arguments):
        return sent(await self._client.get_prompt(name, arguments))

    async def complete(self, prompt, argument):
        return sent(await self._client.complete(types.PromptReference(name=prompt), argument))


async def fill_in(context, params):
    return types.ElicitResult(action="accept", content={"name": "Ada"})


async def complete(context, params):
    content = types.TextContent(type="text", text="Hello.")
    return types.CreateMessageResult(role="assistant", content=content, model="scripted")


async def list_roots(context):
    return types.ListRootsResult(roots=[types.Root(uri="file:///a"), types.Root(uri="file:///b")])


@asynccontextmanager
async def connect(mode, server):
    parameters = StdioServerParameters(command=server[0], args=server[1:])
    async with Client(
        parameters,
        mode=mode,
        elicitation_callback=fill_in,
        sampling_callback=complete,
        list_roots_callback=list_roots,
    ) as client:
        yield Host(client)


if __name__ == "__main__":
    main(connect)
