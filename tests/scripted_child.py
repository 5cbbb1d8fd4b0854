"""A child process that plays a script: the one fake server of all process tests.

Lives here: reading lines, playing acts, keeping the journal. Does not: any knowledge of the
protocol but what a request and its answer look like (children.py knows the eras). Needs nothing but
the standard library; to be run with `python -I -S`.

The first argument names a file with the script, a JSON object:

    journal      file to append to: one JSON object a line, see `Journal`
    start        acts at the start
    on           acts by method; "*" is for requests of any other method (else: -32601)
    end          acts at the end of input; the process exits after them
    ignore       names of signals to ignore
    later        members that replace the above in every process but the first

An act is an object with one member, see `ScriptedChild.play`. A request that is answered by no act
stays unanswered.
"""

import fcntl
import json
import os
import signal
import subprocess
import sys
import threading
from collections.abc import Mapping
from typing import TypeAlias, cast

Object: TypeAlias = dict[str, object]
Acts: TypeAlias = list[Object]


def open_descriptors() -> list[int]:
    """Those that are open now."""
    found: list[int] = []
    for fd in range(256):
        try:
            os.fstat(fd)
        except OSError:
            continue
        found.append(fd)
    return found


def environment() -> dict[str, str]:
    """What this process was started with, untouched by its own runtime where the system tells."""
    try:
        with open("/proc/self/environ", "rb") as file:
            pairs = [pair.partition(b"=") for pair in file.read().split(b"\0") if pair]
    except FileNotFoundError:
        return dict(os.environ)
    return {os.fsdecode(name): os.fsdecode(value) for name, _, value in pairs}


def working_directory() -> str:
    """Where the process runs, or nothing if that has been deleted."""
    try:
        return os.getcwd()
    except FileNotFoundError:
        return ""


class Journal:
    """What happened, for the test to read: {"pid", "what", ...}.

    `what` is one of start (with cwd, argv, environment, descriptors), received (with message), eof,
    locked (with granted), grandchild (with child).
    """

    def __init__(self, path: str) -> None:
        self._fd = os.open(path, os.O_RDWR | os.O_APPEND | os.O_CREAT, 0o600) if path else -1

    def starts(self) -> int:
        """How many processes have begun before."""
        if self._fd < 0:
            return 0
        size = os.fstat(self._fd).st_size
        return os.pread(self._fd, size, 0).count(b'"what": "start"')

    def add(self, what: str, **more: object) -> None:
        if self._fd >= 0:
            line = json.dumps({"pid": os.getpid(), "what": what, **more})
            os.write(self._fd, line.encode() + b"\n")


class ScriptedChild:
    """Plays one script."""

    def __init__(self, script: Mapping[str, object], journal: Journal) -> None:
        later = script.get("later") if journal.starts() else None
        self._script: Object = {**script, **cast(Object, later or {})}
        self._on = cast(dict[str, Acts], self._script.get("on", {}))
        self._journal = journal
        self._writing = threading.Lock()
        self._kept_fds: list[int] = []
        self._asked: dict[object, tuple[Acts, Object]] = {}
        """What is played once a question is answered, and the request that it is played in answer
        to."""

    def run(self, descriptors: list[int]) -> None:
        for name in cast(list[str], self._script.get("ignore", [])):
            signal.signal(signal.Signals[name], signal.SIG_IGN)
        self._journal.add(
            "start",
            cwd=working_directory(),
            argv=sys.argv,
            environment=environment(),
            descriptors=descriptors,
        )
        self._play_all("start", {})
        for line in sys.stdin.buffer:
            self._receive(line)
        self._journal.add("eof")
        self._play_all("end", {})
        os._exit(0)

    def _play_all(self, moment: str, request: Object) -> None:
        for act in cast(Acts, self._script.get(moment, [])):
            self.play(act, request)

    def _receive(self, line: bytes) -> None:
        try:
            message = cast(Object, json.loads(line))
        except ValueError:
            message = Object(unreadable=line.decode("latin-1"))
        self._journal.add("received", message=message)
        method = message.get("method")
        if not isinstance(method, str):
            then, request = self._asked.pop(message.get("id"), ([], Object()))
            for act in then:
                self.play(act, request)
            return
        acts = self._on.get(method)
        if acts is None and "id" in message:
            unknown: Acts = [{"error": {"code": -32601, "message": "Method not found"}}]
            acts = self._on.get("*", unknown)
        for act in acts or ():
            self.play(act, message)

    def play(self, act: Object, request: Object) -> None:
        """Does one thing, in answer to `request` or, at the start and the end, to nothing."""
        ((name, value),) = act.items()
        match name, value:
            case "result" | "error", _:
                self._answer(request, {name: value})
            case "echo", dict():
                params = cast(Object, request.get("params", {}))
                more = cast(Object, value)
                echoed: Object = {**more, "structuredContent": params.get("arguments")}
                self._answer(request, {"result": echoed})
            case "letters", int(size):
                text: Object = {"type": "text", "text": "x" * size}
                self._answer(request, {"result": {"content": [text]}})
            case "batch", _:
                note: Object = {"jsonrpc": "2.0", "method": "notifications/message", "params": {}}
                answer = {"jsonrpc": "2.0", "id": request.get("id"), "result": value}
                self._write(json.dumps([note, answer]).encode() + b"\n")
            case "ask", dict():
                self._ask(cast(Object, value), request)
            case "line", str(line):
                self._write(line.encode() + b"\n")
            case "bytes", str(latin):
                self._write(latin.encode("latin-1"))
            case "close stdin", _:
                # It hears nothing any more, and no end either.
                silence, open_end = os.pipe()
                self._kept_fds.append(open_end)
                os.dup2(silence, 0)
            case "close stdout", _:
                os.close(1)
            case _:
                self._play_as_process(name, value, request)

    def _play_as_process(self, name: str, value: object, request: Object) -> None:
        match name, value:
            case "stderr", str(text):
                os.write(2, text.encode())
            case "flood stderr", int(size):
                for _ in range(size >> 12):
                    os.write(2, b"f" * 4095 + b"\n")
            case "exit", int(code):
                os._exit(code)
            case "kill", str(signal_name):
                os.kill(os.getpid(), signal.Signals[signal_name])
            case "hang", _:
                while True:
                    signal.pause()
            case "ring", str(fifo):
                with open(fifo, "wb", buffering=0) as bell:
                    bell.write(b"!")
            case "wait", str(fifo):
                with open(fifo, "rb", buffering=0) as gate:
                    gate.read(1)
            case "aside", list():
                acts = cast(Acts, value)
                threading.Thread(target=self._play_aside, args=(acts, request), daemon=True).start()
            case "lock", str(path):
                self._lock(path)
            case "grandchild", bool(own_session):
                child = subprocess.Popen(["sleep", "600"], start_new_session=own_session)
                self._journal.add("grandchild", child=child.pid)
            case _:
                raise ValueError(f"no such act: {name} {value!r}")

    def _play_aside(self, acts: Acts, request: Object) -> None:
        for act in acts:
            self.play(act, request)

    def _lock(self, path: str) -> None:
        """Takes the lock for as long as the process lives; exits with 75 if another one has it."""
        fd = os.open(path, os.O_RDWR | os.O_CREAT, 0o600)
        try:
            fcntl.flock(fd, fcntl.LOCK_EX | fcntl.LOCK_NB)
        except BlockingIOError:
            self._journal.add("locked", granted=False)
            os._exit(75)
        self._kept_fds.append(fd)
        self._journal.add("locked", granted=True)

    def _ask(self, question: Object, request: Object) -> None:
        """Sends the request `question`; its member `then` are acts for when it is answered."""
        then = cast(Acts, question.pop("then", []))
        self._asked[question["id"]] = (then, request)
        self._write(json.dumps({"jsonrpc": "2.0", **question}).encode() + b"\n")

    def _answer(self, request: Object, answer: Object) -> None:
        message: Object = {"jsonrpc": "2.0", "id": request.get("id"), **answer}
        self._write(json.dumps(message).encode() + b"\n")

    def _write(self, text: bytes) -> None:
        with self._writing:
            view = memoryview(text)
            while view:
                view = view[os.write(1, view) :]


def main() -> None:
    """Plays the script that the command line names."""
    descriptors = open_descriptors()
    with open(sys.argv[1], encoding="utf-8") as file:
        script = cast(Object, json.load(file))
    ScriptedChild(script, Journal(str(script.get("journal", "")))).run(descriptors)


if __name__ == "__main__":
    main()
