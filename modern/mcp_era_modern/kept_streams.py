"""The `subscriptions/listen` streams of a modern host over processes of a modern child.

Lives here: what is kept of each stream that the two have between them, whether the next process
honours as much. Does not: the streams over a legacy child, which are ours (streams.py). Spec
2026-07-28, basic/patterns/subscriptions; basic/transports/stdio (Unexpected Termination).
"""

import enum
from typing import Final

import msgspec
from msgspec import Raw

from mcp_era_modern.streams import end_of_stream, tagged_head, tail_of_stream
from mcp_era_wire import methods
from mcp_era_wire.envelope import ABSENT, UNREADABLE, Buffer, Id, encode
from mcp_era_wire.filters import FLAGS
from mcp_era_wire.members import Members, members_of, strings_of
from mcp_era_wire.versions import SUBSCRIPTION_ID_KEY

_LESS: Final = "The server does not offer the same subscriptions any more"


class Passing(enum.Enum):
    """What becomes of a line of the child that concerns a stream."""

    PASSES = enum.auto()
    SWALLOWED = enum.auto()
    """The host has been told already, or otherwise."""
    ENDED = enum.auto()
    """The stream has been ended at the host, and is to be ended at the child."""


class _Meta(msgspec.Struct, frozen=True):
    id: Id = msgspec.field(name=SUBSCRIPTION_ID_KEY)


class _AcknowledgedParams(msgspec.Struct, frozen=True):
    meta: _Meta = msgspec.field(name="_meta")
    notifications: Raw = ABSENT


class _Acknowledged(msgspec.Struct, frozen=True):
    params: _AcknowledgedParams


_read_acknowledged: Final = msgspec.json.Decoder(_Acknowledged).decode


class _Stream(msgspec.Struct, eq=False):
    """One open stream. `honoured` is the filter that the host has been told of."""

    line: bytes
    honoured: Members | None = None
    asked_again: bool = False
    """Whether the present process is not the one that the host has had its answer from."""


class KeptStreams:
    """The streams that outlive a process, `most` at once. Lines are appended to `to_host`."""

    heeded = frozenset({methods.SUBSCRIPTIONS_LISTEN, methods.INITIALIZE})
    """The methods of which a request of the host is of interest: a stream is kept, a handshake is
    not for this child."""
    has_batches = False

    def __init__(self, to_host: list[Buffer], most: int) -> None:
        self._to_host = to_host
        self._most = most
        self.streams: dict[object, _Stream] = {}
        """What is kept, by the id of the request."""

    # While there is a child ----------------------------------------------------------------------

    def requested(self, id: object, method: str, line: bytes) -> None:
        """The host opens a stream; one too many is not kept."""
        is_stream = method == methods.SUBSCRIPTIONS_LISTEN and isinstance(id, int | str)
        if is_stream and len(self.streams) < self._most:
            self.streams[id] = _Stream(line)

    def notified(self, method: str) -> bool:
        """No notification of the host is heeded."""
        return True

    def answered(self, id: object, result: Raw | None) -> bool:
        """The child ends a stream with its result, or (None) with an error. Whether the host is to
        see that: an error would be the second answer."""
        stream = self.streams.pop(id, None)
        if stream is None or result is not None or not stream.asked_again:
            return True
        self._end(id, _LESS)
        return False

    def withdrawn(self, id: object) -> bool:
        """The host closes a stream, or its answer is lost. Whether it was open."""
        return self.streams.pop(id, None) is not None

    def acknowledged(self, line: bytes) -> tuple[Passing, Id | None]:
        """The child acknowledges a stream; also the id of the stream."""
        try:
            params = _read_acknowledged(line).params
        except UNREADABLE:
            return Passing.PASSES, None
        id = params.meta.id
        stream = self.streams.get(id)
        if stream is None:
            return Passing.PASSES, id
        honoured = members_of(params.notifications) or {}
        if not stream.asked_again or stream.honoured is None:
            stream.honoured = honoured
            stream.asked_again = False
            return Passing.PASSES, id
        if not _covers(honoured, stream.honoured):
            del self.streams[id]
            self._end(id, _LESS)
            return Passing.ENDED, id
        stream.asked_again = False
        self._tell(id, stream.honoured)
        return Passing.SWALLOWED, id

    def ended_by_child(self, id: object) -> bool:
        """The child takes a stream back. Whether the host is to see that as it is."""
        stream = self.streams.pop(id, None)
        if stream is None or not stream.asked_again:
            return True
        self._end(id, _LESS)
        return False

    def _tell(self, id: Id, honoured: Members) -> None:
        """Whatever the stream is for may have changed while nobody looked."""
        tail = tail_of_stream(id)
        for flag, (_, method) in FLAGS.items():
            if bytes(honoured.get(flag, ABSENT)) == b"true":
                self._to_host += (tagged_head(method, ABSENT), tail)
        for uri in strings_of(honoured.get("resourceSubscriptions")) or ():
            params = Raw(encode({"uri": uri}))
            self._to_host += (tagged_head(methods.RESOURCE_UPDATED, params), tail)

    # Between two processes -----------------------------------------------------------------------

    def again(self) -> list[tuple[Id, bytes]]:
        """The requests that the next process has to be sent, as they came, with their ids."""
        for stream in self.streams.values():
            stream.asked_again = stream.honoured is not None
        kept = self.streams.items()
        return [(id, stream.line) for id, stream in kept if isinstance(id, int | str)]

    def end_all(self, why: str) -> None:
        """There is no process any more that could serve them."""
        ids = list(self.streams)
        self.streams.clear()
        for id in ids:
            self._end(id, why)

    def _end(self, id: object, why: str) -> None:
        assert isinstance(id, int | str)
        self._to_host.append(end_of_stream(id, why))


def _covers(new: Members, old: Members) -> bool:
    """Whether a filter honours everything that another one does."""
    for name, value in old.items():
        uris = strings_of(value)
        if uris is not None:
            if not set(uris) <= set(strings_of(new.get(name)) or ()):
                return False
        elif bytes(value) not in (b"false", b"null", bytes(new.get(name, ABSENT))):
            return False
    return True
