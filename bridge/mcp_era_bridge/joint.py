"""Joins a host to a child: finds out who speaks what, then lets the fitting pair talk.

Lives here: the routing of every line, and what follows from the verdict and from the end of the
child. Does not: the search (opening.py), the pairs (bridged.py, relayed.py), pipes, processes and
the clock (the shell). Sans-IO: it is fed lines and times, and leaves what is to be done in its
outbox.
"""

from collections.abc import Sequence
from typing import Final

import msgspec
from msgspec import UNSET, Raw

from mcp_era_bridge import refusals
from mcp_era_bridge.bridged import Bridged
from mcp_era_bridge.child_life import ChildLife, Presence
from mcp_era_bridge.child_requests import cancelled_id
from mcp_era_bridge.effects import Ending, Finish, Outbox, Remembered
from mcp_era_bridge.handshaken import Handshaken
from mcp_era_bridge.host_era import era_of_opening
from mcp_era_bridge.host_lines import read_host_line
from mcp_era_bridge.open_requests import Open
from mcp_era_bridge.opening import Opening, Verdict
from mcp_era_bridge.own_requests import OwnRequests
from mcp_era_bridge.relayed import Relayed
from mcp_era_bridge.resumption import Changed, IsModern, Resumed, Resumption
from mcp_era_bridge.settings import Settings
from mcp_era_bridge.succession import Outcome, Succeeded, Succession
from mcp_era_bridge.waiting import Waiting
from mcp_era_modern.exchange import Limits
from mcp_era_modern.face import ModernFace
from mcp_era_modern.kept_streams import KeptStreams
from mcp_era_modern.request_state import Seal
from mcp_era_wire import methods
from mcp_era_wire.deadlines import earliest
from mcp_era_wire.envelope import UNREADABLE, Message, read_message, result_line
from mcp_era_wire.events import Severity
from mcp_era_wire.refusal import Refusal
from mcp_era_wire.versions import Era

_OTHER_REVISION: Final = "The server has been replaced by one of another revision"
_INITIALIZE: Final = b'"%b"' % methods.INITIALIZE.encode()
_MOST_INITIALIZE: Final = 1 << 16
"""The longest line, in bytes, that is looked at for a handshake beside a modern pair."""


class Joint:
    """One host, one server, one child process at a time (`process` is its number).

    `first_id` is where the ids of the bridge's own requests start. `bridge_info` is the bridge's
    own Implementation as JSON, for hosts that do not say who they are. `seal` makes the tokens that
    a host hands back. `remembered` is what an earlier start of the bridge kept of this server.
    """

    def __init__(
        self,
        settings: Settings,
        first_id: int,
        bridge_info: Raw,
        seal: Seal,
        remembered: Remembered | None = None,
    ) -> None:
        self.out = Outbox()
        self._settings = settings
        self._own = OwnRequests(first_id)
        self._name = f"{first_id:x}"
        self._life = ChildLife(self.out)
        self._face = ModernFace(
            self.out.to_host,
            self.out.host_breaks,
            seal,
            Limits(
                settings.most_parked,
                settings.answer_timeout,
                settings.most_streams,
                settings.most_uris,
            ),
        )
        self._open: Open = {}
        self._kept = KeptStreams(self.out.to_host, settings.most_streams)
        self._opening = Opening(
            self.out,
            self._life,
            self._own,
            self._face,
            self._open,
            settings,
            bridge_info,
            remembered,
            self._kept,
        )
        self._succession = Succession(self.out, self._life, self._own, settings, bridge_info)
        self._sessions = Bridged(self.out, self._face, self._open, settings, self._succession)
        self._bridged: Bridged | None = None
        """The sessions, while there is one that takes requests or will."""
        self._relayed: Relayed | None = None
        self._resumption = Resumption(self.out, self._life, self._own, settings)
        self._handshaken: Handshaken | None = None
        self._host: Era | None = None
        self._discovered: Raw | None = None
        """What a modern child has said of itself, if it was asked."""
        self._stalled: set[int] = set()
        """The processes that take nothing of what they are told."""
        self._closing: float | None = None
        self._finished = False

    @property
    def process(self) -> int:
        """The number of the child process that is spoken to."""
        return self._life.number

    # What the shell reports ----------------------------------------------------------------------

    def from_host(self, lines: list[bytes], ascii: bool, now: float) -> None:
        """The host wrote `lines`; `ascii` says that they hold nothing else."""
        if self._finished:
            return
        for line in lines:
            if self._bridged is not None:
                other = self._bridged.from_host(line, ascii, now)
                if other is not None:
                    self._initialize_after_all(line, other, now)
            elif self._handshaken is not None and self._handshaken.has_child:
                self._handshaken.from_host(line, ascii, now)
            elif self._relayed is not None:
                if self._sessions.work:
                    self._cancel_of_old(line, now)
                if not self._initializes(line, ascii, now):
                    self._relayed.from_host(line)
            elif self._resumption.lasts:
                self._resumption.from_host(line, now)
            else:
                cancelled = self._opening.from_host(line, ascii, now)
                if cancelled is not None:
                    # Of a session that still ends what it has begun, or of a stream.
                    self._sessions.cancel(cancelled, now)
                    self._kept.withdrawn(cancelled_id(line))
                self._settle_if_due(now)

    def _initializes(self, line: bytes, ascii: bool, now: float) -> bool:
        """Whether the host of a modern pair opens with a handshake all the same, and a second face
        is opened for it (translation G.2)."""
        if self._host is not Era.MODERN or len(line) > _MOST_INITIALIZE:
            return False
        if _INITIALIZE not in line:
            return False
        message = read_host_line(line, ascii)
        if not isinstance(message, Message) or era_of_opening(message) is not Era.LEGACY:
            return False
        assert message.id is not UNSET and self._relayed is not None
        waiting = Waiting(line, message, message.id)
        if self._relayed.has(message.id):
            self._face.refuse(message.id, refusals.DUPLICATE_ID)
        elif self._discovered is not None:
            self._shake(waiting, self._discovered, now)
        else:
            self._opening.initialize_beside(waiting, now)
            self._settle_if_due(now)
        return True

    def _cancel_of_old(self, line: bytes, now: float) -> None:
        """A cancellation may be meant for a process of before, which ends what it has begun."""
        try:
            message = read_message(line)
        except UNREADABLE:
            return
        if message.method == methods.CANCELLED:
            self._sessions.cancel(message, now)

    def from_child(self, process: int, lines: list[bytes], ascii: bool, now: float) -> None:
        """The child process number `process` wrote `lines`."""
        position = 0
        while position < len(lines) and not self._finished:
            taken = position + 1
            if process == self._succession.number:
                self._line_from_successor(lines[position], ascii, now)
            elif process == self._life.number:
                if self._bridged is not None:
                    taken, strays = self._bridged.from_child(process, lines, position, ascii, now)
                    if strays:
                        self._strays(strays, now)
                elif self._handshaken is not None and self._handshaken.has_child:
                    taken, strays = self._handshaken.take(lines, position, ascii, now)
                    if strays:
                        self._strays(strays, now)
                else:
                    self._line_from_child(lines[position], ascii, now)
            elif self._sessions.serves(process):
                taken, _ = self._sessions.from_child(process, lines, position, ascii, now)
            position = taken
        if self._closing is not None:
            self._finish_if_done()

    def last_from_child(self, process: int, line: bytes, now: float) -> None:
        """The process ended its output with `line`, which it may not have finished."""
        try:
            read_message(line)
        except UNREADABLE:
            self.out.noise.append(line)
        else:
            self.from_child(process, [line], False, now)

    def _line_from_child(self, line: bytes, ascii: bool, now: float) -> None:
        """Handles a line of a child that no session has been opened with by us."""
        if self._relayed is not None:
            strays = self._relayed.from_child(line)
            if strays:
                self._strays(strays, now)
            return
        process = self._life.number
        if self._resumption.lasts:
            items = self._resumption.from_child(line, ascii, now)
            self._go_on_if_resumed(now)
        else:
            items = self._opening.from_child(line, ascii, now)
        for item in items:
            self.from_child(process, [item], False, now)
        self._settle_if_due(now)

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
            self._part(refusals.ERA_CHANGED, now)
        self._settle_if_due(now)

    def _ask_again(self, handshaken: Handshaken, now: float) -> None:
        """The child has opened a session after all, so it takes no modern requests from now on
        (design D2)."""
        handshaken.lost(refusals.ERA_CHANGED)
        self._resumption.take_up(
            handshaken.session, refusals.ERA_CHANGED, now, again=True, probes_first=False
        )

    def _line_from_successor(self, line: bytes, ascii: bool, now: float) -> None:
        self._succession_ended(self._succession.from_child(line, ascii, now), now)

    def _succession_ended(self, outcome: Outcome | None, now: float) -> None:
        if outcome is None:
            return
        self._opening.given_up(self._succession.given_up)
        self._sessions.succession_ended(outcome, now)
        if isinstance(outcome, Succeeded):
            self._opening.succeeded(outcome.declared)
        elif not outcome.was_beside:
            # There is nobody left: the next request asks the server anew.
            self._bridged = None
            self._life.gone()
            self._opening.lost(outcome.refusal)
            self._face.streams.end_all(outcome.refusal.message)
            self._sessions.settle(now)
        self._see_stall()

    def child_started(self, process: int, now: float) -> None:
        """The process runs; what is in `to_child` can be written."""
        if process == self._succession.number:
            self._succession.started(now)
        if process == self.process and self._life.presence is Presence.STARTING:
            self._life.started(now)
            if process != self._succession.number:
                self._opening.child_started(now)
                self._resumption.child_started(now)

    def child_not_started(self, process: int, why: str, now: float) -> None:
        """The command cannot be run; `why` completes "The server could not be started: ..."."""
        if process not in (self.process, self._succession.number):
            return
        self.out.note(Severity.ERROR, f"the server could not be started: {why}")
        refusal = refusals.not_started(why)
        if process == self._succession.number:
            self._succession_ended(self._succession.ended(refusal, now), now)
            if self._closing is not None and not self._finished:
                self._finish_if_done()
        else:
            self._gone(refusal, None, now)

    def child_ended(self, process: int, ending: Ending, now: float) -> None:
        """The process is gone and everything that it wrote has been handled."""
        self._stalled.discard(process)
        if not self._settings.tells_stderr:
            ending = msgspec.structs.replace(ending, stderr=[])
        if process != self.process:
            self._other_ended(process, ending, now)
            return
        if self._life.presence is Presence.ABSENT:
            return
        if self._finished:
            self._life.gone()
            return
        self.out.note(Severity.WARNING, f"the server {ending.how}")
        self._life.failed(now)
        if self._succession.is_beside:
            # There is another process already, or soon: whatever comes waits for it.
            self._sessions.lost(process, refusals.child_exited(ending), now)
            self._succession.take_over()
            self.out.to_others.pop(process, None)
            self._see_stall()
            if self._closing is not None:
                self._finish_if_done()
            return
        if process == self._succession.number:
            refusal = refusals.child_exited(ending)
            self._succession_ended(self._succession.ended(refusal, now), now)
            if self._closing is not None and not self._finished:
                self._finish_if_done()
            return
        if self._opening.ended(ending, now) and not self._life.is_hopeless(now):
            self._settle_if_due(now)
        else:
            self._gone(refusals.child_exited(ending), ending.exit_code, now)

    def _other_ended(self, process: int, ending: Ending, now: float) -> None:
        """A process has ended that is not the one which takes requests."""
        self.out.to_others.pop(process, None)
        if self._finished:
            return
        refusal = refusals.child_exited(ending)
        if process == self._succession.number:
            self.out.note(Severity.WARNING, f"the server {ending.how}")
            self._succession_ended(self._succession.ended(refusal, now), now)
        elif self._sessions.serves(process):
            self.out.note(Severity.WARNING, f"the server {ending.how}")
            self._sessions.lost(process, refusal, now)
        if self._closing is not None:
            self._finish_if_done()

    def child_stalled(self, process: int, stalled: bool) -> None:
        """The process takes nothing of what it is told, or takes something again.

        Meanwhile the host's requests are refused and its notifications dropped, but for
        cancellations.
        """
        event = "the server takes nothing" if stalled else "the server takes something again"
        self.out.note(Severity.WARNING, event)
        if stalled:
            self._stalled.add(process)
        else:
            self._stalled.discard(process)
        self._see_stall()

    def _see_stall(self) -> None:
        """Whether requests can be passed on depends on the process that takes them now."""
        stalled = self.process in self._stalled
        self._sessions.stalled = stalled
        if self._relayed is not None:
            self._relayed.stalled = stalled
        if self._handshaken is not None:
            self._handshaken.stalled = stalled

    def host_ended(self, now: float) -> None:
        """The host closed its end: what it asked for is still answered, nothing new comes."""
        self._closing = now + self._settings.last_words_timeout
        self._finish_if_done()

    @property
    def deadline(self) -> float | None:
        """When `passed` wants to be called, if nothing else happens before."""
        if self._finished:
            return None
        return earliest(
            self._life.deadline,
            self._opening.deadline,
            self._resumption.deadline,
            self._succession.deadline,
            self._sessions.deadline,
            self._handshaken.deadline if self._handshaken is not None else None,
            self._closing,
        )

    def passed(self, now: float) -> None:
        """Time went by; what is due is done."""
        if self._finished:
            return
        self._life.passed(now)
        self._opening.passed(now)
        self._resumption.passed(now)
        self._settle_if_due(now)
        self._succession_ended(self._succession.passed(now), now)
        self._sessions.passed(now)
        if self._handshaken is not None:
            self._handshaken.passed(now)
        if self._closing is not None:
            if now >= self._closing:
                self._part(refusals.NO_LAST_WORDS, now)
                self._opening.fail(refusals.NO_LAST_WORDS)
                self._resumption.fail(refusals.NO_LAST_WORDS)
                self.finish(0)
            else:
                self._finish_if_done()

    # The verdict ---------------------------------------------------------------------------------

    def _settle_if_due(self, now: float) -> None:
        verdict, self._opening.verdict = self._opening.verdict, None
        if verdict is None:
            if self._face.events:
                self._sessions.settle(now)
            return
        self._host = verdict.host
        self._discovered = verdict.settled.discovered
        server = verdict.settled.server
        self.out.note(
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
            relayed = self._resumption.begin(verdict.initialize)
        else:
            relayed = Relayed(self.out, self._own, self._settings.most_open, self._kept)
            relayed.listen_again()
        self._relayed = relayed
        self._see_stall()
        for line in verdict.held:
            relayed.from_child(line)
        for waiting in verdict.waiting:
            if waiting.id is not None and waiting.id == verdict.carried:
                assert verdict.settled.discovered is not None
                self.out.to_host.append(result_line(waiting.id, bytes(verdict.settled.discovered)))
            else:
                relayed.from_host(waiting.line)

    def _bridge(self, verdict: Verdict, now: float) -> None:
        self._kept.end_all(_OTHER_REVISION)
        server = verdict.settled.server
        assert server is not None, "a legacy child is shaken hands with before the verdict"
        bridged = self._bridged = self._sessions
        self._see_stall()
        bridged.adopt(self.process, server, verdict.declared, verdict.client_info, now)
        bridged.held_from_child(self.process, verdict.held, now)
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
        handshaken = self._handshaken = Handshaken(
            self.out,
            self._own,
            self._settings,
            initialize.message.params,
            self._name,
            self._kept,
            self._relayed,
        )
        self._relayed = None
        self._see_stall()
        handshaken.welcome(initialize.id, discovered, now)

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
            self._see_stall()
            return
        self._bridged = None
        self._sessions.lost_all(refusals.SESSION_OVER, now)
        self._opening.initialize_after_all(waiting, now)
        self._settle_if_due(now)

    def _go_on_if_resumed(self, now: float) -> None:
        """A legacy session has found its next process, or there is none for it."""
        outcome, self._resumption.outcome = self._resumption.outcome, None
        match outcome:
            case Resumed():
                self._handshaken = None
                self._kept.end_all(_OTHER_REVISION)
                self._relayed = self._resumption.relayed
                self._see_stall()
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
                self.out,
                self._own,
                self._settings,
                self._resumption.session,
                self._name,
                self._kept,
            )
        lines = self._resumption.rest()
        self._see_stall()
        handshaken.adopt(discovered, now)
        for line in lines:
            handshaken.from_host(line, line.isascii(), now)

    def _end_session(self, refusal: Refusal, **details: object) -> None:
        self.out.note(Severity.ERROR, refusal.message, **details)
        self._resumption.fail(refusal)
        self.finish(1)

    # The end -------------------------------------------------------------------------------------

    def _gone(self, refusal: Refusal, exit_code: int | None, now: float) -> None:
        """There is no child: everything open fails; the next request starts it again.

        `exit_code` is that of a process that ran.
        """
        self._life.gone()
        was_bridged = self._bridged is not None
        self._sessions.lost(self.process, refusal, now)
        self._bridged = None
        relayed, self._relayed = self._relayed, None
        self._opening.lost(refusal)
        again = exit_code is not None and self._closing is None
        if self._handshaken is not None and self._handshaken.has_child:
            self._handshaken.lost(refusal)
            self._resumption.take_up(self._handshaken.session, refusal, now, again=again)
        elif self._resumption.lasts:
            self._resumption.lost(refusal, now, again=again)
        if self._resumption.lasts:
            if self._closing is not None and exit_code is not None:
                self.finish(exit_code)
        elif relayed is not None:
            relayed.lost(refusal)
        self._listen_on(relayed is not None, refusal, now)
        if len(self._face.streams) and not self._finished:
            if was_bridged and self._closing is None:
                # Whoever listens does not ask: the server is started again for it all the same.
                self._opening.reopen(now)
            else:
                self._face.streams.end_all(refusal.message)
        self._sessions.settle(now)
        if self._closing is not None:
            self._finish_if_done()

    def _listen_on(self, was_relayed: bool, refusal: Refusal, now: float) -> None:
        """A stream outlives the child if another one can be started for it."""
        if not self._kept.streams:
            return
        if self._resumption.lasts and self._closing is None:
            return  # they wait for the next process with the session
        if was_relayed and self._closing is None:
            self._opening.reopen(now)
            self._settle_if_due(now)
        else:
            self._kept.end_all(refusal.message)

    def _part(self, refusal: Refusal, now: float) -> None:
        """The pair is no more: what is open between the two fails."""
        self._bridged = None
        self._sessions.lost_all(refusal, now)
        self._sessions.fail(self._succession.take_waiting(), refusal)
        relayed, self._relayed = self._relayed, None
        if relayed is not None:
            relayed.lost(refusal)
        if self._handshaken is not None:
            self._handshaken.lost(refusal)

    def _finish_if_done(self) -> None:
        opening = self._opening.work if self._bridged is None else 0
        relayed = self._relayed.work if self._relayed is not None else 0
        if self._handshaken is not None:
            relayed += self._handshaken.work
        if not (opening or relayed or self._resumption.work or self._sessions.work):
            self.finish(0)

    def finish(self, exit_code: int) -> None:
        """The end has come: nothing is relayed and nothing started any more."""
        if not self._finished:
            self._face.streams.end_all("The server is shut down")
            if self._relayed is None and (
                self._handshaken is None or not self._handshaken.has_child
            ):
                self._kept.end_all("The server is shut down")
            self._finished = True
            self.out.actions.append(Finish(exit_code))
