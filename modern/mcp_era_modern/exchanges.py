"""Calls that ask: `input_required`, the host's retry, and so on until the call has its answer.

Lives here: which questions a leg is answered with, the parked calls, what a retry must bring, the
questions that a leg does not cover. Does not: which call a question belongs to (legacy/), the text
of an entry (input_requests.py), the token (request_state.py). Spec 2026-07-28, basic/patterns/mrtr;
basic/index (Per-request protocol fields).
"""

from typing import Final, TypeAlias

from msgspec import Raw

from mcp_era_modern.errors import URL_ELICITATION, capability_refusal
from mcp_era_modern.exchange import Exchange, Kept, Limits, Retry
from mcp_era_modern.input_requests import accepts, input_request, is_answer, refusal_code
from mcp_era_modern.request_meta import RequestMeta
from mcp_era_modern.request_state import Claim, Seal, same_call
from mcp_era_wire import codes, methods
from mcp_era_wire.capabilities import Required, covers, required_for
from mcp_era_wire.deadlines import earliest
from mcp_era_wire.envelope import Buffer, Id, encode, result_line
from mcp_era_wire.events import (
    Call,
    CallExpired,
    CallReissued,
    Completed,
    Failed,
    HostEvent,
    LegEnded,
    Question,
    QuestionDropped,
    QuestionRefused,
)
from mcp_era_wire.members import Members, members_of, string_of
from mcp_era_wire.refusal import Refusal, bridge_error

GATHERING: Final = 0.02
"""Seconds in which further questions join the first: hosts stop after ten rounds."""
LATE_GATHERING: Final = 0.25
"""The same when few rounds are left."""
_LATE_ROUND: Final = 8
COMPLETION_WAIT: Final = 30.0
"""Seconds that a call may wait for the interactions behind URLs before it is sent again."""
_MOST_AWAITED: Final = 64

_DECLINED_TEXT: Final = "The requested URL interaction was declined."
_DECLINED: Final = Refusal(codes.INTERNAL_ERROR, _DECLINED_TEXT, bridge_error("declined"))
_DECLINED_RESULT: Final = Raw(
    encode({"content": [{"type": "text", "text": _DECLINED_TEXT}], "isError": True})
)

Wanted: TypeAlias = tuple[Raw, str]
"""The params of an elicitation in URL mode, and its elicitationId or nothing."""


class Exchanges:
    """The calls of a modern host that have been asked something.

    Lines for the host are appended to `to_host`, what happens to `events`. Times are in seconds.
    """

    def __init__(
        self,
        to_host: list[Buffer],
        breaks: list[int],
        events: list[HostEvent],
        seal: Seal,
        limits: Limits,
    ) -> None:
        self._to_host = to_host
        self._breaks = breaks
        self._events = events
        self._seal = seal
        self._limits = limits
        self._handle = 0
        self._exchanges: dict[Call, Exchange] = {}
        self._by_handle: dict[int, Exchange] = {}
        self._gathering: dict[Call, Exchange] = {}
        self._parked: dict[Call, Exchange] = {}
        """By the age of their last leg."""
        self._completing: dict[Call, Exchange] = {}
        self._legs: dict[Id, Exchange] = {}
        """Parked calls by the id of their last leg."""
        self._children: set[int] = set()
        self.identity = b""
        """The member that names the server, as JSON, with a comma in front."""

    def __len__(self) -> int:
        """How many calls have questions, or had some and are not over."""
        return len(self._exchanges)

    def __contains__(self, call: Call) -> bool:
        return call in self._exchanges

    def concern(self, child: int) -> bool:
        """Whether any of them is one of the child process number `child`."""
        return any(exchange.child == child for exchange in self._exchanges.values())

    def child_of(self, call: Call) -> int:
        """The number of the child process that has asked during a call."""
        return self._exchanges[call].child

    @property
    def deadline(self) -> float | None:
        """When `passed` wants to be called."""
        if not self._exchanges:
            return None
        first_parked = next(iter(self._parked.values()), None)
        return earliest(
            *(exchange.until for exchange in self._gathering.values()),
            *(exchange.until for exchange in self._completing.values()),
            first_parked.until if first_parked is not None else None,
        )

    # The child -----------------------------------------------------------------------------------

    def child_ready(self, child: int) -> None:
        """The process can be asked."""
        self._children.add(child)

    def child_gone(self, child: int) -> list[Call]:
        """The process is gone, and with it whatever was parked. Returned are the calls that the
        host waits for."""
        self._children.discard(child)
        gone = [exchange for exchange in self._exchanges.values() if exchange.child == child]
        for exchange in gone:
            self._forget(exchange)
        return [exchange.call for exchange in gone if not exchange.call.parked]

    def ask(self, question: Question, child: int, now: float) -> None:
        """A question of the child process number `child` goes to the host with its call."""
        call = question.call
        assert call is not None
        exchange = self._of(call, child)
        exchange.certain = exchange.certain or question.certain
        if call.parked or self._is_covered(exchange, question):
            exchange.waiting.append(question)
            if not call.parked:
                self._gather(exchange, now)

    def withdraw(self, question: Question) -> None:
        """The child does not want to know any more; the host's answer will be ignored."""
        exchange = self._exchanges.get(question.call) if question.call is not None else None
        if exchange is None:
            return
        if question in exchange.waiting:
            exchange.waiting.remove(question)
            if not exchange.waiting and not exchange.shown:
                self._gathering.pop(exchange.call, None)
        for key, other in list(exchange.shown.items()):
            if other is question:
                del exchange.shown[key]

    def wants_urls(self, call: Call, wanted: list[Wanted], child: int, now: float) -> None:
        """The child refused a call until the user has been to some URLs: the host is asked, and
        then the call is sent again."""
        exchange = self._of(call, child)
        exchange.certain = exchange.refused = True
        exchange.declined = False
        exchange.answer = None
        exchange.waiting.clear()
        exchange.awaited = {id for _, id in wanted[:_MOST_AWAITED] if id}
        for number, (params, _) in enumerate(wanted, 1):
            question = Question(f"url-{number}", methods.ELICIT, params, call, certain=True)
            exchange.own.add(question)
            exchange.waiting.append(question)
        self._park(exchange, now)

    def elicitation_completed(self, elicitation_id: str) -> None:
        """The interaction behind a URL is over."""
        for exchange in self._exchanges.values():
            exchange.awaited.discard(elicitation_id)
        for exchange in list(self._completing.values()):
            self._send_again_if_done(exchange)

    def ended(self, answer: Completed | Failed) -> bool:
        """The child answered a call. Whether that is kept for the host's next leg, or nobody waits
        for it any more; else the answer is due."""
        call = answer.call
        exchange = self._exchanges.get(call)
        if exchange is None:
            return call.parked
        if call.parked:
            exchange.answer = answer
            # What has not been put to the host is somebody else's by now, or settled.
            exchange.waiting.clear()
            return True
        return False

    def over(self, call: Call) -> Required | None:
        """A call that is not parked has its answer, or nobody wants it. Returned is what it would
        have needed to be asked its own questions."""
        exchange = self._exchanges.get(call)
        if exchange is None:
            return None
        self._forget(exchange)
        return exchange.missed

    def progress(self, call: Call, progress: float, params: Raw) -> None:
        """A parked call reports progress: its next leg will."""
        exchange = self._exchanges.get(call)
        if exchange is not None:
            exchange.progress = progress, params

    # The host ------------------------------------------------------------------------------------

    def retry(
        self, id: Id, method: str, params: Members, meta: RequestMeta, now: float
    ) -> Retry | Refusal:
        """A request that brings a `requestState`."""
        token = string_of(params["requestState"])
        responses = params.get("inputResponses")
        if token is None:
            return _not_accepted("malformed")
        claim = self._seal.read(token)
        if isinstance(claim, str):
            return _not_accepted(claim)
        exchange = self._by_handle.get(claim.handle)
        if exchange is None and claim.child not in self._children:
            return _not_accepted("restarted")
        if now * 1000 >= claim.expires:
            return _not_accepted("expired")
        if exchange is None:
            return _not_accepted("used")
        call = exchange.call
        if method != call.method or not same_call(method, call.params, params):
            return _not_accepted("mismatch")
        if not call.parked or claim.round != exchange.round:
            return _not_accepted("used")
        given = members_of(responses) if responses is not None else {}
        if given is None:
            return _malformed("inputResponses")
        for key, question in exchange.shown.items():
            if key in given and not is_answer(question.method, given[key]):
                return _malformed(key)
        self._unpark(exchange, id, meta)
        return Retry(call, self._taken(exchange, given))

    def _unpark(self, exchange: Exchange, id: Id, meta: RequestMeta) -> None:
        call = exchange.call
        del self._parked[call]
        if self._legs.get(call.id) is exchange:
            del self._legs[call.id]
        if meta.progress_token != call.progress_token:
            call.progress = None
        call.parked = False
        call.id = id
        call.capabilities = meta.capabilities
        call.progress_token = meta.progress_token
        call.log_level = meta.log_level

    def resumed(self, call: Call, now: float) -> Kept | Refusal | None:
        """The answers of a retry have been delivered. Returned is what its leg is due now; the call
        is over then."""
        exchange = self._exchanges[call]
        if exchange.answer is not None:
            self._events.extend(map(QuestionDropped, exchange.shown.values()))
            exchange.shown = {}
            return Kept(exchange.answer, exchange.progress)
        if exchange.declined:
            # What a user does not want is for the model to know; only tools have words for it.
            if call.method == methods.TOOLS_CALL:
                return Kept(Completed(call, _DECLINED_RESULT), None)
            return _DECLINED
        if exchange.own and not covers(call.capabilities, URL_ELICITATION):
            return capability_refusal(URL_ELICITATION, "The URLs cannot be shown")
        exchange.shown = {
            key: question
            for key, question in exchange.shown.items()
            if self._is_covered(exchange, question)
        }
        exchange.waiting = [each for each in exchange.waiting if self._is_covered(exchange, each)]
        if exchange.shown:
            self._park(exchange, now)
        elif exchange.waiting:
            self._gather(exchange, now)
        elif exchange.refused:
            exchange.until = now + COMPLETION_WAIT
            self._completing[call] = exchange
            self._send_again_if_done(exchange)
        if call.parked or exchange.progress is None:
            return None
        progress, exchange.progress = exchange.progress, None
        return Kept(None, progress)

    def abandoned(self, leg: Id) -> Call | None:
        """The host cancels a leg that has been answered: the parked call is given up."""
        exchange = self._legs.get(leg)
        if exchange is None:
            return None
        self._forget(exchange)
        return exchange.call

    def passed(self, now: float) -> None:
        """Time went by."""
        for exchange in [each for each in self._gathering.values() if now >= each.until]:
            self._park(exchange, now)
        while self._parked:
            exchange = next(iter(self._parked.values()))
            if now < exchange.until:
                break
            self._forget(exchange)
            self._events.append(CallExpired(exchange.call, exchange.certain))
        for exchange in [each for each in self._completing.values() if now >= each.until]:
            exchange.awaited.clear()
            self._send_again_if_done(exchange)

    # How it is done ------------------------------------------------------------------------------

    def _of(self, call: Call, child: int) -> Exchange:
        exchange = self._exchanges.get(call)
        if exchange is None:
            self._handle += 1
            exchange = self._exchanges[call] = Exchange(call, child, self._handle)
            self._by_handle[self._handle] = exchange
        return exchange

    def _forget(self, exchange: Exchange) -> None:
        call = exchange.call
        del self._exchanges[call]
        del self._by_handle[exchange.handle]
        for table in (self._gathering, self._parked, self._completing):
            table.pop(call, None)
        if self._legs.get(call.id) is exchange:
            del self._legs[call.id]

    def _is_covered(self, exchange: Exchange, question: Question) -> bool:
        """Whether the present leg may carry a question; if not, the child is told so, and the call
        goes on without."""
        call = exchange.call
        required = required_for(question.method, question.params)
        if not covers(call.capabilities, required):
            if question.certain:
                exchange.missing.append(required)
            code, message = refusal_code(question, required, call.capabilities)
        elif call not in self._gathering and self.is_full():
            code, message = codes.INTERNAL_ERROR, "Too many calls wait for the user"
        else:
            return True
        self._events.append(QuestionRefused(question, code, message))
        return False

    def is_full(self) -> bool:
        """Whether no more calls may be parked; those that are about to be count."""
        return len(self._parked) + len(self._gathering) >= self._limits.most_parked

    def _gather(self, exchange: Exchange, now: float) -> None:
        if exchange.call not in self._gathering:
            late = exchange.round + 1 >= _LATE_ROUND
            exchange.until = now + (LATE_GATHERING if late else GATHERING)
            self._gathering[exchange.call] = exchange

    def _park(self, exchange: Exchange, now: float) -> None:
        """Answers the leg `input_required`."""
        call = exchange.call
        self._gathering.pop(call, None)
        exchange.show_more()
        exchange.round += 1
        exchange.until = now + self._limits.answer_timeout
        entries: dict[str, object] = {
            key: input_request(question, call.capabilities)
            for key, question in exchange.shown.items()
        }
        token = self._seal.seal(
            Claim(
                exchange.child,
                exchange.handle,
                exchange.round,
                int(exchange.until * 1000),
                self._seal.digest(call.method, call.params),
            )
        )
        if call.progress is not None:
            self._breaks.append(len(self._to_host))
        result = b'{"resultType":"input_required","inputRequests":%b,"requestState":%b%b}' % (
            encode(entries),
            encode(token),
            self.identity,
        )
        self._to_host.append(result_line(call.id, result))
        call.parked = True
        self._parked[call] = exchange
        self._legs[call.id] = exchange
        self._events.append(LegEnded(call, call.id))

    def _send_again_if_done(self, exchange: Exchange) -> None:
        if not exchange.awaited:
            exchange.refused = False
            self._completing.pop(exchange.call, None)
            self._events.append(CallReissued(exchange.call))

    def _taken(self, exchange: Exchange, given: Members) -> list[tuple[Question, Raw]]:
        """Takes the questions that have been answered out; those for the child are returned."""
        answers: list[tuple[Question, Raw]] = []
        for key, question in list(exchange.shown.items()):
            value = given.get(key)
            if value is None:
                continue
            del exchange.shown[key]
            if question not in exchange.own:
                answers.append((question, value))
                continue
            exchange.own.discard(question)
            exchange.declined = exchange.declined or not accepts(value)
        return answers


def _not_accepted(reason: str) -> Refusal:
    return Refusal(codes.INVALID_PARAMS, "requestState was not accepted", {"reason": reason})


def _malformed(key: str) -> Refusal:
    return Refusal(codes.INVALID_PARAMS, f"Malformed inputResponses: {key}", {"key": key})
