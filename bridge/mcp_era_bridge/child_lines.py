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

NOTHING: Final = Blank()
NOISE: Final = Noise()

ChildLine: TypeAlias = Message | list[Message] | Broken | Noise | Blank


def read_child_line(line: bytes, ascii: bool) -> ChildLine:
    """The message, those of a batch, or why there is none.

    Broken is a line that somebody waits for, or one that is too long; anything else that cannot be
    read is Noise. `ascii` says that the line is known to hold nothing else.
    """
    if ascii or sound_utf8(line):
        try:
            message = read_message(line)
        except UNREADABLE:
            pass
        else:
            return message if message.says_something else NOISE
    finding = examine(line, lenient=True)
    match finding:
        case Message():
            return finding if finding.says_something else NOISE
        case Batch(items):
            read = [read_child_line(item, False) for item in items]
            return [m for m in read if isinstance(m, Message)] or NOISE
        case Broken(id, too_long):
            return finding if too_long or id is not UNSET else NOISE
        case Malformed(id):
            return Broken(id) if id is not UNSET else NOISE
        case Blank() | Noise():
            return finding
