"""Reads TOML, and says where everything is.

Lives here: the places of keys and values. Does not: what is valid, which the standard library
judges first; so this need not understand what it has already refused. TOML 1.0.
"""

import re
import tomllib

from mcp_era_bridge.config_text import DEEPEST, BadText, Literal, Member, Node, Value, quoted

_SPACE = re.compile(r"(?:[ \t\r\n]+|#[^\n]*)*")
_BLANK = re.compile(r"[ \t]*")
_BARE_KEY = re.compile(r"[A-Za-z0-9_-]+")
_STRINGS = (
    re.compile(r'"""(?:[^"\\]|\\.|"(?!""))*"{3,5}', re.DOTALL),
    re.compile(r"'''(?:[^']|'(?!''))*'{3,5}", re.DOTALL),
    re.compile(r'"(?:[^"\\\n]|\\.)*"'),
    re.compile(r"'[^'\n]*'"),
)
_OTHER = re.compile(r"[^,\]}#\r\n]+")


def parse(text: str) -> Node:
    """The tree of a TOML text. Raises BadText."""
    try:
        tomllib.loads(text)
    except tomllib.TOMLDecodeError as error:
        raise BadText(*_where(str(error), text)) from error
    except RecursionError as error:
        raise BadText("nested too deep", text, 0) from error
    return _Reader(text).document()


def skip(text: str, at: int) -> int:
    """The place of what follows spaces and comments."""
    match = _SPACE.match(text, at)
    return match.end() if match else at


def quote(word: str) -> str:
    """A word as a string of TOML."""
    return quoted(word)


def _where(message: str, text: str) -> tuple[str, str, int]:
    """The library's message, apart from the place that it names."""
    match = re.search(r" \(at (?:line (\d+), column (\d+)|end of document)\)$", message)
    if match is None:
        return message, text, 0
    what = message[: match.start()]
    if match[1] is None:
        return what, text, len(text)
    at = 0
    for _ in range(int(match[1]) - 1):
        at = text.index("\n", at) + 1
    return what[:1].lower() + what[1:], text, at + int(match[2]) - 1


class _Reader:
    def __init__(self, text: str) -> None:
        self._text = text
        self._root = Node(-1, -1, members=[], block=True)

    def document(self) -> Node:
        table = self._root
        text = self._text
        at = skip(text, 0)
        while at < len(text):
            if text.startswith("[", at):
                table, at = self._header(at)
            else:
                at = self._pair(table, at, 0)
            at = skip(text, at)
        return self._root

    def _header(self, at: int) -> tuple[Node, int]:
        several = self._text.startswith("[[", at)
        keys, at = self._key(_after(_BLANK, self._text, at + 1 + several))
        if not several:
            return self._down(self._root, keys), at + 1
        table = self._down(self._root, keys[:-1])
        key, start, end = keys[-1]
        member = table.get(key)
        if member is None:
            member = Member(key, start, end, Node(-1, -1, items=[]))
            _members(table).append(member)
        new = Node(-1, -1, members=[], block=True)
        _items(member.node).append(new)
        return new, at + 2

    def _down(self, table: Node, keys: list[tuple[str, int, int]]) -> Node:
        """The table that is reached by `keys`, made if it is not there."""
        for key, start, end in keys:
            member = table.get(key)
            if member is None:
                member = Member(key, start, end, Node(-1, -1, members=[], block=True))
                _members(table).append(member)
            table = member.node
            if table.items:  # the last one of an array of tables
                table = table.items[-1]
        return table

    def _pair(self, table: Node, at: int, depth: int) -> int:
        keys, at = self._key(at)
        table = self._down(table, keys[:-1])
        key, start, end = keys[-1]
        equals = self._text.index("=", at)
        node = self.value(_after(_BLANK, self._text, equals + 1), depth)
        path = self._text[keys[0][1] : start]
        _members(table).append(Member(key, start, end, node, path))
        return node.end

    def _key(self, at: int) -> tuple[list[tuple[str, int, int]], int]:
        """The parts of a dotted key with their places, and the place behind it."""
        parts: list[tuple[str, int, int]] = []
        while True:
            bare = _BARE_KEY.match(self._text, at)
            if bare is not None:
                part = bare[0], at, bare.end()
            else:
                quoted = self._string(at)
                part = str(quoted.value), at, quoted.end
            parts.append(part)
            at = _after(_BLANK, self._text, part[2])
            if not self._text.startswith(".", at):
                return parts, at
            at = _after(_BLANK, self._text, at + 1)

    def value(self, at: int, depth: int) -> Node:
        text = self._text
        if depth > DEEPEST:
            raise BadText("nested too deep", text, at)
        first = text[at]
        if first in "\"'":
            return self._string(at)
        if first == "[":
            return self._list(at, depth)
        if first == "{":
            return self._map(at, depth)
        other = _OTHER.match(text, at)
        if other is None:
            raise BadText("expected a value", text, at)
        word = other[0].rstrip()
        value: Value = {"true": True, "false": False}.get(word, Literal(word))
        return Node(at, at + len(word), value)

    def _string(self, at: int) -> Node:
        for form in _STRINGS:
            match = form.match(self._text, at)
            if match is not None:
                return Node(at, match.end(), tomllib.loads(f"v = {match[0]}")["v"])
        raise BadText("expected a string", self._text, at)

    def _list(self, start: int, depth: int) -> Node:
        items: list[Node] = []
        at = skip(self._text, start + 1)
        while not self._text.startswith("]", at):
            items.append(self.value(at, depth + 1))
            at = self._comma(items[-1].end)
        return Node(start, at + 1, items=items)

    def _map(self, start: int, depth: int) -> Node:
        node = Node(start, start, members=[])
        at = skip(self._text, start + 1)
        while not self._text.startswith("}", at):
            at = self._comma(self._pair(node, at, depth + 1))
        node.end = at + 1
        return node

    def _comma(self, at: int) -> int:
        at = skip(self._text, at)
        return skip(self._text, at + 1) if self._text.startswith(",", at) else at


def _after(pattern: re.Pattern[str], text: str, at: int) -> int:
    match = pattern.match(text, at)
    return match.end() if match else at


def _members(node: Node) -> list[Member]:
    assert node.members is not None, "the library lets no other value be taken for a table"
    return node.members


def _items(node: Node) -> list[Node]:
    assert node.items is not None, "the library lets no other value be taken for an array"
    return node.items
