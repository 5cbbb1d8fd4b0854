"""A modern host talks to the bundled old server, through a real bridge, step by step.

Lives here: the host, the steps, and what is expected of each. Does not: how it looks
(demo_print.py), the old server (old_server.py). Both ends are shown: the host's lines as they go
over the pipe, the old server's from the journal that it keeps.
Spec 2026-07-28, basic and server; spec 2025-11-25 for what the old server says.
"""

import contextlib
import json
import queue
import subprocess
import sys
import tempfile
import threading
import time
from collections.abc import Callable
from pathlib import Path
from typing import IO

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

    def __init__(self, bridge: "subprocess.Popen[bytes]", journal: Path, printer: Printer) -> None:
        assert bridge.stdin is not None and bridge.stdout is not None
        self._to_bridge = bridge.stdin
        self._journal_path = journal
        self._journal_shown = 0
        self._printer = printer
        self._last_id = 0
        self._open: set[object] = set()
        self._given_up: set[object] = set()
        self.heard: list[JsonObject] = []  # what the old server got, in order
        self.said: list[JsonObject] = []  # what it answered
        self._lines: queue.SimpleQueue[bytes | None] = queue.SimpleQueue()
        self._reader = threading.Thread(target=self._read, args=(bridge.stdout,), daemon=True)
        self._reader.start()

    def _read(self, from_bridge: IO[bytes]) -> None:
        for line in from_bridge:
            self._lines.put(line)
        self._lines.put(None)

    def join(self) -> None:
        self._reader.join(PATIENCE)

    def send(self, method: str, params: JsonObject | None = None) -> int:
        self._last_id += 1
        self._open.add(self._last_id)
        members: JsonObject = {"method": method, "params": {**(params or {}), "_meta": META}}
        self._write({"jsonrpc": "2.0", "id": self._last_id, **members})
        return self._last_id

    def cancel(self, request_id: int) -> None:
        self._open.discard(request_id)
        params = {"requestId": request_id, "reason": "changed my mind"}
        self._write({"jsonrpc": "2.0", "method": "notifications/cancelled", "params": params})

    def give_up(self) -> None:
        """A step failed: what it left open may still be answered, and troubles no later step."""
        self._given_up |= self._open
        self._open.clear()

    def _write(self, message: JsonObject) -> None:
        self._printer.from_host(message)
        try:
            self._to_bridge.write(json.dumps(message).encode() + b"\n")
            self._to_bridge.flush()
        except OSError as broken:
            raise BridgeLost("the bridge ended early") from broken

    def next_message(self) -> JsonObject:
        try:
            line = self._lines.get(timeout=PATIENCE)
        except queue.Empty:
            self.show_journal()
            raise BridgeLost(f"nothing came from the bridge within {PATIENCE:g} s") from None
        if line is None:
            raise BridgeLost("the bridge ended early")
        self.show_journal()
        try:
            message = as_object(json.loads(line))
        except ValueError:
            raise StepFailed(f"the bridge wrote a line that is no JSON: {line!r}") from None
        self._printer.to_host(message)
        self._open.discard(message.get("id"))
        return self.next_message() if message.get("id") in self._given_up else message

    def ask(self, method: str, params: JsonObject | None = None) -> JsonObject:
        request_id = self.send(method, params)
        answer = self.next_message()
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

    def until_heard(self, what: str, is_it: Callable[[JsonObject], bool]) -> JsonObject:
        """Waits until the old server has got such a message. (A file can only be looked at.)"""
        deadline = time.monotonic() + PATIENCE
        while time.monotonic() < deadline:
            self.show_journal()
            for message in self.heard:
                if is_it(message):
                    return message
            if not self._reader.is_alive():
                raise BridgeLost("the bridge ended early")
            time.sleep(0.02)
        raise BridgeLost(f"the old server did not get {what} within {PATIENCE:g} s")

    def close(self) -> None:
        """Ends the host's input and sees that nothing is left over that nobody asked for."""
        with contextlib.suppress(BrokenPipeError):  # it ended first, which its status tells
            self._to_bridge.close()
        self.join()
        while not self._lines.empty():
            line = self._lines.get()
            if line is not None:
                raise StepFailed(f"the host got a message that nobody waits for:\n{line.decode()}")


def discover(talk: Conversation) -> None:
    answer = talk.ask("server/discover")
    talk.expect([MODERN], answer, "result", "supportedVersions")
    talk.expect("tea-shop", answer, "result", "_meta", PREFIX + "serverInfo", "name")
    talk.expect({"subscribe": True}, answer, "result", "capabilities", "resources")
    talk.until_heard(
        "notifications/initialized", lambda m: m.get("method") == "notifications/initialized"
    )


def list_tools(talk: Conversation) -> None:
    answer = talk.ask("tools/list")
    talk.expect("complete", answer, "result", "resultType")
    talk.expect("price", answer, "result", "tools", 0, "name")
    talk.expect(0, answer, "result", "ttlMs")
    talk.expect("private", answer, "result", "cacheScope")


def call_tool(talk: Conversation) -> None:
    arguments: JsonObject = {"tea": "sencha", "cups": 3}
    answer = talk.ask("tools/call", {"name": "price", "arguments": arguments})
    talk.expect("complete", answer, "result", "resultType")
    bill = {"tea": "sencha", "cups": 3, "pence": 840}
    talk.expect(bill, answer, "result", "structuredContent")
    talk.expect({"name": "price", "arguments": arguments}, talk.heard[-1], "params")


def get_prompt(talk: Conversation) -> None:
    answer = talk.ask("prompts/get", {"name": "pairing", "arguments": {"tea": "assam"}})
    words = "What should I eat with a cup of assam?"
    talk.expect(words, answer, "result", "messages", 0, "content", "text")


def complete(talk: Conversation) -> None:
    argument = {"name": "tea", "value": "d"}
    ref = {"type": "ref/prompt", "name": "pairing"}
    answer = talk.ask("completion/complete", {"ref": ref, "argument": argument})
    talk.expect(["darjeeling", "dragonwell"], answer, "result", "completion", "values")


def read_resource(talk: Conversation) -> None:
    answer = talk.ask("resources/read", {"uri": "tea://menu"})
    talk.expect("tea://menu", answer, "result", "contents", 0, "uri")
    talk.expect("private", answer, "result", "cacheScope")


def read_missing_resource(talk: Conversation) -> None:
    answer = talk.ask("resources/read", {"uri": "tea://coffee"})
    talk.expect(RESOURCE_NOT_FOUND, talk.said[-1], "error", "code")
    talk.expect(INVALID_PARAMS, answer, "error", "code")
    talk.expect("tea://coffee", answer, "error", "data", "uri")


def two_at_once(talk: Conversation) -> None:
    pot = {"tea": "assam", "seconds": 2}  # time enough for the other call, and a short demo
    slow = talk.send("tools/call", {"name": "brew", "arguments": pot})
    fast = talk.send("tools/call", {"name": "price", "arguments": {"tea": "assam"}})
    talk.expect(fast, talk.next_message(), "id")
    answer = talk.next_message()
    talk.expect(slow, answer, "id")
    talk.expect("A pot of assam.", answer, "result", "content", 0, "text")


def cancel(talk: Conversation) -> None:
    arguments: JsonObject = {"tea": "dragonwell", "seconds": 3600}
    request_id = talk.send("tools/call", {"name": "brew", "arguments": arguments})
    reached = talk.until_heard(
        "the call", lambda m: as_object(m.get("params")).get("arguments") == arguments
    )
    talk.cancel(request_id)
    note = talk.until_heard(
        "the cancellation", lambda m: m.get("method") == "notifications/cancelled"
    )
    talk.expect(reached["id"], note, "params", "requestId")
    answer = talk.ask("prompts/list")  # the next thing the host hears is not about the brew
    talk.expect("pairing", answer, "result", "prompts", 0, "name")


STEPS: tuple[tuple[str, Callable[[Conversation], None]], ...] = (
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
    with tempfile.TemporaryDirectory(prefix="mcp-bridge-demo-") as folder:
        journal, errors = Path(folder, "journal.jsonl"), Path(folder, "stderr.txt")
        journal.touch()
        server = [sys.executable, "-m", "mcp_era_bridge.old_server", "--journal", str(journal)]
        command = [sys.executable, "-m", "mcp_era_bridge", "--no-cache", "--", *server]
        with (
            errors.open("wb") as stderr,
            subprocess.Popen(
                command, stdin=subprocess.PIPE, stdout=subprocess.PIPE, stderr=stderr
            ) as bridge,
        ):
            printer = Printer(write, colour)
            talk = Conversation(bridge, journal, printer)
            try:
                all_well = play(talk, bridge, printer)
            finally:
                if bridge.poll() is None:
                    bridge.kill()
                talk.join()
        tail = errors.read_text(errors="replace").splitlines()[-20:]
        if tail and not all_well:
            printer.bad("\n".join(["The bridge's stderr ended with:", *tail]))
        return 0 if all_well else 1


def play(talk: Conversation, bridge: "subprocess.Popen[bytes]", printer: Printer) -> bool:
    done = 0
    for number, (headline, step) in enumerate(STEPS, start=1):
        printer.headline(number, headline)
        try:
            step(talk)
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
    ended_well = end(talk, bridge, printer)
    all_well = done == len(STEPS) and ended_well
    ending = "ended cleanly" if ended_well else "did not end cleanly"
    printer.summary(
        f"{done} of {len(STEPS)} steps went as they should; the bridge {ending}.", all_well
    )
    return all_well


def end(talk: Conversation, bridge: "subprocess.Popen[bytes]", printer: Printer) -> bool:
    try:
        talk.close()
        status = bridge.wait(PATIENCE)
    except StepFailed as failure:
        printer.bad(f"NOT as it should be: {failure}")
        return False
    except subprocess.TimeoutExpired:
        printer.bad(f"The bridge did not end within {PATIENCE:g} s of the end of its input.")
        return False
    if status != 0:
        printer.bad(f"The bridge ended with status {status}.")
    return status == 0
