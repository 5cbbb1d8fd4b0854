"""The steps of the demonstration: what the host asks, and what has to come back.

Lives here: the steps. Does not: the host's end of the bridge (demo_talk.py), the old server
(old_server.py). Spec 2026-07-28, basic and server; spec 2025-11-25 for what the old server says.
"""

from collections.abc import Awaitable, Callable

from mcp_era_bridge.demo_print import PREFIX
from mcp_era_bridge.demo_talk import MODERN, Conversation
from mcp_era_bridge.old_session import (
    INVALID_PARAMS,
    RESOURCE_NOT_FOUND,
    JsonObject,
    as_object,
)


async def discover(talk: Conversation) -> None:
    answer = await talk.ask("server/discover")
    talk.expect([MODERN], answer, "result", "supportedVersions")
    talk.expect("tea-shop", answer, "result", "_meta", PREFIX + "serverInfo", "name")
    talk.expect({"subscribe": True}, answer, "result", "capabilities", "resources")
    await talk.until_heard(
        "notifications/initialized", lambda m: m.get("method") == "notifications/initialized"
    )


async def list_tools(talk: Conversation) -> None:
    answer = await talk.ask("tools/list")
    talk.expect("complete", answer, "result", "resultType")
    talk.expect("price", answer, "result", "tools", 0, "name")
    talk.expect(0, answer, "result", "ttlMs")
    talk.expect("private", answer, "result", "cacheScope")


async def call_tool(talk: Conversation) -> None:
    arguments: JsonObject = {"tea": "sencha", "cups": 3}
    answer = await talk.ask("tools/call", {"name": "price", "arguments": arguments})
    talk.expect("complete", answer, "result", "resultType")
    bill = {"tea": "sencha", "cups": 3, "pence": 840}
    talk.expect(bill, answer, "result", "structuredContent")
    talk.expect({"name": "price", "arguments": arguments}, talk.heard[-1], "params")


async def get_prompt(talk: Conversation) -> None:
    answer = await talk.ask("prompts/get", {"name": "pairing", "arguments": {"tea": "assam"}})
    words = "What should I eat with a cup of assam?"
    talk.expect(words, answer, "result", "messages", 0, "content", "text")


async def complete(talk: Conversation) -> None:
    argument = {"name": "tea", "value": "d"}
    ref = {"type": "ref/prompt", "name": "pairing"}
    answer = await talk.ask("completion/complete", {"ref": ref, "argument": argument})
    talk.expect(["darjeeling", "dragonwell"], answer, "result", "completion", "values")


async def read_resource(talk: Conversation) -> None:
    answer = await talk.ask("resources/read", {"uri": "tea://menu"})
    talk.expect("tea://menu", answer, "result", "contents", 0, "uri")
    talk.expect("private", answer, "result", "cacheScope")


async def read_missing_resource(talk: Conversation) -> None:
    answer = await talk.ask("resources/read", {"uri": "tea://coffee"})
    talk.expect(RESOURCE_NOT_FOUND, talk.said[-1], "error", "code")
    talk.expect(INVALID_PARAMS, answer, "error", "code")
    talk.expect("tea://coffee", answer, "error", "data", "uri")


async def two_at_once(talk: Conversation) -> None:
    pot = {"tea": "assam", "seconds": 2}  # time enough for the other call, and a short demo
    slow = await talk.send("tools/call", {"name": "brew", "arguments": pot})
    fast = await talk.send("tools/call", {"name": "price", "arguments": {"tea": "assam"}})
    talk.expect(fast, await talk.next_message(), "id")
    answer = await talk.next_message()
    talk.expect(slow, answer, "id")
    talk.expect("A pot of assam.", answer, "result", "content", 0, "text")


async def cancel(talk: Conversation) -> None:
    arguments: JsonObject = {"tea": "dragonwell", "seconds": 3600}
    request_id = await talk.send("tools/call", {"name": "brew", "arguments": arguments})
    reached = await talk.until_heard(
        "the call", lambda m: as_object(m.get("params")).get("arguments") == arguments
    )
    await talk.cancel(request_id)
    note = await talk.until_heard(
        "the cancellation", lambda m: m.get("method") == "notifications/cancelled"
    )
    talk.expect(reached["id"], note, "params", "requestId")
    answer = await talk.ask("prompts/list")  # the next thing the host hears is not about the brew
    talk.expect("pairing", answer, "result", "prompts", 0, "name")


async def report_progress(talk: Conversation) -> None:
    pot: JsonObject = {"tea": "sencha", "seconds": 0.2}
    token: JsonObject = {"progressToken": "pot-1"}
    brewing = await talk.send("tools/call", {"name": "brew", "arguments": pot}, token)
    for done in (1, 2, 3, 4):
        note = await talk.next_message()
        talk.expect("notifications/progress", note, "method")
        talk.expect("pot-1", note, "params", "progressToken")
        talk.expect(done, note, "params", "progress")
    talk.expect(brewing, await talk.next_message(), "id")


async def log(talk: Conversation) -> None:
    price: JsonObject = {"name": "price", "arguments": {"tea": "assam"}}
    asked = await talk.send("tools/call", price, {PREFIX + "logLevel": "info"})
    note = await talk.next_message()
    talk.expect("notifications/message", note, "method")
    talk.expect("info", note, "params", "level")
    talk.expect(asked, await talk.next_message(), "id")


async def answer_a_form(talk: Conversation) -> None:
    wish: JsonObject = {"name": "order", "arguments": {"tea": "darjeeling"}}
    answer: JsonObject = {"action": "accept", "content": {"size": "pot", "milk": False}}
    done = await ask_and_answer(talk, wish, "elicitation/create", answer)
    talk.expect("One pot of darjeeling, no milk.", done, "result", "content", 0, "text")


async def lend_a_model(talk: Conversation) -> None:
    content = {"type": "text", "text": "Sencha, it is a warm day."}
    answer: JsonObject = {"role": "assistant", "model": "demo-model", "content": content}
    wish: JsonObject = {"name": "recommend", "arguments": {}}
    done = await ask_and_answer(talk, wish, "sampling/createMessage", answer)
    words = "demo-model recommends: Sencha, it is a warm day."
    talk.expect(words, done, "result", "content", 0, "text")


async def show_folders(talk: Conversation) -> None:
    answer: JsonObject = {"roots": [{"uri": "file:///home/tea", "name": "tea"}]}
    wish: JsonObject = {"name": "folders", "arguments": {}}
    done = await ask_and_answer(talk, wish, "roots/list", answer)
    talk.expect("file:///home/tea", done, "result", "content", 0, "text")


async def ask_and_answer(
    talk: Conversation, wish: JsonObject, method: str, answer: JsonObject
) -> JsonObject:
    """A call that is answered with a question, and its retry with the answer."""
    asked = await talk.ask("tools/call", wish)
    talk.expect("input_required", asked, "result", "resultType")
    result = as_object(asked["result"])
    ((key, question),) = as_object(result["inputRequests"]).items()
    talk.expect(method, as_object(question), "method")
    retry = {"requestState": result["requestState"], "inputResponses": {key: answer}}
    return await talk.ask("tools/call", {**wish, **retry})


async def subscribe(talk: Conversation) -> None:
    wanted: JsonObject = {"toolsListChanged": True, "resourceSubscriptions": ["tea://stock"]}
    stream = await talk.send("subscriptions/listen", {"notifications": wanted})
    note = await talk.next_message()
    talk.expect("notifications/subscriptions/acknowledged", note, "method")
    talk.expect(wanted, note, "params", "notifications")
    more: JsonObject = {"name": "restock", "arguments": {"tea": "assam", "grams": 100}}
    await hear(talk, stream, more, "notifications/resources/updated")
    door: JsonObject = {"name": "cellar", "arguments": {"open": True}}
    await hear(talk, stream, door, "notifications/tools/list_changed")
    await talk.cancel(stream)


async def hear(talk: Conversation, stream: int, wish: JsonObject, method: str) -> None:
    """A call that changes something, and what its stream hears of it."""
    await talk.send("tools/call", wish)
    for message in (await talk.next_message(), await talk.next_message()):
        if "method" in message:
            talk.expect(method, message, "method")
            talk.expect(stream, message, "params", "_meta", PREFIX + "subscriptionId")
        else:
            talk.expect("complete", message, "result", "resultType")


STEPS: tuple[tuple[str, Callable[[Conversation], Awaitable[None]]], ...] = (
    ("The old server is shaken hands with; the host never sees it.", discover),
    ("A list comes back with what a modern host wants to know about caching.", list_tools),
    ("A tool answers with structured content; _meta stays with the bridge.", call_tool),
    ("A prompt comes through as it is.", get_prompt),
    ("So do completions for its argument.", complete),
    ("A resource is read.", read_resource),
    ("A missing one: the old error -32002 becomes the modern -32602.", read_missing_resource),
    ("Two calls at once: the fast one overtakes the slow one.", two_at_once),
    ("Progress comes under the token that the host gave.", report_progress),
    ("A log level goes with the request that wants it; the old server is told.", log),
    ("The old server asks: the call is answered input_required, and retried.", answer_a_form),
    ("It borrows the host's model the same way.", lend_a_model),
    ("And sees the folders that the host shows it.", show_folders),
    ("A stream hears of changes; the old server has a subscription.", subscribe),
    ("A cancellation reaches the old server, under the id that it knows.", cancel),
)
