"""Prints the demo's conversation so that it can be followed at a glance.

Lives here: who said what to whom, abridged, in colour when asked. Does not: the conversation and
what is expected of it (demo.py).
"""

import json
from collections.abc import Callable

from mcp_era_bridge.old_session import JsonObject, as_list, as_object

PREFIX = "io.modelcontextprotocol/"
VERSION_KEY = PREFIX + "protocolVersion"
TEXT_LIMIT, LINE_LIMIT = 50, 150
BOLD, CYAN, YELLOW, GREEN, RED, DIM = "1", "36", "33", "32", "1;31", "2"


class Printer:
    def __init__(self, write: Callable[[str], None], colour: bool) -> None:
        self._write = write
        self._colour = colour
        self._meta_shown = False

    def headline(self, number: int, words: str) -> None:
        self._line(f"\n{number}. {words}", BOLD)

    def from_host(self, message: JsonObject) -> None:
        self._line(f"   host -> bridge             {abridged(message)}", CYAN)
        meta = as_object(as_object(message.get("params")).get("_meta"))
        if meta and not self._meta_shown:
            self._meta_shown = True
            self._line(f"{'':29}every request carries this _meta, shown once in full:", DIM)
            for key, value in meta.items():
                self._line(f"{'':31}{key}: {json.dumps(value)}", DIM)

    def to_host(self, message: JsonObject) -> None:
        self._line(f"   host <- bridge             {abridged(message)}", CYAN)

    def to_server(self, message: JsonObject) -> None:
        self._line(f"           bridge -> server   {abridged(message)}", YELLOW)

    def from_server(self, message: JsonObject) -> None:
        self._line(f"           bridge <- server   {abridged(message)}", YELLOW)

    def good(self, words: str) -> None:
        self._line(f"   {words}", GREEN)

    def bad(self, words: str) -> None:
        for line in words.splitlines():
            self._line(f"   {line}", RED)

    def summary(self, words: str, good: bool) -> None:
        self._line(f"\n{words}", GREEN if good else RED)

    def _line(self, line: str, style: str) -> None:
        self._write(f"\x1b[{style}m{line}\x1b[0m\n" if self._colour else line + "\n")


def abridged(message: JsonObject) -> str:
    """One JSON-RPC message on one line: its id, what it is, and the gist of what it carries."""
    parts = [f"#{message['id']}"] if "id" in message else []
    error = as_object(message.get("error"))
    if "method" in message:
        parts += [str(message["method"]), gist(message.get("params"))]
    elif error:
        data = {"data": error["data"]} if error.get("data") else None
        parts += [f"error {error.get('code')} {error.get('message')}", gist(data)]
    else:
        parts += ["result", gist(message.get("result"))]
    return cut(" ".join(part for part in parts if part), LINE_LIMIT)


def gist(value: object) -> str:
    items, members = as_list(value), as_object(value)
    if items:
        names = [as_object(item).get("name") for item in items]
        named = [
            gist(i) if name is None else str(name) for i, name in zip(items, names, strict=True)
        ]
        return f"[{', '.join(named)}]"
    if "name" in members and "version" in members:  # an Implementation
        return f"{members['name']} {members['version']}"
    if members:
        # The short ones first, so that they are not what is cut off.
        in_order = sorted(members.items(), key=lambda item: is_long(item[1]))
        return "{" + ", ".join(member(key, inner) for key, inner in in_order) + "}"
    if isinstance(value, str):
        return cut(json.dumps(value), TEXT_LIMIT)
    return "" if value is None else json.dumps(value)


def is_long(value: object) -> bool:
    """Whether a member's value has something inside it that takes room."""
    return isinstance(value, dict) or any(isinstance(i, dict | list) for i in as_list(value))


def member(key: str, value: object) -> str:
    if key == "_meta" and VERSION_KEY in as_object(value):
        return f"_meta{{{as_object(value)[VERSION_KEY]}, ...}}"
    return f"{key.removeprefix(PREFIX)}: {gist(value)}"


def cut(words: str, limit: int) -> str:
    return words if len(words) <= limit else words[: limit - 3] + "..."
