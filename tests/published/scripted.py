"""What the scripted hosts in Python have in common: their command line, their steps, their report.

    HOST MODE STEP... -- SERVER [ARGUMENT]...

MODE is legacy, auto or a revision to be pinned. A STEP is a name of `steps_of`, or TOOL=JSON: that
tool with these arguments. Printed is one JSON object, {"connect": {...}, "steps": {STEP: {...}}}.

Run by other environments than the tests' own, so it imports nothing but the standard library.
Does not live here: any software development kit (py_host.py, fastmcp_host.py).
"""

import asyncio
import json
import sys
from collections.abc import Awaitable, Callable
from contextlib import AbstractAsyncContextManager
from typing import Protocol

PATIENCE = 20.0  # of one step: a bound for what hangs
LEVEL = "warning"  # of the log messages that a host wants

Json = dict[str, object]


class Seen:
    """What the server has told unasked, by kind, in order."""

    def __init__(self) -> None:
        self._told: dict[str, list[object]] = {}
        self._news = asyncio.Event()

    def tell(self, kind: str, what: object) -> None:
        self._told.setdefault(kind, []).append(what)
        self._news.set()

    async def until(self, kind: str, count: int) -> list[object]:
        """Waits for so many of a kind; gives all that there are."""
        while len(self.of(kind)) < count:
            self._news.clear()
            await self._news.wait()
        return self.of(kind)

    def of(self, kind: str) -> list[object]:
        return [*self._told.get(kind, [])]


class Connection(Protocol):
    """A connected client; what it returns is what the server sent, as far as its SDK shows it."""

    seen: Seen
    """Here it tells of `progress`, `log` messages, `updated` resources and `tools` that changed."""

    def about(self) -> Json: ...
    async def list_tools(self) -> Json: ...
    async def list_resources(self) -> Json: ...
    async def list_prompts(self) -> Json: ...
    async def call(self, tool: str, arguments: Json) -> Json: ...
    async def read(self, uri: str) -> Json: ...
    async def prompt(self, name: str, arguments: dict[str, str]) -> Json: ...
    async def complete(self, prompt: str, argument: dict[str, str]) -> Json: ...
    async def call_with_progress(self, tool: str, arguments: Json) -> Json: ...
    async def set_level(self) -> None: ...
    def watching(self, uri: str) -> AbstractAsyncContextManager[None]: ...


Connect = Callable[[str, list[str]], AbstractAsyncContextManager[Connection]]


def steps_of(host: Connection) -> dict[str, Callable[[], Awaitable[object]]]:
    async def parallel() -> object:
        return await asyncio.gather(*(host.call("slow", {"seconds": 0.3}) for _ in range(3)))

    async def slow_cancel() -> object:
        slow = asyncio.create_task(host.call("slow", {"seconds": 60}))
        try:
            await sleepers("1 asleep")
        finally:
            slow.cancel()
        (ended,) = await asyncio.gather(slow, return_exceptions=True)
        echo = await host.call("echo", {"text": "still here"})
        return [type(ended).__name__, echo, await sleepers("0 asleep")]

    async def sleepers(wanted: str) -> object:
        """Asks how many slow calls are under way, until it is as wanted."""
        while wanted not in str(told := await host.call("sleepers", {})):
            pass
        return told

    async def progress() -> object:
        result = await host.call_with_progress("count", {"to": 3})
        return [result, await host.seen.until("progress", 3)]

    async def logs() -> object:
        await host.set_level()
        result = await host.call("log", {})
        return [result, await host.seen.until("log", 2)]

    async def changes() -> object:
        async with host.watching("shelf://top/touched"):
            await host.call("touch", {})
            await host.seen.until("updated", 1)
            await host.call("grow", {})
            await host.seen.until("tools", 1)
        await host.call("touch", {})
        return [host.seen.of("updated"), host.seen.of("tools")]

    asked = {
        f"ask_{what}": lambda what=what: host.call("ask", {"what": what})
        for what in ("form", "url", "model", "roots", "twice", "all")
    }
    return {
        **asked,
        "progress": progress,
        "logs": logs,
        "changes": changes,
        "era": lambda: host.call("era", {}),
        "list_tools": host.list_tools,
        "list_resources": host.list_resources,
        "list_prompts": host.list_prompts,
        "echo": lambda: host.call("echo", {"text": 'héllo "字" \u2028 \U0001f600'}),
        "add": lambda: host.call("add", {"a": 2, "b": 40}),
        "read_resource": lambda: host.read("shelf://top/note"),
        "read_missing": lambda: host.read("shelf://top/nothing"),
        "prompt": lambda: host.prompt("greet", {"name": "Ada"}),
        "complete": lambda: host.complete("greet", {"name": "name", "value": "Ad"}),
        "parallel": parallel,
        "fail": lambda: host.call("fail", {}),
        "unknown_tool": lambda: host.call("no_such_tool", {}),
        "slow_cancel": slow_cancel,
    }


def step_named(step: str, host: Connection) -> Callable[[], Awaitable[object]]:
    tool, is_call, arguments = step.partition("=")
    return (lambda: host.call(tool, json.loads(arguments))) if is_call else steps_of(host)[step]


async def outcome(step: Callable[[], Awaitable[object]]) -> Json:
    try:
        async with asyncio.timeout(PATIENCE):
            return {"ok": True, "got": await step()}
    except Exception as failure:
        return failed(failure)


def failed(failure: Exception) -> Json:
    told: Json = {"ok": False, "error": f"{type(failure).__name__}: {failure}"}
    error = getattr(failure, "error", None)  # what a JSON-RPC error became
    if error is not None:
        told |= {"code": error.code, "data": error.data}
    return told


async def play(connect: Connect, mode: str, steps: list[str], server: list[str]) -> Json:
    try:
        async with connect(mode, server) as host:
            done = {step: await outcome(step_named(step, host)) for step in steps}
            return {"connect": host.about(), "steps": done}
    except Exception as failure:
        return {"connect": failed(failure), "steps": {}}


def main(connect: Connect) -> None:
    cut = sys.argv.index("--")
    mode, *steps = sys.argv[1:cut]
    print(json.dumps(asyncio.run(play(connect, mode, steps, sys.argv[cut + 1 :]))))
