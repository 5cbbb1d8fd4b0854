"""The child process as the protocol sees it: is it there, and when may it be started again.

Lives here: its number, its state, its start and restart as wishes to the shell, the back-off of a
child that keeps ending. Does not: the process itself (child.py). Spec 2026-07-28,
basic/transports/stdio (Unexpected Termination).
"""

import enum
from typing import Final

from mcp_era_bridge.effects import Outbox, StartChild

BACK_OFF: Final = (0.0, 0.5, 1.0, 2.0, 4.0, 8.0, 16.0, 30.0)
"""Seconds between the end of a process and the next start, by how often it has failed in a row."""
HEALTHY: Final = 10.0
"""Seconds of life after which a process has not failed."""
MOST_WAIT: Final = 5.0
"""Seconds of back-off that a request waits through; in a longer one it fails at once."""


class Presence(enum.Enum):
    """Whether there is a child process to speak to."""

    ABSENT = enum.auto()
    STARTING = enum.auto()
    """It is being started, or will be once the back-off is over."""
    RUNNING = enum.auto()


class ChildLife:
    """One server's processes, one at a time; `number` is the present one's."""

    def __init__(self, out: Outbox) -> None:
        self._out = out
        self.number = 1
        self.presence = Presence.STARTING
        self.spoken_to = False
        """Whether anything was written to the present process."""
        self.deadline: float | None = None
        """When the next start is due."""
        self._last_number = 1
        self._instead_of: int | None = None
        self._started = 0.0
        self._failures = 0
        self._not_before = 0.0

    def say(self, *pieces: bytes) -> None:
        """Writes to the present process; while it starts, the shell keeps what is written."""
        self.spoken_to = True
        self._out.to_child.extend(pieces)

    def started(self, now: float) -> None:
        """The process runs."""
        self.presence = Presence.RUNNING
        self._started = now

    def failed(self, now: float) -> None:
        """The process ended by itself: the next one waits, the longer the more often this was."""
        if now - self._started >= HEALTHY:
            self._failures = 0
        self._not_before = now + BACK_OFF[min(self._failures, len(BACK_OFF) - 1)]
        self._failures += 1

    def gone(self) -> None:
        """The process is not there any more; nothing can be written."""
        self.presence = Presence.ABSENT
        self.deadline = None
        self._out.to_child.clear()

    def is_hopeless(self, now: float) -> bool:
        """Whether a start is so far off that nobody is to wait for it."""
        return self._not_before - now > MOST_WAIT

    def restart(self, now: float) -> None:
        """Wants the process ended, if there is one, and a new one started when it may be."""
        if self.deadline is None:
            # Else the one before has not been started: there is only what it was to replace.
            self._instead_of = self.number
        self.gone()
        self.number = self.fresh_number()
        self.presence = Presence.STARTING
        self.spoken_to = False
        self.deadline = max(self._not_before, now)
        self.passed(now)

    def passed(self, now: float) -> None:
        """Time went by: a start that is due is wished for."""
        if self.deadline is not None and now >= self.deadline:
            self.deadline = None
            self._out.actions.append(StartChild(self.number, self._instead_of))

    def fresh_number(self) -> int:
        """The number of a process that is to be started."""
        self._last_number += 1
        return self._last_number

    def succeeded_by(self, number: int, started: float | None) -> None:
        """Another process, which runs beside, takes the place of the present one. It runs since
        `started`, or is still being started."""
        self._out.switch(self.number, number)
        self.number = number
        self.presence = Presence.RUNNING if started is not None else Presence.STARTING
        self.deadline = None
        self.spoken_to = True
        self._started = started or 0.0
