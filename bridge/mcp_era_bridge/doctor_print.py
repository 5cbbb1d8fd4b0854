"""The findings of a doctor for a person at a terminal, with rich.

Lives here: words, tables and colours. Does not: what was found (findings.py).
"""

import shlex
from typing import Final

from rich.console import RenderableType

from mcp_era_bridge.findings import Report, Weight
from mcp_era_bridge.probe_print import plain, show, table

_COLOURS: Final = {Weight.NOTE: "cyan", Weight.WARNING: "yellow", Weight.PROBLEM: "red"}


def print_report(report: Report) -> None:
    """Prints it to our stdout."""
    parts: list[RenderableType] = []
    for finding in report.findings:
        parts.append(
            plain(f"{finding.weight.value}: {finding.id}", f"bold {_COLOURS[finding.weight]}")
        )
        grid = table()
        grid.add_row("seen", plain(finding.seen))
        grid.add_row("why", plain(finding.why))
        grid.add_row("do", plain(finding.fix))
        parts.append(grid)
        if finding.copy is not None:
            # A line that is to be copied must not be folded.
            parts.append(plain(f"  copy  {finding.copy}"))
        parts.append("")
    parts.append(plain(_summary(report), "bold"))
    show(*parts)


def _summary(report: Report) -> str:
    what = "the installation" if report.command is None else shlex.join(report.command)
    counts = [
        f"{number} {weight.value}{'s' if number > 1 else ''}"
        for weight in reversed(Weight)
        if (number := sum(finding.weight is weight for finding in report.findings))
    ]
    server = f"; the server: {report.server}" if report.server is not None else ""
    return f"{what}: {', '.join(counts) or 'nothing found'}{server}"
