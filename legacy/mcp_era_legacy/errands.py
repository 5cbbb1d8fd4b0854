"""What we ask a legacy child on our own account: log levels and subscriptions.

Lives here: these requests, from the asking until they are answered or given up. Does not: when they
are due (log_levels.py, watches.py), calls (peer.py). Spec 2025-11-25, server/utilities/logging,
server/resources (Subscriptions).
"""

from collections.abc import Callable
from typing import Final

import msgspec

from mcp_era_legacy.log_levels import ANSWER_WAIT as LEVEL_WAIT
from mcp_era_legacy.log_levels import LogLevels
from mcp_era_legacy.watches import Operation, Watches
from mcp_era_wire import methods
from mcp_era_wire.deadlines import earliest
from mcp_era_wire.envelope import Buffer, encode, request_line
from mcp_era_wire.events import Call, ChildEvent
from mcp_era_wire.levels import LOG_LEVELS

_MOST_LATE: Final = 64
"""How many subscriptions that were given up are remembered, in case they come about."""


class _Levelling(msgspec.Struct, frozen=True):
    """A `logging/setLevel` under way, and the call that waits for its answer."""

    call: Call | None
    until: float


class Errands:
    """Open requests of our own. Lines for the child are appended to `to_child`, with ids of
    `fresh_id`; what comes of subscriptions is left in `events`. Times are in seconds."""

    def __init__(
        self,
        to_child: list[Buffer],
        fresh_id: Callable[[], int],
        events: list[ChildEvent],
        levels: LogLevels,
    ) -> None:
        self._to_child = to_child
        self._fresh_id = fresh_id
        self._events = events
        self._levels = levels
        self._watches = Watches()
        self._levelling: dict[int, _Levelling] = {}
        self._operations: dict[int, Operation] = {}
        self._late_operations: dict[int, Operation] = {}

    @property
    def deadline(self) -> float | None:
        """When `passed` wants to be called."""
        if not self._levelling and not self._operations:
            return None
        levelling = next(iter(self._levelling.values()), None)
        operation = next(iter(self._operations.values()), None)
        return earliest(
            levelling.until if levelling is not None else None,
            operation.until if operation is not None else None,
        )

    def set_level(self, level: int, call: Call | None, now: float) -> bool:
        """Sends `logging/setLevel` if it is due. Whether `call` is to wait for the answer."""
        step = self._levels.needed(level, now)
        if step is None:
            return False
        id = self._send(methods.SET_LEVEL, encode({"level": LOG_LEVELS[step.level]}))
        if step.awaited:
            self._levelling[id] = _Levelling(call, now + LEVEL_WAIT)
        return step.awaited and call is not None

    def watch(self, uri: str, now: float) -> None:
        """A stream of the host wants to hear of changes of a resource; see Watched."""
        operation, watched = self._watches.open(uri, now)
        self._operate(operation)
        if watched is not None:
            self._events.append(watched)

    def unwatch(self, uri: str, now: float) -> None:
        """A stream of the host does not want to hear of them any more."""
        self._operate(self._watches.close(uri, now))

    def has(self, id: int) -> bool:
        """Whether a response to `id` is for us."""
        return id in self._levelling or id in self._operations or id in self._late_operations

    def answered(self, id: int, failed: bool, now: float) -> Call | None:
        """The child answered. Returned is a call that has waited for that."""
        levelling = self._levelling.pop(id, None)
        if levelling is not None:
            self._levels.answered()
            return levelling.call
        operation = self._operations.pop(id, None) or self._late_operations.pop(id)
        self._settled(operation, not failed, now)
        return None

    def passed(self, now: float) -> list[Call]:
        """Time went by. Returned are calls that have waited long enough."""
        calls: list[Call] = []
        while self._levelling:
            id, levelling = next(iter(self._levelling.items()))
            if now < levelling.until:
                break
            del self._levelling[id]
            self._levels.silent()
            if levelling.call is not None:
                calls.append(levelling.call)
        while self._operations:
            id, operation = next(iter(self._operations.items()))
            if now < operation.until:
                break
            del self._operations[id]
            self._late_operations[id] = operation
            if len(self._late_operations) > _MOST_LATE:
                del self._late_operations[next(iter(self._late_operations))]
            self._settled(operation, False, now)
        return calls

    def _settled(self, operation: Operation, succeeded: bool, now: float) -> None:
        following, watched = self._watches.settled(operation, succeeded, now)
        self._operate(following)
        if watched is not None:
            self._events.append(watched)

    def _operate(self, operation: Operation | None) -> None:
        if operation is not None:
            subscribes = operation.subscribes
            method = methods.RESOURCES_SUBSCRIBE if subscribes else methods.RESOURCES_UNSUBSCRIBE
            self._operations[self._send(method, encode({"uri": operation.uri}))] = operation

    def _send(self, method: str, params: bytes) -> int:
        id = self._fresh_id()
        self._to_child.append(request_line(id, method, params))
        return id
