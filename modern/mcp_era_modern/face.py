"""The face towards a modern host whose child is legacy: what a 2026-07-28 server would say.

Lives here: the ladder of checks on a request, `server/discover`, and how results and errors of a
legacy child reach the host. Does not: which requests are open (the joint), the child's session
(legacy/). Spec 2026-07-28, basic/index, basic/versioning, server/discover.
"""

from typing import Final

import msgspec
from msgspec import UNSET, Raw

from mcp_era_modern.discover import discover_result
from mcp_era_modern.errors import bridge_error, error_for_host
from mcp_era_modern.request_meta import MetaReader, RequestMeta
from mcp_era_modern.requests import NOT_BRIDGED, REMOVED, RETRY_MEMBERS, RULES, UNKNOWN
from mcp_era_modern.results import Completer
from mcp_era_wire import codes, methods
from mcp_era_wire.envelope import (
    ABSENT,
    UNREADABLE,
    Buffer,
    Id,
    Message,
    encode,
    encode_id,
    error_line,
    notification_line,
    result_line,
)
from mcp_era_wire.events import Call, Server
from mcp_era_wire.members import Members, members_of, open_object, string_of
from mcp_era_wire.versions import MODERN_VERSIONS, NEWEST_MODERN, PROGRESS_TOKEN_KEY


class Refusal(msgspec.Struct, frozen=True):
    """Why a request is answered with an error: the error's three members."""

    code: int
    message: str
    data: object = UNSET


_PROGRESS_HEAD: Final = b'{"jsonrpc":"2.0","method":"%b","params":' % methods.PROGRESS.encode()


class ModernFace:
    """One modern host. Lines for it are appended to `to_host`, in pieces; `breaks` gets the places
    in it where a write of its own has to begin."""

    def __init__(self, to_host: list[Buffer], breaks: list[int]) -> None:
        self._to_host = to_host
        self._breaks = breaks
        self._metas = MetaReader()
        self._completer = Completer(None)
        self._discover_result = b""

    def ready(self, server: Server) -> None:
        """The child has answered `initialize`; from now on requests can be served."""
        self._completer = Completer(server.server_info)
        self._discover_result = discover_result(server)

    def read_meta(self, message: Message) -> RequestMeta:
        """The envelope of a request, also of one that will be refused."""
        params = members_of(message.params)
        return self._metas.read(params.get("_meta") if params else None)

    def request(self, id: Id, message: Message) -> Call | None:
        """Takes a request: the call to be made, or None if it has been answered here.

        The checks stand in the order of translation B.1, from the metadata on.
        """
        try:
            params = open_object(message.params) if message.params is not ABSENT else {}
        except UNREADABLE:
            self.refuse(id, Refusal(codes.INVALID_PARAMS, "Invalid params: not an object"))
            return None
        method = message.method
        assert isinstance(method, str)
        raw_meta = params.pop("_meta", None)
        meta = self._metas.known_good(raw_meta) if raw_meta is not None else None
        rule = RULES.get(method)
        if meta is None or rule is None:
            meta = self._metas.read(raw_meta)
            refusal = _refusal(method, meta)
            if refusal is not None:
                self.refuse(id, refusal)
                return None
            rule = rule or UNKNOWN
        wrong = rule.check(params)
        if wrong is not None:
            self.refuse(
                id,
                Refusal(codes.INVALID_PARAMS, f"Invalid params: {wrong}", {"member": wrong}),
            )
            return None
        if rule.takes_input and not RETRY_MEMBERS.isdisjoint(params):
            if not self._is_afresh(id, params):
                return None
        if rule.is_discover:
            self._to_host.append(result_line(id, self._discover_result))
            return None
        if meta.rest is not None:
            params["_meta"] = meta.rest
        return Call(id, method, params, meta.capabilities, meta.progress_token)

    def _is_afresh(self, id: Id, params: Members) -> bool:
        """Whether a request stands for itself. No state has been handed out, since nobody is asked
        anything yet: what a host sends as such is not ours (basic/patterns/mrtr)."""
        params.pop("inputResponses", None)
        # Unknown to this revision; a 2025-11-25 child would make a task of the call.
        params.pop("task", None)
        state = params.pop("requestState", None)
        if state is None:
            return True
        reason = "malformed" if string_of(state) is None else "invalid"
        self.refuse(
            id,
            Refusal(codes.INVALID_PARAMS, "requestState was not accepted", {"reason": reason}),
        )
        return False

    def complete(self, call: Call, result: Raw) -> None:
        """The child answered `call` with a result."""
        pieces = self._completer.complete(call.method, result)
        if pieces is None:
            self.refuse(
                call.id,
                Refusal(
                    codes.INTERNAL_ERROR,
                    "The server returned an invalid result",
                    bridge_error("invalid_result"),
                ),
            )
            return
        if call.progress is not None:
            # A real SDK loses progress that arrives in one read with its response.
            self._breaks.append(len(self._to_host))
        id = call.id
        text = b"%d" % id if type(id) is int else encode_id(id)
        self._to_host += (b'{"jsonrpc":"2.0","id":%b,"result":' % text, *pieces, b"}\n")

    def fail(self, call: Call, error: Raw) -> None:
        """The child answered `call` with an error."""
        self._to_host.append(
            b'{"jsonrpc":"2.0","id":%b,"error":%b}\n'
            % (encode_id(call.id), bytes(error_for_host(call, error)))
        )

    def progress(self, call: Call, progress: float, params: Raw) -> None:
        """The child is further with `call`. Under the host's token, and only if it is further: the
        value must increase (basic/patterns/progress, Progress Flow)."""
        if call.progress is not None and progress <= call.progress:
            return
        call.progress = progress
        members = open_object(params)
        assert call.progress_token is not None
        members[PROGRESS_TOKEN_KEY] = Raw(encode_id(call.progress_token))
        self._to_host += (_PROGRESS_HEAD, encode(members), b"}\n")

    def notify(self, method: str, params: Raw) -> None:
        """Passes on a notification that this bridge does not know."""
        self._to_host.append(notification_line(method, bytes(params)))

    def refuse(self, id: Id, refusal: Refusal) -> None:
        """Answers a request with an error of ours."""
        self._to_host.append(error_line(id, refusal.code, refusal.message, refusal.data))


def _refusal(method: str, meta: RequestMeta) -> Refusal | None:
    """The first check of the ladder that fails, up to the method's own (translation B.1, 7 to 11).

    Metadata before version before method: the order of the official SDKs.
    """
    if meta.missing is not None:
        return Refusal(
            codes.INVALID_PARAMS, f"Missing or malformed request metadata: {meta.missing}"
        )
    if meta.version not in MODERN_VERSIONS:
        return Refusal(
            codes.UNSUPPORTED_PROTOCOL_VERSION,
            "Unsupported protocol version",
            {"supported": MODERN_VERSIONS, "requested": meta.version},
        )
    if method in REMOVED:
        return Refusal(
            codes.METHOD_NOT_FOUND, f"{method} is not in {NEWEST_MODERN}", {"method": method}
        )
    if method in methods.NOTIFICATIONS:
        return Refusal(codes.METHOD_NOT_FOUND, f"{method} is a notification", {"method": method})
    if method in NOT_BRIDGED:
        return Refusal(
            codes.METHOD_NOT_FOUND,
            f"{method} is not bridged to a server of the handshake era",
            {"method": method},
        )
    if meta.bad_log_level:
        return Refusal(codes.INVALID_PARAMS, "Unknown log level")
    if meta.bad_progress_token:
        return Refusal(codes.INVALID_PARAMS, "progressToken must be a string or an integer")
    return None
