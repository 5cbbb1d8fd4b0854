"""Our own ends of pipes, read and written as raw descriptors.

Lives here: chunks in, pieces out, back-pressure. Does not: lines (framing.py). A write is tried at
once, by whoever has something to write; what the pipe does not take is left to the one task that
drains it, so nothing is ever interleaved and nobody waits for a pipe but that task.
"""

import contextlib
import os
from collections import deque
from collections.abc import Sequence

import trio

from mcp_era_wire.envelope import Buffer

_CHUNK = 65536
_MOST_CHUNK = 1 << 20
_JOIN_UP_TO = 1 << 18
_MOST_PIECES = 512
"""os.writev takes 1024 at least; a pipe takes far less at once."""


class Inlet:
    """The reading end of a pipe, socket, terminal or file."""

    def __init__(self, fd: int) -> None:
        self._fd = fd
        self._size = _CHUNK
        self._pollable = True

    async def receive(self) -> bytes:
        """The next chunk, of at most 1 MiB; empty at the end."""
        while True:
            if self._pollable:
                try:
                    await trio.lowlevel.wait_readable(self._fd)
                except PermissionError:
                    self._pollable = False  # a regular file is always readable
                    continue
            else:
                await trio.lowlevel.checkpoint()
            try:
                chunk = os.read(self._fd, self._size)
            except BlockingIOError:
                continue
            except OSError:
                return b""  # a terminal that hung up
            # A pipe that fills the buffer has more in store: fewer, larger reads.
            full = len(chunk) == self._size
            self._size = min(self._size * 4, _MOST_CHUNK) if full else _CHUNK
            return chunk


class Outlet:
    """The writing end of a pipe. `broken` once nobody reads at the other end."""

    def __init__(self, fd: int, low_water: int = 0) -> None:
        self._fd = fd
        self._low_water = low_water
        self._pending: deque[Buffer] = deque()
        self._wake = trio.Event()
        self._changed = trio.Event()
        self.closed = False
        self.backlog = 0
        """Bytes that were given and not taken yet."""
        self.broken = False

    def write(self, pieces: Sequence[Buffer]) -> None:
        """Writes the pieces in one go as far as the pipe takes them; the rest follows by itself."""
        if self.broken:
            return
        size = sum(map(len, pieces))
        if size <= _JOIN_UP_TO:
            self._pending.append(b"".join(pieces))
        else:
            self._pending.extend(pieces)
        waiting = self.backlog > 0
        self.backlog += size
        if waiting:
            return
        self._write_some()
        if self.backlog:
            self._wake.set()

    def _write_some(self) -> None:
        """Writes until everything is out or the pipe is full."""
        pending = self._pending
        while pending:
            try:
                if len(pending) == 1:
                    taken = os.write(self._fd, pending[0])
                else:
                    taken = os.writev(self._fd, [*pending][:_MOST_PIECES])
            except BlockingIOError:
                return
            except OSError:
                self._break()
                return
            self.backlog -= taken
            while taken:
                first = len(pending[0])
                if taken < first:
                    pending[0] = memoryview(pending[0])[taken:]
                    break
                taken -= first
                pending.popleft()
            while pending and not pending[0]:
                pending.popleft()

    def _break(self) -> None:
        self.broken = True
        self._pending.clear()
        self.backlog = 0
        self._tell()

    async def drain(self) -> None:
        """Writes what is left over until the end is closed; to be run as a task of its own."""
        while True:
            while self.backlog:
                try:
                    await trio.lowlevel.wait_writable(self._fd)
                except trio.ClosedResourceError:
                    return
                self._write_some()
                self._tell()
            await self._wake.wait()
            self._wake = trio.Event()

    def _tell(self) -> None:
        if self.backlog <= self._low_water:
            self._changed.set()
            self._changed = trio.Event()

    async def wait_low(self) -> None:
        """Waits until no more than `low_water` bytes are unsent, or nobody will read them."""
        while self.backlog > self._low_water:
            await self._changed.wait()

    async def wait_empty(self) -> None:
        """Waits until everything is out, or nobody will read it."""
        while self.backlog:
            await self._changed.wait()

    def close(self) -> None:
        """Closes the descriptor; what is unsent is lost."""
        if not self.closed:
            self.closed = True
            self._break()
            trio.lowlevel.notify_closing(self._fd)
            os.close(self._fd)


def widen(fd: int, size: int = 1 << 18) -> None:
    """Asks for a pipe buffer of `size` bytes: fewer turns for bulk. Best effort."""
    with contextlib.suppress(ImportError, OSError):
        import fcntl

        fcntl.fcntl(fd, getattr(fcntl, "F_SETPIPE_SZ", 1031), size)
