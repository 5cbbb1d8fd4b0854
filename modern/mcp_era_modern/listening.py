"""The streams on which a modern child tells of changes, for a client that subscribes one by one.

Lives here: one stream for the lists and one for the resources, their filters, what becomes of them
when the set of resources changes or the child ends them. Does not: who is told of a change (the
faces). Spec 2026-07-28, basic/patterns/subscriptions; 2025-11-25, server/resources (Subscriptions).

The filter of a stream cannot be changed: another one is opened, and once that is acknowledged the
one before is cancelled, so that no change is missed.
"""

from collections.abc import Callable, Iterable
from typing import Final

import msgspec
from msgspec import Raw

from mcp_era_wire import codes, methods
from mcp_era_wire.deadlines import earliest
from mcp_era_wire.envelope import (
    ABSENT,
    UNREADABLE,
    Buffer,
    Message,
    encode,
    notification_line,
    number_of,
    request_line,
)
from mcp_era_wire.events import Changed, ChildEvent, Watched
from mcp_era_wire.filters import FLAGS, declares, read_filter
from mcp_era_wire.members import members_of
from mcp_era_wire.notices import cancelled_id
from mcp_era_wire.refusal import Refusal, bridge_error
from mcp_era_wire.versions import SUBSCRIPTION_ID_KEY

ACKNOWLEDGEMENT_WAIT: Final = 10.0
"""Seconds after which a stream that is not acknowledged counts as refused."""
_BACK_OFF: Final = (1.0, 60.0)
"""Seconds before a stream that the child has ended is opened again, at first and at most."""
_STEADY: Final = 10.0
"""Seconds of life after which a stream has not failed."""
_SILENT: Final = Refusal(
    codes.INTERNAL_ERROR,
    f"The server has not acknowledged the subscription within {ACKNOWLEDGEMENT_WAIT:g} s",
    bridge_error("subscription_timeout"),
)
_ENDED: Final = Refusal(
    codes.INTERNAL_ERROR,
    "The server has ended the subscription at once",
    bridge_error("subscription_ended"),
)


class _Stream(msgspec.Struct, eq=False):
    """One open `subscriptions/listen`, for `flags` (names of a filter) or for `uris`."""

    id: int
    flags: tuple[str, ...]
    uris: tuple[str, ...]
    again: bool
    """Whether the child has ended another one like it, and changes may have been missed."""
    since: float
    """When it was asked for or, later, acknowledged."""
    acknowledged: bool = False


class Listening:
    """Both streams of one child. Lines are appended to `to_child`, what happens to `events`.

    `capabilities` are the child's; `envelope` gives the `_meta` members that every request carries.
    Times are in seconds.
    """

    def __init__(
        self,
        to_child: list[Buffer],
        events: list[ChildEvent],
        fresh_id: Callable[[], int],
        capabilities: Raw,
        envelope: Callable[[], bytes],
    ) -> None:
        self._to_child = to_child
        self._events = events
        self._fresh_id = fresh_id
        self._envelope = envelope
        offered = members_of(capabilities) or {}
        self._flags = tuple(
            flag for flag, (name, _) in FLAGS.items() if declares(offered, name, "listChanged")
        )
        self._base: _Stream | None = None
        self._live: _Stream | None = None
        """The stream of the resources that is acknowledged."""
        self._next: _Stream | None = None
        """The one that is to take its place."""
        self._wanted: dict[str, None] = {}
        self._pending: set[str] = set()
        """Resources whose subscription is to be answered for."""
        self._base_due: float | None = None
        self._next_due: float | None = None
        """When a stream that the child has ended is opened again."""
        self._base_wait = self._next_wait = 0.0

    @property
    def deadline(self) -> float | None:
        """When `passed` wants to be called."""
        opening = self._next
        silent = None if opening is None else opening.since + ACKNOWLEDGEMENT_WAIT
        return earliest(self._base_due, self._next_due, silent)

    # The client ----------------------------------------------------------------------------------

    def open(self, now: float, *, again: bool = False) -> None:
        """Listens for changes of the lists, as far as the child tells of them. `again` says that
        some may have been missed."""
        if self._base is None and self._base_due is None and self._flags:
            self._base = self._listen(self._flags, (), now, again=again)

    def watch(self, uri: str, now: float) -> None:
        """Listens for changes of a resource too; see Watched."""
        self._wanted[uri] = None
        self._pending.add(uri)
        again = self._next_due is not None
        self._next_due = None
        self._change(now, again=again)

    def unwatch(self, uri: str, now: float) -> None:
        """Listens for changes of a resource no more."""
        if self._wanted.pop(uri, 0) is None:
            self._pending.discard(uri)
            self._change(now)

    def resume(self, uris: Iterable[str], now: float) -> None:
        """Listens for what another process of the child was listened for; nobody waits for it."""
        self._wanted.update(dict.fromkeys(uris))
        self._change(now, again=True)

    def is_watched(self, uri: str) -> bool:
        """Whether somebody wants to hear of a resource, or of something it is a part of."""
        if not self._wanted:
            return False
        return uri in self._wanted or self._live is None or uri not in self._live.uris

    # The child -----------------------------------------------------------------------------------

    def has(self, id: int) -> bool:
        """Whether `id` is that of an open stream."""
        return any(stream is not None and stream.id == id for stream in self._streams)

    @property
    def _streams(self) -> tuple[_Stream | None, ...]:
        return self._base, self._live, self._next

    def changed(self, change: Changed) -> Changed | None:
        """The change as the client may see it, unless it belongs to a stream that is over."""
        members = members_of(change.params) or {}
        meta = members_of(members.get("_meta"))
        if meta is None or SUBSCRIPTION_ID_KEY not in meta:
            # Not as it should be, but there is nobody else whom it could be for.
            return change if change.uri is None or self.is_watched(change.uri) else None
        if not self.has(_id_in(meta.pop(SUBSCRIPTION_ID_KEY))):
            return None
        if change.uri is not None and not self.is_watched(change.uri):
            return None
        if meta:
            members["_meta"] = Raw(encode(meta))
        else:
            del members["_meta"]
        return Changed(change.method, Raw(encode(members)) if members else ABSENT, change.uri)

    def acknowledged(self, params: Raw, now: float) -> bool:
        """The child honours a stream, or a part of it. Whether it is one of ours."""
        members = members_of(params) or {}
        id = subscription_id(params)
        if not self.has(id):
            return False
        try:
            honoured = read_filter(members.get("notifications", Raw(b"{}")))
        except UNREADABLE:
            honoured = read_filter(b"{}")
        if self._base is not None and self._base.id == id:
            self._base.acknowledged = True
            self._base.since = now
            if self._base.again:
                self._tell_of_lists(honoured.flags)
        elif self._next is not None and self._next.id == id:
            self._take_over(self._next, honoured.resource_subscriptions, now)
        return True

    def _take_over(self, stream: _Stream, honoured: list[str], now: float) -> None:
        before, self._live, self._next = self._live, stream, None
        if before is not None:
            self._cancel(before)
        stream.acknowledged = True
        stream.since = now
        for uri in stream.uris:
            accepted = uri in honoured
            if uri in self._pending:
                self._pending.discard(uri)
                if not accepted:
                    self._wanted.pop(uri, None)
                self._events.append(Watched(uri, accepted))
            elif accepted and stream.again and uri in self._wanted:
                self._tell(methods.RESOURCE_UPDATED, uri)
        stream.uris = tuple(uri for uri in stream.uris if uri in self._wanted or uri in honoured)
        self._change(now)

    def answered(self, id: int, message: Message, now: float) -> None:
        """The child has answered a stream: it is over, or it has never been."""
        self._end(id, message.error if message.is_failure else None, now)

    def failed(self, id: int, error: Raw, now: float) -> None:
        """What the child has answered a stream with cannot be read."""
        self._end(id, error, now)

    def _end(self, id: int, error: Raw | None, now: float) -> None:
        stream = next(each for each in self._streams if each is not None and each.id == id)
        self._over(stream, error, now)

    def cancelled(self, params: Raw, now: float) -> bool:
        """The child has ended a stream. Whether it is one of ours."""
        id = number_of(named) if (named := cancelled_id(params)) is not None else None
        stream = next((each for each in self._streams if each is not None and each.id == id), None)
        if stream is None:
            return False
        self._over(stream, None, now)
        return True

    def _over(self, stream: _Stream, error: Raw | None, now: float) -> None:
        refused = error is not None and not stream.acknowledged
        steady = stream.acknowledged and now - stream.since >= _STEADY
        if stream is self._base:
            self._base = None
            if refused and stream.again:
                self._tell_of_lists(frozenset(self._flags))
            elif not refused:
                self._base_wait = _longer(0.0 if steady else self._base_wait)
                self._base_due = now + self._base_wait
            return
        if stream is self._next:
            self._next = None
            self._refused(stream, _ENDED.error if error is None else error, now)
            return
        self._live = None
        if self._next is not None:
            # Until that is acknowledged, nobody tells of changes.
            self._next.again = True
        else:
            self._open_later(now, 0.0 if steady else self._next_wait)

    def _open_later(self, now: float, last_wait: float) -> None:
        self._next_wait = _longer(last_wait)
        self._next_due = now + self._next_wait

    def _refused(self, stream: _Stream, error: Raw, now: float) -> None:
        """The child will not have the set as it was to be: without what was new, it stays."""
        new = [uri for uri in stream.uris if uri in self._pending]
        for uri in new:
            self._pending.discard(uri)
            self._wanted.pop(uri, None)
            self._events.append(Watched(uri, False, error))
        if self._live is None and self._wanted and not new:
            self._open_later(now, self._next_wait)
        elif self._pending or not self._wanted or self._live is None:
            self._change(now, again=stream.again)

    def passed(self, now: float) -> None:
        """Time went by."""
        if self._base_due is not None and now >= self._base_due:
            self._base_due = None
            self.open(now, again=True)
        if self._next_due is not None and now >= self._next_due:
            self._next_due = None
            self._change(now, again=True)
        opening = self._next
        if opening is not None and now >= opening.since + ACKNOWLEDGEMENT_WAIT:
            self._next = None
            self._cancel(opening)
            self._refused(opening, _SILENT.error, now)

    # How it is done ------------------------------------------------------------------------------

    def _change(self, now: float, *, again: bool = False) -> None:
        """Sees to it that the set of resources is that which is wanted; further changes are
        gathered until that has come about."""
        if self._next is not None or self._next_due is not None:
            return
        live = self._live
        for uri in [uri for uri in self._pending if live is not None and uri in live.uris]:
            self._pending.discard(uri)
            self._events.append(Watched(uri, True))
        if not self._wanted:
            if live is not None:
                self._live = None
                self._cancel(live)
        elif live is None or set(live.uris) != self._wanted.keys():
            self._next = self._listen((), tuple(self._wanted), now, again=again)

    def _listen(
        self, flags: tuple[str, ...], uris: tuple[str, ...], now: float, *, again: bool
    ) -> _Stream:
        stream = _Stream(self._fresh_id(), flags, uris, again, now)
        wanted: dict[str, object] = dict.fromkeys(flags, True)
        if uris:
            wanted["resourceSubscriptions"] = uris
        params = b'{"notifications":%b,"_meta":{%b}}' % (encode(wanted), self._envelope())
        self._to_child.append(request_line(stream.id, methods.SUBSCRIPTIONS_LISTEN, params))
        return stream

    def _cancel(self, stream: _Stream) -> None:
        params = encode({"requestId": stream.id})
        self._to_child.append(notification_line(methods.CANCELLED, params))

    def _tell_of_lists(self, flags: frozenset[str]) -> None:
        for flag, (_, method) in FLAGS.items():
            if flag in flags:
                self._tell(method)

    def _tell(self, method: str, uri: str | None = None) -> None:
        """Something may have changed while nobody listened."""
        params = ABSENT if uri is None else Raw(encode({"uri": uri}))
        self._events.append(Changed(method, params, uri))


def _longer(wait: float) -> float:
    first, most = _BACK_OFF
    return max(first, min(wait * 2, most))


def subscription_id(params: Raw) -> int:
    """The stream that a notification names; -1 if it names none of ours."""
    meta = members_of((members_of(params) or {}).get("_meta")) or {}
    return _id_in(meta[SUBSCRIPTION_ID_KEY]) if SUBSCRIPTION_ID_KEY in meta else -1


def _id_in(value: Raw) -> int:
    """The integer that a subscription id is or spells; -1 if it does neither."""
    try:
        id = msgspec.json.decode(value, type=int | str)
    except UNREADABLE:
        return -1
    number = number_of(id)
    return -1 if number is None else number
