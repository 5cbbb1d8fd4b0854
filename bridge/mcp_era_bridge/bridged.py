"""The joint of a modern host and a legacy child: the face, the peer, and what is open between.

Lives here: the host's open ids, the routing of cancellations, what the host is told when a call is
lost. Does not: either era's wire format (modern/, legacy/), the search for the child's era
(inquiry.py). Spec 2026-07-28, basic/patterns/cancellation; basic/transports/stdio (Cancellation).
"""

from collections.abc import Sequence
from typing import Final

import msgspec
from msgspec import UNSET, Raw, UnsetType

from mcp_era_bridge.child_lines import read_child_line
from mcp_era_bridge.effects import Outbox
from mcp_era_bridge.host_era import has_envelope
from mcp_era_bridge.host_lines import invalid_request, read_host_line
from mcp_era_bridge.refusals import (
    CHILD_UNRESPONSIVE,
    DUPLICATE_ID,
    INVALID_LINE,
    LINE_TOO_LONG,
    too_many_requests,
)
from mcp_era_legacy.peer import LegacyPeer, unknown_request
from mcp_era_modern.face import ModernFace, Refusal
from mcp_era_modern.request_meta import without_envelope
from mcp_era_wire import methods
from mcp_era_wire.dirty import Batch, Blank, Broken, Noise
from mcp_era_wire.envelope import (
    ABSENT,
    UNREADABLE,
    Id,
    Message,
    encode,
    read_message,
    sound_utf8,
)
from mcp_era_wire.events import (
    Asked,
    Call,
    ChildEvent,
    Completed,
    Failed,
    Notified,
    Progressed,
    Server,
    Severity,
    Stray,
)
from mcp_era_wire.members import members_of


class Cancelled(msgspec.Struct, frozen=True, rename="camel"):
    """The params of `notifications/cancelled`."""

    request_id: Id
    reason: Raw | UnsetType = UNSET


read_cancelled: Final = msgspec.json.Decoder(Cancelled).decode


class Bridged:
    """One modern host with one legacy child.

    `most_open` is how many requests of the host may be open at once.
    """

    def __init__(self, out: Outbox, face: ModernFace, server: Server, most_open: int) -> None:
        self._out = out
        self._face = face
        self._peer = LegacyPeer(out.to_child, server)
        self._most_open = most_open
        self._open: dict[Id, Call] = {}
        self.stalled = False
        """Whether the child takes nothing of what it is told."""
        self.served = False
        """Whether the host has used more than `server/discover`."""
        face.ready(server)
        self._peer.open()

    @property
    def work(self) -> int:
        """How many requests of the host are not answered yet."""
        return len(self._open)

    # From the host -------------------------------------------------------------------------------

    def from_host(self, line: bytes, ascii: bool) -> Message | None:
        """Handles a line of the host. Returned is an `initialize` of the handshake era, if that is
        what it was: the joint decides about it."""
        if ascii:
            try:
                return self.message_from_host(read_message(line))
            except UNREADABLE:
                pass
        message = read_host_line(line, ascii)
        if isinstance(message, Message):
            return self.message_from_host(message)
        if message is not None:
            self._out.to_host.append(message)
        return None

    def message_from_host(self, message: Message) -> Message | None:
        """As from_host, for a message that has been read."""
        id = message.id
        method = message.method
        if method is UNSET:
            self._no_method(message)
            return None
        if id is UNSET:
            self._notification(method, message)
            return None
        if method == methods.INITIALIZE and not has_envelope(message):
            return message
        if id in self._open:
            self._face.refuse(id, DUPLICATE_ID)
        elif len(self._open) >= self._most_open:
            self._face.refuse(id, too_many_requests(self._most_open))
        elif self.stalled:
            self._face.refuse(id, CHILD_UNRESPONSIVE)
        else:
            call = self._face.request(id, message)
            if call is not None:
                self.served = True
                self._open[id] = call
                self._peer.begin(call)
        return None

    def _no_method(self, message: Message) -> None:
        """A host has nobody to respond to (basic/transports/stdio, Sending Messages)."""
        if message.says_something:
            self._out.note(Severity.WARNING, "response of a modern host dropped")
        else:
            self._out.to_host.append(invalid_request(message.id))

    def _notification(self, method: str, message: Message) -> None:
        if method == methods.CANCELLED:
            self._cancel(message)
        elif method in methods.NOTIFICATIONS or method in methods.REQUESTS or self.stalled:
            # What is known has no business here (translation B.7).
            self._out.note(Severity.DEBUG, "notification of the host dropped", method=method)
        else:
            self._peer.notify(method, _without_envelope(message.params))

    def _cancel(self, message: Message) -> None:
        try:
            cancelled = read_cancelled(message.params)
        except UNREADABLE:
            return  # malformed: ignored (basic/patterns/cancellation, Error Handling)
        call = self._open.pop(cancelled.request_id, None)
        if call is not None:
            reason = cancelled.reason
            self._peer.cancel(call, None if reason is UNSET else reason)
            self._out.note(Severity.DEBUG, "call cancelled", id=call.id, child_id=call.child_id)

    # From the child ------------------------------------------------------------------------------

    def from_child(self, line: bytes, ascii: bool) -> Sequence[Message]:
        """Handles a line of the child. Returned are responses in it that answer no call: they may
        be for the joint."""
        if ascii or sound_utf8(line):
            try:
                message = read_message(line)
            except UNREADABLE:
                return self._other_from_child(line, ascii)
            if message.result is not ABSENT or message.method is not UNSET:
                event = self._peer.receive(message)
                if type(event) is not Completed:
                    return self._event(event)
                call = event.call
                del self._open[call.id]
                self._face.complete(call, event.result)
                return ()
        return self._other_from_child(line, ascii)

    def _other_from_child(self, line: bytes, ascii: bool) -> Sequence[Message]:
        """Everything that is not a plain result."""
        read = read_child_line(line, ascii)
        match read:
            case Message():
                self._out.noise_in_front(line)
                return self._event(self._peer.receive(read))
            case Batch(items):
                return [stray for item in items for stray in self.from_child(item, False)]
            case Broken():
                self._out.noise.append(line)
                self._broken(read)
            case Noise():
                self._out.noise.append(line)
            case Blank():
                pass
        return ()

    def _event(self, event: ChildEvent | None) -> Sequence[Message]:
        match event:
            case Completed(call, result):
                del self._open[call.id]
                self._face.complete(call, result)
            case Failed(call, error):
                del self._open[call.id]
                self._face.fail(call, error)
            case Progressed(call, progress, params):
                self._face.progress(call, progress, params)
            case Asked(id, method):
                self._peer.refuse(id, *unknown_request(method))
                self._out.note(Severity.INFO, "request of the child refused", method=method)
            case Notified(method, params):
                self._notified(method, params)
            case Stray(message):
                return (message,)
            case None:
                pass
        return ()

    def _notified(self, method: str, params: Raw) -> None:
        # One that the host knows it gets only if it asked for it (translation C).
        if method in methods.NOTIFICATIONS or method in methods.REQUESTS:
            self._out.note(Severity.DEBUG, "notification of the child dropped", method=method)
        else:
            self._face.notify(method, params)

    def _broken(self, broken: Broken) -> None:
        """A line that cannot be read is the answer to somebody, or to nobody knows whom."""
        if broken.id is not UNSET:
            call = self._peer.give_up(broken.id)
            lost = [call] if call is not None else []
        else:
            lost = self._peer.lost()
        self._fail(lost, LINE_TOO_LONG if broken.too_long else INVALID_LINE)

    def lost(self, refusal: Refusal) -> None:
        """The child is gone: everything open fails with `refusal`."""
        self._fail(self._peer.lost(), refusal)

    def _fail(self, calls: list[Call], refusal: Refusal) -> None:
        for call in calls:
            del self._open[call.id]
            self._face.refuse(call.id, refusal)


def _without_envelope(params: Raw) -> bytes:
    """The params of a host's notification as a legacy server may see them."""
    members = members_of(params)
    if members is None or "_meta" not in members:
        return bytes(params)
    meta = without_envelope(members.pop("_meta"))
    if meta is not None:
        members["_meta"] = meta
    return encode(members) if members else b""
