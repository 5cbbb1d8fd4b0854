"""Reads one line of the host: a message, or the error that is due for it.

Lives here: translation B.1, checks 1 to 3, and the little of notifications that a joint reads. Does
not: what a message means. Spec 2026-07-28, basic/index (Requests), basic/transports (Messages).
"""

from typing import Final

import msgspec
from msgspec import UNSET, Raw, UnsetType

from mcp_era_modern.request_meta import without_envelope
from mcp_era_wire import codes
from mcp_era_wire.dirty import Batch, Blank, Broken, Malformed, Noise, examine
from mcp_era_wire.envelope import (
    UNREADABLE,
    Id,
    Message,
    encode,
    error_line,
    read_message,
    sound_utf8,
)
from mcp_era_wire.members import members_of


def read_host_line(line: bytes, ascii: bool) -> Message | bytes | None:
    """The message, or the line to answer with, or None for a line that is ignored.

    `ascii` says that the line is known to hold nothing else.
    """
    if ascii or sound_utf8(line):
        try:
            message = read_message(line)
        except UNREADABLE:
            pass
        else:
            return message if message.says_something else invalid_request(message.id)
    finding = examine(line, lenient=False)
    match finding:
        case Message():
            return finding if finding.says_something else invalid_request(finding.id)
        case Blank():
            return None
        case Batch():
            return invalid_request(UNSET, "Batches are not part of this revision")
        case Malformed(id):
            return invalid_request(id)
        case Broken() if finding.too_long and finding.id is not UNSET:
            return invalid_request(finding.id, "The line is too long")
        case Broken() | Noise():
            return error_line(UNSET, codes.PARSE_ERROR, "Parse error")


def invalid_request(id: Id | UnsetType, message: str = "Invalid request") -> bytes:
    """The answer to a line that is JSON and no request; `id` UNSET if it has no legal one."""
    return error_line(id, codes.INVALID_REQUEST, message)


class Cancelled(msgspec.Struct, frozen=True, rename="camel"):
    """The params of `notifications/cancelled`."""

    request_id: Id
    reason: Raw | UnsetType = UNSET


read_cancelled: Final = msgspec.json.Decoder(Cancelled).decode


def notification_params(params: Raw) -> bytes:
    """The params of a host's notification as a legacy server may see them."""
    members = members_of(params)
    if members is None or "_meta" not in members:
        return bytes(params)
    meta = without_envelope(members.pop("_meta"))
    if meta is not None:
        members["_meta"] = meta
    return encode(members) if members else b""
