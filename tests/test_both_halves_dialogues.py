"""Any interleaving of what a host says in both eras to one modern server, with streams and ends:
design D15, translation F, G.2.

The handshake half is that of legacy_host.py; the other one passes as it comes.
"""

import json
from collections import Counter

import pytest
from hypothesis import HealthCheck, settings
from hypothesis import strategies as st
from hypothesis.stateful import initialize, precondition, rule

from conversation import Json
from marked import PREFIX, SUBSCRIPTION_ID, Stream
from mcp_era_bridge.settings import Settings
from stage import MODERN, Process, Temper, at, line_of
from test_handshaken_dialogues import LISTS, MOST_QUESTIONS, URIS, HandshakenDialogues

ENVELOPE: dict[str, Json] = {
    PREFIX + "protocolVersion": "2026-07-28",
    PREFIX + "clientInfo": {"name": "h", "version": "1"},
    PREFIX + "clientCapabilities": {},
}
TEMPERS = (
    *[MODERN] * 10,
    Temper("error", "modern", prompt=False),
    Temper("exit", "modern"),
    Temper("silent", "modern"),
    Temper("missing", "missing"),
)


class BothHalves(HandshakenDialogues):
    remembered = HandshakenDialogues.remembered | {"MetaReader._known", "KeptStreams.streams"}

    def __init__(self) -> None:
        super().__init__()
        self.open: dict[str, str] = {}
        """The open requests of the modern half, by method."""
        self.silent: set[str] = set()
        self.to_come: list[str] = []
        """What the modern half has said and no process has heard."""
        self.listens: dict[str, bool] = {}
        """Its streams, and whether they have been acknowledged."""
        self.wanted: dict[str, Stream] = {}
        self.here: dict[int, dict[str, Stream]] = {}
        """The streams of the modern half, by process."""
        self.passes: list[str] = []
        """What the process says to that half."""
        self.tagged: Counter[tuple[str, str]] = Counter()

    @initialize(
        first=st.sampled_from(TEMPERS[:-2]),
        others=st.lists(st.sampled_from(TEMPERS), min_size=6, max_size=6),
    )
    def begin(self, first: Temper, others: list[Temper]) -> None:
        self.version = "2025-11-25"
        self.capabilities = {"sampling": {}, "elicitation": {"form": {}, "url": {}}}
        self.has_roots = False
        self.set_up(Settings(most_questions=MOST_QUESTIONS), [first, *others])
        self.say("server/discover", {})

    @property
    def pair(self) -> Process | None:
        """The modern process that takes modern requests, if there is one."""
        process = self.current
        if process is None or self.finished is not None or not process.is_modern:
            return None
        # With a session, the process has to be known before it takes anything.
        if self.session == "none":
            return process if not process.asked_first else None
        return self.modern

    # The host ------------------------------------------------------------------------------------

    def ask(self, method: str, *, token: bool = False, **params: Json) -> int | str:
        if self.session == "none" and method != "initialize":
            return ""  # it would be one of the modern half, and a bad one
        return super().ask(method, token=token, **params)

    def cancel(self, id: int | str) -> None:
        if self.session == "open":
            super().cancel(id)

    def say(self, method: str, params: dict[str, Json]) -> str:
        """The host asks for something in the modern era."""
        id = f"m{self.fresh()}"
        line = line_of(id=id, method=method, params={**params, "_meta": ENVELOPE})
        self.open[id] = method
        if method != "server/discover":
            self.to_come.append(line)
        self.host_says(line)
        return id

    @precondition(lambda self: self.finished is None and len(self.open) < 5)
    @rule(method=st.sampled_from(["tools/call", "tools/list", "x/y"]))
    def modern_call(self, method: str) -> None:
        self.say(method, {"n": 1.5})

    @precondition(lambda self: self.finished is None and len(self.listens) < 3)
    @rule(tools=st.booleans(), uris=st.lists(st.sampled_from(URIS[:2]), unique=True))
    def listen(self, tools: bool, uris: list[str]) -> None:
        wanted: dict[str, Json] = {"toolsListChanged": tools, "resourceSubscriptions": [*uris]}
        flags = {"toolsListChanged"} if tools else set[str]()
        id = f"m{self.number + 1}"
        self.listens[id] = False
        self.wanted[id] = Stream(flags, set(uris))
        assert self.say("subscriptions/listen", {"notifications": wanted}) == id

    @precondition(lambda self: self.finished is None and self.open)
    @rule(data=st.data())
    def cancel_modern(self, data: st.DataObject) -> None:
        id = data.draw(st.sampled_from(sorted(self.open)))
        if self.open[id] != "server/discover":
            self.cancel_half(id)

    def cancel_half(self, id: str) -> None:
        """The modern half does not want an answer any more."""
        line = line_of(method="notifications/cancelled", params={"requestId": id})
        waits = [each for each in self.to_come if f'"id": "{id}"' in each]
        for each in waits:
            self.to_come.remove(each)
        here = self.current
        if here is not None and id in here.owes:
            self.to_come.append(line)
        del self.open[id]
        self.silent.add(id)
        self.listens.pop(id, None)
        self.host_says(line)

    @precondition(lambda self: self.modern and (self.open or self.asks))
    @rule(data=st.data(), modern=st.booleans())
    def repeat_an_id_of_the_other_half(self, data: st.DataObject, modern: bool) -> None:
        able = sorted(self.surely_open if modern else self.open, key=str)
        if not able or self.modern is None or not self.modern.is_used:
            return
        id = data.draw(st.sampled_from(able))
        self.twins[id] += 1
        params: dict[str, Json] = {"_meta": ENVELOPE} if modern else {}
        self.host_says(line_of(id=id, method="tools/list", params=params))
        assert not self.twins[id], "it is not refused"

    # The child -----------------------------------------------------------------------------------

    def pass_on(self, process: Process, line: str) -> None:
        """A process says something to the modern half."""
        self.passes.append(line)
        self.child_says(process, line)
        assert not self.passes, "a line is lost"

    def _half_owed(self) -> list[str]:
        if self.pair is None:
            return []
        owes = self.pair.owes
        return [id for id in self.open if id in owes and id not in self.wanted]

    @precondition(lambda self: self._half_owed())
    @rule(data=st.data(), how=st.sampled_from(["good", "error", "input"]))
    def child_answers_modern(self, data: st.DataObject, how: str) -> None:
        self.answer_modern(data.draw(st.sampled_from(self._half_owed())), how)

    def answer_modern(self, id: str, how: str = "good") -> None:
        process = self.pair
        assert process is not None
        del process.owes[id]
        if how == "error":
            line = line_of(id=id, error={"code": -32002, "message": "?", "data": [1.5]})
        else:
            kind = "complete" if how == "good" else "input_required"
            line = line_of(id=id, result={"resultType": kind, "requestState": "s", "n": 1.5})
        self.pass_on(process, line)

    @precondition(lambda self: self._half_owed())
    @rule(data=st.data(), progress=st.integers(0, 3))
    def child_reports_modern(self, data: st.DataObject, progress: int) -> None:
        assert self.pair is not None
        id = data.draw(st.sampled_from(self._half_owed()))
        params: Json = {"progressToken": f"p{id}", "progress": progress}
        self.pass_on(self.pair, line_of(method="notifications/progress", params=params))

    def _half_streams(self, acknowledged: bool) -> list[str]:
        process = self.pair
        if process is None:
            return []
        here = self.here[process.number]
        return [id for id, each in here.items() if each.acknowledged is acknowledged]

    @precondition(lambda self: self._half_streams(False))
    @rule(data=st.data(), honours=st.sampled_from([True, True, True, False]))
    def child_acknowledges_modern(self, data: st.DataObject, honours: bool) -> None:
        self.acknowledge_modern(data.draw(st.sampled_from(self._half_streams(False))), honours)

    def acknowledge_modern(self, id: str, honours: bool = True) -> None:
        process = self.pair
        assert process is not None
        stream = self.here[process.number][id]
        stream.acknowledged = True
        if not honours:
            stream.flags, stream.uris = set[str](), set[str]()
        notifications: dict[str, Json] = dict.fromkeys(sorted(stream.flags), True)
        notifications["resourceSubscriptions"] = [*sorted(stream.uris)]
        params: Json = {"notifications": notifications, "_meta": {SUBSCRIPTION_ID: id}}
        line = line_of(method="notifications/subscriptions/acknowledged", params=params)
        if not self.listens[id]:
            self.listens[id] = True
            self.wanted[id] = Stream(set(stream.flags), set(stream.uris))
            self.pass_on(process, line)
            return
        told = self.wanted[id]
        less = not (told.flags <= stream.flags and told.uris <= stream.uris)
        self.child_says(process, line)
        if less:
            assert id not in self.listens, "it does not get what it was promised"
            assert id not in self.here[process.number], "the server goes on with it"
        else:
            news = {LISTS[flag] for flag in told.flags} | told.uris
            assert {what for each, what in self.tagged if each == id} == news, "no news"

    @precondition(lambda self: self.pair)
    @rule(what=st.sampled_from(["toolsListChanged", "x:a", "x:b"]))
    def child_changes_for_modern(self, what: str) -> None:
        process = self.pair
        assert process is not None
        for id in self._half_streams(True):
            stream = self.here[process.number][id]
            tag: Json = {SUBSCRIPTION_ID: id}
            if what in stream.flags:
                self.pass_on(process, line_of(method=LISTS[what], params={"_meta": tag}))
            elif what in stream.uris:
                self.pass_on(process, self._update(id, what))

    @precondition(lambda self: self._half_streams(True) or self._half_streams(False))
    @rule(data=st.data(), how=st.sampled_from(["result", "error", "cancelled"]))
    def child_ends_a_modern_stream(self, data: st.DataObject, how: str) -> None:
        process = self.pair
        assert process is not None
        able = [*self._half_streams(True), *self._half_streams(False)]
        id = data.draw(st.sampled_from(sorted(able)))
        stream = self.here[process.number].pop(id)
        del process.owes[id]
        if how == "cancelled":
            line = line_of(method="notifications/cancelled", params={"requestId": id})
        elif how == "error":
            line = line_of(id=id, error={"code": -32601, "message": "?"})
        else:
            tag: Json = {SUBSCRIPTION_ID: id}
            line = line_of(id=id, result={"resultType": "complete", "_meta": tag})
        if how == "cancelled" or (self.listens[id] and not stream.acknowledged):
            # Ended by a notification alone, or by us in the name of the process before.
            self.ends_here = id
        if self.listens[id] and not stream.acknowledged and how != "result":
            self.child_says(process, line)
        else:
            self.pass_on(process, line)
        if how == "cancelled":
            self.open.pop(id, None)
            self.listens.pop(id, None)
        assert id not in self.listens and id not in self.open, "the host is not told"

    ends_here: str | None = None

    # What is heard -------------------------------------------------------------------------------

    def started(self, process: Process) -> None:
        super().started(process)
        self.here[process.number] = {}

    def gone(self, process: Process) -> None:
        super().gone(process)
        del self.here[process.number]

    def child_gets(self, process: Process, line: bytes) -> None:
        text = line.decode()
        if text.startswith('{"id": "m') or ('requestId": "m' in text):
            if "server/discover" in text:
                return
            again = at(json.loads(text), "id")
            if again in self.listens and text not in self.to_come:
                assert again not in process.owes, "a stream is asked for twice"
                return
            assert self.to_come and text == self.to_come.pop(0), text

    def child_hears(self, process: Process, message: dict[str, Json]) -> None:
        id = message.get("id")
        named = at(message, "params", "requestId")
        if isinstance(id, str) and id.startswith("m"):
            if message["method"] == "subscriptions/listen":
                wanted = self.wanted[id]
                self.here[process.number][id] = Stream(set(wanted.flags), set(wanted.uris))
        elif isinstance(named, str) and named.startswith("m"):
            assert process.owes.pop(named, None) is not None, "cancelled what it has not"
            self.here[process.number].pop(named, None)
        else:
            super().child_hears(process, message)

    def host_hears(self, line: bytes) -> None:
        message: Json = json.loads(line)
        assert isinstance(message, dict)
        id, named = message.get("id"), at(message, "params", "requestId")
        tag = at(message, "params", "_meta", SUBSCRIPTION_ID)
        passes = bool(self.passes) and line.decode() == self.passes[0]
        if passes:
            self.passes.pop(0)
        if isinstance(id, str) and id.startswith("m") and "method" not in message:
            self._half_answered(id, message, passes)
        elif isinstance(named, str) and named.startswith("m"):
            assert named not in self.listens or self.ends_here == named, "a stream ends by itself"
        elif isinstance(tag, str):
            assert tag in self.listens, f"{tag} is no stream"
            assert passes or self.listens[tag], "told before the acknowledgement"
            what = at(message, "params", "uri") or message["method"]
            self.tagged[tag, str(what)] += 1
        elif not passes:
            super().host_hears(line)

    def _half_answered(self, id: str, message: dict[str, Json], passes: bool) -> None:
        if self.twins[id] and "still open" in str(at(message, "error", "message")):
            self.twins[id] -= 1
            return
        assert id not in self.silent, f"{id!r} is answered after its cancellation"
        method = self.open.pop(id, None)
        assert method is not None, f"{id!r} is answered a second time"
        ended = self.listens.pop(id, None)
        own = at(message, "error", "data", "source") == "mcp-bridge"
        assert passes or own or ended is not None or method == "server/discover", message
        self.to_come = [each for each in self.to_come if f'"id": "{id}"' not in each]

    # What must be true ---------------------------------------------------------------------------

    def look(self) -> None:
        super().look()
        self.sound = False
        self.tagged.clear()
        process = self.pair
        if process is not None:
            assert not self.to_come, f"held: {self.to_come}"
            lost = [id for id in self.open if id not in process.owes]
            assert not [id for id in lost if self.open[id] != "server/discover"], lost
        self.sound = True

    def do_everything(self, ends_the_silent: bool = False) -> None:
        super().do_everything(ends_the_silent)
        for _ in range(20):
            if self._half_streams(False):
                self.acknowledge_modern(self._half_streams(False)[0])
            elif self._half_owed():
                self.answer_modern(self._half_owed()[0])
            else:
                return
            self.tagged.clear()

    def look_at_rest(self) -> None:
        assert self.open.keys() == self.listens.keys(), self.open
        if self.pair is not None:
            here = self.here[self.pair.number]
            assert here.keys() == self.listens.keys(), (here, self.listens)
        for id in list(self.listens):
            self.cancel_half(id)
        super().look_at_rest()


BothHalves.TestCase.settings = settings(
    max_examples=150,
    stateful_step_count=40,
    deadline=None,
    suppress_health_check=[HealthCheck.too_slow, HealthCheck.filter_too_much],
)
pytestmark = pytest.mark.clause("C-34", "C-39")
TestBothHalves = BothHalves.TestCase
