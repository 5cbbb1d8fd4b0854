"""The requests that the bridge makes itself: the probe and the handshake.

Lives here: their ids, and which are not answered yet. Does not: what an answer means.
Spec 2026-07-28, basic/index (Requests).
"""

from typing import Final

from msgspec import UNSET

from mcp_era_wire.envelope import ABSENT, Message, number_of

LOWEST_FIRST_ID: Final = 2**29
HIGHEST_FIRST_ID: Final = 2**30
"""Own ids start at a random integer between the two, far from those that hosts count up from 1."""


class OwnRequests:
    """Open requests of the bridge to one child process, by id; `first_id` is the first one's."""

    def __init__(self, first_id: int) -> None:
        self._first = self._next = first_id
        self.open: dict[int, str] = {}

    def add(self, method: str) -> int:
        """A fresh id for a request of `method`."""
        id = self.fresh_id()
        self.open[id] = method
        return id

    def fresh_id(self) -> int:
        """An id that no other request to the child has."""
        self._next += 1
        return self._next - 1

    def was_given(self, id: object) -> bool:
        """Whether `id` is that of a request of ours, of whatever kind and however long ago."""
        return type(id) is int and self._first <= id < self._next

    def forget(self) -> None:
        """The process is gone: none of them will be answered."""
        self.open.clear()

    def is_open(self, id: object) -> bool:
        """Whether `id` is that of a request that is not answered yet."""
        return isinstance(id, int) and id in self.open

    def take(self, message: Message) -> str | None:
        """The method of the request that a response answers; it is then settled.

        An id of another type is forgiven ("7" for 7), and so is an error whose id is missing, null
        or zero: it can only be meant for the oldest of these, as nothing else is open at the child.
        """
        number = number_of(id := message.id)
        if number is not None and number in self.open:
            return self.open.pop(number)
        if self.open and message.error is not ABSENT and (id is UNSET or id == 0):
            return self.open.pop(next(iter(self.open)))
        return None
