"""What the joint wants done: the only way in which the sans-IO half speaks to the shell.

Lives here: the outbox (lines, by destination), the actions on the child process, and what the shell
reports of a process. Does not: who carries them out (shell.py).
"""

from typing import TypeAlias

import msgspec
from msgspec import Raw

from mcp_era_bridge.child_era import Memory
from mcp_era_wire.dirty import message_part
from mcp_era_wire.envelope import Buffer
from mcp_era_wire.events import Note, Severity


class Remembered(msgspec.Struct, frozen=True):
    """What is kept of a server across starts. `server_info`, as JSON and null if it has none, tells
    whether it is still the same."""

    memory: Memory
    server_info: Raw


class StartChild(msgspec.Struct, frozen=True):
    """Start the process `number`, once nothing is left of the process `instead_of`, if that is a
    number."""

    number: int
    instead_of: int | None = None


class EndChild(msgspec.Struct, frozen=True):
    """The process `number` is of no use any more."""

    number: int


class Keep(msgspec.Struct, frozen=True):
    """Remember this for the next start of the bridge; None forgets what is remembered."""

    remembered: Remembered | None


class Finish(msgspec.Struct, frozen=True):
    """Everything that can be answered has been: end the child in good order, then the bridge."""

    exit_code: int


Action: TypeAlias = StartChild | EndChild | Keep | Finish


class Outbox:
    """The effects of what was handled since the shell last emptied it.

    `to_host` and `to_child` hold pieces of lines: each is written in one go, in order, but that
    `host_breaks` are places in `to_host` where another write begins. `noise` holds lines of the
    child that are no messages; they go to stderr, marked. `to_others` holds lines for processes
    beside the one that `to_child` is for, by their number.
    """

    def __init__(self) -> None:
        self.to_host: list[Buffer] = []
        self.host_breaks: list[int] = []
        self.to_child: list[Buffer] = []
        self.to_others: dict[int, list[Buffer]] = {}
        self.actions: list[Action] = []
        self.noise: list[bytes] = []
        self.notes: list[Note] = []

    def switch(self, old: int, new: int) -> None:
        """From now on `to_child` is for the process `new`, and the lines for `old` stand beside."""
        self.to_others[old] = self.to_child
        self.to_child = self.to_others.pop(new)

    def noise_in_front(self, line: bytes) -> None:
        """What stands in front of the message on a line is noise, and the message counts."""
        front = line[: len(line.rstrip()) - len(message_part(line))]
        if front.strip(b" \t\r\n\xef\xbb\xbf"):
            self.noise.append(front)

    def note(self, severity: Severity, event: str, **fields: object) -> None:
        """Adds a note for the log."""
        self.notes.append(Note(severity, event, fields))


class Ending(msgspec.Struct, frozen=True):
    """How a process ended. `how` completes the sentence "The server ..."; `stderr` is the end of
    what it wrote there, one line each."""

    how: str
    code: int | None = None
    signal: int | None = None
    stderr: list[str] = []

    @property
    def exit_code(self) -> int:
        """The ending as a shell would tell it: the exit code, or 128 and the signal's number."""
        return self.code if self.code is not None else 128 + (self.signal or 0)
