"""What a configuration file says and where it says it, whatever its format.

Lives here: the tree that the readers of JSON, TOML and YAML make, with the place of everything in
the text, and what an edit is. Does not: the formats themselves (config_json.py, config_toml.py,
config_yaml.py), what is a server in it (config_servers.py).

Files are never written anew from a tree: people's comments, order and spacing would be lost. The
tree only says which spans of the text to replace; all other bytes stay.
"""

from collections.abc import Iterable
from dataclasses import dataclass, field

DEEPEST = 200
"""Levels of nesting that are read; more would exhaust the stack, and no host's file has as many."""


class BadText(Exception):
    """The text is none of its format; says where."""

    def __init__(self, what: str, text: str, at: int) -> None:
        line = text.count("\n", 0, at) + 1
        column = at - (text.rfind("\n", 0, at) + 1) + 1
        super().__init__(f"line {line}, column {column}: {what}")


@dataclass(frozen=True)
class Literal:
    """A value that is neither a string, true, false nor null, as it is written."""

    text: str


Value = str | bool | Literal | None


@dataclass
class Node:
    """A value: a scalar, or a list if it has `items`, or a map if it has `members`.

    `start` and `end` are where it is in the text; -1 for a map of TOML that lies in several places.
    `block` says that a list or map of YAML is written with a line for each entry, and that a table
    of TOML is. `alias` says that the value is written elsewhere.
    """

    start: int
    end: int
    value: Value = None
    items: "list[Node] | None" = None
    members: "list[Member] | None" = None
    block: bool = False
    alias: bool = False

    def get(self, key: str) -> "Member | None":
        """The member called `key`; the last of several, as hosts have it."""
        for member in reversed(self.members or []):
            if member.key == key:
                return member
        return None

    def at(self, *keys: str) -> "Node | None":
        """What is found by following `keys`."""
        node = self
        for key in keys:
            member = node.get(key)
            if member is None:
                return None
            node = member.node
        return node

    def words(self) -> list[str] | None:
        """The entries of a list of scalars, as a command line has them."""
        if self.items is None:
            return None
        words: list[str] = []
        for item in self.items:
            if item.items is not None or item.members is not None:
                return None
            match item.value:
                case str():
                    words.append(item.value)
                case Literal():
                    words.append(item.value.text)
                case None:
                    words.append("null")
                case flag:
                    words.append("true" if flag else "false")
        return words


@dataclass
class Member:
    """One key of a map with its value; `start` and `end` are those of the key.

    `path` is what stands before the last part of a dotted key of TOML.
    """

    key: str
    start: int
    end: int
    node: Node
    path: str = ""


@dataclass(frozen=True)
class Edit:
    """The text from `start` to `end` is to be replaced by `by`."""

    start: int
    end: int
    by: str


def edited(text: str, edits: Iterable[Edit]) -> str:
    """The text after edits that do not overlap."""
    parts: list[str] = []
    at = 0
    for edit in sorted(edits, key=lambda e: (e.start, e.end)):
        assert edit.start >= at, "edits overlap"
        parts += (text[at : edit.start], edit.by)
        at = edit.end
    return "".join([*parts, text[at:]])


def quoted(word: str) -> str:
    """A word in double quotes, as TOML and YAML both have it."""

    def escaped(c: str) -> str:
        if c in '"\\':
            return "\\" + c
        if c.isprintable():
            return c
        return f"\\u{ord(c):04x}" if ord(c) < 0x10000 else f"\\U{ord(c):08x}"

    return '"' + "".join(map(escaped, word)) + '"'


def duplicates(node: Node) -> list[str]:
    """Keys that a map has more than once."""
    seen: set[str] = set()
    twice: list[str] = []
    for member in node.members or []:
        if member.key in seen and member.key not in twice:
            twice.append(member.key)
        seen.add(member.key)
    return twice


@dataclass(frozen=True)
class Argv:
    """What the command and the arguments of one server are to be."""

    command_key: str
    command: str
    args: list[str]


@dataclass
class Comparison:
    """Whether two trees say the same but for the commands that were meant to change.

    `changed` has the maps of the old tree that hold such a command, by their identity.
    """

    changed: dict[int, Argv] = field(default_factory=dict[int, Argv])

    def same(self, old: Node, new: Node) -> bool:
        """Compares recursively; an argument list may appear or go if it is empty on one side."""
        if old.items is not None or new.items is not None:
            ours, theirs = old.items, new.items
            return (
                ours is not None
                and theirs is not None
                and len(ours) == len(theirs)
                and all(map(self.same, ours, theirs))
            )
        if old.members is None or new.members is None:
            return old.members is new.members and old.value == new.value
        wanted = self.changed.get(id(old))
        if wanted is None:
            return self._same_members(old.members, new.members)
        command, args = new.at(wanted.command_key), new.at("args")
        return (
            command is not None
            and command.value == wanted.command
            and (args.words() if args is not None else []) == wanted.args
            and self._same_members(
                [m for m in old.members if m.key not in (wanted.command_key, "args")],
                [m for m in new.members if m.key not in (wanted.command_key, "args")],
            )
        )

    def _same_members(self, old: list[Member], new: list[Member]) -> bool:
        return [m.key for m in old] == [m.key for m in new] and all(
            self.same(was.node, now.node) for was, now in zip(old, new, strict=True)
        )
