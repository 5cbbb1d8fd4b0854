"""No process is left behind, also if the bridge has no last words: design D10."""

import os
import signal
import sys
from collections.abc import Iterator
from pathlib import Path

import pytest

from bridge_process import BridgeProcess, assert_ends, is_left, modern_call, modern_request
from children import Scripted, legacy

pytestmark = pytest.mark.skipif(
    sys.platform != "linux", reason="looks at the processes of the machine under /proc"
)


def guards_of(bridge: int) -> Iterator[int]:
    """The guards that the process `bridge` has started."""
    for folder in Path("/proc").glob("[0-9]*"):
        try:
            parent = int((folder / "stat").read_text().rpartition(")")[2].split()[1])
            named = b"mcp-bridge-guard" in (folder / "cmdline").read_bytes()
        except (FileNotFoundError, ProcessLookupError):
            continue
        if named and parent == bridge:
            yield int(folder.name)


@pytest.mark.parametrize("ignore", [[], ["SIGTERM"]])
def test_a_bridge_that_is_killed_leaves_nothing_behind(tmp_path: Path, ignore: list[str]) -> None:
    child = Scripted(
        tmp_path,
        legacy(tools_list=[]),
        start=[{"grandchild": False}],
        end=[{"hang": True}],
        ignore=ignore,
    )
    with BridgeProcess(child) as bridge:
        bridge.result(modern_call(1))
        bridge.send(modern_request(2, "tools/list"))
        (guard,) = guards_of(bridge.process.pid)
        bridge.process.kill()
        for pid in [*child.pids, *child.grandchildren, guard]:
            assert_ends(pid)


def test_the_guard_watches_over_the_process_that_is_there_now(tmp_path: Path) -> None:
    child = Scripted(
        tmp_path,
        legacy(tools_list=[{"exit": 5}]),
        end=[{"hang": True}],
        ignore=["SIGTERM"],
    )
    with BridgeProcess(child) as bridge:
        bridge.result(modern_call(1))
        bridge.error(modern_request(2, "tools/list"))
        bridge.result(modern_call(3))
        first, second = child.pids
        assert is_left(second) and not is_left(first)
        bridge.process.kill()
        assert_ends(second)


@pytest.mark.parametrize("number", [signal.SIGTERM, signal.SIGINT, signal.SIGHUP])
def test_the_guard_outlives_what_ends_a_terminal_and_ends_with_the_bridge(
    tmp_path: Path, number: signal.Signals
) -> None:
    child = Scripted(tmp_path, legacy(), end=[{"hang": True}], ignore=["SIGTERM"])
    with BridgeProcess(child) as bridge:
        bridge.result(modern_call(1))
        (guard,) = guards_of(bridge.process.pid)
        os.kill(guard, number)
        bridge.result(modern_call(2))
        assert is_left(guard)
        bridge.process.send_signal(signal.SIGTERM)
        bridge.process.wait(30)
        for pid in [*child.pids, guard]:
            assert_ends(pid)


def test_a_bridge_that_ends_in_good_order_leaves_no_guard(tmp_path: Path) -> None:
    child = Scripted(tmp_path, legacy())
    with BridgeProcess(child) as bridge:
        bridge.result(modern_call(1))
        (guard,) = guards_of(bridge.process.pid)
        bridge.end()
        assert_ends(guard)


def test_a_bridge_whose_guard_was_killed_goes_on(tmp_path: Path) -> None:
    child = Scripted(tmp_path, legacy(tools_list=[{"exit": 5}]))
    with BridgeProcess(child) as bridge:
        bridge.result(modern_call(1))
        (guard,) = guards_of(bridge.process.pid)
        os.kill(guard, signal.SIGKILL)
        bridge.error(modern_request(2, "tools/list"))
        bridge.result(modern_call(3))
        bridge.end()
