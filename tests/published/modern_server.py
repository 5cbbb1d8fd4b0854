"""A server on stdio with the official Python SDK 2.x, which speaks both eras.

Run by the environment `sdk-py2`. Answers what legacy_server.py answers, in its own words.
"""

import json

import anyio
import mcp.types as types
from mcp.server.mcpserver import Context, MCPServer
from mcp.types.version import MODERN_PROTOCOL_VERSIONS

server = MCPServer("rack", version="2.1.0", instructions="Ask for tools/list first.")
asleep = {"now": 0, "most": 0, "cancelled": 0}
grown = {"tools": 0, "touched": 0}

FORM = {"type": "object", "properties": {"name": {"type": "string"}}, "required": ["name"]}
HELLO = types.SamplingMessage(role="user", content=types.TextContent(type="text", text="Hello?"))
URL = "https://example.com/sign-in"
QUESTIONS = {
    "form": types.ElicitRequest(
        params=types.ElicitRequestFormParams(message="Who are you?", requested_schema=FORM)
    ),
    "url": types.ElicitRequest(params=types.ElicitRequestURLParams(message="Sign in", url=URL)),
    "model": types.CreateMessageRequest(
        params=types.CreateMessageRequestParams(messages=[HELLO], max_tokens=10)
    ),
    "roots": types.ListRootsRequest(),
}
ROUNDS = {"twice": [["form"], ["form"]], "all": [["form", "model", "roots"]]}


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


def told(answer) -> str:
    match answer:
        case types.ElicitResult():
            return f"{answer.action} {answer.content}"
        case types.ListRootsResult():
            return " ".join(str(root.uri) for root in answer.roots)
    return f"{answer.model} {answer.content.text}"


@server.tool()
async def ask(what: str, context: Context) -> str | types.InputRequiredResult:
    """Asks for a form, a URL, the model, the roots, a form twice, or everything at once."""
    rounds = ROUNDS.get(what, [[what]])
    if context.protocol_version not in MODERN_PROTOCOL_VERSIONS:
        answers = [told(await push(context.session, each)) for round in rounds for each in round]
        return ", ".join(sorted(answers))
    answers = json.loads(context.request_state or "[]")
    given = context.input_responses or {}
    answers += [[told(given[key]) for key in sorted(given)]] if given else []
    if len(answers) < len(rounds):
        asked = {each: QUESTIONS[each] for each in rounds[len(answers)]}
        state = json.dumps(answers)
        return types.InputRequiredResult(input_requests=asked, request_state=state)
    return ", ".join(sorted(each for round in answers for each in round))


async def push(session, what):
    """What the revisions before 2026-07-28 do."""
    match what:
        case "form":
            return await session.elicit_form("Who are you?", FORM)
        case "url":
            return await session.elicit_url("Sign in", URL, "sign-in")
        case "model":
            return await session.create_message(messages=[HELLO], max_tokens=10)
        case "roots":
            return await session.list_roots()


@server.tool()
async def count(to: int, context: Context) -> str:
    for number in range(1, to + 1):
        await context.report_progress(number, to, f"number {number}")
        # The TypeScript SDK loses progress that comes in one read with the result.
        await anyio.sleep(0.05)
    return "counted"


@server.tool()
async def log(context: Context) -> str:
    for level in ("debug", "info", "warning", "error"):
        await context.log(level, {"level": level}, logger_name="rack")
    return "logged"


@server.tool()
async def touch(context: Context) -> str:
    grown["touched"] += 1
    await context.notify_resource_updated("shelf://top/touched")
    return "touched"


@server.tool()
async def grow(context: Context) -> str:
    """Grows another tool."""
    grown["tools"] += 1
    server.add_tool(lambda: "leaf", name=f"leaf_{grown['tools']}")
    await context.notify_tools_changed()
    return "grown"


@server.tool()
def era(context: Context) -> str:
    """The revision that the server is spoken to in."""
    return str(context.protocol_version)


@server.resource("shelf://top/touched", description="How often it was touched.")
def touched() -> str:
    return str(grown["touched"])


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
