"""The opening of another session with a legacy server, for a call that declares more than before.

Lives here: when that is worth it, the process that is to take over, its handshake. Does not: what
the old session still has to do (bridged.py), the first session (inquiry.py). A modern host declares
its capabilities with each request, a legacy server hears of them once: 2026-07-28, basic/index
(Statelessness); 2025-11-25, basic/lifecycle (Initialization).
"""

from collections.abc import Sequence
from typing import TypeAlias

import msgspec
from msgspec import UNSET, Raw

from mcp_era_bridge import refusals
from mcp_era_bridge.child_life import ChildLife
from mcp_era_bridge.child_lines import read_child_line
from mcp_era_bridge.effects import EndChild, Outbox, StartChild
from mcp_era_bridge.own_requests import OwnRequests
from mcp_era_bridge.settings import Settings
from mcp_era_legacy.handshake import (
    client_capabilities,
    initialize_params,
    read_initialize_answer,
)
from mcp_era_modern.request_meta import NO_MEMBERS
from mcp_era_wire import methods
from mcp_era_wire.capabilities import flattened, reduced, united
from mcp_era_wire.dirty import Batch, Broken
from mcp_era_wire.envelope import ABSENT, Message, encode, request_line, result_line
from mcp_era_wire.events import Call, Server, Severity
from mcp_era_wire.refusal import Refusal
from mcp_era_wire.versions import NEWEST_LEGACY

_MOST_HELD = 64


class Succeeded(msgspec.Struct, frozen=True):
    """The process `number` has answered `initialize`, after `declared` was declared to it.

    `waiting` are the calls that wait for it, `held` what it said before.
    """

    number: int
    server: Server
    declared: Raw
    waiting: Sequence[Call]
    held: Sequence[bytes]


class Failed(msgspec.Struct, frozen=True):
    """There will be no other session. `was_beside` tells that the old one is still there; else
    even a process that was told no more than before did not start."""

    refusal: Refusal
    waiting: Sequence[Call]
    was_beside: bool


Outcome: TypeAlias = Succeeded | Failed


class Succession:
    """At most one process at a time that is to take over. Times are in seconds."""

    def __init__(
        self,
        out: Outbox,
        life: ChildLife,
        own: OwnRequests,
        settings: Settings,
        bridge_info: Raw,
    ) -> None:
        self._out = out
        self._life = life
        self._own = own
        self._settings = settings
        self._bridge_info = bridge_info
        self._before = NO_MEMBERS
        """What the session before was opened with."""
        self._client_info: Raw | None = None
        self._is_last = False
        """Whether there is nothing left to be tried."""
        self._wish: frozenset[str] = frozenset()
        """What the process before was told of and did not start with."""
        self.given_up: frozenset[str] = frozenset()
        """Capabilities that no process could be opened with."""
        self.number: int | None = None
        """The process that is to take over, if one is under way."""
        self._beside = False
        self._id = 0
        self._declared = NO_MEMBERS
        self._waiting: dict[Call, None] = {}
        self._held: list[bytes] = []
        self._started: float | None = None
        self.deadline: float | None = None
        """When `passed` wants to be called."""

    @property
    def is_beside(self) -> bool:
        """Whether the process runs beside the one that serves the host meanwhile."""
        return self.number is not None and self._beside

    def is_wanted(self, lacking: frozenset[str], processes: int, *, beside: bool) -> bool:
        """Whether a session without the capabilities in `lacking` is to be succeeded; `processes`
        are there already, and none of them ends first if the new one comes `beside`."""
        if self.number is not None or self._settings.one_process:
            return False
        if not lacking:
            return False
        return not beside or processes < self._settings.max_sessions

    def begin(
        self, declared: Raw, call: Call, client_info: Raw | None, *, beside: bool, now: float
    ) -> None:
        """Starts a process that is told of what `call` declares as well as of `declared`."""
        self._before = declared
        self._client_info = client_info
        self._beside = beside
        self._is_last = False
        wanted = reduced(call.capabilities, self.given_up)
        self._start(Raw(encode(united(declared, wanted))), now)

    def _start(self, declared: Raw, now: float) -> None:
        self._declared = declared
        if self._beside:
            self.number = self._life.fresh_number()
            to_child = self._out.to_others[self.number] = []
            self._out.actions.append(StartChild(self.number))
        else:
            self._own.forget()
            self._life.restart(now)
            self.number = self._life.number
            self._life.spoken_to = True
            to_child = self._out.to_child
        # No other process may answer it, so it does not stand among the open ones.
        self._id = self._own.fresh_id()
        roots = self._settings.roots is not None
        capabilities = client_capabilities(declared, roots=roots)
        info = self._client_info or self._bridge_info
        params = initialize_params(NEWEST_LEGACY, capabilities, info)
        to_child.append(request_line(self._id, methods.INITIALIZE, params))
        self.deadline = None
        self._started = None
        self._held = []
        self._out.note(Severity.INFO, "another session is opened", process=self.number)

    def wait(self, call: Call) -> None:
        """A call waits for the new session."""
        self._waiting[call] = None

    def take_waiting(self) -> list[Call]:
        """Takes the calls out that wait."""
        waiting = list(self._waiting)
        self._waiting.clear()
        return waiting

    def forget(self, call: Call) -> None:
        """It is not wanted any more."""
        self._waiting.pop(call, None)

    def take_over(self) -> None:
        """The process beside which this one was to run is gone: it is the only one now."""
        assert self.number is not None
        self._beside = False
        self._life.succeeded_by(self.number, self._started)

    # The process ---------------------------------------------------------------------------------

    def started(self, now: float) -> None:
        """The process runs: only now can it hear what it was asked."""
        self._started = now
        self.deadline = now + self._settings.initialize_timeout

    def from_child(self, line: bytes, ascii: bool, now: float) -> Outcome | None:
        """Handles a line of the process."""
        read = read_child_line(line, ascii)
        match read:
            case Message():
                self._out.noise_in_front(line)
                return self._message(line, read, now)
            case Batch(items):
                return self._batch(items, now)
            case Broken(id) if id == self._id:
                self._out.noise.append(line)
                return self._fail(refusals.INVALID_LINE, now)
            case _:
                self._out.noise.append(line)
        return None

    def _batch(self, items: list[bytes], now: float) -> Outcome | None:
        for position, item in enumerate(items, 1):
            outcome = self.from_child(item, False, now)
            if isinstance(outcome, Succeeded):
                held = [*outcome.held, *items[position:]]
                return msgspec.structs.replace(outcome, held=held)
            if outcome is not None:
                return outcome
        return None

    def _message(self, line: bytes, message: Message, now: float) -> Outcome | None:
        if message.method is UNSET:
            if message.id != self._id and message.id != str(self._id):
                return None
            result = ABSENT if message.is_failure else message.result
            answer = read_initialize_answer(result, message.error)
            if isinstance(answer, Server):
                return self._succeed(answer)
            return self._fail(refusals.no_session("initialize_failed", answer.error), now)
        if message.method == methods.PING and message.id is not UNSET:
            self._say(result_line(message.id, b"{}"))
        elif len(self._held) < _MOST_HELD:
            self._held.append(line)
        return None

    def _say(self, line: bytes) -> None:
        assert self.number is not None
        (self._out.to_others[self.number] if self._beside else self._out.to_child).append(line)

    def ended(self, refusal: Refusal, now: float) -> Outcome | None:
        """The process has ended, or could not be started."""
        return self._fail(refusal, now)

    def passed(self, now: float) -> Outcome | None:
        """Time went by."""
        if self.deadline is None or now < self.deadline:
            return None
        timeout = self._settings.initialize_timeout
        return self._fail(refusals.initialize_timeout(timeout), now)

    # How it ends ---------------------------------------------------------------------------------

    def _succeed(self, server: Server) -> Succeeded:
        assert self.number is not None
        number, held = self.number, self._held
        if self._is_last:
            # Without the wish it starts.
            self.given_up |= self._wish
        if self._beside:
            self._life.succeeded_by(number, self._started)
        waiting = self._over()
        return Succeeded(number, server, self._declared, waiting, held)

    def _fail(self, refusal: Refusal, now: float) -> Failed | None:
        assert self.number is not None
        self._out.note(Severity.WARNING, "no other session: " + refusal.message)
        # The wish is not repeated: what the server does not start with it will not start with.
        wish = flattened(self._declared) - flattened(self._before)
        if self._beside:
            self.given_up |= wish
            self._out.to_others.pop(self.number, None)
            self._out.actions.append(EndChild(self.number))
            return Failed(refusal, self._over(), was_beside=True)
        if not self._is_last and not self._life.is_hopeless(now):
            # The old process is gone, so another one is told what that one was told of.
            self._is_last = True
            self._wish = wish
            self._start(self._before, now)
            return None
        self._out.actions.append(EndChild(self.number))
        return Failed(refusal, self._over(), was_beside=False)

    def _over(self) -> list[Call]:
        self.number = self.deadline = None
        self._held = []
        return self.take_waiting()
