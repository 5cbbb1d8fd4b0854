"""Plans which servers of which files are wrapped or unwrapped, and carries the plan out.

Lives here: which servers are meant, what is left alone and why, the diff. Does not: the edit of a
text (config_edit.py), what is printed (config_command.py).
"""

import difflib
from collections.abc import Callable, Collection, Sequence
from dataclasses import dataclass
from pathlib import Path

from mcp_era_bridge import config_backup, config_edit, config_files
from mcp_era_bridge.config_bridge import NAME, same_options
from mcp_era_bridge.config_edit import Refused
from mcp_era_bridge.config_find import ConfigFile
from mcp_era_bridge.config_servers import DISABLED, OTHER, PLAIN, URL, WRAPPED, Server


@dataclass(frozen=True)
class Wanted:
    """The servers that a person means: those with these names, or all of them."""

    names: tuple[str, ...]
    all: bool = False

    def __contains__(self, server: Server) -> bool:
        return self.all or server.name in self.names

    def named(self, server: Server) -> bool:
        """Whether the person has named this server."""
        return server.name in self.names


@dataclass
class Change:
    """What is to be done with one file."""

    file: ConfigFile
    servers: list[Server]
    text: str
    wraps: bool

    def diff(self) -> str:
        """The change, as a person reads it."""
        assert self.file.content is not None
        old, new = self.file.content.text, self.text
        name = str(self.file.path)
        lines = difflib.unified_diff(_lines(old), _lines(new), name, name, "now", "then", n=2)
        return "\n".join(line.rstrip("\n") for line in lines)

    def write(self) -> str:
        """Replaces the file and says what became of the original. Raises FileProblem."""
        content, format = self.file.content, self.file.format
        assert content is not None
        with config_files.alone(content.path):
            keep = None
            if self.wraps:
                keep = config_backup.target(content.path, format, self.file.pristine)
            config_files.replace(content, self.text, keep)
            new = config_files.Content(content.path, content.bom, self.text)
            gone = None if self.wraps else config_backup.drop(new, format)
            if gone is not None:
                return f"the file is as it was, and {gone} is removed"
            kept = config_backup.original(content.path, format)
            return f"the original is kept as {kept.path}" if kept.there else ""


@dataclass
class Plan:
    """The changes, why some servers are left alone, and what stands against the whole plan."""

    changes: list[Change]
    notes: list[str]
    errors: list[str]


def plan_wrap(
    files: Sequence[ConfigFile],
    wanted: Wanted,
    command: Sequence[str],
    options: Sequence[str],
    elsewhere: Sequence[str] = (NAME,),
) -> Plan:
    """What puts `command` with `options` in front of the servers.

    `elsewhere` is the command where servers run on another machine, as in a container: the path of
    this bridge means nothing there.
    """

    def change(file: ConfigFile, chosen: list[Server]) -> str:
        words = [*(elsewhere if file.place.elsewhere else command), *options, "--"]
        assert file.content is not None and file.top is not None
        return config_edit.wrap(file.content.text, file.format, file.top, chosen, words)

    return _plan(files, wanted, PLAIN, change, options)


def plan_unwrap(files: Sequence[ConfigFile], wanted: Wanted) -> Plan:
    """What takes the servers from behind the bridge."""

    def change(file: ConfigFile, chosen: list[Server]) -> str:
        assert file.content is not None and file.top is not None
        return config_edit.unwrap(file.content.text, file.format, file.top, chosen)

    return _plan(files, wanted, WRAPPED, change)


def _plan(
    files: Sequence[ConfigFile],
    wanted: Wanted,
    state: str,
    change: Callable[[ConfigFile, list[Server]], str],
    options: Sequence[str] = (),
) -> Plan:
    plan = Plan([], [], [])
    met: set[str] = set()
    seen: set[Path] = set()
    for file in files:
        if file.content is not None and file.content.path in seen:
            continue  # hosts may share one file by a link
        if file.content is not None:
            seen.add(file.content.path)
        if file.problem:
            plan.errors.append(f"{file.path}: {file.problem}")
            continue
        plan.errors += [f"{file.path}: {problem}" for problem in file.misplaced]
        chosen: list[Server] = []
        for server in file.servers:
            if server not in wanted:
                continue
            met.add(server.name)
            named = wanted.named(server)
            failure = _failure(server, state, options)
            why = failure or _left_alone(server, state, named)
            if why is None:
                chosen.append(server)
            else:
                said = plan.errors if failure is not None and named else plan.notes
                said.append(f"{file.path}: {server.name} {why}")
        _add(plan, file, chosen, wanted, change, state == PLAIN)
    known = {server.name for file in files for server in file.servers}
    plan.errors += [_unknown(name, known) for name in wanted.names if name not in met]
    return plan


def _unknown(name: str, known: Collection[str]) -> str:
    near = difflib.get_close_matches(name, sorted(known), 1)
    guess = f" Did you mean {near[0]!r}?" if near else ""
    return f"no server is called {name!r}.{guess} See which there are with `{NAME} config list`."


def _add(
    plan: Plan,
    file: ConfigFile,
    chosen: list[Server],
    wanted: Wanted,
    change: Callable[[ConfigFile, list[Server]], str],
    wraps: bool,
) -> None:
    """Adds the change of one file; a server that cannot be changed stops only what names it."""
    possible: list[Server] = []
    for server in chosen:
        try:
            change(file, [server])
        except Refused as error:
            problem = f"{file.path}: {error}"
            (plan.errors if wanted.named(server) else plan.notes).append(problem)
        else:
            possible.append(server)
    if possible:
        plan.changes.append(Change(file, possible, change(file, possible), wraps))


def _left_alone(server: Server, state: str, named: bool) -> str | None:
    """Why nothing is done with a server; None if something is."""
    if server.state == state or (state == PLAIN and server.state == DISABLED and named):
        return None
    if server.state == WRAPPED:
        return "is behind the bridge already"
    if state == WRAPPED:
        return "is not behind the bridge"
    return "is disabled: name it if it is meant too"


def _failure(server: Server, state: str, options: Sequence[str]) -> str | None:
    """Why a server cannot be wrapped as it is wanted; an error if it is named."""
    if state != PLAIN:
        return None
    if server.state == WRAPPED and options and not same_options(options, server.options):
        return "is already behind the bridge, with other options: unwrap it first"
    if server.state == URL:
        return "has a URL: there is no command to put the bridge in front of"
    if server.state == OTHER:
        return f"cannot be wrapped: {server.fault or 'it has no command of its own'}"
    return None


def _lines(text: str) -> list[str]:
    """Lines that show their difference even if it is a carriage return."""
    return [line.replace("\r", "") for line in text.split("\n")]
