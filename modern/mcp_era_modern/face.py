"""The face towards a modern host whose child is legacy: what a 2026-07-28 server would say.

Lives here: the ladder of checks on a request, `server/discover`, and how results and errors of a
legacy child reach the host. Does not: which requests are open (the joint), the child's session
(legacy/). Spec 2026-07-28, basic/index, basic/versioning, server/discover.
"""

import msgspec
from msgspec import Raw

from mcp_era_modern.discover import discover_result
from mcp_era_modern.errors import (
    capability_refusal,
    error_for_host,
    wanted_urls,
)
from mcp_era_modern.exchange import Limits, Retry
from mcp_era_modern.exchanges import Exchanges
from mcp_era_modern.refused_itself import MOST_TEXT, capability_missed
from mcp_era_modern.request_meta import MetaReader, RequestMeta
from mcp_era_modern.request_state import Seal
from mcp_era_modern.requests import NOT_BRIDGED, REMOVED, RETRY_MEMBERS, RULES, UNKNOWN, Rule
from mcp_era_modern.results import Completer, text_of
from mcp_era_modern.streams import Streams
from mcp_era_wire import codes, methods
from mcp_era_wire.capabilities import Required, covers
from mcp_era_wire.envelope import (
    ABSENT,
    UNREADABLE,
    Buffer,
    Id,
    Message,
    encode_id,
    error_line,
    notification_line,
    result_line,
)
from mcp_era_wire.events import Call, Completed, HostEvent, LegEnded, Server
from mcp_era_wire.members import Members, members_of, open_object, string_of
from mcp_era_wire.notices import LOG_HEAD, PROGRESS_HEAD, with_token
from mcp_era_wire.refusal import Refusal, bridge_error
from mcp_era_wire.versions import (
    MODERN_VERSIONS,
    NEWEST_MODERN,
    SERVER_INFO_KEY,
)


class StreamOpened(msgspec.Struct, frozen=True):
    """The request `id` has opened a stream."""

    id: Id


class ModernFace:
    """One modern host. Lines for it are appended to `to_host`, in pieces; `breaks` gets the places
    in it where a write of its own has to begin. What follows from a request other than what is
    returned is left in `events`. Times are in seconds."""

    def __init__(
        self, to_host: list[Buffer], breaks: list[int], seal: Seal, limits: Limits
    ) -> None:
        self._to_host = to_host
        self._breaks = breaks
        self.events: list[HostEvent] = []
        self._metas = MetaReader()
        self._completer = Completer(None)
        self._discover_result = b""
        self.exchanges = Exchanges(to_host, breaks, self.events, seal, limits)
        self.streams = Streams(to_host, self.events, limits.most_streams, limits.most_uris)

    def ready(self, server: Server, child: int) -> None:
        """The child process number `child` has answered `initialize`; from now on requests can be
        served, and what is open is to be its."""
        self._completer = Completer(server.server_info)
        self._discover_result = discover_result(server)
        self.exchanges.child_ready(child)
        identity = b""
        if server.server_info is not None:
            identity = b'"%b":%b' % (SERVER_INFO_KEY.encode(), bytes(server.server_info))
        self.exchanges.identity = b',"_meta":{%b}' % identity if identity else b""
        self.streams.identity = b"," + identity if identity else b""
        self.streams.child_ready(server)

    def read_meta(self, message: Message) -> RequestMeta:
        """The envelope of a request, also of one that will be refused."""
        params = members_of(message.params)
        return self._metas.read(params.get("_meta") if params else None)

    def request(self, id: Id, message: Message, now: float) -> Call | Retry | StreamOpened | None:
        """Takes a request: the call to be made, the next leg of one, or None if it has been
        answered here.

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
        if rule.is_served_here:
            return self._serve(id, rule, params)
        if rule is not UNKNOWN and not RETRY_MEMBERS.isdisjoint(params):
            if rule.takes_input and "requestState" in params:
                return self._retry(id, method, params, meta, now)
            # Answers to nothing: each request stands for itself (basic/patterns/mrtr). `task` is
            # unknown to this revision, and a 2025-11-25 child would make a task of the call.
            for name in RETRY_MEMBERS:
                params.pop(name, None)
        if meta.rest is not None:
            params["_meta"] = meta.rest
        return Call(id, method, params, meta.capabilities, meta.progress_token, meta.log_level)

    def _serve(self, id: Id, rule: Rule, params: Members) -> StreamOpened | None:
        if not rule.is_stream:
            self._to_host.append(result_line(id, self._discover_result))
            return None
        refusal = self.streams.open(id, params)
        if refusal is not None:
            self.refuse(id, refusal)
            return None
        return StreamOpened(id)

    # Questions -----------------------------------------------------------------------------------

    def _retry(
        self, id: Id, method: str, params: Members, meta: RequestMeta, now: float
    ) -> Retry | None:
        retry = self.exchanges.retry(id, method, params, meta, now)
        if isinstance(retry, Refusal):
            self.refuse(id, retry)
            return None
        return retry

    def resumed(self, call: Call, now: float) -> None:
        """The answers of a retry have been delivered: its leg gets what it is due by now."""
        due = self.exchanges.resumed(call, now)
        if due is None:
            return
        leg = LegEnded(call, call.id)
        if isinstance(due, Refusal):
            self.exchanges.over(call)
            self.refuse(call.id, due)
            self.events.append(leg)
            return
        if due.progress is not None and call.progress_token is not None:
            self.progress(call, *due.progress)
        answer = due.answer
        if isinstance(answer, Completed):
            self.events.append(leg)
            self.complete(call, answer.result)
        elif answer is not None:
            child = self.exchanges.child_of(call)
            if not self.wants_urls(call, answer.error, child, now):
                self.events.append(leg)
                self.fail(call, answer.error)

    # From the child ------------------------------------------------------------------------------

    def complete(self, call: Call, result: Raw) -> None:
        """The child answered `call` with a result."""
        pieces = self._completer.complete(call.method, result)
        if call.asked or self._completer.failed:
            missing = self.exchanges.over(call)
            if self._completer.failed and self._lacked_capability(call, missing, text_of(result)):
                return
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
        missing = self.exchanges.over(call) if call.asked else None
        said = string_of((members_of(error) or {}).get("message")) or ""
        if self._lacked_capability(call, missing, said):
            return
        self._to_host.append(
            b'{"jsonrpc":"2.0","id":%b,"error":%b}\n'
            % (encode_id(call.id), bytes(error_for_host(call, error)))
        )

    def _lacked_capability(self, call: Call, missing: Required | None, said: str) -> bool:
        """Whether a call failed for want of a capability that the host has not declared; it is
        answered then. `missing` is what its own questions would have needed."""
        if missing is None and call.method in methods.TAKES_INPUT and len(said) <= MOST_TEXT:
            missing = capability_missed(said)
            if missing is not None and covers(call.capabilities, missing):
                missing = None
        if missing is None:
            return False
        self.refuse(call.id, capability_refusal(missing, said))
        return True

    def wants_urls(self, call: Call, error: Raw, child: int, now: float) -> bool:
        """Whether an error of the child asks the user to go somewhere first, and the host is now
        asked to see to it; the call is not over then."""
        wanted = wanted_urls(call, error)
        if not wanted or self.exchanges.is_full():
            return False
        call.asked = True
        self.exchanges.wants_urls(call, wanted, child, now)
        return True

    def progress(self, call: Call, progress: float, params: Raw) -> None:
        """The child is further with `call`. Under the host's token, and only if it is further: the
        value must increase (basic/patterns/progress, Progress Flow)."""
        if call.parked:
            self.exchanges.progress(call, progress, params)
            return
        if call.progress is not None and progress <= call.progress:
            return
        call.progress = progress
        assert call.progress_token is not None
        token = encode_id(call.progress_token)
        self._to_host += (PROGRESS_HEAD, with_token(params, b"%d" % call.child_id, token), b"}\n")

    def log(self, params: Raw) -> None:
        """Passes a log message on that somebody asked for."""
        self._to_host += (LOG_HEAD, bytes(params), b"}\n")

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
