"""The peer towards a modern child, for a host that opened with a handshake: a 2026-07-28 client.

Lives here: our ids, the legs in flight, which results end a call. Does not: the rounds of a call
that asks (rounds.py), the streams (listening.py), the host's ids. Spec 2026-07-28, basic/index,
basic/patterns/mrtr, basic/patterns/cancellation; basic/versioning (Negotiation).
"""

from collections.abc import Callable
from typing import Final

import msgspec
from msgspec import UNSET, Raw, UnsetType

from mcp_era_modern.call_lines import Envelope, write_call
from mcp_era_modern.listening import Listening, subscription_id
from mcp_era_modern.rounds import Rounds
from mcp_era_wire import codes, methods
from mcp_era_wire.deadlines import earliest
from mcp_era_wire.envelope import (
    ABSENT,
    UNREADABLE,
    Buffer,
    Id,
    Message,
    encode,
    error_line,
    notification_line,
    number_of,
    read_error_head,
)
from mcp_era_wire.events import (
    NO_LEVEL,
    Asked,
    Call,
    Changed,
    ChildEvent,
    Completed,
    Dropped,
    Failed,
    Logged,
    Progressed,
    Question,
    Refused,
    Stray,
    Withdrawn,
)
from mcp_era_wire.members import members_of, strings_of
from mcp_era_wire.notices import cancelled_id, notice, progress_in
from mcp_era_wire.refusal import Refusal, bridge_error
from mcp_era_wire.versions import MODERN_VERSIONS, newest_common

_COMPLETE: Final = "complete"
_INPUT_REQUIRED: Final = "input_required"


class _ResultHead(msgspec.Struct, frozen=True, gc=False):
    """What decides how a result is to be read; one without it is complete (basic, ResultType)."""

    result_type: str = msgspec.field(default=_COMPLETE, name="resultType")


_read_result_head: Final = msgspec.json.Decoder(_ResultHead).decode


def _invalid(message: str) -> Raw:
    return Refusal(codes.INTERNAL_ERROR, message, bridge_error("invalid_result")).error


class ModernPeer:
    """What one child process is asked, one request after the other.

    Lines for the child are appended to `to_child`. What happens other than in answer to a line of
    the child is left in `events`. `fresh_id` gives ids that nobody else uses on this child,
    `was_given` tells whether one was given by it. `most_questions` is how many a call may ask at
    once, `patience` how long, in seconds, it may ask whether the user is done at a URL. Times are
    in seconds.
    """

    def __init__(
        self,
        to_child: list[Buffer],
        fresh_id: Callable[[], int],
        was_given: Callable[[object], bool],
        capabilities: Raw,
        envelope: Envelope,
        *,
        most_questions: int = 1024,
        patience: float = 600.0,
    ) -> None:
        self._to_child = to_child
        self._fresh_id = fresh_id
        self._was_given = was_given
        self._envelope = envelope
        self._most_questions = most_questions
        self._patience = patience
        self.level = NO_LEVEL
        """What the host wants logged, an index of LOG_LEVELS: every request says so from now on."""
        self.events: list[ChildEvent] = []
        self._calls: dict[int, Call] = {}
        """The calls whose leg is at the child, by our id."""
        self._rounds: dict[Call, Rounds] = {}
        """The calls that have been answered `input_required`."""
        self._asked_again: set[Call] = set()
        """The calls whose version was refused once."""
        self.listening = Listening(
            to_child, self.events, fresh_id, capabilities, lambda: envelope.text(-1)
        )

    @property
    def deadline(self) -> float | None:
        """When `passed` wants to be called."""
        due = self.listening.deadline
        for rounds in self._rounds.values():
            due = earliest(due, rounds.due)
        return due

    @property
    def asking(self) -> int:
        """How many calls wait for answers of the host."""
        return sum(bool(rounds.open) for rounds in self._rounds.values())

    # The host ------------------------------------------------------------------------------------

    def begin(self, call: Call, now: float) -> None:
        """Sends a call."""
        call.child_id = id = self._fresh_id()
        self._calls[id] = call
        write_call(self._to_child, id, call, self._envelope.text(self.level))

    def cancel(self, call: Call, reason: Raw | None, now: float) -> None:
        """Nobody waits for a call any more: neither the child nor the host is to work for it."""
        if self._calls.pop(call.child_id, None) is call:
            params: dict[str, object] = {"requestId": call.child_id}
            if reason is not None:
                params["reason"] = reason
            self._to_child.append(notification_line(methods.CANCELLED, encode(params)))
        self._over(call)

    def answer(self, question: Question, answer: Raw, now: float) -> None:
        """The host answered a question."""
        rounds = self._of(question)
        if rounds is not None:
            rounds.answer(question, answer)
            self._go_on_if_ready(rounds)

    def fail(self, question: Question, error: Raw, now: float) -> None:
        """The host answered a question with an error.

        An elicitation is cancelled then. For the others there is no answer that the child could be
        given, so the call is over (client/sampling, client/roots, Error Handling).
        """
        rounds = self._of(question)
        if rounds is None:
            return
        if question.method == methods.ELICIT:
            rounds.cancel(question)
            self._go_on_if_ready(rounds)
            return
        del rounds.open[str(question.id)]
        self._over(rounds.call)
        self.events.append(Failed(rounds.call, error))

    def _of(self, question: Question) -> Rounds | None:
        rounds = self._rounds.get(question.call) if question.call is not None else None
        return rounds if rounds is not None and rounds.has(question) else None

    def watch(self, uri: str, now: float) -> None:
        """The host wants to hear of changes of a resource; see Watched."""
        self.listening.watch(uri, now)

    def unwatch(self, uri: str, now: float) -> None:
        """The host does not want to hear of them any more."""
        self.listening.unwatch(uri, now)

    def notify(self, method: str, params: bytes) -> None:
        """Passes a notification on."""
        self._to_child.append(notification_line(method, params))

    # The child -----------------------------------------------------------------------------------

    def plain_answer(self, message: Message) -> Call | None:
        """The call that a complete result answers, if that is all there is to it; else `receive`
        it."""
        id = message.id
        call = self._calls.get(id) if type(id) is int else None
        if (
            call is None
            or call.asked
            or self._asked_again
            or message.result is ABSENT
            or message.error is not ABSENT
        ):
            return None
        try:
            if _read_result_head(message.result).result_type != _COMPLETE:
                return None
        except UNREADABLE:
            return None
        del self._calls[call.child_id]
        return call

    def receive(self, message: Message, now: float) -> ChildEvent | None:
        """Takes one message of the child. None means that it has been dealt with here."""
        id = message.id
        if message.method is UNSET:
            call = self._calls.pop(id, None) if type(id) is int else self._take_call(id)
            if call is None and id is UNSET and message.is_failure and len(self._calls) == 1:
                # An error for nobody can only be meant for the one that waits.
                call = self._calls.popitem()[1]
            if call is None:
                return self._other_answer(message, now)
            if message.is_failure:
                return self._failed(call, message.error, now)
            return self._answered(call, message.result, now)
        if id is UNSET:
            return self._notification(message.method, message.params, now)
        # Nobody may ask a client anything, but one that does waits for an answer.
        why = f"{message.method} is not a request that a server may send"
        self._to_child.append(error_line(id, codes.METHOD_NOT_FOUND, why))
        return Refused(message.method, why)

    def knows(self, id: Id | UnsetType) -> bool:
        """Whether a response with this id is for us."""
        number = number_of(id)
        return number is not None and (number in self._calls or self.listening.has(number))

    def _answered(self, call: Call, result: Raw, now: float) -> ChildEvent | None:
        try:
            kind = _read_result_head(result).result_type
        except UNREADABLE:
            self._over(call)
            return Failed(call, _invalid("The server returned an invalid result"))
        if kind == _COMPLETE:
            if call.asked or self._asked_again:
                self._over(call)
            return Completed(call, result)
        if kind == _INPUT_REQUIRED and call.method in methods.TAKES_INPUT:
            return self._input_required(call, result, now)
        self._over(call)
        return Failed(call, _invalid(f"The server returned a result of the type {kind}"))

    def _input_required(self, call: Call, result: Raw, now: float) -> ChildEvent | None:
        call.asked = True
        rounds = self._rounds.get(call)
        if rounds is None:
            rounds = self._rounds[call] = Rounds(call, self._envelope.capabilities)
        asked = rounds.begin(result, self._most_questions, self._patience, now)
        if isinstance(asked, Refusal):
            rounds.open = {}
            self._over(call)
            return Failed(call, asked.error)
        self.events += [Asked(question) for question in asked]
        return None

    def _go_on_if_ready(self, rounds: Rounds) -> None:
        if rounds.is_ready:
            self._make_again(rounds.call, rounds.members())

    def _make_again(self, call: Call, more: bytes = b"") -> None:
        """The next leg of a call, under a new id (basic/patterns/mrtr, Client Requirements)."""
        call.child_id = id = self._fresh_id()
        self._calls[id] = call
        write_call(self._to_child, id, call, self._envelope.text(self.level), more)

    def _failed(self, call: Call, error: Raw, now: float) -> ChildEvent | None:
        head = read_error_head(error)
        if head.code == codes.UNSUPPORTED_PROTOCOL_VERSION:
            supported = strings_of((members_of(head.data) or {}).get("supported")) or []
            common = newest_common(supported, MODERN_VERSIONS)
            if common is None:
                error = no_common_version(supported).error
            elif call in self._asked_again:
                error = _contradiction(common, supported).error
            else:
                # It was refused before any work was done on it.
                self._asked_again.add(call)
                rounds = self._rounds.get(call)
                self._make_again(call, rounds.members() if rounds is not None else b"")
                return None
        self._over(call)
        return Failed(call, error)

    def _over(self, call: Call) -> None:
        """A call has ended: whatever it asks the host needs no answer any more."""
        self._asked_again.discard(call)
        rounds = self._rounds.pop(call, None)
        if rounds is not None:
            self.events += [Withdrawn(question) for question in rounds.open.values()]

    def _take_call(self, id: Id | UnsetType) -> Call | None:
        number = number_of(id)
        return self._calls.pop(number, None) if number is not None else None

    def _other_answer(self, message: Message, now: float) -> ChildEvent | None:
        number = number_of(message.id)
        if number is not None and self.listening.has(number):
            self.listening.answered(number, message, now)
            return None
        return Stray(message)

    def _notification(self, method: str, params: Raw, now: float) -> ChildEvent | None:
        if method == methods.PROGRESS:
            read = progress_in(params)
            call = self._calls.get(read.token) if read is not None else None
            if read is None or call is None or call.progress_token is None:
                late = read is not None and self._was_given(read.token)
                return None if late else Dropped(method)
            return Progressed(call, read.progress, params)
        if method == methods.LOG_MESSAGE:
            return Logged(params)
        if method == methods.SUBSCRIPTIONS_ACKNOWLEDGED:
            ours = self.listening.acknowledged(params, now)
            return None if ours or self._was_given(subscription_id(params)) else Dropped(method)
        if method == methods.CANCELLED:
            ours = self.listening.cancelled(params, now)
            return None if ours or self._was_given(cancelled_id(params)) else Dropped(method)
        told = notice(method, params)
        if not isinstance(told, Changed):
            return told
        changed = self.listening.changed(told)
        if changed is None and self._was_given(subscription_id(params)):
            return None  # of a stream that is over
        return changed or Dropped(method)

    # Time, and the end ---------------------------------------------------------------------------

    def passed(self, now: float) -> None:
        """Time went by."""
        self.listening.passed(now)
        for rounds in list(self._rounds.values()):
            if rounds.due is not None and now >= rounds.due:
                self._make_again(rounds.call, rounds.members())

    def give_up_call(self, id: Id, error: Raw, now: float) -> Call | None:
        """Takes the call out that the child knows as `id`: its answer cannot be read. If it is that
        of a stream, the stream has ended with `error`."""
        call = self._take_call(id)
        if call is not None:
            self._over(call)
        number = number_of(id)
        if number is not None and self.listening.has(number):
            self.listening.failed(number, error, now)
        return call

    def lost_answers(self) -> list[Call]:
        """Takes all calls out that the child has: it may have answered any of them."""
        calls = list(self._calls.values())
        self._calls.clear()
        for call in calls:
            self._over(call)
        return calls

    def lost(self) -> list[Call]:
        """The child is gone: the calls that it will not answer any more. What they ask the host is
        withdrawn."""
        calls = list(dict.fromkeys([*self._calls.values(), *self._rounds]))
        self._calls.clear()
        for call in calls:
            self._over(call)
        return calls


def _contradiction(version: str, supported: list[str]) -> Refusal:
    return Refusal(
        codes.INTERNAL_ERROR,
        f"The server refuses {version} and names it as supported",
        bridge_error("no_common_version", supported=supported),
    )


def no_common_version(supported: list[str]) -> Refusal:
    """The child speaks none of the versions that we do; `supported` are those that it named."""
    named = ", ".join(supported) or "no version that it names"
    return Refusal(
        codes.INTERNAL_ERROR,
        f"The server speaks {named}; this bridge speaks {', '.join(MODERN_VERSIONS)}",
        bridge_error("no_common_version", supported=supported),
    )
