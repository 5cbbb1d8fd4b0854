"""The open questions of a legacy child, from the asking until it has its answer.

Lives here: the life of a question, which is not that of the call that carries it. Does not: the
search for the asker (attribution.py), roots outside of calls (stray_roots.py), how the host is
asked (modern/). Spec 2025-11-25, client/sampling, client/elicitation, client/roots.

A question is open until the child gets an answer, withdraws it, or ends. If its messenger ends
first it is given to another one; if there is none, the child is answered in the host's name.
"""

from collections.abc import Callable, Iterator, Mapping
from typing import Final

import msgspec
from msgspec import Raw

from mcp_era_legacy.answers import answer_line, related_task, unanswered_line
from mcp_era_legacy.attribution import Askers, Attribution
from mcp_era_legacy.stray_roots import KnownRoots, StrayRoots
from mcp_era_wire import codes, methods
from mcp_era_wire.deadlines import earliest
from mcp_era_wire.envelope import UNREADABLE, Buffer, Id, encode_id, error_line
from mcp_era_wire.events import Asked, Call, ChildEvent, Question, Refused
from mcp_era_wire.members import is_object, members_of, string_of

_CANCELLED_WAIT: Final = 60.0
"""Seconds that a cancelled call may still be the one that asks."""
_MOST_CANCELLED: Final = 64

_read_list: Final[Callable[[Raw], list[Raw]]] = msgspec.json.Decoder(list[Raw]).decode


class Asking(msgspec.Struct, frozen=True):
    """What rules the questions of a session.

    `askers` and `roots` outlive it. `declares_roots` tells whether it was opened with roots.
    `most_open` is how many questions may be open; `answer_timeout` is how many seconds one waits.
    """

    askers: Askers
    roots: KnownRoots
    declares_roots: bool = True
    most_open: int = 1024
    answer_timeout: float = 600.0


class Questions:
    """The questions of one session with a child of revision `version`.

    Lines for the child are appended to `to_child`, what happens to `events`. `calls` are those in
    flight, by the child's id, oldest first.
    """

    def __init__(
        self,
        to_child: list[Buffer],
        events: list[ChildEvent],
        calls: dict[int, Call],
        version: str,
        asking: Asking,
    ) -> None:
        self._to_child = to_child
        self._events = events
        self._calls = calls
        self._version = version
        self._asking = asking
        self._open: dict[Id, Question] = {}
        self._cancelled: dict[int, tuple[Call, float]] = {}
        self._parked: dict[Call, None] = {}
        """Calls that wait for the host, that which asked last at the end."""
        self.attribution = Attribution(asking.askers)
        self.stray = StrayRoots(asking.answer_timeout)
        self.tasks: Mapping[str, Call] = {}
        """The calls that the child has made tasks of, by the task's id."""

    @property
    def is_idle(self) -> bool:
        """Whether calls come and go without any of this being concerned."""
        return self.attribution.is_idle and self.stray.is_idle

    @property
    def has_open(self) -> bool:
        """Whether the child waits for an answer."""
        return bool(self._open)

    @property
    def declares_roots(self) -> bool:
        """Whether the child was told that it may ask for roots."""
        return self._asking.declares_roots

    @property
    def deadline(self) -> float | None:
        """When `passed` wants to be called."""
        return earliest(self.attribution.deadline, self.stray.deadline)

    # The child -----------------------------------------------------------------------------------

    def asked(self, id: Id, method: str, params: Raw, now: float) -> None:
        """The child asks."""
        question = Question(id, method, params)
        if id in self._open:
            self._refuse(question, codes.INVALID_REQUEST, "A request with this id is still open")
        elif method == methods.ROOTS_LIST and self._asking.roots.fixed is not None:
            self._to_child.append(answer_line(question, self._asking.roots.fixed, self._version))
            if next(self._running(), None) is None:
                self.stray.given(now)
        elif len(self._open) >= self._asking.most_open:
            most = self._asking.most_open
            why = f"Too many questions are open; the limit is {most}"
            self._refuse(question, codes.INTERNAL_ERROR, why)
        elif (wrong := wrong_member(method, params)) is not None:
            self._refuse(question, codes.INVALID_PARAMS, f"Invalid params: {wrong}")
        else:
            self._attribute(question, now)

    def _attribute(self, question: Question, now: float) -> None:
        coaxed = self.stray.coaxed() if question.method == methods.ROOTS_LIST else None
        if coaxed is not None:
            self._open[question.id] = question
            self.carry(question, coaxed)
            return
        owner = self.tasks.get(related_task(question) or "")
        if owner is not None:
            question.call, question.certain, owner.asked = owner, True, True
            self._open[question.id] = question
            self._emit(question)
            return
        running = [*self._running(), *self._still_cancelled(now)]
        # One that was to bring roots before it starts is unknown to the child.
        parked = [call for call in self._parked if call.child_id]
        question.candidates = (*running, *parked)
        if running:
            self._open[question.id] = question
            if self.attribution.asked(question, running, now):
                self._emit(question)
        elif parked:
            self._open[question.id] = question
            self._give(question, parked[-1])
        elif question.method == methods.ROOTS_LIST:
            self._outside(question, now)
        else:
            # Under a call that has nothing to do with it, it would mislead whoever answers
            # (SEP-2260).
            self._refuse(question, codes.INVALID_PARAMS, "No request is being processed")

    def _outside(self, question: Question, now: float) -> None:
        """`roots/list` while no call is open."""
        last = self._asking.roots.last
        if not self._asking.declares_roots:
            self._refuse(question, codes.METHOD_NOT_FOUND, "The client has not declared roots")
        elif last is not None:
            self._to_child.append(answer_line(question, last, self._version))
            self.stray.given(now)
        elif self.stray.asked(question, bool(self._calls), now):
            self._open[question.id] = question
        else:
            self._refuse(question, codes.INTERNAL_ERROR, "The roots are not available")

    def withdrawn(self, id: Id) -> Question | None:
        """The child withdraws what it asked as `id`: it gets no answer any more."""
        question = self._open.pop(id, None)
        if question is not None:
            self.attribution.withdrawn(question)
            self.stray.withdrawn(question)
        return question

    def is_open(self, question: Question) -> bool:
        """Whether a question waits for its answer."""
        return self._open.get(question.id) is question

    def are_carried_by(self, call: Call) -> bool:
        """Whether a call carries any of them."""
        return any(question.call is call for question in self._open.values())

    def cancelled_call_answered(self, child_id: object, now: float) -> None:
        """The child answered a call that had been cancelled: it will not ask for it any more."""
        if isinstance(child_id, int) and self._cancelled.pop(child_id, None) is not None:
            self.settle(now)

    # The host ------------------------------------------------------------------------------------

    def answer(self, question: Question, answer: Raw, now: float) -> None:
        """The host answered; `answer` has the shape that it must have."""
        if not self._close(question):
            return
        self._to_child.append(answer_line(question, answer, self._version))
        if question.method == methods.ROOTS_LIST:
            self._asking.roots.last = answer
            others = self.stray.answered()
            for other in others:
                del self._open[other.id]
                self._to_child.append(answer_line(other, answer, self._version))
            if others or (question.call is not None and not question.call.child_id):
                self.stray.given(now)

    def refuse(self, question: Question, code: int, message: str) -> None:
        """The host cannot be asked this."""
        if self._close(question):
            self._refuse(question, code, message)
            roots = question.method == methods.ROOTS_LIST and code == codes.METHOD_NOT_FOUND
            if roots and self._asking.declares_roots and self._asking.roots.last is None:
                # A call that does declare roots may have it ask again.
                self.stray.failed()

    def fail(self, question: Question, error: Raw) -> None:
        """The host answered with an error, which is for the child."""
        if self._close(question):
            self._to_child.append(
                b'{"jsonrpc":"2.0","id":%b,"error":%b}\n' % (encode_id(question.id), bytes(error))
            )

    def give_up(self, question: Question) -> None:
        """Nobody will answer."""
        if not self._close(question):
            return
        self._to_child.append(unanswered_line(question))
        if question.method == methods.ROOTS_LIST and not question.certain:
            self.stray.failed()

    def _close(self, question: Question) -> bool:
        """Takes a question out that is to get its answer. Whether it was open."""
        if not self.is_open(question):
            return False
        del self._open[question.id]
        return True

    def leave(self, call: Call) -> None:
        """Nobody will answer what a call carries, or will come to carry."""
        self._parked.pop(call, None)
        for question in [each for each in self._open.values() if each.call is call]:
            self.give_up(question)

    def carry(self, question: Question, call: Call) -> None:
        """A call that has not been written to the child yet carries a question that is not its
        own."""
        question.candidates = ()
        self._give(question, call)

    # Calls ---------------------------------------------------------------------------------------

    def call_over(self, call: Call, now: float) -> None:
        """A call was answered or cancelled: what it carries needs another messenger."""
        self._parked.pop(call, None)
        self.attribution.ended(call)
        if call.asked:
            for question in [each for each in self._open.values() if each.call is call]:
                if question.shown and not call.cancelled:
                    continue  # the host has it before it, and will answer it or not
                if question.certain:
                    self.give_up(question)
                else:
                    self._give_to_another(question, now)
        self.settle(now)

    def call_cancelled(self, call: Call, now: float) -> None:
        """A call that had been written to the child was cancelled: it may ask all the same."""
        if call.method not in methods.TAKES_INPUT:
            return
        self._cancelled[call.child_id] = (call, now + _CANCELLED_WAIT)
        if len(self._cancelled) > _MOST_CANCELLED:
            del self._cancelled[next(iter(self._cancelled))]

    def call_parked(self, call: Call, now: float) -> None:
        """A call waits for the host."""
        self._parked[call] = None
        self.attribution.ended(call)
        self.settle(now)

    def call_resumed(self, call: Call) -> None:
        """The host has answered."""
        self._parked.pop(call, None)

    def settle(self, now: float) -> None:
        """Finds the askers that can be found by now."""
        for question in self.attribution.found(self._possible, self.are_carried_by, now):
            if question.call is not None:
                self._emit(question)
            else:
                self._give_to_another(question, now)

    def passed(self, now: float) -> list[Call]:
        """Time went by. Returned are calls that were held because of roots and may start."""
        refused, calls = self.stray.passed(now)
        for question in refused:
            self.give_up(question)
        self.settle(now)
        return calls

    # Which call ----------------------------------------------------------------------------------

    def _running(self) -> Iterator[Call]:
        for call in self._calls.values():
            if call.method in methods.TAKES_INPUT and not call.parked:
                yield call

    def _still_cancelled(self, now: float) -> list[Call]:
        for child_id, (_, until) in list(self._cancelled.items()):
            if now >= until:
                del self._cancelled[child_id]
        return [call for call, _ in self._cancelled.values()]

    def _possible(self, question: Question) -> list[Call]:
        """The candidates of a question that may still be waiting for its answer."""
        return [call for call in question.candidates if self._is_alive(call) and not call.parked]

    def _is_alive(self, call: Call) -> bool:
        if self._calls.get(call.child_id) is call:
            return True
        cancelled = self._cancelled.get(call.child_id)
        return cancelled is not None and cancelled[0] is call

    def _give_to_another(self, question: Question, now: float) -> None:
        """The messenger is gone: another call that was open when the question came carries it."""
        question.call = None
        question.shown = False
        running = [call for call in self._possible(question) if not call.cancelled]
        parked = [call for call in self._parked if call in question.candidates]
        if running:
            free = (call for call in running if not self.are_carried_by(call))
            self._give(question, next(free, running[0]))
        elif parked:
            self._give(question, parked[-1])
        else:
            self.give_up(question)

    def _give(self, question: Question, call: Call) -> None:
        question.call = call
        question.certain = False
        call.asked = True
        self._emit(question)

    def _emit(self, question: Question) -> None:
        call = question.call
        assert call is not None
        if call.cancelled:
            self.give_up(question)
            return
        if call.parked:
            self._parked[call] = self._parked.pop(call, None)
        self._events.append(Asked(question))

    def _refuse(self, question: Question, code: int, message: str) -> None:
        self._to_child.append(error_line(question.id, code, message))
        self._events.append(Refused(question.method, message))


def wrong_member(method: str, params: Raw) -> str | None:
    """The first member of a question's params that is not as every revision wants it.

    A host that got such a question could make nothing of the whole answer that it stands in.
    """
    if method == methods.ROOTS_LIST:
        return None
    members = members_of(params)
    if members is None:
        return "not an object"
    if method == methods.CREATE_MESSAGE:
        try:
            _read_list(members.get("messages", Raw(b"0")))
        except UNREADABLE:
            return "messages"
        return None
    if string_of(members.get("message")) is None:
        return "message"
    if string_of(members.get("mode")) == "url":
        return None if string_of(members.get("url")) is not None else "url"
    schema = members.get("requestedSchema")
    return None if schema is not None and is_object(schema) else "requestedSchema"
