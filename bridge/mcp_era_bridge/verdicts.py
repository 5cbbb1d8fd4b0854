"""What is remembered of servers from one start of the bridge to the next.

Lives here: the file, its place, its key, and when it is not to be trusted. Does not: what is worth
remembering (child_era.py). Only what saves a wait is kept: that a server leaves the probe
unanswered, or exits on it.
"""

import contextlib
import hashlib
import os
import stat
import tempfile
import time

import msgspec
import platformdirs
from msgspec import Raw

from mcp_era_bridge.child_era import Memory
from mcp_era_bridge.effects import Remembered
from mcp_era_bridge.spawn import Command, NotStarted, find_executable
from mcp_era_wire.envelope import UNREADABLE, encode

_KEPT_FOR = 7 * 24 * 3600.0
"""Seconds after which a verdict is looked for anew."""


class _Entry(msgspec.Struct, frozen=True):
    verdict: Memory
    date: float
    server_info: Raw


_read_entry = msgspec.json.Decoder(_Entry).decode


class Cache:
    """The memory of one server command; without a command it remembers nothing.

    `folder` is where the files lie, by default a folder of the user's own for caches.
    """

    def __init__(self, command: Command | None, folder: str | None = None) -> None:
        self._command = command
        self._folder = folder

    def load(self) -> Remembered | None:
        """What is remembered of the server, if it can be trusted."""
        path = self.path
        if path is None:
            return None
        try:
            text = _read_trusted(path)
            entry = _read_entry(text) if text is not None else None
        except (OSError, *UNREADABLE):
            return None
        if entry is None or not 0 <= time.time() - entry.date < _KEPT_FOR:
            return None
        return Remembered(entry.verdict, entry.server_info)

    def store(self, remembered: Remembered | None) -> None:
        """Remembers, or forgets if there is nothing to remember. Best effort."""
        path = self.path
        if path is None:
            return
        with contextlib.suppress(OSError):
            if remembered is None:
                os.unlink(path)
                return
            folder = os.path.dirname(path)
            os.makedirs(folder, mode=0o700, exist_ok=True)
            entry = _Entry(remembered.memory, time.time(), remembered.server_info)
            fd, draft = tempfile.mkstemp(dir=folder)
            try:
                with os.fdopen(fd, "wb") as file:
                    file.write(encode(entry))
                os.replace(draft, path)
            except OSError:
                os.unlink(draft)
                raise

    @property
    def path(self) -> str | None:
        """The server's file, whether it is there or not."""
        folder = default_folder() if self._folder is None else os.path.join(self._folder, "eras")
        if self._command is None or folder is None or not os.path.isabs(folder):
            return None
        return os.path.join(folder, key_of(self._command) + ".json")


def default_folder() -> str | None:
    """Where the files lie, if there is such a place."""
    try:
        folder = platformdirs.user_cache_dir("mcp-bridge", appauthor=False)
    except RuntimeError:
        return None  # a user without a home remembers nothing
    return os.path.join(folder, "eras") if os.path.isabs(folder) else None


def unused(folder: str) -> tuple[list[str], list[str]]:
    """The files of a folder that are not heeded: those that are too old, and those that cannot be
    trusted or read."""
    old: list[str] = []
    untrusted: list[str] = []
    try:
        names = sorted(os.listdir(folder))
    except OSError:
        return [], []
    for name in names:
        path = os.path.join(folder, name)
        try:
            text = _read_trusted(path)
            entry = _read_entry(text) if text is not None else None
        except (OSError, *UNREADABLE):
            entry = None
        if entry is None:
            untrusted.append(path)
        elif not 0 <= time.time() - entry.date < _KEPT_FOR:
            old.append(path)
    return old, untrusted


def key_of(command: Command) -> str:
    """A name for the server as it is now: its command line, where it runs, the age of its files."""
    digest = hashlib.sha256()

    def add(text: str) -> None:
        digest.update(os.fsencode(text) + b"\0")

    with contextlib.suppress(OSError):
        add(os.getcwd())
    for word in command.argv:
        add(word)
    try:
        executable = find_executable(command)
    except NotStarted:
        executable = ""
    for path in (executable, *command.argv[1:]):
        with contextlib.suppress(OSError, ValueError):
            status = os.stat(path)
            if stat.S_ISREG(status.st_mode):
                add(f"{os.path.realpath(path)} {status.st_mtime_ns}")
    return digest.hexdigest()


def _read_trusted(path: str) -> bytes | None:
    """The file's bytes, unless it is somebody else's or others may write to it."""
    try:
        fd = os.open(path, os.O_RDONLY | os.O_NOFOLLOW | os.O_NONBLOCK)
    except FileNotFoundError:
        return None
    with os.fdopen(fd, "rb") as file:
        status = os.fstat(fd)
        if status.st_uid != os.getuid() or status.st_mode & 0o022:
            return None
        if not stat.S_ISREG(status.st_mode):
            return None
        return file.read(65536)
