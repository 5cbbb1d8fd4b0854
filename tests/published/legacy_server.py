"""A server on stdio with the official Python SDK 1.x: up to 2025-11-25, nothing newer.

Run by the environment `sdk-py1`. Lives here: a little of everything that the scripted hosts ask
for, and what it asks them in return.
"""

import anyio
import mcp.types as types
from mcp.server.lowlevel import Server
from mcp.server.lowlevel.helper_types import ReadResourceContents
from mcp.server.stdio import stdio_server
from mcp.shared.exceptions import McpError
from pydantic import AnyUrl

server = Server("shelf", version="1.4.2", instructions="Ask for tools/list first.")
asleep = {"now": 0, "most": 0, "cancelled": 0}

NOTHING = {"type": "object", "properties": {}}
TOOLS = [
    types.Tool(
        name="echo",
        title="Echo",
        description="Says what it is told.",
        inputSchema={
            "type": "object",
            "properties": {"text": {"type": "string", "description": "any text: é, 字"}},
            "required": ["text"],
            "additionalProperties": False,
        },
        annotations=types.ToolAnnotations(readOnlyHint=True, idempotentHint=True),
        _meta={"example.com/shelf": {"row": 3}},
    ),
    types.Tool(
        name="add",
        inputSchema={
            "$schema": "http://json-schema.org/draft-07/schema#",
            "type": "object",
            "properties": {"a": {"type": "integer"}, "b": {"type": "integer"}},
            "required": ["a", "b"],
        },
        outputSchema={
            "type": "object",
            "properties": {"sum": {"type": "integer"}},
            "required": ["sum"],
        },
    ),
    types.Tool(
        name="slow",
        inputSchema={"type": "object", "properties": {"seconds": {"type": "number"}}},
        execution=types.ToolExecution(taskSupport="forbidden"),
    ),
    types.Tool(name="sleepers", description="How slow calls fare.", inputSchema=NOTHING),
    types.Tool(name="fail", inputSchema=NOTHING),
    types.Tool(
        name="ask",
        description="Asks for a form, the model, the roots, a form twice, or everything at once.",
        inputSchema={"type": "object", "properties": {"what": {"type": "string"}}},
    ),
]

FORM = {"type": "object", "properties": {"name": {"type": "string"}}, "required": ["name"]}
HELLO = types.SamplingMessage(role="user", content=types.TextContent(type="text", text="Hello?"))


def text(said: str) -> list[types.TextContent]:
    return [types.TextContent(type="text", text=said)]


@server.list_tools()
async def list_tools():
    return TOOLS


@server.call_tool()
async def call_tool(name, arguments):
    match name:
        case "echo":
            return text(arguments["text"])
        case "add":
            return {"sum": arguments["a"] + arguments["b"]}
        case "slow":
            return text(await slow(arguments["seconds"]))
        case "sleepers":
            return text(f"{asleep['now']} asleep, {asleep['cancelled']} cancelled")
        case "ask":
            return text(await ask(arguments["what"]))
        case "fail":
            raise ValueError("the shelf fell down")
    raise ValueError(f"no tool named {name}")


async def ask(what):
    session = server.request_context.session
    answers = []

    async def form():
        answer = await session.elicit("Who are you?", FORM)
        answers.append(f"{answer.action} {answer.content}")

    async def model():
        answer = await session.create_message([HELLO], max_tokens=10)
        answers.append(f"{answer.model} {answer.content.text}")

    async def roots():
        answer = await session.list_roots()
        answers.append(" ".join(str(root.uri) for root in answer.roots))

    match what:
        case "form":
            await form()
        case "model":
            await model()
        case "roots":
            await roots()
        case "twice":
            await form()
            await form()
        case "all":
            async with anyio.create_task_group() as group:
                for each in (form, model, roots):
                    group.start_soon(each)
    return ", ".join(sorted(answers))


async def slow(seconds):
    asleep["now"] += 1
    asleep["most"] = max(asleep["most"], asleep["now"])
    try:
        await anyio.sleep(seconds)
    except anyio.get_cancelled_exc_class():
        asleep["cancelled"] += 1
        raise
    finally:
        asleep["now"] -= 1
    return f"up to {asleep['most']} at once"


@server.list_resources()
async def list_resources():
    return [
        types.Resource(
            uri=AnyUrl("shelf://top/note"),
            name="note",
            description="Somebody left it there.",
            mimeType="text/plain",
            size=6,
            annotations=types.Annotations(audience=["user"], priority=0.5),
        ),
        types.Resource(uri=AnyUrl("shelf://top/blob"), name="blob"),
    ]


@server.read_resource()
async def read_resource(uri):
    match str(uri):
        case "shelf://top/note":
            return [ReadResourceContents(content="héllo", mime_type="text/plain")]
        case "shelf://top/blob":
            return [ReadResourceContents(content=b"\0\xff", mime_type="image/x-none")]
    error = types.ErrorData(code=-32002, message="Resource not found", data={"uri": str(uri)})
    raise McpError(error)


@server.list_prompts()
async def list_prompts():
    asked = types.PromptArgument(name="name", description="who", required=True)
    return [types.Prompt(name="greet", title="Greet", arguments=[asked])]


@server.get_prompt()
async def get_prompt(name, arguments):
    content = types.TextContent(type="text", text=f"Greet {arguments['name']}.")
    return types.GetPromptResult(
        description="A greeting", messages=[types.PromptMessage(role="user", content=content)]
    )


@server.completion()
async def complete(ref, argument, context):
    values = [name for name in ("Ada", "Adele", "Bob") if name.startswith(argument.value)]
    return types.Completion(values=values, total=len(values), hasMore=False)


async def main():
    async with stdio_server() as (incoming, outgoing):
        await server.run(incoming, outgoing, server.create_initialization_options())


if __name__ == "__main__":
    anyio.run(main)
