"""What the configuration files say, for people and for programs, and what is wrong in them.

Lives here: the rows of `config list`, the problems of `config check`. Does not: how files are found
(config_find.py). Command lines may hold secrets; what looks like one is masked.
"""

import os
import re
import shlex
import shutil
from collections.abc import Callable, Iterable, Iterator, Mapping
from dataclasses import asdict, dataclass
from itertools import groupby

from mcp_era_bridge.config_bridge import NAME
from mcp_era_bridge.config_find import ConfigFile
from mcp_era_bridge.config_servers import PLAIN, URL, WRAPPED, Server
from mcp_era_bridge.redaction import Redactor

UNREADABLE = "not readable"
"""The state in the row of a file whose servers cannot be seen."""

_VARIABLE = re.compile(r"\$|%\w+%")


@dataclass(frozen=True)
class Row:
    """One server, or one file without any to show."""

    host: str
    scope: str
    file: str
    server: str
    state: str
    enabled: bool
    command: str
    project: str
    problems: tuple[str, ...]


def rows(files: Iterable[ConfigFile], environ: Mapping[str, str], check: bool) -> list[Row]:
    """All servers of all files; with `check`, with what is wrong."""
    found: list[Row] = []
    for file in files:
        host, scope, path = file.host.key, file.place.scope, str(file.path)
        for problem in [file.problem] if file.problem else file.misplaced:
            found.append(Row(host, scope, path, "", UNREADABLE, True, "", "", (problem,)))
        for server in file.servers:
            problems = tuple(_problems(file, server, environ)) if check else ()
            found.append(
                Row(
                    host,
                    server.scope,
                    path,
                    server.name,
                    server.state,
                    server.enabled,
                    _shown(server),
                    server.project,
                    problems,
                )
            )
    return found


def plain(found: Iterable[Row], print: Callable[[str], None]) -> None:
    """One line for each row, its cells divided by tabs."""
    for row in found:
        cells = (row.host, row.scope, row.state, row.server, row.command, row.file)
        print("\t".join(map(_printable, cells)))


def lines_of_problems(found: Iterable[Row]) -> Iterator[str]:
    """What is wrong, one line each."""
    for row in found:
        for problem in row.problems:
            name = f" {row.server}:" if row.server else ""
            yield _printable(f"{row.file}:{name} {problem}")


def table(found: Iterable[Row]) -> None:
    """A heading for each file and a line for each of its servers, for a terminal."""
    from rich.console import Console
    from rich.table import Table
    from rich.text import Text

    styles = {WRAPPED: "green", PLAIN: "yellow", UNREADABLE: "red"}
    console = Console(highlight=False)
    for (host, file), group in groupby(found, key=lambda row: (row.host, row.file)):
        heading = Text.assemble((host, "bold"), "  ", (_printable(file), "dim"))
        console.print(heading, soft_wrap=True)
        lines = Table.grid(padding=(0, 2))
        for row in group:
            state = row.state if row.enabled or row.state != WRAPPED else "wrapped, disabled"
            lines.add_row(
                "",
                Text(_printable(row.server)),
                Text(state, styles.get(row.state, "")),
                row.scope,
                Text(_printable(row.command or "; ".join(row.problems))),
            )
        console.print(lines)


def as_objects(found: Iterable[Row]) -> list[dict[str, object]]:
    """The rows, to be written as JSON."""
    return [{**asdict(row), "problems": list(row.problems)} for row in found]


def _shown(server: Server) -> str:
    text = server.url if server.state == URL else shlex.join(server.inner)
    return Redactor(dict(server.environment)).redact(text)


def _printable(text: str) -> str:
    return "".join(c if c.isprintable() else repr(c)[1:-1] for c in text)


def _problems(file: ConfigFile, server: Server, environ: Mapping[str, str]) -> Iterator[str]:
    """What keeps a server from running as it is meant to."""
    if server.name in file.repeated:
        yield "the file has this name more than once; hosts take the last"
    if server.fault and server.state != URL:
        yield server.fault
    wrapping = server.wrapping
    if server.state != WRAPPED or wrapping is None:
        return
    if wrapping.problem is not None:
        yield f"{NAME} would not start: {wrapping.problem}"
        return
    if file.place.elsewhere:
        return
    path = dict(server.environment).get("PATH", environ.get("PATH", ""))
    bridge, command = server.argv[wrapping.bridge], server.argv[wrapping.server]
    if _missing(bridge, path):
        yield f"the bridge is not there: {bridge!r}. Wrap the server again (unwrap it first)."
    if _missing(command, path):
        yield f"the server's command is not there: {command!r}"


def _missing(command: str, path: str) -> bool:
    if _VARIABLE.search(path):
        path = os.defpath
    if _VARIABLE.search(command):
        return False  # only the host knows what it stands for
    if not os.path.isabs(command) and os.sep in command:
        return False  # where it is depends on the folder that the host starts it in
    return shutil.which(os.path.expanduser(command), path=path) is None
