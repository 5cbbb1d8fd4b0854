"""What to try when a server's command cannot be started.

Lives here: where the program may be instead, and how else to write the command. Does not: the start
and what went wrong (spawn.py), the examination of a command (`mcp-bridge doctor`). Imported only
once a start has failed.
"""

import glob
import os
import shlex
from typing import Final

from mcp_era_bridge import options
from mcp_era_bridge.spawn import Command
from mcp_era_bridge.usage_hints import closest, here

_BROUGHT_BY: Final = {
    **dict.fromkeys(("npx", "npm", "node"), "Node.js"),
    **dict.fromkeys(("uvx", "uv"), "uv"),
    **dict.fromkeys(("bunx", "bun"), "Bun"),
    **{"pipx": "pipx", "docker": "Docker", "podman": "Podman", "deno": "Deno"},
}
_RUN_BY: Final = {
    **{".py": "python3", ".js": "node", ".mjs": "node", ".cjs": "node", ".ts": "npx tsx"},
    **{".rb": "ruby", ".sh": "sh", ".php": "php", ".jar": "java -jar"},
}
_USUAL_PLACES: Final = (
    *("~/.local/bin", "~/.cargo/bin", "~/bin", "/usr/local/bin", "/opt/homebrew/bin"),
    *("/usr/bin", "/bin", "/home/linuxbrew/.linuxbrew/bin", "/snap/bin", "/opt/local/bin"),
    *("~/.nvm/versions/node/*/bin", "~/.volta/bin", "~/.fnm/aliases/default/bin", "~/.asdf/shims"),
    *("~/.local/share/fnm/aliases/default/bin", "~/.local/share/mise/shims", "~/.pyenv/shims"),
    *("~/.bun/bin", "~/.deno/bin", "~/.npm-global/bin"),
)
"""Where programs lie that a terminal finds and a host often does not."""
_DASHES: Final = ("\N{EM DASH}", "\N{EN DASH}")
_MEANT: Final = {
    **{word: f"config {word}" for word in ("wrap", "unwrap", "list", "check")},
    **{"help": "--help", "version": "--version"},
}
"""What a person may have meant who wrote this word alone."""
_LONGEST_PATH: Final = 1000


def explained(why: str, command: Command) -> str:
    """Why a command cannot be started, and what to try."""
    # Names of files may be of any bytes; this goes into JSON.
    return f"{why}{_hint(command)}".encode("utf-8", "backslashreplace").decode()


def _hint(command: Command) -> str:
    word = command.argv[0]
    if word.startswith(_DASHES):
        return "; it begins with a long dash where two hyphens belong (--)"
    if (word.startswith("~") or "$" in word) and not os.path.exists(word):
        full = os.path.expandvars(os.path.expanduser(word))
        return f"; there is no shell here that would replace ~ or $: write {shlex.quote(full)}"
    if word != word.strip() or (" " in word and not os.path.exists(word)):
        return f"; each word of the command must be one of its own: {_line(word.split(), command)}"
    return _for_file(command) if os.sep in word else _for_name(command)


def _line(words: list[str], command: Command) -> str:
    """A command line with other words in place of the first.

    The rest is left out: it may hold secrets, and the text goes to the host, perhaps to a model.
    """
    return f"mcp-bridge -- {shlex.join(words)}{' ...' if command.argv[1:] else ''}"


# The command is a path ---------------------------------------------------------------------------


def _for_file(command: Command) -> str:
    path = command.argv[0]
    if os.path.isdir(path):
        return ": it is a folder; write the path of the program"
    if not os.path.exists(path):
        return _for_missing_file(path)
    if not os.access(path, os.X_OK):
        return f"; {_make_it_run(path, command)}"
    try:
        with open(path, "rb") as file:
            first = file.readline(512)
    except OSError:
        return ""
    if not first.startswith(b"#!"):
        return "; is it a program for this system and this processor?"
    interpreter = (os.fsdecode(first[2:]).strip(" \t\n").split(" ") or [""])[0]
    if interpreter.endswith("\r"):
        return "; its lines end as on Windows, and so does the name of its interpreter: convert it"
    if not os.path.exists(interpreter):
        return f"; its first line says that it is run by {interpreter!r}, which is not there"
    return ""


def _for_missing_file(path: str) -> str:
    if not os.path.isabs(path):
        return f" in {here()}; write the full path, or say with -C where the server is to run"
    folder, name = os.path.split(path)
    try:
        meant = closest(name, os.listdir(folder))
    except OSError:
        return f"; there is no folder {folder!r} either"
    return f"; did you mean {os.path.join(folder, meant)!r}?" if meant is not None else ""


def _make_it_run(path: str, command: Command) -> str:
    chmod = f"chmod +x {shlex.quote(path)}"
    runner = _RUN_BY.get(os.path.splitext(path)[1])
    if runner is None:
        return f"if it is a program: {chmod}"
    return f"write {_line([*runner.split(), path], command)}, or {chmod}"


# The command is a name ---------------------------------------------------------------------------


def _for_name(command: Command) -> str:
    name = command.argv[0]
    folders = os.get_exec_path(command.env)
    searched = os.pathsep.join(folders)
    if len(searched) > _LONGEST_PATH:
        searched = searched[:_LONGEST_PATH] + "..."
    return f" ({searched or 'which is empty'}); {_instead_of(name, folders, command)}"


def _instead_of(name: str, folders: list[str], command: Command) -> str:
    if name in options.SUBCOMMANDS:
        return f"behind `--` it is a program; the sub-command is: mcp-bridge {name}"
    for folder in folders:
        if os.path.isfile(path := os.path.join(folder, name)):
            return f"{path} is there, but not executable: chmod +x {shlex.quote(path)}"
    if elsewhere := _elsewhere(name):
        return f"it is at {elsewhere}: write {_line([elsewhere], command)}"
    if os.path.isfile(name):
        path = os.path.abspath(name)
        if os.access(path, os.X_OK):
            return f"a file of this name is here: write {_line([path], command)}"
        return f"a file of this name is here: {_make_it_run(path, command)}"
    if name in ("python", "pip") and _is_in(folders, f"{name}3"):
        return f"{name}3 is there: write {_line([f'{name}3'], command)}"
    full_path = (
        f"write its full path, which `command -v {shlex.quote(name)}` says in a terminal, where the"
        " PATH is often longer than that of a host"
    )
    if brought_by := _BROUGHT_BY.get(name):
        return f"it comes with {brought_by}: install that, or {full_path}"
    if name in _MEANT:
        return f"did you mean `mcp-bridge {_MEANT[name]}`? If not: install it, or {full_path}"
    if meant := closest(name, options.SUBCOMMANDS):
        return f"did you mean the sub-command {meant!r}? If not: install it, or {full_path}"
    return f"install it, or {full_path}"


def _elsewhere(name: str) -> str | None:
    """Where a program lies that is not on the PATH."""
    for place in _USUAL_PLACES:
        # The newest version last, as far as names tell.
        for folder in reversed(sorted(glob.glob(os.path.expanduser(place)))):
            if _is_in([folder], name):
                return os.path.join(folder, name)
    return None


def _is_in(folders: list[str], name: str) -> bool:
    paths = (os.path.join(folder, name) for folder in folders)
    return any(os.path.isfile(path) and os.access(path, os.X_OK) for path in paths)
