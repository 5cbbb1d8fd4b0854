"""One visit to a server: a host of one era looks around, through a bridge that runs in this
process.

Lives here: the bridge put together around the host, the order of the visit, what was seen of it.
Does not: what the host says (visiting_host.py), what it means (probe_facts.py). The bridge is the
real one: shell, joint and guard, only that its host is not at our own stdio.
"""

import os
from collections.abc import Callable
from typing import Final

import msgspec
import trio
from msgspec import Raw

from mcp_era_bridge import verdicts
from mcp_era_bridge.guard import Guard
from mcp_era_bridge.logs import Log
from mcp_era_bridge.redaction import Redactor
from mcp_era_bridge.run import joint_of
from mcp_era_bridge.settings import Settings
from mcp_era_bridge.shell import Shell
from mcp_era_bridge.spawn import Command, NotStarted, spawn
from mcp_era_bridge.stderr import StderrSink, Tail
from mcp_era_bridge.visiting_host import Listing, Reply, VisitingHost, pipe_pair
from mcp_era_bridge.witness import Witness
from mcp_era_wire import methods
from mcp_era_wire.events import Note, Severity
from mcp_era_wire.members import members_of
from mcp_era_wire.versions import Era

LISTS: Final = (
    ("tools", methods.TOOLS_LIST, "tools", "name"),
    ("prompts", methods.PROMPTS_LIST, "prompts", "name"),
    ("resources", methods.RESOURCES_LIST, "resources", "uri"),
    ("resource_templates", methods.RESOURCE_TEMPLATES_LIST, "resourceTemplates", "uriTemplate"),
)
"""Each list: what we call it, its method, the member that holds it, what an item is known by."""
_LIST_TIMEOUT: Final = 20.0
"""Seconds for each page of a list."""
_MOMENT: Final = 1.0
"""Seconds that the bridge still waits for answers once the host has hung up."""
_STDERR_LINES: Final = 40
_STDERR_BYTES: Final = 8192
_SECOND_TIMEOUT: Final = 10.0
"""Seconds that a server has for `initialize` that has left another one unanswered before."""
_MOST_NOISE: Final = 20
_MOST_OF_LINE: Final = 500


class Interrupted(Exception):
    """A signal told us to end; the server has been ended. `exit_code` is what it means for us."""

    def __init__(self, exit_code: int) -> None:
        super().__init__(exit_code)
        self.exit_code = exit_code


class Visit:
    """What was seen of one visit."""

    def __init__(self, era: Era) -> None:
        self.era = era
        self.witness = Witness()
        self.not_started: str | None = None
        """Why the command cannot be run."""
        self.opening: Reply | None = None
        """The answer to `server/discover` or `initialize`, as the host gets it."""
        self.listings: dict[str, Listing] = {}
        self.noise: list[str] = []
        """The first lines on stdout that are no messages."""
        self.noise_count = 0
        self.stderr: list[str] = []
        """The last lines on stderr."""

    @property
    def opened(self) -> Raw | None:
        """The result of the opening."""
        return self.opening.result if self.opening is not None else None


async def visit(
    era: Era, command: Command, guard: Guard, settings: Settings, *, lists: bool = True
) -> Visit:
    """Sends a host of `era` to the server and ends the server again. Raises Interrupted."""
    seen = Visit(era)
    seen.witness.spawned(trio.current_time())
    try:
        first = spawn(command)
    except NotStarted as error:
        seen.not_started = str(error)
        return seen
    guard.watch(first.pid)
    settings = msgspec.structs.replace(settings, last_words_timeout=_MOMENT)
    sink = _Sink()
    bridge_in, bridge_out, to_bridge, from_bridge = pipe_pair()
    host = VisitingHost(era, to_bridge, from_bridge, settings.roots)
    shell = Shell(
        joint_of(settings),
        settings,
        command,
        guard,
        _Log(sink, seen),
        verdicts.Cache(None),
        host=(bridge_in, bridge_out),
        tap=seen.witness,
    )
    try:
        async with trio.open_nursery() as nursery:
            nursery.start_soon(host.listen)
            nursery.start_soon(_look_around, host, seen, settings, lists)
            exit_code = await shell.run(first)
            nursery.cancel_scope.cancel()
    finally:
        await host.aclose()
        os.close(bridge_in)
        os.close(bridge_out)
    if shell.signal is not None:
        raise Interrupted(exit_code)
    seen.stderr = sink.tail.lines(Redactor(command.env).redact)
    return seen


async def visit_as_both(
    command: Command, guard: Guard, settings: Settings, tell: Callable[[str], None]
) -> tuple[Visit, Visit | None]:
    """The visits of a legacy and a modern host, one after the other: a server that speaks both eras
    stays with the one that it is asked in first. There is no second one if the command cannot be
    run. `tell` is given what is being done.

    The legacy host goes first: a package that has to be fetched then has its time, and what the
    modern one measures is the server alone. Raises Interrupted.
    """
    tell("asking as a host of the handshake era")
    legacy = await visit(Era.LEGACY, command, guard, settings)
    if legacy.not_started is not None:
        return legacy, None
    if legacy.opening is None:
        # It has had all the time that a cold start takes.
        hurry = min(settings.initialize_timeout, _SECOND_TIMEOUT)
        settings = msgspec.structs.replace(settings, initialize_timeout=hurry)
    tell("asking as a host of 2026-07-28")
    return legacy, await visit(Era.MODERN, command, guard, settings)


async def _look_around(host: VisitingHost, seen: Visit, settings: Settings, lists: bool) -> None:
    """The host opens, reads every list that the server has, and hangs up."""
    # One more moment than the bridge itself waits: its error says more than our silence.
    patience = settings.initialize_timeout + settings.probe_timeout + _MOMENT
    seen.opening = await host.open(patience)
    if lists:
        for name, method, member, known_by in LISTS:
            if _declares(seen.opened, name):
                listing = host.read_list(method, member, known_by, _LIST_TIMEOUT)
                seen.listings[name] = await listing
    seen.witness.closing(trio.current_time())
    await host.hang_up()


def _declares(opened: Raw | None, name: str) -> bool:
    capabilities = members_of((members_of(opened) or {}).get("capabilities")) or {}
    return ("resources" if name == "resource_templates" else name) in capabilities


class _Sink(StderrSink):
    """Keeps the server's stderr instead of passing it through."""

    def __init__(self) -> None:
        super().__init__()
        self.tail = Tail(_STDERR_LINES, _STDERR_BYTES)

    def write(self, text: bytes) -> None:
        """What the bridge itself says is seen in other ways."""

    async def write_patiently(self, text: bytes) -> None:
        """The server's stderr."""
        self.tail.keep(text)
        await trio.lowlevel.checkpoint()


class _Log(Log):
    """Keeps the lines on the server's stdout that are no messages."""

    def __init__(self, sink: StderrSink, seen: Visit) -> None:
        super().__init__(sink, Severity.ERROR, as_json=False)
        self._seen = seen

    def note(self, note: Note) -> None:
        """Notes tell what is seen on the wire as well."""

    def noise(self, line: bytes, now: float) -> None:
        """A line that is no message."""
        self._seen.noise_count += 1
        if len(self._seen.noise) < _MOST_NOISE:
            text = line[:_MOST_OF_LINE].decode("utf-8", "replace")
            self._seen.noise.append(text.strip())
