"""The life of the child process, seen from the host: the real bridge with a real child.

Design of the bridge: a child is started once, asked for its era, started again when it must be, and
never left behind. Spec 2026-07-28, basic/transports/stdio (Shutdown, Unexpected Termination).
"""

import shutil
import signal
from collections.abc import Callable
from pathlib import Path
from typing import cast

import pytest

from bridge_process import (
    LAUNCH,
    BridgeProcess,
    assert_ends,
    echoed,
    is_left,
    legacy_call,
    legacy_opening,
    legacy_request,
    modern_call,
    modern_request,
)
from children import INFO, INITIALIZED, NOT_FOUND, PATIENCE, Fifo, Scripted, legacy, modern
from scripted_child import Acts, Object

SILENT: Acts = []
MANY = 16 << 20
"""Bytes that no pipe takes in one turn."""
SUBSCRIBABLE: Object = {
    **INITIALIZED,
    "capabilities": {
        "logging": {},
        "tools": {"listChanged": True},
        "resources": {"subscribe": True},
    },
}
HANDSHAKE = ["initialize", "notifications/initialized"]


def data_of(error: Object) -> Object:
    """The data of an error of the bridge's own."""
    assert error["code"] == -32603
    data = cast(Object, error["data"])
    assert data["source"] == "mcp-bridge"
    return data


# The first request ------------------------------------------------------------------------------


def test_the_first_request_of_a_modern_host_is_served_by_a_legacy_child(tmp_path: Path) -> None:
    child = Scripted(tmp_path, legacy())
    with BridgeProcess(child) as bridge:
        assert echoed(bridge.result(modern_call(1, drink="tea"))) == {"drink": "tea"}
        bridge.end()
    assert child.methods() == ["server/discover", *HANDSHAKE, "tools/call"]
    assert [len(child.pids), len(child.entries("eof"))] == [1, 1]


def test_a_modern_host_discovers_a_legacy_child(tmp_path: Path) -> None:
    with BridgeProcess(Scripted(tmp_path, legacy())) as bridge:
        result = bridge.result(modern_request(1, "server/discover"))
        bridge.end()
    assert result["supportedVersions"] == ["2026-07-28"]
    meta = cast(Object, result["_meta"])
    assert meta["io.modelcontextprotocol/serverInfo"] == INFO


def test_a_child_that_exits_on_the_probe_is_started_again_and_served(tmp_path: Path) -> None:
    child = Scripted(tmp_path, legacy(server_discover=[{"exit": 1}]))
    with BridgeProcess(child) as bridge:
        assert echoed(bridge.result(modern_call(1, a=1))) == {"a": 1}
        bridge.end()
    first, second = child.pids
    assert child.methods(first) == ["server/discover"]
    assert child.methods(second) == [*HANDSHAKE, "tools/call"]


def test_a_child_that_exits_after_its_answer_to_the_probe_is_started_again(tmp_path: Path) -> None:
    child = Scripted(tmp_path, legacy(server_discover=[{"error": NOT_FOUND}, {"exit": 1}]))
    with BridgeProcess(child) as bridge:
        assert echoed(bridge.result(modern_call(1, a=1))) == {"a": 1}
        bridge.end()
    first, second = child.pids
    assert child.methods(first) == ["server/discover"]
    assert child.methods(second) == [*HANDSHAKE, "tools/call"]


def test_a_silent_child_is_legacy_after_the_probe_timeout(tmp_path: Path) -> None:
    child = Scripted(tmp_path, legacy(server_discover=SILENT))
    with BridgeProcess(child, "--probe-timeout", "0.3") as bridge:
        assert echoed(bridge.result(modern_call(1, a=1))) == {"a": 1}
        bridge.end()
    assert child.methods() == ["server/discover", *HANDSHAKE, "tools/call"]
    assert len(child.pids) == 1


def test_era_legacy_sends_no_probe(tmp_path: Path) -> None:
    child = Scripted(tmp_path, legacy())
    with BridgeProcess(child, "--era", "legacy") as bridge:
        assert echoed(bridge.result(modern_call(1, a=1))) == {"a": 1}
        bridge.end()
    assert child.methods() == [*HANDSHAKE, "tools/call"]


def test_era_modern_sends_neither_probe_nor_initialize(tmp_path: Path) -> None:
    child = Scripted(tmp_path, modern())
    request = modern_call(1, a=1)
    with BridgeProcess(child, "--era", "modern") as bridge:
        assert echoed(bridge.result(request)) == {"a": 1}
        bridge.end()
    assert child.received() == [request]


# A slow initialize ------------------------------------------------------------------------------


def test_a_child_that_never_wrote_is_left_alone_after_the_initialize_timeout(
    tmp_path: Path,
) -> None:
    with Fifo(tmp_path / "gate") as gate:
        slow: Acts = [{"wait": gate.path}, {"result": INITIALIZED}]
        child = Scripted(tmp_path, legacy(initialize=slow))
        with BridgeProcess(child, "--era", "legacy", "--init-timeout", "0.5") as bridge:
            assert data_of(bridge.error(modern_call(1)))["reason"] == "initialize_timeout"
            gate.open()
            assert echoed(bridge.result(modern_call(2, a=2))) == {"a": 2}
            bridge.end()
    assert child.methods() == [*HANDSHAKE, "tools/call"]
    assert len(child.pids) == 1


def test_a_child_that_wrote_something_is_started_again_after_the_initialize_timeout(
    tmp_path: Path,
) -> None:
    child = Scripted(
        tmp_path,
        legacy(initialize=[{"line": "Loading"}]),
        start=[{"lock": str(tmp_path / "lock")}],
        later={"on": legacy()},
    )
    with BridgeProcess(child, "--era", "legacy", "--init-timeout", "0.5") as bridge:
        assert data_of(bridge.error(modern_call(1)))["reason"] == "initialize_timeout"
        assert echoed(bridge.result(modern_call(2, a=2))) == {"a": 2}
        bridge.end()
    first, second = child.pids
    assert child.methods(first) == ["initialize"]
    assert child.methods(second) == [*HANDSHAKE, "tools/call"]
    assert [entry["granted"] for entry in child.entries("locked")] == [True, True]


# A crash ----------------------------------------------------------------------------------------


@pytest.mark.parametrize(
    ("last_act", "how"), [({"exit": 3}, {"exitCode": 3}), ({"kill": "SIGKILL"}, {"signal": 9})]
)
@pytest.mark.parametrize("era", [legacy, modern])
def test_a_crash_in_a_call_fails_the_call_and_the_next_is_served_by_a_new_process(
    tmp_path: Path, era: Callable[..., dict[str, Acts]], last_act: Object, how: Object
) -> None:
    says = "".join(f"line {number}\n" for number in range(7))
    crash: Acts = [{"stderr": says}, last_act]
    child = Scripted(tmp_path, era(tools_call=crash), later={"on": era()})
    with BridgeProcess(child) as bridge:
        error = bridge.error(modern_call(1, dangerous=True))
        assert data_of(error) == {
            "source": "mcp-bridge",
            "reason": "child_exited",
            **how,
            "stderr": [f"line {number}" for number in range(2, 7)],
        }
        assert str(next(iter(how.values()))) in str(error["message"]) or "SIGKILL" in str(error)
        assert echoed(bridge.result(modern_call(2, dangerous=False))) == {"dangerous": False}
        bridge.end()
    first, second = child.pids
    calls = [m["params"] for m in child.received(second) if m.get("method") == "tools/call"]
    assert [cast(Object, call)["arguments"] for call in calls] == [{"dangerous": False}]
    assert child.methods(first).count("tools/call") == 1


def test_stderr_in_an_error_is_short_and_without_control_characters(tmp_path: Path) -> None:
    says = "\x1b[31mred\x1b[0m \x07bell\r\n" + "x" * 3000 + "\n"
    child = Scripted(tmp_path, legacy(tools_call=[{"stderr": says}, {"exit": 1}]))
    with BridgeProcess(child) as bridge:
        lines = cast(list[str], data_of(bridge.error(modern_call(1)))["stderr"])
        bridge.close()
        bridge.wait()
    assert sum(len(line) for line in lines) <= 1024
    assert lines[-1].endswith("x" * 500)
    assert all(character.isprintable() for line in lines for character in line)


def test_every_open_call_fails_when_the_child_crashes(tmp_path: Path) -> None:
    with Fifo(tmp_path / "gate") as gate:
        on = legacy(tools_call=SILENT, tools_list=[{"exit": 9}])
        child = Scripted(tmp_path, on, start=[{"wait": gate.path}])
        with BridgeProcess(child) as bridge:
            bridge.send(*(modern_call(id) for id in range(10)), modern_request("x", "tools/list"))
            gate.open()
            answers = bridge.answers(11)
            bridge.end()
    assert {data_of(cast(Object, answer["error"]))["exitCode"] for answer in answers.values()} == {
        9
    }


def test_a_legacy_session_goes_on_with_the_next_process(tmp_path: Path) -> None:
    told: dict[str, Acts] = {
        "initialize": [{"result": SUBSCRIBABLE}],
        "logging_setLevel": [{"result": {}}],
        "resources_subscribe": [{"result": {}}],
    }
    child = Scripted(
        tmp_path, legacy(**told, tools_call=[{"exit": 3}]), later={"on": legacy(**told)}
    )
    opening = legacy_opening()
    level = legacy_request(1, "logging/setLevel", level="info")
    subscription = legacy_request(2, "resources/subscribe", uri="file:///a")
    with BridgeProcess(child) as bridge:
        assert bridge.result(opening)["serverInfo"] == INFO
        bridge.send({"jsonrpc": "2.0", "method": "notifications/initialized"})
        bridge.result(level)
        bridge.result(subscription)
        assert data_of(bridge.error(legacy_call(3)))["exitCode"] == 3
        (news,) = bridge.notified("notifications/resources/updated")
        assert news["params"] == {"uri": "file:///a"}
        bridge.notified("notifications/tools/list_changed")
        assert echoed(bridge.result(legacy_call(4, a=1))) == {"a": 1}
        bridge.end()
        assert sorted(cast(int, m["id"]) for m in bridge.messages if "id" in m) == [0, 1, 2, 3, 4]
    first, second = child.pids
    session = [*HANDSHAKE, "logging/setLevel", "resources/subscribe", "tools/call"]
    assert child.methods(first) == child.methods(second) == session
    repeated = [message.get("params") for message in child.received(second)][:-1]
    assert repeated == [message.get("params") for message in child.received(first)][:-1]


def test_a_legacy_session_that_cannot_go_on_ends_the_bridge(tmp_path: Path) -> None:
    less = legacy(initialize=[{"result": {**INITIALIZED, "capabilities": {}}}])
    child = Scripted(tmp_path, legacy(tools_call=[{"exit": 3}]), later={"on": less})
    with BridgeProcess(child) as bridge:
        bridge.result(legacy_opening())
        bridge.send(legacy_call(1), legacy_call(2))
        assert data_of(cast(Object, bridge.answer(1)["error"]))["exitCode"] == 3
        assert "error" in bridge.answer(2)
        assert bridge.wait() == 1
        bridge.said("does not offer any more what the session was opened with")
        bridge.said("tools")


# A command that cannot be run -------------------------------------------------------------------


@pytest.mark.parametrize("request_line", [modern_call(1), legacy_opening(1)])
def test_a_command_that_is_not_found_fails_every_request(request_line: Object) -> None:
    with BridgeProcess(["no-such-server", "--flag"]) as bridge:
        for id in (1, 2):
            error = bridge.error({**request_line, "id": id})
            assert data_of(error)["reason"] == "start_failed"
            assert "'no-such-server' was not found" in str(error["message"])
        bridge.said("'no-such-server' was not found")
        bridge.end()


@pytest.mark.parametrize(
    ("mode", "what"), [(0o644, "not executable"), (0o755, "server"), (None, "server")]
)
def test_a_file_that_cannot_be_executed_fails_every_request(
    tmp_path: Path, mode: int | None, what: str
) -> None:
    server = tmp_path / "server"
    if mode is not None:
        server.write_text("#!/no/such/interpreter\n")
        server.chmod(mode)
    with BridgeProcess([str(server)]) as bridge:
        for id in (1, 2):
            error = bridge.error(modern_call(id))
            assert data_of(error)["reason"] == "start_failed"
            assert what in str(error["message"])
        bridge.said(what)
        bridge.end()


def test_a_script_that_does_not_say_what_runs_it_is_the_shells(tmp_path: Path) -> None:
    # So has execvp it, and with it the hosts that start the server themselves.
    child = Scripted(tmp_path, legacy())
    server = tmp_path / "server"
    server.write_text('exec "$@"\n')
    server.chmod(0o755)
    with BridgeProcess([str(server), *child.command]) as bridge:
        bridge.result(modern_call(1))
        bridge.end()
    assert len(child.pids) == 1


# The end ----------------------------------------------------------------------------------------


@pytest.mark.parametrize("era", [legacy, modern])
def test_the_end_of_input_finishes_the_open_requests_before_the_child_sees_it(
    tmp_path: Path, era: Callable[..., dict[str, Acts]]
) -> None:
    with Fifo(tmp_path / "gate") as gate:
        echo = era()["tools/call"]
        on = era(tools_call=[{"aside": [{"wait": gate.path}, *echo]}], quick=[{"result": {}}])
        child = Scripted(tmp_path, on)
        with BridgeProcess(child) as bridge:
            bridge.send(modern_call(1, a=1), modern_request(2, "quick"))
            bridge.close()
            bridge.answer(2)
            assert child.entries("eof") == []
            gate.open()
            bridge.answer(1)
            assert bridge.wait() == 0
            assert [message["id"] for message in bridge.messages] == [2, 1]
    assert len(child.entries("eof")) == 1


def test_requests_of_a_host_that_is_gone_already_are_answered(tmp_path: Path) -> None:
    child = Scripted(tmp_path, legacy())
    with BridgeProcess(child) as bridge:
        bridge.send(*(modern_call(id) for id in range(50)))
        bridge.end()
        assert [message["id"] for message in bridge.messages] == [*range(50)]


def test_the_end_of_input_before_any_request_ends_the_child(tmp_path: Path) -> None:
    with Fifo(tmp_path / "bell") as bell:
        child = Scripted(tmp_path, legacy(), start=[{"ring": bell.path}])
        with BridgeProcess(child) as bridge:
            bell.heard()
            bridge.end()
    assert child.methods() == []
    assert len(child.entries("eof")) == 1


def test_a_child_that_ignores_the_end_of_file_and_sigterm_is_killed(tmp_path: Path) -> None:
    child = Scripted(tmp_path, legacy(), end=[{"hang": True}], ignore=["SIGTERM"])
    with BridgeProcess(child) as bridge:
        bridge.result(modern_call(1))
        bridge.end()
    assert len(child.entries("eof")) == 1


@pytest.mark.parametrize("number", [signal.SIGTERM, signal.SIGINT, signal.SIGHUP])
def test_a_signal_to_the_bridge_ends_everything(tmp_path: Path, number: signal.Signals) -> None:
    child = Scripted(tmp_path, legacy(tools_list=SILENT), end=[{"hang": True}])
    with BridgeProcess(child) as bridge:
        bridge.result(modern_call(1))
        bridge.send(modern_request(2, "tools/list"))
        bridge.process.send_signal(number)
        assert bridge.wait() == 128 + number


def test_a_signal_to_the_bridge_ends_even_a_child_that_ignores_everything(tmp_path: Path) -> None:
    ignore = ["SIGTERM", "SIGINT", "SIGHUP"]
    child = Scripted(tmp_path, legacy(), end=[{"hang": True}], ignore=ignore)
    with BridgeProcess(child) as bridge:
        bridge.result(modern_call(1))
        bridge.process.terminate()
        assert bridge.wait() == 128 + signal.SIGTERM


@pytest.mark.parametrize("number", [signal.SIGTERM, signal.SIGINT])
def test_a_signal_while_the_bridge_still_starts_leaves_no_trace(
    tmp_path: Path, number: signal.Signals
) -> None:
    # The child runs before the bridge has imported what it needs.
    with Fifo(tmp_path / "bell") as bell:
        child = Scripted(tmp_path, legacy(), start=[{"ring": bell.path}])
        with BridgeProcess(child) as bridge:
            bell.heard()
            bridge.process.send_signal(number)
            bridge.process.wait(PATIENCE)
            for pid in child.pids:
                assert_ends(pid)
            bridge.wait()


@pytest.mark.skipif(shutil.which("nohup") is None, reason="there is no nohup")
def test_a_hangup_that_nohup_has_the_bridge_ignore_stays_ignored(tmp_path: Path) -> None:
    child = Scripted(tmp_path, legacy())
    with BridgeProcess(child, launch=["nohup", *LAUNCH]) as bridge:
        bridge.result(modern_call(1))
        bridge.process.send_signal(signal.SIGHUP)
        # More than goes through in one turn of its loop: by then it would have seen the signal.
        text = "x" * MANY
        assert echoed(bridge.result(modern_call(2, text=text))) == {"text": text}
        bridge.end()


def test_a_host_that_does_not_read_any_more_ends_the_bridge(tmp_path: Path) -> None:
    child = Scripted(tmp_path, legacy())
    with BridgeProcess(child, reading=False) as bridge:
        bridge.hang_up()
        bridge.send(modern_call(1))
        assert bridge.wait() == 0
    assert len(child.entries("eof")) == 1


@pytest.mark.parametrize("number", [signal.SIGTERM, signal.SIGINT])
def test_a_signal_cuts_an_orderly_end_short(tmp_path: Path, number: signal.Signals) -> None:
    with Fifo(tmp_path / "bell") as bell:
        end: Acts = [{"ring": bell.path}, {"hang": True}]
        child = Scripted(tmp_path, legacy(), end=end, ignore=["SIGTERM"])
        bridge = BridgeProcess(child)
        bridge.result(modern_call(1))
        bridge.close()
        bell.heard()
    with bridge:
        bridge.process.send_signal(number)
        assert bridge.process.wait(PATIENCE) == 128 + number
        for pid in child.pids:
            assert_ends(pid)


# Grandchildren and restarts ---------------------------------------------------------------------


@pytest.mark.parametrize("ignore", [[], ["SIGTERM"]])
def test_a_grandchild_that_holds_the_pipe_is_ended_with_its_group(
    tmp_path: Path, ignore: list[str]
) -> None:
    child = Scripted(tmp_path, legacy(), start=[{"grandchild": False}], ignore=ignore)
    with BridgeProcess(child) as bridge:
        bridge.result(modern_call(1))
        bridge.end()
        (grandchild,) = child.grandchildren
        assert_ends(grandchild)


def test_a_grandchild_out_of_reach_that_holds_the_pipe_does_not_keep_the_bridge(
    tmp_path: Path,
) -> None:
    child = Scripted(
        tmp_path,
        legacy(tools_list=[{"exit": 5}]),
        start=[{"grandchild": True}],
        later={"start": []},
    )
    with BridgeProcess(child) as bridge:
        bridge.result(modern_call(1))
        assert data_of(bridge.error(modern_request(2, "tools/list")))["exitCode"] == 5
        assert echoed(bridge.result(modern_call(3, a=3))) == {"a": 3}
        bridge.end()
        (grandchild,) = child.grandchildren
        assert is_left(grandchild)


def test_a_child_that_closes_its_output_is_ended_and_started_again(tmp_path: Path) -> None:
    child = Scripted(
        tmp_path,
        legacy(tools_list=[{"close stdout": True}]),
        end=[{"hang": True}],
        start=[{"lock": str(tmp_path / "lock")}],
        later={"end": []},
    )
    with BridgeProcess(child) as bridge:
        bridge.result(modern_call(1))
        assert data_of(bridge.error(modern_request(2, "tools/list")))["reason"] == "child_exited"
        assert echoed(bridge.result(modern_call(3, a=3))) == {"a": 3}
        bridge.end()
    assert [entry["granted"] for entry in child.entries("locked")] == [True, True]


def test_a_child_that_closes_its_input_is_ended_and_started_again(tmp_path: Path) -> None:
    child = Scripted(
        tmp_path,
        legacy(tools_list=[{"close stdin": True}, {"result": {"tools": []}}]),
        end=[{"hang": True}],
        later={"end": []},
    )
    with BridgeProcess(child) as bridge:
        bridge.result(modern_call(1))
        bridge.result(modern_request(2, "tools/list"))
        assert data_of(bridge.error(modern_call(3)))["reason"] == "child_exited"
        assert echoed(bridge.result(modern_call(4, a=4))) == {"a": 4}
        bridge.end()


def test_answers_that_lie_in_the_pipe_of_an_ended_child_are_delivered(tmp_path: Path) -> None:
    # More than the bridge takes in while the host does not read, in lines that fit into the pipe.
    size, calls = 40_000, 500
    child = Scripted(
        tmp_path,
        legacy(tools_call=[{"letters": size}], tools_list=[{"letters": size}, {"exit": 4}]),
    )
    with BridgeProcess(child, reading=False) as bridge:
        for id in range(calls):
            bridge.send(modern_call(id))
        bridge.send(modern_request(calls, "tools/list"))
        bridge.start_reading()
        answers = bridge.answers(calls + 1)
    assert all("result" in answers[id] for id in range(calls + 1))


def test_there_are_never_two_copies_of_the_child(tmp_path: Path) -> None:
    # A host that probes and then opens with a handshake of its own gets a fresh process (translation
    # G.2); the first one takes its time to go.
    child = Scripted(
        tmp_path,
        legacy(),
        start=[{"lock": str(tmp_path / "lock")}],
        end=[{"hang": True}],
        ignore=["SIGTERM"],
        later={"end": [], "ignore": []},
    )
    with BridgeProcess(child) as bridge:
        bridge.result(modern_request("probe", "server/discover"))
        assert bridge.result(legacy_opening(version="2025-06-18"))["serverInfo"] == INFO
        bridge.end()
    assert [entry["granted"] for entry in child.entries("locked")] == [True, True]
    first, second = child.pids
    assert child.methods(first)[0] == "server/discover"
    assert child.methods(second) == ["initialize"]
