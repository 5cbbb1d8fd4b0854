"""The log level of a legacy session, made of what its requests ask for one by one.

Lives here: when `logging/setLevel` is due and whether its answer is waited for, and which messages
somebody wants. Does not: the requests that wait for the answer (peer.py), the wire format.
Spec 2025-11-25, server/utilities/logging; 2026-07-28, server/utilities/logging (Per-request log
level).
"""

import math
from typing import Final

import msgspec

from mcp_era_wire.levels import LOG_LEVELS

NOBODY: Final = len(LOG_LEVELS)
"""More severe than any level: nobody wants a message."""

ANSWER_WAIT: Final = 1.0
"""Seconds that a request waits for the answer to the `logging/setLevel` that it needs."""
_QUIET: Final = 30.0
"""Seconds without a request that wants the present level, after which it may be raised."""
_MOST_SILENCES: Final = 2
"""After so many unanswered `logging/setLevel` nobody waits for an answer any more."""


class SetLevel(msgspec.Struct, frozen=True):
    """`logging/setLevel` is to be sent; the request that needs it waits if `awaited`."""

    level: int
    awaited: bool


class LogLevels:
    """The level of one session; `declared` tells whether the child knows of log levels at all.

    Levels are indices of LOG_LEVELS, times are in seconds.
    """

    def __init__(self, declared: bool) -> None:
        self._declared = declared
        self._wanted = [0] * len(LOG_LEVELS)
        """How many legs under way want each level."""
        self.lowest = NOBODY
        """The most verbose level that is wanted at the moment."""
        self._set: int | None = None
        """What was last set. Before that the child decides for itself."""
        self._last_wanted = -math.inf
        """When somebody last wanted `_set`, or a more verbose level."""
        self._silences = 0

    @property
    def legs(self) -> int:
        """How many legs under way want messages."""
        return sum(self._wanted)

    def needed(self, level: int, now: float) -> SetLevel | None:
        """What a request that starts with `level` needs first."""
        if not self._declared:
            return None
        if self._set is None or level < self._set:
            self._set = level
            self._last_wanted = now
            return SetLevel(level, awaited=self._silences < _MOST_SILENCES)
        if level == self._set:
            self._last_wanted = now
            return None
        if self.lowest <= self._set or now - self._last_wanted < _QUIET:
            # Hosts that alternate between two levels shall not pay for it.
            return None
        self._set = min(level, self.lowest)
        self._last_wanted = now
        return SetLevel(self._set, awaited=False)

    def begin(self, level: int) -> None:
        """A leg that wants `level` is under way."""
        self._wanted[level] += 1
        self.lowest = min(self.lowest, level)

    def end(self, level: int, now: float) -> None:
        """It is not any more."""
        self._wanted[level] -= 1
        if self._set is not None and level <= self._set:
            self._last_wanted = now
        if level == self.lowest and not self._wanted[level]:
            self.lowest = next((i for i, legs in enumerate(self._wanted) if legs), NOBODY)

    def answered(self) -> None:
        """The child answered a `logging/setLevel`; an error is an answer too."""
        self._silences = 0

    def silent(self) -> None:
        """It left one unanswered."""
        self._silences += 1
