"""What a modern server lists, one item at a time, as a legacy revision has it.

Lives here: the members of tools, prompts, resources and templates that a revision does not know,
and the narrower JSON Schema of tools. Does not: the lists around them (results.py). Spec
2025-11-25, schema.ts (Tool, Prompt, Resource, ResourceTemplate) and the same of each revision
before it; 2026-07-28, server/tools (Output Schema).
"""

from collections.abc import Callable
from typing import Final, Literal, TypeAlias

import msgspec
from msgspec import UNSET, Raw, UnsetType

from mcp_era_legacy.content_blocks import fit_annotations
from mcp_era_wire.envelope import UNREADABLE, encode
from mcp_era_wire.members import Members, members_of, string_of

_ITEM_SINCE: Final = {"title": "2025-06-18", "_meta": "2025-06-18", "icons": "2025-11-25"}
_TOOL_SINCE: Final = _ITEM_SINCE | {"annotations": "2025-03-26", "outputSchema": "2025-06-18"}
_ARGUMENT_SINCE: Final = {"title": "2025-06-18"}

read_values: Final[Callable[[Raw], list[Raw]]] = msgspec.json.Decoder(list[Raw]).decode
"""Opens a list; raises one of UNREADABLE if the value is none."""


def fitted_item(item: Raw, version: str) -> Raw:
    """A resource or a template as a host of `version` knows it."""
    members = members_of(item)
    if members is None:
        return item
    _drop_later(members, _ITEM_SINCE, version)
    fit_annotations(members, version)
    return Raw(encode(members))


def fitted_prompt(prompt: Raw, version: str) -> Raw:
    """A prompt as a host of `version` knows it."""
    members = members_of(prompt)
    if members is None:
        return prompt
    _drop_later(members, _ITEM_SINCE, version)
    if "arguments" in members:
        try:
            arguments = read_values(members["arguments"])
        except UNREADABLE:
            arguments = None
        if arguments:
            members["arguments"] = Raw(encode([_argument(each, version) for each in arguments]))
    return Raw(encode(members))


def _argument(argument: Raw, version: str) -> Raw:
    members = members_of(argument)
    if members is None:
        return argument
    _drop_later(members, _ARGUMENT_SINCE, version)
    return Raw(encode(members))


def _drop_later(members: Members, since: dict[str, str], version: str) -> None:
    for name in since:
        if version < since[name]:
            members.pop(name, None)


_Absent: TypeAlias = Literal["\0"] | UnsetType


class _Object(msgspec.Struct, frozen=True, gc=False):
    """Any object."""


class _PlainInput(msgspec.Struct, frozen=True, gc=False):
    properties: dict[str, _Object] | UnsetType = UNSET


class _PlainOutput(msgspec.Struct, frozen=True, gc=False):
    type: Literal["object"]
    properties: dict[str, _Object] | UnsetType = UNSET


class _PlainTool(msgspec.Struct, frozen=True, gc=False):
    """A tool that every host of the newest legacy revision takes as it is."""

    input_schema: _PlainInput = msgspec.field(name="inputSchema")
    output_schema: _PlainOutput | UnsetType = msgspec.field(default=UNSET, name="outputSchema")
    execution: _Absent = UNSET


_read_plain: Final = msgspec.json.Decoder(list[_PlainTool]).decode


def are_plain_tools(tools: Raw) -> bool:
    """Whether nothing in a list of tools is foreign to the newest legacy revision."""
    try:
        _read_plain(tools)
    except UNREADABLE:
        return False
    return True


def fit_tool(members: Members, version: str) -> bool:
    """Makes a tool one that a host of `version` knows. True if its `outputSchema` had to go,
    because a legacy one is that of an object, although the revision has such a member.

    `execution` speaks of legacy tasks, and the bridge hosts none.
    """
    members.pop("execution", None)
    _drop_later(members, _TOOL_SINCE, version)
    for name in ("inputSchema", "outputSchema"):
        if name in members:
            members[name] = _without_bare_booleans(members[name])
    if "outputSchema" not in members:
        return False
    schema = members_of(members["outputSchema"]) or {}
    if string_of(schema.get("type")) == "object":
        return False
    del members["outputSchema"]
    return True


_SPELT_OUT: Final = {b"true": Raw(b"{}"), b"false": Raw(b'{"not":{}}')}
"""A boolean schema as the object that means the same (JSON Schema 2020-12, core, 4.3.2)."""


def _without_bare_booleans(schema: Raw) -> Raw:
    """Legacy revisions want an object for every property (schema.ts, Tool), and real hosts that see
    a boolean refuse the whole list."""
    members = members_of(schema) or {}
    properties = members_of(members.get("properties")) or {}
    bare = {name: value for name, value in properties.items() if _is_boolean(value)}
    if not bare:
        return schema
    properties |= {name: _SPELT_OUT[bytes(value)] for name, value in bare.items()}
    members["properties"] = Raw(encode(properties))
    return Raw(encode(members))


def _is_boolean(value: Raw) -> bool:
    return memoryview(value)[0] in b"tf"
