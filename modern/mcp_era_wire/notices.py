"""What a child's notifications say, read as far as somebody may want to know.

Lives here: the reading, which is the same in both eras. Does not: who wants to know (the peers, the
faces). Spec 2026-07-28 and 2025-11-25, schema.ts (ServerNotification).
"""

from typing import Final, TypeAlias

import msgspec
from msgspec import Raw

from mcp_era_wire import methods
from mcp_era_wire.envelope import UNREADABLE, Id, encode
from mcp_era_wire.events import Changed, Dropped, ElicitationCompleted, Notified
from mcp_era_wire.levels import SEVERITY
from mcp_era_wire.members import open_object
from mcp_era_wire.versions import PROGRESS_TOKEN_KEY

_LISTS: Final = frozenset(
    {
        methods.TOOLS_LIST_CHANGED,
        methods.PROMPTS_LIST_CHANGED,
        methods.RESOURCES_LIST_CHANGED,
    }
)


class Progress(msgspec.Struct, frozen=True):
    """`notifications/progress`: our token, and how far the call is."""

    token: int = msgspec.field(name=PROGRESS_TOKEN_KEY)
    progress: int | float


class _Updated(msgspec.Struct, frozen=True):
    uri: str


class _LogMessage(msgspec.Struct, frozen=True):
    level: str


class _Cancelled(msgspec.Struct, frozen=True):
    id: Id = msgspec.field(name="requestId")


class _Elicitation(msgspec.Struct, frozen=True):
    id: str = msgspec.field(name="elicitationId")


_read_progress: Final = msgspec.json.Decoder(Progress).decode
_read_updated: Final = msgspec.json.Decoder(_Updated).decode
_read_log_message: Final = msgspec.json.Decoder(_LogMessage).decode
_read_cancelled: Final = msgspec.json.Decoder(_Cancelled).decode
_read_elicitation: Final = msgspec.json.Decoder(_Elicitation).decode

PROGRESS_HEAD: Final = b'{"jsonrpc":"2.0","method":"%b","params":' % methods.PROGRESS.encode()
"""The line of `notifications/progress` up to its params."""
LOG_HEAD: Final = b'{"jsonrpc":"2.0","method":"%b","params":' % methods.LOG_MESSAGE.encode()
"""The line of `notifications/message` up to its params."""
_TOKEN: Final = b'"%b"' % PROGRESS_TOKEN_KEY.encode()

Notice: TypeAlias = Changed | ElicitationCompleted | Notified | Dropped


def progress_in(params: Raw) -> Progress | None:
    """The progress in the params of `notifications/progress`, unless they are malformed."""
    try:
        return _read_progress(params)
    except UNREADABLE:
        return None


def severity_of(params: Raw) -> int:
    """The index in LOG_LEVELS of a log message's level, or -1 if it has none of them."""
    try:
        return SEVERITY.get(_read_log_message(params).level, -1)
    except UNREADABLE:
        return -1


def cancelled_id(params: Raw) -> Id | None:
    """The request that `notifications/cancelled` names, unless it names none."""
    try:
        return _read_cancelled(params).id
    except UNREADABLE:
        return None


def notice(method: str, params: Raw) -> Notice:
    """What any other notification says. One that the host knows it gets only if it asked for it."""
    if method in _LISTS:
        return Changed(method, params)
    try:
        if method == methods.RESOURCE_UPDATED:
            return Changed(method, params, _read_updated(params).uri)
        if method == methods.ELICITATION_COMPLETE:
            return ElicitationCompleted(_read_elicitation(params).id, params)
    except UNREADABLE:
        return Dropped(method)
    if method in methods.NOTIFICATIONS or method in methods.REQUESTS:
        return Dropped(method)
    return Notified(method, params)


def with_token(params: Raw, ours: bytes, token: bytes) -> bytes:
    """The params of a progress notification with the host's token in the place of ours.

    Most write the token first or last, and then nothing has to be opened.
    """
    text = bytes(params)
    if text.count(_TOKEN) == 1:
        head, tail = b"{%b:%b," % (_TOKEN, ours), b",%b:%b}" % (_TOKEN, ours)
        if text.startswith(head):
            return b"{%b:%b,%b" % (_TOKEN, token, text[len(head) :])
        if text.endswith(tail):
            return b"%b,%b:%b}" % (text[: -len(tail)], _TOKEN, token)
    members = open_object(params)
    members[PROGRESS_TOKEN_KEY] = Raw(token)
    return encode(members)
