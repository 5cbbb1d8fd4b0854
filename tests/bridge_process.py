"""The bridge as a process of its own, with a host that a test plays.

Lives here: start and end of the process, lines to it, messages from it, bounded waits. Does not:
the child behind it (children.py), any expectation of what comes.
"""

import contextlib
import json
import os
import select
import signal
import subprocess
import sys
import threading
from collections.abc import Callable, Mapping, Sequence
from pathlib import Path
from types import TracebackType
from typing import IO, cast

from children import PATIENCE, Scripted
from scripted_child import Object

KEY = "io.modelcontextprotocol/"
LAUNCH = (sys.executable, "-m", "mcp_era_bridge")


def modern_request(
    id: int | str, method: str, capabilities: Object | None = None, **params: object
) -> Object:
    """A request of 2026-07-28, with its envelope."""
    meta: Object = {
        KEY + "protocolVersion": "2026-07-28",
        KEY + "clientInfo": {"name": "test", "version": "0"},
        KEY + "clientCapabilities": capabilities or {},
    }
    return {"jsonrpc": "2.0", "id": id, "method": method, "params": {**params, "_meta": meta}}


def legacy_request(id: int | str, method: str, **params: object) -> Object:
    """A request of the handshake era."""
    return {"jsonrpc": "2.0", "id": id, "method": method, "params": params}


def modern_call(id: int | str, **arguments: object) -> Object:
    """A modern tools/call; scripted children give its arguments back."""
    return modern_request(id, "tools/call", name="echo", arguments=arguments)


def legacy_call(id: int | str, **arguments: object) -> Object:
    """A legacy tools/call."""
    return legacy_request(id, "tools/call", name="echo", arguments=arguments)


def echoed(result: Object) -> object:
    """What the scripted child's echo got as arguments."""
    return result["structuredContent"]


def legacy_opening(id: int | str = 0, version: str = "2025-11-25") -> Object:
    """The `initialize` of a legacy host."""
    info = {"name": "test", "version": "0"}
    return legacy_request(
        id, "initialize", protocolVersion=version, capabilities={}, clientInfo=info
    )


def host_environment(**more: str) -> dict[str, str]:
    """The environment of the tests, without what would set options of the bridge."""
    kept = {k: v for k, v in os.environ.items() if not k.startswith("MCP_BRIDGE_")}
    return {**kept, **more}


def is_left(pid: int) -> bool:
    """Whether the process is there and does something; one that waits to be reaped does not."""
    try:
        os.kill(pid, 0)
        status = Path(f"/proc/{pid}/stat").read_text()
    except ProcessLookupError:
        return False
    except FileNotFoundError:
        return not Path("/proc/self").exists()
    return status.rpartition(")")[2].split()[0] not in ("Z", "X")


def assert_ends(pid: int) -> None:
    """Waits until the process, which need not be ours, has ended."""
    if sys.platform == "linux":
        with contextlib.suppress(ProcessLookupError):
            fd = os.pidfd_open(pid)
            try:
                ready, _, _ = select.select([fd], [], [], PATIENCE)
            finally:
                os.close(fd)
            assert ready, f"process {pid} is left"
    assert not is_left(pid), f"process {pid} is left"


class BridgeProcess:
    """A running bridge. As a context manager it leaves nothing behind, whatever happens.

    `child` is a scripted server or a command. `cache` allows the memory across starts, which is
    off otherwise. `read_stderr` tells whether anybody reads the bridge's stderr, `reading` whether
    the host reads from the start.
    """

    def __init__(
        self,
        child: Scripted | Sequence[str],
        *options: str,
        cache: bool = False,
        env: Mapping[str, str] | None = None,
        cwd: Path | None = None,
        launch: Sequence[str] = LAUNCH,
        dashes: bool = True,
        read_stderr: bool = True,
        reading: bool = True,
    ) -> None:
        self._scripted = child if isinstance(child, Scripted) else None
        command = child.command if isinstance(child, Scripted) else child
        memory = () if cache else ("--no-cache",)
        self.process = subprocess.Popen(
            [*launch, *memory, *options, *(["--"] if dashes else []), *command],
            stdin=subprocess.PIPE,
            stdout=subprocess.PIPE,
            stderr=subprocess.PIPE,
            env=host_environment() if env is None else env,
            cwd=cwd,
        )
        stdin, stdout, stderr = self.process.stdin, self.process.stdout, self.process.stderr
        assert stdin is not None and stdout is not None and stderr is not None
        self._stdin, self._stdout, self._stderr = stdin, stdout, stderr
        self._news = threading.Condition()
        self.messages: list[Object] = []
        """Everything that came, in order."""
        self.unreadable: list[bytes] = []
        """Lines that are no message."""
        self.answered_twice: list[Object] = []
        self._answers: dict[object, Object] = {}
        self._over = False
        """Whether the bridge will write no more."""
        self._said = bytearray()
        self._readers: list[threading.Thread] = []
        if read_stderr:
            self.start_reading_stderr()
        if reading:
            self.start_reading()

    def __enter__(self) -> "BridgeProcess":
        return self

    def __exit__(
        self,
        kind: type[BaseException] | None,
        error: BaseException | None,
        trace: TracebackType | None,
    ) -> None:
        if self.process.poll() is None:
            self.process.kill()
        self.process.wait(PATIENCE)
        if self._scripted is not None:
            for pid in [*self._scripted.pids, *self._scripted.grandchildren]:
                with contextlib.suppress(ProcessLookupError):
                    os.kill(pid, signal.SIGKILL)
        with contextlib.suppress(BrokenPipeError):
            self._stdin.close()
        for reader in self._readers:
            reader.join(PATIENCE)
        self._stdout.close()
        self._stderr.close()
        if error is not None:
            error.add_note(f"stderr of the bridge:\n{self.stderr[-4000:]}")

    # Reading -------------------------------------------------------------------------------------

    def start_reading(self) -> None:
        """From now on the host reads what the bridge writes."""
        self._start(self._read, self._stdout)

    def start_reading_stderr(self) -> None:
        """From now on somebody reads the bridge's stderr."""
        self._start(self._read_stderr, self._stderr)

    def _start(self, read: Callable[[IO[bytes]], None], pipe: IO[bytes]) -> None:
        reader = threading.Thread(target=read, args=(pipe,))
        self._readers.append(reader)
        reader.start()

    def hang_up(self) -> None:
        """The host, which does not read yet, never will."""
        self._stdout.close()

    def _read(self, stdout: IO[bytes]) -> None:
        for line in stdout:
            self._take(line)
        with self._news:
            self._over = True
            self._news.notify_all()

    def _take(self, line: bytes) -> None:
        try:
            message = cast(object, json.loads(line))
        except ValueError:
            message = None
        with self._news:
            if isinstance(message, dict):
                one = cast(Object, message)
                self.messages.append(one)
                if "method" not in one:
                    if one.get("id") in self._answers:
                        self.answered_twice.append(one)
                    self._answers[one.get("id")] = one
            else:
                self.unreadable.append(line)
            self._news.notify_all()

    def _read_stderr(self, stderr: IO[bytes]) -> None:
        while text := os.read(stderr.fileno(), 65536):
            with self._news:
                self._said += text
                self._news.notify_all()

    @property
    def stderr(self) -> str:
        """What the bridge has said so far, its child's stderr included."""
        with self._news:
            return self._said.decode("utf-8", "replace")

    # The host ------------------------------------------------------------------------------------

    def send(self, *messages: Object | bytes) -> None:
        """Writes the messages, or the bytes, in one go."""
        for message in messages:
            if isinstance(message, bytes):
                self._stdin.write(message)
            else:
                self._stdin.write(json.dumps(message).encode() + b"\n")
        self._stdin.flush()

    def answer(self, id: int | str) -> Object:
        """Waits for the answer to a request."""
        with self._news:
            self._news.wait_for(lambda: self._over or id in self._answers, PATIENCE)
            assert id in self._answers, (
                f"{id!r} was not answered; what came: {str(self.messages)[:2000]}"
            )
            return self._answers[id]

    def ask(self, request: Object) -> Object:
        """Sends a request and waits for its answer."""
        self.send(request)
        return self.answer(cast(int | str, request["id"]))

    def result(self, request: Object) -> Object:
        answer = self.ask(request)
        assert "result" in answer, answer
        return cast(Object, answer["result"])

    def error(self, request: Object) -> Object:
        answer = self.ask(request)
        assert "error" in answer, answer
        return cast(Object, answer["error"])

    def notified(self, method: str, count: int = 1) -> list[Object]:
        """Waits until so many notifications of `method` have come."""

        def come() -> list[Object]:
            return [message for message in self.messages if message.get("method") == method]

        with self._news:
            self._news.wait_for(lambda: self._over or len(come()) >= count, PATIENCE)
            assert len(come()) >= count, f"no {method}; what came: {str(self.messages)[:2000]}"
            return come()

    def answers(self, count: int) -> dict[object, Object]:
        """Waits until `count` requests have been answered in all."""
        with self._news:
            self._news.wait_for(lambda: self._over or len(self._answers) >= count, PATIENCE)
            assert len(self._answers) >= count, f"only {len(self._answers)} answers of {count}"
            return dict(self._answers)

    def said(self, text: str) -> None:
        """Waits until the bridge or its child has said this on stderr."""
        wanted = text.encode()
        with self._news:
            came = self._news.wait_for(lambda: wanted in self._said, PATIENCE)
            assert came, f"{text!r} is not in {bytes(self._said)!r}"

    def close(self) -> None:
        """The host closes its end of the bridge's input."""
        self._stdin.close()

    # The end -------------------------------------------------------------------------------------

    def wait(self) -> int:
        """Waits for the end of the bridge; nothing of what it started may be left."""
        code = self.process.wait(PATIENCE)
        for reader in self._readers:
            reader.join(PATIENCE)
        assert "Traceback" not in self.stderr, self.stderr
        if self._scripted is not None:
            left = [pid for pid in self._scripted.pids if is_left(pid)]
            assert not left, f"the bridge has ended and left {left}"
        return code

    def end(self) -> None:
        """Closes the bridge's input and sees it end in good order."""
        self.close()
        assert self.wait() == 0
        assert (self.unreadable, self.answered_twice) == ([], [])
