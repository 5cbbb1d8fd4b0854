"""Hosts that give us something else than pipes: files, /dev/null, sockets, a shared stderr."""

import json
import os
import socket
import subprocess
from pathlib import Path
from typing import IO, cast

import pytest

from bridge_process import LAUNCH, host_environment, legacy_opening, modern_call
from children import PATIENCE, Scripted, legacy, modern
from scripted_child import Object


def requests(count: int, size: int = 0) -> bytes:
    calls: list[Object] = [modern_call(id, text="x" * size) for id in range(count)]
    return b"".join(json.dumps(call).encode() + b"\n" for call in calls)


def run_on(child: Scripted, stdin: IO[bytes] | int, stdout: IO[bytes] | int) -> bytes:
    """Runs the bridge on these to its end; what it wrote, if that is a pipe."""
    done = subprocess.run(
        [*LAUNCH, "--no-cache", "--", *child.command],
        env=host_environment(),
        stdin=stdin,
        stdout=stdout,
        stderr=subprocess.PIPE,
        timeout=PATIENCE,
    )
    assert (done.returncode, done.stderr) == (0, b"")
    return done.stdout


def ids(text: bytes) -> list[object]:
    return [cast(Object, json.loads(line))["id"] for line in text.splitlines()]


@pytest.mark.parametrize("era", ["legacy", "modern"])
def test_requests_from_a_file_are_answered(tmp_path: Path, era: str) -> None:
    child = Scripted(tmp_path, legacy() if era == "legacy" else modern())
    (tmp_path / "requests").write_bytes(requests(300, size=10_000))
    with open(tmp_path / "requests", "rb") as file:
        assert ids(run_on(child, file, subprocess.PIPE)) == [*range(300)]


def test_a_file_without_a_line_feed_at_its_end_is_answered_whole(tmp_path: Path) -> None:
    child = Scripted(tmp_path, legacy())
    (tmp_path / "requests").write_bytes(requests(3).rstrip(b"\n"))
    with open(tmp_path / "requests", "rb") as file:
        assert ids(run_on(child, file, subprocess.PIPE)) == [0, 1, 2]


def test_answers_can_go_to_a_file(tmp_path: Path) -> None:
    child = Scripted(tmp_path, legacy())
    (tmp_path / "requests").write_bytes(requests(100, size=10_000))
    with open(tmp_path / "requests", "rb") as stdin, open(tmp_path / "answers", "wb") as stdout:
        run_on(child, stdin, stdout)
    assert ids((tmp_path / "answers").read_bytes()) == [*range(100)]


def test_no_input_at_all_ends_the_bridge_and_the_child(tmp_path: Path) -> None:
    child = Scripted(tmp_path, legacy())
    assert run_on(child, subprocess.DEVNULL, subprocess.PIPE) == b""
    assert child.methods() == []


def test_nobody_wants_the_answers_and_all_ends_well(tmp_path: Path) -> None:
    child = Scripted(tmp_path, legacy())
    (tmp_path / "requests").write_bytes(requests(10))
    with open(tmp_path / "requests", "rb") as file:
        run_on(child, file, subprocess.DEVNULL)
    assert child.methods().count("tools/call") == 10


@pytest.mark.parametrize("shared", [False, True])
def test_a_host_may_use_sockets_as_many_do(tmp_path: Path, shared: bool) -> None:
    child = Scripted(tmp_path, legacy())
    ours, theirs = socket.socketpair()
    more_ours, more_theirs = socket.socketpair()
    stdout = theirs if shared else more_theirs
    process = subprocess.Popen(
        [*LAUNCH, "--no-cache", "--", *child.command],
        env=host_environment(),
        stdin=theirs.fileno(),
        stdout=stdout.fileno(),
    )
    with ours, more_ours, process:
        theirs.close()
        more_theirs.close()
        ours.sendall(json.dumps(legacy_opening(1)).encode() + b"\n")
        reading = ours if shared else more_ours
        reading.settimeout(PATIENCE)
        with reading.makefile("rb") as answers:
            assert ids(answers.readline()) == [1]
            ours.shutdown(socket.SHUT_WR)
            assert answers.read() == b""
        assert process.wait(PATIENCE) == 0


@pytest.mark.parametrize("blocking", [True, False])
def test_the_flags_of_stdout_are_as_they_were_at_the_end(tmp_path: Path, blocking: bool) -> None:
    child = Scripted(tmp_path, legacy())
    reading, writing = os.pipe()
    try:
        os.set_blocking(writing, blocking)
        run_on(child, subprocess.DEVNULL, writing)
        assert os.get_blocking(writing) is blocking
    finally:
        os.close(reading)
        os.close(writing)


def test_a_bridge_that_shares_its_stderr_leaves_its_flags_alone(tmp_path: Path) -> None:
    child = Scripted(tmp_path, legacy(), start=[{"stderr": "hello\n"}])
    reading, writing = os.pipe()
    try:
        (tmp_path / "requests").write_bytes(requests(1))
        with open(tmp_path / "requests", "rb") as file:
            process = subprocess.Popen(
                [*LAUNCH, "--no-cache", "--", *child.command],
                env=host_environment(),
                stdin=file,
                stdout=subprocess.PIPE,
                stderr=writing,
            )
        with process:
            assert process.stdout is not None
            assert ids(process.stdout.readline()) == [0]
            assert os.get_blocking(writing)
            assert process.wait(PATIENCE) == 0
        assert os.read(reading, 100) == b"hello\n"
    finally:
        os.close(reading)
        os.close(writing)
