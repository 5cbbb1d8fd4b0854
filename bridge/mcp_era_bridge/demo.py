"""A modern host talks to the bundled old server, through a real bridge, step by step.

Lives here: the host, the steps, and what is expected of each. Does not: how it looks
(demo_print.py), the old server (old_server.py). Both ends are shown: the host's lines as they go
over the pipe, the old server's from the journal that it keeps.
Spec 2026-07-28, basic and server; spec 2025-11-25 for what the old server says.
"""

import json
import sys
import tempfile
from collections.abc import Awaitable, Callable
from pathlib import Path
from typing import IO

import anyio
from anyio.abc import Process
from anyio.streams.buffered import BufferedByteReceiveStream

from mcp_era_bridge.demo_print import PREFIX, VERSION_KEY, Printer
from mcp_era_bridge.old_session import (
    INVALID_PARAMS,
    RESOURCE_NOT_FOUND,
    JsonObject,
    as_list,
    as_object,
)

PATIENCE = 20.0  # seconds, for every wait
MODERN = "2026-07-28"
META: JsonObject = {
    VERSION_KEY: MODERN,
    PREFIX + "clientInfo": {"name": "demo-host", "version": "1.0.0"},
    PREFIX + "clientCapabilities": {},
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

    async def send(self, method: str, params: JsonObject | None = None) -> int:
        self._last_id += 1
        self._open.add(self._last_id)
        members: JsonObject = {"method": method, "params": {**(params or {}), "_meta": META}}
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

    async def ask(self, method: str, params: JsonObject | None = None) -> JsonObject:
        request_id = await self.send(method, params)
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


async def discover(talk: Conversation) -> None:
    answer = await talk.ask("server/discover")
    talk.expect([MODERN], answer, "result", "supportedVersions")
    talk.expect("tea-shop", answer, "result", "_meta", PREFIX + "serverInfo", "name")
    talk.expect({"subscribe": True}, answer, "result", "capabilities", "resources")
    await talk.until_heard(
        "notifications/initialized", lambda m: m.get("method") == "notifications/initialized"
    )


async def list_tools(talk: Conversation) -> None:
    answer = await talk.ask("tools/list")
    talk.expect("complete", answer, "result", "resultType")
    talk.expect("price", answer, "result", "tools", 0, "name")
    talk.expect(0, answer, "result", "ttlMs")
    talk.expect("private", answer, "result", "cacheScope")


async def call_tool(talk: Conversation) -> None:
    arguments: JsonObject = {"tea": "sencha", "cups": 3}
    answer = await talk.ask("tools/call", {"name": "price", "arguments": arguments})
    talk.expect("complete", answer, "result", "resultType")
    bill = {"tea": "sencha", "cups": 3, "pence": 840}
    talk.expect(bill, answer, "result", "structuredContent")
    talk.expect({"name": "price", "arguments": arguments}, talk.heard[-1], "params")


async def get_prompt(talk: Conversation) -> None:
    answer = await talk.ask("prompts/get", {"name": "pairing", "arguments": {"tea": "assam"}})
    words = "What should I eat with a cup of assam?"
    talk.expect(words, answer, "result", "messages", 0, "content", "text")


async def complete(talk: Conversation) -> None:
    argument = {"name": "tea", "value": "d"}
    ref = {"type": "ref/prompt", "name": "pairing"}
    answer = await talk.ask("completion/complete", {"ref": ref, "argument": argument})
    talk.expect(["darjeeling", "dragonwell"], answer, "result", "completion", "values")


async def read_resource(talk: Conversation) -> None:
    answer = await talk.ask("resources/read", {"uri": "tea://menu"})
    talk.expect("tea://menu", answer, "result", "contents", 0, "uri")
    talk.expect("private", answer, "result", "cacheScope")


async def read_missing_resource(talk: Conversation) -> None:
    answer = await talk.ask("resources/read", {"uri": "tea://coffee"})
    talk.expect(RESOURCE_NOT_FOUND, talk.said[-1], "error", "code")
    talk.expect(INVALID_PARAMS, answer, "error", "code")
    talk.expect("tea://coffee", answer, "error", "data", "uri")


async def two_at_once(talk: Conversation) -> None:
    pot = {"tea": "assam", "seconds": 2}  # time enough for the other call, and a short demo
    slow = await talk.send("tools/call", {"name": "brew", "arguments": pot})
    fast = await talk.send("tools/call", {"name": "price", "arguments": {"tea": "assam"}})
    talk.expect(fast, await talk.next_message(), "id")
    answer = await talk.next_message()
    talk.expect(slow, answer, "id")
    talk.expect("A pot of assam.", answer, "result", "content", 0, "text")


async def cancel(talk: Conversation) -> None:
    arguments: JsonObject = {"tea": "dragonwell", "seconds": 3600}
    request_id = await talk.send("tools/call", {"name": "brew", "arguments": arguments})
    reached = await talk.until_heard(
        "the call", lambda m: as_object(m.get("params")).get("arguments") == arguments
    )
    await talk.cancel(request_id)
    note = await talk.until_heard(
        "the cancellation", lambda m: m.get("method") == "notifications/cancelled"
    )
    talk.expect(reached["id"], note, "params", "requestId")
    answer = await talk.ask("prompts/list")  # the next thing the host hears is not about the brew
    talk.expect("pairing", answer, "result", "prompts", 0, "name")


STEPS: tuple[tuple[str, Callable[[Conversation], Awaitable[None]]], ...] = (
    ("The old server is shaken hands with; the host never sees it.", discover),
    ("A list comes back with what a modern host wants to know about caching.", list_tools),
    ("A tool answers with structured content; _meta stays with the bridge.", call_tool),
    ("A prompt comes through as it is.", get_prompt),
    ("So do completions for its argument.", complete),
    ("A resource is read.", read_resource),
    ("A missing one: the old error -32002 becomes the modern -32602.", read_missing_resource),
    ("Two calls at once: the fast one overtakes the slow one.", two_at_once),
    ("A cancellation reaches the old server, under the id that it knows.", cancel),
)


def run_demo(write: Callable[[str], None], colour: bool) -> int:
    """Plays all steps and gives the exit code. `write` gets whole lines with their line end."""
    printer = Printer(write, colour)
    with tempfile.TemporaryDirectory(prefix="mcp-bridge-demo-") as folder:
        journal, errors = Path(folder, "journal.jsonl"), Path(folder, "stderr.txt")
        journal.touch()
        with errors.open("wb") as stderr:
            all_well = anyio.run(converse, journal, stderr, printer, backend="trio")
        tail = errors.read_text(errors="replace").splitlines()[-20:]
        if tail and not all_well:
            printer.bad("\n".join(["The bridge's stderr ended with:", *tail]))
        return 0 if all_well else 1


async def converse(journal: Path, stderr: IO[bytes], printer: Printer) -> bool:
    server = [sys.executable, "-m", "mcp_era_bridge.old_server", "--journal", str(journal)]
    command = [sys.executable, "-m", "mcp_era_bridge", "--no-cache", "--", *server]
    async with await anyio.open_process(command, stderr=stderr) as bridge:
        try:
            return await play(Conversation(bridge, journal, printer), printer)
        finally:
            bridge.kill()  # does nothing to one that has ended


async def play(talk: Conversation, printer: Printer) -> bool:
    done = 0
    for number, (headline, step) in enumerate(STEPS, start=1):
        printer.headline(number, headline)
        try:
            await step(talk)
        except StepFailed as failure:
            printer.bad(f"NOT as it should be: {failure}")
            talk.give_up()
        except BridgeLost as why:
            talk.show_journal()
            printer.bad(f"NOT as it should be: {why}")
            break
        else:
            printer.good("as it should be")
            done += 1
    ended_well = await end(talk, printer)
    all_well = done == len(STEPS) and ended_well
    ending = "ended cleanly" if ended_well else "did not end cleanly"
    printer.summary(
        f"{done} of {len(STEPS)} steps went as they should; the bridge {ending}.", all_well
    )
    return all_well


async def end(talk: Conversation, printer: Printer) -> bool:
    try:
        status = await talk.close()
    except StepFailed as failure:
        printer.bad(f"NOT as it should be: {failure}")
        return False
    except TimeoutError:
        printer.bad(f"The bridge did not end within {PATIENCE:g} s of the end of its input.")
        return False
    if status != 0:
        printer.bad(f"The bridge ended with status {status}.")
    return status == 0
