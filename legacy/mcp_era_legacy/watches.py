"""Subscriptions to single resources, counted: many streams of a host, one at the child.

Lives here: which `resources/subscribe` and `resources/unsubscribe` are due, one at a time for each
URI. Does not: their ids and lines (peer.py), the streams (modern/). Spec 2025-11-25,
server/resources (Subscriptions).
"""

from typing import Final, TypeAlias

import msgspec

from mcp_era_wire.events import Watched

ANSWER_WAIT: Final = 10.0
"""Seconds after which an operation that is not answered counts as failed."""


class Operation(msgspec.Struct, eq=False):
    """One request to the child, under way until it is settled."""

    uri: str
    subscribes: bool
    until: float


class _Watch(msgspec.Struct):
    count: int = 0
    """How many streams hold the URI."""
    subscribed: bool = False
    operation: Operation | None = None


Outcome: TypeAlias = tuple[Operation | None, Watched | None]
"""The next operation for the URI, and what those who wait for it are told."""


class Watches:
    """The watched resources of one session. URIs are compared as they stand."""

    def __init__(self) -> None:
        self._watches: dict[str, _Watch] = {}

    def __len__(self) -> int:
        return len(self._watches)

    def open(self, uri: str, now: float) -> Outcome:
        """One more stream holds `uri`."""
        watch = self._watches.setdefault(uri, _Watch())
        watch.count += 1
        if watch.operation is not None:
            return None, None
        if watch.subscribed:
            return None, Watched(uri, True)
        return self._start(uri, watch, True, now), None

    def close(self, uri: str, now: float) -> Operation | None:
        """One stream less holds `uri`."""
        watch = self._watches.get(uri)
        if watch is None or not watch.count:
            return None
        watch.count -= 1
        if watch.count or watch.operation is not None:
            return None
        if watch.subscribed:
            return self._start(uri, watch, False, now)
        del self._watches[uri]
        return None

    def settled(self, operation: Operation, succeeded: bool, now: float) -> Outcome:
        """The child answered an operation, or (not `succeeded`) left it unanswered for too long."""
        uri = operation.uri
        watch = self._watches.get(uri)
        if watch is None or watch.operation is not operation:
            return self._late(uri, watch, operation, succeeded, now), None
        watch.operation = None
        watch.subscribed = operation.subscribes and succeeded
        if watch.subscribed:
            if watch.count:
                return None, Watched(uri, True)
            return self._start(uri, watch, False, now), None
        if watch.count and not operation.subscribes:
            return self._start(uri, watch, True, now), None
        del self._watches[uri]
        return None, Watched(uri, False) if watch.count else None

    def _late(
        self, uri: str, watch: _Watch | None, operation: Operation, succeeded: bool, now: float
    ) -> Operation | None:
        """A subscription that was given up for lost came about after all: nobody wants it."""
        if not (operation.subscribes and succeeded) or watch is not None:
            return None
        watch = self._watches[uri] = _Watch(subscribed=True)
        return self._start(uri, watch, False, now)

    def _start(self, uri: str, watch: _Watch, subscribes: bool, now: float) -> Operation:
        watch.operation = Operation(uri, subscribes, now + ANSWER_WAIT)
        return watch.operation
