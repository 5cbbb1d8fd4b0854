"""The peer towards a legacy child: one handshake session, as an old client would lead it.

Lives here: our ids, the requests in flight, what the child may be sent at the negotiated version.
Does not: the choice to speak to the child in this era (bridge, child_era.py), the host's ids.
Spec 2025-11-25, basic/lifecycle, basic/utilities/cancellation, basic/utilities/ping.
"""

from typing import Final

import msgspec
from msgspec import UNSET, Raw

from mcp_era_wire import codes, methods
from mcp_era_wire.envelope import (
    ABSENT,
    UNREADABLE,
    Buffer,
    Id,
    Message,
    encode,
    error_line,
    notification_line,
    result_line,
)
from mcp_era_wire.events import (
    Asked,
    Call,
    ChildEvent,
    Completed,
    Failed,
    Notified,
    Progressed,
    Server,
    Stray,
)
from mcp_era_wire.members import members_of
from mcp_era_wire.versions import PROGRESS_TOKEN_KEY

_COMPLETION_CONTEXT_SINCE: Final = "2025-06-18"
_METHOD_JSON: Final = {
    method: encode(method)
    for method in (
        methods.TOOLS_LIST,
        methods.TOOLS_CALL,
        methods.PROMPTS_LIST,
        methods.PROMPTS_GET,
        methods.RESOURCES_LIST,
        methods.RESOURCE_TEMPLATES_LIST,
        methods.RESOURCES_READ,
        methods.COMPLETE,
    )
}


class _Progress(msgspec.Struct, frozen=True):
    token: int = msgspec.field(name=PROGRESS_TOKEN_KEY)
    progress: int | float


_read_progress: Final = msgspec.json.Decoder(_Progress).decode


class LegacyPeer:
    """The session with one child process, from the answer to `initialize` on.

    Lines for the child are appended to `to_child`, in pieces. The ids of calls count up from 1 and
    none is used twice in the session (2025-11-25, basic, Requests).
    """

    def __init__(self, to_child: list[Buffer], server: Server) -> None:
        self._to_child = to_child
        self._version = server.version
        self._call_id = 0
        self._calls: dict[int, Call] = {}

    @property
    def calls(self) -> int:
        """How many calls the child has not answered yet."""
        return len(self._calls)

    def open(self) -> None:
        """Tells the child that the handshake is done; calls may follow."""
        self._to_child.append(notification_line(methods.INITIALIZED))

    def begin(self, call: Call) -> None:
        """Sends a call."""
        self._call_id = id = self._call_id + 1
        call.child_id = id
        self._calls[id] = call
        params = call.params
        if call.progress_token is not None:
            # Our id is unique in the session, so it serves as the token too.
            meta = members_of(params.get("_meta")) or {}
            meta[PROGRESS_TOKEN_KEY] = Raw(b"%d" % id)
            params["_meta"] = Raw(encode(meta))
        if call.method == methods.COMPLETE:
            self._fit_completion(call)
        method = _METHOD_JSON.get(call.method) or encode(call.method)
        if not params:
            self._to_child.append(b'{"jsonrpc":"2.0","id":%d,"method":%b}\n' % (id, method))
            return
        head = b'{"jsonrpc":"2.0","id":%d,"method":%b,"params":' % (id, method)
        self._to_child += (head, encode(params), b"}\n")

    def _fit_completion(self, call: Call) -> None:
        """Takes out what `completion/complete` had not yet before 2025-06-18."""
        if self._version >= _COMPLETION_CONTEXT_SINCE:
            return
        call.params.pop("context", None)
        ref = members_of(call.params.get("ref"))
        if ref is not None and ref.pop("title", None) is not None:
            call.params["ref"] = Raw(encode(ref))

    def cancel(self, call: Call, reason: Raw | None) -> None:
        """Tells the child that nobody waits for a call any more. Its answer will be a Stray."""
        if self._calls.pop(call.child_id, None) is None:
            return
        params: dict[str, object] = {"requestId": call.child_id}
        if reason is not None:
            params["reason"] = reason
        self._to_child.append(notification_line(methods.CANCELLED, encode(params)))

    def notify(self, method: str, params: bytes) -> None:
        """Passes a notification on."""
        self._to_child.append(notification_line(method, params))

    def answer(self, id: Id, result: bytes) -> None:
        """Answers a request of the child."""
        self._to_child.append(result_line(id, result))

    def refuse(self, id: Id, code: int, message: str) -> None:
        """Answers a request of the child with an error."""
        self._to_child.append(error_line(id, code, message))

    def receive(self, message: Message) -> ChildEvent | None:
        """Takes one message of the child. None means that it has been dealt with here."""
        id = message.id
        if message.method is UNSET:
            call = self._calls.pop(id, None) if type(id) is int else self._call_of_text(id)
            if call is None:
                return Stray(message)
            if message.error is ABSENT or not message.is_failure:
                return Completed(call, message.result)
            return Failed(call, message.error)
        if id is UNSET:
            if message.method == methods.PROGRESS:
                return self._progress(message.params)
            return Notified(message.method, message.params)
        if message.method == methods.PING:
            # Also before `initialized`: the receiver must respond promptly (utilities/ping).
            self.answer(id, b"{}")
            return None
        return Asked(id, message.method, message.params)

    def _progress(self, params: Raw) -> ChildEvent | None:
        """Progress of a call that is under way and asked for it; of any other it is nobody's."""
        try:
            read = _read_progress(params)
        except UNREADABLE:
            return None
        call = self._calls.get(read.token)
        if call is None or call.progress_token is None:
            return None
        return Progressed(call, read.progress, params)

    def _call_of_text(self, id: object) -> Call | None:
        """A child that echoes our integer as a string means the same request."""
        if isinstance(id, str) and len(id) < 20 and id.isascii() and id.isdigit():
            return self._calls.pop(int(id), None)
        return None

    def give_up(self, id: Id) -> Call | None:
        """Takes the call out that the child knows as `id`: its answer cannot be read."""
        return self._calls.pop(id, None) if isinstance(id, int) else self._call_of_text(id)

    def lost(self) -> list[Call]:
        """The child is gone: the calls that it will never answer."""
        calls = list(self._calls.values())
        self._calls.clear()
        return calls


def unknown_request(method: str) -> tuple[int, str]:
    """Code and message for a request of the child that its client does not know."""
    return codes.METHOD_NOT_FOUND, f"{method} is not supported by this client"
