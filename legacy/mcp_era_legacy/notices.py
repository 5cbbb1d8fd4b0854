"""What a legacy child's notifications say, read as far as somebody may want to know.

Lives here: the reading. Does not: who wants to know (peer.py, modern/). Spec 2025-11-25, schema.ts
(ServerNotification).
"""

from typing import Final, TypeAlias

import msgspec
from msgspec import Raw

from mcp_era_wire import methods
from mcp_era_wire.envelope import UNREADABLE, Id
from mcp_era_wire.events import Changed, Dropped, ElicitationCompleted, Notified
from mcp_era_wire.levels import SEVERITY
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
            return ElicitationCompleted(_read_elicitation(params).id)
    except UNREADABLE:
        return Dropped(method)
    if method in methods.NOTIFICATIONS or method in methods.REQUESTS:
        return Dropped(method)
    return Notified(method, params)
