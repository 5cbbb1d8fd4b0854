"""Makes a legacy result a complete result of 2026-07-28, without decoding what is only passed on.

Lives here: `resultType`, the caching members, the server's identity, and what the shape of single
results needs (lists, tool schemas, completions). Does not: errors (errors.py), the envelope around
a result (face.py). Spec 2026-07-28, basic/index (Result Responses, ResultType, Per-response
protocol fields), server/utilities/caching (Cacheable Results), server/tools (Tool).
"""

from collections.abc import Callable
from typing import Annotated, Final, Literal, TypeAlias

import msgspec
from msgspec import UNSET, Raw, UnsetType

from mcp_era_wire import methods
from mcp_era_wire.envelope import ABSENT, UNREADABLE, Buffer, encode
from mcp_era_wire.members import (
    Members,
    is_implementation,
    is_object,
    members_of,
    open_object,
    string_of,
)
from mcp_era_wire.versions import RELATED_TASK_KEY, SERVER_INFO_KEY

CACHEABLE: Final = frozenset(
    {
        methods.DISCOVER,
        methods.TOOLS_LIST,
        methods.PROMPTS_LIST,
        methods.RESOURCES_LIST,
        methods.RESOURCE_TEMPLATES_LIST,
        methods.RESOURCES_READ,
    }
)
"""The methods whose results carry `ttlMs` and `cacheScope`."""

MOST_COMPLETIONS: Final = 100
"""`completion.values` holds no more (schema of every revision, CompleteResult)."""

_NULL: Final = Raw(b"null")
_COMPLETE: Final = Raw(b'"complete"')
_NO_TTL: Final = Raw(b"0")
_PRIVATE: Final = Raw(b'"private"')
_ANY_OBJECT: Final = Raw(b'{"type":"object"}')
_OBJECT_TYPE: Final = Raw(b'"object"')
_QUOTE: Final = ord('"')
_SCOPES: Final = (b'"private"', b'"public"')


_Never: TypeAlias = Literal["\0"]
"""The type of a member that must not be there: no value that a server sends fits it."""

_Absent: TypeAlias = _Never | UnsetType


class _Plain(msgspec.Struct, frozen=True, gc=False, kw_only=True):
    """A result that has nothing to mend and none of the members that we put in.

    That a result decodes into one of these types, in a single pass and without an object for what
    is inside, is all that counts; only `is_error` is looked at.
    """

    result_type: _Absent = msgspec.field(default=UNSET, name="resultType")
    ttl_ms: _Absent = msgspec.field(default=UNSET, name="ttlMs")
    cache_scope: _Absent = msgspec.field(default=UNSET, name="cacheScope")
    meta: _Absent = msgspec.field(default=UNSET, name="_meta")
    is_error: bool = msgspec.field(default=False, name="isError")


class _PlainSchema(msgspec.Struct, frozen=True, gc=False):
    type: Raw


class _PlainTool(msgspec.Struct, frozen=True, gc=False):
    input_schema: _PlainSchema = msgspec.field(name="inputSchema")
    output_schema: dict[str, Raw] | UnsetType = msgspec.field(default=UNSET, name="outputSchema")
    execution: _Absent = UNSET


class _PlainList(_Plain, frozen=True, gc=False, kw_only=True):
    next_cursor: str | UnsetType = msgspec.field(default=UNSET, name="nextCursor")


class _PlainTools(_PlainList, frozen=True, gc=False, kw_only=True):
    tools: list[_PlainTool] | UnsetType = UNSET


class _PlainCall(_Plain, frozen=True, gc=False, kw_only=True):
    content: list[Raw]


class _PlainValues(msgspec.Struct, frozen=True, gc=False):
    values: Annotated[list[Raw], msgspec.Meta(max_length=MOST_COMPLETIONS)]


class _PlainCompletion(_Plain, frozen=True, gc=False, kw_only=True):
    completion: _PlainValues


_is_plain: Final[Callable[[Raw], _Plain]] = msgspec.json.Decoder(_Plain).decode
_IS_PLAIN: Final[dict[str, Callable[[Raw], _Plain]]] = {
    methods.TOOLS_LIST: msgspec.json.Decoder(_PlainTools).decode,
    methods.PROMPTS_LIST: msgspec.json.Decoder(_PlainList).decode,
    methods.RESOURCES_LIST: msgspec.json.Decoder(_PlainList).decode,
    methods.RESOURCE_TEMPLATES_LIST: msgspec.json.Decoder(_PlainList).decode,
    methods.TOOLS_CALL: msgspec.json.Decoder(_PlainCall).decode,
    methods.COMPLETE: msgspec.json.Decoder(_PlainCompletion).decode,
}
"""For each method a decoder that raises one of UNREADABLE if a result is not plain."""


class Completer:
    """Completes results in the name of one legacy server.

    `server_info` is the server's identity as JSON, if it has said who it is.
    """

    def __init__(self, server_info: Raw | None) -> None:
        self._server_info = server_info
        self.failed = False
        """Whether the last result was that of a tool which failed (`isError`)."""
        identity = b"}"
        if server_info is not None:
            identity = b',"_meta":{"%b":%b}}' % (SERVER_INFO_KEY.encode(), bytes(server_info))
        self._tail = b'"resultType":"complete"' + identity
        self._cacheable_tail = (
            b'"resultType":"complete","ttlMs":0,"cacheScope":"private"' + identity
        )

    def complete(self, method: str, result: Raw) -> tuple[Buffer, ...] | None:
        """The pieces of the complete result, or None if `result` is not an object.

        Members are spliced in before the closing brace; the object is opened, one level deep, only
        if it holds one of them already or needs mending.
        """
        try:
            self.failed = _IS_PLAIN.get(method, _is_plain)(result).is_error
        except UNREADABLE:
            return self._rewritten(method, result)
        tail = self._cacheable_tail if method in CACHEABLE else self._tail
        view = memoryview(result)
        if view[1] != _QUOTE and not bytes(view[1:-1]).strip():
            return b"{", tail
        return view[:-1], b",", tail

    def _rewritten(self, method: str, result: Raw) -> tuple[Buffer, ...] | None:
        members = members_of(result)
        if members is None:
            return None
        self.failed = bytes(members.get("isError", ABSENT)) == b"true"
        mend = _MEND.get(method)
        if mend is not None:
            mend(members)
        members["resultType"] = _COMPLETE
        if method in CACHEABLE:
            if not _is_ttl(members.get("ttlMs", ABSENT)):
                members["ttlMs"] = _NO_TTL
            if bytes(members.get("cacheScope", ABSENT)) not in _SCOPES:
                members["cacheScope"] = _PRIVATE
        meta = members_of(members.get("_meta")) or {}
        meta.pop(RELATED_TASK_KEY, None)
        if not is_implementation(meta.get(SERVER_INFO_KEY)):
            meta.pop(SERVER_INFO_KEY, None)
            if self._server_info is not None:
                meta[SERVER_INFO_KEY] = self._server_info
        members.pop("_meta", None)
        if meta:
            members["_meta"] = Raw(encode(meta))
        return (encode(members),)


_read_whole_number: Final = msgspec.json.Decoder(int).decode


def _is_ttl(value: Raw) -> bool:
    try:
        return _read_whole_number(value) >= 0
    except UNREADABLE:
        return False


_read_values: Final = msgspec.json.Decoder(list[Raw]).decode


def _mend_list(members: Members) -> None:
    if bytes(members.get("nextCursor", ABSENT)) == b"null":
        del members["nextCursor"]


def _mend_tools(members: Members) -> None:
    _mend_list(members)
    try:
        tools = _read_values(members.get("tools", ABSENT))
    except UNREADABLE:
        return
    members["tools"] = Raw(encode([mended_tool(tool) for tool in tools]))


def mended_tool(tool: Raw) -> Raw:
    """A legacy tool as a schema-valid one of 2026-07-28 (translation of one `tools/list` item).

    `execution` speaks of legacy tasks and goes; `inputSchema` must be a schema of an object;
    `outputSchema` that is not an object is dropped. Everything else stays.
    """
    try:
        members = open_object(tool)
    except UNREADABLE:
        return tool
    members.pop("execution", None)
    schema = members_of(members.get("inputSchema"))
    if schema is None:
        members["inputSchema"] = _ANY_OBJECT
    elif "type" not in schema:
        members["inputSchema"] = Raw(encode({"type": _OBJECT_TYPE, **schema}))
    output = members.get("outputSchema")
    if output is not None and not is_object(output):
        del members["outputSchema"]
    return Raw(encode(members))


def text_of(result: Raw) -> str:
    """What a tool says to whoever reads only text."""
    try:
        blocks = _read_values((members_of(result) or {}).get("content", ABSENT))
    except UNREADABLE:
        return ""
    texts = (string_of((members_of(block) or {}).get("text")) for block in blocks)
    return "\n".join(text for text in texts if text is not None)


def _mend_call(members: Members) -> None:
    if bytes(members.get("content", _NULL)) == b"null":
        members["content"] = Raw(b"[]")


def _mend_completion(members: Members) -> None:
    completion = members_of(members.get("completion"))
    if completion is None:
        return
    try:
        values = _read_values(completion.get("values", ABSENT))
    except UNREADABLE:
        return
    if len(values) > MOST_COMPLETIONS:
        completion["values"] = Raw(encode(values[:MOST_COMPLETIONS]))
        completion["hasMore"] = Raw(b"true")
        members["completion"] = Raw(encode(completion))


_MEND: Final[dict[str, Callable[[Members], None]]] = {
    methods.TOOLS_LIST: _mend_tools,
    methods.PROMPTS_LIST: _mend_list,
    methods.RESOURCES_LIST: _mend_list,
    methods.RESOURCE_TEMPLATES_LIST: _mend_list,
    methods.TOOLS_CALL: _mend_call,
    methods.COMPLETE: _mend_completion,
}
