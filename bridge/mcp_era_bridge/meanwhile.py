"""What a legacy host says while no child has its session.

Lives here: what waits for the next process, what is answered or dropped at once. Does not: when
there is a next process (resumption.py), the order of what waits (waiting_lines.py). Spec
2025-11-25, basic/utilities/cancellation; 2025-03-26, basic (Batching).
"""

from msgspec import UNSET

from mcp_era_bridge import refusals
from mcp_era_bridge.child_requests import AnyId, cancelled_id
from mcp_era_bridge.effects import Outbox
from mcp_era_bridge.relayed import Head, Relayed, items_of, read_head
from mcp_era_bridge.waiting_lines import WaitingLines
from mcp_era_wire import methods
from mcp_era_wire.dirty import LongLine
from mcp_era_wire.envelope import UNREADABLE
from mcp_era_wire.events import Severity
from mcp_era_wire.refusal import Refusal


class Meanwhile:
    """The lines of one host; `most_open` is how many of its requests may wait."""

    def __init__(self, out: Outbox, most_open: int) -> None:
        self._out = out
        self._most_open = most_open
        self._waiting = WaitingLines()

    def __len__(self) -> int:
        """How many requests wait."""
        return len(self._waiting)

    def from_host(
        self, line: bytes, relayed: Relayed, hopeless: Refusal | None, *, has_batches: bool
    ) -> None:
        """Handles a line. `relayed` knows what is open at the host still; with `hopeless` requests
        are refused at once."""
        items = items_of(line) if has_batches else None
        if items is not None:
            self._batch(line, items, relayed, hopeless)
            return
        kept = self._kept(line, relayed, hopeless)
        if kept is not None:
            self._see_loss(self._waiting.add(line, _request_id(kept)))

    def _batch(
        self, line: bytes, items: list[bytes], relayed: Relayed, hopeless: Refusal | None
    ) -> None:
        texts: list[bytes] = []
        ids: list[AnyId] = []
        requests = 0
        for item in items:
            head = self._kept(item, relayed, hopeless, more=requests)
            if head is not None:
                id = _request_id(head)
                requests += id is not UNSET
                texts.append(item)
                ids.append(id)
        if texts:
            whole = line if len(texts) == len(items) else b"[%b]" % b",".join(texts)
            self._see_loss(self._waiting.add_batch(whole, texts, ids))

    def _see_loss(self, nothing_lost: bool) -> None:
        if not nothing_lost:
            self._out.note(Severity.WARNING, "notification of the host lost")

    def _kept(
        self, text: bytes, relayed: Relayed, hopeless: Refusal | None, more: int = 0
    ) -> Head | None:
        """What was read of a message that has to wait; None if there is nothing to it any more.
        `more` requests are about to wait already."""
        if isinstance(text, LongLine):
            relayed.from_host(text)
            return None
        try:
            head = read_head(text)
        except UNREADABLE:
            return Head()  # for the child to judge
        if head.method is UNSET:
            # An answer of the host can only be to a child that is gone.
            relayed.answer_to_dead(head.id)
            return None
        if head.id is UNSET:
            if head.method == methods.CANCELLED:
                self._waiting.remove(cancelled_id(text))
                return None
            # Progress can only be that of a request of the child, all of which are over.
            return head if head.method != methods.PROGRESS else None
        refusal = hopeless
        if refusal is None and len(self._waiting) + more >= self._most_open:
            refusal = refusals.too_many_requests(self._most_open)
        if refusal is not None:
            relayed.refuse(head.id, refusal)
            return None
        return head

    def fail(self, relayed: Relayed, refusal: Refusal) -> None:
        """Every request that waits fails."""
        for id in self._waiting.take_requests():
            relayed.refuse(id, refusal)

    def empty(self) -> list[bytes]:
        """Takes out everything that waits, in order."""
        return self._waiting.empty()


def _request_id(head: Head) -> AnyId:
    """The id of a request; UNSET for anything else."""
    return head.id if head.method is not UNSET else UNSET
