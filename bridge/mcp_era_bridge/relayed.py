"""The joint of a matched pair: lines go as the bytes that came.

Lives here: which requests of the host are open, so that the end of the child can be reported, and
the one content rule: what is no message does not reach the host. Does not: what the next process
has to be told (legacy/, host_session.py), what waits for it (resumption.py). Ids, tokens and
`_meta` are untouched (translation F), but for ids of a child that are still in use by one before.
"""

import json
from collections.abc import Callable, Sequence
from typing import Final, TypeAlias

import msgspec
from msgspec import UNSET, Raw, UnsetType

from mcp_era_bridge.child_requests import AnyId, ChildRequests, cancelled_id
from mcp_era_bridge.effects import Outbox
from mcp_era_bridge.host_era import era_of_opening
from mcp_era_bridge.own_requests import OwnRequests
from mcp_era_bridge.refusals import (
    CHILD_UNRESPONSIVE,
    INVALID_LINE,
    LINE_TOO_LONG,
    too_many_requests,
)
from mcp_era_legacy.host_session import HostSession
from mcp_era_modern.kept_streams import KeptStreams, Passing
from mcp_era_wire import codes, methods
from mcp_era_wire.dirty import Batch, Blank, Broken, LongLine, examine, message_part
from mcp_era_wire.envelope import (
    ABSENT,
    UNREADABLE,
    Buffer,
    Id,
    Message,
    encode,
    error_line,
    notification_line,
    number_of,
    read_message,
)
from mcp_era_wire.refusal import Refusal
from mcp_era_wire.versions import Era


class Head(msgspec.Struct, frozen=True, gc=False):
    """The little that is read of a line: who it is for. The rest is only skipped over."""

    id: AnyId = UNSET
    method: str | UnsetType = UNSET
    result: Raw = ABSENT
    error: Raw = ABSENT


read_head: Final[Callable[[bytes], Head]] = msgspec.json.Decoder(Head).decode
_read_items: Final[Callable[[bytes], list[Raw]]] = msgspec.json.Decoder(list[Raw]).decode


_OF_CHILD: Final = frozenset({methods.CANCELLED, methods.SUBSCRIPTIONS_ACKNOWLEDGED})
"""Notifications of a child that concern an open request of either side."""

Recorder: TypeAlias = HostSession | KeptStreams
"""What is kept of a pair for the next process."""


class Relayed:
    """A host and a child of one era.

    `own` are requests of the bridge that the child may still answer; `most_open` is how many
    requests of the host may be open at once, `most_questions` how many of the child are noted.
    """

    def __init__(
        self,
        out: Outbox,
        own: OwnRequests,
        most_open: int,
        recorder: Recorder | None = None,
        most_questions: int = 0,
    ) -> None:
        self._out = out
        self._own = own
        self._recorder = recorder if recorder is not None else KeptStreams(out.to_host, 0)
        self._heeded = self._recorder.heeded
        self._most_open = most_open
        self._open: dict[AnyId, str] = {}
        self._most_questions = most_questions
        session = recorder if isinstance(recorder, HostSession) else HostSession()
        self._asked = ChildRequests(most_questions, session.fresh_number)
        # What every line is held against stands at hand: no call is made for most of them.
        self._questions = self._asked.open
        self._odd = self._asked.odd
        self._to_host = out.to_host
        self._own_open = own.open
        self._streams = self._recorder.streams
        self._dead: set[AnyId] = set()
        """Requests of the host that have failed with a process of before."""
        self._room = most_open
        """How many requests may be open just now."""

    @property
    def stalled(self) -> bool:
        """Whether the child takes nothing of what it is told."""
        return self._room == 0

    @stalled.setter
    def stalled(self, stalled: bool) -> None:
        self._room = 0 if stalled else self._most_open

    @property
    def work(self) -> int:
        """How many requests of the host are not answered yet; a stream is not work, nor are as many
        as the child has questions before the host."""
        calls = sum(method != methods.SUBSCRIPTIONS_LISTEN for method in self._open.values())
        return max(calls - len(self._questions), 0)

    def note_question(self, id: Id) -> None:
        """The child has asked the host something already, under this id."""
        self._asked.note(id)

    def has(self, id: Id) -> bool:
        """Whether a request of the host with this id is open."""
        return id in self._open

    # From the host -------------------------------------------------------------------------------

    def from_host(self, line: bytes) -> bool:
        """Relays a line of the host: the child judges it, as it would without us. Whether it is an
        `initialize` that a modern child has no use for, and is not relayed."""
        try:
            head = read_head(line)
        except UNREADABLE:
            self._odd_line_of_host(line)
            return False
        id = head.id
        method = head.method
        if method is UNSET:
            if id in self._odd:
                answer = self._asked.answered(id, line)
                if answer is None:
                    return False
                line = answer
            else:
                self._questions.pop(id, None)
        elif id is not UNSET:
            open = self._open
            heeded = method in self._heeded
            if heeded and self._is_set_aside(method, line):
                return True
            if len(open) >= self._room:
                self.refuse(id, self._refusal())
                return False
            open[id] = method
            if heeded:
                self._recorder.requested(id, method, line)
        elif not self._passes(method, line):
            return False
        to_child = self._out.to_child
        to_child += (line, b"\n")
        return False

    def _is_set_aside(self, method: str, line: bytes) -> bool:
        if method != methods.INITIALIZE or isinstance(self._recorder, HostSession):
            return False
        try:
            message = read_message(line)
        except UNREADABLE:
            return False  # for the child to judge
        return era_of_opening(message) is Era.LEGACY

    def _refusal(self) -> Refusal:
        if len(self._open) >= self._most_open:
            return too_many_requests(self._most_open)
        return CHILD_UNRESPONSIVE

    def _passes(self, method: str, line: bytes) -> bool:
        """Whether a notification of the host is for this child, and can be passed on."""
        if method == methods.CANCELLED:
            return self._cancel(line)
        if method in self._heeded:
            # Said once, and nothing works without it: it passes in a stall, too.
            return self._recorder.notified(method)
        return not (self.stalled or (method == methods.PROGRESS and self._asked.only_dead))

    def _cancel(self, line: bytes) -> bool:
        """Nobody waits any more for the request that is named; an answer passes all the same.
        Whether the child is told: one that is stalled only of what is open there."""
        id = cancelled_id(line)
        if id is not None and self._close(id):
            return True
        return not self.stalled and id not in self._dead

    def note(self, id: Id, method: str, line: bytes) -> None:
        """The host has sent this request, and the child has it already."""
        self._open[id] = method
        if method in self._heeded:
            self._recorder.requested(id, method, line)

    def _close(self, id: AnyId) -> bool:
        """The request is not open any more, without a proper answer. Whether it was."""
        method = self._open.pop(id, None)
        if method in self._heeded:
            self._recorder.withdrawn(id)
        return method is not None

    def _odd_line_of_host(self, line: bytes) -> None:
        if isinstance(line, LongLine):
            self._refuse_long_line(line)
        elif self._recorder.has_batches and line.lstrip().startswith(b"["):
            self._batch_of_host(line)
        elif not self.stalled:
            self._out.to_child += (line, b"\n")

    def _batch_of_host(self, line: bytes) -> None:
        """Passes a batch on, without what the child must not see of it."""
        to_child = self._out.to_child
        before = len(to_child)
        items = items_of(line)
        for item in items or ():
            if item.startswith(b"["):
                to_child += (item, b"\n")  # there is no batch in a batch: for the child to say
            else:
                self.from_host(item)
        self._join(line, items, to_child, before)

    def _join(self, line: bytes, items: list[bytes] | None, out: list[Buffer], before: int) -> None:
        """Makes a batch again of the lines behind `before`: the same one if nothing is amiss."""
        passed = out[before::2]
        del out[before:]
        if passed == items or items is None:
            out += (line, b"\n")
        elif passed:
            out += (b"[%b]" % b",".join(passed), b"\n")

    # From the child ------------------------------------------------------------------------------

    def from_child(self, line: bytes) -> Sequence[Message]:
        """Relays a line of the child, unless it is no message. Returned are answers to requests
        of the bridge's own, which are for the joint."""
        try:
            head = read_head(line)
        except UNREADABLE:
            return self._odd_line(line)
        id = head.id
        method = head.method
        if method is UNSET:
            if head.result is ABSENT and head.error is ABSENT:
                self._out.noise.append(line)
                return ()
            if self._own_open and isinstance(id, int) and self._own.is_open(id):
                return (Message("2.0", id, UNSET, ABSENT, head.result, head.error),)
            asked = self._open.pop(id, None)
            if asked is None:
                id = _respelled(id)
                asked = self._open.pop(id, None)
            if asked in self._heeded and not self._answered(id, head):
                return ()
        elif id is not UNSET:
            if id in self._odd or len(self._questions) >= self._most_questions:
                line = self._asked.asked(id, line)
            else:
                self._questions[id] = id
        elif (self._questions or self._streams) and method in _OF_CHILD:
            changed = self._about_request(method, line)
            if changed is None:
                return ()
            line = changed
        to_host = self._to_host
        to_host += (line, b"\n")
        return ()

    def _answered(self, id: AnyId, head: Head) -> bool:
        """A request that is heeded has its answer. Whether that passes."""
        answer = Message("2.0", UNSET, UNSET, ABSENT, head.result, head.error)
        return self._recorder.answered(id, None if answer.is_failure else answer.result)

    def _about_request(self, method: str, line: bytes) -> bytes | None:
        """A notification about an open request; the line that is for the host, if it is."""
        recorder = self._recorder
        if isinstance(recorder, HostSession):
            return self._asked.withdrawn(line) if method == methods.CANCELLED else line
        if method == methods.CANCELLED:
            id = cancelled_id(line)
            if id in self._streams:
                self._open.pop(id, None)
            return line if recorder.ended_by_child(id) else None
        passing, id = recorder.acknowledged(line)
        if passing is Passing.ENDED:
            self._open.pop(id, None)
            params = encode({"requestId": id})
            self._out.to_child += (notification_line(methods.CANCELLED, params)[:-1], b"\n")
        return line if passing is Passing.PASSES else None

    def listen_again(self) -> None:
        """Sends the next process the requests of the streams that have outlived the one before."""
        if isinstance(self._recorder, KeptStreams):
            for id, line in self._recorder.again():
                self._open[id] = methods.SUBSCRIPTIONS_LISTEN
                self._out.to_child += (line, b"\n")

    def _odd_line(self, line: bytes) -> Sequence[Message]:
        """A batch, noise, or something that a host of the same era may yet make sense of."""
        finding = examine(line, lenient=True)
        match finding:
            case Blank():
                pass
            case Broken():
                self._broken_line(line, finding)
            case Message():
                return self._message_on_line(line, finding)
            case Batch(items) if not message_part(line).startswith(b"["):
                return [stray for item in items for stray in self.from_child(item)]
            case Batch(items) if any(_is_message(item) for item in items):
                return self._batch_of_child(line, items)
            case _:
                self._out.noise.append(line)
        return ()

    def _message_on_line(self, line: bytes, message: Message) -> Sequence[Message]:
        """A message with something around it, or which only the forgiving can read."""
        self._out.noise_in_front(line)
        part = message_part(line)
        if _is_message(part):
            return self.from_child(part)
        if message.method is UNSET:
            self._close(message.id)
        self._out.to_host += (part, b"\n")
        return ()

    def _broken_line(self, line: bytes, broken: Broken) -> None:
        """One that a host of the same era may read after all is for the host; any other is noise,
        and whoever waits for it is told so."""
        waited_for = not broken.has_method
        if not broken.too_long and broken.is_message and _some_can_read(line):
            self._out.to_host += (line, b"\n")
            if waited_for:
                self._close(broken.id)
            return
        self._out.noise.append(line)
        if waited_for and broken.too_long:
            self._lose(broken.id, LINE_TOO_LONG)
        elif waited_for and broken.id is not UNSET:
            self._lose(broken.id, INVALID_LINE)

    def _batch_of_child(self, line: bytes, items: list[bytes]) -> Sequence[Message]:
        """Passes a batch on, without what the host must not see of it."""
        to_host = self._out.to_host
        before = len(to_host)
        strays: list[Message] = []
        for item in items:
            if _is_message(item):
                strays += self.from_child(item)
            else:
                to_host += (item, b"\n")  # for the host to make sense of
        self._join(line, items, to_host, before)
        return strays

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
            if self._close(one):
                self.refuse(one, refusal)

    def lost(self, refusal: Refusal) -> None:
        """The child is gone: everything open fails with `refusal`, but for kept streams."""
        open, self._open = self._open, {}
        for id in open:
            if id not in self._streams:
                self.refuse(id, refusal)
        if len(self._dead) > self._most_open:
            self._dead.clear()
        self._dead |= open.keys()
        self._asked.lost(self._out.to_host)
        self.stalled = False

    def answer_to_dead(self, id: AnyId) -> None:
        """The host answers while there is no child: it can only mean one of before."""
        self._asked.answered(id, b"")

    def refuse(self, id: AnyId, refusal: Refusal) -> None:
        """Answers a request of the host, if anybody can with an id like this."""
        if isinstance(id, int | str):
            self._out.to_host.append(error_line(id, refusal.code, refusal.message, refusal.data))


def items_of(line: bytes) -> list[bytes] | None:
    """The items of a batch, or None if it is none."""
    try:
        return [bytes(item) for item in _read_items(line)]
    except UNREADABLE:
        return None


def _is_message(item: bytes) -> bool:
    try:
        head = read_head(item)
    except UNREADABLE:
        return False
    return head.method is not UNSET or head.result is not ABSENT or head.error is not ABSENT


def _some_can_read(line: bytes) -> bool:
    """Whether it is JSON to those who know NaN, or nest deeper than we do."""
    try:
        json.loads(line)
    except RecursionError:
        return True
    except ValueError:
        return False
    return True


def _respelled(id: AnyId) -> AnyId:
    """The same id in its other type: some children answer "7" to 7, and some hosts take it."""
    if isinstance(id, str):
        number = number_of(id)
        return number if number is not None else id
    return str(id) if isinstance(id, int) else id
