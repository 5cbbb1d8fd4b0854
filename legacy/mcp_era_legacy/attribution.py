"""Which call made a legacy child ask: the wire does not say, so it is worked out.

Lives here: the candidates of a question, the names that have asked before, and the calls that are
held back so that there is one candidate only. Does not: what becomes of a question (questions.py),
the calls in flight (peer.py). 2025-11-25, client/sampling, client/elicitation, client/roots know no
link between a server's request and the one that caused it.

A server that never asks is never held up: there is nothing here for its calls to wait for.
"""

from collections import OrderedDict, deque
from collections.abc import Callable, Iterator
from typing import Final, TypeAlias

import msgspec
from msgspec import Raw

from mcp_era_wire import methods
from mcp_era_wire.capabilities import covers, required_for
from mcp_era_wire.events import Call, Question

WINDOW: Final = 2.0
"""Seconds that a question may wait for its asker to be found, and a call for others to ask."""

Name: TypeAlias = tuple[str, bytes]
"""What asks: the method, and the tool or prompt as JSON text, or the scheme of a resource."""

_MEMBER: Final = {
    methods.TOOLS_CALL: "name",
    methods.PROMPTS_GET: "name",
    methods.RESOURCES_READ: "uri",
}
_NOTHING: Final = Raw(b"")


def name_of(call: Call) -> Name:
    """The name under which it is remembered that such a call has asked."""
    text = bytes(call.params.get(_MEMBER[call.method], _NOTHING))
    if call.method == methods.RESOURCES_READ:
        text = text.partition(b":")[0]
    return call.method, text


class Askers:
    """The names that have asked before, the most recent `most` of them."""

    def __init__(self, most: int = 1024) -> None:
        self._names: OrderedDict[Name, None] = OrderedDict()
        self._most = most

    def __len__(self) -> int:
        return len(self._names)

    def __contains__(self, name: Name) -> bool:
        return name in self._names

    def add(self, name: Name) -> None:
        """It has asked."""
        self._names[name] = None
        self._names.move_to_end(name)
        if len(self._names) > self._most:
            self._names.popitem(last=False)


class _Held(msgspec.Struct, gc=False, eq=False):
    call: Call
    until: float


class Attribution:
    """The search for askers in one session. Times are in seconds.

    `askers` outlives the session. Calls are candidates while they run: once their leg has been
    answered `input_required` they wait for the host and do not ask.
    """

    def __init__(self, askers: Askers) -> None:
        self._askers = askers
        self._suspects: dict[Call, None] = {}
        """Calls at the child that bear a known name, have not asked and have not ended."""
        self._behind_suspects: deque[_Held] = deque()
        self._behind_questions: deque[_Held] = deque()
        self._open: dict[Question, float] = {}
        """Questions whose asker is not known yet, and until when it is sought."""

    @property
    def is_idle(self) -> bool:
        """Whether a call that starts now has nothing to wait for, and is of no interest."""
        return not (self._askers or self._open or self._behind_suspects or self._behind_questions)

    @property
    def has_work(self) -> bool:
        """Whether the end of a call, or its parking, may matter to somebody."""
        return bool(self._open or self._suspects or self._behind_suspects)

    @property
    def held(self) -> Iterator[Call]:
        """The calls that are held back."""
        for queue in (self._behind_suspects, self._behind_questions):
            for each in queue:
                yield each.call

    @property
    def deadline(self) -> float | None:
        """When `passed` wants to be called."""
        times = [
            queue[0].until for queue in (self._behind_suspects, self._behind_questions) if queue
        ]
        if self._open:
            times.append(next(iter(self._open.values())))
        return min(times) if times else None

    # Calls ---------------------------------------------------------------------------------------

    def admits(self, call: Call, now: float) -> bool:
        """Whether a call may start now; else it is held back here."""
        if call.method not in methods.TAKES_INPUT:
            return True
        if self._open:
            self._behind_questions.append(_Held(call, now + WINDOW))
            return False
        if self._suspects and name_of(call) in self._askers:
            self._behind_suspects.append(_Held(call, now + WINDOW))
            return False
        return True

    def started(self, call: Call) -> None:
        """A call is written to the child."""
        if call.method in methods.TAKES_INPUT and name_of(call) in self._askers:
            self._suspects[call] = None

    def ended(self, call: Call) -> None:
        """A call has been answered, given up or parked."""
        self._suspects.pop(call, None)

    def drop(self, call: Call) -> bool:
        """A call that may be held here is not wanted any more. Whether it was."""
        for queue in (self._behind_suspects, self._behind_questions):
            for each in queue:
                if each.call is call:
                    queue.remove(each)
                    return True
        return False

    def released(self, now: float) -> list[Call]:
        """The calls that have waited long enough, or for nothing any more, in order of arrival.

        Each has to be started, or dropped, before this is asked again.
        """
        free: list[Call] = []
        behind, suspects = self._behind_questions, self._behind_suspects
        while behind and (not self._open or now >= behind[0].until):
            each = behind.popleft()
            if now < each.until and name_of(each.call) in self._askers:
                suspects.append(each)
            else:
                free.append(each.call)
        while suspects and now >= suspects[0].until:
            free.append(suspects.popleft().call)
        if suspects and not self._suspects and not free:
            # One at a time: it is a suspect itself as soon as it has started.
            free.append(suspects.popleft().call)
        return free

    # Questions -----------------------------------------------------------------------------------

    def asked(self, question: Question, possible: list[Call], now: float) -> bool:
        """A question came that any of `possible` may have caused. Whether it is known which."""
        if self._find(question, possible):
            return True
        self._open[question] = now + WINDOW
        return False

    def withdrawn(self, question: Question) -> None:
        """Nobody needs to know any more who asked it."""
        self._open.pop(question, None)

    def found(
        self,
        possible: Callable[[Question], list[Call]],
        carries: Callable[[Call], bool],
        now: float,
    ) -> list[Question]:
        """The questions whose asker is known by now, or guessed because the time is up.

        `possible` tells which calls may still have asked, `carries` whether a call has a question
        open already. A question of which no call is left is found too, and has none.
        """
        found: list[Question] = []
        for question, until in list(self._open.items()):
            calls = possible(question)
            if self._find(question, calls):
                pass
            elif calls and now < until:
                continue
            elif calls:
                likeliest = _likeliest(question, calls, carries)
                self._settle(question, likeliest, calls, certain=False)
            del self._open[question]
            found.append(question)
        return found

    def _find(self, question: Question, possible: list[Call]) -> bool:
        if len(possible) == 1:
            self._settle(question, possible[0], possible, certain=True)
            return True
        known = [call for call in possible if name_of(call) in self._askers]
        if len(known) == 1:
            self._settle(question, known[0], possible, certain=False)
            return True
        return False

    def _settle(
        self, question: Question, call: Call, possible: list[Call], *, certain: bool
    ) -> None:
        question.call = call
        question.certain = certain
        name = name_of(call)
        # A guess between calls of one name is none about the name.
        if certain or all(name_of(other) == name for other in possible):
            self._askers.add(name)
        call.asked = True
        self._suspects.pop(call, None)


def _likeliest(question: Question, possible: list[Call], carries: Callable[[Call], bool]) -> Call:
    """The oldest call that can carry the question, those first that have none open: whoever waits
    for one answer mostly does not ask for another."""
    required = required_for(question.method, question.params)
    able = [call for call in possible if not call.cancelled and covers(call.capabilities, required)]
    able = able or possible
    return next((call for call in able if not carries(call)), able[0])
