"""Any interleaving of requests, batches, questions, cancels, stalls, time and ends between a legacy
host and a legacy server: every line passes as it came, but where a process has ended. Translation
F; design D10.
"""

import json
from collections import Counter
from typing import Final

import msgspec
import pytest
from hypothesis import HealthCheck, settings
from hypothesis import strategies as st
from hypothesis.stateful import initialize, invariant, precondition, rule

from conversation import Json
from mcp_era_bridge.settings import Settings
from stage import FIRST_ASKED, FIRST_ID, LEGACY, Process, Stage, Temper, at, line_of

URIS: Final = ("x:a", "x:b")
NEWS: Final = [f"notifications/{name}/list_changed" for name in ("tools", "prompts", "resources")]
QUESTIONS: Final = ("roots/list", "ping", "sampling/createMessage")
TEMPERS: Final = (
    *[LEGACY] * 8,
    Temper("session", "silent", prompt=False),
    Temper("session", "error", prompt=False),
    Temper("error", "error"),
    Temper("error", "silent"),
    Temper("exit", "exit"),
    Temper("silent", "silent"),
    Temper("missing", "missing"),
)


class Sent(msgspec.Struct, eq=False):
    """A line of the host that has not reached a process; `ids` are those of its requests."""

    line: str
    items: list[str]
    ids: list[int | str]
    is_whole: bool = True


class RelayedDialogues(Stage):
    remembered = frozenset(
        {
            "ChildRequests._renamed",
            "ChildRequests.odd",
            "HostSession.subscriptions",
            "Inquiry.held",
            "OwnRequests.open",
            "Relayed._dead",
            "Relayed._odd",
            "Relayed._own_open",
            "Resumption._asked",
            "Resumption._held",
            "WaitingLines._lines",
        }
    )

    def __init__(self) -> None:
        super().__init__()
        self.version = "2025-11-25"
        self.asks: dict[int | str, dict[str, Json]] = {}
        self.cancelled: set[int | str] = set()
        self.sent: list[Sent] = []
        """What the host has said and no process has heard."""
        self.said: list[str] = []
        """What the process has said and the host has not heard."""
        self.level: Json = None
        self.uris: list[str] = []
        self.is_initialized = False
        self.stalled = False
        self.last_question = 0
        self.questions: dict[int | str, tuple[int, int]] = {}
        """What the host has not answered: the process that asks, and its own id."""
        self.withdrawn: set[int | str] = set()
        self.is_asked: set[int] = set()
        """The questions of the present process, by its own ids."""
        self.own: list[dict[str, Json]] = []
        """What the present process has been told by the bridge."""
        self.told: Counter[str] = Counter()

    @initialize(
        version=st.sampled_from(["2025-03-26", "2025-03-26", "2025-11-25"]),
        others=st.lists(st.sampled_from(TEMPERS), min_size=6, max_size=6),
    )
    def begin(self, version: str, others: list[Temper]) -> None:
        self.version = version
        self.set_up(Settings(most_open=12), [LEGACY, *others])
        info: Json = {"name": "h", "version": "1"}
        self.ask("initialize", protocolVersion=version, capabilities={}, clientInfo=info)
        assert self.serving is not None

    @property
    def serving(self) -> Process | None:
        """The process that has the session."""
        process = self.current
        return process if process is not None and process.has_session else None

    # The host ------------------------------------------------------------------------------------

    def _message(self, method: str, **params: Json) -> dict[str, Json]:
        number = self.fresh()
        id = number if number % 3 else f"h{number}"
        message: dict[str, Json] = {"id": id, "method": method, "params": params}
        self.asks[id] = message
        return message

    def ask(self, method: str, **params: Json) -> None:
        message = self._message(method, **params)
        id, line = message["id"], line_of(**message)
        assert isinstance(id, int | str)
        self.sent.append(Sent(line, [line], [id]))
        self.host_says(line)

    @precondition(lambda self: self.finished is None)
    @rule(method=st.sampled_from(["tools/call", "x/y"]))
    def call(self, method: str) -> None:
        self.ask(method, n=1.5)

    @precondition(lambda self: self.finished is None)
    @rule(level=st.sampled_from(["debug", "error"]))
    def set_level(self, level: str) -> None:
        self.ask("logging/setLevel", level=level)

    @precondition(lambda self: self.finished is None)
    @rule(uri=st.sampled_from(URIS), method=st.sampled_from(["subscribe", "unsubscribe"]))
    def watch(self, uri: str, method: str) -> None:
        # One at a time for each resource: else not even the two of them know what holds.
        open = [*self.asks.values(), *(self.serving.owes.values() if self.serving else ())]
        if all(at(one, "params", "uri") != uri for one in open):
            self.ask(f"resources/{method}", uri=uri)

    @precondition(lambda self: self.finished is None and self.version == "2025-03-26")
    @rule(items=st.lists(st.sampled_from(["tools/call", "x/y", "note"]), min_size=1, max_size=4))
    def batch(self, items: list[str]) -> None:
        note = line_of(method="notifications/x")
        messages = [self._message(item) if item != "note" else None for item in items]
        lines = [line_of(**each) if each is not None else note for each in messages]
        ids = [id for each in messages if each and isinstance(id := each["id"], int | str)]
        line = "[" + ", ".join(lines) + "]"
        if ids or not self.stalled or self.serving is None:
            self.sent.append(Sent(line, lines, ids))
        if self.stalled and self.serving is not None:
            self._drop(note)
        self.host_says(line)

    def _drop(self, item: str) -> None:
        """Something is not passed on, a batch without it may be."""
        for sent in list(self.sent):
            if item in sent.items:
                sent.items = [other for other in sent.items if other != item]
                sent.is_whole = False
                if not sent.items:
                    self.sent.remove(sent)

    @precondition(lambda self: self.finished is None and self.asks)
    @rule(data=st.data())
    def cancel(self, data: st.DataObject) -> None:
        able = [id for id, ask in self.asks.items() if ask["method"] in ("tools/call", "x/y")]
        if not able:
            return
        id = data.draw(st.sampled_from(able))
        line = line_of(method="notifications/cancelled", params={"requestId": id})
        waiting = any(id in sent.ids for sent in self.sent)
        ask = self.asks.pop(id)
        self.cancelled.add(id)
        if waiting:
            self._drop(line_of(**ask))
        elif self.serving is not None:
            self.sent.append(Sent(line, [line], []))
        self.host_says(line)

    @precondition(lambda self: self.finished is None)
    @rule(method=st.sampled_from(["notifications/roots/list_changed", "notifications/x"]))
    def notify(self, method: str) -> None:
        line = line_of(method=method)
        if self.serving is None or not self.stalled:
            self.sent.append(Sent(line, [line], []))
        self.host_says(line)

    @precondition(lambda self: self.finished is None and not self.is_initialized)
    @rule()
    def say_initialized(self) -> None:
        self.is_initialized = True
        line = line_of(method="notifications/initialized")
        self.sent.append(Sent(line, [line], []))
        self.host_says(line)

    @precondition(lambda self: self.finished is None and self.questions)
    @rule(data=st.data())
    def reply(self, data: st.DataObject) -> None:
        self.answer_question(data.draw(st.sampled_from(sorted(self.questions, key=str))))

    def answer_question(self, id: int | str) -> None:
        """The host answers a question, also one that nobody wants to know any more."""
        process, own = self.questions.pop(id)
        line = line_of(id=id, result={"process": process, "own": own})
        if self.serving is not None and self.serving.number == process:
            self.is_asked.remove(own)
            self.sent.append(Sent(line, [line_of(id=own, result={"process": process})], []))
        self.host_says(line)

    # The child -----------------------------------------------------------------------------------

    def speak(self, process: Process, line: str, passes: bool = True) -> None:
        """A process says something that the host is to hear."""
        if passes:
            self.said.append(line)
        self.child_says(process, line)

    @precondition(lambda self: self.serving and self.serving.owes)
    @rule(data=st.data(), fails=st.sampled_from([False, False, True]))
    def child_answers(self, data: st.DataObject, fails: bool) -> None:
        assert self.serving is not None
        self.answer(data.draw(st.sampled_from(sorted(self.serving.owes, key=str))), fails)

    def answer(self, id: int | str, fails: bool = False) -> None:
        process = self.serving
        assert process is not None
        asked = process.owes.pop(id)
        is_own = isinstance(id, int) and id >= FIRST_ID
        uri = at(asked, "params", "uri")
        if fails:
            if is_own and isinstance(uri, str):
                self.uris.remove(uri)
            line = line_of(id=id, error={"code": -1, "message": "no", "data": [1.5]})
        else:
            line = line_of(id=id, result={"n": 1.5})
        self.speak(process, line, not is_own)

    @precondition(lambda self: self.serving and len(self.questions) < 6)
    @rule(method=st.sampled_from(QUESTIONS))
    def child_asks(self, method: str) -> None:
        assert self.serving is not None
        self.last_question += 1
        self.is_asked.add(self.last_question)
        self.speak(self.serving, line_of(id=self.last_question, method=method))

    @precondition(lambda self: self.serving and self.is_asked)
    @rule(data=st.data())
    def child_withdraws(self, data: st.DataObject) -> None:
        assert self.serving is not None
        own = data.draw(st.sampled_from(sorted(self.is_asked)))
        self.is_asked.discard(own)
        params: Json = {"requestId": own, "reason": "r"}
        self.speak(self.serving, line_of(method="notifications/cancelled", params=params))

    @precondition(lambda self: self.finished is None and self.current)
    @rule(method=st.sampled_from(["notifications/message", "notifications/x"]))
    def child_chats(self, method: str) -> None:
        assert self.current is not None
        self.speak(self.current, line_of(method=method, params={"data": 1.5}))

    @precondition(lambda self: self.finished is None and self.current)
    @rule()
    def child_ends(self) -> None:
        self.sound = False
        self.end(self.joint.process)

    @precondition(lambda self: self.finished is None and self.current)
    @rule(stalled=st.booleans())
    def child_stalls(self, stalled: bool) -> None:
        self.stalled = stalled
        self.joint.child_stalled(self.joint.process, stalled)
        self.carry_out()

    @precondition(lambda self: any(each.asked_first for each in self.processes.values()))
    @rule()
    def child_says_what_it_is(self) -> None:
        process = next(each for each in self.processes.values() if each.asked_first)
        self.sound = False
        self.answer_first(process, process.asked_first[-1])
        self.carry_out()

    @precondition(lambda self: self.starting)
    @rule()
    def child_starts(self) -> None:
        self.sound = False
        self.has_started(min(self.starting))
        self.carry_out()

    @rule(seconds=st.sampled_from([0.3, 1.0, 5.0, 11.0, 70.0]))
    def time_passes(self, seconds: float) -> None:
        self.pass_time(seconds)

    # What is heard -------------------------------------------------------------------------------

    def gone(self, process: Process) -> None:
        self.said.clear()
        self.own.clear()
        self.is_asked.clear()
        self.last_question = 0
        self.stalled = False

    def answers_first(self, process: Process, line: bytes) -> None:
        if process.has_session and process.number == 1:
            self.said.append(line.decode())
        elif process.has_session:
            self.resumed_with = (self.level, list(self.uris))
            self.told.clear()
            for item in {item for sent in self.sent for item in sent.items if self.stalled}:
                if "id" not in json.loads(item) and "initialized" not in item:
                    self._drop(item)

    resumed_with: tuple[Json, list[str]] | None = None
    """The level and the subscriptions when a process took over."""

    def host_hears(self, line: bytes) -> None:
        message: Json = msgspec.json.decode(line)
        assert isinstance(message, dict)
        id, method = message.get("id"), message.get("method")
        passes = bool(self.said) and self._is_same(message, line.decode(), self.said[0])
        if passes:
            self.said.pop(0)
        if method is None:
            assert isinstance(id, int | str), message
            self._hears_answer(id, message, passes)
        elif id is not None:
            assert passes and isinstance(id, int | str) and self.serving is not None, message
            assert id not in self.questions, f"{id!r} is asked twice"
            self.withdrawn.discard(id)
            self.questions[id] = (self.serving.number, self.last_question)
        elif method == "notifications/cancelled":
            named = at(message, "params", "requestId")
            assert isinstance(named, int | str)
            if not passes:
                assert named in self.questions and named not in self.withdrawn, message
                process, _ = self.questions[named]
                assert process not in self.processes, "the question of a process that lives"
                self.withdrawn.add(named)
            else:
                del self.questions[named]
        elif not passes:
            self.told[f"{method} {at(message, 'params', 'uri') or ''}".strip()] += 1

    def _is_same(self, message: dict[str, Json], line: str, said: str) -> bool:
        """Whether a line is what a process has said: as it came, unless its id is in use."""
        if line == said:
            id = message.get("id")
            taken = id in self.questions and "method" in message
            assert not taken, f"{id!r} is in use"
            return True
        original: Json = json.loads(said)
        assert isinstance(original, dict)
        if message.get("method") == "notifications/cancelled" == original.get("method"):
            own = at(original, "params", "requestId")
            named = at(message, "params", "requestId")
            assert isinstance(named, int | str) and self.serving is not None
            here = (self.serving.number, own)
            assert at(message, "params", "reason") != "r" or self.questions.get(named, here) == here
            return at(message, "params", "reason") == "r" and named != own
        if "method" not in message or "id" not in original:
            return False
        assert original["id"] in self.questions, "an id is changed for no reason"
        return {**message, "id": original["id"]} == original

    def _hears_answer(self, id: int | str, message: dict[str, Json], passes: bool) -> None:
        assert id not in self.cancelled, f"{id!r} is answered after its cancellation"
        ask = self.asks.pop(id, None)
        assert ask is not None, f"{id!r} is answered a second time"
        assert passes or at(message, "error", "data", "source") == "mcp-bridge", message
        self._drop(line_of(**ask))
        uri = at(ask, "params", "uri")
        if "error" in message:
            return
        if ask["method"] == "logging/setLevel":
            self.level = at(ask, "params", "level")
        elif isinstance(uri, str):
            self.uris = [other for other in self.uris if other != uri]
            if ask["method"] == "resources/subscribe":
                self.uris.append(uri)

    def child_gets(self, process: Process, line: bytes) -> None:
        message: Json = msgspec.json.decode(line)
        id = at(message, "id")
        if isinstance(id, int) and id >= FIRST_ID and isinstance(message, dict):
            self.own.append(message)
            return
        first = self.sent[0] if self.sent else None
        if line == b'{"jsonrpc":"2.0","method":"notifications/initialized"}':
            self.own.append({"method": "notifications/initialized"})
            return
        assert first is not None, f"nobody has said this: {line!r}"
        self.sent.pop(0)
        if first.is_whole and len(first.items) == 1 and not first.ids and "result" in first.line:
            own = json.loads(first.items[0])["id"]
            assert isinstance(message, dict) and message["id"] == own, "the answer of another"
            assert at(message, "result", "process") == process.number
            assert at(message, "result", "own") == own
            assert at(json.loads(first.line), "id") != own or line.decode() == first.line
        elif first.is_whole:
            assert line.decode() == first.line
        else:
            items = [json.loads(item) for item in first.items]
            assert message == (items if line.startswith(b"[") else items[0])

    def child_hears(self, process: Process, message: dict[str, Json]) -> None:
        if message.get("method") == "notifications/cancelled":
            named = at(message, "params", "requestId")
            if isinstance(named, int | str):
                process.owes.pop(named, None)

    # What must be true ---------------------------------------------------------------------------

    @invariant()
    def everything_is_as_it_must_be(self) -> None:
        if not self.number:
            return
        self.sound = False
        if self.serving is not None:
            assert not self.sent, "a line of the host is held"
            assert not self.said, "a line of the child is held"
            waiting = [id for id in self.asks if id not in self.serving.owes]
            assert not waiting, f"{waiting} are lost"
        if self.resumed_with is not None and self.serving is not None:
            self._look_at_resumption(*self.resumed_with)
        self.resumed_with = None
        self.told.clear()
        dead = {id for id, (process, _) in self.questions.items() if process not in self.processes}
        assert dead <= self.withdrawn, "a question of a process that is gone"
        due = self.joint.deadline
        assert due is None or due >= self.now, "a deadline in the past"
        self.sound = True

    def _look_at_resumption(self, level: Json, uris: list[str]) -> None:
        own = [(at(each, "method"), at(each, "params")) for each in self.own]
        told_of_initialized = ("notifications/initialized", None) in own
        handshake = (*FIRST_ASKED, "notifications/initialized")
        own = [each for each in own if each[0] not in handshake]
        expected: list[tuple[Json, Json]] = []
        if level is not None:
            expected.append(("logging/setLevel", {"level": level}))
        for uri in uris:
            params: Json = {"uri": uri}
            expected.append(("resources/subscribe", params))
        assert own == expected, f"{own} instead of {expected}"
        assert self.serving is not None and self.serving.initialized == self.is_initialized
        if told_of_initialized:
            news = [*NEWS, *(f"notifications/resources/updated {uri}" for uri in uris)]
            assert self.told == Counter(news), self.told

    # The end -------------------------------------------------------------------------------------

    def teardown(self) -> None:
        if not self.sound:
            return
        for turn in range(40):
            if self.finished is not None or not self.asks:
                break
            self.do_everything(turn > 5)
            self.pass_time(20.0)
            self.everything_is_as_it_must_be()
        assert not self.asks, f"never answered: {self.asks}"
        if self.finished is None:
            for turn in range(300):
                self.do_everything(turn > 5)
                if self.joint.deadline is None and not self.starting:
                    break
                self.pass_time(5.0)
            assert self.joint.deadline is None, "there is something left to be done"
            self.is_empty()
            self.joint.host_ended(self.now)
            self.carry_out()
        assert self.finished is not None

    def do_everything(self, ends_the_silent: bool) -> None:
        """Everybody does what is expected."""
        for number in list(self.starting):
            self.has_started(number)
            self.carry_out()
        if self.current is not None and self.stalled:
            self.child_stalls(False)
        for process in list(self.processes.values()):
            for id in process.asked_first:
                if id in process.owes and process.number in self.processes:
                    self.answer_first(process, id)
                    self.carry_out()
            if process.asked_first and process.number in self.processes and ends_the_silent:
                self.end(process.number)
        while self.questions:
            self.answer_question(min(self.questions, key=str))
        while self.serving is not None and self.serving.owes:
            self.answer(next(iter(self.serving.owes)))


RelayedDialogues.TestCase.settings = settings(
    max_examples=150,
    stateful_step_count=40,
    deadline=None,
    suppress_health_check=[HealthCheck.too_slow, HealthCheck.filter_too_much],
)
pytestmark = pytest.mark.clause("C-39")
TestRelayedDialogues = RelayedDialogues.TestCase
