"""The rounds of a call that a modern child answers `input_required`, as its client leads them.

Lives here: the reading of an InputRequiredResult, the answers that are there already, when the call
is due to be made again and with what. Does not: the lines (peer.py), the host that is asked
(legacy/). Spec 2026-07-28, basic/patterns/mrtr (Client Requirements); client/elicitation (URL Mode
Flow).
"""

from typing import Final

import msgspec
from msgspec import Raw

from mcp_era_modern.input_requests import accepts
from mcp_era_wire import codes, methods
from mcp_era_wire.capabilities import covers, required_for
from mcp_era_wire.envelope import ABSENT, UNREADABLE, encode
from mcp_era_wire.events import Call, Question
from mcp_era_wire.members import Members, is_object, is_string, members_of, open_object, string_of
from mcp_era_wire.refusal import Refusal, bridge_error

MOST_ROUNDS: Final = 10
"""How often a call is made again; official clients stop there too."""
_POLL: Final = (0.05, 0.25)
"""Seconds before a call that was asked nothing is made again, at first and at most: they double."""
_REVISIT: Final = (1.0, 10.0)
"""The same for one that waits for the user to be done at a URL."""
_CANCELLED: Final = Raw(b'{"action":"cancel"}')


class Rounds(msgspec.Struct, eq=False):
    """One call with questions. `capabilities` are those that the child was told of. `open` are the
    questions that the host has not answered, by their key in `inputRequests`; `answers` are there
    for the next leg. Times are in seconds."""

    call: Call
    capabilities: Raw
    count: int = 0
    state: Raw | None = None
    open: dict[str, Question] = {}
    answers: dict[str, Raw] = {}
    due: float | None = None
    """When the call is made again, if nobody is asked anything."""
    _wait: float = 0.0
    _urls: dict[str, tuple[str, str]] = {}
    """The URL and the text of the elicitations in this round that are about one."""
    _visited: set[tuple[str, str]] = set()
    """Those that the user has agreed to visit in the round before."""
    _visiting_since: float | None = None

    @property
    def is_ready(self) -> bool:
        """Whether the call can be made again at once."""
        return not self.open and self.due is None

    def begin(
        self, result: Raw, most_questions: int, patience: float, now: float
    ) -> list[Question] | Refusal:
        """Reads an InputRequiredResult: what the host is to be asked, or why the call fails."""
        read = _read(result)
        if isinstance(read, Refusal):
            return read
        self.state, requests = read
        if len(requests) > most_questions:
            return _broken(f"The server asked {len(requests)} questions at once", "too_many")
        urls: dict[str, tuple[str, str]] = {}
        asked: list[Question] = []
        self.answers = {}
        for key, entry in requests.items():
            question = self._question(key, entry)
            if isinstance(question, Refusal):
                return question
            url = _url_of(question)
            if url is not None:
                urls[key] = url
            if url is not None and url in self._visited:
                # The user has agreed; the server asks whether it is done.
                self.answers[key] = Raw(b'{"action":"accept"}')
            else:
                asked.append(question)
        visited = {urls[key] for key in self.answers}
        self._urls = urls
        self._visited = visited
        self.open = {str(question.id): question for question in asked}
        revisits = bool(self.answers) and not asked
        if not revisits:
            self._visiting_since = None
            self.count += 1
        elif self._visiting_since is None:
            self._visiting_since = now
        elif now - self._visiting_since >= patience:
            return _broken("The interaction behind a URL has not ended in time", "url_timeout")
        if self.count > MOST_ROUNDS:
            return _broken(f"The server asked in more than {MOST_ROUNDS} rounds", "too_many_rounds")
        self._pace(asked, _REVISIT if revisits else _POLL, now)
        return asked

    def _pace(self, asked: list[Question], pace: tuple[float, float], now: float) -> None:
        if asked:
            self._wait = 0.0
            self.due = None
            return
        first, most = pace
        self._wait = max(first, min(self._wait * 2, most))
        self.due = now + self._wait

    def _question(self, key: str, entry: Raw) -> Question | Refusal:
        members = members_of(entry) or {}
        method = string_of(members.get("method"))
        if method not in methods.QUESTIONS:
            return _broken(f"The server asked for {method or 'nothing'}", "invalid_result")
        params = members.get("params", ABSENT)
        if params is not ABSENT and not is_object(params):
            return _broken(f"The server's {method} has no params", "invalid_result")
        required = required_for(method, params)
        if not covers(self.capabilities, required):
            what = ".".join([*required, *next(iter(required.values()))])
            return _broken(
                f"The server asked for {what}, which the host has not declared", "not_declared"
            )
        return Question(key, method, params, self.call, certain=True)

    def answer(self, question: Question, answer: Raw) -> None:
        """The host answered a question of this round."""
        key = str(question.id)
        del self.open[key]
        self.answers[key] = answer
        url = self._urls.get(key)
        if url is not None and accepts(answer):
            self._visited.add(url)

    def cancel(self, question: Question) -> None:
        """The host could not answer an elicitation; there is no error for the child to have."""
        self.answer(question, _CANCELLED)

    def has(self, question: Question) -> bool:
        """Whether a question waits for its answer."""
        return self.open.get(str(question.id)) is question

    def members(self) -> bytes:
        """What the next leg bears beside its params, as JSON with a comma in front."""
        text = b""
        if self.answers:
            text += b',"inputResponses":' + encode(self.answers)
        if self.state is not None:
            # Exactly as it came (basic/patterns/mrtr, Client Requirements).
            text += b',"requestState":' + bytes(self.state)
        self.due = None
        return text


def _read(result: Raw) -> tuple[Raw | None, Members] | Refusal:
    members = members_of(result) or {}
    state = members.get("requestState")
    if state is not None and not is_string(state):
        return _broken("The server's requestState is not a string", "invalid_result")
    requests = members.get("inputRequests")
    try:
        entries = open_object(requests) if requests is not None else {}
    except UNREADABLE:
        return _broken("The server's inputRequests are not an object", "invalid_result")
    if not entries and state is None:
        return _broken("The server wants input and says not which", "invalid_result")
    return state, entries


def _url_of(question: Question) -> tuple[str, str] | None:
    if question.method != methods.ELICIT:
        return None
    members = members_of(question.params) or {}
    url = string_of(members.get("url"))
    if url is None or string_of(members.get("mode")) != "url":
        return None
    return url, string_of(members.get("message")) or ""


def _broken(message: str, reason: str) -> Refusal:
    return Refusal(codes.INTERNAL_ERROR, message, bridge_error(reason))
