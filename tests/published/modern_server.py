"""A server on stdio with the official Python SDK 2.x, which speaks both eras.

Run by the environment `sdk-py2`. Answers what legacy_server.py answers, in its own words.
"""

import anyio
import mcp.types as types
from mcp.server.mcpserver import MCPServer

server = MCPServer("rack", version="2.1.0", instructions="Ask for tools/list first.")
asleep = {"now": 0, "most": 0, "cancelled": 0}


@server.tool(title="Echo", annotations=types.ToolAnnotations(read_only_hint=True))
def echo(text: str) -> str:
    """Says what it is told."""
    return text


@server.tool()
def add(a: int, b: int) -> dict[str, int]:
    return {"sum": a + b}


@server.tool()
async def slow(seconds: float) -> str:
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


@server.tool()
def sleepers() -> str:
    """How slow calls fare."""
    return f"{asleep['now']} asleep, {asleep['cancelled']} cancelled"


@server.tool()
def fail() -> str:
    raise ValueError("the rack fell down")


@server.resource("shelf://top/note", description="Somebody left it there.", mime_type="text/plain")
def note() -> str:
    return "héllo"


@server.prompt(title="Greet")
def greet(name: str) -> str:
    return f"Greet {name}."


@server.completion()
async def complete(ref, argument, context):
    values = [name for name in ("Ada", "Adele", "Bob") if name.startswith(argument.value)]
    return types.Completion(values=values, total=len(values), has_more=False)


if __name__ == "__main__":
    server.run("stdio")
