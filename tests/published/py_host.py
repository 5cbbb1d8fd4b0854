"""A scripted host with the official Python SDK 2.x; scripted.py says how it is run.

Run by the environment `sdk-py2`.
"""

from contextlib import asynccontextmanager
from typing import Any

import mcp.types as types
from mcp.client import Client
from mcp.client.stdio import StdioServerParameters
from mcp.types.version import MODERN_PROTOCOL_VERSIONS
from pydantic import BaseModel, TypeAdapter
from scripted import LEVEL, Seen, main

RAW = TypeAdapter(dict[str, Any])  # as it came, also the members that the SDK has no name for


def sent(model: BaseModel):
    """What was on the wire: no defaults that the SDK fills in."""
    return model.model_dump(mode="json", by_alias=True, exclude_unset=True)


class Host:
    def __init__(self, client: Client, seen: Seen):
        self._client = client
        self.seen = seen

    @property
    def _is_modern(self):
        return self._client.protocol_version in MODERN_PROTOCOL_VERSIONS

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

    async def call_with_progress(self, tool, arguments):
        async def told(progress, total, message):
            self.seen.tell("progress", [progress, total, message])

        return sent(await self._client.call_tool(tool, arguments, progress_callback=told))

    async def set_level(self):
        if not self._is_modern:  # else it goes with each request
            await self._client.set_logging_level(LEVEL)

    @asynccontextmanager
    async def watching(self, uri):
        if not self._is_modern:
            await self._client.subscribe_resource(uri)
            yield
            await self._client.unsubscribe_resource(uri)
            return
        # What comes on the stream is shown to the message handler too.
        async with self._client.listen(tools_list_changed=True, resource_subscriptions=[uri]):
            yield


async def fill_in(context, params):
    if params.mode == "url":
        return types.ElicitResult(action="accept")
    return types.ElicitResult(action="accept", content={"name": "Ada"})


async def complete(context, params):
    content = types.TextContent(type="text", text="Hello.")
    return types.CreateMessageResult(role="assistant", content=content, model="scripted")


async def list_roots(context):
    return types.ListRootsResult(roots=[types.Root(uri="file:///a"), types.Root(uri="file:///b")])


@asynccontextmanager
async def connect(mode, server):
    parameters = StdioServerParameters(command=server[0], args=server[1:])
    seen = Seen()

    async def logged(params):
        seen.tell("log", [params.level, params.data])

    async def told(message):
        if isinstance(message, types.ResourceUpdatedNotification):
            seen.tell("updated", str(message.params.uri))
        elif isinstance(message, types.ToolListChangedNotification):
            seen.tell("tools", "changed")

    async with Client(
        parameters,
        mode=mode,
        log_level=LEVEL,
        logging_callback=logged,
        message_handler=told,
        elicitation_callback=fill_in,
        sampling_callback=complete,
        list_roots_callback=list_roots,
    ) as client:
        yield Host(client, seen)


if __name__ == "__main__":
    main(connect)
