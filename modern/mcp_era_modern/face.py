"""The face towards a modern host whose child is legacy: what a 2026-07-28 server would say.

Lives here: the ladder of checks on a request, `server/discover`, and how results and errors of a
legacy child reach the host. Does not: which requests are open (the joint), the child's session
(legacy/). Spec 2026-07-28, basic/index, basic/versioning, server/discover.
"""

import msgspec
from msgspec import UNSET, Raw

from mcp_era_modern.discover import discover_result
from mcp_era_modern.errors import INPUT_METHODS, bridge_error, error_for_host
from mcp_era_modern.request_meta import MetaReader, RequestMeta
from mcp_era_modern.requests import CHECKS, NOT_BRIDGED, REMOVED
from mcp_era_modern.results import Completer
from mcp_era_wire import codes, methods
from mcp_era_wire.envelope import (
    ABSENT,
    Buffer,
    Id,
    Message,
    encode_id,
    error_line,
    notification_line,
    result_line,
)
from mcp_era_wire.events import Call, Server
from mcp_era_wire.members import Members, members_of, string_of
from mcp_era_wire.versions import MODERN_VERSIONS, NEWEST_MODERN


class Refusal(msgspec.Struct, frozen=True):
    """Why a request is answered with an error: the error's three members."""

    code: int
    message: str
    data: object = UNSET


class ModernFace:
    """One modern host. Lines for it are appended to `to_host`, in pieces."""

    def __init__(self, to_host: list[Buffer]) -> None:
        self._to_host = to_host
        self._metas = MetaReader()
        self._completer = Completer(Raw(b"{}"))
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

        The order of the checks is that of the official SDK: metadata before version before method
        before params (translation B.1).
        """
        params = members_of(message.params) if message.params is not ABSENT else {}
        if params is None:
            self.refuse(id, Refusal(codes.INVALID_PARAMS, "Invalid params: not an object"))
            return None
        meta = self._metas.read(params.pop("_meta", None))
        method = message.method
        assert isinstance(method, str)
        refusal = _refusal(method, params, meta)
        if refusal is not None:
            self.refuse(id, refusal)
            return None
        if method == methods.DISCOVER:
            self._to_host.append(result_line(id, self._discover_result))
            return None
        if method in INPUT_METHODS:
            params.pop("inputResponses", None)
        if method == methods.TOOLS_CALL:
            # Unknown to this revision; a 2025-11-25 child would make a task of the call.
            params.pop("task", None)
        if meta.rest is not None:
            params["_meta"] = meta.rest
        return Call(id, method, params, meta.capabilities)

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
        to_host = self._to_host
        to_host.append(b'{"jsonrpc":"2.0","id":%b,"result":' % encode_id(call.id))
        to_host.extend(pieces)
        to_host.append(b"}\n")

    def fail(self, call: Call, error: Raw) -> None:
        """The child answered `call` with an error."""
        self._to_host.append(
            b'{"jsonrpc":"2.0","id":%b,"error":%b}\n'
            % (encode_id(call.id), bytes(error_for_host(call, error)))
        )

    def notify(self, method: str, params: Raw) -> None:
        """Passes on a notification that this bridge does not know."""
        self._to_host.append(notification_line(method, bytes(params)))

    def refuse(self, id: Id, refusal: Refusal) -> None:
        """Answers a request with an error of ours."""
        self._to_host.append(error_line(id, refusal.code, refusal.message, refusal.data))


def _refusal(method: str, params: Members, meta: RequestMeta) -> Refusal | None:
    """The first check of the ladder that fails, from the metadata on (translation B.1, 7 to 13)."""
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
    check = CHECKS.get(method)
    wrong = check(params) if check is not None else None
    if wrong is not None:
        return Refusal(codes.INVALID_PARAMS, f"Invalid params: {wrong}", {"member": wrong})
    if "requestState" in params and method in INPUT_METHODS:
        # No state has been handed out: nobody is asked anything yet.
        reason = "malformed" if string_of(params["requestState"]) is None else "invalid"
        return Refusal(codes.INVALID_PARAMS, "requestState was not accepted", {"reason": reason})
    return None
