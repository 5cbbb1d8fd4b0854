"""A small MCP server as somebody wrote it in 2025: a tea shop, to try the bridge with.

Lives here: its tools, resources and prompt, and its start: `python -m mcp_era_bridge.old_server`.
Does not: the protocol (old_session.py). Both need the standard library alone, speak revisions up
to 2025-11-25, have never heard of a later one and share nothing with the bridge.
Spec 2025-11-25, server/tools, server/resources, server/prompts, server/utilities/completion.
"""

import argparse
import json
import os
import threading
from collections.abc import Callable, Mapping
from concurrent.futures import ThreadPoolExecutor
from typing import NamedTuple, cast

from mcp_era_bridge.old_session import (
    INVALID_PARAMS,
    RESOURCE_NOT_FOUND,
    Call,
    Declined,
    JsonObject,
    Method,
    RpcError,
    Session,
    ToolRun,
    Wire,
    as_list,
    as_object,
)


class ToolError(Exception):
    """Becomes a tool result with `isError`: the model can read it and do better."""


def text(words: str) -> JsonObject:
    return {"type": "text", "text": words}


def schema(required: str, **properties: Mapping[str, object]) -> JsonObject:
    return {"type": "object", "properties": properties, "required": required.split()}


class Tool(NamedTuple):
    description: str
    arguments: JsonObject
    run: Callable[[Call], str | JsonObject]
    output: JsonObject | None = None

    def listed(self, name: str) -> JsonObject:
        output: JsonObject = {} if self.output is None else {"outputSchema": self.output}
        tool: JsonObject = {"name": name, "description": self.description}
        return {**tool, "inputSchema": self.arguments, **output}

    def result(self, call: Call) -> JsonObject:
        try:
            outcome = self.run(call)
        except ToolError as failure:
            return {"content": [text(str(failure))], "isError": True}
        except Declined as why:
            return {"content": [text(f"Nothing was done. The client declined: {why}")]}
        if isinstance(outcome, str):
            return {"content": [text(outcome)]}
        return {"content": [text(json.dumps(outcome))], "structuredContent": outcome}


TEAS = {
    "assam": (240, "Malty and strong, good with milk."),
    "darjeeling": (310, "Light and floral, picked in spring."),
    "dragonwell": (420, "Pan-fired green, tastes of chestnut."),
    "sencha": (280, "Steamed green, fresh as cut grass."),
}
MENU, STOCK, LEAF = "tea://menu", "tea://stock", "tea://leaf/"
RESOURCES: list[JsonObject] = [
    {"uri": MENU, "name": "menu", "title": "The menu", "mimeType": "text/plain"},
    {"uri": STOCK, "name": "stock", "title": "Grams in stock", "mimeType": "application/json"},
]
LEAF_TEMPLATE: JsonObject = {"uriTemplate": LEAF + "{tea}", "name": "leaf", "title": "One tea"}
WHICH_TEA: JsonObject = {"name": "tea", "description": "A tea from the menu", "required": True}
PAIRING: JsonObject = {"name": "pairing", "title": "Food for a tea", "arguments": [WHICH_TEA]}
WORD, WHOLE, NUMBER, FLAG = ({"type": t} for t in ("string", "integer", "number", "boolean"))
TEA: JsonObject = {"type": "string", "enum": list(TEAS)}
BILL = schema("tea cups pence", tea=WORD, cups=WHOLE, pence=WHOLE)
ORDER_FORM = schema("size", size={"type": "string", "enum": ["cup", "pot"]}, milk=FLAG)
IDENTITY: JsonObject = {
    "capabilities": {
        "tools": {"listChanged": True},
        "resources": {"subscribe": True},
        "prompts": {},
        "completions": {},
        "logging": {},
    },
    "serverInfo": {"name": "tea-shop", "title": "The tea shop", "version": "1.0.0"},
    "instructions": "Ask for a price before you order. Brewing takes its time.",
}


class Shop:
    """What the server is about: tools, resources, a prompt."""

    def __init__(self) -> None:
        self._lock = threading.Lock()
        self._stock = dict.fromkeys(TEAS, 500)
        self._tools = {
            "price": Tool("What cups cost", schema("tea", tea=TEA, cups=WHOLE), price, BILL),
            "brew": Tool("Takes some seconds", schema("tea", tea=TEA, seconds=NUMBER), brew),
            "order": Tool("Asks you how you like it", schema("tea", tea=TEA), order),
            "recommend": Tool("Asks your model to choose", schema(""), recommend),
            "folders": Tool("Lists the folders you show us", schema(""), folders),
            "refund": Tool("Gives money back, in theory", schema(""), refund),
            "restock": Tool("Adds grams", schema("tea", tea=TEA, grams=WHOLE), self._restock),
            "cellar": Tool("Opens or locks it", schema("open", open=FLAG), self._cellar),
        }
        self.identity = IDENTITY
        self.methods: dict[str, Method] = {
            "tools/list": lambda params: {"tools": self._tool_list()},
            "prompts/list": lambda params: {"prompts": [PAIRING]},
            "prompts/get": self._get_prompt,
            "resources/list": lambda params: {"resources": RESOURCES},
            "resources/templates/list": lambda params: {"resourceTemplates": [LEAF_TEMPLATE]},
            "resources/read": self._read_resource,
            "completion/complete": self._complete,
        }

    def _tool_list(self) -> list[JsonObject]:
        return [tool.listed(name) for name, tool in self._tools.items()]

    def tool(self, params: JsonObject) -> ToolRun:
        name = params.get("name")
        if not isinstance(name, str) or name not in self._tools:
            raise RpcError(INVALID_PARAMS, f"Unknown tool: {name}")
        return self._tools[name].result

    def _restock(self, call: Call) -> str:
        tea, grams = tea_wanted(call), int(number_wanted(call, "grams", 100, 10_000))
        with self._lock:
            self._stock[tea] += grams
        call.session.resource_changed(STOCK)
        return f"{grams} g of {tea} went on the shelf."

    def _cellar(self, call: Call) -> str:
        with self._lock:
            tools, was_open = dict(self._tools), "vintage" in self._tools
            is_open = call.arguments.get("open") is True
            tools.pop("vintage", None)
            if is_open:
                tools["vintage"] = Tool("Pours an old one", schema(""), vintage)
            self._tools = tools
        if is_open != was_open:
            call.session.notify("notifications/tools/list_changed")
        return "The cellar is open." if is_open else "The cellar is locked."

    def _read_resource(self, params: JsonObject) -> JsonObject:
        uri, kind = params.get("uri"), "text/plain"
        leaf = uri.removeprefix(LEAF) if isinstance(uri, str) and uri.startswith(LEAF) else ""
        if uri == MENU:
            body = "\n".join(f"{tea}: {pence} pence a cup" for tea, (pence, _) in TEAS.items())
        elif uri == STOCK:
            kind, body = "application/json", json.dumps(self._stock)
        elif leaf in TEAS:
            body = TEAS[leaf][1]
        else:
            raise RpcError(RESOURCE_NOT_FOUND, "Resource not found", data={"uri": uri})
        return {"contents": [{"uri": uri, "mimeType": kind, "text": body}]}

    def _get_prompt(self, params: JsonObject) -> JsonObject:
        tea = as_object(params.get("arguments")).get("tea")
        if params.get("name") != PAIRING["name"]:
            raise RpcError(INVALID_PARAMS, f"Unknown prompt: {params.get('name')}")
        if not isinstance(tea, str) or tea not in TEAS:
            raise RpcError(INVALID_PARAMS, f"The argument 'tea' is one of: {', '.join(TEAS)}")
        question = text(f"What should I eat with a cup of {tea}?")
        return {"messages": [{"role": "user", "content": question}]}

    def _complete(self, params: JsonObject) -> JsonObject:
        ref, argument = as_object(params.get("ref")), as_object(params.get("argument"))
        known = ref.get("name", ref.get("uri")) in (PAIRING["name"], LEAF_TEMPLATE["uriTemplate"])
        if not known or argument.get("name") != "tea":
            raise RpcError(INVALID_PARAMS, "There is nothing to complete there")
        values = [tea for tea in TEAS if tea.startswith(str(argument.get("value", "")))]
        return {"completion": {"values": values, "total": len(values), "hasMore": False}}


def tea_wanted(call: Call) -> str:
    tea = call.arguments.get("tea")
    if not isinstance(tea, str) or tea not in TEAS:
        raise ToolError(f"We have no tea called {tea!r}. We have: {', '.join(TEAS)}.")
    return tea


def number_wanted(call: Call, name: str, default: float, most: float) -> float:
    value = call.arguments.get(name, default)
    if isinstance(value, bool) or not isinstance(value, int | float) or not 0 <= value <= most:
        raise ToolError(f"{name} must be a number from 0 to {most}.")
    return value


def price(call: Call) -> JsonObject:
    tea, cups = tea_wanted(call), int(number_wanted(call, "cups", 1, 1000))
    call.session.log("info", f"somebody asked for the price of {tea}")
    return {"tea": tea, "cups": cups, "pence": cups * TEAS[tea][0]}


def brew(call: Call) -> str:
    tea, seconds = tea_wanted(call), number_wanted(call, "seconds", 2, 3600)
    steps = ("warming the pot", "measuring the leaves", "pouring the water", "steeping")
    for done, step in enumerate(steps, start=1):
        call.session.log("debug", step)
        call.progress(done, len(steps), step)
        call.wait(seconds / len(steps))
    return f"A pot of {tea}."


def order(call: Call) -> str:
    tea, modes = tea_wanted(call), call.client.get("elicitation")
    if modes is None or (modes and "form" not in as_object(modes)):  # {} means forms
        return f"One cup of {tea}, no milk (your client cannot be asked)."
    form: JsonObject = {"message": f"How do you like your {tea}?", "requestedSchema": ORDER_FORM}
    answer = call.ask("elicitation/create", form)
    if answer.get("action") != "accept":
        return f"Nothing was ordered: the answer was {answer.get('action')}."
    wish = as_object(answer.get("content"))
    return f"One {wish.get('size')} of {tea}, {'with' if wish.get('milk') else 'no'} milk."


def recommend(call: Call) -> str:
    if "sampling" not in call.client:
        return "We recommend the assam (your client has no model that we may ask)."
    words = text(f"Choose one tea and say why: {', '.join(TEAS)}.")
    messages = [{"role": "user", "content": words}]
    answer = call.ask("sampling/createMessage", {"messages": messages, "maxTokens": 100})
    content = answer.get("content")
    blocks = [as_object(block) for block in as_list(content) or [content]]
    said = " ".join(str(block["text"]) for block in blocks if "text" in block)
    return f"{answer.get('model')} recommends: {said}"


def folders(call: Call) -> str:
    if "roots" not in call.client:
        return "Your client shows us no folders."
    roots = as_list(call.ask("roots/list").get("roots"))
    return "\n".join(str(as_object(root).get("uri")) for root in roots) or "There are no folders."


def vintage(call: Call) -> str:
    return "A pu-erh of 1998."


def refund(call: Call) -> str:
    call.session.log("error", "the till is jammed")
    raise ToolError("The till is jammed. Please come back tomorrow.")


def main() -> None:
    options = argparse.ArgumentParser(description="A tea shop that speaks MCP as of 2025.")
    options.add_argument("--journal", metavar="PATH", help="append every message to this file")
    journal_path = cast("str | None", options.parse_args().journal)  # argparse types nothing
    with (
        open(journal_path or os.devnull, "a", encoding="utf-8") as journal,
        ThreadPoolExecutor(max_workers=256) as pool,
    ):
        wire = Wire(journal if journal_path else None)
        session = Session(wire, pool, Shop())
        try:
            for message in wire.messages():
                session.handle(message)
        finally:
            session.close()


if __name__ == "__main__":
    main()
