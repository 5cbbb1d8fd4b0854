"""What a legacy host and its child have agreed on, kept so that another process can be told of it.

Lives here: the host's `initialize` and what was answered, its standing log level, its live
subscriptions. Does not: when they are told again (bridge, resumption.py), the requests that a
handshake of our own makes (peer.py). Spec 2025-11-25, basic/lifecycle, server/utilities/logging,
server/resources (Subscriptions).
"""

from collections.abc import Iterator
from typing import Final, TypeAlias

import msgspec
from msgspec import Raw

from mcp_era_wire import methods
from mcp_era_wire.envelope import ABSENT, UNREADABLE, encode
from mcp_era_wire.members import is_object, members_of, string_of

MOST_SUBSCRIPTIONS: Final = 4096
"""How many subscriptions are kept; beyond it the oldest is not told again."""
_DEEPEST: Final = 8
"""How many levels of capabilities are compared: more than any revision has."""
_HAS_BATCHES: Final = "2025-03-26"
"""The only revision in which a line may hold several messages (basic, Batching)."""
_NO_CAPABILITIES: Final = Raw(b"{}")
_LISTS: Final = {
    "tools": methods.TOOLS_LIST_CHANGED,
    "prompts": methods.PROMPTS_LIST_CHANGED,
    "resources": methods.RESOURCES_LIST_CHANGED,
}
"""The notification that each capability promises with `listChanged`."""

Said: TypeAlias = tuple[str, bytes]
"""A method and its params as JSON, empty if it has none."""


class _Params(msgspec.Struct, frozen=True):
    params: Raw = ABSENT


_read_params: Final = msgspec.json.Decoder(_Params).decode


class _Asked(msgspec.Struct, frozen=True):
    """A request that the child has not answered; nothing follows from it before."""

    method: str
    params: Raw
    uri: str | None


class HostSession:
    """One session, over all processes that serve it."""

    heeded = frozenset(
        {
            methods.INITIALIZE,
            methods.INITIALIZED,
            methods.SET_LEVEL,
            methods.RESOURCES_SUBSCRIBE,
            methods.RESOURCES_UNSUBSCRIBE,
        }
    )
    """The methods of which a message of the host concerns the session."""
    streams: Final[dict[object, object]] = {}
    """There are none in this era."""

    def __init__(self, most_subscriptions: int = MOST_SUBSCRIPTIONS) -> None:
        self._most_subscriptions = most_subscriptions
        self.initialize = ABSENT
        """The params of the host's `initialize`."""
        self.version: str | None = None
        """The version that was agreed on, as far as the child has named one."""
        self.capabilities = _NO_CAPABILITIES
        """What the host has been told that the server can do."""
        self.initialized = False
        """Whether the host has said `notifications/initialized`."""
        self.knows_of_initialized = False
        """Whether the child has been told that already, before the host has said it."""
        self.level: Raw | None = None
        """The params of the last `logging/setLevel` that was accepted."""
        self.subscriptions: dict[str, Raw] = {}
        """The params of the live subscriptions by URI, oldest first."""
        self.forgotten = 0
        """How many subscriptions were too many to be kept."""
        self._asked: dict[object, _Asked] = {}
        self._last_number = 0

    def fresh_number(self) -> int:
        """A number for an id of ours at the host: no id is used twice in a session, whichever
        process it is for (basic/index, Requests)."""
        self._last_number += 1
        return self._last_number

    @property
    def has_batches(self) -> bool:
        """Whether a line may hold several messages."""
        return self.version == _HAS_BATCHES

    # What passes between the two -----------------------------------------------------------------

    def requested(self, id: object, method: str, line: bytes) -> None:
        """The host sends a request of one of the heeded methods."""
        params = _params_of(line)
        uri = string_of((members_of(params) or {}).get("uri"))
        self._asked[id] = _Asked(method, params, uri)

    def notified(self, method: str) -> bool:
        """The host sends a notification of one of the heeded methods. Whether the child is to see
        it."""
        known, self.knows_of_initialized = self.knows_of_initialized, False
        self.initialized = True
        return not known

    def answered(self, id: object, result: Raw | None) -> bool:
        """The child answered such a request; `result` is None for an error. True: the host is to
        see that."""
        asked = self._asked.pop(id, None)
        if asked is not None and result is not None:
            self._accepted(asked, result)
        return True

    def _accepted(self, asked: _Asked, result: Raw) -> None:
        match asked:
            case _Asked(methods.INITIALIZE, params):
                self.initialize = params
                self.agreed(result)
            case _Asked(methods.SET_LEVEL, params):
                self.level = params
            case _Asked(methods.RESOURCES_SUBSCRIBE, params, str() as uri):
                self._subscribe(uri, params)
            case _Asked(methods.RESOURCES_UNSUBSCRIBE, _, str() as uri):
                self.unsubscribe(uri)
            case _:
                pass

    def agreed(self, result: Raw) -> None:
        """The host is given this InitializeResult."""
        self.version, self.capabilities = _agreed(result)

    def withdrawn(self, id: object) -> None:
        """The host takes such a request back, or its answer is lost."""
        self._asked.pop(id, None)

    def _subscribe(self, uri: str, params: Raw) -> None:
        self.subscriptions.pop(uri, None)
        if len(self.subscriptions) >= self._most_subscriptions:
            del self.subscriptions[next(iter(self.subscriptions))]
            self.forgotten += 1
        self.subscriptions[uri] = params

    def unsubscribe(self, uri: str) -> None:
        """A subscription is not live any more."""
        self.subscriptions.pop(uri, None)

    # The next process ----------------------------------------------------------------------------

    def lost(self) -> None:
        """The child is gone, and with it what it has not answered."""
        self._asked.clear()

    def lacks(self, result: Raw) -> list[str]:
        """What another process would take from the session: what was agreed on and is not in its
        InitializeResult."""
        version, capabilities = _agreed(result)
        lacking = [f"protocolVersion {self.version}"] if version != self.version else []
        return lacking + list(_missing(self.capabilities, capabilities))

    def requests(self) -> Iterator[tuple[str, bytes, str | None]]:
        """What the next process has to be asked after `initialize`, each with the URI of the
        subscription that it is."""
        if self.level is not None:
            yield methods.SET_LEVEL, bytes(self.level), None
        for uri, params in self.subscriptions.items():
            yield methods.RESOURCES_SUBSCRIBE, bytes(params), uri

    def news(self) -> Iterator[Said]:
        """What the host has to be told: whatever could change may have, while nobody looked."""
        if not self.initialized:
            return
        capabilities = members_of(self.capabilities) or {}
        for name, method in _LISTS.items():
            parts = members_of(capabilities.get(name)) or {}
            if bytes(parts.get("listChanged", ABSENT)) == b"true":
                yield method, b""
        for uri in self.subscriptions:
            yield methods.RESOURCE_UPDATED, encode({"uri": uri})


def _params_of(line: bytes) -> Raw:
    try:
        return _read_params(line).params
    except UNREADABLE:
        return ABSENT


def _agreed(result: Raw) -> tuple[str | None, Raw]:
    members = members_of(result) or {}
    capabilities = members.get("capabilities", _NO_CAPABILITIES)
    return string_of(members.get("protocolVersion")), capabilities


def _missing(old: Raw, new: Raw, depth: int = 1) -> Iterator[str]:
    """The names of what is declared in `old` and not in `new`, dots between the levels."""
    there = members_of(new) or {}
    for name, value in (members_of(old) or {}).items():
        if not is_object(value):
            if bytes(value) == b"true" and bytes(there.get(name, ABSENT)) != b"true":
                yield name
        elif name not in there or not is_object(there[name]):
            yield name
        elif depth < _DEEPEST:
            yield from (f"{name}.{part}" for part in _missing(value, there[name], depth + 1))
