"""Any interleaving of calls, answers, cancels and child ends answers every request exactly once."""

import json
from typing import Final

import msgspec
import pytest
from hypothesis import settings
from hypothesis import strategies as st
from hypothesis.stateful import (
    Bundle,
    RuleBasedStateMachine,
    consumes,
    initialize,
    invariant,
    precondition,
    rule,
)
from msgspec import Raw

from conversation import FIRST_ID, MACROS, SEAL, Json
from mcp_era_bridge.effects import Ending, Finish, StartChild
from mcp_era_bridge.joint import Joint
from mcp_era_bridge.settings import Settings

META: Final = "{" + MACROS["$META"] + "}"
SERVER: Final = (
    '{"protocolVersion":"2025-11-25","capabilities":{},"serverInfo":{"name":"s","version":"1"}}'
)


class ModernHostOnLegacyChild(RuleBasedStateMachine):
    """The host and the child of the model; the joint between them is the real one.

    The model knows nothing of eras or ids: it counts what each side is owed.
    """

    requests = Bundle("requests")

    def __init__(self) -> None:
        super().__init__()
        self.joint = Joint(Settings(), FIRST_ID, Raw(b'{"name":"b","version":"0"}'), SEAL)
        self.now = 0.0
        self.owed: set[Json] = set()
        """Ids of the host's requests that are neither answered nor cancelled."""
        self.silent: set[Json] = set()
        """Ids that were cancelled: nothing may come for them any more."""
        self.at_child: dict[int, str] = {}
        """What the child has to answer, by the id that it knows."""
        self.told_to_cancel: set[int] = set()
        self.ids_seen: set[int] = set()
        self.running = False
        self.next_id = 0
        self.ended = False

    @initialize(silent_on_probe=st.booleans())
    def start(self, silent_on_probe: bool) -> None:
        self.silent_on_probe = silent_on_probe
        self.joint.child_started(1, self.now)
        self.running = True

    # The host ------------------------------------------------------------------------------------

    @precondition(lambda self: not self.ended)
    @rule(
        target=requests,
        method=st.sampled_from(["tools/call", "tools/list", "x/y", "server/discover", "ping"]),
        as_text=st.booleans(),
    )
    def ask(self, method: str, as_text: bool) -> Json:
        self.next_id += 1
        id: Json = str(self.next_id) if as_text else self.next_id
        self.owed.add(id)
        params = '{"name":"t","_meta":' if method == "tools/call" else '{"_meta":'
        self._host(
            f'{{"jsonrpc":"2.0","id":{json.dumps(id)},"method":"{method}",'
            f'"params":{params}{META}}}}}'
        )
        return id

    @precondition(lambda self: not self.ended)
    @rule(id=consumes(requests))
    def cancel(self, id: Json) -> None:
        if id in self.owed:
            self.owed.discard(id)
            self.silent.add(id)
        self._host(
            '{"jsonrpc":"2.0","method":"notifications/cancelled",'
            f'"params":{{"requestId":{json.dumps(id)}}}}}'
        )

    @precondition(lambda self: not self.ended)
    @rule(id=requests, method=st.sampled_from(["tools/list", "x/y"]))
    def ask_under_an_id_that_may_be_open(self, id: Json, method: str) -> None:
        if id in self.silent:
            return
        twice = id in self.owed
        self.owed.add(id)
        before = set(self.owed)
        self._host(
            f'{{"jsonrpc":"2.0","id":{json.dumps(id)},"method":"{method}",'
            f'"params":{{"_meta":{META}}}}}',
            refused_twin=id if twice else None,
        )
        if twice:
            assert self.owed == before

    @precondition(lambda self: not self.ended)
    @rule(line=st.sampled_from(["garbage", '{"jsonrpc":"2.0","id":null,"method":"x"}', "[]"]))
    def talk_rubbish(self, line: str) -> None:
        self._host(line)

    # The child -----------------------------------------------------------------------------------

    @precondition(lambda self: self.running and self.at_child)
    @rule(data=st.data(), fails=st.booleans())
    def answer(self, data: st.DataObject, fails: bool) -> None:
        id = data.draw(st.sampled_from(sorted(self.at_child)))
        method = self.at_child[id]
        if method == "server/discover" and self.silent_on_probe:
            return
        del self.at_child[id]
        if method == "server/discover":
            body = '"error":{"code":-32601,"message":"?"}'
        elif method == "initialize":
            body = f'"result":{SERVER}'
        elif fails:
            body = '"error":{"code":1,"message":"m"}'
        else:
            body = '"result":{"content":[],"tools":[]}'
        self._child(f'{{"jsonrpc":"2.0","id":{id},{body}}}')

    @precondition(lambda self: self.running)
    @rule(
        line=st.sampled_from(["banner", '{"jsonrpc":"2.0","id":999999,"result":{}}', "[1]", "{}"])
    )
    def chatter(self, line: str) -> None:
        self._child(line)

    @precondition(lambda self: self.running and self.told_to_cancel)
    @rule(data=st.data())
    def answer_a_cancelled_call_all_the_same(self, data: st.DataObject) -> None:
        id = data.draw(st.sampled_from(sorted(self.told_to_cancel)))
        self.told_to_cancel.discard(id)
        self._child(f'{{"jsonrpc":"2.0","id":{id},"error":{{"code":0,"message":"cancelled"}}}}')

    @precondition(lambda self: self.running)
    @rule()
    def child_ends(self) -> None:
        self._forget_child()
        self.joint.child_ended(self.joint.process, Ending("exited with code 1", code=1), self.now)
        self._carry_out()

    # Time and the end ----------------------------------------------------------------------------

    @rule(seconds=st.sampled_from([0.1, 5.0, 61.0]))
    def time_passes(self, seconds: float) -> None:
        end = self.now + seconds
        while (due := self.joint.deadline) is not None and due <= end:
            self.now = max(due, self.now)
            self.joint.passed(self.now)
            self._carry_out()
        self.now = end

    @precondition(lambda self: not self.ended)
    @rule()
    def host_ends(self) -> None:
        self.ended = True
        self.joint.host_ended(self.now)
        self._carry_out()

    # What must be true ---------------------------------------------------------------------------

    @invariant()
    def nobody_waits_for_a_child_that_is_not_there(self) -> None:
        if not self.running and not self.ended and self.joint.deadline is None:
            assert not self.owed

    def teardown(self) -> None:
        """Whatever is still owed is answered once the child does its duty or is gone."""
        if self.running:
            self.silent_on_probe = False
            self._forget_child()
            self.joint.child_ended(self.joint.process, Ending("exited", code=0), self.now)
            self._carry_out()
            for _ in range(4):
                if self.running:
                    self._forget_child()
                    self.joint.child_ended(self.joint.process, Ending("exited", code=0), self.now)
                    self._carry_out()
        assert not self.owed

    # How it is carried out -----------------------------------------------------------------------

    def _host(self, line: str, refused_twin: Json = None) -> None:
        self.joint.from_host([line.encode()], True, self.now)
        self._carry_out(refused_twin)

    def _child(self, line: str) -> None:
        self.joint.from_child(self.joint.process, [line.encode()], True, self.now)
        self._carry_out()

    def _forget_child(self) -> None:
        self.running = False
        self.at_child.clear()
        self.told_to_cancel.clear()
        self.ids_seen.clear()

    def _carry_out(self, refused_twin: Json = None) -> None:
        out = self.joint.out
        for action in out.actions:
            if isinstance(action, StartChild):
                self._forget_child()
                self.running = True
                self.joint.child_started(action.number, self.now)
            elif isinstance(action, Finish):
                assert self.ended
                self.running = False
        wire_host, wire_child = b"".join(out.to_host), b"".join(out.to_child)
        for each in (out.actions, out.to_host, out.to_child, out.notes, out.noise):
            each.clear()
        for line in wire_host.split(b"\n")[:-1]:
            self._host_hears(msgspec.json.decode(line), refused_twin)
        for line in wire_child.split(b"\n")[:-1]:
            self._child_hears(msgspec.json.decode(line))

    def _host_hears(self, message: dict[str, Json], refused_twin: Json) -> None:
        assert ("result" in message) is not ("error" in message), message
        if "id" not in message:
            return  # the refusal of rubbish
        id = message["id"]
        assert id not in self.silent, f"{id!r} was cancelled"
        if id == refused_twin and "still open" in json.dumps(message):
            return
        assert id in self.owed, f"{id!r} is answered a second time"
        self.owed.discard(id)

    def _child_hears(self, message: dict[str, Json]) -> None:
        if message.get("method") == "notifications/cancelled":
            params = message["params"]
            assert isinstance(params, dict)
            id = params["requestId"]
            assert isinstance(id, int) and id in self.at_child, "cancelled what it does not do"
            del self.at_child[id]
            self.told_to_cancel.add(id)
        elif "id" in message:
            id = message["id"]
            assert type(id) is int and id not in self.ids_seen, "an id is used twice"
            self.ids_seen.add(id)
            self.at_child[id] = str(message["method"])


ModernHostOnLegacyChild.TestCase.settings = settings(
    max_examples=150, stateful_step_count=40, deadline=None
)


pytestmark = pytest.mark.clause("S-03", "S-22", "S-51", "S-52", "S-83")
TestModernHostOnLegacyChild = ModernHostOnLegacyChild.TestCase
