"""Reads one line of the host: a message, or the error that is due for it.

Lives here: translation B.1, checks 1 to 3. Does not: what a message means. Spec 2026-07-28,
basic/index (Requests), basic/transports (Messages).
"""

from msgspec import UNSET, UnsetType

from mcp_era_wire import codes
from mcp_era_wire.dirty import Batch, Blank, Broken, Malformed, Noise, examine
from mcp_era_wire.envelope import (
    UNREADABLE,
    Id,
    Message,
    error_line,
    read_message,
    sound_utf8,
)


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
