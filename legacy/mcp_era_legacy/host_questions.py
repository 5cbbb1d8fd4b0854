"""The questions of a modern server as the requests that a legacy host gets, and its answers.

Lives here: the ids of these requests, which of them are open, what an older revision does not know
in them, the interactions behind URLs. Does not: what becomes of an answer (modern/, rounds.py).
Spec 2025-11-25, client/elicitation, client/sampling, client/roots; schema.ts of each revision.
"""

from collections.abc import Callable
from typing import Final

import msgspec
from msgspec import UNSET, Raw

from mcp_era_legacy.content_blocks import fitted_block
from mcp_era_wire import codes, methods
from mcp_era_wire.envelope import (
    ABSENT,
    UNREADABLE,
    Buffer,
    Id,
    Message,
    encode,
    notification_line,
    request_line,
)
from mcp_era_wire.events import Call, Question, QuestionAnswered, QuestionFailed
from mcp_era_wire.members import Members, members_of, string_of
from mcp_era_wire.refusal import Refusal, bridge_error

_MODE_SINCE: Final = "2025-11-25"
_ARRAYS_SINCE: Final = "2025-11-25"
_NO_ANSWER: Final = Refusal(
    codes.INTERNAL_ERROR,
    "The host's answer has no result",
    bridge_error("invalid_result"),
).error

_read_values: Final = msgspec.json.Decoder(list[Raw]).decode


class HostQuestions:
    """The questions that one legacy host of `version` has been asked.

    Lines are appended to `to_host`. `fresh_number` makes their ids, and `name` makes elicitationIds
    unlike any other's.
    """

    def __init__(
        self, to_host: list[Buffer], version: str, name: str, fresh_number: Callable[[], int]
    ) -> None:
        self._to_host = to_host
        self._version = version
        self._name = name
        self._fresh_number = fresh_number
        self._open: dict[Id, Question] = {}
        self._interactions: dict[Call, dict[Question, str]] = {}
        """The elicitationIds of each call's URLs that the user has been sent to."""

    def __len__(self) -> int:
        return len(self._open)

    def ask(self, question: Question) -> None:
        """Puts a question to the host."""
        number = self._fresh_number()
        id = f"b-{number}"
        self._open[id] = question
        question.shown = True
        params = self._fitted(question, number)
        self._to_host.append(request_line(id, question.method, params))

    def _fitted(self, question: Question, number: int) -> bytes:
        members = members_of(question.params) if question.params is not ABSENT else None
        if members is None:
            return b""
        if question.method == methods.CREATE_MESSAGE and self._version < _ARRAYS_SINCE:
            _fit_messages(members, self._version)
        elif question.method == methods.ELICIT:
            if self._version < _MODE_SINCE:
                members.pop("mode", None)
            elif string_of(members.get("mode")) == "url" and "elicitationId" not in members:
                elicitation = f"{self._name}-{number}"
                members["elicitationId"] = Raw(encode(elicitation))
                assert question.call is not None
                self._interactions.setdefault(question.call, {})[question] = elicitation
        return encode(members)

    def answered(self, message: Message) -> QuestionAnswered | QuestionFailed | None:
        """What a response of the host says, if it answers a question that is open."""
        question = self._open.pop(message.id, None) if message.id is not UNSET else None
        if question is None:
            return None
        if message.is_failure:
            self._no_interaction(question)
            return QuestionFailed(question, message.error)
        answer = members_of(message.result) if message.result is not ABSENT else None
        if answer is None:
            self._no_interaction(question)
            return QuestionFailed(question, _NO_ANSWER)
        if string_of(answer.get("action")) != "accept":
            self._no_interaction(question)
        return QuestionAnswered(question, message.result)

    def _no_interaction(self, question: Question) -> None:
        if question.call is not None:
            self._interactions.get(question.call, {}).pop(question, None)

    def withdraw(self, question: Question) -> None:
        """The answer is not wanted any more."""
        for id, other in self._open.items():
            if other is question:
                del self._open[id]
                self._no_interaction(question)
                params = encode({"requestId": id})
                self._to_host.append(notification_line(methods.CANCELLED, params))
                return

    def withdraw_unless(self, is_wanted: Callable[[Question], bool]) -> None:
        """The answers to all others are not wanted any more."""
        for question in [each for each in self._open.values() if not is_wanted(each)]:
            self.withdraw(question)

    def forget(self, call: Call) -> None:
        """Nobody waits for a call any more, nor for what it has sent the user to."""
        self._interactions.pop(call, None)

    def call_over(self, call: Call) -> None:
        """A call has ended: so have the interactions that it sent the user to."""
        for elicitation in self._interactions.pop(call, {}).values():
            params = encode({"elicitationId": elicitation})
            self._to_host.append(notification_line(methods.ELICITATION_COMPLETE, params))


def _fit_messages(members: Members, version: str) -> None:
    """A message with several blocks of content as several messages with one (client/sampling), and
    each block as the revision knows it."""
    try:
        messages = _read_values(members.get("messages", ABSENT))
    except UNREADABLE:
        return
    fitted: list[object] = []
    for message in messages:
        parts = members_of(message) or {}
        content = parts.get("content", ABSENT)
        try:
            blocks = _read_values(content)
        except UNREADABLE:
            blocks = [content]
        if content is ABSENT:
            fitted.append(message)
        else:
            fitted += [{**parts, "content": fitted_block(block, version)} for block in blocks]
    members["messages"] = Raw(encode(fitted))
