"""The child process as the protocol sees it: is it there, and has anybody spoken to it.

Lives here: its number, its state, its start and restart as wishes to the shell. Does not: the
process itself (child.py).
"""

import enum

from mcp_era_bridge.effects import Outbox, StartChild


class Presence(enum.Enum):
    """Whether there is a child process to speak to."""

    ABSENT = enum.auto()
    STARTING = enum.auto()
    RUNNING = enum.auto()


class ChildLife:
    """One server's processes, one at a time; `number` is the present one's."""

    def __init__(self, out: Outbox) -> None:
        self._out = out
        self.number = 1
        self.presence = Presence.STARTING
        self.spoken_to = False
        """Whether anything was written to the present process."""

    def say(self, *pieces: bytes) -> None:
        """Writes to the present process; while it starts, the shell keeps what is written."""
        self.spoken_to = True
        self._out.to_child.extend(pieces)

    def started(self) -> None:
        """The process runs."""
        self.presence = Presence.RUNNING

    def gone(self) -> None:
        """The process is not there any more; nothing can be written."""
        self.presence = Presence.ABSENT
        self._out.to_child.clear()

    def restart(self) -> None:
        """Wants the process ended, if there is one, and a new one started."""
        self.gone()
        self.number += 1
        self.presence = Presence.STARTING
        self.spoken_to = False
        self._out.actions.append(StartChild(self.number))
