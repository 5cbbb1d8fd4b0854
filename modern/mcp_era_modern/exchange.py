"""A call that asks, as it stands between two of its legs.

Lives here: what is known of one such call. Does not: what becomes of it (exchanges.py). Spec
2026-07-28, basic/patterns/mrtr.
"""

from typing import Final

import msgspec
from msgspec import Raw

from mcp_era_wire.capabilities import Required, covers
from mcp_era_wire.events import Call, Completed, Failed, Question

MOST_IN_ROUND: Final = 64
"""The most questions that are put to the host at once."""


class Limits(msgspec.Struct, frozen=True):
    """How many calls may be parked, and for how many seconds each; how many streams there may be,
    and how many resources in all of them."""

    most_parked: int = 256
    answer_timeout: float = 600.0
    most_streams: int = 256
    most_uris: int = 4096


class Retry(msgspec.Struct, frozen=True):
    """A new leg of a call that was parked, and the answers in it that are for the child."""

    call: Call
    answers: list[tuple[Question, Raw]]


class Kept(msgspec.Struct, frozen=True):
    """What the child said while a call was parked: its answer, and how far it had come."""

    answer: Completed | Failed | None
    progress: tuple[float, Raw] | None


class Exchange(msgspec.Struct, eq=False):
    """A call with questions. `waiting` are those that have not been put to the host, `shown` those
    that have been and are open, by their key in `inputRequests`."""

    call: Call
    child: int
    handle: int
    round: int = 0
    waiting: list[Question] = []
    shown: dict[str, Question] = {}
    certain: bool = False
    missing: list[Required] = []
    """What the call's own questions would have needed."""
    answer: Completed | Failed | None = None
    progress: tuple[float, Raw] | None = None
    until: float = 0.0
    """When the questions are put to the host, the parked call expires or is sent again."""
    refused: bool = False
    """Whether the child does not take the call before the user has been to some URLs."""
    own: set[Question] = set()
    """The questions about these, which the child does not know."""
    awaited: set[str] = set()
    """The interactions behind the URLs that are not over."""
    declined: bool = False

    @property
    def missed(self) -> Required | None:
        """What the call would have needed and its last leg has not declared."""
        missed: Required = {}
        for required in self.missing:
            if not covers(self.call.capabilities, required):
                for name, parts in required.items():
                    missed.setdefault(name, {}).update(parts)
        return missed or None

    def show_more(self) -> None:
        """Questions that wait are shown from now on, as many as go into one round."""
        room = MOST_IN_ROUND - len(self.shown)
        asked, self.waiting = self.waiting[:room], self.waiting[room:]
        for question in asked:
            question.shown = True
            # The child's id as text; its ids 7 and "7" are two.
            key = str(question.id)
            while key in self.shown:
                key += "'"
            self.shown[key] = question
