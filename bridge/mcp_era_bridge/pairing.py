"""Who talks to whom: the pair that host and child make, and how one becomes another.

Lives here: the routing of lines, what follows from the verdict on both eras, from a host that
changes its mind and from a session that finds its next process. Does not: the search (opening.py),
what a pair does with its lines (bridged.py, handshaken.py, relayed.py), the life of the processes
(joint.py). Spec 2026-07-28, basic/versioning (Backward Compatibility).
"""

from collections.abc import Sequence
from typing import Final

from msgspec import UNSET, Raw

from mcp_era_bridge import refusals
from mcp_era_bridge.bridged import Bridged
from mcp_era_bridge.child_life import ChildLife
from mcp_era_bridge.child_requests import cancelled_id
from mcp_era_bridge.effects import Outbox
from mcp_era_bridge.handshaken import Handshaken
from mcp_era_bridge.host_lines import read_host_line
from mcp_era_bridge.opening import Opening, Verdict
from mcp_era_bridge.own_requests import OwnRequests
from mcp_era_bridge.relayed import Relayed
from mcp_era_bridge.resumption import Changed, IsModern, Resumed, Resumption
from mcp_era_bridge.settings import Settings
from mcp_era_bridge.waiting import Waiting
from mcp_era_modern.face import ModernFace
from mcp_era_modern.kept_streams import KeptStreams
from mcp_era_wire import methods
from mcp_era_wire.deadlines import earliest
from mcp_era_wire.envelope import UNREADABLE, Message, read_message, result_line
from mcp_era_wire.events import Severity
from mcp_era_wire.refusal import Refusal
from mcp_era_wire.versions import Era

_OTHER_REVISION: Final = "The server has been replaced by one of another revision"
_SHUT_DOWN: Final = "The server is shut down"


class Pairing:
    """One host and the child process that takes its requests.

    `sessions` are those with legacy children; `name` makes the ids of questions unlike any other's.
    """

    def __init__(
        self,
        out: Outbox,
        life: ChildLife,
        own: OwnRequests,
        settings: Settings,
        face: ModernFace,
        kept: KeptStreams,
        opening: Opening,
        sessions: Bridged,
        name: str,
    ) -> None:
        self._out = out
        self._life = life
        self._own = own
        self._settings = settings
        self._face = face
        self._kept = kept
        self._opening = opening
        self._sessions = sessions
        self._name = name
        self._bridged: Bridged | None = None
        """The sessions, while there is one that takes requests or will."""
        self._relayed: Relayed | None = None
        self._handshaken: Handshaken | None = None
        self._resumption = Resumption(out, life, own, settings)
        self._host: Era | None = None
        self._discovered: Raw | None = None
        """What a modern child has said of itself, if it was asked."""
        self.stalled: set[int] = set()
        """The processes that take nothing of what they are told."""
        self.over: int | None = None
        """The exit code, if the session of the host cannot go on."""

    @property
    def work(self) -> int:
        """How many requests of the host are not answered yet, but for those to legacy children."""
        opening = self._opening.work if self._bridged is None else 0
        relayed = self._relayed.work if self._relayed is not None else 0
        handshaken = self._handshaken.work if self._handshaken is not None else 0
        return opening + relayed + handshaken + self._resumption.work

    @property
    def deadline(self) -> float | None:
        """When `passed` wants to be called."""
        handshaken = self._handshaken.deadline if self._handshaken is not None else None
        return earliest(self._opening.deadline, self._resumption.deadline, handshaken)

    def passed(self, now: float) -> None:
        """Time went by."""
        self._opening.passed(now)
        self._resumption.passed(now)
        self.settle_if_due(now)
        if self._handshaken is not None:
            self._handshaken.passed(now)

    def see_stall(self) -> None:
        """Whether requests can be passed on depends on the process that takes them now."""
        stalled = self._life.number in self.stalled
        self._sessions.stalled = stalled
        if self._relayed is not None:
            self._relayed.stalled = stalled
        if self._handshaken is not None:
            self._handshaken.stalled = stalled

    def has_read(self, has_read: bool) -> None:
        """Whether the process has read all that it was told."""
        self._opening.has_read(has_read)

    def child_started(self, now: float) -> None:
        """The process runs."""
        self._opening.child_started(now)
        self._resumption.child_started(now)

    # Lines ---------------------------------------------------------------------------------------

    def from_host(self, lines: list[bytes], ascii: bool, now: float) -> None:
        """The host wrote lines; `ascii` says that they hold nothing else."""
        for line in lines:
            relayed = self._relayed
            if relayed is not None:
                if self._sessions.work:
                    self._cancel_of_old(line, now)
                if relayed.from_host(line):
                    self._initialize_beside(relayed, line, ascii, now)
            elif self._bridged is not None:
                other = self._bridged.from_host(line, ascii, now)
                if other is not None:
                    self._initialize_after_all(line, other, now)
            else:
                self._from_other_host(line, ascii, now)

    def _from_other_host(self, line: bytes, ascii: bool, now: float) -> None:
        if self._handshaken is not None and self._handshaken.has_child:
            self._handshaken.from_host(line, ascii, now)
        elif self._resumption.lasts:
            self._resumption.from_host(line, now)
            if self._kept.streams:
                self._kept.withdrawn(cancelled_id(line))
        else:
            cancelled = self._opening.from_host(line, ascii, now)
            if cancelled is not None:
                # Of a session that still ends what it has begun, or of a stream.
                self._sessions.cancel(cancelled, now)
                self._kept.withdrawn(cancelled_id(line))
            self.settle_if_due(now)

    def take(self, lines: list[bytes], position: int, ascii: bool, now: float) -> int:
        """Handles lines of the process from `position` on; returns how far."""
        strays: Sequence[Message]
        if self._bridged is not None:
            taken, strays = self._bridged.from_child(self._life.number, lines, position, ascii, now)
        elif self._handshaken is not None and self._handshaken.has_child:
            taken, strays = self._handshaken.take(lines, position, ascii, now)
        elif self._relayed is not None:
            taken, strays = position + 1, self._relayed.from_child(lines[position])
        else:
            self._line_before_verdict(lines[position], ascii, now)
            return position + 1
        if strays:
            self._strays(strays, now)
        return taken

    def _line_before_verdict(self, line: bytes, ascii: bool, now: float) -> None:
        """Handles a line of a process that makes no pair with the host yet."""
        process = self._life.number
        if self._resumption.lasts:
            items = self._resumption.from_child(line, ascii, now)
            self._go_on_if_resumed(now)
        else:
            items = self._opening.from_child(line, ascii, now)
        for item in items:
            if process == self._life.number:
                self.take([item], 0, False, now)
        self.settle_if_due(now)

    def _strays(self, strays: Sequence[Message], now: float) -> None:
        """Responses that answer no request of the host: perhaps one of the bridge's own."""
        number = self._life.number
        for stray in strays:
            if self._handshaken is not None and self._handshaken.is_disowned_by(stray):
                self._ask_again(self._handshaken, now)
                return
            if not self._resumption.took(stray):
                self._opening.stray(stray, now)
        if number != self._life.number:
            self.part(refusals.ERA_CHANGED, now)
        self.settle_if_due(now)

    def _cancel_of_old(self, line: bytes, now: float) -> None:
        """A cancellation may be meant for a process of before, which ends what it has begun."""
        try:
            message = read_message(line)
        except UNREADABLE:
            return
        if message.method == methods.CANCELLED:
            self._sessions.cancel(message, now)

    # The verdict ---------------------------------------------------------------------------------

    def settle_if_due(self, now: float) -> None:
        verdict, self._opening.verdict = self._opening.verdict, None
        if verdict is None:
            if self._face.events:
                self._sessions.settle(now)
            return
        self._host = verdict.host
        self._discovered = verdict.settled.discovered
        server = verdict.settled.server
        self._out.note(
            Severity.INFO,
            "eras settled",
            host=verdict.host.value,
            child=verdict.settled.era.value,
            version=server.version if server is not None else None,
        )
        if verdict.host is verdict.settled.era:
            self._relay(verdict, now)
        elif verdict.host is Era.MODERN:
            self._bridge(verdict, now)
        else:
            self._handshake(verdict, now)

    def _relay(self, verdict: Verdict, now: float) -> None:
        # These were the old process's; what this one offers is for it and the host to settle.
        self._face.streams.end_all(_OTHER_REVISION)
        self._sessions.settle(now)
        if verdict.host is Era.LEGACY:
            assert verdict.initialize is not None
            self._kept.end_all(_OTHER_REVISION)
            relayed = self._resumption.begin(verdict.initialize)
        else:
            relayed = Relayed(self._out, self._own, self._settings.most_open, self._kept)
            relayed.listen_again()
        self._relayed = relayed
        self.see_stall()
        for id in verdict.questions:
            relayed.note_question(id)
        for line in verdict.held:
            relayed.from_child(line)
        for waiting in verdict.waiting:
            if waiting.id is not None and waiting.id == verdict.carried:
                assert verdict.settled.discovered is not None
                self._out.to_host.append(result_line(waiting.id, bytes(verdict.settled.discovered)))
            else:
                # One of them may be an `initialize` (translation G.2).
                self.from_host([waiting.line], waiting.line.isascii(), now)

    def _bridge(self, verdict: Verdict, now: float) -> None:
        self._kept.end_all(_OTHER_REVISION)
        server = verdict.settled.server
        assert server is not None, "a legacy child is shaken hands with before the verdict"
        bridged = self._bridged = self._sessions
        self.see_stall()
        bridged.adopt(self._life.number, server, verdict.declared, verdict.client_info, now)
        bridged.held_from_child(self._life.number, verdict.held, now)
        for waiting in verdict.waiting:
            other = bridged.message_from_host(waiting.message, now)
            if other is not None:
                self._initialize_after_all(waiting.line, other, now)

    def _handshake(self, verdict: Verdict, now: float) -> None:
        """The host has opened with a handshake that the child knows nothing of."""
        discovered, initialize = verdict.settled.discovered, verdict.initialize
        assert discovered is not None and initialize is not None
        self._shake(initialize, discovered, now)
        for waiting in verdict.waiting:
            assert self._handshaken is not None
            self._handshaken.message_from_host(waiting.line, waiting.message, now)

    def _shake(self, initialize: Waiting, discovered: Raw, now: float) -> None:
        """Answers a handshake in the name of a modern child. What goes between the two without one
        goes on beside."""
        assert initialize.id is not None
        relayed = self._relayed
        if relayed is None and self._kept.streams:
            # They have outlived the process with which there was no handshake yet.
            relayed = Relayed(self._out, self._own, self._settings.most_open, self._kept)
            relayed.listen_again()
        handshaken = self._handshaken = Handshaken(
            self._out,
            self._own,
            self._settings,
            initialize.message.params,
            self._name,
            self._kept,
            relayed,
        )
        self._relayed = None
        self.see_stall()
        handshaken.welcome(initialize.id, discovered, now)

    # A host that changes its mind -----------------------------------------------------------------

    def _initialize_beside(self, relayed: Relayed, line: bytes, ascii: bool, now: float) -> None:
        """The host of a modern pair opens with a handshake all the same: a second face is opened
        for it (translation G.2)."""
        message = read_host_line(line, ascii)
        if not isinstance(message, Message):
            if message is not None:
                self._out.to_host.append(message)
            return
        assert message.id is not UNSET
        waiting = Waiting(line, message, message.id)
        if relayed.has(message.id):
            self._face.refuse(message.id, refusals.DUPLICATE_ID)
        elif self._discovered is not None:
            self._shake(waiting, self._discovered, now)
        else:
            self._opening.initialize_beside(waiting, now)
            self.settle_if_due(now)

    def _initialize_after_all(self, line: bytes, message: Message, now: float) -> None:
        """A modern host whose child is legacy sends `initialize` (translation G.2)."""
        id = message.id
        assert self._bridged is not None and id is not UNSET
        waiting = Waiting(line, message, id)
        if self._bridged.served:
            self._bridged.initialize(waiting, self._name)
            return
        result = self._bridged.answered(message)
        if result is not None:
            self._bridged.hand_over()
            self._bridged = None
            self._host = Era.LEGACY
            self._relayed = self._resumption.begin_answered(waiting, result)
            self.see_stall()
            return
        self._bridged = None
        self._sessions.lost_all(refusals.SESSION_OVER, now)
        self._opening.initialize_after_all(waiting, now)
        self.settle_if_due(now)

    # A session that finds its next process --------------------------------------------------------

    def _ask_again(self, handshaken: Handshaken, now: float) -> None:
        """The child has opened a session after all, so it takes no modern requests from now on
        (design D2)."""
        handshaken.lost(refusals.ERA_CHANGED)
        self._resumption.take_up(
            handshaken.session, refusals.ERA_CHANGED, now, again=True, probes_first=False
        )

    def _go_on_if_resumed(self, now: float) -> None:
        """A legacy session has found its next process, or there is none for it."""
        outcome, self._resumption.outcome = self._resumption.outcome, None
        match outcome:
            case Resumed():
                self._handshaken = None
                self._kept.end_all(_OTHER_REVISION)
                self._relayed = self._resumption.relayed
                self.see_stall()
                self._resumption.catch_up()
            case Changed(lacking):
                self._end_session(refusals.SESSION_CHANGED, lacking=lacking)
            case IsModern(discovered):
                self._resume_handshaken(discovered, now)
            case None:
                pass

    def _resume_handshaken(self, discovered: Raw, now: float) -> None:
        """The session goes on with a process that knows nothing of sessions."""
        handshaken = self._handshaken
        if handshaken is None:
            handshaken = self._handshaken = Handshaken.of(
                self._out,
                self._own,
                self._settings,
                self._resumption.session,
                self._name,
                self._kept,
            )
        lines = self._resumption.rest()
        if handshaken.relayed is not None:
            handshaken.relayed.listen_again()
        self.see_stall()
        handshaken.adopt(discovered, now)
        for line in lines:
            handshaken.from_host(line, line.isascii(), now)

    def _end_session(self, refusal: Refusal, **details: object) -> None:
        self._out.note(Severity.ERROR, refusal.message, **details)
        self._resumption.fail(refusal)
        self.over = 1

    # The end -------------------------------------------------------------------------------------

    def gone(self, refusal: Refusal, exit_code: int | None, now: float, *, closing: bool) -> None:
        """There is no process any more: what is open there fails. `exit_code` is that of one which
        ran; nothing is started again for a host that is `closing`."""
        was_bridged = self._bridged is not None
        self._sessions.lost(self._life.number, refusal, now)
        self._bridged = None
        relayed, self._relayed = self._relayed, None
        self._opening.lost(refusal)
        again = exit_code is not None and not closing
        if self._handshaken is not None and self._handshaken.has_child:
            self._handshaken.lost(refusal)
            self._resumption.take_up(self._handshaken.session, refusal, now, again=again)
        elif self._resumption.lasts:
            self._resumption.lost(refusal, now, again=again)
        if self._resumption.lasts:
            if closing and exit_code is not None:
                self.over = exit_code
        elif relayed is not None:
            relayed.lost(refusal)
        # Whoever listens does not ask: the server is started again for it all the same.
        if self._kept.streams and (closing or not self._resumption.lasts):
            if relayed is not None and not closing:
                self._opening.reopen(now)
                self.settle_if_due(now)
            else:
                self._kept.end_all(refusal.message)
        if len(self._face.streams):
            if was_bridged and not closing:
                self._opening.reopen(now)
            else:
                self._face.streams.end_all(refusal.message)
        self._sessions.settle(now)

    def sessions_over(self, refusal: Refusal, now: float) -> None:
        """There is no session with a legacy child any more: the next request asks it anew."""
        self._bridged = None
        self._opening.lost(refusal)
        self._face.streams.end_all(refusal.message)
        self._sessions.settle(now)

    def part(self, refusal: Refusal, now: float) -> None:
        """The pair is no more: what is open between the two fails."""
        self._bridged = None
        self._sessions.lost_all(refusal, now)
        self._sessions.fail_waiting(refusal)
        relayed, self._relayed = self._relayed, None
        if relayed is not None:
            relayed.lost(refusal)
        if self._handshaken is not None:
            self._handshaken.lost(refusal)

    def fail(self, refusal: Refusal, now: float) -> None:
        """Nothing is answered any more but with `refusal`."""
        self.part(refusal, now)
        self._opening.fail(refusal)
        self._resumption.fail(refusal)

    def finish(self) -> None:
        """The end has come: whoever listens is told, unless the child still can."""
        self._face.streams.end_all(_SHUT_DOWN)
        if self._relayed is None and (self._handshaken is None or not self._handshaken.has_child):
            self._kept.end_all(_SHUT_DOWN)
