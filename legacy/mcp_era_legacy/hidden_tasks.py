"""Tools that a legacy child runs as tasks only: taken as such here, so that nobody need know.

Lives here: which tools these are, and the task behind a call until its result is there. Does not:
the calls themselves (peer.py). Spec 2025-11-25, basic/utilities/tasks; 2026-07-28 knows tasks of
another kind, as an extension, and a server need never make one of a call.
"""

from collections.abc import Callable
from typing import Final

import msgspec
from msgspec import Raw

from mcp_era_wire import codes, methods
from mcp_era_wire.envelope import (
    UNREADABLE,
    Buffer,
    Message,
    encode,
    read_error_head,
    request_line,
)
from mcp_era_wire.events import Call
from mcp_era_wire.members import members_of, string_of

TASK: Final = Raw(b'{"ttl":3600000}')
"""The `task` of a call: an hour is longer than any host waits."""
ANSWER_WAIT: Final = 10.0
"""Seconds after which a list of tools that does not come is done without."""
_MOST_PAGES: Final = 100
_MOST_UNBORN: Final = 64
_REFUSALS: Final = (codes.METHOD_NOT_FOUND, codes.INVALID_REQUEST)
"""How a child refuses a plain call of such a tool: 2025-11-25 names both."""

_read_list: Final = msgspec.json.Decoder(list[Raw]).decode


class _Listing(msgspec.Struct):
    """`tools/list` under way, page by page."""

    id: int
    until: float
    found: set[str] = set()
    cursors: set[str] = set()


class HiddenTasks:
    """The tasks of one session with a child that has them. Requests are appended to `to_child`,
    with ids of `fresh_id`; `can_cancel` tells whether the child knows `tasks/cancel`."""

    def __init__(
        self, to_child: list[Buffer], fresh_id: Callable[[], int], *, can_cancel: bool
    ) -> None:
        self._to_child = to_child
        self._fresh_id = fresh_id
        self._can_cancel = can_cancel
        self._required: set[str] | None = None
        """The tools that run as tasks only; None while it is not known which."""
        self._listing: _Listing | None = None
        self._waiting: dict[Call, None] = {}
        self._refused: dict[Call, Raw] = {}
        """Plain calls that were refused, and with what."""
        self.calls: dict[str, Call] = {}
        """The calls with a task, by its id."""
        self.tokens: dict[int, Call] = {}
        """The same by the token under which they report progress."""
        self._unborn: dict[int, None] = {}
        """Cancelled calls whose task has not been named yet, by our id."""

    @property
    def deadline(self) -> float | None:
        """When `passed` wants to be called."""
        return self._listing.until if self._listing is not None else None

    # The list of tools ---------------------------------------------------------------------------

    def admits(self, call: Call, now: float) -> bool:
        """Whether it is known how a call is to be made; else it waits here."""
        if call.method != methods.TOOLS_CALL or self._required is not None:
            return True
        self._waiting[call] = None
        self._list(now)
        return False

    def needs(self, call: Call) -> bool:
        """Whether a call has to be made as a task."""
        return call.method == methods.TOOLS_CALL and _name(call) in (self._required or ())

    def list_changed(self) -> None:
        """The child has other tools now."""
        self._required = None

    def drop(self, call: Call) -> None:
        """A call that may wait here is not wanted any more."""
        self._waiting.pop(call, None)
        self._refused.pop(call, None)

    def _list(self, now: float) -> None:
        if self._listing is None:
            self._listing = _Listing(self._send(methods.TOOLS_LIST, b""), now + ANSWER_WAIT)

    def is_listing(self, id: object) -> bool:
        """Whether a response to `id` is a page of the list."""
        return self._listing is not None and self._listing.id == id

    def listed(self, message: Message, now: float) -> bool:
        """A page of the list came. Whether the list is known now."""
        listing = self._listing
        assert listing is not None
        members = (None if message.is_failure else members_of(message.result)) or {}
        try:
            tools = _read_list(members.get("tools", Raw(b"[]")))
        except UNREADABLE:
            tools = []
        for tool in tools:
            parts = members_of(tool) or {}
            execution = members_of(parts.get("execution")) or {}
            name = string_of(parts.get("name"))
            if name is not None and string_of(execution.get("taskSupport")) == "required":
                listing.found.add(name)
        cursor = string_of(members.get("nextCursor"))
        if cursor is None or cursor in listing.cursors or len(listing.cursors) >= _MOST_PAGES:
            return self._known(listing)
        listing.cursors.add(cursor)
        listing.id = self._send(methods.TOOLS_LIST, encode({"cursor": cursor}))
        listing.until = now + ANSWER_WAIT
        return False

    def _known(self, listing: _Listing) -> bool:
        self._required = listing.found
        self._listing = None
        return True

    def passed(self, now: float) -> bool:
        """Time went by. Whether the list is done without."""
        listing = self._listing
        return listing is not None and now >= listing.until and self._known(listing)

    def released(self) -> tuple[list[Call], list[tuple[Call, Raw]]]:
        """The calls that go on now that the list is known, and those that have failed for good."""
        calls = list(self._waiting)
        self._waiting.clear()
        failed: list[tuple[Call, Raw]] = []
        for call, error in self._refused.items():
            if self.needs(call):
                calls.append(call)
            else:
                failed.append((call, error))
        self._refused.clear()
        return calls, failed

    # Tasks ---------------------------------------------------------------------------------------

    def created(self, call: Call, result: Raw) -> int | None:
        """Our id of the request for the result, if the child has made a task of a call."""
        task_id = _task_id(result)
        if task_id is None:
            return None
        self.tokens[call.child_id] = call
        self.calls[task_id] = call
        return self._send(methods.TASKS_RESULT, encode({"taskId": task_id}))

    def was_refused(self, call: Call, error: Raw, now: float) -> bool:
        """Whether a plain call may have been refused because it has to be made as a task: then it
        waits here until that is known. The refusal came before any work."""
        if call.method != methods.TOOLS_CALL or self.needs(call):
            return False
        if read_error_head(error).code not in _REFUSALS:
            return False
        self._refused[call] = error
        self._required = None
        self._list(now)
        return True

    def has(self, call: Call) -> bool:
        """Whether a call has a task."""
        return any(other is call for other in self.calls.values())

    def over(self, call: Call) -> None:
        """A call has its answer."""
        if self.calls:
            for task_id in [id for id, other in self.calls.items() if other is call]:
                del self.calls[task_id]
            for token in [id for id, other in self.tokens.items() if other is call]:
                del self.tokens[token]

    def cancel(self, call: Call) -> bool:
        """Cancels the task behind a call, which has been sent. Whether it has one, or will: then
        nothing else may be cancelled (basic/utilities/cancellation, Behavior Requirements)."""
        task_id = next((id for id, other in self.calls.items() if other is call), None)
        if task_id is not None:
            self._cancel(task_id)
            return True
        if self.needs(call):
            self._unborn[call.child_id] = None
            if len(self._unborn) > _MOST_UNBORN:
                del self._unborn[next(iter(self._unborn))]
            return True
        return False

    def born_late(self, id: int, result: Raw) -> None:
        """A call that was cancelled has been answered: if with a task, nobody wants it."""
        if id in self._unborn:
            del self._unborn[id]
            task_id = _task_id(result)
            if task_id is not None:
                self._cancel(task_id)

    def _cancel(self, task_id: str) -> None:
        if self._can_cancel:
            self._send(methods.TASKS_CANCEL, encode({"taskId": task_id}))

    def _send(self, method: str, params: bytes) -> int:
        id = self._fresh_id()
        self._to_child.append(request_line(id, method, params))
        return id


def _name(call: Call) -> str | None:
    return string_of(call.params.get("name"))


def _task_id(result: Raw) -> str | None:
    members = members_of(result) or {}
    if "content" in members:
        return None
    return string_of((members_of(members.get("task")) or {}).get("taskId"))


def hidden_tasks(
    capabilities: Raw, to_child: list[Buffer], fresh_id: Callable[[], int]
) -> HiddenTasks | None:
    """The tasks of a child with these capabilities, None if it makes none of calls."""
    tasks = members_of((members_of(capabilities) or {}).get("tasks")) or {}
    tools = members_of((members_of(tasks.get("requests")) or {}).get("tools")) or {}
    if "call" not in tools:
        return None
    return HiddenTasks(to_child, fresh_id, can_cancel="cancel" in tasks)
