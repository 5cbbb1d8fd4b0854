"""Reads one line of a child that a host of the other era must not see as it is.

Lives here: what a line holds, forgiving what can be forgiven. Does not: what is done about a line
that cannot be read (bridged.py, joint.py). Spec 2026-07-28, basic/transports/stdio; 2025-03-26,
basic (Batching).
"""

from typing import Final, TypeAlias

from msgspec import UNSET

from mcp_era_wire.dirty import Batch, Blank, Broken, Malformed, Noise, examine
from mcp_era_wire.envelope import (
    UNREADABLE,
    Message,
    read_message,
    sound_utf8,
)

NOISE: Final = Noise()

ChildLine: TypeAlias = Message | Batch | Broken | Noise | Blank


def read_child_line(line: bytes, ascii: bool) -> ChildLine:
    """The message, or why there is none; the items of a Batch are lines of their own.

    Broken is a line that somebody waits for, or that is too long to know; anything else that cannot
    be read is Noise. `ascii` says that the line is known to hold nothing else.
    """
    if ascii or sound_utf8(line):
        try:
            message = read_message(line)
        except UNREADABLE:
            pass
        else:
            # One with an id and nothing else is an answer that lacks its result.
            said = message.says_something or message.id is not UNSET
            return message if said else NOISE
    finding = examine(line, lenient=True)
    match finding:
        case Batch(items):
            return finding if any(_is_message(item) for item in items) else NOISE
        case Broken():
            waited_for = not finding.has_method and (finding.too_long or finding.is_message)
            return finding if waited_for else NOISE
        case Malformed(id):
            return Broken(id) if id is not UNSET else NOISE
        case Message() | Blank() | Noise():
            return finding


def _is_message(item: bytes) -> bool:
    return not isinstance(read_child_line(item, False), Noise | Blank)
