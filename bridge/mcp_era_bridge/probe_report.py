"""What `mcp-bridge probe` says of a server: the report, as it is written with --json.

Lives here: the fields and their names, which never change their meaning, the verdicts and their
exit codes. Does not: how they are found (probe_facts.py), how they look to a person
(probe_print.py). docs/diagnosis.md describes every field.
"""

import enum
from typing import Final

import msgspec
from msgspec import Raw

from mcp_era_bridge.prospects import Loss

FORMAT: Final = 1
"""Counted up when a field changes its meaning or goes; new fields may come at any time."""


class Verdict(enum.Enum):
    """What comes of the server, for hosts of either era."""

    WORKS = "works"
    BRIDGED = "bridged"
    PARTLY = "partly"
    UNKNOWN_VERSION = "unknown_version"
    NO_MCP = "no_mcp"
    EXITS = "exits"
    SILENT = "silent"
    NOT_STARTED = "not_started"


EXIT_CODES: Final = {
    # 1 and 2 are taken: by faults of ours, and by command lines that cannot be understood.
    Verdict.WORKS: 0,
    Verdict.BRIDGED: 3,
    Verdict.PARTLY: 4,
    Verdict.UNKNOWN_VERSION: 5,
    Verdict.NO_MCP: 6,
    Verdict.EXITS: 7,
    Verdict.SILENT: 8,
    Verdict.NOT_STARTED: 9,
}

SUMMARIES: Final = {
    Verdict.WORKS: "works with hosts of either era, with and without the bridge",
    Verdict.BRIDGED: "works; hosts of the other era need the bridge",
    Verdict.PARTLY: "works with hosts of one era only, even through the bridge",
    Verdict.UNKNOWN_VERSION: "speaks only versions of the protocol that are not known here",
    Verdict.NO_MCP: "runs and says something, but does not answer as an MCP server",
    Verdict.EXITS: "ends before it has answered",
    Verdict.SILENT: "runs and says nothing",
    Verdict.NOT_STARTED: "cannot be started",
}


class Took(msgspec.Struct, frozen=True):
    """How a fresh process of the server took the first thing that it was asked."""

    outcome: str
    milliseconds: float | None = None
    code: int | None = None
    message: str | None = None
    exit_code: int | None = None
    signal: int | None = None
    answered_at_end: bool = False


class Items(msgspec.Struct, frozen=True):
    """A list: how many there are, what they are called, and why it is not all of them."""

    count: int
    names: list[str]
    error: str | None = None


class Server(msgspec.Struct, frozen=True):
    """Who the server is, as it says itself."""

    name: str | None
    version: str | None
    title: str | None
    instructions: str | None
    capabilities: Raw


class Versions(msgspec.Struct, frozen=True):
    """The revisions that the server names, in either era."""

    handshake: str | None
    modern: list[str]
    named_in_errors: list[str]


class HostView(msgspec.Struct, frozen=True):
    """What a host of one era gets."""

    without_bridge: bool
    with_bridge: bool
    way: str | None
    error: str | None
    bridged: list[str]
    lost: list[Loss]
    missing: dict[str, list[str]]
    more: dict[str, list[str]]


class Hosts(msgspec.Struct, frozen=True):
    """By the era of the host."""

    modern: HostView
    legacy: HostView


class Noise(msgspec.Struct, frozen=True):
    """Lines on stdout that are no messages: how many, and the first of them."""

    count: int
    lines: list[str]


class Report(msgspec.Struct, frozen=True):
    """Everything."""

    format: int
    bridge: str
    command: list[str]
    verdict: Verdict
    exit_code: int
    summary: str
    error: str | None
    era: str | None
    server: Server | None
    versions: Versions
    start_milliseconds: float | None
    discover: Took | None
    initialize: Took | None
    tools: Items | None
    prompts: Items | None
    resources: Items | None
    resource_templates: Items | None
    hosts: Hosts | None
    stdout_noise: Noise
    stderr: list[str]
