"""What kind of program a server's command is: found where, run by what, which script.

Lives here: reading a command line and the first line of a script, asking a program for its version.
Does not: any judgement (doctor_command.py).
"""

import os
import re
import shutil
import signal
import subprocess
from collections.abc import Mapping
from typing import Final

import msgspec

from mcp_era_bridge.spawn import Command, NotStarted, find_executable

_PYTHON: Final = re.compile(r"python(\d(\.\d+)?)?$|pypy3?$")
_LAUNCHERS: Final = {
    "npx": (),
    "bunx": (),
    "uvx": (),
    "pipx": ("run",),
    "pnpm": ("dlx",),
    "yarn": ("dlx",),
    "npm": ("exec",),
    "uv": ("tool", "run"),
    "docker": ("run",),
    "podman": ("run",),
}
"""Programs that fetch what they run, with the words that make them do so."""
_SCRIPTS: Final = (".py", ".js", ".mjs", ".cjs", ".ts", ".mts", ".rb", ".sh", ".php", ".jar")
_WITH_VALUE: Final = frozenset(
    {"-X", "-W", "-r", "--require", "--import", "--loader", "--experimental-loader", "-jar"}
)
_NO_SCRIPT: Final = frozenset({"-m", "-c", "-e", "-p", "--eval", "--print"})
_RUNNERS: Final = frozenset(
    {"node", "deno", "bun", "ruby", "sh", "bash", "tsx", "ts-node", "php", "java", "perl"}
)
_VERSION: Final = re.compile(r"(\d+)\.(\d+)")
_PATIENCE: Final = 10.0
"""Seconds that a program has to say its version."""


class Interpreter(msgspec.Struct, frozen=True):
    """What runs a script: by name, found on the PATH or (`path`) named by the script itself."""

    name: str
    by_env: bool


def name_of(argv: list[str]) -> str:
    """The program's name, without its folder."""
    return os.path.basename(argv[0])


def is_launcher(argv: list[str]) -> bool:
    """Whether the command fetches a package, or an image, before it runs it."""
    words = _LAUNCHERS.get(name_of(argv))
    if words is None:
        return False
    rest = [word for word in argv[1:] if not word.startswith("-")]
    return tuple(rest[: len(words)]) == words


def shebang_of(path: str) -> Interpreter | None:
    """What the first line of a script says that it is run by."""
    try:
        with open(path, "rb") as file:
            line = file.readline(512).decode("utf-8", "replace")
    except OSError:
        return None
    if not line.startswith("#!"):
        return None
    words = line[2:].split()
    if not words:
        return None
    if os.path.basename(words[0]) != "env":
        return Interpreter(words[0], by_env=False)
    names = [word for word in words[1:] if not word.startswith("-") and "=" not in word]
    return Interpreter(names[0], by_env=True) if names else None


def interpreter_of(argv: list[str], path: str) -> Interpreter | None:
    """What runs the program that lies at `path`: itself, or what its first line says."""
    name = name_of(argv)
    if _PYTHON.fullmatch(name) or name == "node":
        return Interpreter(path, by_env=False)
    return shebang_of(path)


def is_python(interpreter: Interpreter | None, argv: list[str]) -> bool:
    """Whether the server is a Python program, as far as can be seen from outside."""
    if name_of(argv) in ("uv", "uvx", "pipx"):
        return True
    name = os.path.basename(interpreter.name) if interpreter is not None else name_of(argv)
    return _PYTHON.fullmatch(name) is not None


def script_of(argv: list[str]) -> str | None:
    """The file that an interpreter is to run, if there is one on the command line."""
    name = name_of(argv)
    if name == "uv":
        return next((word for word in argv[1:] if word.endswith(_SCRIPTS)), None)
    if name not in _RUNNERS and not _PYTHON.fullmatch(name):
        return None
    words = iter(argv[1:])
    for word in words:
        if word in _NO_SCRIPT:
            return None
        if word in _WITH_VALUE:
            next(words, None)
        elif not word.startswith("-") and word != "run":
            return word
    return None


def looks_like_a_script(word: str) -> bool:
    """Whether a word is called like a script."""
    return word.endswith(_SCRIPTS)


def find(command: Command, path: str | None = None) -> str | None:
    """Where the command's program lies, on another PATH if there is one."""
    environment = command.env if path is None else {**command.env, "PATH": path}
    try:
        return find_executable(Command(command.argv, environment))
    except NotStarted:
        return None


def where(name: str, path: str) -> str | None:
    """Where a program lies on a PATH."""
    return shutil.which(name, path=path)


def said_by(argv: list[str], environment: Mapping[str, str]) -> str | None:
    """What a program says on stdout and ends with success; None if it does not, or takes long."""
    try:
        process = subprocess.Popen(
            argv,
            env=environment,
            stdin=subprocess.DEVNULL,
            stdout=subprocess.PIPE,
            stderr=subprocess.DEVNULL,
            start_new_session=True,
        )
    except OSError:
        return None
    try:
        output, _ = process.communicate(timeout=_PATIENCE)
    except subprocess.TimeoutExpired:
        os.killpg(process.pid, signal.SIGKILL)
        process.communicate()
        return None
    return output.decode("utf-8", "replace") if process.returncode == 0 else None


def version_of(interpreter: str, environment: Mapping[str, str]) -> tuple[int, int] | None:
    """The version of an interpreter, as it says itself."""
    match = _VERSION.search(said_by([interpreter, "--version"], environment) or "")
    return (int(match[1]), int(match[2])) if match is not None else None
