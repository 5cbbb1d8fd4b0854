"""What `mcp-bridge doctor` finds: one fault each, and all of them together.

Lives here: the fields of a finding and of the report, their names, the verdicts and their exit
codes. Does not: the checks (doctor_*.py), how it looks to a person (doctor_print.py).
docs/diagnosis.md describes every finding.
"""

import enum
from typing import Final

import msgspec

FORMAT: Final = 1
"""Counted up when a field changes its meaning or goes; new fields may come at any time."""


class Weight(enum.Enum):
    """How much a finding matters."""

    NOTE = "note"
    """Worth to be known."""
    WARNING = "warning"
    """It works here, and may not where the host starts it."""
    PROBLEM = "problem"
    """It cannot work like this."""


class Finding(msgspec.Struct, frozen=True):
    """A fault: what was seen, why it matters, what to do, and the text to copy, if there is one.

    `id` never changes its meaning; several findings may have the same.
    """

    id: str
    weight: Weight
    seen: str
    why: str
    fix: str
    copy: str | None = None


class Verdict(enum.Enum):
    """What comes of all findings."""

    HEALTHY = "healthy"
    WARNINGS = "warnings"
    PROBLEMS = "problems"


EXIT_CODES: Final = {Verdict.HEALTHY: 0, Verdict.WARNINGS: 3, Verdict.PROBLEMS: 4}


class Report(msgspec.Struct, frozen=True):
    """Everything. `server` is the verdict of a probe, if there was a command."""

    format: int
    bridge: str
    command: list[str] | None
    server: str | None
    verdict: Verdict
    exit_code: int
    findings: list[Finding]


def heaviness(finding: Finding) -> int:
    """How far up a finding stands: what cannot work comes first."""
    return list(Weight).index(finding.weight)


def verdict_of(findings: list[Finding]) -> Verdict:
    """The heaviest finding counts."""
    weights = {finding.weight for finding in findings}
    if Weight.PROBLEM in weights:
        return Verdict.PROBLEMS
    return Verdict.WARNINGS if Weight.WARNING in weights else Verdict.HEALTHY
