"""Configuration files of every kind that people write, for property tests: a text and what it says.

Lives here: strategies of hypothesis. The value that a text was made from is the truth that readers
are held to, so that they are not their own judges.
"""

import json
from collections.abc import Callable
from dataclasses import dataclass
from types import ModuleType

from hypothesis import strategies as st

from mcp_era_bridge import config_json, config_toml, config_yaml
from mcp_era_bridge.config_servers import Where
from mcp_era_bridge.config_text import Literal, Node

Plain = str | bool | int | None | list["Plain"] | dict[str, "Plain"]
Draw = Callable[[st.SearchStrategy[str]], str]

NAMES = st.sampled_from(["time", "git", "a b", "server-1", "ä", "x.y", "*", "command", "args"])
WORDS = st.one_of(
    st.sampled_from(
        [
            *("npx", "-y", "--", "uvx", "/opt/a b/c", "C:\\Program Files\\x\\y.exe", "--key=ä"),
            *("", "#", "# no comment", "// neither", 'say "hi"', "it's", "a,b", "[x]", "{y}", "@z"),
            *(
                "true",
                "1",
                "null",
                "~",
                "yes",
                "a: b",
                "&a",
                "*b",
                "!c",
                "|",
                "%d",
                "${V}",
                "\u2028",
            ),
        ]
    ),
    st.text(st.characters(codec="utf-8", exclude_categories=["Cs"]), max_size=8),
)
COMMANDS = st.sampled_from(
    ["npx", "uvx", "python3", "/usr/bin/env-like", "C:\\Program Files\\node\\npx.cmd", "./run", "ü"]
)


@dataclass(frozen=True)
class Sample:
    """A text, its format, what it says, and where its servers are."""

    text: str
    format: ModuleType
    value: Plain
    where: Where

    def command_of(self, name: str) -> dict[str, Plain]:
        """What the text says of one server."""
        found = self.value
        for key in self.where.keys:
            assert isinstance(found, dict)
            found = found[key]
        if isinstance(found, list):
            found = {str(item["name"]): item for item in found if isinstance(item, dict)}
        assert isinstance(found, dict)
        server = found[name]
        assert isinstance(server, dict)
        return server


def plain(node: Node) -> Plain:
    """What a tree says, without places."""
    if node.items is not None:
        return [plain(item) for item in node.items]
    if node.members is not None:
        return {member.key: plain(member.node) for member in node.members}
    if isinstance(node.value, Literal):
        return int(node.value.text)
    return node.value


@st.composite
def _server(draw: st.DrawFn) -> dict[str, Plain]:
    server: dict[str, Plain] = {"command": draw(COMMANDS)}
    if draw(st.booleans()):
        server["args"] = list[Plain](draw(st.lists(WORDS, max_size=4)))
    if draw(st.booleans()):
        server["env"] = dict[str, Plain](draw(st.dictionaries(NAMES, WORDS, max_size=2)))
    if draw(st.booleans()):
        server["timeout"] = draw(st.integers(0, 99))
    if draw(st.booleans()):
        server["trust"] = draw(st.booleans())
    keys = draw(st.permutations(list(server)))
    return {key: server[key] for key in keys}


_SERVERS = st.dictionaries(NAMES, _server(), min_size=1, max_size=3)


class _Json:
    """Writes JSON as untidily as people may."""

    def __init__(self, draw: st.DrawFn) -> None:
        self._draw = draw
        newline = draw(st.sampled_from(["\n", "\r\n"]))
        spaces = ["", "", " ", "  ", "\t", f"{newline}  ", f"{newline}\t\t", " /* , ] } */ "]
        self._space = st.sampled_from([*spaces, f" // it's{newline}    "])

    def space(self) -> str:
        return self._draw(self._space)

    def text(self, value: Plain) -> str:
        return self.space() + self.value(value) + self.space()

    def value(self, value: Plain) -> str:
        if isinstance(value, dict):
            pairs = [f"{self.string(k)}{self.space()}:{self.text(v)}" for k, v in value.items()]
            return "{" + self._joined(pairs) + "}"
        if isinstance(value, list):
            return "[" + self._joined([self.value(item) for item in value]) + "]"
        return self.string(value) if isinstance(value, str) else json.dumps(value)

    def string(self, value: str) -> str:
        return json.dumps(value, ensure_ascii=self._draw(st.booleans()))

    def _joined(self, parts: list[str]) -> str:
        joined = ",".join(self.space() + part + self.space() for part in parts)
        trailing = self._draw(st.sampled_from(["", ","])) if parts else ""
        return (joined + trailing or self.space()) + self.space()


@st.composite
def json_samples(draw: st.DrawFn) -> Sample:
    servers = draw(_SERVERS)
    keys = draw(st.sampled_from([("mcpServers",), ("mcp", "servers")]))
    value: dict[str, Plain] = dict(servers)
    for key in reversed(keys):
        value = {"before": ["x", 1], key: value, "after": None}
    return Sample(_Json(draw).text(value), config_json, value, Where(keys))


class _Toml:
    """Writes the three ways in which TOML has a server."""

    def __init__(self, draw: st.DrawFn) -> None:
        self._draw = draw
        self._newline = draw(st.sampled_from(["\n", "\r\n"]))

    def string(self, value: str) -> str:
        literal = "'" not in value and value.isprintable() and self._draw(st.booleans())
        return f"'{value}'" if literal else config_toml.quote(value)

    def key(self, value: str) -> str:
        bare = value.isascii() and value.replace("-", "").isalnum()
        return value if bare and self._draw(st.booleans()) else self.string(value)

    def comment(self) -> str:
        return self._draw(st.sampled_from(["", "", " # it's", "\t#[x]"])) + self._newline

    def value(self, value: Plain) -> str:
        if isinstance(value, dict):
            pairs = [f"{self.key(key)} = {self.value(item)}" for key, item in value.items()]
            return "{" + ", ".join(pairs) + "}"
        if isinstance(value, list):
            return self._list(value)
        return self.string(value) if isinstance(value, str) else json.dumps(value)

    def _list(self, value: list[Plain]) -> str:
        items = [self.value(item) for item in value]
        if self._draw(st.booleans()):
            return f"[{self._draw(st.sampled_from(['', ' ']))}{', '.join(items)}]"
        lines = "".join(f"  {item},{self.comment()}" for item in items)
        return f"[{self.comment()}{lines}]"

    def document(self, servers: dict[str, dict[str, Plain]]) -> str:
        first: list[str] = [f'model = "x"{self.comment()}']
        tables: list[str] = []
        for name, server in servers.items():
            key = f"mcp_servers.{self.key(name)}"
            match self._draw(st.sampled_from(["table", "dotted", "inline"])):
                case "table":
                    indent = self._draw(st.sampled_from(["", "  ", "\t"]))
                    body = [f"{indent}{self.key(k)} = {self.value(v)}" for k, v in server.items()]
                    lines = [f"[{key}]", *body]
                    tables.append("".join(line + self.comment() for line in lines))
                case "dotted":
                    first += [
                        f"{key}.{self.key(k)} = {self.value(v)}{self.comment()}"
                        for k, v in server.items()
                    ]
                case _:
                    first.append(f"{key} = {self.value(server)}{self.comment()}")
        text = "".join([*first, *tables])
        return text if self._draw(st.booleans()) else text.rstrip()


@st.composite
def toml_samples(draw: st.DrawFn) -> Sample:
    servers = draw(_SERVERS)
    text = _Toml(draw).document(servers)
    # What stands first is at the top of the file, so the order in the value does not count.
    value: Plain = {"model": "x", "mcp_servers": dict(servers)}
    return Sample(text, config_toml, value, Where(("mcp_servers",)))


class _Yaml:
    """Writes maps and lists in lines or in brackets, and words with quotes or without."""

    def __init__(self, draw: st.DrawFn) -> None:
        self._draw = draw
        self._newline = draw(st.sampled_from(["\n", "\r\n"]))

    def word(self, value: Plain) -> str:
        if not isinstance(value, str):
            return json.dumps(value)
        styles = ["double"]
        if value and value.isprintable():
            styles.append("single")
            if (
                value[0].isalpha()
                and value.replace("-", "").isalnum()
                and value.lower() not in _TYPED
            ):
                styles += ["plain", "plain"]
        match self._draw(st.sampled_from(styles)):
            case "single":
                return "'" + value.replace("'", "''") + "'"
            case "plain":
                return value
            case _:
                return config_yaml.quote(value)

    def comment(self) -> str:
        return self._draw(st.sampled_from(["", "", " # it's"])) + self._newline

    def flow(self, value: Plain) -> str:
        if isinstance(value, dict):
            pairs = [f"{self.word(k)}: {self.flow(v)}" for k, v in value.items()]
            return "{" + ", ".join(pairs) + "}"
        if isinstance(value, list):
            return "[" + ", ".join(self.flow(item) for item in value) + "]"
        return self.word(value)

    def block(self, value: Plain, indent: int) -> str:
        """What follows a key: on the same line, or on those below."""
        pad = " " * indent
        if isinstance(value, dict) and value and self._draw(st.booleans()):
            lines = [f"{pad}{self.word(k)}:{self.block(v, indent + 2)}" for k, v in value.items()]
            return self.comment() + "".join(lines)
        if isinstance(value, list) and value and self._draw(st.booleans()):
            pad = pad[2:] if self._draw(st.booleans()) else pad
            return self.comment() + "".join(f"{pad}- {self.flow(v)}{self.comment()}" for v in value)
        return f" {self.flow(value)}{self.comment()}"


_TYPED = {"true", "false", "null"}


@st.composite
def yaml_samples(draw: st.DrawFn) -> Sample:
    servers = draw(_SERVERS)
    yaml = _Yaml(draw)
    if draw(st.booleans()):
        text = f"a: 1{yaml.comment()}extensions:{yaml.block(dict(servers), 2)}z: 2"
        value: Plain = {"a": 1, "extensions": dict(servers), "z": 2}
        return Sample(text, config_yaml, value, Where(("extensions",)))
    named: list[Plain] = []
    lines: list[str] = []
    for name, server in servers.items():
        item: dict[str, Plain] = {"name": name, **server}
        named.append(item)
        if draw(st.booleans()):
            lines.append(f"  - {yaml.flow(item)}{yaml.comment()}")
        else:
            body = [f"    {yaml.word(k)}:{yaml.block(v, 6)}" for k, v in item.items()]
            lines.append("  - " + "".join(body)[4:])
    text = f"mcpServers:{yaml.comment()}{''.join(lines)}"
    return Sample(text, config_yaml, {"mcpServers": named}, Where(("mcpServers",), named_by="name"))


SAMPLES = st.one_of(json_samples(), toml_samples(), yaml_samples())
