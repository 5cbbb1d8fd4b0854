"""Finds out which era the child speaks, asking in the host's own era first.

Lives here: the states of the search, its deadlines and its verdict. Does not: the wire format of
the questions and answers (legacy/ and modern/), the process (the shell), what is remembered on disk
(verdicts.py). Spec 2026-07-28, basic/versioning (Backward Compatibility with Legacy Versions);
basic/transports/stdio (Backward Compatibility).

The search is about one server, not one process: `Restart` starts the server again and the search
goes on. It is over with `Settled` or `GaveUp`; after a later end of the child a new one is made.
"""

import enum
from typing import Final, TypeAlias

import msgspec
from msgspec import Raw

from mcp_era_legacy.handshake import InitializeAnswer
from mcp_era_modern.discover import Legacy, Modern, Needs, NoEvidence, ProbeAnswer
from mcp_era_modern.discover import Refused as ProbeRefused
from mcp_era_wire.envelope import ABSENT
from mcp_era_wire.events import Server
from mcp_era_wire.versions import NEWEST_LEGACY, Era


class Memory(enum.Enum):
    """What is remembered of a server across starts: only what saves a wait."""

    SILENT = "silent"
    """Does not answer the probe, then answers `initialize`."""
    EXITS = "exits"
    """Exits on the probe or on what follows it."""


class SendProbe(msgspec.Struct, frozen=True):
    """Write `server/discover`; `required` are capabilities that the child wants declared."""

    required: Raw | None = None


class SendInitialize(msgspec.Struct, frozen=True):
    """Write an `initialize` of the bridge's own, at `version`."""

    version: str


class RelayInitialize(msgspec.Struct, frozen=True):
    """Write the legacy host's own `initialize`."""


class Restart(msgspec.Struct, frozen=True):
    """End what is left of the child and start it again; what is to be written follows."""


class Forget(msgspec.Struct, frozen=True):
    """What was remembered of the server is not true any more."""


class Settled(msgspec.Struct, frozen=True):
    """The verdict. `server` is there for a legacy child that was shaken hands with by us.

    `discovered` is the result member of the child's answer to the probe, if it was modern and
    answered one.
    """

    era: Era
    server: Server | None = None
    discovered: Raw | None = None


class GaveUp(msgspec.Struct, frozen=True):
    """No session came about. `error` is the child's own error object, if it sent one; `supported`
    are the versions that it named, if we speak none of them."""

    reason: str
    error: Raw | None = None
    supported: tuple[str, ...] = ()


_LOOK_AGAIN: Final = 0.5
"""Seconds between two looks at whether a process has read what it was told."""

Step: TypeAlias = SendProbe | SendInitialize | RelayInitialize | Restart | Forget | Settled | GaveUp


class State(enum.Enum):
    """Where the search stands."""

    NEW = enum.auto()
    PROBING = enum.auto()
    """The probe is out."""
    HANDSHAKING = enum.auto()
    """`initialize` is out: its answer decides, whatever the probe says."""
    OVERDUE = enum.auto()
    """`initialize` is out and nobody waits for its answer any more."""
    SETTLED = enum.auto()
    GAVE_UP = enum.auto()


class ChildEra:
    """The search for one child's era, for a host of era `host`.

    `pinned` is the user's word for the child's era; `memory` what an earlier start found.
    `probe_timeout`, `initialize_timeout` and `second_thought` are in seconds; the last is how long
    `initialize` may stay unanswered after a late DiscoverResult.
    """

    def __init__(
        self,
        host: Era,
        *,
        pinned: Era | None = None,
        memory: Memory | None = None,
        probe_timeout: float = 5.0,
        initialize_timeout: float = 60.0,
        second_thought: float = 5.0,
    ) -> None:
        self._host = host
        self._pinned = pinned
        self._memory = memory if host is Era.MODERN else None
        self._probe_timeout = probe_timeout
        self._initialize_timeout = initialize_timeout
        self._second_thought = second_thought
        self.state = State.NEW
        self.deadline: float | None = None
        self._probes = 0
        self._handshakes = 0
        self._probed_here = False
        self._probe_open = False
        """Whether the present process has been probed and has not answered that."""
        self._asked_afresh = False
        """Whether a process has been probed that has not seen the host's `initialize`."""
        self.found: Memory | None = None
        """What is worth remembering, once the verdict is legacy."""
        self._modern_for_sure = False
        self._discovered: Raw | None = None
        self._refusal: Raw | None = None
        self._heard = False
        self._is_late = False
        """Whether it had not, the last time that it mattered."""
        self.has_read = True
        """Whether the present process has read all that it was told."""

    @property
    def over(self) -> bool:
        """Whether the verdict is there, or the search was given up."""
        return self.state in (State.SETTLED, State.GAVE_UP)

    def heard(self) -> None:
        """The present child process wrote something, whatever it is."""
        self._heard = True

    def started(self, now: float) -> None:
        """The present process has been started: what it was asked counts from now."""
        if self.state is State.PROBING:
            self.deadline = now + self._patience_with_probe
        elif self.state is State.HANDSHAKING:
            self.deadline = now + self._patience_with_initialize

    def begin(self, now: float) -> list[Step]:
        """The host wants something of the child."""
        if self._pinned is Era.MODERN:
            return self._settled(Era.MODERN) if self._host is Era.MODERN else self._probe(now)
        if self._relaying:
            return self._handshake(now)
        if self._pinned is Era.LEGACY or self._memory is not None:
            return self._initialize(now)
        return self._probe(now)

    def host_is_legacy(self, now: float) -> list[Step]:
        """The host has sent `initialize` while the probe is out: it follows on the same process."""
        self._host = Era.LEGACY
        self._memory = None
        return self._handshake(now)

    def resume(self, now: float) -> list[Step]:
        """The host wants something again after `initialize` stayed unanswered (OVERDUE).

        A child that never wrote a byte may still be installing itself and is left alone.
        """
        if self._heard:
            return [*self._restarted(), *self._initialize(now)]
        self.state = State.HANDSHAKING
        self.deadline = now + self._initialize_timeout
        return []

    # What is sent --------------------------------------------------------------------------------

    def _probe(self, now: float, required: Raw | None = None) -> list[Step]:
        self.state = State.PROBING
        self.deadline = now + self._patience_with_probe
        self._probes += 1
        self._probed_here = self._probe_open = True
        return [SendProbe(required)]

    def _initialize(self, now: float, version: str = NEWEST_LEGACY) -> list[Step]:
        self._await_handshake(now)
        return [SendInitialize(version)]

    def _handshake(self, now: float) -> list[Step]:
        if not self._relaying:
            return self._initialize(now)
        self._await_handshake(now)
        return [RelayInitialize()]

    def _await_handshake(self, now: float) -> None:
        self.state = State.HANDSHAKING
        self.deadline = now + self._patience_with_initialize
        self._handshakes += 1

    @property
    def _patience_with_probe(self) -> float:
        """Seconds until silence says something. A child that is modern by the user's word, or its
        own, or that has been asked everything else, may take its time to start."""
        only_this = self._relaying and (self._modern_for_sure or self._asked_afresh)
        patient = only_this or self._pinned is Era.MODERN
        return self._initialize_timeout if patient else self._probe_timeout

    @property
    def _patience_with_initialize(self) -> float:
        """The same. One that leaves the host's own `initialize` unanswered may not know it."""
        may_probe = self._relaying and self._pinned is None and not self._probes
        return self._probe_timeout if may_probe else self._initialize_timeout

    def _restarted(self) -> list[Step]:
        self._probed_here = self._probe_open = False
        self._heard = self._is_late = False
        self._discovered = None
        return [Restart()]

    # What comes back -----------------------------------------------------------------------------

    def probe_answered(self, answer: ProbeAnswer, result: Raw, now: float) -> list[Step]:
        """The child answered `server/discover`; `result` is ABSENT for an error."""
        discovered = result if result is not ABSENT else None
        self._probe_open = False
        if self.state is State.PROBING:
            return self._on_probe_answer(answer, discovered, now)
        may_be = isinstance(answer, Modern) and not (self._relaying and answer.common is None)
        if self.state in (State.HANDSHAKING, State.OVERDUE) and may_be:
            # Late: the answer to `initialize` decides, unless it stays away.
            self._discovered = discovered
            soon = now + self._second_thought
            self.deadline = soon if self.deadline is None else min(self.deadline, soon)
        return []

    def _on_probe_answer(
        self, answer: ProbeAnswer, discovered: Raw | None, now: float
    ) -> list[Step]:
        match answer:
            case Modern(None, versions) if self._relaying:
                return self._gave_up("no_common_version", supported=versions)
            case Modern():
                return self._settled(Era.MODERN, discovered=discovered)
            case Needs(capabilities) if self._probes == 1:
                return self._probe(now, capabilities)
            case ProbeRefused() if self._probes == 1:
                return self._probe(now)
            case Needs() | ProbeRefused() if self._relaying:
                return self._gave_up("discover_failed", self._refusal)
            case Needs() | ProbeRefused():
                return self._settled(Era.MODERN)
            case Legacy(version):
                return self._legacy_then(now, version)
            case NoEvidence():
                return self._legacy_then(now, NEWEST_LEGACY)

    def _legacy_then(self, now: float, version: str) -> list[Step]:
        """Nothing says that the child is modern."""
        if self._modern_for_sure and not self._relaying:
            return self._settled(Era.MODERN)
        if self._refusal is not None:
            return self._gave_up("initialize_failed", self._refusal)
        if self._relaying:
            # It was asked because the user says it is modern, or because it exited on initialize.
            return self._gave_up("discover_failed" if self._pinned else "child_exited")
        return self._initialize(now, version)

    def initialize_answered(self, answer: InitializeAnswer, now: float) -> list[Step]:
        """The child answered `initialize`, ours or the host's own."""
        if isinstance(answer, Server):
            if self.state is State.SETTLED:
                # The verdict was modern for want of this answer. It is legacy, for good.
                return [*self._restarted(), *self._handshake(now)]
            return self._settled(Era.LEGACY, server=answer)
        if self.over:
            return []
        if self._discovered is not None:
            return self._settled(Era.MODERN, discovered=self._discovered)
        if answer.modern is not None:
            self._modern_for_sure = True
            self._refusal = answer.error if self._relaying else None
            return self._probe(now)
        if answer.foreign:
            if self._relaying:
                return self._gave_up("no_common_version", supported=answer.foreign)
            return self._settled(Era.MODERN)
        if answer.legacy is not None and self._handshakes == 1 and not self._relaying:
            return self._initialize(now, answer.legacy)
        return self._on_refusal(answer.error, now)

    @property
    def _relaying(self) -> bool:
        """Whether the `initialize` that the child sees is the host's own."""
        return self._host is Era.LEGACY

    def _on_refusal(self, error: Raw, now: float) -> list[Step]:
        forget: list[Step] = [Forget()] if self._memory is not None else []
        self._memory = None
        if self._relaying and self._probe_open:
            # The probe has not been answered yet: that decides now.
            self._refusal = error
            self.state = State.PROBING
            self.deadline = now + self._patience_with_probe
            return forget
        if self._pinned is Era.LEGACY or self._probed_here:
            return [*forget, *self._gave_up("initialize_failed", error)]
        self._refusal = error
        return [*forget, *self._probe(now)]

    def ended(self, now: float) -> list[Step]:
        """The child process ended before the search was over."""
        if self.over or self.state is State.NEW:
            return []
        if self._discovered is not None:
            # It exited on `initialize`, after it had said that it is modern.
            self._modern_for_sure = True
            return [*self._restarted(), *self._probe(now)]
        if self.state is State.OVERDUE or self._pinned is not None:
            return self._gave_up("child_exited", self._refusal)
        if self._relaying:
            return self._relaying_to_next(now)
        if self._refusal is not None:
            return self._gave_up("child_exited", self._refusal)
        if self._memory is not None:
            self._memory = None
            return [Forget(), *self._restarted(), *self._probe(now)]
        if not self._probed_here:
            return self._gave_up("child_exited")
        self.found = Memory.EXITS
        return [*self._restarted(), *self._initialize(now)]

    def _relaying_to_next(self, now: float) -> list[Step]:
        """The process of a legacy host has ended: what the next one is asked."""
        if self.state is State.HANDSHAKING and self._probed_here:
            # It may have ended because of the probe behind the host's `initialize`.
            return [*self._restarted(), *self._handshake(now)]
        if not self._asked_afresh:
            # Or because of `initialize`.
            self._asked_afresh = True
            return [*self._restarted(), *self._probe(now)]
        return self._gave_up("child_exited", self._refusal)

    def passed(self, now: float) -> list[Step]:
        """The deadline passed."""
        if self.deadline is None or now < self.deadline:
            return []
        self.deadline = None
        if self.state is State.PROBING:
            if not (self._modern_for_sure or self._refusal or self._relaying):
                self.found = Memory.SILENT
            return self._legacy_then(now, NEWEST_LEGACY)
        if self._discovered is not None:
            return self._settled(Era.MODERN, discovered=self._discovered)
        if self._relaying:
            # The host decides how long it waits; the child is asked once in the other era.
            if self._probes or self._pinned is not None:
                return []
            if not self.has_read or self._is_late:
                # It is still being installed, or starts; what it does not see it cannot answer.
                self._is_late = not self.has_read
                self.deadline = now + (self._probe_timeout if self.has_read else _LOOK_AGAIN)
                return []
            self._probes += 1
            self._probed_here = self._probe_open = True
            return [SendProbe()]
        self.state = State.OVERDUE
        return [GaveUp("initialize_timeout")]

    # How it ends ---------------------------------------------------------------------------------

    def _settled(
        self, era: Era, *, server: Server | None = None, discovered: Raw | None = None
    ) -> list[Step]:
        self.state = State.SETTLED
        self.deadline = None
        return [Settled(era, server, discovered)]

    def _gave_up(
        self, reason: str, error: Raw | None = None, supported: tuple[str, ...] = ()
    ) -> list[Step]:
        self.state = State.GAVE_UP
        self.deadline = None
        return [GaveUp(reason, error, supported)]
