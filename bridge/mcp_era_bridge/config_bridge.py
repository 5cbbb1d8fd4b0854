"""Knows the bridge in a command line, however it was put there, and how to put it there.

Lives here: which word is the bridge, where the server's own command begins, what to write in front
of a server. Does not: the files (config_edit.py).
"""

import os
import re
import shlex
import shutil
import sys
import tempfile
from collections.abc import Sequence
from dataclasses import dataclass

from mcp_era_bridge import options

NAME = "mcp-bridge"
MODULE = "mcp_era_bridge"
DISTRIBUTION = "mcp-era-bridge"

_PYTHON = re.compile(r"(?:python|pythonw|py)[0-9.]*t?")
_PYTHON_WITH_VALUE = ("-X", "-W", "--check-hash-based-pycs")
_LAUNCHERS = ("uvx", "uv", "pipx")
_EXTENSION = re.compile(r"\.(?:exe|cmd|bat)$", re.IGNORECASE)
_FLAGS = {flag: option for option in options.OPTIONS for flag in option.flags}
_TEMPORARY = re.compile(r"[\\/](?:archive-v\d+|builds-v\d+)[\\/]|[\\/]pipx[\\/]\.cache[\\/]")
"""Folders in which a launcher keeps a program only as long as it likes."""
_TEMPORARY_FOLDERS = ("/tmp", "/var/tmp")


@dataclass(frozen=True)
class Wrapping:
    """The bridge in a command line: `argv[bridge]` starts it, `argv[server]` starts the server.

    Its options begin at `argv[options]`. `problem` says why the bridge would not start the server;
    then `server` means nothing.
    """

    bridge: int
    options: int
    server: int
    problem: str | None = None


class NoBridge(Exception):
    """What to write in front of a server cannot be found; the text says what to do."""


def find(argv: Sequence[str]) -> Wrapping | None:
    """The bridge in `argv`, if it is there."""
    first = _behind_transparent(argv)
    if first >= len(argv):
        return None
    name = _name(argv[first])
    if name == NAME:
        return _behind_options(argv, first, first + 1)
    if _PYTHON.fullmatch(name):
        at = _behind_module(argv, first + 1)
        return None if at is None else _behind_options(argv, first, at)
    if name in _LAUNCHERS:
        for at in range(first + 1, len(argv)):
            if argv[at] == NAME:
                ours = _is_our_distribution(argv[first:at])
                return _behind_options(argv, first, at + 1) if ours else None
            if argv[at] == "--":
                return None
    return None


def _is_our_distribution(launcher: Sequence[str]) -> bool:
    """Whether a launcher takes the command from our distribution.

    Without being told, it takes that which has the command's name, and that is another's.
    """
    if _name(launcher[0]) == "uv" and "tool" not in launcher:
        return True  # `uv run` takes it from the project's environment
    for word, following in zip(launcher, [*launcher[1:], ""], strict=True):
        flag, equals, value = word.partition("=")
        if flag in ("--from", "--spec"):
            source = value if equals else following
            name = re.split(r"[\[<>=!~;@ ]", source)[0]
            # A path or an address says nothing of what is there; it is taken at its word.
            if re.sub(r"[-_.]+", "-", name).lower() == DISTRIBUTION or re.search(
                r"[\\/]|^\.|\.whl$|\.tar\.gz$", source
            ):
                return True
    return False


def own_command(argv0: str, executable: str = sys.executable) -> list[str]:
    """How to start this bridge from anywhere: hosts on a desktop have a bare PATH."""
    candidates = [argv0 if os.sep in argv0 else shutil.which(argv0) or ""]
    candidates.append(os.path.join(os.path.dirname(executable), NAME))
    for candidate in candidates:
        if _name(candidate) == NAME and os.path.isfile(candidate):
            # Not the real path: an installer's link outlives the version that it points to.
            return _lasting([os.path.abspath(candidate)])
    return _lasting([executable, "-m", MODULE])


def _lasting(words: list[str]) -> list[str]:
    if _TEMPORARY.search(words[0]):
        raise NoBridge(
            f"{words[0]!r} is a temporary installation, and would be gone some day. Install"
            f" {NAME} (pipx install .), or name another with --bridge."
        )
    return words


def doubt(command: Sequence[str], temporary: Sequence[str] = _TEMPORARY_FOLDERS) -> str | None:
    """Why what is written for the bridge may not start it, or not for long."""
    word = os.path.expanduser(command[0])
    if shutil.which(word) is None:
        return f"there is no command {command[0]!r} here; servers start only where there is one"
    if find([*command, "--", "server"]) is None:
        return f"{command[0]!r} is not called {NAME}, so that `unwrap` and `check` do not know it"
    if not os.path.isabs(word):
        return None
    better = f"Install {NAME} (pipx install .), or name another with --bridge."
    environment = os.path.dirname(os.path.dirname(word))
    project = os.path.dirname(environment)
    if os.path.isfile(os.path.join(environment, "pyvenv.cfg")) and _is_ours(project):
        return f"{word!r} is in a checkout, and servers start only while it is there. {better}"
    for folder in (*temporary, tempfile.gettempdir()):
        if os.path.realpath(word).startswith(os.path.realpath(folder) + os.sep):
            return f"{word!r} is in a temporary folder, and will be gone some day. {better}"
    return None


def _is_ours(project: str) -> bool:
    try:
        with open(os.path.join(project, "pyproject.toml"), encoding="utf-8") as file:
            text = file.read()
    except (OSError, UnicodeDecodeError):
        return False
    return any(name in text for name in (NAME, MODULE, DISTRIBUTION))


def check_options(words: Sequence[str]) -> str | None:
    """What is wrong with options that are to stand in front of a server."""
    try:
        invocation = options.parse([*words, "--", "server"], {})
    except options.UsageError as error:
        return str(error)
    if invocation is None:
        return f"{shlex.join(words)} starts no server"
    extra = invocation.command[:-1]
    return f"{extra[0]!r} is no option of {NAME}" if extra else None


def same_options(some: Sequence[str], others: Sequence[str]) -> bool:
    """Whether two rows of options mean the same, however each is written."""
    try:
        one, other = (options.parse([*words, "--", "server"], {}) for words in (some, others))
    except options.UsageError:
        return False
    return one is not None and other is not None and vars(one) == vars(other)


def _name(word: str) -> str:
    return _EXTENSION.sub("", re.split(r"[\\/]", word)[-1]).lower()


def _behind_transparent(argv: Sequence[str]) -> int:
    """Where the command begins that a shell of Windows or `env` is only there to start."""
    name = _name(argv[0]) if argv else ""
    if name == "cmd" and len(argv) > 1 and argv[1].lower() == "/c":
        return 2
    at = 0
    if name == "env":
        at = 1
        while at < len(argv) and re.match(r"[A-Za-z_]\w*=", argv[at]):
            at += 1
    return at


def _behind_module(argv: Sequence[str], at: int) -> int | None:
    """The place behind `-m mcp_era_bridge` among the arguments of a Python."""
    while at < len(argv) and argv[at].startswith("-"):
        if argv[at] == "-m":
            return at + 2 if list(argv[at + 1 : at + 2]) == [MODULE] else None
        if argv[at] == f"-m{MODULE}":
            return at + 1
        at += 2 if argv[at] in _PYTHON_WITH_VALUE else 1
    return None


def _behind_options(argv: Sequence[str], bridge: int, at: int) -> Wrapping:
    """As options.parse reads them, but the values are judged when the bridge runs."""
    start = at
    while at < len(argv):
        word = argv[at]
        if word == "--":
            at += 1
            break
        if not word.startswith("-") or word == "-":
            if word in options.SUBCOMMANDS:
                return Wrapping(
                    bridge, start, at, f"it runs the sub-command {word!r}, and no server"
                )
            break
        flag, equals, _ = word.partition("=")
        if not word.startswith("--"):
            flag, equals = word[:2], word[2:3]
        option = _FLAGS.get(flag)
        if option is None:
            return Wrapping(bridge, start, at, f"{NAME} has no option {flag}")
        at += 1 if option.is_flag or equals else 2
    if at >= len(argv):
        return Wrapping(bridge, start, at, "no server's command follows")
    return Wrapping(bridge, start, at)
