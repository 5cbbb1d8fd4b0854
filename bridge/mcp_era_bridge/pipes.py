"""Our own ends of pipes, read and written as raw descriptors.

Lives here: chunks in, pieces out, back-pressure. Does not: lines (framing.py). A write is tried at
once, by whoever has something to write; what the pipe does not take is left to the one task that
drains it, so nothing is ever interleaved and nobody waits for a pipe but that task.
"""

import contextlib
import fcntl
import math
import os
import select
import sys
import termios
import time
from collections import deque
from collections.abc import Callable, Sequence
from itertools import islice

import trio

from mcp_era_wire.envelope import Buffer

_CHUNK = 65536
_MOST_CHUNK = 1 << 20
_MOMENT = 1
"""Milliseconds that a reader stays for the answer to what it passed on."""
_LOOK = 20e-6
"""Seconds that it is looked for the next chunk without going to sleep, where that pays."""
_BRISK = 60e-6
"""Seconds, being woken included, in which an answer must have come for it to pay."""
_MOST_LUCK = 4
_BULK = 2048
"""Bytes above which a chunk is more than one or two small messages."""
_STINT = 0.005
"""Seconds after which the rest of the program has its turn in any case."""
_JOIN_UP_TO = 1 << 18
_MOST_PIECES = 512
"""os.writev takes 1024 at least; a pipe takes far less at once."""


class Traffic:
    """The pipes that lines come from, served together while there is something to do.

    A turn of the event loop costs more than a message, and being put to sleep and woken costs more
    than both. So whoever has read a chunk stays a little: the answer to what was just passed on,
    and the next request after it, mostly come within a millisecond. Where they have come within
    microseconds, they are looked for that long before going to sleep. Meanwhile only these pipes
    are served; nothing else waits longer than `_STINT`. With nothing to do nobody is awake.
    """

    def __init__(self) -> None:
        self._poll = select.poll()
        self._inlets: dict[int, Inlet] = {}
        self._luck = 0
        """How often in a row it may still be looked for the next chunk in vain; 0 is not at all."""
        self.bulk = False
        """Whether the last chunk held much: then nobody waits for a single answer, and one that is
        waited for a little longer brings more of them."""

    def add(self, inlet: "Inlet") -> None:
        """From now on the inlet is served with the others."""
        self._inlets[inlet.fd] = inlet
        self._poll.register(inlet.fd, select.POLLIN)

    def remove(self, inlet: "Inlet") -> None:
        """The inlet has ended, or its descriptor is about to be closed."""
        if self._inlets.pop(inlet.fd, None) is not None:
            self._poll.unregister(inlet.fd)

    def linger(self) -> None:
        """Serves all inlets until nothing comes any more, or somebody else has to have a turn."""
        leave = time.monotonic() + _STINT
        while time.monotonic() < leave:
            # Whoever drains a pipe that is full needs the event loop: then nobody stays.
            drained = any(inlet.is_backed_up() for inlet in self._inlets.values())
            served = False
            for fd, _ in self._poll.poll(0) if drained else self._next_events():
                inlet = self._inlets.get(fd)
                if inlet is not None and inlet.has_room():
                    served = True
                    if not inlet.take():
                        return
                    self.bulk = inlet.last_size > _BULK
            if drained or not served:
                return

    def _next_events(self) -> list[tuple[int, int]]:
        poll = self._poll.poll
        if self.bulk:
            return poll(_MOMENT)
        events = poll(0)
        if events:
            return events
        since = time.monotonic()
        if self._luck:
            while time.monotonic() - since < _LOOK:
                events = poll(0)
                if events:
                    self._luck = _MOST_LUCK
                    return events
            self._luck -= 1
            return poll(_MOMENT)
        events = poll(_MOMENT)
        if events and time.monotonic() - since < _BRISK:
            self._luck = 1
        return events


class Inlet:
    """The reading end of a pipe, socket, terminal or file.

    `handle` is called with each chunk, of at most 1 MiB, and with an empty one at the end.
    `destination` gives the outlet that what is read goes to: while that has more than `high_water`
    bytes unsent, nothing is read, unless not one of them is taken for `stall` seconds.
    """

    def __init__(
        self,
        fd: int,
        handle: Callable[[bytes], None],
        destination: Callable[[], "Outlet | None"],
        *,
        high_water: int,
        stall: float = math.inf,
    ) -> None:
        self.fd = fd
        self._handle = handle
        self._destination = destination
        self._high_water = high_water
        self._stall = stall
        self._size = _CHUNK
        self._ended = False
        self.last_size = 0
        """Bytes of the last chunk."""

    def is_backed_up(self) -> bool:
        """Whether the destination has anything unsent."""
        outlet = self._destination()
        return outlet is not None and outlet.backlog > 0

    def has_room(self) -> bool:
        """Whether there is room for what would be read."""
        outlet = self._destination()
        return outlet is None or outlet.backlog <= self._high_water or outlet.stalled

    def has_more(self) -> bool:
        """Whether there is something to read just now."""
        poll = select.poll()
        poll.register(self.fd, select.POLLIN)
        return any(event & select.POLLIN for _, event in poll.poll(0))

    async def run(self, traffic: Traffic) -> None:
        """Reads until the end."""
        traffic.add(self)
        try:
            while not self._ended:
                outlet = self._destination()
                if outlet is not None and not self.has_room():
                    await outlet.wait_for_room(self._high_water, self._stall)
                    continue
                await wait_readable(self.fd)
                traffic.linger()
        finally:
            traffic.remove(self)

    def take(self) -> bool:
        """Reads and handles one chunk. False once the end has been seen.

        Only to be called right after the descriptor was seen to be ready: it may be a blocking one.
        """
        try:
            chunk = os.read(self.fd, self._size)
        except BlockingIOError:
            return True
        except OSError:
            chunk = b""  # a terminal that hung up
        if not self._ended:
            self._ended = not chunk
            self.last_size = len(chunk)
            # A pipe that fills the buffer has more in store: fewer, larger reads.
            full = len(chunk) == self._size
            self._size = min(self._size * 4, _MOST_CHUNK) if full else _CHUNK
            self._handle(chunk)
        return not self._ended


async def wait_readable(fd: int) -> None:
    """Waits until there is something to read, or the end; a regular file never makes one wait."""
    try:
        await trio.lowlevel.wait_readable(fd)
    except PermissionError:
        await trio.lowlevel.checkpoint()


class Outlet:
    """The writing end of a pipe.

    `on_break` is called once it turns out that nobody reads at the other end, `on_stall` when the
    other end has taken nothing for too long (True) and when it takes something again (False).
    """

    def __init__(
        self,
        fd: int,
        on_break: Callable[[], None] = lambda: None,
        on_stall: Callable[[bool], None] = lambda stalled: None,
    ) -> None:
        self._fd = fd
        self._on_break = on_break
        self._on_stall = on_stall
        self._pending: deque[Buffer] = deque()
        self._wake = trio.Event()
        self._changed = trio.Event()
        self.backlog = 0
        """Bytes that were given and not taken yet."""
        self.broken = False
        self.closed = False
        self.stalled = False

    @property
    def is_read(self) -> bool:
        """Whether the other end has read all that it was given, as far as the system can tell."""
        if self.backlog:
            return False
        if self.broken or self.closed:
            return True
        try:
            unread = fcntl.ioctl(self._fd, termios.FIONREAD, bytes(4))
        except OSError:
            return True
        return not int.from_bytes(unread, sys.byteorder)

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
                    taken = os.writev(self._fd, list(islice(pending, _MOST_PIECES)))
            except BlockingIOError:
                return
            except OSError:
                self._break()
                self._on_break()
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
            if self.stalled:
                self.stalled = False
                self._on_stall(False)

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
        self._changed.set()
        self._changed = trio.Event()

    async def wait_for_room(self, high_water: int, stall: float) -> None:
        """Waits until no more than `high_water` bytes are unsent, or nobody will read them, or none
        of them has been taken for `stall` seconds."""
        while self.backlog > high_water and not self.stalled:
            with trio.move_on_after(stall) as patience:
                await self._changed.wait()
            if patience.cancelled_caught:
                self.stalled = True
                self._on_stall(True)

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
