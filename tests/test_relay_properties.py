"""Whenever the child of a legacy pair ends, nothing is lost, answered twice or mixed up."""

import json
from collections.abc import Mapping
from typing import Final

from hypothesis import settings
from hypothesis import strategies as st
from hypothesis.stateful import RuleBasedStateMachine, initialize, invariant, precondition, rule
from msgspec import Raw

from conversation import FIRST_ID, SEAL, Json
from mcp_era_bridge.effects import EndChild, Ending, Finish, StartChild
from mcp_era_bridge.joint import Joint
from mcp_era_bridge.settings import Settings

CAPABILITIES: Final = {"tools": {"listChanged": True}, "resources": {"subscribe": True}}
AGREED: Final = {"protocolVersion": "2025-11-25", "capabilities": CAPABILITIES}
URIS: Final = ("a:", "b:", "c:")


def _is_ours(id: object) -> bool:
    return isinstance(id, int) and id >= FIRST_ID


def _uri(message: dict[str, Json]) -> str:
    params = message["params"]
    assert isinstance(params, dict)
    return str(params["uri"])


class LegacyPair(RuleBasedStateMachine):
    """The host and the child of the model; the joint between them is the real one."""

    def __init__(self) -> None:
        super().__init__()
        self.joint = Joint(Settings(), FIRST_ID, Raw(b'{"name":"b","version":"0"}'), SEAL)
        self.now = 0.0
        self.next_id = 1
        self.owed: dict[object, dict[str, Json]] = {}
        """The requests of the host that are not answered."""
        self.watched: set[str] = set()
        """What the host believes to be subscribed to."""
        self.running = False
        self.at_child: dict[object, dict[str, Json]] = {}
        """The requests that the present process has not answered."""
        self.subscribed: set[str] = set()
        """What the present process is subscribed to."""
        self.ready = False
        """Whether the present process has answered `initialize`."""
        self.asked: set[int] = set()
        """The questions of the present process that are not answered."""
        self.next_question = 0
        self.at_host: dict[object, tuple[int, int]] = {}
        """The questions at the host: the process and the id that it gave."""
        self.process = 1

    @initialize()
    def open(self) -> None:
        self.joint.child_started(1, self.now)
        self.running = True
        self.host_says({"id": 0, "method": "initialize", "params": {"protocolVersion": "x"}})
        self.answer(0)
        self.host_says({"method": "notifications/initialized"})

    # The host ------------------------------------------------------------------------------------

    @rule()
    def call(self) -> None:
        self.request("tools/call", {})

    @rule(uri=st.sampled_from(URIS), method=st.sampled_from(["subscribe", "unsubscribe"]))
    def watch(self, uri: str, method: str) -> None:
        # One at a time for each resource: else not even the two of them know what holds.
        open = [*self.owed.values(), *self.at_child.values()]
        pending = [one for one in open if one.get("params") == {"uri": uri}]
        if not pending:
            self.request(f"resources/{method}", {"uri": uri})

    def request(self, method: str, params: dict[str, Json]) -> None:
        id = self.next_id
        self.next_id += 1
        self.owed[id] = {"method": method, "params": params}
        self.host_says({"id": id, "method": method, "params": params})

    @precondition(lambda self: any(one["method"] == "tools/call" for one in self.owed.values()))
    @rule(data=st.data())
    def cancel(self, data: st.DataObject) -> None:
        calls = [id for id, one in self.owed.items() if one["method"] == "tools/call"]
        id = data.draw(st.sampled_from(calls))
        del self.owed[id]
        self.host_says({"method": "notifications/cancelled", "params": {"requestId": id}})
        assert id not in self.at_child, "the child works on for nobody"

    @precondition(lambda self: self.at_host)
    @rule(data=st.data())
    def reply(self, data: st.DataObject) -> None:
        id = data.draw(st.sampled_from(sorted(self.at_host, key=str)))
        process, own = self.at_host.pop(id)
        before = set(self.asked)
        self.host_says({"id": id, "result": {"process": process}})
        gone = before - self.asked
        assert gone == ({own} if process == self.process and own in before else set())

    # The child -----------------------------------------------------------------------------------

    @precondition(lambda self: self.running and self.at_child)
    @rule(data=st.data(), succeeds=st.booleans())
    def child_answers(self, data: st.DataObject, succeeds: bool) -> None:
        id = data.draw(st.sampled_from(sorted(self.at_child, key=str)))
        self.answer(id, succeeds or self.at_child[id]["method"] == "initialize")

    def answer(self, id: object, succeeds: bool = True) -> None:
        asked = self.at_child.pop(id)
        method = asked["method"]
        if not succeeds:
            self.child_says({"id": id, "error": {"code": -32602, "message": "no"}})
            return
        if method == "resources/subscribe":
            self.subscribed.add(_uri(asked))
        elif method == "resources/unsubscribe":
            self.subscribed.discard(_uri(asked))
        elif method == "initialize":
            self.ready = True
        if method == "server/discover":
            self.child_says({"id": id, "error": {"code": -32601, "message": "?"}})
            return
        result = AGREED if method == "initialize" else {}
        self.child_says({"id": id, "result": result})

    @precondition(lambda self: self.running and self.ready)
    @rule()
    def child_asks(self) -> None:
        id = self.next_question
        self.next_question += 1
        self.asked.add(id)
        self.child_says({"id": id, "method": "roots/list"})
        assert (self.process, id) in self.at_host.values()

    @precondition(lambda self: self.running)
    @rule()
    def child_ends(self) -> None:
        self.running = False
        self.at_child.clear()
        self.subscribed.clear()
        self.asked.clear()
        self.ready = False
        self.joint.child_ended(self.process, Ending("exited with code 1", code=1), self.now)
        self.carry()

    @rule(seconds=st.sampled_from([0.4, 3.0, 11.0]))
    def time_passes(self, seconds: float) -> None:
        end = self.now + seconds
        while self.joint.deadline is not None and self.joint.deadline <= end:
            self.now = self.joint.deadline
            self.joint.passed(self.now)
            self.carry()
        self.now = end

    # What comes out ------------------------------------------------------------------------------

    def host_says(self, message: Mapping[str, object]) -> None:
        self.joint.from_host([json.dumps({"jsonrpc": "2.0", **message}).encode()], True, self.now)
        self.carry()

    def child_says(self, message: Mapping[str, object]) -> None:
        line = json.dumps({"jsonrpc": "2.0", **message}).encode()
        self.joint.from_child(self.process, [line], True, self.now)
        self.carry()

    def carry(self) -> None:
        out = self.joint.out
        for action in out.actions:
            match action:
                case StartChild(number):
                    self.process, self.running = number, True
                    self.next_question = 0
                    self.joint.child_started(number, self.now)
                case EndChild() | Finish():
                    raise AssertionError(action)
                case _:
                    pass
        out.actions.clear()
        out.notes.clear()
        if self.running:
            for line in b"".join(out.to_child).splitlines():
                self.to_child(json.loads(line))
            out.to_child.clear()
        for line in b"".join(out.to_host).splitlines():
            self.to_host(json.loads(line))
        out.to_host.clear()

    def to_child(self, message: dict[str, Json]) -> None:
        id, method = message.get("id"), message.get("method")
        if method is None:
            result = message["result"]
            assert isinstance(result, dict) and result["process"] == self.process
            assert isinstance(id, int)
            self.asked.remove(id)
        elif method == "notifications/cancelled":
            params = message["params"]
            assert isinstance(params, dict)
            del self.at_child[params["requestId"]]
        elif id is not None:
            assert id not in self.at_child
            opens = method in ("initialize", "server/discover")
            assert opens or self.ready, "it hears of nothing before"
            self.at_child[id] = message

    def to_host(self, message: dict[str, Json]) -> None:
        id, method = message.get("id"), message.get("method")
        if method == "notifications/cancelled":
            params = message["params"]
            assert isinstance(params, dict)
            # The host may still answer it: nothing is taken out.
            assert params["requestId"] in self.at_host
        elif method is not None and id is not None:
            assert id not in self.at_host, "two questions with one id"
            self.at_host[id] = (self.process, self.next_question - 1)
        elif method is None and id != 0:
            asked = self.owed.pop(id)
            if "result" in message and asked["method"] != "tools/call":
                held = asked["method"] == "resources/subscribe"
                (self.watched.add if held else self.watched.discard)(_uri(asked))

    @invariant()
    def the_child_is_told_of_no_more_than_the_host_believes(self) -> None:
        own = [m for id, m in self.at_child.items() if _is_ours(id)]
        told = {_uri(m) for m in own if m["method"] == "resources/subscribe"}
        assert self.subscribed | told <= self.watched
        opens = ("initialize", "server/discover")
        if self.ready and all(m["method"] not in opens for m in own):
            assert self.owed.keys() == {id for id in self.at_child if not _is_ours(id)}

    def teardown(self) -> None:
        self.time_passes(60)
        if not self.running:
            self.call()
            self.time_passes(60)
        while self.at_child:
            self.answer(min(self.at_child, key=str))
        assert not self.owed, "requests of the host are never answered"


TestLegacyPair = LegacyPair.TestCase
TestLegacyPair.settings = settings(max_examples=150, stateful_step_count=40, deadline=None)
