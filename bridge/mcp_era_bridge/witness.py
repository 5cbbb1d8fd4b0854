"""What the processes of a server were asked, and how they took it, as seen on their pipes.

Lives here: the record of one run of a shell, and what one request came to. Does not: what it says
about the server (probe_facts.py). Nothing is decided by this: it listens.
"""

import enum
from collections.abc import Sequence

import msgspec
from msgspec import UNSET, Raw

from mcp_era_bridge.child_lines import read_child_line
from mcp_era_bridge.effects import Ending
from mcp_era_wire.envelope import Buffer, Id, Message, number_of, read_error_head
from mcp_era_wire.members import members_of, string_of

_MOST_SAID = 10_000
"""Lines of a process that are kept."""


class Outcome(enum.Enum):
    """How a process took a request."""

    RESULT = "result"
    ERROR = "error"
    EXIT = "exit"
    SILENCE = "silence"


class Took(msgspec.Struct, frozen=True):
    """What became of one request to one process.

    `first` tells whether it was the first that the process was asked. `seconds` go from the moment
    it was asked, or from the start of the process if it was asked at once, to the answer or the
    end; None for silence, which an end may follow as soon as something else is asked. `at_end` is
    an answer that came only once the process's stdin had been closed.
    """

    outcome: Outcome
    first: bool
    seconds: float | None = None
    result: Raw | None = None
    error: Raw | None = None
    ending: Ending | None = None
    at_end: bool = False

    @property
    def code(self) -> int | None:
        """The code of the error, if it is one that has a code."""
        if self.error is None:
            return None
        code = read_error_head(self.error).code
        return None if code is UNSET else code

    @property
    def message(self) -> str | None:
        """The text of the error, if it is one that has a text."""
        return string_of((members_of(self.error) or {}).get("message"))


class _Request(msgspec.Struct):
    method: str
    id: Id
    at: float


class _Process(msgspec.Struct):
    started: float
    asked: list[_Request] = []
    answers: list[tuple[float, Message]] = []
    first_word: float | None = None
    first_answer: float | None = None
    ended: float | None = None
    ending: Ending | None = None
    said: int = 0


class Witness:
    """A Tap that remembers."""

    def __init__(self) -> None:
        self._processes: dict[int, _Process] = {}
        self._closing: float | None = None
        self._spawned: float | None = None

    # The tap -------------------------------------------------------------------------------------

    def started(self, process: int, now: float) -> None:
        """The process runs."""
        since, self._spawned = self._spawned, None
        self._processes[process] = _Process(now if since is None else since)

    def told(self, process: int, pieces: Sequence[Buffer], now: float) -> None:
        """The process is written whole lines, in pieces."""
        for line in b"".join(pieces).splitlines():
            message = _read(line)
            if message is not None and message.method is not UNSET and message.id is not UNSET:
                request = _Request(message.method, message.id, now)
                self._processes[process].asked.append(request)

    def said(self, process: int, lines: list[bytes], now: float) -> None:
        """The process wrote `lines`."""
        seen = self._processes[process]
        for line in lines:
            message = _read(line)
            if seen.first_word is None and line.strip():
                seen.first_word = now
            if message is None or message.method is not UNSET or len(seen.answers) > _MOST_SAID:
                continue
            if seen.first_answer is None and self._closing is None:
                seen.first_answer = now
            seen.answers.append((now, message))

    def ended(self, process: int, ending: Ending, now: float) -> None:
        """The process is gone."""
        seen = self._processes[process]
        seen.ended, seen.ending = now, ending

    def spawned(self, now: float) -> None:
        """The first process was started before there was a shell."""
        self._spawned = now

    def closing(self, now: float) -> None:
        """The host has closed its end: what ends now has been told to."""
        self._closing = now

    # What was seen -------------------------------------------------------------------------------

    @property
    def first_answer_after(self) -> float | None:
        """Seconds from the start of the first process that answered anything to its answer."""
        for seen in self._processes.values():
            if seen.first_answer is not None:
                return seen.first_answer - seen.started
        return None

    @property
    def wrote(self) -> bool:
        """Whether any process wrote anything to its stdout."""
        return any(seen.first_word is not None for seen in self._processes.values())

    @property
    def endings(self) -> list[Ending]:
        """How processes ended that had not been told to, in order."""
        return [
            seen.ending
            for seen in self._processes.values()
            if seen.ending is not None and seen.ended is not None
            if self._closing is None or seen.ended < self._closing
        ]

    def took(self, method: str) -> list[Took]:
        """What became of each request for `method`, in order."""
        found: list[Took] = []
        for seen in self._processes.values():
            for position, request in enumerate(seen.asked):
                if request.method == method:
                    found.append(self._outcome(seen, request, position == 0))
        return found

    def _outcome(self, seen: _Process, request: _Request, first: bool) -> Took:
        since = seen.started if first else request.at
        for at, message in seen.answers:
            if at < request.at or not _answers(message, request):
                continue
            at_end = self._closing is not None and at >= self._closing
            if message.is_failure:
                error = message.error
                return Took(Outcome.ERROR, first, at - since, error=error, at_end=at_end)
            return Took(Outcome.RESULT, first, at - since, result=message.result, at_end=at_end)
        if seen.ended is not None and (self._closing is None or seen.ended < self._closing):
            if any(later.at > request.at for later in seen.asked):
                # It ended on what it was asked next.
                return Took(Outcome.SILENCE, first, ending=seen.ending)
            return Took(Outcome.EXIT, first, seen.ended - since, ending=seen.ending)
        return Took(Outcome.SILENCE, first)


def _read(line: bytes) -> Message | None:
    read = read_child_line(line, False)
    return read if isinstance(read, Message) else None


def _answers(message: Message, request: _Request) -> bool:
    """Whether this is the answer; a refusal without an id can be the answer to anything."""
    if message.id is UNSET:
        return message.is_failure
    number = number_of(request.id)
    return message.id == request.id or (number is not None and number_of(message.id) == number)
