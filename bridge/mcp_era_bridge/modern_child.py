"""A modern child process, joined to the face of a legacy host.

Lives here: what the child says on its way to the host. Does not: what the host asks for
(handshaken.py), either era's wire format (legacy/, modern/). Spec 2026-07-28, basic/index,
basic/patterns/mrtr.
"""

from collections.abc import Sequence

from msgspec import UNSET, Raw

from mcp_era_bridge.child_lines import read_child_line
from mcp_era_bridge.effects import Outbox
from mcp_era_bridge.open_requests import Open
from mcp_era_bridge.own_requests import OwnRequests
from mcp_era_bridge.refusals import INVALID_LINE, LINE_TOO_LONG
from mcp_era_bridge.relayed import Relayed
from mcp_era_bridge.session import Taken
from mcp_era_legacy.face import LegacyFace
from mcp_era_modern.peer import ModernPeer
from mcp_era_wire import methods
from mcp_era_wire.dirty import Batch, Blank, Broken, Noise
from mcp_era_wire.envelope import UNREADABLE, Id, Message, read_message, sound_utf8
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
    QuestionAnswered,
    Refused,
    Severity,
    Stray,
    Watched,
    Withdrawn,
)
from mcp_era_wire.refusal import Refusal


class ModernChild:
    """One process. The host's open requests are in `open`; `roots` is a ListRootsResult, if the
    user has given one. `relayed` is there if the host has spoken the child's own era too."""

    def __init__(
        self,
        out: Outbox,
        open: Open,
        face: LegacyFace,
        peer: ModernPeer,
        roots: Raw | None,
        relayed: Relayed | None,
        own: OwnRequests,
    ) -> None:
        self._out = out
        self._open = open
        self._face = face
        self.peer = peer
        self._roots = roots
        self._own = own
        self.relayed = relayed
        self.initialize_id: Id | None = None
        """The id of the host's `initialize`, if the process has been sent it."""

    def take(self, lines: Sequence[bytes], start: int, ascii: bool, now: float) -> Taken:
        """Handles lines of the child from `start` on, up to and with one that is no plain result.

        Written out, as this is the way of every result.
        """
        plain_answer, complete, open = self.peer.plain_answer, self._face.complete, self._open
        for index in range(start, len(lines)):
            line = lines[index]
            try:
                message = read_message(line) if ascii or sound_utf8(line) else None
            except UNREADABLE:
                message = None
            call = plain_answer(message) if message is not None else None
            if call is None or message is None:
                return index + 1, self.from_child(line, ascii, now)
            del open[call.id]
            complete(call, message.result)
        return len(lines), ()

    def from_child(self, line: bytes, ascii: bool, now: float) -> Sequence[Message]:
        """Handles a line of the child. Returned are responses that answer nothing here: they may
        be for the joint."""
        if ascii or sound_utf8(line):
            try:
                message = read_message(line)
            except UNREADABLE:
                pass
            else:
                if message.says_something or message.id is not UNSET:
                    return self._message(line, message, now)
        return self._odd_line(line, ascii, now)

    def _message(self, line: bytes, message: Message, now: float) -> Sequence[Message]:
        event = self.peer.receive(message, now)
        if event is None:
            return ()
        if isinstance(event, Stray):
            return self._stray(line, event.message)
        if isinstance(event, Dropped) and self.relayed is not None:
            # It is nothing of ours, so it is for the host's other half.
            return self.relayed.from_child(line)
        self.handle(event)
        return ()

    def _stray(self, line: bytes, message: Message) -> Sequence[Message]:
        """A response to nothing that is open here: the host's other half may wait for it, or the
        joint."""
        id = message.id
        opens = self.initialize_id is not None and id == self.initialize_id
        if opens and message.is_failure:
            return ()  # late, and nothing new: the host has its answer
        if self.relayed is None or opens:
            return (message,)
        if self._own.was_given(id) and not self._own.is_open(id):
            return ()  # late
        return self.relayed.from_child(line)

    def _odd_line(self, line: bytes, ascii: bool, now: float) -> Sequence[Message]:
        read = read_child_line(line, ascii)
        match read:
            case Message():
                self._out.noise_in_front(line)
                return self._message(line, read, now)
            case Batch(items):
                return [stray for item in items for stray in self.from_child(item, False, now)]
            case Broken():
                self._broken(line, read, now)
            case Noise():
                self._out.noise.append(line)
            case Blank():
                pass
        return ()

    def _broken(self, line: bytes, broken: Broken, now: float) -> None:
        """A line that cannot be read is the answer to somebody, or to nobody knows whom."""
        refusal = LINE_TOO_LONG if broken.too_long else INVALID_LINE
        if broken.id is UNSET:
            self.fail(self.peer.lost_answers(), refusal)
        elif self.peer.knows(broken.id):
            call = self.peer.give_up_call(broken.id, refusal.error, now)
            self.fail([call] if call is not None else [], refusal)
            self._out.noise.append(line)
            return
        if self.relayed is not None:
            self.relayed.from_child(line)
        else:
            self._out.noise.append(line)

    def handle(self, event: ChildEvent) -> None:
        """What the child does reaches the host."""
        match event:
            case Completed(call, result):
                if self._open.pop(call.id, None) is call:
                    self._face.complete(call, result)
            case Failed(call, error):
                if self._open.pop(call.id, None) is call:
                    self._face.fail(call, error)
            case Progressed(call, progress, params):
                self._face.progress(call, progress, params)
            case Asked(question):
                self._ask(event)
            case Withdrawn(question):
                self._face.withdraw(question)
            case Logged(params):
                self._face.log(params)
            case Changed():
                self._face.changed(event)
            case Watched(uri, accepted, error):
                for id in self._face.watched(uri, accepted, error):
                    del self._open[id]
            case Notified(method, params):
                self._face.notify(method, params)
            case Refused(method, why):
                self._out.note(
                    Severity.WARNING, "request of the child refused", method=method, why=why
                )
            case Dropped(method):
                self._out.note(Severity.DEBUG, "notification of the child dropped", method=method)
            case ElicitationCompleted() | Stray():
                pass  # not in this era; for the joint

    def _ask(self, asked: Asked) -> None:
        question = asked.question
        roots = self._roots
        if question.method == methods.ROOTS_LIST and roots is not None:
            self._face.events.append(QuestionAnswered(question, roots))
        else:
            self._face.ask(question)

    def fail(self, calls: Sequence[Call], refusal: Refusal) -> None:
        """Answers calls that the host waits for."""
        for call in calls:
            if self._open.pop(call.id, None) is call:
                self._face.fail(call, refusal.error)
