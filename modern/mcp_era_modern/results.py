"""Makes a legacy result a complete result of 2026-07-28, without decoding what is only passed on.

Lives here: `resultType`, the caching members, the server's identity, and what the shape of single
results needs (lists, tool schemas, completions). Does not: errors (errors.py), the envelope around
a result (face.py). Spec 2026-07-28, basic/index (Result Responses, ResultType, Per-response
protocol fields), server/utilities/caching (Cacheable Results), server/tools (Tool).
"""

from collections.abc import Callable
from typing import Final

import msgspec
from msgspec import UNSET, Raw, UnsetType

from mcp_era_wire import methods
from mcp_era_wire.envelope import ABSENT, UNREADABLE, Buffer, encode
from mcp_era_wire.members import Members, is_object, members_of, open_object
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

_COMPLETE: Final = Raw(b'"complete"')
_NO_TTL: Final = Raw(b"0")
_PRIVATE: Final = Raw(b'"private"')
_ANY_OBJECT: Final = Raw(b'{"type":"object"}')
_OBJECT_TYPE: Final = Raw(b'"object"')
_SCOPES: Final = (b'"private"', b'"public"')


class _Head(msgspec.Struct, frozen=True, gc=False):
    """The members of a result that have a meaning in both eras, found in one pass."""

    result_type: Raw = msgspec.field(default=ABSENT, name="resultType")
    ttl_ms: Raw = msgspec.field(default=ABSENT, name="ttlMs")
    cache_scope: Raw = msgspec.field(default=ABSENT, name="cacheScope")
    meta: Raw = msgspec.field(default=ABSENT, name="_meta")

    def is_plain(self) -> bool:
        return (
            self.meta is ABSENT
            and self.result_type is ABSENT
            and self.ttl_ms is ABSENT
            and self.cache_scope is ABSENT
        )


class _SchemaHead(msgspec.Struct, frozen=True, gc=False):
    type: Raw


class _ToolHead(msgspec.Struct, frozen=True, gc=False):
    """A tool that needs no mending decodes into this one."""

    input_schema: _SchemaHead = msgspec.field(name="inputSchema")
    output_schema: _SchemaHead | UnsetType = msgspec.field(default=UNSET, name="outputSchema")
    execution: UnsetType | None = UNSET


class _ListHead(_Head, frozen=True, gc=False):
    next_cursor: str | UnsetType = msgspec.field(default=UNSET, name="nextCursor")


class _ToolsHead(_ListHead, frozen=True, gc=False):
    tools: list[_ToolHead] = []

    def is_plain(self) -> bool:
        return super().is_plain() and all(tool.execution is UNSET for tool in self.tools)


class _CallHead(_Head, frozen=True, gc=False):
    content: Raw = ABSENT

    def is_plain(self) -> bool:
        return super().is_plain() and self.content is not ABSENT


class _Completion(msgspec.Struct, frozen=True, gc=False):
    values: list[Raw]


class _CompletionHead(_Head, frozen=True, gc=False, kw_only=True):
    completion: _Completion

    def is_plain(self) -> bool:
        return super().is_plain() and len(self.completion.values) <= MOST_COMPLETIONS


_read_head: Final = msgspec.json.Decoder(_Head).decode
_READ_HEAD: Final[dict[str, Callable[[Raw], _Head]]] = {
    methods.TOOLS_LIST: msgspec.json.Decoder(_ToolsHead).decode,
    methods.PROMPTS_LIST: msgspec.json.Decoder(_ListHead).decode,
    methods.RESOURCES_LIST: msgspec.json.Decoder(_ListHead).decode,
    methods.RESOURCE_TEMPLATES_LIST: msgspec.json.Decoder(_ListHead).decode,
    methods.TOOLS_CALL: msgspec.json.Decoder(_CallHead).decode,
    methods.COMPLETE: msgspec.json.Decoder(_CompletionHead).decode,
}


class Completer:
    """Completes results in the name of one legacy server.

    `server_info` is the server's identity as JSON.
    """

    def __init__(self, server_info: Raw) -> None:
        self._server_info = server_info
        identity = b'"_meta":{"%b":%b}}' % (SERVER_INFO_KEY.encode(), bytes(server_info))
        self._tail = b'"resultType":"complete",' + identity
        self._cacheable_tail = (
            b'"resultType":"complete","ttlMs":0,"cacheScope":"private",' + identity
        )

    def complete(self, method: str, result: Raw) -> tuple[Buffer, ...] | None:
        """The pieces of the complete result, or None if `result` is not an object.

        Members are spliced in before the closing brace; the object is opened, one level deep, only
        if it holds one of them already or needs mending.
        """
        try:
            plain = _READ_HEAD.get(method, _read_head)(result).is_plain()
        except UNREADABLE:
            plain = False
        if not plain:
            return self._rewritten(method, result)
        view = memoryview(result)
        tail = self._cacheable_tail if method in CACHEABLE else self._tail
        if _is_empty(view):
            return b"{", tail
        return view[:-1], b",", tail

    def _rewritten(self, method: str, result: Raw) -> tuple[Buffer, ...] | None:
        members = members_of(result)
        if members is None:
            return None
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
        meta.setdefault(SERVER_INFO_KEY, self._server_info)
        members["_meta"] = Raw(encode(meta))
        return (encode(members),)


def _is_empty(view: memoryview) -> bool:
    return view[1] in b" \t\r\n}" and not bytes(view[1:-1]).strip(b" \t\r\n")


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


def _mend_call(members: Members) -> None:
    members.setdefault("content", Raw(b"[]"))


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
