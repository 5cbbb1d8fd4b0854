"""Reads JSON as hosts do: with comments and commas before a closing bracket.

Lives here: the reader that says where everything is. Does not: what is edited (config_edit.py).
RFC 8259, and "JSON with Comments" as the VS Code documentation describes it.

The libraries for this that are well kept give values without places, or read JSON5, which hosts do
not; strings are left to the standard library.
"""

import json
import re

from mcp_era_bridge.config_text import DEEPEST, BadText, Literal, Member, Node

_SPACE = re.compile(r"(?:[ \t\r\n]+|//[^\n]*|/\*.*?\*/)*", re.DOTALL)
_NUMBER = re.compile(r"-?(?:0|[1-9][0-9]*)(?:\.[0-9]+)?(?:[eE][-+]?[0-9]+)?")
_DECODER = json.JSONDecoder()
_WORDS = {"true": True, "false": False, "null": None}


def parse(text: str) -> Node:
    """The tree of a JSON text. Raises BadText."""
    reader = _Reader(text)
    node = reader.value(reader.space(0), 0)
    end = reader.space(node.end)
    if end < len(text):
        raise BadText("expected the end of the file", text, end)
    return node


def skip(text: str, at: int) -> int:
    """The place of what follows spaces and comments."""
    match = _SPACE.match(text, at)
    return match.end() if match else at


def quote(word: str) -> str:
    """A word as a string of JSON."""
    return json.dumps(word, ensure_ascii=False)


class _Reader:
    def __init__(self, text: str) -> None:
        self._text = text

    def space(self, at: int) -> int:
        return skip(self._text, at)

    def value(self, at: int, depth: int) -> Node:
        text = self._text
        if depth > DEEPEST:
            raise BadText("nested too deep", text, at)
        first = text[at : at + 1]
        if first == "{":
            return self._map(at, depth)
        if first == "[":
            return self._list(at, depth)
        if first == '"':
            string, end = self._string(at)
            return Node(at, end, string)
        for word, meaning in _WORDS.items():
            if text.startswith(word, at):
                return Node(at, at + len(word), meaning)
        number = _NUMBER.match(text, at)
        if number is None:
            raise BadText("expected a value", text, at)
        return Node(at, number.end(), Literal(number[0]))

    def _string(self, at: int) -> tuple[str, int]:
        try:
            string, end = _DECODER.raw_decode(self._text, at)
        except json.JSONDecodeError as error:
            raise BadText(error.msg[:1].lower() + error.msg[1:], self._text, error.pos) from error
        return str(string), end

    def _list(self, start: int, depth: int) -> Node:
        items: list[Node] = []
        at = self.space(start + 1)
        while not self._text.startswith("]", at):
            item = self.value(at, depth + 1)
            items.append(item)
            at = self._comma(item.end, "]")
        return Node(start, at + 1, items=items)

    def _map(self, start: int, depth: int) -> Node:
        members: list[Member] = []
        at = self.space(start + 1)
        while not self._text.startswith("}", at):
            if not self._text.startswith('"', at):
                raise BadText('expected a key in "double quotes"', self._text, at)
            key, end = self._string(at)
            colon = self.space(end)
            if not self._text.startswith(":", colon):
                raise BadText("expected a colon", self._text, colon)
            node = self.value(self.space(colon + 1), depth + 1)
            members.append(Member(key, at, end, node))
            at = self._comma(node.end, "}")
        return Node(start, at + 1, members=members)

    def _comma(self, at: int, closing: str) -> int:
        at = self.space(at)
        if self._text.startswith(",", at):
            return self.space(at + 1)
        if not self._text.startswith(closing, at):
            raise BadText(f"expected a comma or {closing}", self._text, at)
        return at
