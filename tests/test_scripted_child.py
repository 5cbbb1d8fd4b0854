"""The scripted child does what its script says, and its journal tells what it got."""

import json
import os
import signal
import subprocess
from collections.abc import Generator
from contextlib import contextmanager
from pathlib import Path

import pytest

from bridge_process import assert_ends, legacy_call, legacy_opening, modern_call
from children import INITIALIZED, PATIENCE, Fifo, Scripted, legacy, modern
from scripted_child import Acts, Object


def played(child: Scripted, *messages: Object | bytes) -> tuple[int, list[bytes], bytes]:
    """Exit code, lines and stderr of a child that was told all this at once."""
    lines = [m if isinstance(m, bytes) else json.dumps(m).encode() + b"\n" for m in messages]
    done = subprocess.run(
        child.command, input=b"".join(lines), capture_output=True, timeout=PATIENCE
    )
    return done.returncode, done.stdout.splitlines(), done.stderr


@contextmanager
def running(child: Scripted) -> Generator[subprocess.Popen[bytes]]:
    with subprocess.Popen(
        child.command, stdin=subprocess.PIPE, stdout=subprocess.PIPE, stderr=subprocess.PIPE
    ) as process:
        try:
            yield process
        finally:
            process.kill()


def test_it_answers_by_method_and_ends_with_its_input(tmp_path: Path) -> None:
    child = Scripted(tmp_path, legacy())
    code, lines, stderr = played(child, legacy_opening(1), legacy_call("two", a=[1.5]))
    assert (code, stderr) == (0, b"")
    assert [json.loads(line) for line in lines] == [
        {"jsonrpc": "2.0", "id": 1, "result": INITIALIZED},
        {
            "jsonrpc": "2.0",
            "id": "two",
            "result": {"content": [], "structuredContent": {"a": [1.5]}},
        },
    ]


def test_an_unknown_request_is_an_error_and_a_notification_is_nothing(tmp_path: Path) -> None:
    note: Object = {"jsonrpc": "2.0", "method": "notifications/initialized"}
    request: Object = {"jsonrpc": "2.0", "id": 1, "method": "nobody/knows"}
    _, lines, _ = played(Scripted(tmp_path, modern()), note, request)
    (answer,) = [json.loads(line) for line in lines]
    assert answer["error"]["code"] == -32601


def test_the_journal_tells_who_started_how_and_what_was_received(tmp_path: Path) -> None:
    child = Scripted(tmp_path, modern())
    child.arguments = ["", "a b", "ü"]
    request = modern_call(7)
    played(child, request, b"no json\xff\n")
    (start,) = child.entries("start")
    assert start["cwd"] == os.getcwd()
    assert start["descriptors"] == [0, 1, 2]
    assert str(start["argv"]).endswith("'', 'a b', 'ü']")
    assert child.received() == [request, {"unreadable": "no json\xff\n"}]
    assert [entry["what"] for entry in child.entries("eof")] == ["eof"]
    assert len(child.pids) == 1


def test_a_later_process_plays_the_later_script(tmp_path: Path) -> None:
    later: Object = {"on": {"ping": [{"result": {}}]}}
    child = Scripted(tmp_path, {"ping": [{"exit": 3}]}, later=later)
    ping: Object = {"jsonrpc": "2.0", "id": 1, "method": "ping"}
    assert played(child, ping)[:2] == (3, [])
    assert played(child, ping)[:2] == (0, [b'{"jsonrpc": "2.0", "id": 1, "result": {}}'])
    first, second = child.pids
    assert child.methods(first) == child.methods(second) == ["ping"]


@pytest.mark.parametrize(
    ("acts", "code", "lines", "stderr"),
    [
        ([{"line": "Loading"}], 0, [b"Loading"], b""),
        ([{"bytes": "\xff\x00"}, {"bytes": "\n"}], 0, [b"\xff\x00"], b""),
        ([{"stderr": "oh\n"}, {"exit": 4}], 4, [], b"oh\n"),
        ([{"kill": "SIGKILL"}], -signal.SIGKILL, [], b""),
        ([{"close stdout": True}, {"stderr": "still here"}], 0, [], b"still here"),
        ([{"flood stderr": 1 << 13}], 0, [], (b"f" * 4095 + b"\n") * 2),
    ],
)
def test_an_act_at_the_start(
    tmp_path: Path, acts: Acts, code: int, lines: list[bytes], stderr: bytes
) -> None:
    assert played(Scripted(tmp_path, {}, start=acts)) == (code, lines, stderr)


def test_acts_that_answer(tmp_path: Path) -> None:
    on: dict[str, Acts] = {
        "a": [{"letters": 3}],
        "b": [{"batch": {}}],
        "c": [{"error": {"code": 1, "message": "no"}}],
        "d": [],
        "*": [{"result": {"other": True}}],
    }
    requests: list[Object] = [{"id": i, "method": method} for i, method in enumerate("abcde")]
    _, lines, _ = played(Scripted(tmp_path, on), *requests)
    said = [json.loads(line) for line in lines]
    assert said[0]["result"]["content"][0]["text"] == "xxx"
    assert [item.get("id") for item in said[1]] == [None, 1]
    assert [(one["id"], one.get("error"), one.get("result")) for one in said[2:]] == [
        (2, {"code": 1, "message": "no"}, None),
        (4, None, {"other": True}),
    ]


def test_it_can_outlive_its_input_and_a_signal(tmp_path: Path) -> None:
    with Fifo(tmp_path / "bell") as bell:
        end: Acts = [{"ring": bell.path}, {"hang": True}]
        child = Scripted(tmp_path, {}, end=end, ignore=["SIGTERM"])
        with running(child) as process:
            assert process.stdin is not None
            process.stdin.close()
            bell.heard()
            process.terminate()
            process.kill()
            assert process.wait(PATIENCE) == -signal.SIGKILL


def test_what_it_does_aside_does_not_keep_it_from_reading(tmp_path: Path) -> None:
    with Fifo(tmp_path / "gate") as gate:
        slow: Acts = [{"aside": [{"wait": gate.path}, {"result": "slow"}]}]
        on: dict[str, Acts] = {"slow": slow, "fast": [{"result": "fast"}]}
        with running(Scripted(tmp_path, on)) as process:
            assert process.stdin is not None and process.stdout is not None
            process.stdin.write(b'{"id": 1, "method": "slow"}\n{"id": 2, "method": "fast"}\n')
            process.stdin.flush()
            assert json.loads(process.stdout.readline())["result"] == "fast"
            gate.open()
            assert json.loads(process.stdout.readline())["result"] == "slow"


def test_only_one_process_gets_the_lock(tmp_path: Path) -> None:
    child = Scripted(tmp_path, {"ping": [{"result": {}}]}, start=[{"lock": f"{tmp_path}/lock"}])
    with running(child) as first:
        assert first.stdin is not None and first.stdout is not None
        first.stdin.write(b'{"id": 1, "method": "ping"}\n')
        first.stdin.flush()
        assert first.stdout.readline()
        assert played(child)[0] == 75
    assert played(child)[0] == 0
    granted = [entry["granted"] for entry in child.entries("locked")]
    assert granted == [True, False, True]


@pytest.mark.parametrize("own_session", [False, True])
def test_a_grandchild_keeps_the_pipe_open(tmp_path: Path, own_session: bool) -> None:
    on: dict[str, Acts] = {"x": [{"grandchild": own_session}, {"line": "made"}, {"exit": 0}]}
    child = Scripted(tmp_path, on)
    with running(child) as process:
        assert process.stdin is not None and process.stdout is not None
        process.stdin.write(b'{"method": "x"}\n')
        process.stdin.flush()
        assert process.stdout.readline() == b"made\n"
        assert process.wait(PATIENCE) == 0
        (grandchild,) = child.grandchildren
        assert (os.getpgid(grandchild) == grandchild) is own_session
        os.kill(grandchild, signal.SIGTERM)
        assert process.stdout.read() == b""
        assert_ends(grandchild)


def test_it_asks_and_goes_on_once_it_is_answered(tmp_path: Path) -> None:
    acts: Acts = [{"ask": {"id": "q", "method": "roots/list", "then": [{"result": {"n": 1}}]}}]
    child = Scripted(tmp_path, legacy(tools_call=acts))
    other: Object = {"jsonrpc": "2.0", "id": "x", "result": {}}
    answer: Object = {"jsonrpc": "2.0", "id": "q", "result": {}}
    _, lines, _ = played(child, legacy_call(7), other, answer, answer)
    assert [json.loads(line) for line in lines] == [
        {"jsonrpc": "2.0", "id": "q", "method": "roots/list"},
        {"jsonrpc": "2.0", "id": 7, "result": {"n": 1}},
    ]
