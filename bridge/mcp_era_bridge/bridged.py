"""The joint of a modern host and a legacy child: which session serves what, and what is open.

Lives here: the host's requests and cancellations, the sessions with the child's processes, what a
face and a peer have to tell each other. Does not: either era's wire format (modern/, legacy/), what
a child says (session.py), the start of another session (succession.py), the search for the child's
era (inquiry.py). Spec 2026-07-28, basic/patterns/cancellation; basic/transports/stdio
(Cancellation); basic/index (Statelessness).
"""

from collections.abc import Sequence
from typing import Final

from msgspec import UNSET, Raw

from mcp_era_bridge import refusals
from mcp_era_bridge.effects import Outbox
from mcp_era_bridge.host_era import has_envelope
from mcp_era_bridge.host_lines import (
    invalid_request,
    notification_params,
    read_cancelled,
    read_host_line,
)
from mcp_era_bridge.open_requests import Open
from mcp_era_bridge.refusals import CHILD_UNRESPONSIVE, DUPLICATE_ID, too_many_requests
from mcp_era_bridge.second_face import SecondFace
from mcp_era_bridge.session import Taken
from mcp_era_bridge.sessions import Sessions
from mcp_era_bridge.settings import Settings
from mcp_era_bridge.succession import Outcome, Succeeded, Succession
from mcp_era_bridge.waiting import Waiting
from mcp_era_modern.exchange import Retry
from mcp_era_modern.face import ModernFace, StreamOpened
from mcp_era_wire import methods
from mcp_era_wire.capabilities import flattened, reduced
from mcp_era_wire.deadlines import earliest
from mcp_era_wire.envelope import UNREADABLE, Id, Message, read_message
from mcp_era_wire.events import (
    Call,
    CallExpired,
    CallReissued,
    HostEvent,
    LegEnded,
    QuestionAnswered,
    QuestionDropped,
    QuestionFailed,
    QuestionRefused,
    Server,
    Severity,
    StreamEnded,
    WatchClosed,
    WatchOpened,
)
from mcp_era_wire.refusal import Refusal

_ROOTS: Final = Raw(b'{"roots":{}}')
_EXPIRED: Final = Raw(b'"The host has not answered the questions in time"')


class Bridged:
    """One modern host with one legacy server, over all of its processes.

    `open` are the host's open requests, which it shares with the joint. Times are in seconds.
    """

    def __init__(
        self,
        out: Outbox,
        face: ModernFace,
        open: Open,
        settings: Settings,
        succession: Succession,
    ) -> None:
        self._out = out
        self._face = face
        self._open = open
        self._settings = settings
        self._succession = succession
        self._most_open = settings.most_open
        self._sessions = Sessions(out, face, open, settings)
        self._client_info: Raw | None = None
        self._covered: Raw | None = None
        """Capabilities that the current session is known to cover."""
        self.stalled = False
        """Whether the child takes nothing of what it is told."""
        self.served = False
        """Whether the host has used more than `server/discover`."""

    @property
    def work(self) -> int:
        """How many requests of the host are not answered yet; a stream is not work."""
        return len(self._open) - len(self._face.streams)

    @property
    def deadline(self) -> float | None:
        """When `passed` wants to be called."""
        current = self._sessions.current
        due = current.peer.deadline if current is not None else None
        if self._face.exchanges or self._sessions.draining:
            draining = (session.peer.deadline for session in self._sessions.draining.values())
            return earliest(due, self._face.exchanges.deadline, *draining)
        return due

    # Sessions ------------------------------------------------------------------------------------

    def adopt(
        self, number: int, server: Server, declared: Raw, client_info: Raw | None, now: float
    ) -> None:
        """The process `number` has answered `initialize`: from now on it serves the host.

        `declared` are the capabilities, in the modern spelling, and `client_info` the identity that
        it was told of.
        """
        self._client_info = client_info
        self._covered = None
        self._sessions.open(number, server, declared, now)
        self.settle(now)

    def answered(self, initialize: Message) -> Raw | None:
        """The child's own answer to an `initialize` that says nothing new; see Sessions."""
        return self._sessions.answered(initialize)

    def hand_over(self) -> None:
        """The session is somebody else's from now on."""
        for session in self._sessions.all():
            self._sessions.take_out(session.number)

    def initialize(self, initialize: Waiting, name: str) -> None:
        """The host opens with a handshake, too: from now on both faces share the sessions."""
        sessions = self._sessions
        if sessions.second is not None:
            sessions.second.initialize_again(initialize)
            return
        assert sessions.server is not None
        second = SecondFace(
            self._out,
            self._open,
            self._settings,
            self._begin,
            sessions.peers,
            initialize,
            name,
        )
        sessions.share(second)
        second.welcome(sessions.server)

    def lost(self, number: int, refusal: Refusal, now: float) -> None:
        """The process `number` is gone: what is open there fails."""
        sessions = self._sessions
        is_current = sessions.current is not None and sessions.current.number == number
        session = sessions.take_out(number)
        if is_current and sessions.second is not None:
            sessions.second.lost(refusal)
        if session is not None:
            session.lost(refusal)
            self.settle(now)

    def lost_all(self, refusal: Refusal, now: float) -> None:
        """Everything open fails."""
        for session in self._sessions.all():
            self.lost(session.number, refusal, now)
        self._lost_second(refusal)

    def serves(self, number: int) -> bool:
        """Whether there is a session with the process `number`."""
        return self._sessions.of(number) is not None

    # From the host -------------------------------------------------------------------------------

    def from_host(self, line: bytes, ascii: bool, now: float) -> Message | None:
        """Handles a line of the host. Returned is an `initialize` of the handshake era, if that is
        what it was: the joint decides about it."""
        if ascii:
            try:
                return self.message_from_host(read_message(line), now)
            except UNREADABLE:
                pass
        message = read_host_line(line, ascii)
        if isinstance(message, Message):
            return self.message_from_host(message, now)
        if message is not None:
            self._out.to_host.append(message)
        return None

    def message_from_host(self, message: Message, now: float) -> Message | None:
        """As from_host, for a message that has been read."""
        id = message.id
        method = message.method
        if method is UNSET:
            self._no_method(message, now)
            return None
        if id is UNSET:
            self._notification(method, message, now)
            return None
        if method == methods.INITIALIZE and not has_envelope(message):
            return message
        open = self._open
        if id in open:
            self._face.refuse(id, DUPLICATE_ID)
        elif self._sessions.second is not None and _is_legacy(message):
            self._second_request(self._sessions.second, id, message, now)
        elif len(open) >= self._most_open:
            self._face.refuse(id, too_many_requests(self._most_open))
        elif self.stalled:
            self._face.refuse(id, CHILD_UNRESPONSIVE)
        else:
            request = self._face.request(id, message, now)
            if isinstance(request, Call):
                self.served = True
                open[id] = request
                if request.capabilities is self._covered and self._sessions.current is not None:
                    self._sessions.current.peer.begin(request, now)
                else:
                    self._begin(request, now)
                if self._face.events or (
                    self._sessions.current is not None and self._sessions.current.peer.events
                ):
                    self.settle(now)
            elif request is not None:
                self.served = True
                self._other_request(request, now)
        return None

    def _second_request(self, second: SecondFace, id: Id, message: Message, now: float) -> None:
        if len(self._open) >= self._most_open:
            second.refuse(id, too_many_requests(self._most_open))
        elif self.stalled:
            second.refuse(id, CHILD_UNRESPONSIVE)
        else:
            second.request(id, message, now)
            self.settle(now)

    def _begin(self, call: Call, now: float) -> None:
        session = self._sessions.current
        if session is None or not session.covers(call):
            self._widen(call, now)
            return
        if call.method in methods.TAKES_INPUT:
            # Any other is covered whatever it declares.
            self._covered = call.capabilities
        session.peer.begin(call, now)

    def _other_request(self, request: Retry | StreamOpened, now: float) -> None:
        if isinstance(request, Retry):
            self._resume(request, now)
        else:
            self._open[request.id] = None
            self.settle(now)

    def _no_method(self, message: Message, now: float) -> None:
        """A modern host has nobody to respond to (basic/transports/stdio, Sending Messages)."""
        if self._sessions.second is not None and self._sessions.second.response(message):
            self.settle(now)
        elif message.says_something:
            self._out.note(Severity.WARNING, "response of a modern host dropped")
        else:
            self._out.to_host.append(invalid_request(message.id))

    def _notification(self, method: str, message: Message, now: float) -> None:
        if method == methods.CANCELLED:
            self.cancel(message, now)
        elif method == methods.ROOTS_LIST_CHANGED and self._sessions.second is not None:
            for session in self._sessions.all():
                session.peer.roots_changed()
        elif method in methods.NOTIFICATIONS or method in methods.REQUESTS or self.stalled:
            # What is known has no business here (translation B.7).
            self._out.note(Severity.DEBUG, "notification of the host dropped", method=method)
        elif self._sessions.current is None:
            self._out.note(Severity.WARNING, "notification of the host lost", method=method)
        else:
            self._sessions.current.peer.notify(method, notification_params(message.params))

    def cancel(self, message: Message, now: float) -> None:
        """The host sends `notifications/cancelled`. Ids may be used again: open requests come
        first, then the last legs of parked calls."""
        try:
            cancelled = read_cancelled(message.params)
        except UNREADABLE:
            return  # malformed: ignored (basic/patterns/cancellation, Error Handling)
        id = cancelled.request_id
        reason = None if cancelled.reason is UNSET else cancelled.reason
        if self._face.streams.cancel(id):
            del self._open[id]
            self.settle(now)
            return
        if self._sessions.second is not None and self._sessions.second.cancel(id):
            del self._open[id]
            self.settle(now)
            return
        call = self._open.pop(id, None) or self._face.exchanges.abandoned(id)
        if call is None:
            return
        self._face.exchanges.over(call)
        self._succession.forget(call)
        for session in self._sessions.all():
            session.peer.cancel(call, reason, now)
        self._out.note(Severity.DEBUG, "call cancelled", id=call.id, child_id=call.child_id)
        self.settle(now)

    # Other sessions ------------------------------------------------------------------------------

    def _widen(self, call: Call, now: float) -> None:
        """A call declares more than the current session was opened with."""
        session = self._sessions.current
        succession = self._succession
        lacking = frozenset[str]()
        if session is not None:
            # With a capability its parts are given up, too.
            wanted = reduced(call.capabilities, succession.given_up)
            lacking = session.lacks(flattened(wanted)) - succession.given_up
        if session is not None and (succession.number is None or not lacking):
            beside = not session.is_idle
            if succession.is_wanted(lacking, 1 + len(self._sessions.draining), beside=beside):
                declared, info = session.declared, self._client_info
                if not beside:
                    self._out.note(
                        Severity.WARNING,
                        "the server is started again to be told of more capabilities;"
                        " what it kept in memory is gone (--one-process keeps it)",
                    )
                    self.lost(session.number, refusals.SESSION_OVER, now)
                succession.begin(declared, call, info, beside=beside, now=now)
            else:
                # Then it is served as it is, and asked only what it declares.
                session.peer.begin(call, now)
                self.settle(now)
                return
        succession.wait(call)

    def succession_ended(self, outcome: Outcome, now: float) -> None:
        """The process that was to take over does so, or not."""
        if isinstance(outcome, Succeeded):
            self.adopt(outcome.number, outcome.server, outcome.declared, self._client_info, now)
            self.held_from_child(outcome.number, outcome.held, now)
        for call in outcome.waiting:
            if isinstance(outcome, Succeeded):
                self._begin(call, now)
            elif self._sessions.current is not None:
                self._sessions.current.peer.begin(call, now)
            else:
                self.fail([call], outcome.refusal)
        if not isinstance(outcome, Succeeded) and self._sessions.current is None:
            self._lost_second(outcome.refusal)
        self.settle(now)

    def _lost_second(self, refusal: Refusal) -> None:
        """There is no session, nor will there be one, for what waits in the handshake half."""
        if self._sessions.second is not None:
            self._sessions.second.lost(refusal)

    def fail(self, calls: Sequence[Call], refusal: Refusal) -> None:
        """Answers calls that no session has begun."""
        for call in calls:
            if self._open.pop(call.id, None) is call:
                self.refuse(call, refusal)

    def fail_waiting(self, refusal: Refusal) -> None:
        """Answers calls that wait for another session."""
        self.fail(self._succession.take_waiting(), refusal)

    def refuse(self, call: Call, refusal: Refusal) -> None:
        """Answers a call with an error of ours, in its own era."""
        if self._sessions.second is not None and call.legacy:
            self._sessions.second.refuse(call.id, refusal)
        else:
            self._face.refuse(call.id, refusal)

    # Between face and peer -----------------------------------------------------------------------

    def _resume(self, retry: Retry, now: float) -> None:
        """A call that was parked has its next leg."""
        call = retry.call
        self._open[call.id] = call
        child = self._face.exchanges.child_of(call)
        session = next(each for each in self._sessions.all() if each.number == child)
        session.peer.resume(call, now)
        for question, answer in retry.answers:
            session.peer.answer(question, answer, now)
        self._face.resumed(call, now)
        if not call.child_id and not call.parked:
            session.peer.proceed(call, now)
        self.settle(now)

    def passed(self, now: float) -> None:
        """Time went by."""
        self._face.exchanges.passed(now)
        for session in self._sessions.all():
            session.peer.passed(now)
        self.settle(now)

    def from_child(
        self, number: int, lines: Sequence[bytes], start: int, ascii: bool, now: float
    ) -> Taken:
        """Handles lines of the process `number` from `start` on, up to and with one that has
        consequences for others."""
        session = self._sessions.of(number)
        assert session is not None
        taken = session.take(lines, start, ascii, now)
        self.settle(now)
        return taken

    def held_from_child(self, number: int, lines: Sequence[bytes], now: float) -> None:
        """Handles lines that the process `number` wrote before it was known what it is."""
        for line in lines:
            self.from_child(number, [line], 0, False, now)

    def settle(self, now: float) -> None:
        """Lets faces and peers tell each other what has happened, until there is nothing more."""
        events = self._face.events
        current = self._sessions.current
        busy = events or self._sessions.draining or self._sessions.second is not None
        if not (busy or (current is not None and current.peer.events)):
            return
        while True:
            if events:
                self._host_event(events.pop(0), now)
                continue
            if self._sessions.second is not None and self._sessions.second.settle(now):
                continue
            session = next((each for each in self._sessions.all() if each.peer.events), None)
            if session is None:
                break
            session.handle(session.peer.events.pop(0), now)
        if self._sessions.draining and self._sessions.current is not None:
            # What one process has asked is known of the other, too.
            self._sessions.current.peer.look(now)
        if self._sessions.second is not None:
            self._sessions.second.withdraw_stale()
        self._sessions.end_drained()

    def _host_event(self, event: HostEvent, now: float) -> None:
        match event:
            case LegEnded(call, id):
                del self._open[id]
                if call.parked:
                    for session in self._sessions.all():
                        session.peer.park(call, now)
            case QuestionRefused(question, code, message):
                for session in self._sessions.all():
                    session.peer.refuse(question, code, message, now)
            case QuestionDropped(question):
                for session in self._sessions.all():
                    session.peer.give_up(question, now)
            case CallExpired(call, certain):
                for session in self._sessions.all():
                    session.peer.leave(call, now)
                    if certain:
                        session.peer.cancel(call, _EXPIRED, now)
            case CallReissued(call):
                child = self._face.exchanges.child_of(call)
                for session in self._sessions.all():
                    if session.number == child:
                        session.peer.begin_again(call, now)
            case StreamEnded(id):
                del self._open[id]
            case WatchOpened(uri):
                if self._sessions.current is not None:
                    self._sessions.current.peer.watch(uri, now)
            case WatchClosed(uri):
                if self._sessions.current is not None:
                    self._sessions.current.peer.unwatch(uri, now)
            case QuestionAnswered() | QuestionFailed():
                pass  # the other face's


def _is_legacy(message: Message) -> bool:
    """Whether a request is of the handshake era: one without an envelope is of no other."""
    return message.method != methods.DISCOVER and not has_envelope(message)
