"""Neutral events: the words in which a face and a peer tell each other what happened.

A face (towards the host) and a peer (towards the child) each know one era and these events, so
that four quadrants need two faces and two peers.

Lives here: the call, what can become of it, and what else a child says. Does not: anything of one
era's wire format.
"""

import enum
from typing import Final, TypeAlias

import msgspec
from msgspec import Raw

from mcp_era_wire.envelope import Id, Message
from mcp_era_wire.members import Members

NO_LEVEL: Final = -1
"""Stands for the log level of a request that wants no log messages."""


class Call(msgspec.Struct, gc=False, eq=False):
    """*Begins*: one operation of the host on its way to a child and back.

    `id` is the host's, that of the newest leg. `params` are without the era's own fields.
    `capabilities` is what the newest leg declares, in the modern spelling. `progress_token` is the
    host's, None if it wants no progress; `progress` is the last value that it got. `log_level` is
    an index of LOG_LEVELS or NO_LEVEL. `child_id` is the peer's, and 0 until the call is written to
    the child. `asked` tells that a question of the child was put down to it, `parked` that no leg
    of the host waits for it at the moment, `cancelled` that the host wants to hear no more of it.
    `legacy` tells that the host has made it in the handshake era.
    """

    id: Id
    method: str
    params: Members
    capabilities: Raw
    progress_token: Id | None = None
    log_level: int = NO_LEVEL
    child_id: int = 0
    progress: float | None = None
    asked: bool = False
    parked: bool = False
    cancelled: bool = False
    legacy: bool = False


class Question(msgspec.Struct, eq=False):
    """A request of the child that the host has to answer: sampling, elicitation or roots.

    `id` is the child's. `call` is its messenger: the call that carries it to the host. `certain`
    tells that it is the one which caused it, and not a guess. `candidates` are the calls that could
    have caused it when it came, oldest first. `shown` tells that it has been put to the host.
    """

    id: Id
    method: str
    params: Raw
    call: Call | None = None
    certain: bool = False
    candidates: tuple[Call, ...] = ()
    shown: bool = False


class Completed(msgspec.Struct, frozen=True, gc=False):
    """The child answered a call with a result, unopened."""

    call: Call
    result: Raw


class Failed(msgspec.Struct, frozen=True, gc=False):
    """The child answered a call with an error, unopened."""

    call: Call
    error: Raw


class Progressed(msgspec.Struct, frozen=True, gc=False):
    """The child reports how far a call is. `params` hold the peer's token still."""

    call: Call
    progress: float
    params: Raw


class Asked(msgspec.Struct, frozen=True):
    """A question is *asked*: `question.call` is to carry it to the host."""

    question: Question


class Withdrawn(msgspec.Struct, frozen=True):
    """The child does not want to know any more."""

    question: Question


class Refused(msgspec.Struct, frozen=True):
    """The child sent a request that was answered with an error on the spot; `why` is for people."""

    method: str
    why: str


class Logged(msgspec.Struct, frozen=True, gc=False):
    """The child *logs*, and a request that is under way asked for messages of that severity."""

    params: Raw


class Changed(msgspec.Struct, frozen=True, gc=False):
    """Something *changed*: a list, or the resource `uri`. `method` is the notification's."""

    method: str
    params: Raw
    uri: str | None = None


class Watched(msgspec.Struct, frozen=True):
    """The child will tell of changes of the resource `uri`, or (not `accepted`) will not. `error`
    is what it said then, if it said anything."""

    uri: str
    accepted: bool
    error: Raw | None = None


class ElicitationCompleted(msgspec.Struct, frozen=True):
    """The interaction behind a URL that the user was sent to is over. `params` name it."""

    elicitation_id: str
    params: Raw


class Notified(msgspec.Struct, frozen=True):
    """The child sent a notification that belongs to no call and that we do not know."""

    method: str
    params: Raw


class Dropped(msgspec.Struct, frozen=True, gc=False):
    """The child sent a notification that nobody wants to hear."""

    method: str


class Stray(msgspec.Struct, frozen=True):
    """The child answered no call that is open: late, twice, or with an id of somebody else's."""

    message: Message


ChildEvent: TypeAlias = (
    Completed
    | Failed
    | Progressed
    | Asked
    | Withdrawn
    | Refused
    | Logged
    | Changed
    | Watched
    | ElicitationCompleted
    | Notified
    | Dropped
    | Stray
)


class LegEnded(msgspec.Struct, frozen=True):
    """A leg was answered without the child's doing: `call.parked`, or with an answer that the child
    had given before. `id` is the leg's."""

    call: Call
    id: Id


class QuestionRefused(msgspec.Struct, frozen=True):
    """A question is *refused*: the host has not declared that it can be asked such a thing."""

    question: Question
    code: int
    message: str


class QuestionDropped(msgspec.Struct, frozen=True):
    """Nobody will answer a question any more."""

    question: Question


class QuestionAnswered(msgspec.Struct, frozen=True):
    """A question is *answered*; `answer` is the result member as it came."""

    question: Question
    answer: Raw


class QuestionFailed(msgspec.Struct, frozen=True):
    """The host answered a question with an error, unopened."""

    question: Question
    error: Raw


class CallExpired(msgspec.Struct, frozen=True):
    """The host has left the questions of a parked call unanswered for too long. `certain` tells
    that the call caused one of them."""

    call: Call
    certain: bool


class CallReissued(msgspec.Struct, frozen=True):
    """A call that the child refused for the time being is to be sent to it again."""

    call: Call


class StreamEnded(msgspec.Struct, frozen=True):
    """We have ended the stream `id` of the host."""

    id: Id


class WatchOpened(msgspec.Struct, frozen=True):
    """A stream of the host holds `uri` from now on, or the host has subscribed to it."""

    uri: str


class WatchClosed(msgspec.Struct, frozen=True):
    """A stream of the host holds `uri` no more, or the host has unsubscribed from it."""

    uri: str


HostEvent: TypeAlias = (
    LegEnded
    | QuestionRefused
    | QuestionDropped
    | QuestionAnswered
    | QuestionFailed
    | CallExpired
    | CallReissued
    | StreamEnded
    | WatchOpened
    | WatchClosed
)


class Server(msgspec.Struct, frozen=True):
    """The child is *ready*: who it is and what it can do, as it said itself.

    `server_info`, `capabilities` and `meta` are JSON objects in the legacy spelling;
    `instructions` is a JSON string. `version` is the revision that was agreed on. A `server_info`
    without a name and a version is none. `result` is the InitializeResult as it came.
    """

    version: str
    server_info: Raw | None
    capabilities: Raw
    instructions: Raw | None = None
    meta: Raw | None = None
    result: Raw = Raw(b"{}")


class Severity(enum.IntEnum):
    """How much a note matters; the numbers are those of the standard library's logging."""

    DEBUG = 10
    INFO = 20
    WARNING = 30
    ERROR = 40


class Note(msgspec.Struct, frozen=True):
    """Something a person may want to read in the log: an effect, so that tests see it."""

    severity: Severity
    event: str
    fields: dict[str, object] = {}
