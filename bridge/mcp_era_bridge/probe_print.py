"""The report of a probe for a person at a terminal, with rich.

Lives here: words, tables and colours. Does not: what is said (probe_report.py). What comes from a
server is shown as text, whatever it holds.
"""

import shlex
import sys
from typing import Final

from rich.console import Console, RenderableType
from rich.table import Table
from rich.text import Text

from mcp_era_bridge.probe_report import HostView, Items, Report, Took, Verdict
from mcp_era_bridge.stderr import without_controls
from mcp_era_wire.members import members_of

_WIDTH: Final = 100
"""Columns where there is no terminal."""
_MOST_NAMES: Final = 24
_GOOD: Final = (Verdict.WORKS, Verdict.BRIDGED)
_ERAS: Final = {
    "legacy": "legacy: it opens with the initialize handshake",
    "modern": "modern: every request stands for itself, 2026-07-28",
    "dual": "both: the initialize handshake, and 2026-07-28",
    None: "not known",
}


def show(*parts: RenderableType) -> None:
    """Writes to our stdout: as wide as the terminal, if it is one.

    Texts, other than tables, are not folded: somebody may want to copy them.
    """
    terminal, encoding = sys.stdout.isatty(), sys.stdout.encoding
    out = Console(width=None if terminal else _WIDTH, highlight=False, emoji=False, markup=False)
    with out.capture() as captured:
        for part in parts:
            out.print(part, soft_wrap=isinstance(part, Text))
    # Tables are padded to their full width, which is of no use to who copies a line.
    for line in captured.get().splitlines():
        # A server's name may hold letters that the terminal cannot take.
        print(line.rstrip().encode(encoding, "replace").decode(encoding))


def table() -> Table:
    """Names on the left, what there is to say on the right."""
    grid = Table.grid(padding=(0, 2), pad_edge=True)
    grid.add_column(style="bold", no_wrap=True)
    grid.add_column(overflow="fold")
    return grid


def plain(text: str, style: str = "") -> Text:
    """Text of somebody else's as text, without anything that a terminal would obey."""
    return Text(without_controls(text), style)


def print_report(report: Report) -> None:
    """Prints it to our stdout."""
    command = shlex.join(report.command)
    parts: list[RenderableType] = [plain("mcp-bridge probe: " + command, "bold")]
    good = report.verdict in _GOOD
    grid = table()
    grid.add_row("verdict", plain(report.summary, "green" if good else "red"))
    if report.error is not None:
        grid.add_row("why", plain(report.error))
    if report.verdict is not Verdict.NOT_STARTED:
        _about(report, grid)
    for line in report.stderr if not good else ():
        grid.add_row("stderr", plain(line))
    parts.append(grid)
    if report.hosts is not None and report.era is not None:
        for name, view in (("modern", report.hosts.modern), ("legacy", report.hosts.legacy)):
            parts += ["", plain(f"A {name} host", "bold"), _view(view)]
    if not good:
        parts += ["", plain(f"What to do: mcp-bridge doctor -- {command}")]
    show(*parts)


def _about(report: Report, grid: Table) -> None:
    grid.add_row("era", _ERAS[report.era])
    if report.server is not None:
        server = report.server
        named = [server.name or "without a name", server.version or ""]
        title = f"({server.title})" if server.title else ""
        grid.add_row("server", plain(" ".join(part for part in (*named, title) if part)))
        grid.add_row("capabilities", plain(_capabilities(report) or "none"))
    versions = report.versions
    named = [*([versions.handshake] if versions.handshake else []), *versions.modern]
    named += [each for each in versions.named_in_errors if each not in named]
    grid.add_row("versions", plain(", ".join(named) or "none named"))
    if report.start_milliseconds is not None:
        grid.add_row("start-up", f"{report.start_milliseconds:.0f} ms to its first answer")
    grid.add_row("server/discover", plain(_took(report.discover)))
    grid.add_row("initialize", plain(_took(report.initialize)))
    lists = {
        "tools": report.tools,
        "prompts": report.prompts,
        "resources": report.resources,
        "templates": report.resource_templates,
    }
    for name, items in lists.items():
        if items is not None:
            grid.add_row(name, plain(_items(items)))
    noise = report.stdout_noise
    if noise.count:
        lines = "line" if noise.count == 1 else "lines"
        grid.add_row("stdout", f"{noise.count} {lines} that are no messages; the first:")
        grid.add_row("", plain(noise.lines[0]))


def _capabilities(report: Report) -> str:
    assert report.server is not None
    said: list[str] = []
    for name, value in (members_of(report.server.capabilities) or {}).items():
        inside = [key for key, on in (members_of(value) or {}).items() if bytes(on) != b"false"]
        said.append(f"{name} ({', '.join(inside)})" if inside else name)
    return ", ".join(said)


def _took(took: Took | None) -> str:
    if took is None:
        return "not asked"
    if took.answered_at_end:
        return "answered only once its stdin had been closed"
    how = f"with code {took.exit_code}" if took.exit_code is not None else "by a signal"
    if took.outcome == "silence":
        ended = took.exit_code is not None or took.signal is not None
        return "no answer" + (f"; exited {how} on what it was asked next" if ended else "")
    after = f" after {took.milliseconds:.0f} ms" if took.milliseconds is not None else ""
    if took.outcome == "exit":
        return f"exited {how}{after}"
    if took.outcome == "error":
        code = f" {took.code}" if took.code is not None else ""
        return f"error{code}{after}" + (f": {took.message}" if took.message else "")
    return f"answered{after}"


def _items(items: Items) -> str:
    if items.error and not items.count:
        return f"none: {items.error}"
    names = [name or "(nameless)" for name in items.names[:_MOST_NAMES]]
    more = items.count - len(names)
    said = f"{items.count}" + (f": {', '.join(names)}" if names else "")
    said += f" and {more} more" if more > 0 else ""
    return said + (f" (not all: {items.error})" if items.error else "")


def _view(view: HostView) -> Table:
    grid = table()
    alone = "works" if view.without_bridge else "does not work"
    grid.add_row("without the bridge", plain(alone, "green" if view.without_bridge else "red"))
    if not view.with_bridge:
        grid.add_row("with the bridge", plain(f"does not work: {view.error}", "red"))
        return grid
    way = "works: lines pass as they are" if view.way == "as it is" else "works: translated"
    grid.add_row("with the bridge", plain(way, "green"))
    if view.bridged:
        grid.add_row("bridged", ", ".join(view.bridged))
    for loss in view.lost:
        grid.add_row("not, or nearly", f"{loss.what}: {loss.why}")
    for title, lists in (("does not see", view.missing), ("sees besides", view.more)):
        for name, names in lists.items():
            grid.add_row(title, plain(f"{name} {', '.join(names)}"))
    return grid
