"""One session with a legacy child process, joined to the face of the modern host.

Lives here: what the child says on its way to the host. Does not: which session a request belongs to
(bridged.py), either era's wire format (modern/, legacy/). Spec 2025-11-25, basic/lifecycle.
"""

from collections.abc import Sequence
from typing import Final, TypeAlias

from msgspec import UNSET, Raw

from mcp_era_bridge.child_lines import read_child_line
from mcp_era_bridge.effects import Outbox
from mcp_era_bridge.open_requests import Open
from mcp_era_bridge.refusals import INVALID_LINE, LINE_TOO_LONG
from mcp_era_bridge.second_face import SecondFace
from mcp_era_legacy.handshake import of_use
from mcp_era_legacy.peer import LegacyPeer
from mcp_era_legacy.questions import Asking
from mcp_era_modern.face import ModernFace
from mcp_era_wire import methods
from mcp_era_wire.capabilities import flattened
from mcp_era_wire.dirty import Batch, Blank, Broken, Noise
from mcp_era_wire.envelope import ABSENT, UNREADABLE, Message, read_message, sound_utf8
from mcp_era_wire.events import (
    Asked,
    Call,
    Changed,
    ChildEvent,
    Completed,
    Dropped,
    ElicitationCompleted,
    Failed,
    Logged,
    Notified,
    Progressed,
    Refused,
    Server,
    Severity,
    Stray,
    Watched,
    Withdrawn,
)
from mcp_era_wire.refusal import Refusal

Taken: TypeAlias = tuple[int, Sequence[Message]]
"""How far lines have been handled, and responses in the last of them that answer no call: they may
be for the joint."""


_MOST_COVERAGE: Final = 64
"""How many sets of capabilities are remembered, as they were declared."""


class Session:
    """The child process `number`. It answered `initialize` with `server`, after `declared` (modern
    capabilities as JSON) had been declared to it."""

    def __init__(
        self,
        out: Outbox,
        face: ModernFace,
        open: Open,
        number: int,
        server: Server,
        declared: Raw,
        asking: Asking,
        *,
        strict_logs: bool,
    ) -> None:
        self._out = out
        self._face = face
        self._open = open
        self.number = number
        self.server = server
        self.version = server.version
        self.declared = declared
        self._names = flattened(declared)
        self._coverage: dict[bytes, bool] = {}
        self.peer = LegacyPeer(out.to_child, server, asking, strict_logs=strict_logs)
        self.second: SecondFace | None = None
        """The host's face of the handshake era, if it speaks both."""
        self.draining = False
        """Whether another session has taken over, and this one only ends what it has begun."""

    @property
    def is_idle(self) -> bool:
        """Whether nothing is under way here, or waits for the host."""
        return self.peer.is_idle and not self._face.exchanges.concern(self.number)

    @property
    def is_untouched(self) -> bool:
        """Whether the child has been asked nothing in this session, and has asked nothing."""
        return self.is_idle and self.peer.is_untouched

    def lacks(self, names: frozenset[str]) -> frozenset[str]:
        """Those of the capabilities, by name, that the child could use and has not been told of."""
        return of_use(names, self.version) - self._names

    def covers(self, call: Call) -> bool:
        """Whether the child was told of all that a call declares, as far as it matters."""
        if call.method not in methods.TAKES_INPUT:
            return True
        key = bytes(call.capabilities)
        covered = self._coverage.get(key)
        if covered is None:
            if len(self._coverage) >= _MOST_COVERAGE:
                self._coverage.clear()
            covered = self._coverage[key] = not self.lacks(flattened(call.capabilities))
        return covered

    # From the child ------------------------------------------------------------------------------

    def take(self, lines: Sequence[bytes], start: int, ascii: bool, now: float) -> Taken:
        """Handles lines of the child from `start` on, up to and with one that has consequences.

        Written out, as this is the way of every result.
        """
        plain_answer, open = self.peer.plain_answer, self._open
        complete = self._face.complete if self.second is None else self._complete
        events, more_events = self.peer.events, self._face.events
        for index in range(start, len(lines)):
            line = lines[index]
            if not (ascii or sound_utf8(line)):
                return index + 1, self._other_from_child(line, ascii, now)
            try:
                message = read_message(line)
            except UNREADABLE:
                return index + 1, self._other_from_child(line, ascii, now)
            if message.method is UNSET:
                if message.result is ABSENT:
                    return index + 1, self._other_from_child(line, ascii, now)
                call = plain_answer(message)
                if call is not None:
                    del open[call.id]
                    complete(call, message.result)
                    continue
            event = self.peer.receive(message, now)
            if isinstance(event, Progressed) and self.second is None:
                self._face.progress(event.call, event.progress, event.params)
            elif event is not None:
                if isinstance(event, Stray):
                    return index + 1, (event.message,)
                self.handle(event, now)
            if events or more_events:
                return index + 1, ()
        return len(lines), ()

    def _other_from_child(self, line: bytes, ascii: bool, now: float) -> Sequence[Message]:
        """Everything that is not a plain result."""
        read = read_child_line(line, ascii)
        match read:
            case Message():
                self._out.noise_in_front(line)
                return self._event(self.peer.receive(read, now), now)
            case Batch(items):
                return [stray for item in items for stray in self._item(item, now)]
            case Broken():
                self._out.noise.append(line)
                self._broken(read, now)
            case Noise():
                self._out.noise.append(line)
            case Blank():
                pass
        return ()

    def _item(self, item: bytes, now: float) -> Sequence[Message]:
        """Handles one message of a batch, with what follows from it."""
        strays = self.take([item], 0, False, now)[1]
        while self.peer.events:
            self.handle(self.peer.events.pop(0), now)
        return strays

    def _event(self, event: ChildEvent | None, now: float) -> Sequence[Message]:
        if isinstance(event, Stray):
            return (event.message,)
        if event is not None:
            self.handle(event, now)
        return ()

    def _complete(self, call: Call, result: Raw) -> None:
        """The child answered a call of either face with a result."""
        if self.second is not None and call.legacy:
            self.second.complete(call, result)
        else:
            self._face.complete(call, result)

    def handle(self, event: ChildEvent, now: float) -> None:
        """What the child does reaches the host."""
        if self.second is not None and self._handled_by(self.second, event, now):
            return
        match event:
            case Completed(call) | Failed(call) if self._face.exchanges.ended(event):
                pass  # it is kept for the next leg
            case Completed(call, result):
                del self._open[call.id]
                self._face.complete(call, result)
            case Failed(call, error):
                if not self._face.wants_urls(call, error, self.number, now):
                    del self._open[call.id]
                    self._face.fail(call, error)
            case Progressed(call, progress, params):
                self._face.progress(call, progress, params)
            case Asked(question):
                # What was asked a moment ago may have been settled since, with its call.
                if self.peer.is_open(question):
                    self._face.exchanges.ask(question, self.number, now)
            case Withdrawn(question):
                self._face.exchanges.withdraw(question)
            case Logged(params):
                self._face.log(params)
            case Changed(method) | Dropped(method):
                if isinstance(event, Dropped) or self.draining or not self._changed(event):
                    self._out.note(
                        Severity.DEBUG, "notification of the child dropped", method=method
                    )
            case Watched(uri, accepted):
                if not self.draining:
                    self._face.streams.watched(uri, accepted)
            case ElicitationCompleted(id, _):
                self._face.exchanges.elicitation_completed(id)
            case Notified(method, params):
                self._face.notify(method, params)
            case Refused(method, why):
                self._out.note(
                    Severity.INFO, "request of the child refused", method=method, why=why
                )
            case Stray():
                pass  # for the joint

    def _handled_by(self, second: SecondFace, event: ChildEvent, now: float) -> bool:
        """Whether something that the child does is for the other face alone."""
        match event:
            case Completed(call, result) if call.legacy:
                del self._open[call.id]
                second.complete(call, result)
            case Failed(call, error) if call.legacy:
                del self._open[call.id]
                second.fail(call, error)
            case Progressed(call, progress, params) if call.legacy:
                second.progress(call, progress, params)
            case Asked(question) if question.call is not None and question.call.legacy:
                if self.peer.is_open(question):
                    second.ask(question, now)
            case Withdrawn(question) if question.call is not None and question.call.legacy:
                second.withdraw(question)
            case ElicitationCompleted(_, params):
                second.elicitation_completed(params)
                return False
            case Watched(uri, accepted) if not self.draining:
                second.watched(uri, accepted)
                return False
            case _:
                return False
        return True

    def _changed(self, change: Changed) -> bool:
        """Whether somebody is told of a change: once in the one era, for each stream in the
        other."""
        told = self.second is not None and self.second.changed(change)
        return self._face.streams.changed(change) or told

    def _broken(self, broken: Broken, now: float) -> None:
        """A line that cannot be read is the answer to somebody, or to nobody knows whom."""
        if broken.id is not UNSET:
            call = self.peer.give_up_call(broken.id, now)
            lost = [call] if call is not None else []
        else:
            lost = self.peer.lost_answers(now)
        refusal = LINE_TOO_LONG if broken.too_long else INVALID_LINE
        self.fail([call for call in lost if not call.parked], refusal)
        for call in lost:
            if call.parked:
                # The next leg is told.
                self._face.exchanges.ended(Failed(call, refusal.error))

    # The end -------------------------------------------------------------------------------------

    def lost(self, refusal: Refusal) -> None:
        """The child is gone: everything open fails with `refusal`."""
        calls = self._face.exchanges.child_gone(self.number)
        self.fail([*(call for call in self.peer.lost() if not call.parked), *calls], refusal)

    def fail(self, calls: Sequence[Call], refusal: Refusal) -> None:
        """Answers calls that the host waits for."""
        for call in calls:
            self._face.exchanges.over(call)
            if self._open.pop(call.id, None) is call:
                if self.second is not None and call.legacy:
                    self.second.fail(call, refusal.error)
                else:
                    self._face.refuse(call.id, refusal)
