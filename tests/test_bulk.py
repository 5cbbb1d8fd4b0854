"""Many calls and large ones, through real processes, in every pair that is served."""

from collections.abc import Callable
from pathlib import Path
from typing import cast

import pytest

from bridge_process import (
    BridgeProcess,
    echoed,
    legacy_call,
    legacy_opening,
    modern_call,
)
from children import Scripted, legacy, modern
from scripted_child import Acts, Object

CALLS = 20_000
IN_FLIGHT = 1_000
MANY = 16 << 20
PAIRS = pytest.mark.parametrize(
    ("call", "era"),
    [
        pytest.param(legacy_call, legacy, id="legacy-legacy"),
        pytest.param(modern_call, modern, id="modern-modern"),
        pytest.param(modern_call, legacy, id="modern-legacy"),
    ],
)


def open_session(bridge: BridgeProcess, call: Callable[..., Object]) -> int:
    """What a host of that era does first; how many answers it has had then."""
    if call is legacy_call:
        bridge.result(legacy_opening("open"))
        bridge.send({"jsonrpc": "2.0", "method": "notifications/initialized"})
    else:
        bridge.result(call("open"))
    return 1


@PAIRS
def test_all_of_many_pipelined_calls_are_answered(
    tmp_path: Path, call: Callable[..., Object], era: Callable[..., dict[str, Acts]]
) -> None:
    with BridgeProcess(Scripted(tmp_path, era(), journal="")) as bridge:
        before = open_session(bridge, call)
        step = IN_FLIGHT // 10
        for first in range(0, CALLS, step):
            bridge.answers(before + first - IN_FLIGHT + step)
            bridge.send(*(call(id, number=id) for id in range(first, first + step)))
        answers = bridge.answers(before + CALLS)
        bridge.end()
    echoes = [echoed(cast(Object, answers[id]["result"])) for id in range(CALLS)]
    assert echoes == [{"number": id} for id in range(CALLS)]


@PAIRS
def test_calls_that_a_host_writes_before_it_reads_anything_are_all_answered(
    tmp_path: Path, call: Callable[..., Object], era: Callable[..., dict[str, Acts]]
) -> None:
    opening = [legacy_opening("open")] if call is legacy_call else []
    calls = [call(id, text="x" * 500) for id in range(5_000)]
    with BridgeProcess(Scripted(tmp_path, era(), journal=""), reading=False) as bridge:
        bridge.send(*opening, *calls)
        bridge.start_reading()
        bridge.answers(len(opening) + len(calls))
        bridge.end()


@PAIRS
def test_an_argument_and_a_result_of_16_mib_arrive_intact(
    tmp_path: Path, call: Callable[..., Object], era: Callable[..., dict[str, Acts]]
) -> None:
    text = "".join(chr(ord("a") + number % 26) for number in range(1024)) * (MANY // 1024)
    with BridgeProcess(Scripted(tmp_path, era(), journal="")) as bridge:
        open_session(bridge, call)
        result = bridge.result(call(1, text=text))
        bridge.end()
    assert echoed(result) == {"text": text}
