"""Pipes as raw descriptors: order, back-pressure, ends of all kinds (design: the way of one line).

First the parts over pipes of their own, then the bridge with other things than pipes for its stdin
and stdout.
"""

import contextlib
import math
import os
from collections.abc import Iterator

import pytest
import trio
from hypothesis import given, settings
from hypothesis import strategies as st
from trio.testing import wait_all_tasks_blocked

from children import PATIENCE
from mcp_era_bridge.pipes import Inlet, Outlet, Traffic

MORE_THAN_A_PIPE_HOLDS = 1 << 20


class Pipe:
    """A pipe whose writing end never blocks; the ends close with the test."""

    def __init__(self) -> None:
        self.reading, self.writing = os.pipe()
        os.set_blocking(self.writing, False)
        self._open = {self.reading, self.writing}

    def forget(self, fd: int) -> None:
        """Somebody else has closed it."""
        self._open.discard(fd)

    def close(self, fd: int) -> None:
        os.close(fd)
        self.forget(fd)

    def close_all(self) -> None:
        for fd in list(self._open):
            self.close(fd)

    def take(self, size: int) -> bytes:
        """Reads just so many bytes, which must be there."""
        os.set_blocking(self.reading, False)
        taken = b""
        while len(taken) < size:
            taken += os.read(self.reading, size - len(taken))
        return taken

    async def read(self, size: int) -> bytes:
        """Reads so many bytes, as they come."""
        taken = bytearray()
        with trio.fail_after(PATIENCE):
            while len(taken) < size:
                await trio.lowlevel.wait_readable(self.reading)
                taken += os.read(self.reading, size - len(taken))
        return bytes(taken)


@pytest.fixture
def pipe() -> Iterator[Pipe]:
    made = Pipe()
    yield made
    made.close_all()


@pytest.fixture
def other() -> Iterator[Pipe]:
    made = Pipe()
    yield made
    made.close_all()


def numbered(size: int) -> bytes:
    return b"".join(b"%d," % number for number in range(size // 4 + 4))[:size]


# Outlet ------------------------------------------------------------------------------------------


async def test_what_a_pipe_takes_is_written_at_once(pipe: Pipe) -> None:
    outlet = Outlet(pipe.writing)
    outlet.write([b"one ", memoryview(b"two "), b"three"])
    assert pipe.take(13) == b"one two three"
    assert (outlet.backlog, outlet.broken) == (0, False)


async def test_it_can_be_told_whether_the_other_end_has_read_everything(pipe: Pipe) -> None:
    outlet = Outlet(pipe.writing)
    assert outlet.is_read
    outlet.write([b"a line\n"])
    assert not outlet.is_read
    pipe.take(3)
    assert not outlet.is_read
    pipe.take(4)
    assert outlet.is_read
    outlet.write([b"x" * MORE_THAN_A_PIPE_HOLDS])
    pipe.take(4096)
    assert not outlet.is_read


async def test_nothing_to_write_is_fine(pipe: Pipe) -> None:
    outlet = Outlet(pipe.writing)
    outlet.write([])
    outlet.write([b"", b""])
    outlet.write([b"x"])
    assert pipe.take(1) == b"x"
    assert outlet.backlog == 0


async def test_what_a_pipe_does_not_take_is_counted_and_follows_by_itself(
    pipe: Pipe, nursery: trio.Nursery
) -> None:
    outlet = Outlet(pipe.writing)
    nursery.start_soon(outlet.drain)
    text = numbered(MORE_THAN_A_PIPE_HOLDS)
    outlet.write([text])
    assert 0 < outlet.backlog < len(text)
    assert await pipe.read(len(text)) == text
    with trio.fail_after(PATIENCE):
        await outlet.wait_empty()
    assert outlet.backlog == 0


async def test_order_is_kept_while_something_is_left_over(
    pipe: Pipe, nursery: trio.Nursery
) -> None:
    outlet = Outlet(pipe.writing)
    nursery.start_soon(outlet.drain)
    pieces = [b"<%d>" % number * number for number in range(500)]
    expected = b"".join(pieces)
    read = b""
    written = 0
    while pieces:
        batch, pieces = pieces[:9], pieces[9:]
        outlet.write(batch)
        written += sum(map(len, batch))
        read += await pipe.read(min(1000, written - len(read)))
    read += await pipe.read(len(expected) - len(read))
    assert read == expected
    assert outlet.backlog == 0


@settings(deadline=None)
@given(st.lists(st.lists(st.integers(0, 300_000), max_size=4), max_size=6), st.data())
def test_any_sizes_of_writes_and_reads_keep_the_bytes_in_order(
    writes: list[list[int]], data: st.DataObject
) -> None:
    async def write_and_read() -> None:
        pipe = Pipe()
        outlet = Outlet(pipe.writing)
        wanted = read = b""
        async with trio.open_nursery() as nursery:
            nursery.start_soon(outlet.drain)
            for sizes in writes:
                pieces = [bytes([65 + len(wanted) % 26]) * size for size in sizes]
                wanted += b"".join(pieces)
                outlet.write(pieces)
                ready = len(wanted) - len(read)
                read += await pipe.read(data.draw(st.integers(0, ready)) if ready else 0)
                assert outlet.backlog <= len(wanted) - len(read)
            read += await pipe.read(len(wanted) - len(read))
            nursery.cancel_scope.cancel()
        pipe.close_all()
        assert read == wanted

    trio.run(write_and_read)


async def test_waiting_for_room_ends_before_everything_is_out(
    pipe: Pipe, nursery: trio.Nursery
) -> None:
    outlet = Outlet(pipe.writing)
    nursery.start_soon(outlet.drain)
    outlet.write([numbered(3 * MORE_THAN_A_PIPE_HOLDS)])
    room = trio.Event()

    async def wait_for_room() -> None:
        await outlet.wait_for_room(MORE_THAN_A_PIPE_HOLDS, math.inf)
        room.set()

    nursery.start_soon(wait_for_room)
    await wait_all_tasks_blocked()
    assert not room.is_set()
    await pipe.read(2 * MORE_THAN_A_PIPE_HOLDS)
    with trio.fail_after(PATIENCE):
        await room.wait()
    assert 0 < outlet.backlog <= MORE_THAN_A_PIPE_HOLDS
    assert not outlet.stalled
    nursery.cancel_scope.cancel()


async def test_a_stall_is_told_when_nothing_was_taken_for_so_long_and_when_it_is_over(
    pipe: Pipe, nursery: trio.Nursery, autojump_clock: trio.testing.MockClock
) -> None:
    told: list[tuple[float, bool]] = []
    started = trio.current_time()
    outlet = Outlet(
        pipe.writing, on_stall=lambda stalled: told.append((trio.current_time(), stalled))
    )
    nursery.start_soon(outlet.drain)
    outlet.write([numbered(3 * MORE_THAN_A_PIPE_HOLDS)])
    nursery.start_soon(outlet.wait_for_room, 1000, 30)
    await trio.sleep(20)
    # As much as makes a pipe writable again: it counts from here.
    await pipe.read(1 << 17)
    await trio.sleep(25)
    assert (outlet.stalled, told) == (False, [])
    await trio.sleep(25)
    assert (outlet.stalled, told) == (True, [(started + 50, True)])
    await pipe.read(3 * MORE_THAN_A_PIPE_HOLDS - (1 << 17))
    await outlet.wait_empty()
    assert (outlet.stalled, told) == (False, [(started + 50, True), (started + 70, False)])
    nursery.cancel_scope.cancel()


async def test_a_pipe_that_nobody_reads_any_more_is_broken(pipe: Pipe) -> None:
    told: list[str] = []
    outlet = Outlet(pipe.writing, on_break=lambda: told.append("broken"))
    pipe.close(pipe.reading)
    assert not outlet.broken
    outlet.write([b"x"])
    assert outlet.broken
    outlet.write([b"y"])
    assert (outlet.backlog, told) == (0, ["broken"])
    with trio.fail_after(PATIENCE):
        await outlet.wait_empty()


async def test_a_reader_that_leaves_in_the_middle_wakes_whoever_waits(
    pipe: Pipe, nursery: trio.Nursery
) -> None:
    outlet = Outlet(pipe.writing)
    nursery.start_soon(outlet.drain)
    outlet.write([numbered(MORE_THAN_A_PIPE_HOLDS)])
    woken = trio.Event()

    async def wait_empty() -> None:
        await outlet.wait_empty()
        woken.set()

    nursery.start_soon(wait_empty)
    await wait_all_tasks_blocked()
    pipe.close(pipe.reading)
    with trio.fail_after(PATIENCE):
        await woken.wait()
    assert (outlet.broken, outlet.backlog) == (True, 0)
    nursery.cancel_scope.cancel()


async def test_closing_ends_the_draining_and_is_the_readers_end_of_file(pipe: Pipe) -> None:
    outlet = Outlet(pipe.writing)
    with trio.fail_after(PATIENCE):
        async with trio.open_nursery() as nursery:
            nursery.start_soon(outlet.drain)
            outlet.write([numbered(MORE_THAN_A_PIPE_HOLDS)])
            await wait_all_tasks_blocked()
            outlet.close()
            pipe.forget(pipe.writing)
    outlet.close()
    assert outlet.closed
    while os.read(pipe.reading, 1 << 16):
        pass


# Inlet and Traffic -------------------------------------------------------------------------------


class Heard:
    """What an inlet handed on, and waits for it."""

    def __init__(self) -> None:
        self.text = b""
        self.ends = 0
        self._news = trio.Event()

    def __call__(self, chunk: bytes) -> None:
        self.text += chunk
        self.ends += not chunk
        self._news.set()

    async def size(self, size: int, patience: float = PATIENCE) -> None:
        with trio.fail_after(patience):
            while len(self.text) < size:
                self._news = trio.Event()
                await self._news.wait()


def inlet_of(pipe: Pipe, heard: Heard, outlet: Outlet | None = None, high_water: int = 0) -> Inlet:
    return Inlet(pipe.reading, heard, lambda: outlet, high_water=high_water)


async def test_everything_is_handed_on_and_then_one_empty_chunk(pipe: Pipe) -> None:
    heard = Heard()
    text = numbered(3 * MORE_THAN_A_PIPE_HOLDS)
    os.set_blocking(pipe.writing, True)

    def write() -> None:
        view = memoryview(text)
        while view:
            view = view[os.write(pipe.writing, view) :]
        pipe.close(pipe.writing)

    with trio.fail_after(PATIENCE):
        async with trio.open_nursery() as nursery:
            nursery.start_soon(inlet_of(pipe, heard).run, Traffic())
            nursery.start_soon(trio.to_thread.run_sync, write)
    assert (heard.text, heard.ends) == (text, 1)


async def test_nothing_is_read_while_the_destination_has_too_much_unsent(
    pipe: Pipe, other: Pipe, nursery: trio.Nursery
) -> None:
    heard = Heard()
    outlet = Outlet(other.writing)
    nursery.start_soon(outlet.drain)
    nursery.start_soon(inlet_of(pipe, heard, outlet, 1000).run, Traffic())
    os.write(pipe.writing, b"first")
    await heard.size(5)
    outlet.write([numbered(MORE_THAN_A_PIPE_HOLDS)])
    assert outlet.backlog > 1000
    os.write(pipe.writing, b"second")
    await wait_all_tasks_blocked()
    os.write(pipe.writing, b"third")
    await wait_all_tasks_blocked()
    assert heard.text == b"first"
    await other.read(MORE_THAN_A_PIPE_HOLDS)
    await heard.size(16)
    assert heard.text == b"firstsecondthird"
    nursery.cancel_scope.cancel()


async def test_what_is_below_the_high_water_does_not_stop_the_reading(
    pipe: Pipe, other: Pipe, nursery: trio.Nursery
) -> None:
    heard = Heard()
    outlet = Outlet(other.writing)
    outlet.write([numbered(MORE_THAN_A_PIPE_HOLDS)])
    assert outlet.backlog > 0
    nursery.start_soon(inlet_of(pipe, heard, outlet, MORE_THAN_A_PIPE_HOLDS).run, Traffic())
    for number in range(10):
        os.write(pipe.writing, b"x")
        await heard.size(number + 1)
    nursery.cancel_scope.cancel()


async def test_a_destination_that_takes_nothing_stops_the_reading_for_so_long_only(
    pipe: Pipe, other: Pipe, nursery: trio.Nursery, autojump_clock: trio.testing.MockClock
) -> None:
    heard = Heard()
    outlet = Outlet(other.writing)
    outlet.write([numbered(MORE_THAN_A_PIPE_HOLDS)])
    inlet = Inlet(pipe.reading, heard, lambda: outlet, high_water=1000, stall=30)
    nursery.start_soon(inlet.run, Traffic())
    started = trio.current_time()
    os.write(pipe.writing, b"a")
    await heard.size(1, patience=60)
    assert trio.current_time() - started == 30
    os.write(pipe.writing, b"b")
    await heard.size(2)
    assert trio.current_time() - started == 30
    nursery.cancel_scope.cancel()


async def test_an_end_is_seen_even_if_the_destination_takes_nothing_any_more(
    pipe: Pipe, other: Pipe, nursery: trio.Nursery, autojump_clock: trio.testing.MockClock
) -> None:
    heard = Heard()
    outlet = Outlet(other.writing)
    outlet.write([numbered(MORE_THAN_A_PIPE_HOLDS)])
    inlet = Inlet(pipe.reading, heard, lambda: outlet, high_water=1000, stall=30)
    os.write(pipe.writing, b"last")
    pipe.close(pipe.writing)
    with trio.fail_after(60):
        await inlet.run(Traffic())
    assert (heard.text, heard.ends) == (b"last", 1)
    nursery.cancel_scope.cancel()


async def test_a_conversation_over_two_pipes_goes_on_by_itself(pipe: Pipe, other: Pipe) -> None:
    """Each end answers what the other one says, until one of them is tired of it."""
    back, forth = Outlet(pipe.writing), Outlet(other.writing)
    traffic = Traffic()
    rounds: list[bytes] = []

    def answer(chunk: bytes) -> None:
        rounds.append(chunk)
        if len(rounds) >= 2000:
            for outlet, ours in ((back, pipe), (forth, other)):
                outlet.close()
                ours.forget(ours.writing)
        elif chunk:
            (back if chunk == b"forth" else forth).write(
                [b"back" if chunk == b"forth" else b"forth"]
            )

    with trio.fail_after(PATIENCE):
        async with trio.open_nursery() as nursery:
            for reading in (pipe.reading, other.reading):
                inlet = Inlet(reading, answer, lambda: None, high_water=0)
                nursery.start_soon(inlet.run, traffic)
            forth.write([b"forth"])
    assert [chunk for chunk in rounds if chunk] == [b"forth", b"back"] * 1000


async def test_two_inlets_do_not_keep_each_other_from_being_read(
    pipe: Pipe, other: Pipe, nursery: trio.Nursery
) -> None:
    traffic = Traffic()
    busy, quiet = Heard(), Heard()
    stop = trio.Event()

    async def chatter() -> None:
        while not stop.is_set():
            with contextlib.suppress(BlockingIOError):
                os.write(pipe.writing, b"x" * 1000)
            await trio.lowlevel.checkpoint()

    nursery.start_soon(inlet_of(pipe, busy).run, traffic)
    nursery.start_soon(inlet_of(other, quiet).run, traffic)
    nursery.start_soon(chatter)
    for number in range(20):
        await busy.size(len(busy.text) + 1)
        os.write(other.writing, b".")
        await quiet.size(number + 1)
    stop.set()
    nursery.cancel_scope.cancel()
