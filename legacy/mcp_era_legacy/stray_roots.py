"""`roots/list` outside any call, which old servers send right after the handshake.

Lives here: the questions that wait for a call which can carry them to the host, and how long a
child may hold everything up because of them. Does not: the questions inside a call, the roots
themselves. Spec 2025-11-25, client/roots; 2026-07-28, basic/patterns/mrtr (Supported Requests):
only calls may carry questions.
"""

import enum
from typing import Final

import msgspec
from msgspec import Raw

from mcp_era_wire import methods
from mcp_era_wire.capabilities import covers, required_for
from mcp_era_wire.deadlines import earliest
from mcp_era_wire.envelope import ABSENT
from mcp_era_wire.events import Call, Question

PATIENCE: Final = 1.0
"""Seconds that a child may be silent, with requests of the host before it, while it waits."""
COAXING: Final = 0.5
"""Seconds that it has to ask again once it is told that the roots have changed."""
SETTLING: Final = 0.1
"""Seconds that it has to take its roots in before the next call starts: real servers look at the
directories first, and serve calls meanwhile as if they had none."""

_ROOTS: Final = required_for(methods.ROOTS_LIST, ABSENT)


class _State(enum.Enum):
    QUIET = enum.auto()
    """Nothing has been asked, or everything has been answered."""
    WAITING = enum.auto()
    """Questions wait for a call that can carry them."""
    REFUSED = enum.auto()
    """The child did nothing for want of its roots, and was refused them."""
    COAXING = enum.auto()
    """It has been told to ask again, and a call is held back so that it gets its answer first."""
    OVER = enum.auto()
    """It did not ask again."""


class KnownRoots(msgspec.Struct):
    """The roots of the conversation, as a ListRootsResult in JSON.

    `fixed` are those of the command line; `last` are those that the host gave last.
    """

    fixed: Raw | None = None
    last: Raw | None = None


class StrayRoots:
    """The stray questions of one session. Times are in seconds; after `answer_timeout` a question
    is not waited with any longer."""

    def __init__(self, answer_timeout: float) -> None:
        self._state = _State.QUIET
        self._answer_timeout = answer_timeout
        self._waiting: dict[Question, float] = {}
        """Until when each question waits."""
        self._held: Call | None = None
        self._until = 0.0
        self._settling: dict[Call, None] = {}
        self._settled: float | None = None
        """When the child will have taken its roots in."""
        self._silent_since: float | None = None

    @property
    def is_idle(self) -> bool:
        """Whether neither calls nor the silence of the child matter here."""
        return self._settled is None and self._state in (_State.QUIET, _State.OVER)

    @property
    def deadline(self) -> float | None:
        """When `passed` wants to be called."""
        return earliest(self._settled, self._next_step())

    def _next_step(self) -> float | None:
        if self._state is _State.COAXING:
            return self._until
        if self._state is not _State.WAITING:
            return None
        expiry = next(iter(self._waiting.values()))
        if self._silent_since is None:
            return expiry
        return min(expiry, self._silent_since + PATIENCE)

    # The child -----------------------------------------------------------------------------------

    def asked(self, question: Question, busy: bool, now: float) -> bool:
        """A stray question came; `busy` tells that requests of the host are before the child.
        Whether it waits here; else it is to be refused."""
        if self._state in (_State.REFUSED, _State.OVER):
            return False
        self._state = _State.WAITING
        self._waiting[question] = now + self._answer_timeout
        self._silent_since = now if busy else None
        return True

    def withdrawn(self, question: Question) -> None:
        """The child does not want to know any more."""
        if self._waiting.pop(question, None) is not None and not self._waiting:
            self._state = _State.QUIET

    def heard(self, busy: bool, now: float) -> None:
        """The child wrote something; `busy` as in `asked`."""
        if self._state is _State.WAITING:
            self._silent_since = now if busy else None

    def coaxed(self) -> Call | None:
        """The child asks: the call that carries it, if it was told to ask because of one."""
        if self._state is not _State.COAXING:
            return None
        self._state = _State.QUIET
        call, self._held = self._held, None
        return call

    def given(self, now: float) -> None:
        """The child has got the roots that it wanted outside of any call."""
        self._settled = now + SETTLING

    def answered(self) -> list[Question]:
        """The roots are known: the questions that can be answered with them."""
        if self._state is not _State.COAXING:
            self._state = _State.QUIET
        questions = list(self._waiting)
        self._waiting.clear()
        return questions

    def failed(self) -> None:
        """A question that a call had carried was not answered after all."""
        if self._state is _State.QUIET:
            self._state = _State.REFUSED

    # Calls ---------------------------------------------------------------------------------------

    def written(self, now: float) -> None:
        """A request of the host was written to the child."""
        if self._state is _State.WAITING and self._silent_since is None:
            self._silent_since = now

    def carried_by(self, call: Call) -> list[Question]:
        """The questions that a call which is about to start carries to the host first."""
        if self._state is not _State.WAITING or not _can_carry(call):
            return []
        self._state = _State.QUIET
        questions = list(self._waiting)
        self._waiting.clear()
        return questions

    def coaxes_for(self, call: Call, now: float) -> bool:
        """Whether the child is to be told to ask again before this call starts, which is then held
        here."""
        if self._state is not _State.REFUSED or not _can_carry(call):
            return False
        self._state = _State.COAXING
        self._until = now + COAXING
        self._held = call
        return True

    def settles_before(self, call: Call) -> bool:
        """Whether a call has to wait until the child has taken its roots in; it is held here."""
        if self._settled is None or call.method not in methods.TAKES_INPUT:
            return False
        self._settling[call] = None
        return True

    def drop(self, call: Call) -> None:
        """A call that may be held here is not wanted any more."""
        self._settling.pop(call, None)
        if self._held is call:
            self._held = None

    def passed(self, now: float) -> tuple[list[Question], list[Call]]:
        """Time went by: the questions that are to be refused, and the calls that may start."""
        calls: list[Call] = []
        if self._settled is not None and now >= self._settled:
            self._settled = None
            calls += self._settling
            self._settling.clear()
        if self._state is _State.COAXING and now >= self._until:
            self._state = _State.OVER
            if self._held is not None:
                calls.append(self._held)
            self._held = None
        return self._refused(now), calls

    def _refused(self, now: float) -> list[Question]:
        if self._state is not _State.WAITING:
            return []
        since = self._silent_since
        if since is not None and now >= since + PATIENCE:
            self._state = _State.REFUSED
            questions = list(self._waiting)
        else:
            questions = [question for question, until in self._waiting.items() if now >= until]
            if len(questions) == len(self._waiting):
                self._state = _State.REFUSED
        for question in questions:
            del self._waiting[question]
        return questions


def _can_carry(call: Call) -> bool:
    return call.method in methods.TAKES_INPUT and covers(call.capabilities, _ROOTS)
