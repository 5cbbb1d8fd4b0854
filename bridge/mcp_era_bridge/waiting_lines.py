"""Lines of a legacy host that wait for the next process of its child, as they came.

Lives here: their order, which requests are in them, how one is taken out. Does not: the requests
that wait for the first verdict (waiting.py). Spec 2025-03-26, basic (Batching).
"""

from collections.abc import Callable

import msgspec
from msgspec import UNSET

from mcp_era_bridge.child_requests import AnyId


class _Line(msgspec.Struct, eq=False):
    """A line, or what is left of a batch. `ids` are those of its requests, by item; UNSET stands
    for an item that is none."""

    line: bytes
    items: list[bytes]
    ids: list[AnyId]
    is_batch: bool

    def keep(self, is_kept: Callable[[AnyId], bool]) -> None:
        """Takes items out, by their ids; something is left."""
        kept = [(item, id) for item, id in zip(self.items, self.ids, strict=True) if is_kept(id)]
        if len(kept) < len(self.items):
            self.items, self.ids = [item for item, _ in kept], [id for _, id in kept]
            self.line = b"[%b]" % b",".join(self.items)


class WaitingLines:
    """Waiting lines in order; the newest `most_others` of those without a request."""

    def __init__(self, most_others: int = 1024) -> None:
        self._lines: list[_Line] = []
        self._by_id: dict[AnyId, _Line] = {}
        self._most_others = most_others
        self._others = 0
        self._requests = 0

    def __len__(self) -> int:
        """How many requests wait."""
        return self._requests

    def add(self, line: bytes, id: AnyId) -> bool:
        """Lets a line wait that is a request with `id`, or (UNSET) none. False if an older line
        was dropped for it."""
        return self._add(_Line(line, [line], [id], False))

    def add_batch(self, line: bytes, items: list[bytes], ids: list[AnyId]) -> bool:
        """Lets a batch wait; `ids` are those of its requests, by item."""
        return self._add(_Line(line, items, ids, True))

    def _add(self, line: _Line) -> bool:
        self._lines.append(line)
        requests = [id for id in line.ids if id is not UNSET]
        for id in requests:
            self._by_id[id] = line
        self._requests += len(requests)
        if requests or self._others < self._most_others:
            self._others += not requests
            return True
        self._lines.remove(next(one for one in self._lines if set(one.ids) == {UNSET}))
        return False

    def remove(self, id: AnyId) -> bool:
        """Takes a request out: it was cancelled. Whether it was in here."""
        line = self._by_id.pop(id, None)
        if line is None:
            return False
        self._requests -= 1
        position = line.ids.index(id)
        del line.ids[position], line.items[position]
        if line.items:
            line.line = b"[%b]" % b",".join(line.items)
        else:
            self._lines.remove(line)
        return True

    def empty(self) -> list[bytes]:
        """Every line that waited, in order; none waits any more."""
        lines = [line.line for line in self._lines]
        self._clear()
        return lines

    def take_requests(self) -> list[AnyId]:
        """The ids of every request that waited, in order; what is none goes on waiting."""
        ids: list[AnyId] = [id for line in self._lines for id in line.ids if id is not UNSET]
        lines = [line for line in self._lines if UNSET in line.ids]
        self._clear()
        for line in lines:
            line.keep(lambda id: id is UNSET)
        self._lines = lines
        self._others = len(lines)
        return ids

    def _clear(self) -> None:
        self._lines.clear()
        self._by_id.clear()
        self._others = self._requests = 0
