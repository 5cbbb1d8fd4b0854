"""The shell: pipes, the child process, the clock, signals. Everything is decided in the joint.

Lives here: the tasks of the bridge, the carrying out of the joint's effects, the shutdown. Does
not: any protocol. Spec 2026-07-28, basic/transports/stdio (Shutdown).
"""

import math
import os
import signal
from collections.abc import Awaitable, Callable

import trio

from mcp_era_bridge import verdicts
from mcp_era_bridge.child import HIGH_WATER, Child
from mcp_era_bridge.effects import EndChild, Finish, Keep, Outbox, StartChild
from mcp_era_bridge.framing import LineCutter
from mcp_era_bridge.guard import Guard
from mcp_era_bridge.joint import Joint
from mcp_era_bridge.logs import Log
from mcp_era_bridge.pipes import Inlet, Outlet, Traffic
from mcp_era_bridge.redaction import Redactor
from mcp_era_bridge.settings import Settings
from mcp_era_bridge.spawn import Command, NotStarted, Spawned, spawn
from mcp_era_bridge.tap import Tap

_GRACE = 2.5
"""Seconds that a child has to end by itself once its stdin is closed."""
_PATIENCE = 2.0
"""Seconds between SIGTERM and SIGKILL at the end."""
_HURRY = 1.0
"""The same when the bridge itself was told to end by a signal."""
_RESTART_GRACE = 0.5
_STALL = 30.0
"""Seconds that a child may take nothing before the host is read on."""
_FLUSH = 5.0
"""Seconds that either side has at the end to take what is still unsent."""


class Shell:
    """Runs one joint over real pipes.

    `host` are the descriptors that the host writes to and reads, by default our own stdin and
    stdout. `tap` hears what passes between the bridge and the processes of the server.
    """

    def __init__(
        self,
        joint: Joint,
        settings: Settings,
        command: Command,
        guard: Guard,
        log: Log,
        cache: verdicts.Cache,
        *,
        host: tuple[int, int] | None = None,
        tap: Tap | None = None,
    ) -> None:
        self._joint = joint
        self._tap = tap
        self._command = command
        self._guard = guard
        self._log = log
        self._cache = cache
        self._sink = log.sink
        self._traffic = Traffic()
        self._settings = settings
        self._redact = Redactor(command.env).redact
        self._cutter = LineCutter(settings.most_line)
        host_in, host_out = host if host is not None else (0, _private_stdout())
        self._host_in = Inlet(
            host_in,
            self._handle_host,
            # Cancellations and the end of the host must be seen even if the child takes nothing.
            lambda: self._child.outlet if self._child is not None else None,
            high_water=HIGH_WATER,
            stall=_STALL,
        )
        self.host_fd = host_out
        """The descriptor that the host reads."""
        self._host_out = Outlet(self.host_fd, on_break=self._host_is_gone)
        self._child: Child | None = None
        """The process that takes the host's requests, if it is there."""
        self._number = 0
        """Its number."""
        self._processes: dict[int, _Process] = {}
        """Those that are there or will be, by number."""
        self._wishes: list[_Process] = []
        self._wish = trio.Event()
        self._timer = trio.CancelScope()
        self._finishing = trio.Event()
        self._exit_code = 0
        self.signal: int | None = None
        """The signal that told us to end."""
        self._calm = trio.CancelScope()
        """The end in good order; a signal cuts it short."""

    async def run(self, first: Spawned | str) -> int:
        """Runs until the host is gone or the joint says so; returns the exit code."""
        async with trio.open_nursery() as nursery:
            nursery.start_soon(self._heed_signals)
            nursery.start_soon(self._keep_time)
            nursery.start_soon(self._host_out.drain)
            nursery.start_soon(self._host_in.run, self._traffic)
            nursery.start_soon(self._keep_children, first)
            await self._finishing.wait()
            with self._calm:
                await self._end_children(self._end_in_good_order)
                with trio.move_on_after(_FLUSH):
                    await self._host_out.wait_empty()
            if self._calm.cancel_called:
                await self._end_children(_end_in_a_hurry)
            nursery.cancel_scope.cancel()
        self._guard.watch()
        self._log.count_noise()
        self._sink.count_dropped()
        return self._exit_code

    # Tasks ---------------------------------------------------------------------------------------

    def _handle_host(self, chunk: bytes) -> None:
        now = trio.current_time()
        lines = self._cutter.feed(chunk) if chunk else self._cutter.rest()
        if lines:
            self._joint.from_host(lines, self._cutter.ascii, now)
        if not chunk:
            self._joint.host_ended(now)
        self._apply()

    async def _keep_children(self, first: Spawned | str) -> None:
        """Runs the processes that the joint wants."""
        async with trio.open_nursery() as nursery:
            process = self._processes[1] = _Process(1, None)
            nursery.start_soon(self._run_process, process, first)
            while True:
                while not self._wishes:
                    self._wish = trio.Event()
                    await self._wish.wait()
                nursery.start_soon(self._run_process, self._wishes.pop(0), None)

    async def _run_process(self, process: "_Process", start: Spawned | str | None) -> None:
        """Starts a process, once that which it is to replace is gone, and runs it to its end."""
        if process.instead_of is not None:
            await process.instead_of.ended.wait()
        if start is None and not (process.unwanted.is_set() or self._finishing.is_set()):
            try:
                start = spawn(self._command)
            except NotStarted as error:
                start = str(error)
        if isinstance(start, str):
            self._joint.child_not_started(process.number, start, trio.current_time())
            self._apply()
        elif start is not None:
            await self._live(process, start)
        del self._processes[process.number]
        process.ended.set()

    async def _live(self, process: "_Process", spawned: Spawned) -> None:
        number = process.number
        report = _Report(self._joint, self._apply, number, self._tap)
        process.child = child = Child(
            number,
            spawned,
            self._sink,
            report,
            self._host_out,
            most_line=self._settings.most_line,
            redact=self._redact,
        )
        self._find_child()
        self._watch_groups()
        if self._tap is not None:
            self._tap.started(number, trio.current_time())
        self._joint.child_started(number, trio.current_time())
        self._apply()
        async with trio.open_nursery() as nursery:
            nursery.start_soon(self._end_unwanted, process, child)
            ending = await child.live(self._traffic)
            nursery.cancel_scope.cancel()
        process.child = None
        self._find_child()
        self._watch_groups()
        if self._tap is not None:
            self._tap.ended(number, ending, trio.current_time())
        self._joint.child_ended(number, ending, trio.current_time())
        self._apply()

    async def _end_unwanted(self, process: "_Process", child: Child) -> None:
        """Ends a process that the joint does not want any more."""
        await process.unwanted.wait()
        await child.end(_RESTART_GRACE, _PATIENCE)

    def _watch_groups(self) -> None:
        """Tells the guard which processes there are."""
        self._guard.watch(*(child.pid for child in self._children))

    def _find_child(self) -> None:
        """Sees which process takes the host's requests."""
        self._number = self._joint.process
        process = self._processes.get(self._number)
        self._child = process.child if process is not None else None

    @property
    def _children(self) -> list[Child]:
        return [each.child for each in self._processes.values() if each.child is not None]

    async def _keep_time(self) -> None:
        while True:
            with trio.CancelScope() as self._timer:
                self._set_timer()
                await trio.sleep_forever()
            if self._child is not None:
                self._joint.child_has_read(self._child.outlet.is_read)
            self._joint.passed(trio.current_time())
            self._apply()

    def _set_timer(self) -> None:
        deadline = self._joint.deadline
        due = math.inf if deadline is None else deadline
        if self._timer.deadline != due:
            self._timer.deadline = due

    async def _heed_signals(self) -> None:
        numbers = [
            number
            for number in (signal.SIGTERM, signal.SIGINT, signal.SIGHUP)
            if signal.getsignal(number) is not signal.SIG_IGN
        ]
        with trio.open_signal_receiver(*numbers) as signals:
            async for number in signals:
                self.signal = number
                self._joint.finish(128 + number)
                self._apply()
                self._exit_code = 128 + number
                self._calm.cancel()

    # Effects -------------------------------------------------------------------------------------

    def _apply(self) -> None:
        """Carries out what the joint wants done."""
        out = self._joint.out
        if out.to_host:
            self._write_to_host(out)
        if self._joint.process != self._number:
            self._find_child()
        child = self._child
        if out.to_child and child is not None:
            if self._tap is not None:
                self._tap.told(self._number, out.to_child, trio.current_time())
            child.outlet.write(out.to_child)
            out.to_child.clear()
        if out.to_others:
            self._write_to_others(out)
        if out.actions or out.noise or out.notes:
            self._apply_the_rest()
        self._set_timer()

    def _write_to_others(self, out: Outbox) -> None:
        for number, pieces in out.to_others.items():
            process = self._processes.get(number)
            if pieces and process is not None and process.child is not None:
                if self._tap is not None:
                    self._tap.told(number, pieces, trio.current_time())
                process.child.outlet.write(pieces)
                pieces.clear()

    def _write_to_host(self, out: Outbox) -> None:
        start = 0
        for end in (*out.host_breaks, len(out.to_host)):
            if end > start:
                self._host_out.write(out.to_host[start:end] if out.host_breaks else out.to_host)
                start = end
        out.to_host.clear()
        out.host_breaks.clear()

    def _apply_the_rest(self) -> None:
        out = self._joint.out
        for note in out.notes:
            self._log.note(note)
        for line in out.noise:
            self._log.noise(line, trio.current_time())
        actions = list(out.actions)
        out.notes.clear()
        out.noise.clear()
        out.actions.clear()
        for action in actions:
            match action:
                case StartChild(number, instead_of):
                    old = self._processes.get(instead_of) if instead_of is not None else None
                    if old is not None:
                        old.unwanted.set()
                    process = self._processes[number] = _Process(number, old)
                    self._wishes.append(process)
                    self._wish.set()
                case EndChild(number):
                    unwanted = self._processes.get(number)
                    if unwanted is not None:
                        unwanted.unwanted.set()
                case Keep(remembered):
                    self._cache.store(remembered)
                case Finish(exit_code):
                    self._exit_code = exit_code
                    self._finishing.set()

    def _host_is_gone(self) -> None:
        """Nobody reads our stdout any more."""
        self._joint.finish(0)
        self._apply()

    async def _end_children(self, end: Callable[[Child], Awaitable[None]]) -> None:
        async with trio.open_nursery() as nursery:
            for child in self._children:
                nursery.start_soon(end, child)

    async def _end_in_good_order(self, child: Child) -> None:
        await child.last_words(_FLUSH)
        await child.end(_GRACE, _PATIENCE)
        await child.ended.wait()


async def _end_in_a_hurry(child: Child) -> None:
    await child.end(0, _HURRY)
    await child.ended.wait()


class _Process:
    """One process of the server, from the wish for it to its end."""

    def __init__(self, number: int, instead_of: "_Process | None") -> None:
        self.number = number
        self.instead_of = instead_of
        self.child: Child | None = None
        self.unwanted = trio.Event()
        self.ended = trio.Event()


class _Report:
    """Tells the joint what a process says, and has the effects carried out."""

    def __init__(
        self, joint: Joint, apply: Callable[[], None], number: int, tap: Tap | None
    ) -> None:
        self._joint = joint
        self._apply = apply
        self._number = number
        self._tap = tap

    def lines(self, lines: list[bytes], ascii: bool) -> None:
        if self._tap is not None:
            self._tap.said(self._number, lines, trio.current_time())
        self._joint.from_child(self._number, lines, ascii, trio.current_time())
        self._apply()

    def last_line(self, line: bytes) -> None:
        if self._tap is not None:
            self._tap.said(self._number, [line], trio.current_time())
        self._joint.last_from_child(self._number, line, trio.current_time())
        self._apply()

    def stalled(self, stalled: bool) -> None:
        self._joint.child_stalled(self._number, stalled)
        self._apply()


def _private_stdout() -> int:
    """A private duplicate of descriptor 1 for the protocol; 1 itself becomes stderr, so that no
    stray print reaches the host."""
    fd = os.dup(1)
    os.dup2(2, 1)
    return fd
