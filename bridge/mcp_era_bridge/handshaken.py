"""The joint of a legacy host and a modern child: the session that only the host has.

Lives here: which requests of the host are open, what its face and the child's peer have to tell
each other, and modern requests of a host that speaks both eras, which are relayed beside. Does not:
what the child says (modern_child.py), either era's wire format (legacy/, modern/), the search for
the child's era (inquiry.py). Spec
2025-11-25, basic/lifecycle, basic/utilities/cancellation; 2026-07-28, basic/versioning.
"""

from collections.abc import Sequence
from typing import Final, Self

from msgspec import UNSET, Raw

from mcp_era_bridge.effects import Outbox
from mcp_era_bridge.host_era import has_envelope
from mcp_era_bridge.host_lines import (
    invalid_request,
    notification_params,
    read_cancelled,
    read_host_line,
)
from mcp_era_bridge.modern_child import ModernChild
from mcp_era_bridge.open_requests import Open
from mcp_era_bridge.own_requests import OwnRequests
from mcp_era_bridge.refusals import (
    CHILD_UNRESPONSIVE,
    DUPLICATE_ID,
    too_many_requests,
)
from mcp_era_bridge.relayed import Relayed
from mcp_era_bridge.session import Taken
from mcp_era_bridge.settings import Settings
from mcp_era_legacy.face import BATCHES_IN, LegacyFace
from mcp_era_legacy.host_session import HostSession
from mcp_era_modern.call_lines import Envelope
from mcp_era_modern.kept_streams import KeptStreams
from mcp_era_modern.peer import ModernPeer
from mcp_era_wire import methods
from mcp_era_wire.capabilities import united
from mcp_era_wire.dirty import Batch, examine
from mcp_era_wire.envelope import UNREADABLE, Id, Message, encode, read_message
from mcp_era_wire.events import (
    HostEvent,
    QuestionAnswered,
    QuestionFailed,
    Severity,
    WatchClosed,
    WatchOpened,
)
from mcp_era_wire.members import members_of
from mcp_era_wire.refusal import Refusal
from mcp_era_wire.versions import PROTOCOL_VERSION_KEY

_ENVELOPE_MARK: Final = PROTOCOL_VERSION_KEY.encode()
_ROOTS: Final = Raw(b'{"roots":{}}')


class Handshaken:
    """One legacy host, which opened with `initialize` (its params), and one modern server.

    `name` makes the ids of questions unlike any other's. `relayed` is there if the host has spoken
    the modern era too; `kept` are the streams that it has opened then.
    """

    def __init__(
        self,
        out: Outbox,
        own: OwnRequests,
        settings: Settings,
        initialize: Raw,
        name: str,
        kept: KeptStreams,
        relayed: Relayed | None = None,
    ) -> None:
        self._out = out
        self._own = own
        self._settings = settings
        self._kept = kept
        self.relayed = relayed
        self.face = LegacyFace(out.to_host, out.host_breaks, initialize, name, settings.most_uris)
        self._initialize_id: Id | None = None
        """The id of the host's `initialize`, if the present process has been sent it."""
        self._open: Open = {}
        self._child: ModernChild | None = None
        self.stalled = False
        """Whether the child takes nothing of what it is told."""

    @property
    def work(self) -> int:
        """How many requests of the host are not answered yet, but for those that wait for it."""
        relayed = self.relayed.work if self.relayed is not None else 0
        child = self._child
        return len(self._open) + relayed - (child.peer.asking if child is not None else 0)

    @property
    def deadline(self) -> float | None:
        """When `passed` wants to be called."""
        return self._child.peer.deadline if self._child is not None else None

    @property
    def has_child(self) -> bool:
        """Whether there is a process that the host is joined to."""
        return self._child is not None

    @classmethod
    def of(
        cls,
        out: Outbox,
        own: OwnRequests,
        settings: Settings,
        session: HostSession,
        name: str,
        kept: KeptStreams,
    ) -> Self:
        """One whose host has been served by another process before."""
        handshaken = cls(out, own, settings, session.initialize, name, kept)
        handshaken.face.take_up(session)
        return handshaken

    @property
    def session(self) -> HostSession:
        """What the next process has to go by."""
        return self.face.session

    # The child's process -------------------------------------------------------------------------

    def welcome(self, id: Id, discovered: Raw, now: float) -> None:
        """The child has said what it is: the host's `initialize` is answered."""
        self._initialize_id = id
        self.face.welcome(id, discovered, self._settings.server_name)
        self.adopt(discovered, now)

    def adopt(self, discovered: Raw, now: float) -> None:
        """From now on the present process serves the host."""
        capabilities = self.face.client.capabilities
        if self._settings.roots is not None:
            capabilities = Raw(encode(united(capabilities, _ROOTS)))
        offered = (members_of(discovered) or {}).get("capabilities", Raw(b"{}"))
        peer = ModernPeer(
            self._out.to_child,
            self._own.fresh_id,
            self._own.was_given,
            offered,
            Envelope(self.face.client.info, capabilities),
            most_questions=self._settings.most_questions,
            patience=self._settings.answer_timeout,
        )
        self._child = ModernChild(
            self._out,
            self._open,
            self.face,
            peer,
            self._settings.roots,
            self.relayed,
            self._own,
        )
        self._child.initialize_id = self._initialize_id
        peer.level = self.face.level
        if self.face.initialized:
            # Another process was listened to before.
            peer.listening.open(now, again=True)
        if self.face.uris:
            peer.listening.resume(self.face.uris, now)
        self.settle(now)

    def lost(self, refusal: Refusal) -> None:
        """The process is gone: what is open there fails."""
        self._initialize_id = None
        child, self._child = self._child, None
        if child is not None:
            lost = child.peer.lost()
            while child.peer.events:
                child.handle(child.peer.events.pop(0))
            child.fail(lost, refusal)
        for id in self.face.fail_subscriptions(refusal):
            del self._open[id]
        if self.relayed is not None:
            self.relayed.lost(refusal)

    def is_disowned_by(self, message: Message) -> bool:
        """Whether the child answers the host's `initialize` with a session: it was slow, and has
        been taken for modern meanwhile."""
        asked = self._initialize_id
        return asked is not None and message.id == asked and not message.is_failure

    # From the host -------------------------------------------------------------------------------

    def from_host(self, line: bytes, ascii: bool, now: float) -> None:
        """Handles a line of the host."""
        if ascii:
            try:
                message = read_message(line)
            except UNREADABLE:
                pass
            else:
                if message.says_something:
                    self.message_from_host(line, message, now)
                    return
        if self.face.version == BATCHES_IN:
            found = examine(line, lenient=False)
            if isinstance(found, Batch):
                self._batch(found.items, now)
                return
        self._other_line(line, ascii, now)

    def _other_line(self, line: bytes, ascii: bool, now: float) -> None:
        message = read_host_line(line, ascii)
        if isinstance(message, Message):
            self.message_from_host(line, message, now)
        elif message is not None:
            self.face.refuse_line(message)

    def _batch(self, items: list[bytes], now: float) -> None:
        if not items:
            self._out.to_host.append(invalid_request(UNSET, "A batch holds something"))
            return
        self.face.batches.begin()
        for item in items:
            if item.startswith(b"["):
                self.face.refuse_line(invalid_request(UNSET))
            else:
                self._other_line(item, False, now)
        self.face.batches.end()

    def message_from_host(self, line: bytes, message: Message, now: float) -> None:
        """As from_host, for a message that has been read."""
        child = self._child
        assert child is not None, "while there is no child the host is not heard here"
        peer = child.peer
        id = message.id
        method = message.method
        if method is UNSET:
            if not self.face.answered(message):
                self._out.note(Severity.DEBUG, "answer to nothing dropped", id=repr(id))
        elif id is UNSET:
            self._notification(peer, line, method, message, now)
        elif _ENVELOPE_MARK in line and has_envelope(message):
            self._modern_request(child, line, id)
        else:
            self._request(peer, id, message, now)
        self.settle(now)

    def _request(self, peer: ModernPeer, id: Id, message: Message, now: float) -> None:
        face = self.face
        face.batches.add(id)
        if id in self._open or (self.relayed is not None and self.relayed.has(id)):
            face.refuse(id, DUPLICATE_ID)
            return
        refusal = self._refusal()
        if refusal is not None:
            face.refuse(id, refusal)
            return
        call = face.request(id, message)
        if call is not None:
            self._open[id] = call
            peer.begin(call, now)
        else:
            peer.level = face.level
            if face.is_subscribing(id):
                self._open[id] = None
            for other in face.take_settled():
                del self._open[other]

    def _refusal(self) -> Refusal | None:
        most = self._settings.most_open
        if len(self._open) + (self.relayed.work if self.relayed is not None else 0) >= most:
            return too_many_requests(most)
        return CHILD_UNRESPONSIVE if self.stalled else None

    def _modern_request(self, child: ModernChild, line: bytes, id: Id) -> None:
        """The host speaks the other era as well, which is the child's own (translation G.2)."""
        if self.relayed is None:
            self.relayed = Relayed(self._out, self._own, self._settings.most_open, self._kept)
            child.relayed = self.relayed
        self.relayed.stalled = self.stalled
        if id in self._open:
            self.face.batches.add(id)
            self.face.refuse(id, DUPLICATE_ID)
        else:
            self.relayed.from_host(line)

    def _notification(
        self, peer: ModernPeer, line: bytes, method: str, message: Message, now: float
    ) -> None:
        if method == methods.CANCELLED:
            self._cancel(peer, line, message, now)
        elif method == methods.INITIALIZED:
            if not self.face.initialized:
                self.face.initialized = True
                peer.listening.open(now)
        elif method in methods.NOTIFICATIONS or method in methods.REQUESTS or self.stalled:
            # A modern child has no use for what is known (translation E.3).
            self._out.note(Severity.DEBUG, "notification of the host dropped", method=method)
        else:
            peer.notify(method, notification_params(message.params))

    def _cancel(self, peer: ModernPeer, line: bytes, message: Message, now: float) -> None:
        try:
            cancelled = read_cancelled(message.params)
        except UNREADABLE:
            return  # malformed: ignored (basic/utilities/cancellation, Error Handling)
        id = cancelled.request_id
        if id not in self._open:
            if self.relayed is not None and self.relayed.has(id):
                self.relayed.from_host(line)
            return
        call = self._open.pop(id)
        if self.face.cancel(id) or call is None:
            return
        reason = None if cancelled.reason is UNSET else cancelled.reason
        peer.cancel(call, reason, now)
        self.face.questions.forget(call)

    # From the child ------------------------------------------------------------------------------

    def take(self, lines: Sequence[bytes], start: int, ascii: bool, now: float) -> Taken:
        """Handles lines of the child from `start` on, up to and with one that is no plain
        result."""
        if self._child is None:
            return len(lines), ()
        taken = self._child.take(lines, start, ascii, now)
        self.settle(now)
        return taken

    def settle(self, now: float) -> None:
        """Lets the face and the peer tell each other what has happened."""
        child = self._child
        face = self.face
        while face.events or (child is not None and child.peer.events):
            if face.events:
                self._host_event(face.events.pop(0), now)
            elif child is not None:
                child.handle(child.peer.events.pop(0))

    def _host_event(self, event: HostEvent, now: float) -> None:
        if self._child is None:
            return  # what waits is begun with the next process
        peer = self._child.peer
        match event:
            case QuestionAnswered(question, answer):
                peer.answer(question, answer, now)
            case QuestionFailed(question, error):
                peer.fail(question, error, now)
            case WatchOpened(uri):
                peer.watch(uri, now)
            case WatchClosed(uri):
                peer.unwatch(uri, now)
            case _:
                raise AssertionError(event)

    def passed(self, now: float) -> None:
        """Time went by."""
        if self._child is not None:
            self._child.peer.passed(now)
            self.settle(now)
