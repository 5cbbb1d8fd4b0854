"""Keeps the original of a file: what it held before the bridge was put into it.

Lives here: which name the original gets, when it is written and when it goes. Does not: the writing
itself (config_files.py).
"""

from collections.abc import Iterator
from dataclasses import dataclass
from pathlib import Path
from types import ModuleType

from mcp_era_bridge.config_files import BACKUP, Content, FileProblem, read
from mcp_era_bridge.config_servers import read as read_tree
from mcp_era_bridge.config_text import BadText


@dataclass(frozen=True)
class Original:
    """Where the original of a file is kept, and whether it is already there."""

    path: Path
    there: bool


def original(path: Path, format: ModuleType) -> Original:
    """The first name that is free or holds an original; what is somebody else's stays."""
    for name in _names(path):
        if not (name.exists() or name.is_symlink()):
            return Original(name, False)
        if _kept(name, format) is not None:
            return Original(name, True)
    raise AssertionError("names never end")


def target(path: Path, format: ModuleType, pristine: bool) -> Path | None:
    """Where a file is to be kept before it is changed; None if its original is already.

    A file that holds the bridge is not the original: it is kept only for want of a better one.
    """
    found = original(path, format)
    return None if found.there and not pristine else found.path


def drop(content: Content, format: ModuleType) -> Path | None:
    """Removes the original of a file that holds the same bytes again, and says which it was."""
    found = original(content.path, format)
    kept = _kept(found.path, format) if found.there else None
    if kept is None or kept.data != content.data:
        return None
    try:
        found.path.unlink()
    except OSError as error:
        raise FileProblem(f"{found.path} cannot be removed: {error.strerror}") from error
    return found.path


def _names(path: Path) -> Iterator[Path]:
    yield path.with_name(path.name + BACKUP)
    number = 2
    while True:
        yield path.with_name(f"{path.name}{BACKUP}.{number}")
        number += 1


def _kept(path: Path, format: ModuleType) -> Content | None:
    """An original, if the file is one: readable as what it is said to be the original of."""
    if path.is_symlink():
        return None
    try:
        content = read(path)
        read_tree(content.text, format)
    except (FileProblem, BadText):
        return None
    return content
