"""Scripted children for the tests: scripts of either era, the command that plays one, its journal.

Lives here: what a test wants a child to be. Does not: the child itself (scripted_child.py), the
bridge in front of it (bridge_process.py).
"""

import json
import os
import select
import sys
from pathlib import Path
from typing import cast

from scripted_child import Acts, Object

PROGRAM = Path(__file__).with_name("scripted_child.py")
PATIENCE = 30.0
"""Seconds: a bound for what is broken, never a way to wait for what is not."""

INFO: Object = {"name": "scripted", "version": "1"}
INITIALIZED: Object = {
    "protocolVersion": "2025-11-25",
    "capabilities": {"tools": {}},
    "serverInfo": INFO,
}
DISCOVERED: Object = {
    "resultType": "complete",
    "supportedVersions": ["2026-07-28"],
    "capabilities": {"tools": {}},
    "ttlMs": 0,
    "cacheScope": "private",
}
NOT_FOUND: Object = {"code": -32601, "message": "Method not found"}


def legacy(**on: Acts) -> dict[str, Acts]:
    """What a server of the handshake era does by method; `on` replaces (write `tools_call`)."""
    return {
        "initialize": [{"result": INITIALIZED}],
        "tools/call": [{"echo": {"content": []}}],
        **_by_method(on),
    }


def modern(**on: Acts) -> dict[str, Acts]:
    """The same for a server of 2026-07-28."""
    return {
        "server/discover": [{"result": DISCOVERED}],
        "tools/call": [{"echo": {"resultType": "complete", "content": []}}],
        **_by_method(on),
    }


def _by_method(on: dict[str, Acts]) -> dict[str, Acts]:
    return {name.replace("_", "/"): acts for name, acts in on.items()}


class Scripted:
    """One scripted server in a folder of its own: its script, its journal, its command."""

    def __init__(self, folder: Path, on: dict[str, Acts], **script: object) -> None:
        self.script = folder / "script.json"
        self.journal = folder / "journal.jsonl"
        self.arguments: list[str] = []
        self.change(on, **script)

    def change(self, on: dict[str, Acts], **script: object) -> None:
        """Puts another script in the place of the old one, as of the same time."""
        before = self.script.stat() if self.script.exists() else None
        self.script.write_text(json.dumps({"journal": str(self.journal), "on": on, **script}))
        if before is not None:
            os.utime(self.script, ns=(before.st_atime_ns, before.st_mtime_ns))

    @property
    def command(self) -> list[str]:
        return [sys.executable, "-I", "-S", str(PROGRAM), str(self.script), *self.arguments]

    def entries(self, what: str) -> list[Object]:
        """What the journal says of one kind, over all processes, in order."""
        if not self.journal.exists():
            return []
        lines = self.journal.read_text().splitlines()
        entries = [cast(Object, json.loads(line)) for line in lines]
        return [entry for entry in entries if entry["what"] == what]

    @property
    def pids(self) -> list[int]:
        """The processes, in the order of their start."""
        return [cast(int, entry["pid"]) for entry in self.entries("start")]

    @property
    def grandchildren(self) -> list[int]:
        return [cast(int, entry["child"]) for entry in self.entries("grandchild")]

    def received(self, pid: int | None = None) -> list[Object]:
        """The messages that a process got; of all processes if none is named."""
        entries = self.entries("received")
        return [cast(Object, entry["message"]) for entry in entries if pid in (None, entry["pid"])]

    def methods(self, pid: int | None = None) -> list[object]:
        """The methods of what `received` gives."""
        return [message.get("method") for message in self.received(pid)]


class Fifo:
    """A named pipe on which a test and a child meet: the acts `ring` and `wait` of the child."""

    def __init__(self, path: Path) -> None:
        os.mkfifo(path)
        self.path = str(path)
        # Open for both, so that neither side waits for the other to open it.
        self._fd = os.open(path, os.O_RDWR | os.O_NONBLOCK)

    def __enter__(self) -> "Fifo":
        return self

    def __exit__(self, *_: object) -> None:
        os.close(self._fd)

    def heard(self) -> None:
        """Waits until a child has rung."""
        ready, _, _ = select.select([self._fd], [], [], PATIENCE)
        assert ready, "the child did not come so far"
        os.read(self._fd, 1)

    def open(self) -> None:
        """Lets one child go on that waits here, or will."""
        os.write(self._fd, b"!")
