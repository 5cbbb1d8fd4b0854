"""Joins a host to a child: finds out who speaks what, then lets the fitting pair talk.

Lives here: the routing of every line, and what follows from the verdict and from the end of the
child. Does not: the search (opening.py), the pairs (bridged.py, relayed.py), pipes, processes and
the clock (the shell). Sans-IO: it is fed lines and times, and leaves what is to be done in its
outbox.
"""

import msgspec
from msgspec import Raw

from mcp_era_bridge import refusals
from mcp_era_bridge.bridged import Bridged
from mcp_era_bridge.child_life import ChildLife, Presence
from mcp_era_bridge.effects import Ending, Finish, Outbox, Remembered
from mcp_era_bridge.open_requests import Open
from mcp_era_bridge.opening import Opening
from mcp_era_bridge.own_requests import OwnRequests
from mcp_era_bridge.pairing import Pairing
from mcp_era_bridge.settings import Settings
from mcp_era_bridge.succession import Outcome, Succeeded, Succession
from mcp_era_modern.exchange import Limits
from mcp_era_modern.face import ModernFace
from mcp_era_modern.kept_streams import KeptStreams
from mcp_era_modern.request_state import Seal
from mcp_era_wire.deadlines import earliest
from mcp_era_wire.envelope import UNREADABLE, read_message
from mcp_era_wire.events import Severity
from mcp_era_wire.refusal import Refusal


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
        kept = KeptStreams(self.out.to_host, settings.most_streams)
        self._opening = Opening(
            self.out,
            self._life,
            self._own,
            self._face,
            self._open,
            settings,
            bridge_info,
            remembered,
            kept,
        )
        self._succession = Succession(self.out, self._life, self._own, settings, bridge_info)
        self._sessions = Bridged(self.out, self._face, self._open, settings, self._succession)
        self._pairing = Pairing(
            self.out,
            self._life,
            self._own,
            settings,
            self._face,
            kept,
            self._opening,
            self._sessions,
            f"{first_id:x}",
        )
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
        self._pairing.from_host(lines, ascii, now)

    def from_child(self, process: int, lines: list[bytes], ascii: bool, now: float) -> None:
        """The child process number `process` wrote `lines`."""
        position = 0
        while position < len(lines) and not self._finished:
            taken = position + 1
            if process == self._succession.number:
                self._line_from_successor(lines[position], ascii, now)
            elif process == self._life.number:
                taken = self._pairing.take(lines, position, ascii, now)
            elif self._sessions.serves(process):
                taken, _ = self._sessions.from_child(process, lines, position, ascii, now)
            position = taken
        self._look_for_the_end()

    def last_from_child(self, process: int, line: bytes, now: float) -> None:
        """The process ended its output with `line`, which it may not have finished."""
        try:
            read_message(line)
        except UNREADABLE:
            self.out.noise.append(line)
        else:
            self.from_child(process, [line], False, now)

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
            self._life.gone()
            self._pairing.sessions_over(outcome.refusal, now)
        self._pairing.see_stall()

    def child_started(self, process: int, now: float) -> None:
        """The process runs; what is in `to_child` can be written."""
        if process == self._succession.number:
            self._succession.started(now)
        if process == self.process and self._life.presence is Presence.STARTING:
            self._life.started(now)
            if process != self._succession.number:
                self._pairing.child_started(now)

    def child_not_started(self, process: int, why: str, now: float) -> None:
        """The command cannot be run; `why` completes "The server could not be started: ..."."""
        if process not in (self.process, self._succession.number):
            return
        self.out.note(Severity.ERROR, f"the server could not be started: {why}")
        refusal = refusals.not_started(why)
        if process == self._succession.number:
            self._succession_ended(self._succession.ended(refusal, now), now)
            self._look_for_the_end()
        else:
            self._gone(refusal, None, now)

    def child_ended(self, process: int, ending: Ending, now: float) -> None:
        """The process is gone and everything that it wrote has been handled."""
        self._pairing.stalled.discard(process)
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
            self._pairing.see_stall()
            self._look_for_the_end()
            return
        if process == self._succession.number:
            refusal = refusals.child_exited(ending)
            self._succession_ended(self._succession.ended(refusal, now), now)
            self._look_for_the_end()
            return
        if self._opening.ended(ending, now) and not self._life.is_hopeless(now):
            self._pairing.settle_if_due(now)
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
        self._look_for_the_end()

    def child_stalled(self, process: int, stalled: bool) -> None:
        """The process takes nothing of what it is told, or takes something again.

        Meanwhile the host's requests are refused and its notifications dropped, but for
        cancellations.
        """
        event = "the server takes nothing" if stalled else "the server takes something again"
        self.out.note(Severity.WARNING, event)
        if stalled:
            self._pairing.stalled.add(process)
        else:
            self._pairing.stalled.discard(process)
        self._pairing.see_stall()

    def child_has_read(self, has_read: bool) -> None:
        """Whether the present process has read all that it was told. Asked before time passes:
        silence says nothing of one that has not."""
        self._pairing.has_read(has_read)

    def host_ended(self, now: float) -> None:
        """The host closed its end: what it asked for is still answered, nothing new comes."""
        self._closing = now + self._settings.last_words_timeout
        self._look_for_the_end()

    @property
    def deadline(self) -> float | None:
        """When `passed` wants to be called, if nothing else happens before."""
        if self._finished:
            return None
        return earliest(
            self._life.deadline,
            self._pairing.deadline,
            self._succession.deadline,
            self._sessions.deadline,
            self._closing,
        )

    def passed(self, now: float) -> None:
        """Time went by; what is due is done."""
        if self._finished:
            return
        self._life.passed(now)
        self._pairing.passed(now)
        self._succession_ended(self._succession.passed(now), now)
        self._sessions.passed(now)
        if self._closing is not None and now >= self._closing:
            self._pairing.fail(refusals.NO_LAST_WORDS, now)
            self.finish(0)
        self._look_for_the_end()

    # The end -------------------------------------------------------------------------------------

    def _gone(self, refusal: Refusal, exit_code: int | None, now: float) -> None:
        """There is no child: everything open fails; the next request starts it again.

        `exit_code` is that of a process that ran.
        """
        self._life.gone()
        self._pairing.gone(refusal, exit_code, now, closing=self._closing is not None)
        self._look_for_the_end()

    def _look_for_the_end(self) -> None:
        """A host that is gone has had its answers, or its session cannot go on."""
        if self._finished:
            return
        if self._pairing.over is not None:
            self.finish(self._pairing.over)
        elif self._closing is not None and not (self._pairing.work or self._sessions.work):
            self.finish(0)

    def finish(self, exit_code: int) -> None:
        """The end has come: nothing is relayed and nothing started any more."""
        if not self._finished:
            self._pairing.finish()
            self._finished = True
            self.out.actions.append(Finish(exit_code))
