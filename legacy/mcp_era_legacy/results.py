"""What a modern server's result becomes for a legacy host, decoding only what a rule reads.

Lives here: the members that every result loses, the content of tools, and which parts of single
results a revision changes. Does not: blocks of content (content_blocks.py), items of lists
(list_items.py), errors (errors.py), a result that asks for input. Spec 2026-07-28, basic/index
(ResultType, Per-response protocol fields), server/utilities/caching, server/tools (Structured
Content); schema.ts of each revision.
"""

from collections.abc import Callable
from typing import Final, TypeAlias

from msgspec import Raw

from mcp_era_legacy.content_blocks import fitted_block, fitted_contents
from mcp_era_legacy.list_items import (
    are_plain_tools,
    fit_tool,
    fitted_item,
    fitted_prompt,
    read_values,
)
from mcp_era_wire import methods
from mcp_era_wire.envelope import ABSENT, UNREADABLE, Buffer, encode
from mcp_era_wire.members import Members, is_object, members_of, open_object, string_of
from mcp_era_wire.versions import NEWEST_LEGACY, SERVER_INFO_KEY

_STRUCTURED_SINCE: Final = "2025-06-18"
_MOST_NAMES: Final = 1024
_LARGE: Final = 1 << 16
_NULL: Final = Raw(b"null")
_NONE: Final = Raw(b"[]")

_Fit: TypeAlias = Callable[[Raw, str], Raw]


class Fitter:
    """Fits the complete results of one modern server to a legacy host of `version`."""

    def __init__(self, version: str) -> None:
        self._version = version
        self._unstructured: dict[str, None] = {}
        """The tools that lost their `outputSchema`, so they have no structured content here."""
        self._fit: dict[str, Callable[[Members, str | None], None]] = {
            methods.TOOLS_LIST: self._fit_tools,
            methods.TOOLS_CALL: self._fit_call,
        }
        if version < NEWEST_LEGACY:
            self._fit |= {
                methods.PROMPTS_LIST: self._each("prompts", fitted_prompt),
                methods.PROMPTS_GET: self._each("messages", _fitted_message),
                methods.RESOURCES_LIST: self._each("resources", fitted_item),
                methods.RESOURCE_TEMPLATES_LIST: self._each("resourceTemplates", fitted_item),
                methods.RESOURCES_READ: self._each("contents", fitted_contents),
            }

    @property
    def asks_for_tools(self) -> bool:
        """Whether it matters by which tool a result was made."""
        return bool(self._unstructured)

    def fit(self, method: str, result: Raw, tool: str | None = None) -> tuple[Buffer, ...] | None:
        """The pieces of the legacy result, or None if `result` is not an object.

        `result` is a complete one; `tool` is the tool's name if it is that of `tools/call`.
        """
        members = members_of(result)
        if members is None:
            return None
        members.pop("resultType", None)
        members.pop("ttlMs", None)
        members.pop("cacheScope", None)
        if "_meta" in members:
            _drop_identity(members)
        fit = self._fit.get(method)
        if fit is not None:
            fit(members, tool)
        if memoryview(result).nbytes < _LARGE:
            return (encode(members),)
        return _in_pieces(members)

    def _each(self, name: str, fitted: _Fit) -> Callable[[Members, str | None], None]:
        def fit(members: Members, _tool: str | None) -> None:
            _replace(members, name, fitted, self._version)

        return fit

    def _fit_tools(self, members: Members, _tool: str | None) -> None:
        tools = members.get("tools", ABSENT)
        # With names remembered, each tool has to be looked at: it may have an `outputSchema` again.
        if self._version == NEWEST_LEGACY and not self._unstructured and are_plain_tools(tools):
            return
        _replace(members, "tools", self._fitted_tool, self._version)

    def _fitted_tool(self, tool: Raw, version: str) -> Raw:
        try:
            members = open_object(tool)
        except UNREADABLE:
            return tool
        lost_its_schema = fit_tool(members, version)
        name = string_of(members.get("name"))
        if name is not None:
            self._unstructured.pop(name, None)
            if lost_its_schema:
                if len(self._unstructured) >= _MOST_NAMES:
                    del self._unstructured[next(iter(self._unstructured))]
                self._unstructured[name] = None
        return Raw(encode(members))

    def _fit_call(self, members: Members, tool: str | None) -> None:
        if members.get("content", _NULL) == _NULL:
            members["content"] = _NONE
        unstructured: Raw | None = None
        if "structuredContent" in members and not self._takes(members["structuredContent"], tool):
            unstructured = members.pop("structuredContent")
        if unstructured is None and self._version == NEWEST_LEGACY:
            return
        try:
            blocks = read_values(members["content"])
        except UNREADABLE:
            return
        # Whether there is a text is asked before a link, say, becomes one.
        if unstructured is not None and not any(map(_is_text, blocks)):
            blocks.append(_text(unstructured))
        if self._version < NEWEST_LEGACY:
            blocks = [fitted_block(block, self._version) for block in blocks]
        members["content"] = Raw(encode(blocks))

    def _takes(self, structured: Raw, tool: str | None) -> bool:
        return (
            self._version >= _STRUCTURED_SINCE
            and is_object(structured)
            and tool not in self._unstructured
        )


def _drop_identity(members: Members) -> None:
    meta = members_of(members["_meta"])
    if meta is None:
        return
    if meta.pop(SERVER_INFO_KEY, None) is None and meta:
        return
    if meta:
        members["_meta"] = Raw(encode(meta))
    else:
        del members["_meta"]


def _replace(members: Members, name: str, fitted: _Fit, version: str) -> None:
    """Fits each value of a list; one that is no list is left for the host to judge."""
    try:
        values = read_values(members.get(name, ABSENT))
    except UNREADABLE:
        return
    members[name] = Raw(encode([fitted(value, version) for value in values]))


def _fitted_message(message: Raw, version: str) -> Raw:
    members = members_of(message) or {}
    if "content" not in members:
        return message
    members["content"] = fitted_block(members["content"], version)
    return Raw(encode(members))


def _is_text(block: Raw) -> bool:
    return string_of((members_of(block) or {}).get("type")) == "text"


def _text(structured: Raw) -> Raw:
    """What a server should have said in text itself (server/tools, Structured Content)."""
    return Raw(encode({"type": "text", "text": bytes(structured).decode(errors="replace")}))


def _in_pieces(members: Members) -> tuple[Buffer, ...]:
    """The object as JSON, its large values not copied."""
    pieces: list[Buffer] = []
    small = bytearray(b"{")
    for name, value in members.items():
        if pieces or len(small) > 1:
            small += b","
        small += encode(name) + b":"
        view = memoryview(value)
        if view.nbytes < _LARGE:
            small += view
        else:
            pieces += (bytes(small), view)
            small.clear()
    return *pieces, bytes(small + b"}")
