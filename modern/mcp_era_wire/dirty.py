"""What a line may still be that the fast decoder refuses.

Lives here: the slow look at one refused line, and its outcomes. Does not: what is done about them
(the faces, the peers, the joint). A line is *sound* (a message), *salvageable* (somebody waits for
the id in it), or *noise*. Spec 2026-07-28, basic/transports/stdio (nothing but messages on stdout);
2025-03-26, basic (Batching).
"""

import re
from typing import Final, TypeAlias

import msgspec
from msgspec import UNSET, Raw, UnsetType

from mcp_era_wire.envelope import (
    ABSENT,
    UNREADABLE,
    Id,
    Message,
    sound_utf8,
)

_EDGE: Final = 4096
"""How far from either end of a broken line its id is looked for, in bytes."""

_BOM: Final = b"\xef\xbb\xbf"
_WHITESPACE: Final = b" \t\r\n"


class LongLine(bytes):
    """A line over the limit: its two ends only, with a byte between them that no JSON allows."""

    size: int

    @classmethod
    def of_ends(cls, head: bytes, tail: bytes, size: int) -> "LongLine":
        """`head` and `tail` are cut to what is needed to look for the id; `size` is in bytes."""
        line = cls(head[:_EDGE] + b"\x00" + tail[-_EDGE:])
        line.size = size
        return line


class Blank(msgspec.Struct, frozen=True):
    """Nothing but white space: ignored."""


class Noise(msgspec.Struct, frozen=True):
    """No message and no id that anybody could wait for."""


class Batch(msgspec.Struct, frozen=True):
    """A JSON array: only a 2025-03-26 session has them. Each item is looked at like a line."""

    items: list[bytes]


class Malformed(msgspec.Struct, frozen=True):
    """A JSON object that is no JSON-RPC message. `id` is there if it is a legal one."""

    id: Id | UnsetType


class Broken(msgspec.Struct, frozen=True):
    """Looks like a message and cannot be read. `id` is there if it was found at either end."""

    id: Id | UnsetType
    too_long: bool = False


Finding: TypeAlias = Message | Blank | Noise | Batch | Malformed | Broken


class _LooseMessage(msgspec.Struct, frozen=True):
    jsonrpc: Raw = ABSENT
    id: Raw = ABSENT
    method: Raw = ABSENT
    params: Raw = ABSENT
    result: Raw = ABSENT
    error: Raw = ABSENT


_read_loose = msgspec.json.Decoder(_LooseMessage).decode
_read_items = msgspec.json.Decoder(list[Raw]).decode
_read_id = msgspec.json.Decoder(Id).decode
_read_number = msgspec.json.Decoder(float).decode
_read_text = msgspec.json.Decoder(str).decode


def examine(line: bytes, *, lenient: bool) -> Finding:
    """Looks again at a line that `read_message` refused or that is not UTF-8.

    `lenient` is for what a child wrote: a message without `jsonrpc`, an id that is null or a whole
    number written as a fraction, text before the message and bytes that are not UTF-8 are
    forgiven. A host's line is taken at its word.
    """
    if isinstance(line, LongLine):
        return Broken(_find_id(line), too_long=True)
    line = line.strip(_WHITESPACE).removeprefix(_BOM).strip(_WHITESPACE)
    if not line:
        return Blank()
    if line.startswith(b"["):
        return _as_batch(line)
    if lenient and not line.startswith(b"{"):
        start = line.find(b'{"jsonrpc"')
        if start < 0:
            return Noise()
        line = line[start:]
    if not line.startswith(b"{"):
        return _not_an_object(line)
    if not sound_utf8(line):
        if not lenient:
            return Broken(UNSET)
        line = line.decode("utf-8", "replace").encode()
    try:
        return _as_message(_read_loose(line), lenient)
    except UNREADABLE:
        return Broken(_find_id(line))


def _not_an_object(line: bytes) -> Finding:
    try:
        msgspec.json.decode(line, type=Raw)
    except UNREADABLE:
        return Noise()
    return Malformed(UNSET)


def _as_batch(line: bytes) -> Finding:
    try:
        items = [bytes(item) for item in _read_items(line)]
    except UNREADABLE:
        return Noise()
    return Batch(items)


def _as_message(loose: _LooseMessage, lenient: bool) -> Message | Malformed | Noise:
    id = _legal_id(loose.id, lenient)
    method = _text(loose.method)
    is_response = loose.result is not ABSENT or loose.error is not ABSENT
    legal_method = method is not UNSET or (loose.method is ABSENT and is_response)
    legal_id = id is not UNSET or loose.id is ABSENT or (lenient and is_response)
    versioned = bytes(loose.jsonrpc) == b'"2.0"' or (lenient and loose.jsonrpc is ABSENT)
    if legal_method and legal_id and versioned:
        return Message("2.0", id, method, loose.params, loose.result, loose.error)
    if lenient and not (is_response or method is not UNSET):
        return Noise()
    return Malformed(id)


def _text(value: Raw) -> str | UnsetType:
    try:
        return _read_text(value)
    except UNREADABLE:
        return UNSET


def _legal_id(value: Raw, lenient: bool) -> Id | UnsetType:
    if value is ABSENT:
        return UNSET
    try:
        return _read_id(value)
    except UNREADABLE:
        pass
    if lenient:
        try:
            number = _read_number(value)
        except UNREADABLE:
            return UNSET
        if number.is_integer():
            return int(number)
    return UNSET


_TAIL_ID: Final = re.compile(
    rb'[,{]\s*"id"\s*:\s*("(?:[^"\\]|\\.)*"|-?\d+)\s*(?:,\s*"jsonrpc"\s*:\s*"2\.0"\s*)?\}\s*$'
)
_ID_AT_START: Final = re.compile(rb'\s*:\s*("(?:[^"\\]|\\.)*"|-?\d+)\s*[,}]')


def _find_id(line: bytes) -> Id | UnsetType:
    """The `id` at depth 1 in the first or the last few KiB of a line that cannot be decoded."""
    found = _id_in_head(line[:_EDGE])
    if found is None:
        match = _TAIL_ID.search(line[-_EDGE:])
        found = match and match[1]
    try:
        return _read_id(found) if found else UNSET
    except UNREADABLE:
        return UNSET


_TOKEN: Final = re.compile(rb'"(?:[^"\\]|\\.)*"|[{}\[\]]')


def _id_in_head(head: bytes) -> bytes | None:
    depth = 0
    for token in _TOKEN.finditer(head):
        text = token[0]
        if text in (b"{", b"["):
            depth += 1
        elif text in (b"}", b"]"):
            depth -= 1
        elif depth == 1 and text == b'"id"':
            match = _ID_AT_START.match(head, token.end())
            if match:
                return match[1]
    return None
