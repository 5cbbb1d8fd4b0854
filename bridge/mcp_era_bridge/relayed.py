"""The joint of a matched pair: lines go as the bytes that came.

Lives here: which requests of the host are open, so that the end of the child can be reported, and
the one content rule: what is no message does not reach the host. Does not: anything else; ids,
tokens and `_meta` are untouched (translation F).
"""

import json
from collections.abc import Callable, Sequence
from typing import Final, TypeAlias

import msgspec
from msgspec import UNSET, Raw, UnsetType

from mcp_era_bridge.effects import Outbox
from mcp_era_bridge.own_requests import OwnRequests
from mcp_era_bridge.refusals import (
    CHILD_UNRESPONSIVE,
    INVALID_LINE,
    LINE_TOO_LONG,
    too_many_requests,
)
from mcp_era_wire import codes, methods
from mcp_era_wire.dirty import Batch, Blank, Broken, LongLine, examine, message_part
from mcp_era_wire.envelope import ABSENT, UNREADABLE, Id, Message, error_line
from mcp_era_wire.refusal import Refusal

_AnyId: TypeAlias = int | str | float | UnsetType | None


class _Head(msgspec.Struct, frozen=True, gc=False):
    """The little that is read of a line: who it is for. The rest is only skipped over."""

    id: _AnyId = UNSET
    method: str | UnsetType = UNSET
    result: Raw = ABSENT
    error: Raw = ABSENT


_read_head: Final[Callable[[bytes], _Head]] = msgspec.json.Decoder(_Head).decode


class _CancelledParams(msgspec.Struct, frozen=True):
    request_id: Id = msgspec.field(name="requestId")


class _Cancelled(msgspec.Struct, frozen=True):
    params: _CancelledParams


_read_cancelled: Final[Callable[[bytes], _Cancelled]] = msgspec.json.Decoder(_Cancelled).decode


class Relayed:
    """A host and a child of one era.

    `own` are requests of the bridge that the child may still answer; `most_open` is how many
    requests of the host may be open at once.
    """

    def __init__(self, out: Outbox, own: OwnRequests, most_open: int) -> None:
        self._out = out
        self._own = own
        self._most_open = most_open
        self._open: dict[_AnyId, str] = {}
        self.stalled = False
        """Whether the child takes nothing of what it is told."""

    @property
    def work(self) -> int:
        """How many requests of the host are not answered yet; a stream is not work."""
        return sum(method != methods.SUBSCRIPTIONS_LISTEN for method in self._open.values())

    def has(self, id: Id) -> bool:
        """Whether a request of the host with this id is open."""
        return id in self._open

    def from_host(self, line: bytes) -> None:
        """Relays a line of the host: the child judges it, as it would without us."""
        try:
            head = _read_head(line)
        except UNREADABLE:
            if isinstance(line, LongLine):
                self._refuse_long_line(line)
            elif not self.stalled:
                self._out.to_child += (line, b"\n")
            return
        if head.method == methods.CANCELLED:
            if not self._cancel(line) and self.stalled:
                return
        elif head.method is not UNSET and head.id is not UNSET:
            refusal = self._refusal()
            if refusal is not None:
                self._refuse(head.id, refusal)
                return
            self._open[head.id] = head.method
        elif head.method is not UNSET and self.stalled:
            return
        self._out.to_child += (line, b"\n")

    def _refusal(self) -> Refusal | None:
        if len(self._open) >= self._most_open:
            return too_many_requests(self._most_open)
        return CHILD_UNRESPONSIVE if self.stalled else None

    def _cancel(self, line: bytes) -> bool:
        """Nobody waits any more for the request that is named; an answer passes all the same.
        Whether one that is open was named."""
        try:
            id = _read_cancelled(line).params.request_id
        except UNREADABLE:
            return False
        return self._open.pop(id, None) is not None

    def from_child(self, line: bytes) -> Sequence[Message]:
        """Relays a line of the child, unless it is no message. Returned is an answer to a request
        of the bridge's own, which is for the joint."""
        try:
            head = _read_head(line)
        except UNREADABLE:
            self._odd_line(line)
            return ()
        if head.method is UNSET:
            if head.result is ABSENT and head.error is ABSENT:
                self._out.noise.append(line)
                return ()
            if self._own.open and isinstance(head.id, int) and self._own.is_open(head.id):
                return (Message("2.0", head.id, UNSET, ABSENT, head.result, head.error),)
            self._open.pop(head.id, None)
        self._out.to_host += (line, b"\n")
        return ()

    def _odd_line(self, line: bytes) -> None:
        """A batch, noise, or something that a host of the same era may yet make sense of."""
        finding = examine(line, lenient=True)
        match finding:
            case Blank():
                return
            case Broken():
                self._broken_line(line, finding)
            case Message():
                self._out.noise_in_front(line)
                if finding.method is UNSET:
                    self._open.pop(finding.id, None)
                self._out.to_host += (message_part(line), b"\n")
            case Batch(items) if not message_part(line).startswith(b"["):
                for item in items:
                    self.from_child(item)
            case Batch(items) if self._settle(items):
                self._out.to_host += (line, b"\n")
            case _:
                self._out.noise.append(line)

    def _broken_line(self, line: bytes, broken: Broken) -> None:
        """One that a host of the same era may read after all is for the host; any other is noise,
        and whoever waits for it is told so."""
        waited_for = not broken.has_method
        if not broken.too_long and broken.is_message and _some_can_read(line):
            self._out.to_host += (line, b"\n")
            if waited_for:
                self._open.pop(broken.id, None)
            return
        self._out.noise.append(line)
        if waited_for and broken.too_long:
            self._lose(broken.id, LINE_TOO_LONG)
        elif waited_for and broken.id is not UNSET:
            self._lose(broken.id, INVALID_LINE)

    def _settle(self, items: list[bytes]) -> bool:
        """Takes the answers of a batch off the open requests; False if it holds no message."""
        messages = 0
        for item in items:
            try:
                head = _read_head(item)
            except UNREADABLE:
                continue
            if head.method is UNSET:
                if head.result is ABSENT and head.error is ABSENT:
                    continue
                self._open.pop(head.id, None)
            messages += 1
        return messages > 0

    def _refuse_long_line(self, line: LongLine) -> None:
        finding = examine(line, lenient=False)
        id = finding.id if isinstance(finding, Broken) else UNSET
        if id is UNSET:
            self._out.to_host.append(error_line(UNSET, codes.PARSE_ERROR, "Parse error"))
        else:
            self._out.to_host.append(error_line(id, codes.INVALID_REQUEST, "The line is too long"))

    def _lose(self, id: Id | UnsetType, refusal: Refusal) -> None:
        """The answer to `id` is lost, or that to nobody knows whom."""
        for one in [id] if id is not UNSET else list(self._open):
            if self._open.pop(one, None) is not None:
                self._refuse(one, refusal)

    def lost(self, refusal: Refusal) -> None:
        """The child is gone: everything open fails with `refusal`."""
        open, self._open = self._open, {}
        for id in open:
            self._refuse(id, refusal)

    def _refuse(self, id: _AnyId, refusal: Refusal) -> None:
        if isinstance(id, int | str):
            self._out.to_host.append(error_line(id, refusal.code, refusal.message, refusal.data))


def _some_can_read(line: bytes) -> bool:
    """Whether it is JSON to those who know NaN, or nest deeper than we do."""
    try:
        json.loads(line)
    except RecursionError:
        return True
    except ValueError:
        return False
    return True
