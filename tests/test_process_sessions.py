"""Questions, streams and sessions with real processes: design D3, D6, D9, D10."""

import os
import signal
from pathlib import Path

import pytest

from bridge_process import BridgeProcess, assert_ends, is_left, modern_request
from children import INITIALIZED, Fifo, Scripted, legacy
from scripted_child import Acts, Object

clause = pytest.mark.clause

FORM: Object = {"elicitation": {"form": {}}}
SAMPLING: Object = {"sampling": {}}
QUESTION: Object = {
    "id": "q",
    "method": "elicitation/create",
    "params": {"message": "m", "requestedSchema": {"type": "object", "properties": {}}},
    "then": [{"result": {"content": [{"type": "text", "text": "thanks"}]}}],
}
ANSWER: Object = {"action": "accept", "content": {"a": 1}}


def call(id: int, capabilities: Object, name: str = "t", **more: object) -> Object:
    return modern_request(id, "tools/call", capabilities, name=name, **more)


@clause("S-55", "S-56")
def test_a_question_goes_to_the_host_and_its_answer_to_the_child(tmp_path: Path) -> None:
    child = Scripted(tmp_path, legacy(tools_call=[{"ask": QUESTION}]))
    with BridgeProcess(child) as bridge:
        asked = bridge.result(call(1, FORM))
        assert asked["resultType"] == "input_required"
        state = asked["requestState"]
        retry = call(2, FORM, requestState=state, inputResponses={"q": ANSWER})
        assert bridge.result(retry)["content"] == [{"type": "text", "text": "thanks"}]
        bridge.end()
    assert {"jsonrpc": "2.0", "id": "q", "result": ANSWER} in child.received()


def test_a_parked_call_leaves_nothing_behind(tmp_path: Path) -> None:
    child = Scripted(tmp_path, legacy(tools_call=[{"ask": QUESTION}]))
    with BridgeProcess(child) as bridge:
        assert bridge.result(call(1, FORM))["resultType"] == "input_required"
        bridge.end()


# Two processes ----------------------------------------------------------------------------------


def two_processes(folder: Path, gate: Fifo) -> Scripted:
    """A server whose first process works until the gate is opened."""
    acts: Acts = [{"aside": [{"wait": gate.path}, {"result": {"content": []}}]}]
    return Scripted(
        folder,
        legacy(tools_call=acts),
        later={"on": legacy(tools_call=[{"ask": QUESTION}])},
    )


def test_a_process_that_is_at_work_runs_on_beside_the_next_one(tmp_path: Path) -> None:
    with Fifo(tmp_path / "gate") as gate:
        child = two_processes(tmp_path, gate)
        with BridgeProcess(child) as bridge:
            bridge.send(call(1, SAMPLING))
            asked = bridge.result(call(2, FORM))
            first, second = child.pids
            assert is_left(first) and is_left(second)
            gate.open()
            assert "result" in bridge.answer(1)
            assert_ends(first)
            state = asked["requestState"]
            bridge.result(call(3, FORM, requestState=state, inputResponses={"q": ANSWER}))
            bridge.end()
    (opening,) = [each for each in child.received(second) if each.get("method") == "initialize"]
    params = opening["params"]
    assert isinstance(params, dict)
    assert params["capabilities"] == {"sampling": {}, "elicitation": {"form": {}}}


def test_both_processes_are_ended_with_the_bridge(tmp_path: Path) -> None:
    with Fifo(tmp_path / "gate") as gate:
        child = two_processes(tmp_path, gate)
        with BridgeProcess(child) as bridge:
            bridge.send(call(1, SAMPLING))
            bridge.result(call(2, FORM))
            bridge.close()
            gate.open()
            assert "result" in bridge.answer(1)
            assert bridge.wait() == 0


@pytest.mark.parametrize("number", [signal.SIGTERM, signal.SIGKILL])
def test_both_processes_are_ended_however_the_bridge_ends(
    tmp_path: Path, number: signal.Signals
) -> None:
    with Fifo(tmp_path / "gate") as gate:
        child = two_processes(tmp_path, gate)
        with BridgeProcess(child) as bridge:
            bridge.send(call(1, SAMPLING))
            bridge.result(call(2, FORM))
            first, second = child.pids
            os.kill(bridge.process.pid, number)
            for pid in (first, second):
                assert_ends(pid)


def test_an_idle_process_is_gone_before_the_next_one_is_started(tmp_path: Path) -> None:
    child = Scripted(
        tmp_path,
        legacy(),
        start=[{"lock": str(tmp_path / "lock")}],
        end=[{"hang": True}],
        later={"end": []},
    )
    with BridgeProcess(child) as bridge:
        bridge.result(call(1, SAMPLING))
        bridge.result(call(2, FORM))
        bridge.end()
    assert [entry["granted"] for entry in child.entries("locked")] == [True, True]


def test_a_server_of_which_there_can_be_only_one_serves_the_call_as_it_is(tmp_path: Path) -> None:
    with Fifo(tmp_path / "gate") as gate:
        acts: Acts = [{"aside": [{"wait": gate.path}, {"result": {"content": []}}]}]
        child = Scripted(
            tmp_path, legacy(tools_call=acts), start=[{"lock": str(tmp_path / "lock")}]
        )
        with BridgeProcess(child) as bridge:
            bridge.result(modern_request(0, "server/discover", SAMPLING))
            bridge.send(call(1, SAMPLING))
            bridge.send(call(2, FORM))
            bridge.said("the server exited with code 75")
            gate.open()
            gate.open()
            assert "result" in bridge.answer(1)
            assert "result" in bridge.answer(2)
            bridge.end()
    assert [entry["granted"] for entry in child.entries("locked")] == [True, False]


# Streams ----------------------------------------------------------------------------------------


@clause("S-77", "S-24")
def test_a_stream_outlives_a_crash_of_the_server(tmp_path: Path) -> None:
    offers = {**INITIALIZED, "capabilities": {"tools": {"listChanged": True}}}
    child = Scripted(
        tmp_path,
        {**legacy(tools_call=[{"exit": 5}]), "initialize": [{"result": offers}]},
    )
    with BridgeProcess(child) as bridge:
        wanted = {"toolsListChanged": True}
        bridge.send(modern_request("s", "subscriptions/listen", notifications=wanted))
        bridge.notified("notifications/subscriptions/acknowledged")
        bridge.error(call(1, {}))
        # Nobody asks for anything, and the server is started again all the same.
        bridge.notified("notifications/tools/list_changed")
        assert len(child.pids) == 2
        bridge.close()
        result = bridge.answer("s")["result"]
        assert isinstance(result, dict) and result["resultType"] == "complete"
        assert bridge.wait() == 0
    assert [each["method"] for each in bridge.messages if "method" in each][-1] == (
        "notifications/cancelled"
    )
