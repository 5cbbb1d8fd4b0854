"""The batches of a legacy host: many lines in one, and their answers in one.

Lives here: which answers belong together, and when they are all there. Does not: which revision
allows a batch (face.py), what its items mean. Spec 2025-03-26, basic (Batching).
"""

import msgspec

from mcp_era_wire.envelope import Buffer, Id


class _Batch(msgspec.Struct, eq=False):
    waiting: int = 0
    """How many of its requests are not answered yet."""
    answers: list[bytes] = []
    complete: bool = False
    """Whether all of its items have been looked at."""


class Batches:
    """The open batches of one host. Lines are appended to `to_host`."""

    def __init__(self, to_host: list[Buffer]) -> None:
        self._to_host = to_host
        self._of: dict[Id, list[_Batch | None]] = {}
        """The batches of the open requests, None for one that came by itself. The last of an id is
        answered first: one that repeats an open id is refused at once."""
        self._present: _Batch | None = None

    def __bool__(self) -> bool:
        return self._present is not None or bool(self._of)

    def begin(self) -> None:
        """The items of a batch follow."""
        self._present = _Batch()

    def add(self, id: Id) -> None:
        """A request, of the present batch if there is one, is to be answered."""
        if self._present is not None:
            self._present.waiting += 1
        elif id not in self._of:
            return
        self._of.setdefault(id, []).append(self._present)

    def end(self) -> None:
        """There are no more."""
        batch, self._present = self._present, None
        if batch is not None:
            batch.complete = True
            self._send_if_done(batch)

    def take(self, id: Id | None, line: bytes) -> bool:
        """Takes an answer that belongs to a batch; None is the id of what could not be read."""
        batch = self._present if id is None else self._answered(id)
        if batch is None:
            return False
        batch.answers.append(line.rstrip(b"\n"))
        self._send_if_done(batch)
        return True

    def forget(self, id: Id) -> None:
        """A request is not answered: it was cancelled."""
        batch = self._answered(id)
        if batch is not None:
            self._send_if_done(batch)

    def _answered(self, id: Id) -> _Batch | None:
        """The batch of the last request with this id, which waits no more."""
        batches = self._of.get(id)
        if batches is None:
            return None
        batch = batches.pop()
        if not batches:
            del self._of[id]
        if batch is not None:
            batch.waiting -= 1
        return batch

    def _send_if_done(self, batch: _Batch) -> None:
        if batch.complete and not batch.waiting and batch.answers:
            self._to_host.append(b"[" + b",".join(batch.answers) + b"]\n")
            batch.answers = []
