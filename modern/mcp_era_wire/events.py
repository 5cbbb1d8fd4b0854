"""Neutral events: the words in which a face and a peer tell each other what happened.

A face (towards the host) and a peer (towards the child) each know one era and these events, so
that four quadrants need two faces and two peers.

Lives here: the call, what can become of it, and what else a child says. Does not: anything of one
era's wire format.
"""

import enum
from typing import TypeAlias

import msgspec
from msgspec import Raw

from mcp_era_wire.envelope import Id, Message
from mcp_era_wire.members import Members


class Call(msgspec.Struct, gc=False, eq=False):
    """*Begins*: one request of the host on its way to a child and back.

    `id` is the host's. `params` are without the era's own fields. `capabilities` is what the
    request declares, in the modern spelling. `progress_token` is the host's, None if it wants no
    progress; `progress` is the last value that it got. `child_id` is the peer's, and 0 until the
    call is written to the child.
    """

    id: Id
    method: str
    params: Members
    capabilities: Raw
    progress_token: Id | None = None
    child_id: int = 0
    progress: float | None = None


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
    """The child sent a request of its own. `id` is the child's."""

    id: Id
    method: str
    params: Raw


class Notified(msgspec.Struct, frozen=True):
    """The child sent a notification that belongs to no call."""

    method: str
    params: Raw


class Stray(msgspec.Struct, frozen=True):
    """The child answered no call that is open: late, twice, or with an id of somebody else's."""

    message: Message


ChildEvent: TypeAlias = Completed | Failed | Progressed | Asked | Notified | Stray


class Server(msgspec.Struct, frozen=True):
    """The child is *ready*: who it is and what it can do, as it said itself.

    `server_info`, `capabilities` and `meta` are JSON objects in the legacy spelling;
    `instructions` is a JSON string. `version` is the revision that was agreed on. A `server_info`
    without a name and a version is none.
    """

    version: str
    server_info: Raw | None
    capabilities: Raw
    instructions: Raw | None = None
    meta: Raw | None = None


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
