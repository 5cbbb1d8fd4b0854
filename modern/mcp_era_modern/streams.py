"""The `subscriptions/listen` streams of a modern host, over a legacy child's own notifications.

Lives here: filters, acknowledgements, which stream gets which notification, the end of a stream.
Does not: the child's `resources/subscribe` (legacy/, watches.py), which child it is. Spec
2026-07-28, basic/patterns/subscriptions; basic/patterns/cancellation.
"""

import enum
from typing import Final

import msgspec
from msgspec import Raw

from mcp_era_wire import codes, methods
from mcp_era_wire.envelope import ABSENT, UNREADABLE, Buffer, Id, encode, encode_id
from mcp_era_wire.events import Changed, HostEvent, Server, StreamEnded, WatchClosed, WatchOpened
from mcp_era_wire.filters import FLAGS, declares, read_filter
from mcp_era_wire.members import Members, is_object, members_of
from mcp_era_wire.refusal import Refusal, bridge_error
from mcp_era_wire.versions import SUBSCRIPTION_ID_KEY

_KEY: Final = b'"%b":' % SUBSCRIPTION_ID_KEY.encode()


class _State(enum.Enum):
    OPENING = enum.auto()
    """The acknowledgement waits for the child."""
    LIVE = enum.auto()
    SUSPENDED = enum.auto()
    """There is no child, or it has not said yet that it will tell of the same changes."""


class Stream(msgspec.Struct, eq=False):
    """One open `subscriptions/listen`. `asked` are the flags that the host set; `flags` are the
    notifications that are honoured, `uris` the resources."""

    id: Id
    tail: bytes
    """How a notification's params end, with the id in it."""
    asked: tuple[str, ...]
    flags: frozenset[str] = frozenset()
    uris: dict[str, None] = {}
    settling: set[str] = set()
    """The URIs that the child has not answered for."""
    acknowledged: frozenset[str] = frozenset()
    """The notifications and URIs that have been promised to the host."""
    state: _State = _State.OPENING
    queued: dict[tuple[str, str | None], Raw] = {}
    """Changes before the acknowledgement."""


class Streams:
    """All streams of a host. Lines are appended to `to_host`, what happens to `events`."""

    def __init__(
        self, to_host: list[Buffer], events: list[HostEvent], most_streams: int, most_uris: int
    ) -> None:
        self._to_host = to_host
        self._events = events
        self._most_streams = most_streams
        self._most_uris = most_uris
        self._streams: dict[Id, Stream] = {}
        self._counts: dict[str, int] = {}
        """How many streams hold each URI."""
        self._server: Server | None = None
        self.identity = b""
        """The member that names the server, as JSON, with a comma in front."""

    def __len__(self) -> int:
        return len(self._streams)

    def __contains__(self, id: Id) -> bool:
        return id in self._streams

    # The host ------------------------------------------------------------------------------------

    def open(self, id: Id, params: Members) -> Refusal | None:
        """Opens a stream, unless the request is refused."""
        wanted = params.get("notifications")
        try:
            if wanted is None or not is_object(wanted):
                raise msgspec.DecodeError
            asked_for = read_filter(wanted)
        except UNREADABLE:
            return Refusal(
                codes.INVALID_PARAMS, "Invalid params: notifications", {"member": "notifications"}
            )
        if len(self._streams) >= self._most_streams:
            return Refusal(
                codes.INTERNAL_ERROR,
                f"Too many streams are open; the limit is {self._most_streams}",
                bridge_error("too_many_streams", limit=self._most_streams),
            )
        asked = tuple(flag for flag in FLAGS if flag in asked_for.flags)
        stream = self._streams[id] = Stream(id, tail_of_stream(id), asked)
        for uri in dict.fromkeys(asked_for.resource_subscriptions):
            if uri in self._counts or len(self._counts) < self._most_uris:
                stream.uris[uri] = None
                self._counts[uri] = self._counts.get(uri, 0) + 1
        self._begin(stream)
        return None

    def _begin(self, stream: Stream) -> None:
        """Asks the child for what a stream wants; without a child that comes later."""
        server = self._server
        if server is None:
            stream.settling = set(stream.uris)
            return
        capabilities = members_of(server.capabilities) or {}
        stream.flags = frozenset(
            method
            for flag, (name, method) in FLAGS.items()
            if flag in stream.asked and declares(capabilities, name, "listChanged")
        )
        if not declares(capabilities, "resources", "subscribe"):
            for uri in list(stream.uris):
                self._let_go(stream, uri)
        stream.settling = set(stream.uris)
        for uri in stream.uris:
            self._events.append(WatchOpened(uri))
        self._go_on_if_settled(stream)

    def cancel(self, id: Id) -> bool:
        """The host does not want a stream any more. Whether there was one."""
        stream = self._streams.pop(id, None)
        if stream is None:
            return False
        for uri in list(stream.uris):
            self._give_back(stream, uri)
        return True

    # The child -----------------------------------------------------------------------------------

    def child_ready(self, server: Server) -> None:
        """There is a child, perhaps another one than before: every stream is to be its."""
        self._server = server
        for stream in list(self._streams.values()):
            if stream.state is _State.LIVE:
                stream.state = _State.SUSPENDED
            self._begin(stream)

    def child_gone(self) -> None:
        """There is no child any more, for a while or for good."""
        self._server = None
        for stream in self._streams.values():
            if stream.state is _State.LIVE:
                stream.state = _State.SUSPENDED
            stream.settling = set(stream.uris)

    def watched(self, uri: str, accepted: bool) -> None:
        """The child will tell of changes of `uri`, or will not."""
        for stream in list(self._streams.values()):
            if uri not in stream.settling:
                continue
            stream.settling.discard(uri)
            if not accepted:
                self._let_go(stream, uri)
            self._go_on_if_settled(stream)

    def changed(self, change: Changed) -> bool:
        """Passes a notification on to every stream that is due it. Whether there is one."""
        method, params, uri = change.method, change.params, change.uri
        if uri is None:
            streams = [each for each in self._streams.values() if method in each.flags]
        else:
            streams = self._holders(uri)
        if not streams:
            return False
        head = tagged_head(method, params)
        pieces: list[bytes] = []
        for stream in streams:
            if stream.state is _State.LIVE:
                pieces += (head, stream.tail)
            elif stream.state is _State.OPENING:
                stream.queued[method, uri] = params
        self._to_host.append(b"".join(pieces))
        return True

    def _holders(self, uri: str) -> list[Stream]:
        """The streams that hold a resource, or one that it is a part of (schema.ts,
        ResourceUpdatedNotificationParams)."""
        streams = self._streams.values()
        if uri in self._counts:
            return [stream for stream in streams if uri in stream.uris]
        above = [
            stream
            for stream in streams
            if any(uri.startswith(f"{held.removesuffix('/')}/") for held in stream.uris)
        ]
        if above:
            return above
        # Which of several it may be a part of is not for us to guess.
        holders = [stream for stream in streams if stream.uris]
        return holders if len(holders) == 1 else []

    # The end -------------------------------------------------------------------------------------

    def end_all(self, why: str) -> None:
        """Ends every stream."""
        for stream in list(self._streams.values()):
            self._end(stream, why)

    def _end(self, stream: Stream, why: str) -> None:
        """Ends a stream from our side."""
        if stream.state is _State.OPENING:
            for uri in stream.settling:
                self._give_back(stream, uri)
            if self._server is None:
                stream.flags = frozenset()
            self._acknowledge(stream)
        del self._streams[stream.id]
        for uri in list(stream.uris):
            self._give_back(stream, uri)
        self._to_host.append(end_of_stream(stream.id, why, self.identity))
        self._events.append(StreamEnded(stream.id))

    # How it is done ------------------------------------------------------------------------------

    def _let_go(self, stream: Stream, uri: str) -> None:
        """A stream does not hold a URI any more, which the child does not watch for it."""
        del stream.uris[uri]
        self._counts[uri] -= 1
        if not self._counts[uri]:
            del self._counts[uri]

    def _give_back(self, stream: Stream, uri: str) -> None:
        self._let_go(stream, uri)
        if self._server is not None:
            self._events.append(WatchClosed(uri))

    def _go_on_if_settled(self, stream: Stream) -> None:
        if stream.settling or self._server is None:
            return
        if stream.state is _State.OPENING:
            stream.state = _State.LIVE
            self._acknowledge(stream)
            for (method, _), params in stream.queued.items():
                self._to_host += (tagged_head(method, params), stream.tail)
            stream.queued = {}
        elif stream.state is _State.SUSPENDED:
            self._resume(stream)

    def _resume(self, stream: Stream) -> None:
        """The child is there again. What a stream is for may have changed meanwhile."""
        if not stream.acknowledged <= stream.flags | stream.uris.keys():
            # A filter cannot shrink: the host has to open another stream.
            self._end(stream, "The server does not offer the same subscriptions any more")
            return
        stream.state = _State.LIVE
        for method in sorted(stream.flags):
            self._to_host += (tagged_head(method, ABSENT), stream.tail)
        for uri in stream.uris:
            params = Raw(encode({"uri": uri}))
            self._to_host += (tagged_head(methods.RESOURCE_UPDATED, params), stream.tail)

    def _acknowledge(self, stream: Stream) -> None:
        stream.acknowledged = stream.flags | stream.uris.keys()
        honoured: dict[str, object] = {
            flag: True for flag, (_, method) in FLAGS.items() if method in stream.flags
        }
        if stream.uris:
            honoured["resourceSubscriptions"] = list(stream.uris)
        params = Raw(encode({"notifications": honoured}))
        head = tagged_head(methods.SUBSCRIPTIONS_ACKNOWLEDGED, params)
        self._to_host += (head, stream.tail)


def end_of_stream(id: Id, why: str, identity: bytes = b"") -> bytes:
    """The lines that end a stream from our side: the answer first, then the cancellation.

    basic/patterns/subscriptions wants the one, basic/patterns/cancellation the other; real hosts
    take the end for an orderly one in this order only. `identity` is a member more of `_meta`.
    """
    name = encode_id(id)
    return (
        b'{"jsonrpc":"2.0","id":%b,"result":{"resultType":"complete","_meta":{%b%b%b}}}\n'
        b'{"jsonrpc":"2.0","method":"%b","params":{"requestId":%b,"reason":%b}}\n'
        % (name, _KEY, name, identity, methods.CANCELLED.encode(), name, encode(why))
    )


def tail_of_stream(id: Id) -> bytes:
    """How the line of a stream's notification ends, behind its head."""
    return _KEY + encode_id(id) + b"}}}\n"


def tagged_head(method: str, params: Raw) -> bytes:
    """The line of a notification up to where a stream's tail goes on, inside its `_meta`."""
    members = members_of(params) or {}
    meta = members_of(members.pop("_meta", None)) or {}
    meta.pop(SUBSCRIPTION_ID_KEY, None)
    return b'{"jsonrpc":"2.0","method":"%b","params":{%b"_meta":{%b' % (
        method.encode(),
        _inside(members),
        _inside(meta),
    )


def _inside(members: Members) -> bytes:
    """The members of an object as JSON, with a comma behind."""
    return encode(members)[1:-1] + b"," if members else b""
