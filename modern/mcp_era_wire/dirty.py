"""What a line may still be that the fast decoder refuses.

Lives here: the slow look at one refused line, and its outcomes. Does not: what is done about them
(the faces, the peers, the joint). A line is *sound* (a message), *salvageable* (somebody waits for
the id in it), or *noise*. Spec 2026-07-28, basic/transports/stdio (nothing but messages on stdout);
2025-03-26, basic (Batching).
"""

import json
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
_MESSAGE_START: Final = b'{"jsonrpc"'


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
    """Looks like a message and cannot be read. `id` is there if it was found at either end, and
    `has_method` says that it is a request or a notification: then nobody waits for it."""

    id: Id | UnsetType
    has_method: bool = False
    too_long: bool = False

    @property
    def is_message(self) -> bool:
        """Whether it is more than a brace at the start of a line."""
        return self.has_method or self.id is not UNSET


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
    number written as a fraction, text around the message, two messages on one line and bytes that
    are not UTF-8 are forgiven. A host's line is taken at its word, but for half a surrogate pair,
    which its JSON writer may well have made.
    """
    if isinstance(line, LongLine):
        return _broken(line, too_long=True)
    line = message_part(line) if lenient else _without_mark(line)
    if not line:
        return Blank()
    if line.startswith(b"["):
        return _as_batch(line, lenient)
    if not line.startswith(b"{"):
        return _not_an_object(line)
    mended = line
    if not sound_utf8(line):
        if not lenient:
            return Broken(UNSET)
        mended = line.decode("utf-8", "replace").encode()
    try:
        return _as_message(_read_loose(mended), lenient)
    except UNREADABLE:
        pass
    try:
        return _as_message(_read_loose(_without_half_pairs(mended)), lenient)
    except UNREADABLE:
        return (_glued(line) if lenient else None) or _broken(mended)


def message_part(line: bytes) -> bytes:
    """A child's line without a mark, white space and other text in front of the message."""
    line = _without_mark(line)
    if line.startswith(_MESSAGE_START):
        return line
    start = line.find(_MESSAGE_START)
    if start < 0 or (line.startswith((b"{", b"[")) and _is_json(line)):
        return line
    return line[start:]


def _is_json(line: bytes) -> bool:
    try:
        msgspec.json.decode(line, type=Raw)
    except UNREADABLE:
        return False
    return True


def _without_mark(line: bytes) -> bytes:
    return line.strip(_WHITESPACE).removeprefix(_BOM).strip(_WHITESPACE)


_GAP: Final = re.compile(r"[ \t\r\n]*")
_ESCAPE: Final = re.compile(
    rb"\\\\|\\u[dD][89abAB][0-9a-fA-F]{2}\\u[dD][c-fC-F][0-9a-fA-F]{2}"
    rb"|\\u[dD][89a-fA-F][0-9a-fA-F]{2}"
)


def _without_half_pairs(line: bytes) -> bytes:
    """The line with U+FFFD where an escape is half of a surrogate pair: text that was cut."""
    return _ESCAPE.sub(lambda m: b"\\ufffd" if len(m[0]) == 6 else m[0], line)


def _glued(line: bytes) -> Batch | None:
    """The whole objects at the start of a line and what follows them, each to be looked at by
    itself in the bytes it came in; None if the first is not whole, or nothing follows it."""
    text = line.decode("utf-8", "surrogateescape")
    decoder = json.JSONDecoder()
    items: list[bytes] = []
    position = 0
    try:
        while position < len(text):
            _, end = decoder.raw_decode(text, position)
            items.append(text[position:end].encode("utf-8", "surrogateescape"))
            gap = _GAP.match(text, end)
            position = gap.end() if gap else end
    except (ValueError, RecursionError):
        items.append(text[position:].encode("utf-8", "surrogateescape"))
    return Batch(items) if len(items) > 1 else None


def _not_an_object(line: bytes) -> Finding:
    return Malformed(UNSET) if _is_json(line) else Noise()


def _as_batch(line: bytes, lenient: bool) -> Finding:
    try:
        items = [bytes(item) for item in _read_items(line)]
    except UNREADABLE:
        return Noise()
    # There is no batch in a batch; a host is told so.
    return Batch([item for item in items if not (lenient and item.startswith(b"["))])


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
        if number.is_integer() and abs(number) < 2**53:
            return int(number)
    return UNSET


_TAIL_ID: Final = re.compile(
    rb'[,{]\s*"id"\s*:\s*("(?:[^"\\]|\\.)*"|-?\d+)\s*(?:,\s*"jsonrpc"\s*:\s*"2\.0"\s*)?\}\s*$'
)
_ID_AT_START: Final = re.compile(rb'\s*:\s*("(?:[^"\\]|\\.)*"|-?\d+)\s*[,}]')


def _broken(line: bytes, too_long: bool = False) -> Broken:
    """The `id` and the `method` at depth 1 in the first or last few KiB of an undecodable line."""
    found, has_method = _members_in_head(line[:_EDGE])
    if found is None:
        match = _TAIL_ID.search(line[-_EDGE:])
        found = match and match[1]
    try:
        id = _read_id(found) if found else UNSET
    except UNREADABLE:
        id = UNSET
    return Broken(id, has_method, too_long)


_TOKEN: Final = re.compile(rb'"(?:[^"\\]|\\.)*"|[{}\[\]]')


def _members_in_head(head: bytes) -> tuple[bytes | None, bool]:
    depth = 0
    id: bytes | None = None
    has_method = False
    for token in _TOKEN.finditer(head):
        text = token[0]
        if text in (b"{", b"["):
            depth += 1
        elif text in (b"}", b"]"):
            depth -= 1
        elif depth == 1 and text == b'"id"' and id is None:
            match = _ID_AT_START.match(head, token.end())
            id = match and match[1]
        elif depth == 1 and text == b'"method"' and head[token.end() :].lstrip()[:1] == b":":
            has_method = True
    return id, has_method
