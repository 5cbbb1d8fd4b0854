"""Reads YAML, and says where everything is.

Lives here: the tree, out of that of the library. Does not: what is edited (config_edit.py).
YAML 1.2, one document.
"""

import re
import warnings
from typing import Literal as Just
from typing import Protocol, cast

from ruamel.yaml import YAML
from ruamel.yaml.error import MarkedYAMLError, ReusedAnchorWarning, YAMLError
from ruamel.yaml.reader import ReaderError

from mcp_era_bridge.config_text import DEEPEST, BadText, Literal, Member, Node, Value, quoted

_SPACE = re.compile(r"(?:[ \t\r\n]+|(?<![^ \t\r\n])#[^\n]*)*")
_MOST_NODES = 1_000_000
"""More than any file has; aliases of aliases could stand for any number."""
_WORDS = {"true": True, "false": False, "null": None, "~": None, "": None}


class _Mark(Protocol):
    index: int


class _Error(Protocol):
    problem: str | None
    context: str | None
    problem_mark: _Mark | None
    context_mark: _Mark | None


class _ReaderError(Protocol):
    position: int


class _Scalar(Protocol):
    id: Just["scalar"]
    tag: object
    value: str
    start_mark: _Mark
    end_mark: _Mark


class _Sequence(Protocol):
    id: Just["sequence"]
    value: "list[_Found]"
    flow_style: bool
    start_mark: _Mark
    end_mark: _Mark


class _Mapping(Protocol):
    id: Just["mapping"]
    value: "list[tuple[_Found, _Found]]"
    flow_style: bool
    start_mark: _Mark
    end_mark: _Mark


_Found = _Scalar | _Sequence | _Mapping


def parse(text: str) -> Node:
    """The tree of a YAML text. Raises BadText."""
    yaml = YAML(typ="safe", pure=True)
    try:
        with warnings.catch_warnings():
            warnings.simplefilter("ignore", ReusedAnchorWarning)
            # The library does not say what it returns.
            found: object = yaml.compose(text)  # pyright: ignore[reportUnknownMemberType]
        top = cast("_Found | None", found)
    except MarkedYAMLError as error:
        said = cast("_Error", error)
        mark = said.problem_mark or said.context_mark
        what = said.problem or said.context or "it makes no sense"
        raise BadText(what, text, mark.index if mark else 0) from error
    except ReaderError as error:
        at = cast("_ReaderError", error).position
        raise BadText("a character that YAML does not allow", text, at) from error
    except YAMLError as error:
        raise BadText(str(error).splitlines()[0], text, 0) from error
    except RecursionError as error:
        raise BadText("nested too deep", text, 0) from error
    if top is None:
        return Node(0, 0, members=[])
    return _Tree(text).node(top, 0, 0, False)


def skip(text: str, at: int) -> int:
    """The place of what follows spaces and comments."""
    match = _SPACE.match(text, at)
    return match.end() if match else at


def quote(word: str) -> str:
    """A word as a string of YAML."""
    return quoted(word)


class _Tree:
    def __init__(self, text: str) -> None:
        self._text = text
        self._count = 0

    def node(self, found: _Found, after: int, depth: int, elsewhere: bool) -> Node:
        """What the library found; all that is written here stands behind `after`.

        `elsewhere` says that it belongs to something that is written elsewhere.
        """
        self._count += 1
        if depth > DEEPEST or self._count > _MOST_NODES:
            raise BadText("nested too deep", self._text, after)
        start, end = found.start_mark.index, found.end_mark.index
        alias = elsewhere or start < after
        if found.id == "scalar":
            return Node(start, end, _value(found), alias=alias)
        block = not found.flow_style
        if found.id == "sequence":
            items = [self.node(item, start, depth + 1, alias) for item in found.value]
            return Node(start, end, items=items, block=block, alias=alias)
        members: list[Member] = []
        for key, value in found.value:
            name = self.node(key, start, depth + 1, alias)
            text = name.value if isinstance(name.value, str) else self._text[name.start : name.end]
            node = self.node(value, name.end, depth + 1, alias)
            members.append(Member(text, name.start, name.end, node))
        return Node(start, end, members=members, block=block, alias=alias)


def _value(found: _Scalar) -> Value:
    """A scalar's value; the library has resolved which kind it is."""
    text = found.value
    match str(found.tag):
        case "tag:yaml.org,2002:str":
            return text
        case "tag:yaml.org,2002:bool" | "tag:yaml.org,2002:null" if text.lower() in _WORDS:
            return _WORDS[text.lower()]
        case _:
            return Literal(text)
