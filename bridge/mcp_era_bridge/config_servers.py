"""Finds the servers in a configuration file, and says what state each is in.

Lives here: what counts as a server, its command, whether it is behind the bridge. Does not: where
the files are (config_hosts.py), what is changed in them (config_edit.py).
"""

from collections.abc import Iterator
from dataclasses import dataclass
from types import ModuleType

from mcp_era_bridge.config_bridge import Wrapping, find
from mcp_era_bridge.config_text import BadText, Member, Node, duplicates

WRAPPED, PLAIN, URL, DISABLED, OTHER = "wrapped", "plain", "url", "disabled", "other"
"""The states of a server; `other` is one that its host has built in, or that makes no sense."""

_URLS = ("url", "serverUrl", "httpUrl", "uri", "endpoint")
_STDIO = "stdio"


@dataclass(frozen=True)
class Where:
    """A place in a file where servers are: `keys` lead there, and `*` is any key.

    `named_by` is the key of a server's name where servers are a list. With `single`, the map is
    itself one server. `excluded` leads to a list of names that the host leaves out; it starts where
    the first `*` of `keys` is, or at the top.
    """

    keys: tuple[str, ...]
    scope: str = ""
    named_by: str = ""
    single: bool = False
    excluded: tuple[str, ...] = ()


@dataclass(frozen=True)
class Server:
    """One server of a file.

    `node` is the map that holds `command` and `args`. `project` is the folder that the server is
    for, where a host keeps that in its user's file.
    """

    name: str
    state: str
    node: Node
    command: Member | None
    argv: tuple[str, ...]
    wrapping: Wrapping | None
    enabled: bool
    scope: str
    project: str
    url: str
    environment: tuple[tuple[str, str], ...]
    fault: str

    @property
    def args(self) -> Member | None:
        """The member that holds the arguments, if it is there."""
        return self.node.get("args")

    @property
    def options(self) -> tuple[str, ...]:
        """The options of the bridge in front of the server."""
        if self.wrapping is None:
            return ()
        words = self.argv[self.wrapping.options : self.wrapping.server]
        return words[:-1] if words[-1:] == ("--",) else words

    @property
    def inner(self) -> tuple[str, ...]:
        """The server's own command and arguments, without the bridge."""
        if self.wrapping is None or self.wrapping.problem is not None:
            return self.argv
        # Whatever starts the bridge as any other command starts the server just the same.
        return self.argv[: self.wrapping.bridge] + self.argv[self.wrapping.server :]


def read(text: str, format: ModuleType) -> Node:
    """The tree of a file; one without any content has no servers. Raises BadText."""
    if not text.strip():
        return Node(0, 0, members=[])
    node: Node = format.parse(text)
    if node.members is None:
        raise BadText("expected a map at the top", text, node.start)
    return node


def servers(top: Node, places: tuple[Where, ...], scope: str, stem: str) -> list[Server]:
    """All servers of a file. `stem` names one that the file holds alone."""
    found: list[Server] = []
    for place in places:
        for node, project, excluded in _reached(top, place):
            for name, entry in _entries(node, place, stem):
                found.append(_server(name, entry, place.scope or scope, project, name in excluded))
    return found


def repeated(top: Node, places: tuple[Where, ...]) -> list[str]:
    """Names that stand for several servers in one map; hosts take the last."""
    names: list[str] = []
    for place in places:
        if not place.single:
            for node, _, _ in _reached(top, place):
                names += duplicates(node)
    return names


def misplaced(top: Node, places: tuple[Where, ...]) -> list[str]:
    """What stands where a map of servers is expected; hosts then start none, or not at all."""
    faults: list[str] = []
    for place in places:
        if place.single or place.named_by:
            continue
        for node, above, _ in _reached(top, place):
            if node.members is None:
                inside = f" (in {above!r})" if above else ""
                faults.append(f"{place.keys[-1]} is {_kind(node)}, a map is expected{inside}")
    return list(dict.fromkeys(faults))


def _kind(node: Node) -> str:
    if node.items is not None:
        return "a list"
    if node.value is None:
        return "null"
    return "a string" if isinstance(node.value, str) else "a single value"


def _reached(top: Node, place: Where) -> Iterator[tuple[Node, str, list[str]]]:
    """The maps that a place leads to, with the key that a `*` was, and the excluded names."""
    if "*" not in place.keys:
        node = top.at(*place.keys)
        if node is not None:
            yield node, "", _names(top.at(*place.excluded) if place.excluded else None)
        return
    star = place.keys.index("*")
    above = top.at(*place.keys[:star])
    for member in (above.members if above else None) or []:
        node = member.node.at(*place.keys[star + 1 :])
        if node is not None:
            excluded = member.node.at(*place.excluded) if place.excluded else None
            yield node, member.key, _names(excluded)


def _names(node: Node | None) -> list[str]:
    return (node.words() if node else None) or []


def _entries(node: Node, place: Where, stem: str) -> Iterator[tuple[str, Node]]:
    if place.single:
        if isinstance(_value(node, "command"), str):
            yield stem, node
    elif place.named_by:
        for number, item in enumerate(node.items or [], 1):
            name = _value(item, place.named_by)
            yield name if isinstance(name, str) else f"#{number}", item
    else:
        for name in dict.fromkeys(member.key for member in node.members or []):
            member = node.get(name)
            if member is not None:
                yield name, member.node


def _server(name: str, entry: Node, scope: str, project: str, excluded: bool) -> Server:
    node, command = _command(entry)
    args = node.get("args")
    fault = ""
    words: list[str] | None = []
    if args is not None and (args.node.items is not None or args.node.value is not None):
        words = args.node.words()
    if command is not None and not isinstance(command.node.value, str):
        fault = "its command is no string"
    elif args is not None and (words is None or args.node.items is None):
        fault = "its args are no list of words"
    word = command.node.value if command is not None else None
    argv = (word, *(words or [])) if isinstance(word, str) else ()
    url = next((u for key in _URLS if isinstance(u := _value(node, key), str)), "")
    kind = _value(node, "type") or _value(entry, "type") or _STDIO
    enabled = not (
        excluded or _value(entry, "disabled") is True or _value(entry, "enabled") is False
    )
    wrapping = find(argv)
    if url:
        state = URL
    elif not argv or kind != _STDIO:
        state = OTHER
    elif wrapping is not None:
        state = WRAPPED
    else:
        state = PLAIN if enabled else DISABLED
    return Server(
        name,
        state,
        node,
        command,
        argv,
        wrapping,
        enabled,
        scope,
        project,
        url,
        _environment(node, entry),
        fault,
    )


def _command(entry: Node) -> tuple[Node, Member | None]:
    """The map that holds the command, and the command in it.

    Older files of Zed have the command in a map of its own, newer ones of Cline the transport.
    """
    for key, inner in (("command", "path"), ("transport", "command")):
        nested = entry.at(key)
        if nested is not None and nested.get(inner) is not None:
            return nested, nested.get(inner)
    return entry, entry.get("command") or entry.get("cmd")


def _environment(*nodes: Node) -> tuple[tuple[str, str], ...]:
    for node in nodes:
        for key in ("env", "envs"):
            found = node.at(key)
            if found is not None:
                pairs = [(m.key, m.node.value) for m in found.members or []]
                return tuple((name, value) for name, value in pairs if isinstance(value, str))
    return ()


def _value(node: Node, key: str) -> object:
    found = node.at(key)
    return found.value if found is not None else None
