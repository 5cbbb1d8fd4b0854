"""The requests of a legacy child that are open at its host, over the child's processes.

Lives here: which are not answered, and what becomes of them and of their ids when the child ends
and another one counts from 0 again. Does not: what is asked. Spec 2025-11-25, basic/index
(Requests), basic/utilities/cancellation.
"""

from collections.abc import Callable
from typing import Final, TypeAlias

import msgspec
from msgspec import Raw, UnsetType

from mcp_era_wire import methods
from mcp_era_wire.envelope import (
    UNREADABLE,
    Buffer,
    Id,
    encode,
    encode_id,
    notification_line,
)
from mcp_era_wire.members import members_of, open_object

AnyId: TypeAlias = int | str | float | UnsetType | None
"""An id as it came, legal or not."""

_MOST_DEAD: Final = 1024
"""How many ids of requests are remembered whose process is gone."""
_ENDED: Final = "The server has ended and is started again"


class _CancelledParams(msgspec.Struct, frozen=True):
    request_id: Id = msgspec.field(name="requestId")


class _Cancelled(msgspec.Struct, frozen=True):
    params: _CancelledParams


_read_cancelled: Final = msgspec.json.Decoder(_Cancelled).decode


def cancelled_id(line: bytes) -> Id | None:
    """The request that a `notifications/cancelled` names, if it names one."""
    try:
        return _read_cancelled(line).params.request_id
    except UNREADABLE:
        return None


class ChildRequests:
    """Ids at the host and at the child. They are the same but where a dead process has left one at
    the host that a later one uses again. `most` is how many open ones are noted: 0 for a child that
    may not ask anything. `fresh_number` makes ids of ours."""

    def __init__(self, most: int, fresh_number: Callable[[], int]) -> None:
        self._most = most
        self._fresh_number = fresh_number
        self.open: dict[AnyId, AnyId] = {}
        """The present process's, by their id at the host: the id at the child."""
        self.odd: dict[AnyId, None] = {}
        """Ids at the host that are not the present child's own: of dead processes, or ours."""
        self._renamed: dict[AnyId, AnyId] = {}
        """The ids at the host of open requests that have another one at the child."""

    @property
    def only_dead(self) -> bool:
        """Whether what the host still works on has been asked by a dead process alone."""
        return bool(self.odd) and not self.open

    # The child asks ------------------------------------------------------------------------------

    def note(self, id: AnyId) -> None:
        """The child has asked, and the host has the line already."""
        if self._most:
            self.open[id] = id

    def asked(self, id: AnyId, line: bytes) -> bytes:
        """The child asks; the line that is for the host."""
        if not self._most:
            return line
        if len(self.open) >= self._most:
            self._forget(next(iter(self.open)))
        if id not in self.odd:
            self.open[id] = id
            return line
        name = self._fresh_name()
        self.odd[name] = None
        self.open[name] = id
        self._renamed[id] = name
        return _with_member(line, "id", encode(name))

    def _fresh_name(self) -> str:
        while True:
            name = f"b-{self._fresh_number()}"
            if name not in self.open and name not in self.odd:
                return name

    def withdrawn(self, line: bytes) -> bytes:
        """The child takes a request back; the line that is for the host."""
        id = cancelled_id(line)
        if id is None:
            return line
        name = self._renamed.get(id, id)
        self._forget(name)
        if name is id:
            return line
        members = members_of(Raw(line)) or {}
        params = _with_member(bytes(members["params"]), "requestId", encode(name))
        return encode({**members, "params": Raw(params)})

    def _forget(self, name: AnyId) -> None:
        """The host does not work on this any more, if it did."""
        id = self.open.pop(name, None)
        if self._renamed.get(id) == name:
            del self._renamed[id], self.odd[name]

    # The host answers ----------------------------------------------------------------------------

    def answered(self, id: AnyId, line: bytes) -> bytes | None:
        """The host answers; the line that is for the child, unless it is for a dead one."""
        if id not in self.odd:
            self.open.pop(id, None)
            return line
        if id not in self.open:
            del self.odd[id]
            return None
        own = self.open[id]
        self._forget(id)
        assert isinstance(own, int | str | float | None)
        return _with_member(line, "id", encode_id(own) if isinstance(own, int) else encode(own))

    # The end of a process ------------------------------------------------------------------------

    def lost(self, to_host: list[Buffer]) -> None:
        """The child is gone: the host need not answer it any more."""
        for name in self.open:
            if isinstance(name, int | str):
                params = {"requestId": name, "reason": _ENDED}
                to_host.append(notification_line(methods.CANCELLED, encode(params)))
            self.odd[name] = None
        self.open.clear()
        self._renamed.clear()
        while len(self.odd) > _MOST_DEAD:
            del self.odd[next(iter(self.odd))]


def _with_member(text: bytes, name: str, value: bytes) -> bytes:
    """An object with another value for one of its members, the rest as it came."""
    try:
        return encode({**open_object(text), name: Raw(value)})
    except UNREADABLE:
        return text
