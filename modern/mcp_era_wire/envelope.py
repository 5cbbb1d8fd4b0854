"""The JSON-RPC envelope: one line in, one line out, and nothing inside it opened.

Lives here: the typed envelope, its fast decoder, the writers of whole lines. Does not: what a line
that this decoder refuses may still be (dirty.py), and what any member means.
Spec 2026-07-28, basic/index (Messages); basic/transports/stdio.
"""

import codecs
from collections.abc import Callable
from typing import Final, Literal, TypeAlias

import msgspec
from msgspec import UNSET, Raw, UnsetType

Id: TypeAlias = int | str
"""A request id: a string or an integer of any size, never null, a bool or a fraction."""

Buffer: TypeAlias = bytes | memoryview
"""A piece of an outgoing line. Pieces are joined, or written one after the other, by the shell."""

ABSENT: Final = Raw(b"")
"""Stands for a member that the line does not have; compare with `is`."""

UNREADABLE: Final = (msgspec.DecodeError, RecursionError, UnicodeDecodeError)
"""What a decoder raises for bytes that are not what it wants: depth bombs are a RecursionError,
and some versions of it say UnicodeDecodeError of text that is not UTF-8."""


class Message(msgspec.Struct, frozen=True, gc=False):
    """One JSON-RPC message. A request has `id` and `method`, a notification only `method`, a
    response `id` and one of `result` and `error`. The last three members stay unopened."""

    jsonrpc: Literal["2.0"]
    id: Id | UnsetType = UNSET
    method: str | UnsetType = UNSET
    params: Raw = ABSENT
    result: Raw = ABSENT
    error: Raw = ABSENT

    @property
    def is_failure(self) -> bool:
        """Whether a response carries an error rather than a result. Some write both, one of them
        null, as JSON-RPC 1 wants it."""
        if self.error is ABSENT:
            return False
        return self.result is ABSENT or (
            bytes(self.result) == b"null" and bytes(self.error) != b"null"
        )

    @property
    def says_something(self) -> bool:
        """Whether it is a request, a notification or a response at all."""
        return self.method is not UNSET or self.result is not ABSENT or self.error is not ABSENT


read_message: Final[Callable[[bytes], Message]] = msgspec.json.Decoder(Message).decode
"""Decodes a line that is a sound message; raises one of UNREADABLE for anything else."""

encode: Final[Callable[[object], bytes]] = msgspec.json.Encoder().encode


def sound_utf8(line: bytes, step: int = 65536) -> bool:
    """Whether the line is UTF-8 (the decoder does not look inside what it leaves unopened).

    Checked in slices, so that a line of many MiB never stands in memory as text.
    """
    if line.isascii():
        return True
    view = memoryview(line)
    position, size = 0, len(view)
    try:
        while position < size:
            end = position + step
            position += codecs.utf_8_decode(view[position:end], "strict", end >= size)[1]
    except UnicodeDecodeError:
        return False
    return True


def number_of(id: Id | UnsetType) -> int | None:
    """The integer that an id is or spells: one who echoes ours as "7" means the same request."""
    if isinstance(id, str):
        return int(id) if len(id) < 20 and id.isascii() and id.isdigit() else None
    return id if id is not UNSET else None


def encode_id(id: Id) -> bytes:
    """The id as JSON, its type kept."""
    return b"%d" % id if type(id) is int else encode(id)


class ErrorHead(msgspec.Struct, frozen=True):
    """What a rule may read of a peer's `error`; a member of another type is as good as none."""

    code: int | UnsetType = UNSET
    data: Raw = ABSENT


_read_error_head: Final = msgspec.json.Decoder(ErrorHead).decode


def read_error_head(error: Raw) -> ErrorHead:
    """The head of an error object; an empty one if it is no error object."""
    try:
        return _read_error_head(error)
    except UNREADABLE:
        return ErrorHead()


class _Error(msgspec.Struct, frozen=True, omit_defaults=True):
    code: int
    message: str
    data: object = UNSET


def error_line(id: Id | UnsetType, code: int, message: str, data: object = UNSET) -> bytes:
    """An error response as one line.

    `id` UNSET leaves the member out: the request could not be read (a null id is not in the schema
    of JSONRPCErrorResponse, 2026-07-28). `message` is one short sentence.
    """
    body = encode(_Error(code, message, data))
    if id is UNSET:
        return b'{"jsonrpc":"2.0","error":%b}\n' % body
    return b'{"jsonrpc":"2.0","id":%b,"error":%b}\n' % (encode_id(id), body)


def result_line(id: Id, result: bytes) -> bytes:
    """A result response as one line; `result` is JSON already."""
    return b'{"jsonrpc":"2.0","id":%b,"result":%b}\n' % (encode_id(id), result)


def request_line(id: Id, method: str, params: bytes = b"") -> bytes:
    """A request as one line; `params` is JSON already, or nothing to leave the member out."""
    return b'{"jsonrpc":"2.0","id":%b,"method":%b%b}\n' % (
        encode_id(id),
        encode(method),
        b',"params":' + params if params else b"",
    )


def notification_line(method: str, params: bytes = b"") -> bytes:
    """A notification as one line; `params` as in request_line."""
    return b'{"jsonrpc":"2.0","method":%b%b}\n' % (
        encode(method),
        b',"params":' + params if params else b"",
    )
