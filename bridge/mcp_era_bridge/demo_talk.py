"""The host of the demonstration: its end of the bridge, with the old server's journal beside it.

Lives here: lines out and in, bounded waits, what is expected of a message. Does not: the steps
(demo_steps.py), how it looks (demo_print.py). Spec 2026-07-28, basic/index.
"""

import json
import sys
from collections.abc import Callable
from pathlib import Path

import anyio
from anyio.abc import Process
from anyio.streams.buffered import BufferedByteReceiveStream

from mcp_era_bridge.demo_print import PREFIX, VERSION_KEY, Printer
from mcp_era_bridge.old_session import JsonObject, as_list, as_object

PATIENCE = 20.0  # seconds, for every wait
MODERN = "2026-07-28"
META: JsonObject = {
    VERSION_KEY: MODERN,
    PREFIX + "clientInfo": {"name": "demo-host", "version": "1.0.0"},
    PREFIX + "clientCapabilities": {"elicitation": {"form": {}}, "sampling": {}, "roots": {}},
}


class StepFailed(Exception):
    """Something else came than what should have come."""


class BridgeLost(Exception):
    """The bridge ended or went silent: there is nobody to talk to any more."""


class Conversation:
    """The host's end of the bridge, with the old server's journal beside it."""

    def __init__(self, bridge: Process, journal: Path, printer: Printer) -> None:
        assert bridge.stdin is not None and bridge.stdout is not None
        self._bridge = bridge
        self._to_bridge = bridge.stdin
        self._from_bridge = BufferedByteReceiveStream(bridge.stdout)
        self._journal_path = journal
        self._journal_shown = 0
        self._printer = printer
        self._last_id = 0
        self._open: set[object] = set()
        self._given_up: set[object] = set()
        self.heard: list[JsonObject] = []  # what the old server got, in order
        self.said: list[JsonObject] = []  # what it answered

    async def send(
        self, method: str, params: JsonObject | None = None, meta: JsonObject | None = None
    ) -> int:
        self._last_id += 1
        self._open.add(self._last_id)
        envelope = {**META, **(meta or {})}
        members: JsonObject = {"method": method, "params": {**(params or {}), "_meta": envelope}}
        await self._write({"jsonrpc": "2.0", "id": self._last_id, **members})
        return self._last_id

    async def cancel(self, request_id: int) -> None:
        self._open.discard(request_id)
        params = {"requestId": request_id, "reason": "changed my mind"}
        await self._write({"jsonrpc": "2.0", "method": "notifications/cancelled", "params": params})

    def give_up(self) -> None:
        """A step failed: what it left open may still be answered, and troubles no later step."""
        self._given_up |= self._open
        self._open.clear()

    async def _write(self, message: JsonObject) -> None:
        self._printer.from_host(message)
        try:
            await self._to_bridge.send(json.dumps(message).encode() + b"\n")
        except anyio.BrokenResourceError as broken:
            raise BridgeLost("the bridge ended early") from broken

    async def _next_line(self) -> bytes:
        try:
            return await self._from_bridge.receive_until(b"\n", sys.maxsize) + b"\n"
        except anyio.IncompleteRead:  # at the end: a line without its line end may be left
            return await self._from_bridge.receive()

    async def next_message(self) -> JsonObject:
        try:
            with anyio.fail_after(PATIENCE):
                line = await self._next_line()
        except TimeoutError:
            raise BridgeLost(f"nothing came from the bridge within {PATIENCE:g} s") from None
        except anyio.EndOfStream:
            raise BridgeLost("the bridge ended early") from None
        self.show_journal()
        try:
            message = as_object(json.loads(line))
        except ValueError:
            raise StepFailed(f"the bridge wrote a line that is no JSON: {line!r}") from None
        self._printer.to_host(message)
        self._open.discard(message.get("id"))
        return await self.next_message() if message.get("id") in self._given_up else message

    async def ask(
        self, method: str, params: JsonObject | None = None, meta: JsonObject | None = None
    ) -> JsonObject:
        request_id = await self.send(method, params, meta)
        answer = await self.next_message()
        self.expect(request_id, answer, "id")
        return answer

    def expect(self, wanted: object, message: JsonObject, *path: str | int) -> None:
        found: object = message
        for key in path:
            if isinstance(key, int):
                found = (as_list(found) + [None] * (key + 1))[key]
            else:
                found = as_object(found).get(key)
        if found != wanted:
            where = " > ".join(str(key) for key in path)
            raise StepFailed(f"{where} should be {wanted!r}, but this came:\n{json.dumps(message)}")

    def show_journal(self) -> None:
        entries = self._journal_path.read_bytes().split(b"\n")[:-1]  # whole lines only
        for line in entries[self._journal_shown :]:
            entry = as_object(json.loads(line))
            message = as_object(entry["message"])
            if entry["dir"] == "in":
                self.heard.append(message)
                self._printer.to_server(message)
            else:
                self.said.append(message)
                self._printer.from_server(message)
        self._journal_shown = len(entries)

    async def until_heard(self, what: str, is_it: Callable[[JsonObject], bool]) -> JsonObject:
        """Waits until the old server has got such a message. (A file can only be looked at.)"""
        with anyio.move_on_after(PATIENCE):
            while True:
                self.show_journal()
                for message in self.heard:
                    if is_it(message):
                        return message
                if self._bridge.returncode is not None:
                    raise BridgeLost("the bridge ended early")
                await anyio.sleep(0.02)
        raise BridgeLost(f"the old server did not get {what} within {PATIENCE:g} s")

    async def close(self) -> int:
        """Ends the host's input, sees that nothing is left over that nobody asked for, and gives
        the status that the bridge ended with."""
        await self._to_bridge.aclose()
        rest = b""
        with anyio.move_on_after(PATIENCE):
            async for chunk in self._from_bridge:
                rest += chunk
        if rest:
            line = rest.split(b"\n")[0].decode(errors="replace")
            raise StepFailed(f"the host got a message that nobody waits for:\n{line}")
        with anyio.fail_after(PATIENCE):
            return await self._bridge.wait()
