"""A scripted handshake-era client of the bundled old server, for the tests of it.

Lives here: the process and its pipes, requests and answers in order, bounded waits. Does not: any
expectation of what the server says.
"""

import json
import os
import queue
import subprocess
import sys
import threading
from collections.abc import Mapping
from pathlib import Path
from types import TracebackType
from typing import IO

import mcp_era_bridge.old_server
from mcp_era_bridge.old_session import JsonObject, as_list, as_object

Params = Mapping[str, object]
PATIENCE = 30.0  # a bound for a broken server, never a way to wait for a healthy one


class OldClient:
    """A scripted client: writes lines, hands over the server's lines in the order they came."""

    def __init__(self, *arguments: str) -> None:
        root = str(Path(mcp_era_bridge.old_server.__file__).parents[1])
        path = os.pathsep.join([root, *filter(None, [os.environ.get("PYTHONPATH")])])
        self._process = subprocess.Popen(
            [sys.executable, "-m", "mcp_era_bridge.old_server", *arguments],
            stdin=subprocess.PIPE,
            stdout=subprocess.PIPE,
            env={**os.environ, "PYTHONPATH": path},
        )
        assert self._process.stdin is not None and self._process.stdout is not None
        self._stdin, self._stdout = self._process.stdin, self._process.stdout
        self._lines: queue.SimpleQueue[bytes | None] = queue.SimpleQueue()
        self._reader = threading.Thread(target=self._read, args=(self._stdout,))
        self._reader.start()
        self._last_id = 0

    def __enter__(self) -> "OldClient":
        return self

    def __exit__(
        self,
        kind: type[BaseException] | None,
        error: BaseException | None,
        trace: TracebackType | None,
    ) -> None:
        if self._process.poll() is None:
            self._process.kill()
        self._process.wait(PATIENCE)
        self._reader.join(PATIENCE)
        self._stdin.close()
        self._stdout.close()

    def _read(self, stdout: IO[bytes]) -> None:
        for line in stdout:
            self._lines.put(line)
        self._lines.put(None)

    def write(self, line: bytes) -> None:
        self._stdin.write(line + b"\n")
        self._stdin.flush()

    def send(self, message: Params) -> None:
        self.write(json.dumps({"jsonrpc": "2.0", **message}).encode())

    def request(self, method: str, params: Params | None = None) -> int:
        self._last_id += 1
        members: JsonObject = {} if params is None else {"params": params}
        self.send({"id": self._last_id, "method": method, **members})
        return self._last_id

    def call(self, tool: str, meta: Params | None = None, **arguments: object) -> int:
        params: JsonObject = {"name": tool, "arguments": arguments}
        return self.request("tools/call", params if meta is None else {**params, "_meta": meta})

    def next(self) -> JsonObject:
        line = self._lines.get(timeout=PATIENCE)
        assert line is not None, "the server closed its output"
        message = as_object(json.loads(line))
        assert message.pop("jsonrpc") == "2.0"
        return message

    def answer_to(self, request_id: int) -> JsonObject:
        """The very next message, which must be this answer."""
        answer = self.next()
        assert answer.pop("id") == request_id
        return answer

    def result(self, method: str, params: Params | None = None) -> JsonObject:
        answer = self.answer_to(self.request(method, params))
        assert list(answer) == ["result"], answer
        return as_object(answer["result"])

    def error(self, method: str, params: Params | None = None) -> JsonObject:
        answer = self.answer_to(self.request(method, params))
        assert list(answer) == ["error"], answer
        return as_object(answer["error"])

    def initialize(self, capabilities: Params, version: str = "2025-11-25") -> JsonObject:
        info = {"name": "test", "version": "0"}
        params = {"protocolVersion": version, "capabilities": capabilities, "clientInfo": info}
        result = self.result("initialize", params)
        self.send({"method": "notifications/initialized"})
        return result

    def end(self) -> list[JsonObject]:
        """Closes the server's input; gives what it still said before it ended by itself."""
        self._stdin.close()
        rest: list[JsonObject] = []
        while (line := self._lines.get(timeout=PATIENCE)) is not None:
            rest.append(as_object(json.loads(line)))
        assert self._process.wait(PATIENCE) == 0
        return rest


def said(answer: JsonObject) -> str:
    content = as_list(as_object(answer["result"])["content"])
    return str(as_object(content[0])["text"])
