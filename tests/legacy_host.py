"""A model of a legacy host and of the modern server that it is joined to.

Lives here: what the host has asked, is asked and has been told, what each process owes and which
streams it serves; what is wrong if it happens. Does not: who says what when (the state machines).
Spec 2025-11-25, basic/lifecycle, basic/utilities; 2026-07-28, basic/patterns.
"""

from collections import Counter

import msgspec

from conversation import Json
from marked import (
    CANCELLED,
    DECLINED,
    GOOD_ANSWERS,
    PREFIX,
    QUESTION_METHODS,
    RESULTS,
    Ask,
    Round,
    Shown,
    Stream,
    marker_of,
    params_of,
    question_marker,
)
from stage import FIRST_ID, Process, Stage, at, line_of
from wire_models import check_legacy_push, check_legacy_result, check_modern_line


class LegacyHost(Stage):
    """The host, its server, and what must be true of both."""

    def __init__(self) -> None:
        super().__init__()
        self.version = "2025-11-25"
        self.capabilities: dict[str, Json] = {}
        self.session = "none"
        """none, asked or open."""
        self.is_initialized = False
        self.asks: dict[int | str, Ask] = {}
        self.cancelled: set[int | str] = set()
        self.twins: Counter[int | str] = Counter()
        """Requests under an id that is open, which are to be refused."""
        self.batches: list[set[int | str]] = []
        """The ids of each open batch that went to a modern process."""
        self.questions: dict[str, Shown] = {}
        self.question_ids: set[str] = set()
        self.answered_questions: dict[str, Shown] = {}
        self.level: Json = None
        self.uris: set[str] = set()
        self.unsure: set[str] = set()
        """Resources of which only the server knows whether they are subscribed to."""
        self.told: Counter[str] = Counter()
        """What the host has been told in this step."""
        self.withdrawn: list[Shown] = []
        self.legs: dict[int, dict[int | str, Round | None]] = {}
        """By process: the open legs, and the round each goes on from."""
        self.rounds: dict[int, dict[str, Round]] = {}
        """By process and call: what has not been gone on from."""
        self.seen: dict[int, set[str]] = {}
        """By process: the calls that it has been sent."""
        self.streams: dict[int, dict[int | str, Stream]] = {}
        self.child_uris: dict[int, set[str]] = {}
        self.base_refused: set[int] = set()
        self.set_refused: set[int] = set()
        """The processes that have not taken a set of resources."""
        self.refused: set[str] = set()
        """The calls whose version has been refused once."""

    # The pair ------------------------------------------------------------------------------------

    @property
    def modern(self) -> Process | None:
        """The process that the host is joined to, if it is a modern one."""
        process = self.current
        if process is None or self.session != "open" or self.finished is not None:
            return None
        asked = [process.owes[id]["method"] for id in process.asked_first]
        joined = process.is_used or (process.is_modern and "initialize" not in asked)
        return process if joined and process.is_modern and not process.has_session else None

    @property
    def legacy(self) -> Process | None:
        """The process that the host is relayed to, if there is one."""
        process = self.current
        if process is None or self.session != "open" or self.finished is not None:
            return None
        return process if process.has_session else None

    def started(self, process: Process) -> None:
        self.legs[process.number] = {}
        self.rounds[process.number] = {}
        self.seen[process.number] = set()
        self.streams[process.number] = {}
        self.child_uris[process.number] = set()

    def gone(self, process: Process) -> None:
        for table in (self.legs, self.rounds, self.seen, self.streams, self.child_uris):
            del table[process.number]

    @property
    def streams_here(self) -> dict[int | str, Stream]:
        """The streams of the present process."""
        return self.streams.get(self.joint.process, {})

    # What the host says --------------------------------------------------------------------------

    def fresh_id(self) -> int | str:
        """An id for a request of the host."""
        number = self.fresh()
        return number if number % 3 else f"h{number}"

    def new_ask(self, method: str, *, token: bool = False, **params: Json) -> dict[str, Json]:
        """A request that the host is about to make, as a message."""
        id = self.fresh_id()
        ask = Ask(id, method, params or params_of(method, f"m{id}"))
        ask.level = self.level
        ask.level_is_sure = not self.sets_level
        sent = dict(ask.params)
        if token:
            ask.token = f"t{id}" if self.number % 2 else self.number
            sent["_meta"] = {"progressToken": ask.token}
        waiting = [other for other in self.asks.values() if self.is_of_batch(other)]
        if any(other.params.get("uri") == ask.params.get("uri") for other in waiting):
            # The answers do not come in the order of what is done.
            self.unsure.add(str(ask.params.get("uri")))
        self.asks[id] = ask
        return {"jsonrpc": "2.0", "id": id, "method": method, "params": sent}

    def ask(self, method: str, *, token: bool = False, **params: Json) -> int | str:
        """The host asks for something."""
        message = self.new_ask(method, token=token, **params)
        self.host_says(line_of(**message))
        id = message["id"]
        assert isinstance(id, int | str)
        return id

    @property
    def sets_level(self) -> bool:
        """Whether it is open which log level is set."""
        return any(ask.method == "logging/setLevel" for ask in self.asks.values())

    def cancel(self, id: int | str) -> None:
        """The host does not want an answer any more."""
        ask = self.asks.pop(id, None)
        if ask is not None:
            self.cancelled.add(id)
            if ask.method in ("resources/subscribe", "resources/unsubscribe"):
                self.unsure.add(str(ask.params["uri"]))
            self._is_over(ask)
        for batch in self.batches:
            batch.discard(id)
        self.batches = [batch for batch in self.batches if batch]
        self.host_says(line_of(method="notifications/cancelled", params={"requestId": id}))

    def _is_over(self, ask: Ask) -> None:
        for rounds in self.rounds.values():
            rounds.pop(ask.marker or "", None)

    def answer_question(self, id: str, how: str) -> None:
        """The host answers a question: good, decline, error or junk."""
        shown = self.questions.pop(id)
        self.answered_questions[id] = shown
        round = self.rounds[shown.process][shown.marker]
        kind = round.kinds[shown.key]
        ask = self.ask_of(shown.marker)
        assert ask is not None
        round.open.discard(shown.key)
        answer = GOOD_ANSWERS[kind]
        error: Json = {"code": -7, "message": shown.key, "data": {"n": 1.5}}
        is_elicitation = kind in ("form", "url")
        if how == "decline" and is_elicitation:
            answer = DECLINED
        message: dict[str, Json] = {"id": id, "result": answer}
        fails = how in ("error", "junk")
        if fails:
            message = {"id": id, "error": error} if how == "error" else {"id": id, "result": 7}
            answer = CANCELLED
        if fails and not is_elicitation:
            del self.rounds[shown.process][shown.marker]
            ask.is_done = True
            self.expected_error = (ask.id, error if how == "error" else None)
            self.host_says(line_of(**message))
            assert ask.id not in self.asks or self.is_of_batch(ask), "a call without answer goes on"
            return
        round.answers[shown.key] = answer
        if kind == "url" and answer.get("action") == "accept":
            round.accepted.add(round.markers[shown.key])
        goes_on = not round.open
        self.host_says(line_of(**message))
        if goes_on:
            assert shown.marker not in self.rounds[shown.process], "the call does not go on"

    expected_error: tuple[int | str, Json] | None = None
    """The error that a call is to be answered with."""

    def ask_of(self, marker: Json) -> Ask | None:
        asks = (ask for ask in self.asks.values() if not ask.is_done)
        return next((ask for ask in asks if ask.marker == marker), None)

    @property
    def surely_open(self) -> list[int | str]:
        """Requests that are not answered, not even in a batch that is not complete."""
        return sorted(
            (
                ask.id
                for ask in self.asks.values()
                if not ask.is_done and (ask.process is not None or not self.is_of_batch(ask))
            ),
            key=str,
        )

    def is_of_batch(self, ask: Ask) -> bool:
        return any(ask.id in batch for batch in self.batches)

    # What the host hears -------------------------------------------------------------------------

    def host_hears(self, line: bytes) -> None:
        message: Json = msgspec.json.decode(line)
        if isinstance(message, list):
            self._hears_batch(message)
            return
        assert isinstance(message, dict)
        id, method = message.get("id"), message.get("method")
        if method is None:
            assert isinstance(id, int | str), message
            alone = self.twins[id] or not any(id in batch for batch in self.batches)
            assert alone, f"{id!r} is of a batch"
            self._hears_answer(id, message)
        elif id is not None:
            self._hears_question(id, message)
        else:
            self.hears_notification(str(method), message)

    def _hears_batch(self, messages: list[Json]) -> None:
        ids: list[int | str] = []
        for each in messages:
            id = at(each, "id")
            assert isinstance(id, int | str) and isinstance(each, dict), each
            ids.append(id)
        if self.legacy is None:
            batch = next((batch for batch in self.batches if ids[0] in batch), None)
            assert batch is not None and sorted(map(str, batch)) == sorted(map(str, ids)), ids
            self.batches.remove(batch)
        for id, each in zip(ids, messages, strict=True):
            assert isinstance(each, dict)
            self._hears_answer(id, each)

    def _hears_answer(self, id: int | str, message: dict[str, Json]) -> None:
        assert ("result" in message) is not ("error" in message), message
        if self.twins[id] and "still open" in str(at(message, "error", "message")):
            self.twins[id] -= 1
            return
        assert id not in self.cancelled, f"{id!r} is answered after its cancellation"
        ask = self.asks.pop(id, None)
        assert ask is not None, f"{id!r} is answered a second time"
        self._is_over(ask)
        if self.expected_error is not None and self.expected_error[0] == id:
            error = self.expected_error[1]
            assert "error" in message and error in (None, message["error"]), message
            self.expected_error = None
        if ask.method == "initialize":
            self.session = "open" if "result" in message else "none"
        if "result" not in message:
            return
        if self.legacy is None:
            check_legacy_result(ask.method, self.version, message["result"])
        if ask.method in RESULTS:
            assert at(message, "result", "_meta", "x/n") == ask.marker, "the answer of another"
        elif ask.method == "logging/setLevel":
            self.level = ask.params["level"]
        elif ask.method == "resources/subscribe":
            self.uris.add(str(ask.params["uri"]))
        elif ask.method == "resources/unsubscribe":
            self.uris.discard(str(ask.params["uri"]))

    def _hears_question(self, id: Json, message: dict[str, Json]) -> None:
        process = self.modern
        assert process is not None, "nobody can have asked this"
        check_legacy_push(message, self.version)
        assert isinstance(id, str) and id not in self.question_ids, f"{id!r} is used twice"
        self.question_ids.add(id)
        marker = question_marker(message)
        for call, round in self.rounds[process.number].items():
            for key in round.open:
                if round.markers[key] == marker:
                    assert message["method"] == QUESTION_METHODS[round.kinds[key]]
                    assert self.ask_of(call) is not None, "the question of a call that is over"
                    twice = Shown(process.number, call, key) in self.questions.values()
                    assert not twice, "a question is put twice"
                    self.questions[id] = Shown(process.number, call, key)
                    return
        raise AssertionError(f"nobody has asked this: {message}")

    def hears_notification(self, method: str, message: dict[str, Json]) -> None:
        """The host is told something."""
        check_legacy_push(message, self.version)
        if method == "notifications/cancelled":
            id = at(message, "params", "requestId")
            assert isinstance(id, str) and id in self.questions, f"{id!r} is no open question"
            self.withdrawn.append(self.questions.pop(id))
        elif method == "notifications/progress":
            token, progress = (
                at(message, "params", "progressToken"),
                at(message, "params", "progress"),
            )
            ask = next((ask for ask in self.asks.values() if ask.token == token), None)
            assert ask is not None, f"progress of nothing: {message}"
            assert isinstance(progress, int | float) and progress > ask.progress, message
            ask.progress = progress
            self.told[f"progress {token}"] += 1
        else:
            self.told[f"{method} {at(message, 'params', 'uri') or ''}".strip()] += 1

    # What the processes hear ---------------------------------------------------------------------

    def child_hears(self, process: Process, message: dict[str, Json]) -> None:
        method, id = message.get("method"), message.get("id")
        if method in ("initialize", "server/discover"):
            return
        if process.has_session:
            self.hears_legacy(process, message)
            return
        assert process.is_modern, f"process {process.number} has not said what it is: {message}"
        check_modern_line(message)
        if method is None:
            assert at(message, "error", "code") == -32601, message
            self.told["refusal"] += 1
        elif method == "notifications/cancelled":
            named = at(message, "params", "requestId")
            assert isinstance(named, int) and named in process.owes, "cancelled what it has not"
            del process.owes[named]
            process.taken_back.add(named)
            self.legs[process.number].pop(named, None)
            stream = self.streams[process.number].pop(named, None)
            if stream is not None and stream.uris and not stream.acknowledged:
                self.set_refused.add(process.number)  # it was silent for too long
        elif method == "subscriptions/listen" and isinstance(id, int):
            wanted = at(message, "params", "notifications")
            assert isinstance(wanted, dict)
            uris = wanted.get("resourceSubscriptions", [])
            assert isinstance(uris, list)
            flags = {flag for flag in wanted if flag != "resourceSubscriptions"}
            self.streams[process.number][id] = Stream(flags, {str(uri) for uri in uris})
        elif isinstance(id, int | str):
            self._hears_leg(process, id, message)

    def _hears_leg(self, process: Process, id: int | str, message: dict[str, Json]) -> None:
        params = message["params"]
        assert isinstance(params, dict)
        meta = params["_meta"]
        more = {name: params.get(name) for name in ("inputResponses", "requestState")}
        rest = {n: v for n, v in params.items() if n != "_meta" and n not in more}
        ask = self.ask_of(marker_of(params))
        assert ask is not None and ask.marker is not None, f"a call of nobody: {message}"
        assert (rest, message["method"]) == (ask.params, ask.method)
        assert (at(meta, "progressToken") is None) is (ask.token is None)
        level, is_sure = ask.level, ask.level_is_sure
        seen = self.seen[process.number]
        round: Round | None = None
        if ask.marker in seen:
            assert ask.marker in self.rounds[process.number], "a leg that nobody wants"
            round = self.rounds[process.number].pop(ask.marker)
            level, is_sure = self.level, not self.sets_level
        else:
            assert ask.process is None, "a call that another process has had"
        seen.add(ask.marker)
        ask.process = process.number
        assert not is_sure or at(meta, PREFIX + "logLevel") == level, message
        answers = None if round is None or not round.answers else round.answers
        state = None if round is None else round.state
        assert more == {"inputResponses": answers, "requestState": state}, (more, answers, state)
        assert round is None or not round.open, "not everything is answered"
        self.legs[process.number][id] = round

    def hears_legacy(self, process: Process, message: dict[str, Json]) -> None:
        """A process with a session of the handshake is told something."""
        method, id = message.get("method"), message.get("id")
        if method == "notifications/cancelled":
            named = at(message, "params", "requestId")
            if isinstance(named, int | str) and process.owes.pop(named, None) is not None:
                process.taken_back.add(named)
        elif isinstance(id, int | str):
            ask = self.asks.get(id)
            ours = isinstance(id, int) and id >= FIRST_ID
            assert ask is not None or ours, f"a request of nobody: {message}"
            if ask is not None:
                ask.process = process.number

    # What the processes say ----------------------------------------------------------------------

    def answer(self, process: Process, id: int | str, how: str) -> None:
        """A process answers a request."""
        asked = process.owes.pop(id)
        method = str(asked["method"])
        legs = self.legs[process.number]
        round = legs.pop(id, None)
        marker = marker_of(asked.get("params"))
        result: dict[str, Json] = dict(RESULTS.get(method, {}))
        if method in RESULTS:
            result["_meta"] = {"x/n": marker}
        if not process.has_session and how != "bare":
            result["resultType"] = "complete"
        goes_on = False
        message: dict[str, Json] = {"id": id, "result": result}
        uri = at(asked, "params", "uri")
        if how == "error" and id not in process.taken_back:
            message = {"id": id, "error": {"code": -32002, "message": f"{marker}"}}
            if isinstance(id, int) and id >= FIRST_ID:
                self.unsure.add(str(uri))  # the host is not told
        elif process.has_session and isinstance(uri, str):
            uris = self.child_uris[process.number]
            (uris.add if method == "resources/subscribe" else uris.discard)(uri)
        elif how == "version" and marker is not None and not process.has_session:
            error: Json = {"code": -32022, "message": "?", "data": {"supported": ["2026-07-28"]}}
            message = {"id": id, "error": error}
            self.rounds[process.number][marker] = round or Round(None, set())
            goes_on = marker not in self.refused
            self.refused.add(marker)
        elif how == "odd" and not process.has_session:
            result["resultType"] = "x/odd"
        line = line_of(**message)
        if how == "broken" and not process.has_session:
            line = line[:-2]
        ask = self.ask_of(marker)
        if ask is not None and marker is not None:
            ask.is_done = not goes_on
        self.child_says(process, line)

    # What must be true ---------------------------------------------------------------------------

    def look(self) -> None:
        """After every step."""
        self.sound = False
        for shown in self.withdrawn:
            assert self.ask_of(shown.marker) is None, "withdrawn for no reason"
        for shown in self.questions.values():
            assert shown.process in self.processes, "the question of a process that is gone"
            assert self.ask_of(shown.marker) is not None, "the question of a call that is over"
        if self.finished is None:
            for ask in [ask for ask in self.asks.values() if not ask.is_done]:
                alive = ask.process is None or ask.process in self.processes
                assert alive, f"{ask.id!r} waits for a process that is gone"
            due = self.joint.deadline
            assert due is None or due >= self.now, "a deadline in the past"
        for streams in self.streams.values():
            live = [each for each in streams.values() if each.uris and each.acknowledged]
            assert len(live) <= 1, "two streams for resources"
        assert not any(count < 0 for count in self.twins.values())
        self.told.clear()
        self.withdrawn.clear()
        self.sound = True
