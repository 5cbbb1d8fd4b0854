"""Any interleaving of calls, rounds of questions, answers, cancels, subscriptions, time and ends,
between a legacy host and a modern server: translation E, F, G; design D2, D9, D10, D15.

What must be true stands in legacy_host.py; here stands who says what.
"""

from typing import Final

import pytest
from hypothesis import HealthCheck, settings
from hypothesis import strategies as st
from hypothesis.stateful import initialize, invariant, precondition, rule
from msgspec import Raw

from conversation import Json
from legacy_host import LegacyHost
from marked import (
    NEVER_HONOURED,
    QUESTION_METHODS,
    RESULTS,
    SUBSCRIPTION_ID,
    TAKES_INPUT,
    Round,
    Stream,
    marker_of,
    question_params,
)
from mcp_era_bridge.settings import Settings
from stage import LEGACY, MODERN, ODD, Process, Temper, line_of

VERSIONS: Final = ("2024-11-05", "2025-03-26", "2025-06-18", "2025-11-25", "2025-11-25")
CALLS: Final = (*RESULTS, *TAKES_INPUT, "tools/call", "ping")
URIS: Final = ("x:a", "x:b", "x:c", NEVER_HONOURED)
LISTS: Final = {
    "toolsListChanged": "notifications/tools/list_changed",
    "promptsListChanged": "notifications/prompts/list_changed",
    "resourcesListChanged": "notifications/resources/list_changed",
}
MOST_QUESTIONS: Final = 3
tempers = st.lists(st.sampled_from([*[MODERN] * 12, *[LEGACY] * 6, *ODD]), min_size=6, max_size=6)


def capabilities_of(version: str) -> list[dict[str, Json]]:
    """What a host of a revision may declare."""
    askable: dict[str, Json] = {"roots": {"listChanged": True}, "sampling": {}}
    if version >= "2025-11-25":
        askable |= {"elicitation": {"form": {}, "url": {}}, "sampling": {"tools": {}}}
    elif version >= "2025-06-18":
        askable["elicitation"] = {}
    return [askable, askable, askable, {}, {"sampling": {}}, {"roots": {}}]


class HandshakenDialogues(LegacyHost):
    remembered = frozenset(
        {
            "Batches._of",
            "Fitter._fit",
            "HostSession.subscriptions",
            "Inquiry.held",
            "LegacyFace.uris",
            "Listening._wanted",
            "OwnRequests.open",
            "Relayed._dead",
            "Relayed._own_open",
            "Resumption._asked",
            "WaitingLines._lines",
        }
    )

    @initialize(
        data=st.data(),
        version=st.sampled_from(VERSIONS),
        first=st.sampled_from([*[MODERN] * 12, *[LEGACY] * 3, *ODD]),
        others=tempers,
        has_roots=st.sampled_from([False, False, False, True]),
    )
    def begin(
        self,
        data: st.DataObject,
        version: str,
        first: Temper,
        others: list[Temper],
        has_roots: bool,
    ) -> None:
        self.version = version
        self.capabilities = data.draw(st.sampled_from(capabilities_of(version)))
        self.has_roots = has_roots
        roots = Raw(b'{"roots":[]}') if has_roots else None
        joint = Settings(most_questions=MOST_QUESTIONS, roots=roots, most_open=30)
        self.set_up(joint, [first, *others])
        self.shake()
        if data.draw(st.sampled_from([True, True, True, False])):
            self.say_initialized()

    def shake(self) -> None:
        self.session = "asked"
        info: Json = {"name": "h", "version": "1"}
        self.ask(
            "initialize",
            protocolVersion=self.version,
            capabilities=self.capabilities,
            clientInfo=info,
        )

    # The host ------------------------------------------------------------------------------------

    @precondition(lambda self: self.session == "none" and self.finished is None)
    @rule()
    def shake_again(self) -> None:
        self.shake()

    @precondition(lambda self: self.session == "open" and not self.is_initialized)
    @rule()
    def say_initialized(self) -> None:
        if self.session == "open" and self.finished is None:
            self.is_initialized = True
            self.host_says(line_of(method="notifications/initialized"))

    @precondition(lambda self: self.finished is None)
    @rule(method=st.sampled_from(CALLS), token=st.booleans())
    def call(self, method: str, token: bool) -> None:
        self.ask(method, token=token and method != "ping")

    @precondition(lambda self: self.modern and len(self.asks) < 4)
    @rule(method=st.sampled_from(TAKES_INPUT), token=st.booleans())
    def call_what_may_ask(self, method: str, token: bool) -> None:
        self.ask(method, token=token)

    @precondition(lambda self: self.finished is None)
    @rule(level=st.sampled_from(["debug", "error"]))
    def set_level(self, level: str) -> None:
        self.ask("logging/setLevel", level=level)

    @precondition(lambda self: self.finished is None)
    @rule(uri=st.sampled_from(URIS))
    def subscribe(self, uri: str) -> None:
        self.ask("resources/subscribe", uri=uri)

    @precondition(lambda self: self.modern or self.legacy)
    @rule(uri=st.sampled_from(URIS[:2]))
    def subscribe_and_have_it(self, uri: str) -> None:
        id = self.ask("resources/subscribe", uri=uri)
        while self.modern is not None and self._unacknowledged():
            self.acknowledge(self._unacknowledged()[0])
        if self.legacy is not None and id in self.legacy.owes:
            self.answer(self.legacy, id, "good")

    @precondition(lambda self: self.finished is None)
    @rule(uri=st.sampled_from(URIS))
    def unsubscribe(self, uri: str) -> None:
        self.ask("resources/unsubscribe", uri=uri)

    @precondition(lambda self: self.modern and self.surely_open)
    @rule(data=st.data(), method=st.sampled_from(["tools/list", "ping", "resources/subscribe"]))
    def repeat_an_id(self, data: st.DataObject, method: str) -> None:
        id = data.draw(st.sampled_from(self.surely_open))
        if self.modern is not None and self.modern.is_used:
            self.twins[id] += 1
            self.host_says(line_of(id=id, method=method, params={"uri": "x:a"}))
            assert not self.twins[id], "it is not refused"

    @precondition(lambda self: self.modern and self.version == "2025-03-26")
    @rule(items=st.lists(st.sampled_from([*CALLS, "note", "resources/subscribe"]), max_size=4))
    def batch(self, items: list[str]) -> None:
        messages: list[dict[str, Json]] = []
        for item in items:
            if item == "note":
                messages.append({"jsonrpc": "2.0", "method": "notifications/progress"})
            elif item == "resources/subscribe":
                messages.append(self.new_ask(item, uri="x:b"))
            else:
                messages.append(self.new_ask(item))
        ids = {id for each in messages if isinstance(id := each.get("id"), int | str)}
        if ids:
            self.batches.append(ids)
            self.host_says(f"[{','.join(line_of(**each) for each in messages)}]")

    @precondition(lambda self: self.finished is None and self.asks)
    @rule(data=st.data())
    def cancel_something(self, data: st.DataObject) -> None:
        able = [
            id
            for id in self.surely_open
            if self.asks[id].method not in ("initialize", "logging/setLevel") and not self.twins[id]
        ]
        if able:
            self.cancel(data.draw(st.sampled_from(sorted(able, key=str))))

    @precondition(lambda self: self.finished is None)
    @rule(id=st.sampled_from([1, "h3", "nothing"]))
    def cancel_what_is_over(self, id: int | str) -> None:
        if id not in self.asks:
            self.cancel(id)

    @precondition(lambda self: self.finished is None and self.questions)
    @rule(
        data=st.data(),
        how=st.sampled_from(["good", "good", "good", "decline", "error", "junk"]),
    )
    def answer_a_question(self, data: st.DataObject, how: str) -> None:
        self.answer_question(data.draw(st.sampled_from(sorted(self.questions))), how)

    @precondition(lambda self: self.finished is None and self.questions)
    @rule()
    def answer_all_questions(self) -> None:
        while self.questions:
            self.answer_question(min(self.questions), "good")

    @precondition(lambda self: self.modern and self.answered_questions)
    @rule(data=st.data())
    def answer_again(self, data: st.DataObject) -> None:
        id = data.draw(st.sampled_from(sorted(self.answered_questions)))
        if id not in self.questions:
            self.host_says(line_of(id=id, result={"action": "accept"}))

    @precondition(lambda self: self.finished is None and self.session == "open")
    @rule(method=st.sampled_from(["notifications/roots/list_changed", "notifications/x"]))
    def notify(self, method: str) -> None:
        self.host_says(line_of(method=method))

    # The modern child ----------------------------------------------------------------------------

    def _legs(self) -> list[int | str]:
        process = self.modern
        return [] if process is None else sorted(self.legs[process.number], key=str)

    @precondition(lambda self: self._legs())
    @rule(
        data=st.data(),
        how=st.sampled_from(["good", "good", "bare", "error", "version", "odd", "broken"]),
    )
    def child_answers(self, data: st.DataObject, how: str) -> None:
        assert self.modern is not None
        self.answer(self.modern, data.draw(st.sampled_from(self._legs())), how)

    @precondition(lambda self: self._legs())
    @rule(
        data=st.data(),
        kinds=st.lists(st.sampled_from(sorted(QUESTION_METHODS)), max_size=4),
        has_state=st.booleans(),
        repeats=st.booleans(),
        parts=st.sampled_from([1, 1, 2]),
    )
    def child_wants_input(
        self, data: st.DataObject, kinds: list[str], has_state: bool, repeats: bool, parts: int
    ) -> None:
        process = self.modern
        assert process is not None
        able = [id for id in self._legs() if process.owes[id]["method"] in TAKES_INPUT]
        if able:
            id = data.draw(st.sampled_from(able))
            self.want_input(process, id, kinds, has_state, repeats, parts)

    @precondition(lambda self: self._later_legs())
    @rule()
    def child_refuses_the_version_of_a_later_leg(self) -> None:
        assert self.modern is not None
        self.answer(self.modern, self._later_legs()[0], "version")

    def _later_legs(self) -> list[int | str]:
        if self.modern is None:
            return []
        legs = self.legs[self.modern.number]
        return [id for id, round in legs.items() if round is not None and round.kinds]

    @precondition(lambda self: self._legs() and self.version == "2025-11-25")
    @rule(data=st.data(), has_state=st.booleans())
    def child_sends_the_user_to_a_url(self, data: st.DataObject, has_state: bool) -> None:
        process = self.modern
        assert process is not None
        able = [id for id in self._legs() if process.owes[id]["method"] in TAKES_INPUT]
        if able:
            id = data.draw(st.sampled_from(able))
            before = self.legs[process.number][id]
            kinds = [] if before is not None and before.accepted else ["url"]
            self.want_input(process, id, kinds, has_state or not kinds, True, 1)

    def want_input(
        self,
        process: Process,
        id: int | str,
        kinds: list[str],
        has_state: bool,
        repeats: bool,
        parts: int,
    ) -> None:
        asked = process.owes.pop(id)
        before = self.legs[process.number].pop(id)
        marker = marker_of(asked["params"])
        assert marker is not None
        ask = self.ask_of(marker)
        assert ask is not None
        state = f"s{self.fresh()}" if has_state else None
        round = Round(state, set() if before is None else before.accepted)
        asking: list[tuple[str, str]] = [(kind, f"q{self.fresh()}") for kind in kinds]
        asking += [("url", url) for url in sorted(round.visited) if repeats]
        requests: dict[str, Json] = {}
        for position, (kind, text) in enumerate(asking):
            key = f"k{position}"
            params = question_params(kind, text, parts)
            requests[key] = {"method": QUESTION_METHODS[kind], "params": params}
            round.kinds[key], round.markers[key] = kind, text
            if text in round.visited:
                round.answers[key] = {"action": "accept"}
                round.accepted.add(text)
            elif kind == "roots" and self.has_roots:
                round.answers[key] = {"roots": []}
            else:
                round.open.add(key)
        asks_nobody = all(text in round.visited for _, text in asking)
        ask.rounds += not (asking and asks_nobody)
        is_allowed = all(self._may_ask(kind) for kind, _ in asking) and (asking or has_state)
        is_allowed = is_allowed and len(asking) <= MOST_QUESTIONS and ask.rounds <= 10
        self.rounds[process.number][marker] = round
        result: dict[str, Json] = {"resultType": "input_required"}
        if requests:
            result["inputRequests"] = requests
        if state is not None:
            result["requestState"] = state
        to_ask = set(round.open)
        ask.is_done = not is_allowed
        self.child_says(process, line_of(id=id, result=result))
        shown = {each.key for each in self.questions.values() if each.marker == marker}
        if is_allowed and self.ask_of(marker) is not None:
            assert shown == to_ask, "not everything is asked"
        else:
            may_end = asks_nobody and asking
            assert not is_allowed or may_end, "the call has failed for no reason"
            is_over = ask.id not in self.asks or self.is_of_batch(ask)
            assert not shown and is_over, "the child may not ask this"

    def _may_ask(self, kind: str) -> bool:
        if kind == "roots" and self.has_roots:
            return True
        if kind in ("form", "url"):
            kinds = self.capabilities.get("elicitation")
            return isinstance(kinds, dict) and (kind in kinds or (kind == "form" and not kinds))
        return kind in self.capabilities

    @precondition(lambda self: self._legs())
    @rule(data=st.data(), progress=st.integers(0, 3))
    def child_reports(self, data: st.DataObject, progress: int) -> None:
        assert self.modern is not None
        id = data.draw(st.sampled_from(self._legs()))
        marker = marker_of(self.modern.owes[id]["params"])
        ask = self.ask_of(marker)
        assert ask is not None
        is_news = ask.token is not None and progress > ask.progress
        params: Json = {"progressToken": id, "progress": progress, "message": "p"}
        self.child_says(self.modern, line_of(method="notifications/progress", params=params))
        assert self.told[f"progress {ask.token}"] == is_news, "progress is lost"

    @precondition(lambda self: self.modern)
    @rule()
    def child_logs(self) -> None:
        assert self.modern is not None
        params: Json = {"level": "error", "data": 1.5}
        self.child_says(self.modern, line_of(method="notifications/message", params=params))
        assert self.told["notifications/message"] == 1, "a log message is lost"

    @precondition(lambda self: self.modern)
    @rule(method=st.sampled_from(["ping", "roots/list", "elicitation/create"]))
    def child_asks_what_it_may_not(self, method: str) -> None:
        assert self.modern is not None
        self.child_says(self.modern, line_of(id=1, method=method, params={}))
        assert self.told["refusal"] == 1, "a process waits for an answer"

    @precondition(lambda self: self.modern and self.modern.taken_back)
    @rule(data=st.data())
    def child_answers_late(self, data: st.DataObject) -> None:
        assert self.modern is not None
        id = data.draw(st.sampled_from(sorted(self.modern.taken_back, key=str)))
        self.child_says(self.modern, line_of(id=id, result={"resultType": "complete"}))

    # Streams -------------------------------------------------------------------------------------

    def _unacknowledged(self) -> list[int | str]:
        if self.modern is None:
            return []
        return [id for id, stream in self.streams_here.items() if not stream.acknowledged]

    def _acknowledged(self) -> list[int | str]:
        if self.modern is None:
            return []
        return [id for id, stream in self.streams_here.items() if stream.acknowledged]

    @precondition(lambda self: self._unacknowledged())
    @rule(data=st.data(), tells=st.booleans())
    def child_acknowledges(self, data: st.DataObject, tells: bool) -> None:
        self.acknowledge(data.draw(st.sampled_from(self._unacknowledged())), tells)

    def acknowledge(self, id: int | str, tells: bool = False) -> None:
        process = self.modern
        assert process is not None
        stream = self.streams_here[id]
        stream.acknowledged = True
        stream.uris.discard(NEVER_HONOURED)
        notifications: dict[str, Json] = dict.fromkeys(stream.flags, True)
        if stream.uris:
            notifications["resourceSubscriptions"] = [*sorted(stream.uris)]
        lines = [
            line_of(
                method="notifications/subscriptions/acknowledged",
                params={"notifications": notifications, "_meta": {SUBSCRIPTION_ID: id}},
            )
        ]
        # The one before still counts until the child hears that it is not wanted any more.
        before = [each for each in self._acknowledged() if self.streams_here[each].uris]
        uris = stream.uris & self.uris if tells and len(before) == 2 else set[str]()
        lines += [self._update(one, uri) for one in before for uri in sorted(uris)]
        self.child_says(process, *lines)
        for uri in uris & self.uris:
            assert self.told[f"notifications/resources/updated {uri}"] == 1, f"{uri}: told twice"

    def _update(self, id: int | str, uri: str) -> str:
        params: Json = {"uri": uri, "_meta": {SUBSCRIPTION_ID: id}}
        return line_of(method="notifications/resources/updated", params=params)

    @precondition(lambda self: self._acknowledged())
    @rule(data=st.data())
    def child_changes(self, data: st.DataObject) -> None:
        process = self.modern
        assert process is not None
        here = [self.streams_here[id] for id in self._acknowledged()]
        able = {what for stream in here for what in stream.flags | stream.uris}
        if able:
            self.change(process, data.draw(st.sampled_from(sorted(able))))

    @precondition(lambda self: self._unwanted_uris())
    @rule()
    def child_changes_what_is_not_wanted(self) -> None:
        assert self.modern is not None
        self.change(self.modern, self._unwanted_uris()[0])

    def _unwanted_uris(self) -> list[str]:
        here = [self.streams_here[id] for id in self._acknowledged()]
        return sorted({uri for stream in here for uri in stream.uris} - self.uris)

    def change(self, process: Process, what: str) -> None:
        """Something changes at the server, and it tells whoever listens."""
        lines: list[str] = []
        for id in self._acknowledged():
            stream = self.streams_here[id]
            if what in stream.flags:
                lines.append(line_of(method=LISTS[what], params={"_meta": {SUBSCRIPTION_ID: id}}))
            elif what in stream.uris:
                lines.append(self._update(id, what))
        if not lines:
            return
        self.child_says(process, *lines)
        told = self.told[LISTS.get(what, f"notifications/resources/updated {what}")]
        opening = [ask for ask in self.asks.values() if ask.params.get("uri") == what]
        if what in LISTS or (what in self.uris and what not in self.unsure):
            assert told == 1, f"{what}: told {told} times"
        elif what not in self.unsure and not opening:
            assert told == 0, f"{what} is not subscribed to"

    @precondition(lambda self: self.modern and self.streams_here)
    @rule(data=st.data(), how=st.sampled_from(["result", "error", "cancelled"]))
    def child_ends_a_stream(self, data: st.DataObject, how: str) -> None:
        process = self.modern
        assert process is not None
        id = data.draw(st.sampled_from(sorted(self.streams_here, key=str)))
        stream = self.streams_here.pop(id)
        del process.owes[id]
        if how == "error" and not stream.acknowledged and stream.flags:
            self.base_refused.add(process.number)
        if stream.uris and not stream.acknowledged:
            self.set_refused.add(process.number)
        if how == "cancelled":
            params: Json = {"requestId": id}
            self.child_says(process, line_of(method="notifications/cancelled", params=params))
        elif how == "error":
            self.child_says(process, line_of(id=id, error={"code": -32601, "message": "?"}))
        else:
            self.child_says(process, line_of(id=id, result={"resultType": "complete"}))

    # Processes and time --------------------------------------------------------------------------

    @precondition(lambda self: self.legacy and self.legacy.owes)
    @rule(data=st.data(), how=st.sampled_from(["good", "good", "error"]))
    def legacy_child_answers(self, data: st.DataObject, how: str) -> None:
        assert self.legacy is not None
        id = data.draw(st.sampled_from(sorted(self.legacy.owes, key=str)))
        self.answer(self.legacy, id, how)

    @precondition(lambda self: any(each.asked_first for each in self.processes.values()))
    @rule(data=st.data())
    def child_says_what_it_is(self, data: st.DataObject) -> None:
        process = next(each for each in self.processes.values() if each.asked_first)
        self.sound = False
        self.answer_first(process, data.draw(st.sampled_from(process.asked_first)))
        self.carry_out()

    @precondition(lambda self: self.starting)
    @rule()
    def child_starts(self) -> None:
        self.sound = False
        self.has_started(min(self.starting))
        self.carry_out()

    @precondition(lambda self: self.finished is None and self.processes)
    @rule(data=st.data())
    def child_ends(self, data: st.DataObject) -> None:
        self.sound = False
        self.end(data.draw(st.sampled_from(sorted(self.processes))))

    @precondition(lambda self: self.finished is None and self.current)
    @rule(stalled=st.booleans())
    def child_stalls(self, stalled: bool) -> None:
        self.joint.child_stalled(self.joint.process, stalled)
        self.carry_out()

    @rule(seconds=st.sampled_from([0.06, 0.3, 1.0, 5.0, 11.0, 70.0]))
    def time_passes(self, seconds: float) -> None:
        self.pass_time(seconds)

    @invariant()
    def everything_is_as_it_must_be(self) -> None:
        if self.processes or self.number:
            self.look()

    # The end -------------------------------------------------------------------------------------

    def teardown(self) -> None:
        if not self.sound:
            return
        for turn in range(30):
            if self.finished is not None:
                break
            self.do_everything(turn > 5)
            self.pass_time(20.0)
            self.look()
            if not self.asks:
                break
        assert not self.asks, f"never answered: {[vars(ask) for ask in self.asks.values()]}"
        if self.finished is None:
            for _ in range(300):
                self.do_everything()
                if self.joint.deadline is None and not self.starting:
                    break
                self.pass_time(5.0)
            self.look_at_rest()
            self.joint.host_ended(self.now)
            self.carry_out()
        assert self.finished is not None

    def do_everything(self, ends_the_silent: bool = False) -> None:
        """Everybody does what is expected."""
        for number in list(self.starting):
            self.has_started(number)
            self.carry_out()
        for process in list(self.processes.values()):
            self.joint.child_stalled(process.number, False)
            for id in process.asked_first:
                if id in process.owes and process.number in self.processes:
                    self.answer_first(process, id)
                    self.carry_out()
            if process.asked_first and process.number in self.processes and ends_the_silent:
                self.end(process.number)
        self.carry_out()
        for _ in range(30):
            if self.modern is not None and self._unacknowledged():
                self.acknowledge(self._unacknowledged()[0])
            elif self.questions:
                self.answer_question(min(self.questions), "good")
            elif self._legs() and self.modern is not None:
                self.answer(self.modern, self._legs()[0], "good")
            elif self.legacy is not None and self.legacy.owes:
                self.answer(self.legacy, next(iter(self.legacy.owes)), "good")
            else:
                return

    def look_at_rest(self) -> None:
        """Everything has been answered, and everything that may take time has had it."""
        assert self.joint.deadline is None, "there is something left to be done"
        assert not self.questions and not self.batches
        self.is_empty()
        uris = self.uris - self.unsure
        process = self.modern
        if process is not None:
            streams: list[Stream] = list(self.streams_here.values())
            live = {uri for stream in streams for uri in stream.uris} - self.unsure
            wanted_uris = uris - {NEVER_HONOURED}
            # Without what was new a set stays as it is if the next one is refused.
            more = live if process.number in self.set_refused else wanted_uris
            assert wanted_uris <= live <= more, f"{live} instead of {uris}"
            base = [stream for stream in streams if stream.flags]
            wanted = self.is_initialized and process.temper.offers
            wanted = wanted and process.number not in self.base_refused
            assert len(base) == wanted, "lists are listened to, or are not"
        if self.legacy is not None:
            assert self.legacy.initialized == self.is_initialized
            here = self.child_uris[self.legacy.number] - self.unsure
            assert here == uris, f"{here} instead of {uris}"


HandshakenDialogues.TestCase.settings = settings(
    max_examples=150,
    stateful_step_count=40,
    deadline=None,
    suppress_health_check=[HealthCheck.too_slow, HealthCheck.filter_too_much],
)
pytestmark = pytest.mark.clause("C-34", "C-39")
TestHandshakenDialogues = HandshakenDialogues.TestCase
