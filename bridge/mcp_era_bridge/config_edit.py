"""Puts the bridge in front of servers and takes it away, by editing as little text as can be.

Lives here: which spans change, so that taking away what was put there gives the same bytes, and the
proof that nothing else was changed. Does not: which servers (config_change.py), files.

A command's text moves into the list of arguments as it is written, and back again. Where there was
no list, one is added in a form that is known again: with one space inside of each bracket.
"""

import re
from collections.abc import Sequence
from types import ModuleType

from mcp_era_bridge import config_json, config_toml, config_yaml
from mcp_era_bridge.config_servers import WRAPPED, Server
from mcp_era_bridge.config_text import Argv, BadText, Comparison, Edit, Member, Node, edited

_INDENT = re.compile(r"[ \t]*")
_COLON = re.compile(r"[ \t]*[:=][ \t]*")
_LINE_END = re.compile(r"\r?\n|\Z")


class Refused(Exception):
    """A server cannot be changed; the text says why, and what to do."""


def wrap(
    text: str, format: ModuleType, top: Node, chosen: Sequence[Server], words: Sequence[str]
) -> str:
    """The text with `words` in front of the chosen servers' commands. Raises Refused."""
    edits: list[Edit] = []
    changed: dict[int, Argv] = {}
    for server in chosen:
        edits += _Change(text, format, server).wrap(words)
        argv = [*words, *server.argv]
        changed[id(server.node)] = Argv(_command(server).key, argv[0], argv[1:])
    return _proven(text, format, top, edits, changed)


def unwrap(text: str, format: ModuleType, top: Node, chosen: Sequence[Server]) -> str:
    """The text without the bridge in front of the chosen servers. Raises Refused."""
    edits: list[Edit] = []
    changed: dict[int, Argv] = {}
    for server in chosen:
        edits += _Change(text, format, server).unwrap()
        argv = server.inner
        changed[id(server.node)] = Argv(_command(server).key, argv[0], list(argv[1:]))
    return _proven(text, format, top, edits, changed)


def _proven(
    text: str, format: ModuleType, top: Node, edits: list[Edit], changed: dict[int, Argv]
) -> str:
    new = edited(text, edits)
    try:
        same = Comparison(changed).same(top, format.parse(new))
    except BadText:
        same = False
    if not same:
        raise Refused(
            "the change would have touched more than these servers' command and args (the text may"
            " be used in two places, as by an anchor). Change it by hand."
        )
    return new


def _command(server: Server) -> Member:
    if server.command is None or server.fault:
        raise Refused(f"{server.name!r} cannot be changed: {server.fault or 'it has no command'}.")
    return server.command


class _Change:
    """The edits for one server."""

    def __init__(self, text: str, format: ModuleType, server: Server) -> None:
        self._text = text
        self._format = format
        self._server = server
        self._command = _command(server)
        self._args = server.args
        self._in_lines = server.node.block

    def wrap(self, words: Sequence[str]) -> list[Edit]:
        command = self._command.node
        word = self._server.argv[0]
        if not word.strip():
            raise Refused(f"the command of {self._server.name!r} is empty.")
        if re.search(r"\s", word) and not re.search(r"[\\/]", word):
            raise Refused(
                f"the command of {self._server.name!r} is a whole command line, {word!r}. Put its"
                " first word into command and the others into args, then try again."
            )
        in_flow = self._args is None or not self._args.node.block
        tokens = [self._format.quote(w) for w in (*words[1:],)] + [self._token(command, in_flow)]
        into = self._added(tokens) if self._args is None else self._inserted(self._args, tokens)
        return [Edit(command.start, command.end, self._format.quote(words[0])), into]

    def unwrap(self) -> list[Edit]:
        wrapping = self._server.wrapping
        args = self._args
        items = args.node.items if args is not None else None
        if self._server.state != WRAPPED or wrapping is None or args is None or items is None:
            raise Refused(f"{self._server.name!r} is not behind the bridge.")
        if wrapping.problem is not None:
            raise Refused(
                f"{self._server.name!r} cannot be taken from behind the bridge:"
                f" {wrapping.problem}. Change it by hand."
            )
        if wrapping.bridge > 0:  # behind `cmd /c` or `env A=B`, which stay
            return [self._removed(args, wrapping.bridge - 1, wrapping.server - 2)]
        command = self._command.node
        moved = self._token(items[wrapping.server - 1], False)
        self._token(command, False)
        return [
            Edit(command.start, command.end, moved),
            self._removed(args, 0, wrapping.server - 1),
        ]

    def _token(self, node: Node, in_flow: bool) -> str:
        """The text of a scalar that is to stand in another place."""
        token = self._text[node.start : node.end]
        if self._format is config_yaml:
            plain = token[:1] not in ("'", '"')
            flow = bool(in_flow and plain and re.search(r"[\[\]{},]|:$", token))
            if node.alias or flow or "\n" in token or token[:1] in ("&", "!", "*", "|", ">"):
                raise Refused(
                    f"a word of {self._server.name!r} is written in a way that cannot be moved:"
                    f" {token.splitlines()[0] if token else '(empty)'}. Write it in quotes, then"
                    " try again."
                )
        return token

    # A list that is there ---------------------------------------------------------------------

    def _inserted(self, args: Member, tokens: list[str]) -> Edit:
        node = args.node
        items = node.items or []
        if node.alias:
            raise Refused(f"the args of {self._server.name!r} are an alias. Change it by hand.")
        if not items:
            return Edit(node.start + 1, node.start + 1, ", ".join(tokens))
        if node.block:
            between = self._newline(node.start) + " " * self._column(node.start)
            return Edit(node.start, node.start, "".join(f"- {t}{between}" for t in tokens))
        first = items[0].start
        space = self._text[len(self._text[:first].rstrip(" \t\r\n")) : first]
        comma = "," + (space if "\n" in space else " ")
        return Edit(first, first, "".join(token + comma for token in tokens))

    def _removed(self, args: Member, first: int, last: int) -> Edit:
        """The entries from `first` to `last` are taken out of the list."""
        node = args.node
        items = node.items or []
        if node.block:
            return self._removed_lines(args, first, last)
        if last + 1 < len(items):
            return Edit(items[first].start, items[last + 1].start, "")
        if first > 0:
            return Edit(items[first - 1].end, items[last].end, "")
        span = self._added_span(args)
        if span is not None:
            return Edit(*span, "")
        end = items[last].end
        comma = self._format.skip(self._text, end)
        if self._text.startswith(",", comma):
            end = comma + 1
        return Edit(items[0].start, end, "")

    def _removed_lines(self, args: Member, first: int, last: int) -> Edit:
        node = args.node
        items = node.items or []
        dashes = [self._dash(node, number) for number in range(len(items))]
        if last + 1 < len(items):
            return Edit(dashes[first], dashes[last + 1], "")
        if first > 0:
            return Edit(self._end_of_line(items[first - 1].end), items[last].end, "")
        deeper = self._column(node.start) > self._column(args.start)
        return Edit(node.start, items[last].end, "[]" if deeper else " []")

    def _dash(self, node: Node, number: int) -> int:
        """Where the dash of an entry is: the next after the entry before it and comments."""
        items = node.items or []
        if number == 0:
            return node.start
        return int(self._format.skip(self._text, items[number - 1].end))

    # A list that is not there -----------------------------------------------------------------

    def _added(self, tokens: list[str]) -> Edit:
        command = self._command
        text = self._text
        key = f"{command.path}args"
        if text[command.start : command.end][:1] == '"' and self._format is config_json:
            key = '"args"'
        colon = _COLON.fullmatch(text, command.end, command.node.start)
        default = " = " if self._format is config_toml else ": "
        value = f"{colon[0] if colon else default}[ {', '.join(tokens)} ]"
        if self._in_lines:
            at = self._end_of_line(command.node.end)
            return Edit(at, at, self._newline(at) + self._indent() + key + value)
        before = text[: command.start]
        space = before[len(before.rstrip(" \t\r\n")) :]
        at = command.node.end
        return Edit(at, at, "," + (space if "\n" in space else " ") + key + value)

    def _added_span(self, args: Member) -> tuple[int, int] | None:
        """What `_added` has put there, if it is still as it was."""
        text, node, command = self._text, args.node, self._command
        items = node.items or []
        marked = (
            text[node.start : items[0].start] == "[ " and text[items[-1].end : node.end] == " ]"
        )
        if not marked:
            return None
        key = args.start - len(args.path)
        if self._in_lines:
            at = self._end_of_line(command.node.end)
            known = re.fullmatch(r"\r?\n[ \t]*", text[at:key])
        else:
            at = command.node.end
            known = re.fullmatch(r",[ \t\r\n]*", text[at:key])
        return (at, node.end) if known else None

    def _end_of_line(self, at: int) -> int:
        """Where the line ends, before its line break."""
        match = _LINE_END.search(self._text, at)
        return match.start() if match else len(self._text)

    def _newline(self, at: int) -> str:
        """The line break that this part of the file has."""
        match = re.compile(r"\r?\n").search(self._text, at)
        if match is None:
            return "\r\n" if "\r\n" in self._text else "\n"
        return match[0]

    def _indent(self) -> str:
        """What stands before a key of the command's map at the beginning of a line."""
        start = self._command.start - len(self._command.path)
        if self._format is config_yaml:
            return " " * self._column(start)
        match = _INDENT.match(self._text, start - self._column(start))
        return match[0] if match else ""

    def _column(self, at: int) -> int:
        return at - (self._text.rfind("\n", 0, at) + 1)
