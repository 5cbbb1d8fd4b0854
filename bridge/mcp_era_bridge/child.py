"""One child process, from its start until nothing of it is left.

Lives here: when it is gone, how it is ended, what becomes of its process group. Does not: what it
says (the joint), when it is started again (shell.py). Spec 2026-07-28, basic/transports/stdio
(Shutdown).
"""

import contextlib
import os
import signal
from collections.abc import Callable
from typing import Protocol

import trio

from mcp_era_bridge.effects import Ending
from mcp_era_bridge.framing import LineCutter
from mcp_era_bridge.pipes import Inlet, Outlet, Traffic, widen
from mcp_era_bridge.spawn import Spawned
from mcp_era_bridge.stderr import ChildStderr, StderrSink

HIGH_WATER = 8 << 20
"""Unsent bytes above which the other side is not read any more."""

_LINGER = 0.25
"""Seconds that output may still come after the process has exited (a grandchild holds the pipe)."""
_GROUP_PATIENCE = 1.0
"""Seconds between SIGTERM and SIGKILL for what an ended process leaves behind."""


class Report(Protocol):
    """Who hears of a process."""

    def lines(self, lines: list[bytes], ascii: bool) -> None:
        """It wrote `lines`; `ascii` says that they hold nothing else."""

    def last_line(self, line: bytes) -> None:
        """It ended its output with a line that it may not have finished."""

    def stalled(self, stalled: bool) -> None:
        """It has taken nothing for too long, or takes something again."""


class Child:
    """A running process. `number` is how the joint knows it.

    `report` hears what it says, and whether it takes what it is told. Nothing is read while `host`
    has too much unsent. `most_line` is the most bytes of a line; `redact` takes secrets out of the
    stderr that goes into error messages.
    """

    def __init__(
        self,
        number: int,
        spawned: Spawned,
        sink: StderrSink,
        report: Report,
        host: Outlet,
        *,
        most_line: int,
        redact: Callable[[str], str],
    ) -> None:
        self.number = number
        self.pid = spawned.pid
        self._fds = (spawned.stdout, spawned.stderr)
        for fd in (spawned.stdin, spawned.stdout):
            widen(fd)
        os.set_blocking(spawned.stdin, False)
        os.set_blocking(spawned.stdout, False)
        self._deaf = trio.Event()
        self.outlet = Outlet(spawned.stdin, self._deaf.set, report.stalled)
        self._cutter = LineCutter(most_line)
        self._report = report
        self._inlet = Inlet(spawned.stdout, self._handle, lambda: host, high_water=HIGH_WATER)
        self._stderr = ChildStderr(spawned.stderr, sink, redact)
        self._exited = trio.Event()
        self._gone = trio.Event()
        self.ended = trio.Event()
        """Nothing of the process is left."""
        self._code: int | None = None
        self._signal: int | None = None

    async def live(self, traffic: Traffic) -> Ending:
        """Reads the process, together with the other `traffic`, until it is gone; then ends its
        group."""
        async with trio.open_nursery() as nursery:
            nursery.start_soon(self._inlet.run, traffic)
            nursery.start_soon(self._stderr.relay)
            nursery.start_soon(self.outlet.drain)
            nursery.start_soon(self._watch, self._exited)
            nursery.start_soon(self._watch, self._deaf)
            nursery.start_soon(self._wait_exit)
            await self._gone.wait()
            with trio.move_on_after(_LINGER):
                await self._exited.wait()
            nursery.cancel_scope.cancel()
        await self._stderr.drain()
        await self._end_group()
        self.outlet.close()
        for fd in self._fds:
            os.close(fd)
        self.ended.set()
        return self._ending()

    def _handle(self, chunk: bytes) -> None:
        if chunk:
            lines = self._cutter.feed(chunk)
            if lines:
                self._report.lines(lines, self._cutter.ascii)
            return
        for rest in self._cutter.rest():
            self._report.last_line(rest)
        self._gone.set()

    async def _wait_exit(self) -> None:
        await wait_exit(self.pid)
        self._exited.set()

    async def _watch(self, event: trio.Event) -> None:
        """It has exited, or does not listen any more: what it has said by then is still heard."""
        await event.wait()
        await trio.sleep(_LINGER)
        # If the host does not read, neither do we: what was said before the end still counts. No
        # event tells that a pipe is empty, and this is the end of a process.
        while self._inlet.has_more():  # noqa: ASYNC110
            await trio.sleep(_LINGER)
        self._gone.set()

    async def end(self, grace: float, patience: float) -> None:
        """Closes the process's stdin, then terminates it after `grace` and kills it after another
        `patience` seconds. `live` goes on until it is gone.

        What is still unsent has been given up by then: see `last_words`.
        """
        self.outlet.close()
        if await self._exits_within(grace):
            return
        self._signal_group(signal.SIGTERM)
        if await self._exits_within(patience):
            return
        self._signal_group(signal.SIGKILL)

    async def last_words(self, seconds: float) -> None:
        """Lets the process take what it was told, as long as it takes any, for so many seconds."""
        with trio.move_on_after(seconds):
            await self.outlet.wait_empty()

    async def _exits_within(self, seconds: float) -> bool:
        with trio.move_on_after(seconds):
            await self._exited.wait()
        return self._exited.is_set()

    async def _end_group(self) -> None:
        """Ends what is left of the group. The leader is reaped last, so that its number cannot
        have been given to anybody else meanwhile."""
        if not self._exited.is_set():
            self._signal_group(signal.SIGTERM)
            with trio.move_on_after(_GROUP_PATIENCE):
                await wait_exit(self.pid)
                self._exited.set()
        if not self._exited.is_set():
            self._signal_group(signal.SIGKILL)
            await wait_exit(self.pid)
            self._exited.set()
        self._signal_group(signal.SIGTERM)
        self._reap()
        for _ in range(20):
            if not self._group_is_left():
                return
            await trio.sleep(_GROUP_PATIENCE / 20)
        self._signal_group(signal.SIGKILL)

    def _signal_group(self, number: int) -> None:
        if self.ended.is_set():
            return  # the number may be somebody else's by now
        with contextlib.suppress(ProcessLookupError, PermissionError):
            os.killpg(self.pid, number)

    def _group_is_left(self) -> bool:
        try:
            os.killpg(self.pid, 0)
        except (ProcessLookupError, PermissionError):
            return False
        return True

    def _reap(self) -> None:
        with contextlib.suppress(ChildProcessError):
            _, status = os.waitpid(self.pid, 0)
            code = os.waitstatus_to_exitcode(status)
            if code < 0:
                self._signal = -code
            else:
                self._code = code

    def _ending(self) -> Ending:
        how = "is gone"
        if self._code is not None:
            how = f"exited with code {self._code}"
        elif self._signal is not None:
            how = f"was ended by {_signal_name(self._signal)}"
        return Ending(how, self._code, self._signal, self._stderr.last_lines())


def _signal_name(number: int) -> str:
    try:
        return signal.Signals(number).name
    except ValueError:
        return f"signal {number}"


async def wait_exit(pid: int) -> None:
    """Waits until the process has exited, and leaves it to be reaped."""
    try:
        fd = os.pidfd_open(pid)
    except (AttributeError, OSError):
        await trio.to_thread.run_sync(_wait_exit_blocking, pid, abandon_on_cancel=True)
        return
    try:
        await trio.lowlevel.wait_readable(fd)
    finally:
        os.close(fd)


def _wait_exit_blocking(pid: int) -> None:
    with contextlib.suppress(ChildProcessError):
        os.waitid(os.P_PID, pid, os.WEXITED | os.WNOWAIT)
