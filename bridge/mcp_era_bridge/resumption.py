"""A legacy session that outlives its child: another process is told of it, and it goes on.

Lives here: the life of the relayed session of a legacy pair, the handshake with the next process.
Does not: what the host says meanwhile (meanwhile.py), what is kept of the session (legacy/,
host_session.py), the lines while there is a child (relayed.py), the first handshake, which is the
host's own (opening.py). Spec 2025-11-25, basic/lifecycle; 2026-07-28, basic/transports/stdio
(Unexpected Termination).
"""

import enum
from typing import Final, TypeAlias

import msgspec
from msgspec import UNSET, Raw

from mcp_era_bridge import refusals
from mcp_era_bridge.child_life import ChildLife, Presence
from mcp_era_bridge.child_lines import read_child_line
from mcp_era_bridge.effects import EndChild, Outbox
from mcp_era_bridge.meanwhile import Meanwhile
from mcp_era_bridge.own_requests import OwnRequests
from mcp_era_bridge.relayed import Relayed
from mcp_era_bridge.settings import Settings
from mcp_era_bridge.waiting import Waiting
from mcp_era_legacy.handshake import Refused, read_initialize_answer, read_initialize_request
from mcp_era_legacy.host_session import HostSession
from mcp_era_legacy.initialize_result import initialize_result
from mcp_era_modern.discover import Modern, probe_params, read_probe_answer
from mcp_era_modern.peer import no_common_version
from mcp_era_modern.request_meta import RequestMeta
from mcp_era_wire import methods
from mcp_era_wire.dirty import Batch, Blank, Broken, Noise, message_part
from mcp_era_wire.envelope import (
    ABSENT,
    Message,
    notification_line,
    request_line,
    result_line,
)
from mcp_era_wire.events import Severity
from mcp_era_wire.refusal import Refusal
from mcp_era_wire.versions import Era

_MOST_HELD: Final = 64
"""How many lines of a process are kept that come before its answer to `initialize`."""


class Resumed(msgspec.Struct, frozen=True):
    """The session goes on: `Resumption.relayed` takes the lines again."""


class Changed(msgspec.Struct, frozen=True):
    """It cannot go on: the server offers less than the host has been told; `lacking` names it."""

    lacking: list[str]


class IsModern(msgspec.Struct, frozen=True):
    """The process is modern. `discovered` is the result of its answer to `server/discover`."""

    discovered: Raw


Outcome: TypeAlias = Resumed | Changed | IsModern


class _State(enum.Enum):
    UNUSED = enum.auto()
    """There is no relayed session."""
    SERVED = enum.auto()
    """There is a child, and `relayed` takes the lines."""
    ABSENT = enum.auto()
    """There is no child, and none is being started."""
    HANDSHAKING = enum.auto()
    """`initialize` is out, or will be with the start of the process."""
    OVERDUE = enum.auto()
    """It is out and nobody waits for its answer any more."""
    PROBING = enum.auto()
    """`server/discover` is out: the process is asked whether it is modern."""


class Resumption:
    """The session of a legacy pair, if there is one. Times are in seconds."""

    def __init__(self, out: Outbox, life: ChildLife, own: OwnRequests, settings: Settings) -> None:
        self._out = out
        self._life = life
        self._own = own
        self._settings = settings
        self._state = _State.UNUSED
        self._session = HostSession()
        self._relayed: Relayed | None = None
        self._meanwhile = Meanwhile(out, settings.most_open)
        self._held: list[bytes] = []
        """What the process has said before it has answered `initialize`."""
        self._heard = False
        """Whether the process has written anything."""
        self._told: dict[int, str | None] = {}
        """The requests that tell a process of the session, and the URI each subscribes to."""
        self._is_sure = False
        """Whether the last process has said that it is modern, and ended on `initialize`."""
        self._probes_first = False
        """Whether the next process is asked for its modern era first."""
        self._asked: set[str] = set()
        """What the present process has been asked."""
        self._discovered: Raw | None = None
        """Its late answer to `server/discover`."""
        self._refusal: Refusal | None = None
        """Why there is no child, or why the process has no session for us."""
        self._due: float | None = None
        self.outcome: Outcome | None = None
        """What has come of it, for the joint to take."""

    def begin(self, initialize: Waiting) -> Relayed:
        """The child has answered the host's `initialize`: from now on the pair is relayed. The
        answer is the first thing that is."""
        assert isinstance(initialize.id, int | str)
        relayed = self._relay()
        self._state = _State.SERVED
        self._probes_first = False
        relayed.note(initialize.id, methods.INITIALIZE, initialize.line)
        return relayed

    def begin_answered(self, initialize: Waiting, result: Raw) -> Relayed:
        """The host's `initialize` would say nothing new: the child has answered one like it with
        `result`, and has been told that the session is initialized."""
        assert isinstance(initialize.id, int | str)
        relayed = self.begin(initialize)
        self._session.knows_of_initialized = True
        relayed.from_child(result_line(initialize.id, bytes(result)).rstrip(b"\n"))
        return relayed

    def _relay(self) -> Relayed:
        self._relayed = Relayed(
            self._out,
            self._own,
            self._settings.most_open,
            self._session,
            self._settings.most_questions,
        )
        return self._relayed

    def take_up(
        self,
        session: HostSession,
        refusal: Refusal,
        now: float,
        *,
        again: bool,
        probes_first: bool = True,
    ) -> None:
        """A modern child, of which the host knew no more than `session`, is gone; see `lost`.

        `probes_first` tells that the next process is likely to be modern, too.
        """
        self._session = session
        self._relay()
        self._probes_first = probes_first
        self._go_on(refusal, now, again=again)

    @property
    def session(self) -> HostSession:
        """What the host knows of it."""
        return self._session

    def rest(self) -> list[bytes]:
        """Somebody else has the session from now on. Returned is what the host has said
        meanwhile."""
        self._state = _State.UNUSED
        self._due = None
        self._held.clear()
        return self._meanwhile.empty()

    @property
    def relayed(self) -> Relayed | None:
        """Takes the lines of both sides, if there is a child with the session."""
        return self._relayed if self._state is _State.SERVED else None

    @property
    def lasts(self) -> bool:
        """Whether there is a session, with or without a child."""
        return self._state is not _State.UNUSED

    @property
    def work(self) -> int:
        """How many requests of the host wait."""
        return len(self._meanwhile)

    @property
    def deadline(self) -> float | None:
        """When `passed` wants to be called."""
        return self._due

    # From the host -------------------------------------------------------------------------------

    def from_host(self, line: bytes, now: float) -> None:
        """Handles a line of the host while there is no child with the session."""
        assert self._relayed is not None
        hopeless = self._state is _State.ABSENT and self._life.is_hopeless(now)
        self._meanwhile.from_host(
            line,
            self._relayed,
            self._refusal if hopeless else None,
            has_batches=self._session.has_batches,
        )
        if self._meanwhile:
            self._want(now)

    def _want(self, now: float) -> None:
        """The host waits for a child."""
        if self._state is _State.ABSENT or (self._state is _State.OVERDUE and self._heard):
            self._start(now)
        elif self._state is _State.OVERDUE:
            # It may still be installing itself, and is left alone.
            self._state = _State.HANDSHAKING
            self._due = now + self._settings.initialize_timeout

    def fail(self, refusal: Refusal) -> None:
        """Everything that waits fails."""
        if self._relayed is not None:
            self._meanwhile.fail(self._relayed, refusal)

    # The process ---------------------------------------------------------------------------------

    def lost(self, refusal: Refusal, now: float, *, again: bool) -> None:
        """There is no child any more. `again` tells that it may be started unasked."""
        if self.relayed is not None:
            self.relayed.lost(refusal)
            self._session.lost()
        elif again and self._settings.era is None:
            # It may have ended because of what it was asked.
            self._is_sure = self._discovered is not None
            self._probes_first = self._is_sure or not self._probes_first
        self._go_on(refusal, now, again=again)

    def _go_on(self, refusal: Refusal, now: float, *, again: bool) -> None:
        self._forget_process()
        self._state = _State.ABSENT
        self._refusal = refusal
        if again and not self._life.is_hopeless(now):
            self._start(now)
        else:
            self.fail(refusal)

    def _forget_process(self) -> None:
        self._own.forget()
        self._told.clear()
        self._held.clear()
        self._asked.clear()
        self._discovered = None
        self._heard = False
        self._due = None

    def _start(self, now: float) -> None:
        self._forget_process()
        self._life.restart(now)
        if self._probes_first:
            self._probe(now)
        else:
            self._initialize(now)

    def _initialize(self, now: float) -> None:
        self._state = _State.HANDSHAKING
        self._due = self._patience(now)
        self._asked.add(methods.INITIALIZE)
        self._ask(methods.INITIALIZE, bytes(self._session.initialize))

    def _probe(self, now: float) -> None:
        self._state = _State.PROBING
        self._due = self._patience(now)
        self._asked.add(methods.DISCOVER)
        client = read_initialize_request(self._session.initialize)
        meta = RequestMeta(capabilities=client.capabilities, client_info=client.info)
        self._ask(methods.DISCOVER, probe_params(meta))

    def _patience(self, now: float) -> float | None:
        """When silence says something; a process that has not been started has time."""
        if self._life.presence is not Presence.RUNNING:
            return None
        is_sure = self._is_sure or self._settings.era is Era.MODERN
        may_be_legacy = self._state is _State.PROBING and not is_sure
        settings = self._settings
        return now + (settings.probe_timeout if may_be_legacy else settings.initialize_timeout)

    def _ask(self, method: str, params: bytes) -> int:
        id = self._own.add(method)
        self._life.say(request_line(id, method, params))
        return id

    def child_started(self, now: float) -> None:
        """The process runs: only now can it hear what it was asked."""
        if self._state in (_State.HANDSHAKING, _State.PROBING):
            self._due = self._patience(now)

    def passed(self, now: float) -> None:
        """Time went by."""
        if self._due is None or now < self._due:
            return
        self._due = None
        if self._state is _State.PROBING:
            self._is_not_modern(now)
        else:
            self._state = _State.OVERDUE
            self._refusal = refusals.initialize_timeout(self._settings.initialize_timeout)
            self.fail(self._refusal)

    def _give_up(self, now: float) -> None:
        """The process has no session for us; a later one may."""
        assert self._refusal is not None
        self._out.note(Severity.WARNING, "no session: " + self._refusal.message)
        self._life.failed(now)
        self._out.actions.append(EndChild(self._life.number))
        self._life.gone()
        self.lost(self._refusal, now, again=False)

    # From the child ------------------------------------------------------------------------------

    def from_child(self, line: bytes, ascii: bool, now: float) -> list[bytes]:
        """Handles a line of a process that has not answered `initialize`. Returned are the items
        of a batch: each is a line of its own, and the first may be the answer."""
        if self._state is _State.ABSENT or self._life.presence is not Presence.RUNNING:
            return []
        self._heard = True
        read = read_child_line(line, ascii)
        match read:
            case Message():
                self._out.noise_in_front(line)
                self._message(line, read, now)
            case Batch(items):
                return items
            case Broken(id):
                self._out.noise.append(line)
                if self._own.is_open(id):
                    self._refusal = refusals.INVALID_LINE
                    self._give_up(now)
            case Noise():
                self._out.noise.append(line)
            case Blank():
                pass
        return []

    def _message(self, line: bytes, message: Message, now: float) -> None:
        if message.method is UNSET:
            method = self._own.take(message)
            if method == methods.INITIALIZE:
                self._initialize_answered(message, now)
            elif method == methods.DISCOVER:
                self._probe_answered(message, now)
        elif message.method == methods.PING and message.id is not UNSET:
            self._life.say(result_line(message.id, b"{}"))
        elif len(self._held) < _MOST_HELD:
            self._held.append(message_part(line))
        else:
            self._out.note(Severity.WARNING, "message of the child lost", method=message.method)

    def _initialize_answered(self, message: Message, now: float) -> None:
        if not message.is_failure:
            lacking = self._session.lacks(message.result)
            if lacking:
                self._due = None
                self.outcome = Changed(lacking)
            else:
                self._resume()
            return
        answer = read_initialize_answer(ABSENT, message.error)
        assert isinstance(answer, Refused)
        self._refusal = refusals.no_session("initialize_failed", answer.error)
        if self._discovered is not None:
            self._is_modern(self._discovered)
        elif self._settings.era is Era.LEGACY or methods.DISCOVER in self._asked:
            self._give_up(now)
        else:
            self._probe(now)

    def _probe_answered(self, message: Message, now: float) -> None:
        result = ABSENT if message.is_failure else message.result
        answer = read_probe_answer(result, message.error)
        if isinstance(answer, Modern) and answer.common is not None and result is not ABSENT:
            if self._state is _State.PROBING:
                self._is_modern(result)
            else:
                # The answer to `initialize` decides, if there is one.
                self._discovered = result
        elif self._state is _State.PROBING:
            if isinstance(answer, Modern) and answer.versions:
                self._refusal = no_common_version(list(answer.versions))
            self._is_not_modern(now)

    def _is_modern(self, discovered: Raw) -> None:
        assert self._session.version is not None
        self._due = None
        result = initialize_result(discovered, self._session.version, self._settings.server_name)
        lacking = self._session.lacks(Raw(result))
        self.outcome = Changed(lacking) if lacking else IsModern(discovered)

    def _is_not_modern(self, now: float) -> None:
        if methods.INITIALIZE in self._asked or self._settings.era is Era.MODERN:
            self._refusal = self._refusal or refusals.no_session("discover_failed", None)
            self._give_up(now)
        else:
            self._initialize(now)

    # How it goes on ------------------------------------------------------------------------------

    def _resume(self) -> None:
        """The process is told of the session, the host that things may have changed."""
        session = self._session
        self._probes_first = self._is_sure = False
        self._state = _State.SERVED
        self._due = None
        if session.initialized:
            self._life.say(notification_line(methods.INITIALIZED))
        for method, params, uri in session.requests():
            self._told[self._ask(method, params)] = uri
        if session.forgotten:
            self._out.note(
                Severity.WARNING, "subscriptions too many to be kept", lost=session.forgotten
            )
            session.forgotten = 0
        for method, params in session.news():
            self._out.to_host.append(notification_line(method, params))
        self._out.note(Severity.INFO, "session resumed", process=self._life.number)
        self.outcome = Resumed()

    def catch_up(self) -> None:
        """Passes on what either side has said meanwhile."""
        relayed = self.relayed
        assert relayed is not None
        held, self._held = self._held, []
        for line in held:
            relayed.from_child(line)
        for line in self._meanwhile.empty():
            relayed.from_host(line)

    def took(self, message: Message) -> bool:
        """Whether a response of the child answers what it was told of the session."""
        if not isinstance(message.id, int) or message.id not in self._told:
            return False
        uri = self._told.pop(message.id)
        method = self._own.take(message)
        if message.is_failure:
            self._out.note(
                Severity.WARNING, "the server does not take up the session", method=method, uri=uri
            )
            if uri is not None:
                self._session.unsubscribe(uri)
        return True
