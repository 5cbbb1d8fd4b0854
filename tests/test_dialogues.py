"""Any interleaving of calls, questions, answers, cancels, streams, time and child ends: every leg
is answered once, every question of a child is settled, and nothing is left behind in the end.

The model knows what each side may see, and nothing of how it comes about: translation C, D, H, I,
design D3 to D9.
"""

import json
from collections.abc import Iterator
from typing import Final, cast

import msgspec
import pytest
from hypothesis import HealthCheck, settings
from hypothesis import strategies as st
from hypothesis.stateful import RuleBasedStateMachine, initialize, precondition, rule
from msgspec import Raw

from asking import ACCEPTED, ROOTS, SAMPLED
from conversation import EVERYTHING, FIRST_ID, SEAL, Json, meta
from mcp_era_bridge.effects import EndChild, Ending, Finish, StartChild
from mcp_era_bridge.joint import Joint
from mcp_era_bridge.settings import Settings
from mcp_era_wire.envelope import Buffer
from mcp_era_wire.levels import LOG_LEVELS

Object = dict[str, Json]

OFFERS: Final = (
    '{"tools":{"listChanged":true},"resources":{"subscribe":true,"listChanged":true},"logging":{}}'
)
CAPABILITIES: Final = (EVERYTHING, "{}", '{"sampling":{}}', '{"elicitation":{}}', '{"roots":{}}')
QUESTIONS: Final = {
    "elicitation/create": ('{"message":"m","requestedSchema":{}}', ACCEPTED),
    "sampling/createMessage": ('{"messages":[],"maxTokens":1}', SAMPLED),
    "roots/list": ("{}", ROOTS),
}
SUBSCRIPTION_ID: Final = "io.modelcontextprotocol/subscriptionId"


class Leg:
    """One request of the host: what it asked for, and what it has been told."""

    def __init__(self, name: str | None, level: int | None, token: str | None) -> None:
        self.name = name
        """The tool that is called, None for anything but a call."""
        self.level = level
        self.token = token
        self.progress = -1.0


class ChildModel:
    """One process: what it has to answer, what it has asked."""

    def __init__(self) -> None:
        self.owes: dict[int, str] = {}
        """What it has been sent and has not answered, by method."""
        self.cancelled: set[int] = set()
        self.tokens: set[int] = set()
        self.ids: set[int] = set()
        self.questions: dict[str, str] = {}
        """What it has asked and has no answer to, by method."""
        self.is_open = False
        """Whether it has heard that the handshake is done."""


class Dialogues(RuleBasedStateMachine):
    def __init__(self) -> None:
        super().__init__()
        self.joint = Joint(
            Settings(most_parked=3, most_questions=6),
            FIRST_ID,
            Raw(b'{"name":"b","version":"0"}'),
            SEAL,
        )
        self.now = 0.0
        self.number = 0
        self.children: dict[int, ChildModel] = {}
        self.current = 1
        self.legs: dict[str, Leg] = {}
        """Open requests of the host by id."""
        self.silent: set[str] = set()
        self.parked: dict[str, tuple[str, str, list[str]]] = {}
        """Answered legs with the tool's name, the state and the keys."""
        self.asked: set[str] = set()
        """The ids of all questions that were ever asked."""
        self.streams: dict[str, bool] = {}
        """Open streams, and whether they are acknowledged."""
        self.finished = False

    @initialize()
    def start(self) -> None:
        self.children[1] = ChildModel()
        self.joint.child_started(1, self.now)

    def _fresh(self) -> str:
        self.number += 1
        return f"h{self.number}"

    # The host ------------------------------------------------------------------------------------

    @rule(
        name=st.sampled_from(["a", "a", "b", "c"]),
        capabilities=st.sampled_from(CAPABILITIES),
        level=st.sampled_from([None, None, 0, 4]),
        wants_progress=st.booleans(),
    )
    def call(self, name: str, capabilities: str, level: int | None, wants_progress: bool) -> None:
        self._request("tools/call", f'"name":"{name}",', name, capabilities, level, wants_progress)

    @rule(capabilities=st.sampled_from(CAPABILITIES), level=st.sampled_from([None, 2]))
    def list_tools(self, capabilities: str, level: int | None) -> None:
        self._request("tools/list", "", None, capabilities, level, False)

    def _request(
        self,
        method: str,
        params: str,
        name: str | None,
        capabilities: str,
        level: int | None,
        wants_progress: bool,
    ) -> None:
        id = self._fresh()
        more: list[str] = []
        if level is not None:
            more.append(f'"io.modelcontextprotocol/logLevel":"{LOG_LEVELS[level]}"')
        if wants_progress:
            more.append(f'"progressToken":"{id}"')
        self.legs[id] = Leg(name, level, id if wants_progress else None)
        self._host(
            f'{{"jsonrpc":"2.0","id":"{id}","method":"{method}",'
            f'"params":{{{params}{meta(capabilities, ",".join(more))}}}}}'
        )

    @precondition(lambda self: self.parked)
    @rule(
        data=st.data(),
        capabilities=st.sampled_from(CAPABILITIES),
        level=st.sampled_from([None, 0]),
        wants_progress=st.booleans(),
        good=st.sampled_from([True, True, False]),
    )
    def retry(
        self,
        data: st.DataObject,
        capabilities: str,
        level: int | None,
        wants_progress: bool,
        good: bool,
    ) -> None:
        leg = data.draw(st.sampled_from(sorted(self.parked)))
        name, state, keys = self.parked[leg]
        chosen = data.draw(st.lists(st.sampled_from(keys), unique=True)) if keys else []
        answers = {key: self._answer_for(key) for key in chosen}
        if not good:
            answers = {key: json.loads('"no answer"') for key in keys}
        given = f'"requestState":"{state}","inputResponses":{json.dumps(answers)},'
        if good:
            del self.parked[leg]
        self._request(
            "tools/call", f'"name":"{name}",{given}', name, capabilities, level, wants_progress
        )

    def _answer_for(self, key: str) -> Json:
        for child in self.children.values():
            if key in child.questions:
                return cast(Json, json.loads(QUESTIONS[child.questions[key]][1]))
        return cast(Json, json.loads(ACCEPTED))

    @precondition(lambda self: self.legs or self.parked or self.streams)
    @rule(data=st.data())
    def cancel(self, data: st.DataObject) -> None:
        id = data.draw(st.sampled_from(sorted({*self.legs, *self.parked, *self.streams})))
        if id in self.legs or id in self.streams:
            self.silent.add(id)
        self.legs.pop(id, None)
        self.streams.pop(id, None)
        self.parked.pop(id, None)
        self._host(
            f'{{"jsonrpc":"2.0","method":"notifications/cancelled","params":{{"requestId":"{id}"}}}}'
        )

    @rule(
        tools=st.booleans(),
        uris=st.lists(st.sampled_from(["x:a", "x:b"]), unique=True),
    )
    def listen(self, tools: bool, uris: list[str]) -> None:
        id = self._fresh()
        wanted = json.dumps({"toolsListChanged": tools, "resourceSubscriptions": uris})
        self.streams[id] = False
        self._host(
            f'{{"jsonrpc":"2.0","id":"{id}","method":"subscriptions/listen",'
            f'"params":{{"notifications":{wanted},{meta(EVERYTHING)}}}}}'
        )

    # The children --------------------------------------------------------------------------------

    def _busy(self) -> list[int]:
        return [number for number, child in self.children.items() if child.owes]

    @precondition(lambda self: self._busy())
    @rule(data=st.data(), how=st.sampled_from(["result", "result", "error", "isError"]))
    def answer(self, data: st.DataObject, how: str) -> None:
        number = data.draw(st.sampled_from(self._busy()))
        child = self.children[number]
        id = data.draw(st.sampled_from(sorted(child.owes)))
        self._answer(number, id, how)

    def _answer(self, number: int, id: int, how: str) -> None:
        child = self.children[number]
        method = child.owes.pop(id)
        child.tokens.discard(id)
        child.cancelled.discard(id)
        if method == "server/discover" or how == "error":
            body = '"error":{"code":-32601,"message":"no"}'
        elif method == "initialize":
            body = (
                f'"result":{{"protocolVersion":"2025-11-25","capabilities":{OFFERS},'
                '"serverInfo":{"name":"s","version":"1"}}'
            )
        else:
            failed = ',"isError":true' if how == "isError" else ""
            body = f'"result":{{"content":[],"tools":[]{failed}}}'
        self._child(number, f'{{"jsonrpc":"2.0","id":{id},{body}}}')

    @rule(data=st.data(), method=st.sampled_from(sorted(QUESTIONS)))
    def ask(self, data: st.DataObject, method: str) -> None:
        if not self.children:
            return
        number = data.draw(st.sampled_from(sorted(self.children)))
        self.number += 1
        id = f"q{self.number}"
        self.children[number].questions[id] = method
        self.asked.add(id)
        params = QUESTIONS[method][0]
        self._child(
            number, f'{{"jsonrpc":"2.0","id":"{id}","method":"{method}","params":{params}}}'
        )

    @rule(data=st.data())
    def withdraw(self, data: st.DataObject) -> None:
        asking = [
            number for number, child in self.children.items() if child.questions and child.is_open
        ]
        if not asking:
            return
        number = data.draw(st.sampled_from(asking))
        child = self.children[number]
        id = data.draw(st.sampled_from(sorted(child.questions)))
        del child.questions[id]
        self._child(
            number,
            '{"jsonrpc":"2.0","method":"notifications/cancelled",'
            f'"params":{{"requestId":"{id}"}}}}',
        )

    @rule(
        data=st.data(),
        note=st.sampled_from(
            [
                '"notifications/message","params":{"level":"error","data":1}',
                '"notifications/tools/list_changed"',
                '"notifications/resources/updated","params":{"uri":"x:a"}',
                '"notifications/elicitation/complete","params":{"elicitationId":"e"}',
            ]
        ),
    )
    def notify(self, data: st.DataObject, note: str) -> None:
        if self.children:
            number = data.draw(st.sampled_from(sorted(self.children)))
            self._child(number, f'{{"jsonrpc":"2.0","method":{note}}}')

    @rule(data=st.data(), progress=st.integers(0, 3))
    def report(self, data: st.DataObject, progress: int) -> None:
        able = [number for number, child in self.children.items() if child.tokens]
        if able:
            number = data.draw(st.sampled_from(able))
            token = data.draw(st.sampled_from(sorted(self.children[number].tokens)))
            self._child(
                number,
                '{"jsonrpc":"2.0","method":"notifications/progress",'
                f'"params":{{"progressToken":{token},"progress":{progress}}}}}',
            )

    @rule(data=st.data())
    def child_ends(self, data: st.DataObject) -> None:
        if self.children:
            number = data.draw(st.sampled_from(sorted(self.children)))
            self._end(number)

    def _end(self, number: int) -> None:
        del self.children[number]
        self.joint.child_ended(number, Ending("exited with code 1", code=1), self.now)
        self._carry_out()

    @rule(seconds=st.sampled_from([0.01, 0.02, 0.5, 2.0, 11.0, 70.0, 601.0]))
    def time_passes(self, seconds: float) -> None:
        end = self.now + seconds
        for _ in range(1000):
            due = self.joint.deadline
            if due is None or due > end:
                break
            self.now = max(due, self.now)
            self.joint.passed(self.now)
            self._carry_out()
            later = self.joint.deadline
            assert later is None or later > self.now, "a deadline that has passed is still due"
        else:
            raise AssertionError("time does not go by")
        self.now = end

    # The end -------------------------------------------------------------------------------------

    def teardown(self) -> None:
        if not self.children and self.number == 0:
            return
        for stream in list(self.streams):
            self._cancel_quietly(stream)
        # Past the initialize timeouts of two processes, the second of which is to be what the first
        # one was not, and has to wait for its turn.
        for _ in range(70):
            self._answer_everything()
            for leg in list(self.parked):
                self._cancel_quietly(leg)
            self.time_passes(2.0)
            if not (self.legs or self.parked or self._busy()):
                break
        assert not self.legs, "requests of the host are never answered"
        self.time_passes(700.0)
        self._answer_everything()
        self.time_passes(2.0)
        for number, child in self.children.items():
            if child.is_open:
                assert not child.questions, f"questions of process {number} are never answered"
        assert self.joint.deadline is None
        assert not list(leftovers(self.joint)), list(leftovers(self.joint))
        self.joint.host_ended(self.now)
        assert any(isinstance(action, Finish) for action in self.joint.out.actions)

    def _answer_everything(self) -> None:
        for number in list(self.children):
            while number in self.children and self.children[number].owes:
                self._answer(number, min(self.children[number].owes), "result")

    def _cancel_quietly(self, id: str) -> None:
        if id in self.streams:
            self.silent.add(id)
        self.streams.pop(id, None)
        self.parked.pop(id, None)
        self._host(
            f'{{"jsonrpc":"2.0","method":"notifications/cancelled","params":{{"requestId":"{id}"}}}}'
        )

    # How it is carried out -----------------------------------------------------------------------

    def _host(self, line: str) -> None:
        self.joint.from_host([line.encode()], True, self.now)
        self._carry_out()

    def _child(self, number: int, line: str) -> None:
        self.joint.from_child(number, [line.encode()], True, self.now)
        self._carry_out()

    def _carry_out(self) -> None:
        out = self.joint.out
        while out.to_host or out.actions or self._lines_for_children():
            to_host = b"".join(out.to_host)
            actions = list(out.actions)
            out.to_host.clear()
            out.host_breaks.clear()
            out.actions.clear()
            for action in actions:
                if isinstance(action, StartChild):
                    self.children.pop(action.instead_of or 0, None)
                    self.children[action.number] = ChildModel()
                    self.joint.child_started(action.number, self.now)
            for line in to_host.splitlines():
                self._host_hears(msgspec.json.decode(line))
            for number, pieces in self._lines_for_children():
                text = b"".join(pieces)
                pieces.clear()
                for line in text.splitlines():
                    self._child_hears(number, msgspec.json.decode(line))
            for action in actions:
                if isinstance(action, EndChild):
                    self._unwanted(action.number)
        out.notes.clear()
        out.noise.clear()

    def _lines_for_children(self) -> "list[tuple[int, list[Buffer]]]":
        """What is written to processes that are there; the rest waits until they are."""
        out = self.joint.out
        lanes = {**out.to_others, self.joint.process: out.to_child}
        return [
            (number, lane) for number, lane in lanes.items() if lane and number in self.children
        ]

    def _unwanted(self, number: int) -> None:
        child = self.children.pop(number, None)
        if child is not None:
            working = [id for id in child.owes if id not in child.cancelled]
            methods = {child.owes[id] for id in working}
            at_work = methods & {"tools/call", "tools/list"}
            assert not at_work, f"process {number} is ended at work"
            self.joint.child_ended(number, Ending("exited with code 0", code=0), self.now)

    # What is seen --------------------------------------------------------------------------------

    def _host_hears(self, message: Object) -> None:
        if "method" in message:
            self._host_notified(str(message["method"]), cast(Object, message.get("params") or {}))
            return
        id = str(message["id"])
        assert id not in self.silent, f"{id} was cancelled"
        if id in self.streams:
            # Ended from our side.
            assert "result" in message or not self.streams[id]
            del self.streams[id]
            return
        assert id in self.legs, f"{id} is answered a second time"
        leg = self.legs.pop(id)
        result = message.get("result")
        if isinstance(result, dict) and result["resultType"] == "input_required":
            assert leg.name is not None, "only calls may be answered input_required"
            keys = list(cast(Object, result["inputRequests"]))
            open_questions = {key for child in self.children.values() for key in child.questions}
            assert keys and set(keys) <= open_questions, "a question that is not open"
            self.parked[id] = (leg.name, str(result["requestState"]), keys)

    def _host_notified(self, method: str, params: Object) -> None:
        if method == "notifications/progress":
            leg = self.legs[str(params["progressToken"])]
            progress = params["progress"]
            assert isinstance(progress, int) and progress > leg.progress
            leg.progress = progress
        elif method == "notifications/message":
            assert any(leg.level is not None and leg.level <= 4 for leg in self.legs.values())
        elif method == "notifications/cancelled":
            assert str(params["requestId"]) not in self.legs
        else:
            id = str(cast(Object, params["_meta"])[SUBSCRIPTION_ID])
            assert id in self.streams, f"{id} is no stream any more"
            first = method == "notifications/subscriptions/acknowledged"
            assert first is not self.streams[id], "the acknowledgement comes first, and once"
            self.streams[id] = True

    def _child_hears(self, number: int, message: Object) -> None:
        child = self.children.get(number)
        if child is None:
            return
        id = message.get("id")
        method = message.get("method")
        if method is None:
            assert isinstance(id, str) and id in child.questions, f"{id} needs no answer"
            del child.questions[id]
        elif method == "notifications/initialized":
            child.is_open = True
        elif method == "notifications/cancelled":
            id = cast(Object, message["params"])["requestId"]
            assert isinstance(id, int) and id in child.owes, "cancelled what it does not do"
            child.cancelled.add(id)
            child.tokens.discard(id)
        elif id is not None:
            assert isinstance(id, int) and id not in child.ids, "an id is used twice"
            child.ids.add(id)
            child.owes[id] = str(method)
            params = cast(Object, message.get("params") or {})
            if "progressToken" in cast(Object, params.get("_meta") or {}):
                child.tokens.add(id)


REMEMBERED: Final = frozenset(
    {
        "MetaReader._known",  # limited
        "Askers._names",  # limited
        "Session._coverage",  # limited
        "Exchanges._children",  # the processes that run
        "OwnRequests.open",  # a probe that is not answered stays known
        "Inquiry.held",  # limited; it waits for the first request
        "LogLevels._wanted",  # one count for each level
        "Questions._cancelled",  # limited in number and time
        "Errands._late_operations",  # limited
    }
)


def leftovers(joint: Joint) -> Iterator[str]:
    """The tables in the machinery that are not empty, but for those that may have something."""
    seen: set[int] = set()
    todo: list[object] = [joint]
    while todo:
        thing = todo.pop()
        if id(thing) in seen:
            continue
        seen.add(id(thing))
        for name, value in vars(thing).items() if hasattr(thing, "__dict__") else ():
            where = f"{type(thing).__name__}.{name}"
            if isinstance(value, dict | list | set) or type(value).__name__ == "deque":
                if value and where not in REMEMBERED:
                    yield f"{where}: {value!r:.200}"
            elif type(value).__module__.startswith("mcp_era"):
                todo.append(value)


Dialogues.TestCase.settings = settings(
    max_examples=150,
    stateful_step_count=60,
    deadline=None,
    suppress_health_check=[HealthCheck.too_slow, HealthCheck.filter_too_much],
)
pytestmark = pytest.mark.clause("S-03", "S-22", "S-51", "S-57", "S-66", "S-74", "S-77", "S-83")
TestDialogues = Dialogues.TestCase
