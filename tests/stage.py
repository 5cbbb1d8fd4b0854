"""What the models of dialogues stand on: a joint, the processes of a server, the clock.

Lives here: who gets which line, how processes start, answer what they are asked first, and end, how
time passes, what must be left at rest. Does not: what may be said (the models).
"""

import json
from collections.abc import Iterator
from typing import Final

import msgspec
from hypothesis.stateful import RuleBasedStateMachine
from msgspec import Raw

from conversation import SEAL, Json
from mcp_era_bridge.effects import EndChild, Ending, Finish, StartChild
from mcp_era_bridge.joint import Joint
from mcp_era_bridge.settings import Settings
from mcp_era_wire.envelope import Buffer

FIRST_ID: Final = 1_000_000
"""Where the bridge's own ids start: far from those of the host, as in life."""
OFFERS: Final[Json] = {
    "tools": {"listChanged": True},
    "prompts": {"listChanged": True},
    "resources": {"subscribe": True, "listChanged": True},
    "logging": {},
}
FIRST_ASKED: Final = ("initialize", "server/discover")


class Temper(msgspec.Struct, frozen=True):
    """How a process takes what it is asked first."""

    initialize: str
    """session, error, exit or silent."""
    discover: str
    """modern, error, exit or silent."""
    prompt: bool = True
    """Whether it starts and answers at once."""
    offers: bool = True
    """Whether it offers what the others do."""


MODERN: Final = Temper("error", "modern")
LEGACY: Final = Temper("session", "error")
ODD: Final = (
    Temper("error", "error"),
    Temper("session", "exit"),
    Temper("exit", "modern"),
    Temper("exit", "exit"),
    Temper("silent", "modern"),
    Temper("session", "silent"),
    Temper("silent", "silent"),
    Temper("session", "modern", prompt=False),
    Temper("error", "modern", prompt=False),
    Temper("session", "error", prompt=False),
    Temper("missing", "missing"),
    Temper("error", "modern", offers=False),
)


def at(value: Json, *path: str | int) -> Json:
    """What stands at the end of a path in a message; None if there is nothing."""
    for step in path:
        if isinstance(value, dict) and isinstance(step, str):
            value = value.get(step)
        elif isinstance(value, list) and isinstance(step, int) and step < len(value):
            value = value[step]
        else:
            return None
    return value


def line_of(**members: Json) -> str:
    """A message as one line."""
    return json.dumps({**members, "jsonrpc": "2.0"})


class Process:
    """One process of the server: what it owes, and what it knows."""

    def __init__(self, number: int, temper: Temper) -> None:
        self.number = number
        self.temper = temper
        self.owes: dict[int | str, dict[str, Json]] = {}
        """The requests that it has not answered, as they came."""
        self.taken_back: set[int | str] = set()
        self.ids: set[int | str] = set()
        self.is_modern = False
        """Whether it has said so."""
        self.has_session = False
        self.initialized = False
        self.is_used = False
        """Whether it has been sent anything but what is asked first."""

    @property
    def asked_first(self) -> list[int | str]:
        """The open requests that ask what it is."""
        return [id for id, asked in self.owes.items() if asked["method"] in FIRST_ASKED]


class Stage(RuleBasedStateMachine):
    """One joint, with processes that are started as it wants."""

    remembered: frozenset[str] = frozenset()
    """The tables that may hold something at rest."""

    def __init__(self) -> None:
        super().__init__()
        self.now = 0.0
        self.number = 0
        self.processes: dict[int, Process] = {}
        self.starting: dict[int, Temper] = {}
        self.finished: int | None = None
        self.sound = False
        """Whether the last step has gone through: else there is no use in looking at the rest."""
        self._tempers: list[Temper] = []

    def set_up(self, settings: Settings, tempers: list[Temper]) -> None:
        """The first process runs, and is asked nothing yet."""
        self.joint = Joint(settings, FIRST_ID, Raw(b'{"name":"b","version":"0"}'), SEAL)
        self._tempers = tempers
        self.start(1, prompt=True)

    def fresh(self) -> int:
        """A number that has not been used."""
        self.number += 1
        return self.number

    @property
    def current(self) -> Process | None:
        """The process that is spoken to, if it runs."""
        return self.processes.get(self.joint.process)

    # What the shell does -------------------------------------------------------------------------

    def start(self, number: int, *, prompt: bool = False) -> None:
        """A process is to run."""
        temper = self._tempers.pop(0)
        self._tempers.append(temper)
        self.starting[number] = temper
        if temper.prompt or prompt:
            self.has_started(number)

    def has_started(self, number: int) -> None:
        """It runs, or cannot be run."""
        temper = self.starting.pop(number)
        if temper.initialize == "missing" and number > 1:
            self.joint.child_not_started(number, "no such file", self.now)
        else:
            self.processes[number] = Process(number, temper)
            self.joint.child_started(number, self.now)
            self.started(self.processes[number])

    def end(self, number: int) -> None:
        """A process ends by itself."""
        self.gone(self.processes.pop(number))
        self.joint.child_ended(number, Ending("exited with code 1", code=1), self.now)
        self.carry_out()

    def host_says(self, line: str) -> None:
        """The host writes a line."""
        self.sound = False
        self.joint.from_host([line.encode()], True, self.now)
        self.carry_out()

    def child_says(self, process: Process, *lines: str) -> None:
        """A process writes lines, in one piece."""
        self.sound = False
        wire = [line.encode() for line in lines]
        self.joint.from_child(process.number, wire, True, self.now)
        self.carry_out()

    def pass_time(self, seconds: float) -> None:
        """So much time passes."""
        self.sound = False
        end = self.now + seconds
        for _ in range(2000):
            due = self.joint.deadline
            if due is None or due > end:
                break
            self.now = max(due, self.now)
            self.joint.passed(self.now)
            later = self.joint.deadline
            assert later is None or later > self.now, "a deadline that has passed is still due"
            self.carry_out()
        else:
            raise AssertionError("time does not go by")
        self.now = end

    def carry_out(self) -> None:
        """Does what the joint wants, until it wants nothing more."""
        out = self.joint.out
        while True:
            actions, lines = list(out.actions), b"".join(out.to_host).splitlines()
            for each in (out.actions, out.to_host, out.host_breaks, out.noise, out.notes):
                each.clear()
            for action in actions:
                if isinstance(action, StartChild):
                    old = self.processes.pop(action.instead_of or 0, None)
                    self.starting.pop(action.instead_of or 0, None)
                    if old is not None:
                        self.gone(old)
                        ending = Ending("exited with code 0", code=0)
                        self.joint.child_ended(old.number, ending, self.now)
                    self.start(action.number)
                elif isinstance(action, Finish):
                    self.finished = action.exit_code
            for line in lines:
                self.host_hears(line)
            told = self._tell_processes()
            for action in actions:
                if isinstance(action, EndChild):
                    self._end_unwanted(action.number)
            if not (actions or lines or told or self._answer_at_once()):
                return

    def _tell_processes(self) -> bool:
        out = self.joint.out
        lanes: dict[int, list[Buffer]] = {**out.to_others, self.joint.process: out.to_child}
        told = False
        for number, lane in lanes.items():
            if lane and number in self.processes:
                text = b"".join(lane)
                lane.clear()
                told = True
                for line in text.splitlines():
                    self._tell(self.processes[number], line)
        return told

    def _tell(self, process: Process, line: bytes) -> None:
        self.child_gets(process, line)
        message: Json = msgspec.json.decode(line)
        for each in message if isinstance(message, list) else [message]:
            assert isinstance(each, dict), line
            method, id = each.get("method"), each.get("id")
            if isinstance(id, int | str) and method is not None:
                assert id not in process.ids, f"{id!r} is used twice on process {process.number}"
                process.ids.add(id)
                process.owes[id] = each
                process.is_used |= method not in FIRST_ASKED
            elif method == "notifications/initialized":
                assert not process.initialized, "initialized twice"
                process.initialized = True
            self.child_hears(process, each)

    def _end_unwanted(self, number: int) -> None:
        self.starting.pop(number, None)
        process = self.processes.pop(number, None)
        if process is not None:
            self.gone(process)
            self.joint.child_ended(number, Ending("exited with code 0", code=0), self.now)

    # What processes are asked first --------------------------------------------------------------

    def _answer_at_once(self) -> bool:
        return any(
            self.answer_first(process, id)
            for process in list(self.processes.values())
            if process.temper.prompt
            for id in process.asked_first
            if id in process.owes
        )

    def answer_first(self, process: Process, id: int | str) -> bool:
        """A process answers what it is. Whether it does: it may be silent, or end instead."""
        asked = process.owes[id]
        temper = process.temper
        how = temper.initialize if asked["method"] == "initialize" else temper.discover
        offers: Json = OFFERS if temper.offers else {"tools": {}}
        if how == "silent" or self.finished is not None:
            return False
        del process.owes[id]
        answer: dict[str, Json] = {"error": {"code": -32601, "message": "?"}}
        if how == "exit":
            self.gone(self.processes.pop(process.number))
            self.joint.child_ended(process.number, Ending("exited with code 2", code=2), self.now)
            return True
        if how == "session":
            process.has_session = True
            version = at(asked, "params", "protocolVersion")
            info: Json = {"name": "s", "version": "1"}
            agreed: Json = {"protocolVersion": version, "capabilities": offers, "serverInfo": info}
            answer = {"result": agreed}
        elif how == "modern":
            process.is_modern = True
            discovered: dict[str, Json] = {
                "resultType": "complete",
                "supportedVersions": ["2026-07-28"],
                "capabilities": offers,
                "ttlMs": 0,
                "cacheScope": "private",
            }
            answer = {"result": discovered}
        wire = line_of(id=id, **answer).encode()
        self.answers_first(process, wire)
        self.joint.from_child(process.number, [wire], True, self.now)
        return True

    # For the models ------------------------------------------------------------------------------

    def started(self, process: Process) -> None:
        """A process runs."""

    def gone(self, process: Process) -> None:
        """A process is there no more."""

    def answers_first(self, process: Process, line: bytes) -> None:
        """A process says what it is, with this line."""

    def host_hears(self, line: bytes) -> None:
        """The host gets a line."""
        raise NotImplementedError

    def child_gets(self, process: Process, line: bytes) -> None:
        """A process gets a line."""

    def child_hears(self, process: Process, message: dict[str, Json]) -> None:
        """A process gets a message."""
        raise NotImplementedError

    # At rest -------------------------------------------------------------------------------------

    def is_empty(self) -> None:
        """Nothing is left in any table."""
        left = [each for each in leftovers(self.joint) if each.split(":")[0] not in self.remembered]
        assert not left, left


def leftovers(joint: Joint) -> Iterator[str]:
    """The tables in the machinery that are not empty."""
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
                if value:
                    yield f"{where}: {value!r:.200}"
            elif type(value).__module__.startswith("mcp_era"):
                todo.append(value)
