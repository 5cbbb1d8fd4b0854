"""What the host said while nobody knew yet whom it is talking to.

Lives here: requests and notifications that wait for the verdict on the child's era, in their order.
Does not: the verdict. A request in here has not reached the child: cancelling it leaves no trace.
"""

import msgspec

from mcp_era_wire import methods
from mcp_era_wire.envelope import Id, Message


class Waiting(msgspec.Struct, frozen=True, eq=False):
    """One line of the host and what was read from it. `id` is None for a notification."""

    line: bytes
    message: Message
    id: Id | None


class WaitingRoom:
    """Waiting lines in order; the newest `most_notifications` of the notifications among them."""

    def __init__(self, most_notifications: int = 8) -> None:
        self._requests: dict[Id, Waiting] = {}
        self._lines: list[Waiting] = []
        self._notifications = 0
        self._most_notifications = most_notifications

    def __len__(self) -> int:
        """How many requests wait."""
        return len(self._requests)

    def __contains__(self, id: Id) -> bool:
        return id in self._requests

    @property
    def requests(self) -> list[Waiting]:
        """The waiting requests, in order."""
        return list(self._requests.values())

    def add_request(self, id: Id, waiting: Waiting) -> None:
        """Lets a request wait. The caller has seen to it that `id` is not in here."""
        self._requests[id] = waiting
        self._lines.append(waiting)

    def add_notification(self, waiting: Waiting) -> None:
        """Keeps a notification; beyond the limit the oldest goes."""
        if waiting.message.method != methods.INITIALIZED:
            # Without that one nothing works, so it counts for nothing.
            if self._notifications == self._most_notifications:
                self._lines.remove(next(other for other in self._lines if _may_go(other)))
            else:
                self._notifications += 1
        self._lines.append(waiting)

    def remove(self, id: Id) -> Waiting | None:
        """Takes a request out: it was cancelled."""
        waiting = self._requests.pop(id, None)
        if waiting is not None:
            self._lines.remove(waiting)
        return waiting

    def empty(self) -> list[Waiting]:
        """Everything that waited, in order; nothing waits any more."""
        lines, self._lines = self._lines, []
        self._requests.clear()
        self._notifications = 0
        return lines


def _may_go(waiting: Waiting) -> bool:
    return waiting.id is None and waiting.message.method != methods.INITIALIZED
