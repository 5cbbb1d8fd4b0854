"""Reads configuration files, and replaces them so that nothing is lost whatever happens.

Lives here: bytes, the file behind a link, the lock, the rename. Does not: what is in them, what is
kept of them (config_backup.py).
"""

import contextlib
import os
import re
import stat
import tempfile
import time
from collections.abc import Callable, Generator
from dataclasses import dataclass
from pathlib import Path

BACKUP = ".before-mcp-bridge"
"""What a backup's name has at its end; no host reads files that are called so."""

LARGEST = 64 << 20
"""Bytes of a file that is read; more is no configuration."""

LEFTOVER_SECONDS = 3600
"""The age at which an unfinished new file is one of a run that was killed."""

_BOM = b"\xef\xbb\xbf"


class FileProblem(Exception):
    """A file cannot be read or written; the text says why, and what to try."""


@dataclass(frozen=True)
class Content:
    """What a file holds: `bom` and then `text`. `path` is the file itself, behind all links."""

    path: Path
    bom: bytes
    text: str

    @property
    def data(self) -> bytes:
        """The bytes of the file."""
        return self.bom + self.text.encode()


def read(path: Path) -> Content:
    """Reads a file. Raises FileProblem."""
    try:
        real = path.resolve(strict=True)
        status = real.stat()
        if not stat.S_ISREG(status.st_mode):
            raise FileProblem("it is no regular file")
        if status.st_size > LARGEST:
            raise FileProblem(f"it has {status.st_size >> 20} MiB; the most that is read is 64")
        data = real.read_bytes()
    except (OSError, RuntimeError) as error:  # the latter: links that run in a circle
        raise FileProblem(f"it cannot be read: {_reason(error)}") from error
    if data.startswith((b"\xff\xfe", b"\xfe\xff")):
        raise FileProblem("it is UTF-16, and hosts read UTF-8: save it as UTF-8")
    bom = _BOM if data.startswith(_BOM) else b""
    try:
        return Content(real, bom, data[len(bom) :].decode())
    except UnicodeDecodeError as error:
        at = error.start + len(bom)
        raise FileProblem(f"byte {at} (0x{data[at]:02x}) is no UTF-8: save it as UTF-8") from error


@contextlib.contextmanager
def alone(path: Path) -> Generator[None]:
    """Keeps other runs from writing into the folder of `path`. Raises FileProblem."""
    import fcntl  # which Windows lacks, where files are only read

    try:
        folder = os.open(path.parent, os.O_RDONLY)
    except OSError as error:
        raise FileProblem(f"its folder cannot be read: {_reason(error)}") from error
    try:
        # Some file systems of networks have no locks; the comparisons in replace() remain.
        with contextlib.suppress(OSError):
            fcntl.flock(folder, fcntl.LOCK_EX)
        yield
    finally:
        os.close(folder)


def replace(
    content: Content,
    text: str,
    backup: Path | None,
    rename: Callable[[str, Path], None] = os.replace,
) -> None:
    """Writes `text` in the place of what was read, which `backup` keeps. Raises FileProblem.

    The backup is whole before anything else is touched, and so is the new file before it takes the
    name of the old one.
    """
    path = content.path

    def unchanged() -> None:
        if path.read_bytes() != content.data:
            raise FileProblem("it was changed by somebody else meanwhile. Try again.")

    def rename_unchanged(new: str, old: Path) -> None:
        unchanged()
        rename(new, old)

    try:
        status = path.stat()
        if not status.st_mode & 0o222 or not os.access(path, os.W_OK):
            raise FileProblem(f"it is read-only. Make it writable (chmod u+w {path}), or leave it.")
        unchanged()
        _remove_leftovers(path)
        if backup is not None:
            _write(backup, content.data, status, os.replace)
        _write(path, content.bom + text.encode(), status, rename_unchanged)
    except OSError as error:
        raise FileProblem(f"it cannot be written: {_reason(error)}") from error


def _remove_leftovers(path: Path) -> None:
    """Removes what runs that were killed have left beside `path`."""
    ours = re.compile(rf"\.{re.escape(path.name)}(?:{re.escape(BACKUP)}[.0-9]*)?\.\w{{8}}\.tmp")
    oldest = time.time() - LEFTOVER_SECONDS
    for other in path.parent.iterdir():
        if ours.fullmatch(other.name):
            with contextlib.suppress(OSError):  # it may be another's, and does no harm
                status = other.lstat()
                if stat.S_ISREG(status.st_mode) and status.st_mtime < oldest:
                    other.unlink()


def _write(
    path: Path, data: bytes, like: os.stat_result, rename: Callable[[str, Path], None]
) -> None:
    """Makes `path` hold `data`, at once or not at all, with the owner and mode of `like`."""
    fd, name = tempfile.mkstemp(prefix=f".{path.name}.", suffix=".tmp", dir=path.parent)
    try:
        with os.fdopen(fd, "wb") as file:
            file.write(data)
            file.flush()
            made = os.fstat(fd)
            if (made.st_uid, made.st_gid) != (like.st_uid, like.st_gid):
                os.fchown(fd, like.st_uid, like.st_gid)
            os.fchmod(fd, stat.S_IMODE(like.st_mode))
            os.fsync(fd)
        rename(name, path)
    except BaseException:
        with contextlib.suppress(OSError):
            os.unlink(name)
        raise
    folder = os.open(path.parent, os.O_RDONLY)
    try:
        os.fsync(folder)
    finally:
        os.close(folder)


def _reason(error: OSError | RuntimeError) -> str:
    return (error.strerror if isinstance(error, OSError) else None) or str(error)
