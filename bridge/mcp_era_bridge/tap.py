"""Where somebody may listen to what passes between the bridge and the processes of the server.

Lives here: what is heard. Does not: who listens (witness.py), who tells (shell.py).
"""

from collections.abc import Sequence
from typing import Protocol

from mcp_era_bridge.effects import Ending
from mcp_era_wire.envelope import Buffer


class Tap(Protocol):
    """Hears of everything before it is handled. `process` is the number of a process."""

    def started(self, process: int, now: float) -> None:
        """The process runs."""

    def told(self, process: int, pieces: Sequence[Buffer], now: float) -> None:
        """The process is written `pieces`, which make up whole lines."""

    def said(self, process: int, lines: list[bytes], now: float) -> None:
        """The process wrote `lines`."""

    def ended(self, process: int, ending: Ending, now: float) -> None:
        """The process is gone."""
