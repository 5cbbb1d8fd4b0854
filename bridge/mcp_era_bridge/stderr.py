"""Our stderr, which nobody may be reading.

Lives here: writing without ever blocking and without touching the descriptor's flags (others may
share it), the child's stderr passed through, its last lines kept. Does not: what our own log says
(logs.py).
"""

import os
import re
import select
from collections import deque
from collections.abc import Callable

import trio

from mcp_era_bridge.pipes import wait_readable
from mcp_era_wire.envelope import Buffer

_SLICE = 4096
"""A pipe that is writable takes this much without blocking (PIPE_BUF)."""
_PATIENCE = 0.1
"""Seconds that the child's stderr waits for a reader before something is dropped."""
_LAST_LINES = 5
_LAST_BYTES = 1024
_KEPT_OF_LINE = 8192
"""Bytes of a line that are kept: secrets are looked for before it is cut."""
_MOST_LAST = 1 << 20
"""Bytes that are still read of a process that has ended; others may hold its pipe."""


class StderrSink:
    """Writes to descriptor 2 what it takes, and counts what it does not."""

    def __init__(self, fd: int = 2) -> None:
        self._fd = fd
        self._stuck = False
        self.dropped = 0
        """Bytes that nobody wanted, since that was last said."""

    def _writable(self) -> bool:
        try:
            return bool(select.select([], [self._fd], [], 0)[1])
        except OSError:
            return False

    def write(self, text: bytes) -> None:
        """Writes at once what can be written and drops the rest."""
        view = memoryview(text)
        while view:
            if not self._put(view[:_SLICE]):
                self._drop(len(view))
                return
            view = view[_SLICE:]

    async def write_patiently(self, text: bytes) -> None:
        """As `write`, but gives a reader that is merely slow a moment, slice by slice."""
        view = memoryview(text)
        while view:
            if not self._writable() and not self._stuck:
                await self._wait_a_moment()
            if not self._put(view[:_SLICE]):
                self._drop(len(view))
                return
            view = view[_SLICE:]

    async def _wait_a_moment(self) -> None:
        with trio.move_on_after(_PATIENCE):
            try:
                await trio.lowlevel.wait_writable(self._fd)
            except OSError:
                return

    def _put(self, piece: memoryview) -> bool:
        self.count_dropped()
        if self.dropped or not self._writable():
            return False
        self._stuck = False
        return self._write(piece)

    def count_dropped(self) -> None:
        """Says how much was dropped, as soon as somebody reads; to be called at the end, too."""
        if self.dropped and self._writable():
            if self._write(b"mcp-bridge: %d bytes of stderr were dropped\n" % self.dropped):
                self.dropped = 0

    def _write(self, piece: Buffer) -> bool:
        try:
            os.write(self._fd, piece)
        except OSError:
            return False
        return True

    def _drop(self, size: int) -> None:
        self.dropped += size
        self._stuck = True


class Tail:
    """The last lines of a stream: at most `most_lines` and `most_bytes` of them together."""

    def __init__(self, most_lines: int, most_bytes: int) -> None:
        self._most_lines = most_lines
        self._most_bytes = most_bytes
        self._lines: deque[bytes] = deque(maxlen=most_lines + 1)

    def keep(self, chunk: bytes) -> None:
        """Takes what was written next."""
        last = self._lines.pop() if self._lines else b""
        for line in (last + chunk[-65536:]).split(b"\n"):
            self._lines.append(line[-_KEPT_OF_LINE:])

    def lines(self, redact: Callable[[str], str]) -> list[str]:
        """The lines, without control characters, as `redact` leaves them."""
        lines: list[str] = []
        room = self._most_bytes
        for line in reversed(self._lines):
            text = redact(without_controls(line.decode("utf-8", "replace")).strip())
            if not text or room <= 0 or len(lines) == self._most_lines:
                continue
            lines.insert(0, text[-room:])
            room -= len(text)
        return lines


class ChildStderr:
    """Passes one process's stderr through and keeps its end for error messages, where `redact` has
    taken secrets out of it."""

    def __init__(self, fd: int, sink: StderrSink, redact: Callable[[str], str]) -> None:
        self._fd = fd
        self._sink = sink
        self._redact = redact
        self._tail = Tail(_LAST_LINES, _LAST_BYTES)

    async def relay(self) -> None:
        """Runs until the process has closed its stderr."""
        while True:
            await wait_readable(self._fd)
            chunk = os.read(self._fd, 65536)
            if not chunk:
                return
            self._tail.keep(chunk)
            await self._sink.write_patiently(chunk)

    async def drain(self) -> None:
        """Takes what is still in the pipe of a process that has ended, if it is not too much."""
        os.set_blocking(self._fd, False)
        left = _MOST_LAST
        while left > 0:
            try:
                chunk = os.read(self._fd, 65536)
            except OSError:
                return
            if not chunk:
                return
            left -= len(chunk)
            self._tail.keep(chunk)
            await self._sink.write_patiently(chunk)

    def last_lines(self) -> list[str]:
        """The last lines, at most 5 and 1 KiB together, without control characters."""
        return self._tail.lines(self._redact)


_CONTROL = re.compile(r"\x1b\[[0-9;?]*[A-Za-z]|[\x00-\x1f\x7f-\x9f]")


def without_controls(text: str) -> str:
    """The text without what a terminal would obey."""
    return _CONTROL.sub("", text)
