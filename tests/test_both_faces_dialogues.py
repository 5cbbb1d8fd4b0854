"""Any interleaving of what a host says in both eras to one legacy server: design D15, translation
G.2.

The modern half and the server are those of test_dialogues.py; here is the half that has shaken
hands.
"""

from collections import Counter

import pytest
from hypothesis import HealthCheck, settings
from hypothesis import strategies as st
from hypothesis.stateful import invariant, precondition, rule

from asking import ACCEPTED, ROOTS, SAMPLED
from conversation import Json
from mcp_era_bridge.effects import Finish
from mcp_era_wire.levels import LOG_LEVELS
from stage import at, leftovers, line_of
from test_dialogues import QUESTIONS, REMEMBERED, Dialogues, Object
from wire_models import check_legacy_result

ANSWERS = {
    "elicitation/create": ACCEPTED,
    "sampling/createMessage": SAMPLED,
    "roots/list": ROOTS,
}
DECLARED: Json = {"roots": {"listChanged": True}, "sampling": {}, "elicitation": {"form": {}}}
ERROR = 4
"""The severity of what the server logs."""


class BothFaces(Dialogues):
    def __init__(self) -> None:
        super().__init__()
        self.is_shaken = False
        self.mine: dict[str, tuple[str, str]] = {}
        """Open requests of the half that has shaken hands: method, and URI or level."""
        self.tokens: dict[str, float] = {}
        self.questions: dict[str, str] = {}
        """What that half is asked: the server's own ids."""
        self.question_ids: set[str] = set()
        self.level: int | None = None
        self.levels: dict[int, int] = {}
        """What each process has been told to log."""
        self.uris: set[str] = set()
        self.told: Counter[str] = Counter()

    # The host ------------------------------------------------------------------------------------

    def _say(self, method: str, *, token: bool = False, **params: Json) -> str:
        id = self._fresh()
        self.mine[id] = (method, str(params.get("uri") or params.get("level")))
        if token:
            self.tokens[id] = -1
            params["_meta"] = {"progressToken": id}
        self._host(line_of(id=id, method=method, params=params))
        return id

    def _is_served(self) -> bool:
        child = self.children.get(self.joint.process)
        return child is not None and child.is_open and bool(self.legs or self.parked)

    @precondition(lambda self: not self.is_shaken and self._is_served())
    @rule()
    def shake(self) -> None:
        self.is_shaken = True
        info: Json = {"name": "h", "version": "1"}
        agreed: Json = "2025-11-25"
        id = self._say("initialize", protocolVersion=agreed, capabilities=DECLARED, clientInfo=info)
        assert id not in self.mine, "there is a session, and no answer"
        self._host(line_of(method="notifications/initialized"))

    @precondition(lambda self: self.is_shaken)
    @rule(
        method=st.sampled_from(["tools/call", "tools/call", "tools/list", "x/y", "ping"]),
        token=st.booleans(),
    )
    def call_without_envelope(self, method: str, token: bool) -> None:
        self._say(method, token=token, name="a")

    @precondition(lambda self: self.is_shaken)
    @rule(level=st.sampled_from([0, 4, 5]))
    def set_level(self, level: int) -> None:
        self._say("logging/setLevel", level=LOG_LEVELS[level])

    @precondition(lambda self: self.is_shaken)
    @rule(uri=st.sampled_from(["x:a", "x:b"]), on=st.booleans())
    def watch(self, uri: str, on: bool) -> None:
        self._say("resources/subscribe" if on else "resources/unsubscribe", uri=uri)

    @precondition(lambda self: self.mine)
    @rule(data=st.data())
    def cancel_mine(self, data: st.DataObject) -> None:
        able = [id for id, (method, _) in self.mine.items() if method != "logging/setLevel"]
        if able:
            id = data.draw(st.sampled_from(able))
            del self.mine[id]
            self.tokens.pop(id, None)
            self.silent.add(id)
            params: Json = {"requestId": id}
            self._host(line_of(method="notifications/cancelled", params=params))

    @precondition(lambda self: self.questions)
    @rule(data=st.data(), fails=st.booleans())
    def answer_question(self, data: st.DataObject, fails: bool) -> None:
        self._answer_question(data.draw(st.sampled_from(sorted(self.questions))), fails)

    def _answer_question(self, id: str, fails: bool = False) -> None:
        own = self.questions.pop(id)
        method = self._open_questions()[own]
        answer = '"error":{"code":-1,"message":"no"}' if fails else f'"result":{ANSWERS[method]}'
        self._host(f'{{"jsonrpc":"2.0","id":"{id}",{answer}}}')
        assert own not in self._open_questions(), "the answer is lost"

    def _open_questions(self) -> dict[str, str]:
        children = self.children.values()
        return {own: method for child in children for own, method in child.questions.items()}

    @precondition(lambda self: self.is_shaken and not self.legs and not self.parked)
    @rule(method=st.sampled_from(sorted(QUESTIONS)))
    def call_and_be_asked(self, method: str) -> None:
        child = self.children.get(self.joint.process)
        if child is not None and child.is_open:
            self._say("tools/call", name="b")
            self._ask(self.joint.process, method)

    @precondition(lambda self: self.is_shaken and not (self.legs or self.parked or self.mine))
    @rule()
    def bring_roots_with_a_call(self) -> None:
        child = self.children.get(self.joint.process)
        if child is not None and child.is_open:
            self._ask(self.joint.process, "roots/list")
            self._say("tools/call", name="b")

    @rule(data=st.data(), method=st.sampled_from(sorted(QUESTIONS)))
    def ask(self, data: st.DataObject, method: str) -> None:
        if self.children:
            self._ask(data.draw(st.sampled_from(sorted(self.children))), method)

    def _ask(self, number: int, method: str) -> None:
        if number in self.children:
            id = f"q{self._fresh()}"
            self.children[number].questions[id] = method
            self.asked.add(id)
            params: dict[str, Json] = {"_meta": {"x/q": id}}
            if method == "elicitation/create":
                params |= {"message": "m", "requestedSchema": {}}
            elif method == "sampling/createMessage":
                params |= {"messages": [], "maxTokens": 1}
            self._child(number, line_of(id=id, method=method, params=params))

    # What is heard -------------------------------------------------------------------------------

    def _host_hears(self, message: Object) -> None:
        id = message.get("id")
        if isinstance(id, str) and "method" in message:
            assert self.is_shaken and id not in self.question_ids, message
            self.question_ids.add(id)
            own = str(at(message, "params", "_meta", "x/q"))
            assert self._open_questions().get(own) == message["method"], "nobody asks this"
            assert own not in self.questions.values(), "a question is put twice"
            self.questions[id] = own
        elif isinstance(id, str) and id in self.mine:
            method, uri = self.mine.pop(id)
            self.tokens.pop(id, None)
            if "result" in message:
                check_legacy_result("x/y", "2025-11-25", message["result"])
                if method == "resources/subscribe":
                    self.uris.add(uri)
                elif method == "resources/unsubscribe":
                    self.uris.discard(uri)
                elif method == "logging/setLevel":
                    self.level = LOG_LEVELS.index(uri)
        else:
            super()._host_hears(message)

    def _host_notified(self, method: str, params: Object) -> None:
        token = params.get("progressToken")
        if isinstance(token, str) and token in self.tokens:
            progress = params["progress"]
            assert isinstance(progress, int) and progress > self.tokens[token]
            self.tokens[token] = progress
        elif method == "notifications/message":
            asked = [leg.level for leg in self.legs.values()]
            levels = [level for level in [self.level, *asked] if level is not None]
            assert any(level <= ERROR for level in levels), "nobody wants to hear this"
            self.told[method] += 1
        elif method == "notifications/cancelled" and params["requestId"] in self.question_ids:
            assert self.questions.pop(str(params["requestId"]), None) is not None
        elif method.endswith(("changed", "updated", "complete")) and "_meta" not in params:
            self.told[f"{method} {params.get('uri') or ''}".strip()] += 1
            assert self.is_shaken, "untagged, in the modern era"
        else:
            super()._host_notified(method, params)

    @rule(data=st.data(), what=st.sampled_from(["x:a", "x:b", "tools"]))
    def child_changes(self, data: st.DataObject, what: str) -> None:
        child = self.children.get(self.joint.process)
        if child is None or not child.is_open:
            return
        method = "tools/list_changed" if what == "tools" else "resources/updated"
        name = f"notifications/{method}" + (f" {what}" if what != "tools" else "")
        self.told.clear()
        params: Json = {"uri": what} if what != "tools" else {}
        self._child(self.joint.process, line_of(method=f"notifications/{method}", params=params))
        pending = any(uri == what for _, uri in self.mine.values())
        if what == "tools" or not pending:
            due = self.is_shaken if what == "tools" else what in self.uris
            assert self.told[name] == due, f"{name}: told {self.told[name]} times"

    def _child_hears(self, number: int, message: Object) -> None:
        super()._child_hears(number, message)
        if message.get("method") == "logging/setLevel":
            self.levels[number] = LOG_LEVELS.index(str(at(message, "params", "level")))

    def _end(self, number: int) -> None:
        is_current = number == self.joint.process and self.children[number].is_open
        super()._end(number)
        if is_current:
            waiting = [id for id, (method, _) in self.mine.items() if method.endswith("subscribe")]
            assert not waiting, f"{waiting} wait for a process that is gone"

    # What must be true ---------------------------------------------------------------------------

    @invariant()
    def questions_are_of_somebody(self) -> None:
        over = set(self.questions.values()) - self._open_questions().keys()
        assert not over, "questions that are over"
        due = self.joint.deadline
        assert due is None or due >= self.now, "a deadline in the past"

    def teardown(self) -> None:
        for stream in list(self.streams):
            self._cancel_quietly(stream)
        for uri in sorted(self.uris):
            self._say("resources/unsubscribe", uri=uri)
        for _ in range(30):
            self._answer_everything()
            for id in sorted(self.questions):
                if id in self.questions:
                    self._answer_question(id)
            for leg in list(self.parked):
                self._cancel_quietly(leg)
            self.time_passes(2.0)
            if not (self.legs or self.parked or self.mine or self._busy()):
                break
        open = (list(self.legs), self.mine)
        assert not self.legs and not self.mine, f"never answered: {open}"
        self.time_passes(700.0)
        self._answer_everything()
        self.time_passes(2.0)
        for number, child in self.children.items():
            if child.is_open:
                assert not child.questions, f"questions of process {number} are never answered"
        assert self.joint.deadline is None
        served = self.children.get(self.joint.process)
        if served is not None and served.is_open and self.level is not None:
            level = self.levels.get(self.joint.process, len(LOG_LEVELS))
            assert level <= self.level, "it does not log as it should"
        known = REMEMBERED | {"Fitter._fit"}
        if not self.uris:
            left = [each for each in leftovers(self.joint) if each.split(":")[0] not in known]
            assert not left, left
        self.joint.host_ended(self.now)
        assert any(isinstance(action, Finish) for action in self.joint.out.actions)


BothFaces.TestCase.settings = settings(
    max_examples=150,
    stateful_step_count=40,
    deadline=None,
    suppress_health_check=[HealthCheck.too_slow, HealthCheck.filter_too_much],
)
pytestmark = pytest.mark.clause("S-22", "S-77")
TestBothFaces = BothFaces.TestCase
