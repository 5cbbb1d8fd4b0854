"""A scripted host with the official Python SDK 1.x, legacy only; scripted.py says how it is run.

Run by the environment `sdk-py1`.
"""

from contextlib import asynccontextmanager

import mcp.types as types
from mcp import ClientSession, StdioServerParameters
from mcp.client.stdio import stdio_client
from pydantic import AnyUrl, BaseModel
from scripted import LEVEL, Seen, main


def sent(model: BaseModel):
    """What was on the wire: no defaults that the SDK fills in."""
    return model.model_dump(mode="json", by_alias=True, exclude_unset=True)


class Host:
    def __init__(self, session: ClientSession, opened: types.InitializeResult, seen: Seen):
        self._session = session
        self._opened = opened
        self.seen = seen

    def about(self):
        return {
            "version": self._opened.protocolVersion,
            "server": sent(self._opened.serverInfo),
            "capabilities": sent(self._opened.capabilities),
            "instructions": self._opened.instructions,
        }

    async def list_tools(self):
        return sent(await self._session.list_tools())

    async def list_resources(self):
        return sent(await self._session.list_resources())

    async def list_prompts(self):
        return sent(await self._session.list_prompts())

    async def call(self, tool, arguments):
        return sent(await self._session.call_tool(tool, arguments))

    async def read(self, uri):
        return sent(await self._session.read_resource(AnyUrl(uri)))

    async def prompt(self, name, arguments):
        return sent(await self._session.get_prompt(name, arguments))

    async def complete(self, prompt, argument):
        reference = types.PromptReference(type="ref/prompt", name=prompt)
        return sent(await self._session.complete(reference, argument))

    async def call_with_progress(self, tool, arguments):
        async def told(progress, total, message):
            self.seen.tell("progress", [progress, total, message])

        return sent(await self._session.call_tool(tool, arguments, progress_callback=told))

    async def set_level(self):
        await self._session.set_logging_level(LEVEL)

    @asynccontextmanager
    async def watching(self, uri):
        await self._session.subscribe_resource(AnyUrl(uri))
        yield
        await self._session.unsubscribe_resource(AnyUrl(uri))


async def fill_in(context, params):
    if params.mode == "url":
        return types.ElicitResult(action="accept")
    return types.ElicitResult(action="accept", content={"name": "Ada"})


async def complete(context, params):
    content = types.TextContent(type="text", text="Hello.")
    return types.CreateMessageResult(role="assistant", content=content, model="scripted")


async def list_roots(context):
    roots = [types.Root(uri=AnyUrl("file:///a")), types.Root(uri=AnyUrl("file:///b"))]
    return types.ListRootsResult(roots=roots)


@asynccontextmanager
async def connect(mode, server):
    assert mode == "legacy", mode
    seen = Seen()

    async def logged(params):
        seen.tell("log", [params.level, params.data])

    async def told(message):
        match getattr(message, "root", None):
            case types.ResourceUpdatedNotification(params=params):
                seen.tell("updated", str(params.uri))
            case types.ToolListChangedNotification():
                seen.tell("tools", "changed")

    parameters = StdioServerParameters(command=server[0], args=server[1:])
    async with (
        stdio_client(parameters) as (incoming, outgoing),
        ClientSession(
            incoming,
            outgoing,
            elicitation_callback=fill_in,
            sampling_callback=complete,
            list_roots_callback=list_roots,
            logging_callback=logged,
            message_handler=told,
        ) as session,
    ):
        yield Host(session, await session.initialize(), seen)


if __name__ == "__main__":
    main(connect)
