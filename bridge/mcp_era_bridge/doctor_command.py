"""Checks of `mcp-bridge doctor` on a server's command, before it is started.

Lives here: where the program is found, also by a host with a bare PATH, relative paths, the version
of the interpreter, modules that are shadowed, packages that are fetched. Does not: what shows only
when it runs (doctor_run.py).
"""

import os
import shlex
import sys
from collections.abc import Iterator
from typing import Final

from mcp_era_bridge import programs
from mcp_era_bridge.findings import Finding, Weight
from mcp_era_bridge.spawn import Command, NotStarted, find_executable

_OLDEST: Final = {"node": (18, 0), "python": (3, 10)}
"""The versions that the official SDKs need."""
_INSTALL: Final = {
    "npx": "install Node.js, which brings it",
    "npm": "install Node.js, which brings it",
    "node": "install Node.js",
    "uvx": "install uv, which brings it",
    "uv": "install uv",
    "python": "write python3 instead, or the full path of a Python",
    "docker": "install Docker",
}
_OF_SERVERS: Final = frozenset(
    {
        *("mcp", "fastmcp", "pydantic", "pydantic_core", "anyio", "httpx", "starlette", "uvicorn"),
        *("typing_extensions", "trio", "requests"),
    }
)
"""Modules that Python servers import and that are not in the standard library."""


def check_command(command: Command, host_path: str, *, cwd_given: bool) -> list[Finding]:
    """Everything that can be seen of the command without starting it."""
    path = programs.find(command)
    if path is None:
        return [_not_found(command)]
    interpreter = programs.interpreter_of(command.argv, path)
    return [
        *_check_host_path(command, path, interpreter, host_path),
        *_check_paths(command.argv, cwd_given),
        *_check_version(command, interpreter),
        *check_shadows(command, interpreter),
    ]


def _not_found(command: Command) -> Finding:
    word = command.argv[0]
    try:
        find_executable(command)
        seen = f"{word!r} cannot be run"
    except NotStarted as error:
        seen = str(error)
    fix, copy = _INSTALL.get(os.path.basename(word), "write the full path of the program"), None
    if " " in word:
        fix, copy = "write each word of the command as one of its own", word
    elif word.startswith("~") or "$" in word:
        fix = "write the path out: there is no shell that would replace ~ or $"
        copy = os.path.expanduser(os.path.expandvars(word))
    return Finding("command_not_found", Weight.PROBLEM, seen, "nothing can be started", fix, copy)


# A host with a bare PATH -------------------------------------------------------------------------


def _check_host_path(
    command: Command, path: str, interpreter: programs.Interpreter | None, host_path: str
) -> Iterator[Finding]:
    why = (
        f"desktop hosts are not started from a terminal; their PATH is bare ({host_path}) and knows"
        " nothing of your shell's settings"
    )
    argv = command.argv
    if os.sep not in argv[0] and programs.find(command, host_path) is None:
        yield Finding(
            "command_not_on_host_path",
            Weight.WARNING,
            f"{argv[0]!r} is found at {path}, which is not on a bare PATH",
            why,
            "write the full path",
            shlex.join([os.path.abspath(path), *argv[1:]]),
        )
    name = interpreter.name if interpreter is not None and interpreter.by_env else None
    if name is None or programs.where(name, host_path) is not None:
        return
    here = programs.where(name, command.env.get("PATH", os.defpath))
    if here is None:
        yield Finding(
            "interpreter_not_found",
            Weight.PROBLEM,
            f"{path} is run by {name!r}, which is not on the PATH",
            "the program cannot run without it",
            _INSTALL.get(name, f"install {name}"),
        )
        return
    folder = os.path.dirname(os.path.abspath(here))
    yield Finding(
        "interpreter_not_on_host_path",
        Weight.WARNING,
        f"{path} is run by {name!r}, found at {here}, which is not on a bare PATH",
        why,
        "give the server a PATH that has it",
        f"mcp-bridge --env PATH={shlex.quote(folder + os.pathsep + host_path)} --"
        f" {shlex.join([os.path.abspath(path), *argv[1:]])}",
    )


# Paths that hold in one place only ---------------------------------------------------------------


def _check_paths(argv: list[str], cwd_given: bool) -> Iterator[Finding]:
    script = programs.script_of(argv)
    if script is not None and programs.looks_like_a_script(script) and not os.path.exists(script):
        yield Finding(
            "no_such_script",
            Weight.PROBLEM,
            f"there is no file {script!r} in {os.getcwd()}",
            "the interpreter has nothing to run",
            "write the full path of the script, or say where it is with -C",
            f"mcp-bridge -C FOLDER -- {shlex.join(argv)}",
        )
    relative = [] if cwd_given else [word for word in argv if _is_relative(word, script)]
    if relative:
        full = [os.path.abspath(word) if word in relative else word for word in argv]
        yield Finding(
            "relative_path",
            Weight.WARNING,
            f"{', '.join(map(repr, relative))} is relative to {os.getcwd()}",
            "hosts start servers in a folder of their own choice, often / or the home folder",
            "write the full path, or say with -C where the server is to run",
            shlex.join(full),
        )


def _is_relative(word: str, script: str | None) -> bool:
    """Whether a word names something that is there, seen from here only."""
    if word.startswith(("-", os.sep, "@")) or "://" in word:
        return False
    if word in (os.curdir, os.pardir):
        return True
    named = word == script or os.sep in word or programs.looks_like_a_script(word)
    return named and os.path.exists(word)


# Interpreters ------------------------------------------------------------------------------------


def _check_version(command: Command, interpreter: programs.Interpreter | None) -> Iterator[Finding]:
    if interpreter is None:
        return
    path: str | None = interpreter.name
    if interpreter.by_env:
        path = programs.where(interpreter.name, command.env.get("PATH", os.defpath))
    name = "".join(c for c in os.path.basename(interpreter.name) if c.isalpha())
    oldest = _OLDEST.get(name)
    if path is None or oldest is None:
        return
    version = programs.version_of(path, command.env)
    if version is not None and version < oldest:
        wanted = ".".join(map(str, oldest))
        yield Finding(
            f"old_{name}",
            Weight.WARNING,
            f"{path} is version {version[0]}.{version[1]}",
            f"the official SDK needs {wanted} or newer; servers end with errors that say nothing of"
            " it",
            f"install a newer one and put it first on the PATH, or write its full path: {wanted} or"
            " newer",
        )


# Modules that stand in the way of others ---------------------------------------------------------


def check_shadows(command: Command, interpreter: programs.Interpreter | None) -> Iterator[Finding]:
    """Files on PYTHONPATH that Python takes for modules of its own or of the server's."""
    argv = command.argv
    if not programs.is_python(interpreter, argv) or _ignores_variables(argv):
        return
    for folder in filter(None, command.env.get("PYTHONPATH", "").split(os.pathsep)):
        shadows = shadowing(folder, _OF_SERVERS)
        if shadows:
            yield Finding(
                "pythonpath_shadows",
                Weight.WARNING,
                f"PYTHONPATH leads to {', '.join(shadows)}",
                "Python takes these for the modules of the same name that the server imports",
                "start the server without the variable, or rename the files",
                f"mcp-bridge --env PYTHONPATH= -- {shlex.join(argv)}",
            )


def script_shadows(argv: list[str]) -> Finding | None:
    """Files beside the script that Python takes for modules that the script imports."""
    script = programs.script_of(argv)
    if script is None or not script.endswith(".py") or _ignores_variables(argv):
        return None
    shadows = shadowing(os.path.dirname(os.path.abspath(script)), frozenset({"mcp", "fastmcp"}))
    if not shadows:
        return None
    return Finding(
        "script_shadows",
        Weight.PROBLEM,
        f"beside the script there is {', '.join(shadows)}",
        "Python looks beside the script first, and takes these for the modules of the same name",
        "rename the files",
    )


def shadowing(folder: str, others: frozenset[str]) -> list[str]:
    """What lies in a folder and is called like a module of the standard library, or of `others`."""
    try:
        names = sorted(os.listdir(folder))
    except OSError:
        return []
    found: list[str] = []
    for name in names:
        module = name.removesuffix(".py")
        path = os.path.join(folder, name)
        package = module == name and os.path.isfile(os.path.join(path, "__init__.py"))
        if (package or module != name) and module in sys.stdlib_module_names | others:
            found.append(path)
    return found


def _ignores_variables(argv: list[str]) -> bool:
    """Whether Python is told to heed neither PYTHONPATH nor what lies beside the script."""
    for word in argv[1:]:
        if not word.startswith("-") or word.startswith("--"):
            return False
        if word[1:2] not in "mcXW" and set("IE") & set(word[1:]):
            return True
    return False
