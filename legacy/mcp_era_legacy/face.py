"""The face towards a legacy host whose child is of another era: what an old server would say.

Lives here: the host's session (its `initialize`, log level and subscriptions), which requests are
answered on the spot, how results and errors reach the host. Does not: which requests are open (the
joint), what becomes of a result in an older revision (results.py), the questions to the host
(host_questions.py). Spec 2025-11-25, basic/lifecycle, basic/utilities, server/resources
(Subscriptions), server/utilities/logging.
"""

from typing import Final

import msgspec
from msgspec import Raw

from mcp_era_legacy.batches import Batches
from mcp_era_legacy.errors import error_for_host
from mcp_era_legacy.handshake import read_initialize_request
from mcp_era_legacy.host_questions import HostQuestions
from mcp_era_legacy.host_session import HostSession
from mcp_era_legacy.initialize_result import agreed_version, initialize_result
from mcp_era_legacy.results import Fitter
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
from mcp_era_wire.events import (
    NO_LEVEL,
    Call,
    Changed,
    HostEvent,
    Question,
    WatchClosed,
    WatchOpened,
)
from mcp_era_wire.levels import LOG_LEVELS, SEVERITY
from mcp_era_wire.members import Members, members_of, open_object, string_of
from mcp_era_wire.notices import LOG_HEAD, PROGRESS_HEAD, with_token
from mcp_era_wire.refusal import Refusal, bridge_error
from mcp_era_wire.versions import (
    CLIENT_CAPABILITIES_KEY,
    CLIENT_INFO_KEY,
    LOG_LEVEL_KEY,
    PROGRESS_TOKEN_KEY,
    PROTOCOL_VERSION_KEY,
    RELATED_TASK_KEY,
)

BATCHES_IN: Final = "2025-03-26"
"""The one revision that has batches (its basic, Batching)."""
_PROGRESS_MESSAGE_SINCE: Final = "2025-03-26"

_NOT_HERE: Final = frozenset(
    {
        methods.DISCOVER,
        methods.SUBSCRIPTIONS_LISTEN,
        methods.TASKS_GET,
        methods.TASKS_CANCEL,
        methods.TASKS_UPDATE,
        methods.TASKS_LIST,
        methods.TASKS_RESULT,
        methods.ROOTS_LIST,
        methods.CREATE_MESSAGE,
        methods.ELICIT,
    }
)
"""Requests of the other era, of a capability that is not declared, or sent the wrong way."""
_NOT_PASSED: Final = ("inputResponses", "requestState", "task")
"""Members that mean something else to a modern child, or nothing."""
_RESERVED: Final = (
    PROTOCOL_VERSION_KEY,
    CLIENT_INFO_KEY,
    CLIENT_CAPABILITIES_KEY,
    LOG_LEVEL_KEY,
    RELATED_TASK_KEY,
)
_SERVED_HERE: Final = frozenset(
    {
        methods.PING,
        methods.INITIALIZE,
        methods.SET_LEVEL,
        methods.RESOURCES_SUBSCRIBE,
        methods.RESOURCES_UNSUBSCRIBE,
        *_NOT_HERE,
    }
)

_read_token: Final = msgspec.json.Decoder(Id).decode

_NO_OBJECT: Final = Refusal(codes.INVALID_PARAMS, "Invalid params: not an object")
_INITIALIZED_BEFORE: Final = Refusal(codes.INVALID_REQUEST, "The session is initialized already")
_NO_LEVEL: Final = Refusal(codes.INVALID_PARAMS, "Unknown log level")
_NO_URI: Final = Refusal(codes.INVALID_PARAMS, "Invalid params: uri", {"member": "uri"})
_INVALID_RESULT: Final = Refusal(
    codes.INTERNAL_ERROR, "The server returned an invalid result", bridge_error("invalid_result")
)


class LegacyFace:
    """One legacy host, which has sent `initialize` with `params`.

    Lines for it are appended to `to_host`, in pieces; `breaks` gets the places in it where a write
    of its own has to begin. What it wants other than what is returned is left in `events`. `name`
    makes the ids of questions unlike any other's; `most_uris` is how many resources it may
    subscribe to.
    """

    def __init__(
        self, to_host: list[Buffer], breaks: list[int], params: Raw, name: str, most_uris: int
    ) -> None:
        self._to_host = to_host
        self._breaks = breaks
        self._most_uris = most_uris
        self.events: list[HostEvent] = []
        self.version = agreed_version(string_of((members_of(params) or {}).get("protocolVersion")))
        self.client = read_initialize_request(params)
        self._session = HostSession()
        self._session.initialize = params
        self.initialized = False
        """Whether the host has sent `notifications/initialized`."""
        self.level = NO_LEVEL
        """The last `logging/setLevel`, an index of LOG_LEVELS."""
        self.uris: dict[str, None] = {}
        """The resources that the host is subscribed to."""
        self._subscribing: dict[str, list[Id]] = {}
        """The requests that wait for a subscription, by its resource."""
        self._settled: list[Id] = []
        self._fitter = Fitter(self.version)
        self.questions = HostQuestions(
            to_host, self.version, name, lambda: self._session.fresh_number()
        )
        self.batches = Batches(to_host)

    def welcome(self, id: Id, discovered: Raw, fallback_name: str) -> None:
        """Answers `initialize` with what a modern child says of itself."""
        result = initialize_result(discovered, self.version, fallback_name)
        self._session.agreed(Raw(result))
        self._to_host.append(result_line(id, result))

    def take_up(self, session: HostSession) -> None:
        """The host has been served by another process before, and knows it as `session`."""
        self._session = session
        self.initialized = session.initialized
        level = string_of((members_of(session.level) or {}).get("level"))
        self.level = SEVERITY.get(level or "", NO_LEVEL)
        self.uris = dict.fromkeys(session.subscriptions)

    @property
    def session(self) -> HostSession:
        """What another process would have to be told of the host."""
        session = self._session
        session.initialized = self.initialized
        if self.level != NO_LEVEL:
            session.level = Raw(encode({"level": LOG_LEVELS[self.level]}))
        session.subscriptions = {uri: Raw(encode({"uri": uri})) for uri in self.uris}
        return session

    # From the host -------------------------------------------------------------------------------

    def request(self, id: Id, message: Message) -> Call | None:
        """Takes a request: the call to be made, or None if it is answered here, now or later."""
        method = message.method
        assert isinstance(method, str)
        params = message.params
        try:
            members = open_object(params) if params is not ABSENT and params != b"null" else {}
        except UNREADABLE:
            self.refuse(id, _NO_OBJECT)
            return None
        if method in _SERVED_HERE:
            self._serve(id, method, members)
            return None
        token = None
        meta = members.pop("_meta", None)
        if meta is not None:
            token, rest = _taken_apart(meta)
            if rest is not None:
                members["_meta"] = rest
        if method in methods.TAKES_INPUT:
            for name in _NOT_PASSED:
                members.pop(name, None)
        return Call(id, method, members, self.client.capabilities, token, self.level)

    def _serve(self, id: Id, method: str, members: Members) -> None:
        if method == methods.PING:
            self._answer(id, result_line(id, b"{}"))
        elif method == methods.SET_LEVEL:
            self._set_level(id, string_of(members.get("level")))
        elif method == methods.RESOURCES_SUBSCRIBE:
            self._subscribe(id, string_of(members.get("uri")))
        elif method == methods.RESOURCES_UNSUBSCRIBE:
            self._unsubscribe(id, string_of(members.get("uri")))
        elif method == methods.INITIALIZE:
            self.refuse(id, _INITIALIZED_BEFORE)
        else:
            why = f"{method} is not in this session"
            self.refuse(id, Refusal(codes.METHOD_NOT_FOUND, why, {"method": method}))

    def _set_level(self, id: Id, level: str | None) -> None:
        if level not in SEVERITY:
            self.refuse(id, _NO_LEVEL)
            return
        self.level = SEVERITY[level]
        self._answer(id, result_line(id, b"{}"))

    def _subscribe(self, id: Id, uri: str | None) -> None:
        if uri is None:
            self.refuse(id, _NO_URI)
        elif uri in self.uris:
            self._answer(id, result_line(id, b"{}"))
        elif len(self.uris) + len(self._subscribing) >= self._most_uris:
            self.refuse(
                id,
                Refusal(
                    codes.INTERNAL_ERROR,
                    f"Too many resources are subscribed to; the limit is {self._most_uris}",
                    bridge_error("too_many_uris", limit=self._most_uris),
                ),
            )
        else:
            waiting = self._subscribing.setdefault(uri, [])
            waiting.append(id)
            if len(waiting) == 1:
                self.events.append(WatchOpened(uri))

    def _unsubscribe(self, id: Id, uri: str | None) -> None:
        if uri is None:
            self.refuse(id, _NO_URI)
            return
        waiting = self._subscribing.pop(uri, [])
        if uri in self.uris or waiting:
            self.uris.pop(uri, None)
            self.events.append(WatchClosed(uri))
        for other in waiting:
            # It came about, and is over.
            self._settled.append(other)
            self._answer(other, result_line(other, b"{}"))
        self._answer(id, result_line(id, b"{}"))

    def cancel(self, id: Id) -> bool:
        """Whether a cancelled request waits here; it is then forgotten."""
        self.batches.forget(id)
        for uri, waiting in self._subscribing.items():
            if id in waiting:
                waiting.remove(id)
                if not waiting:
                    del self._subscribing[uri]
                    self.events.append(WatchClosed(uri))
                return True
        return False

    def answered(self, message: Message) -> bool:
        """Takes a response of the host. Whether it answers one of our questions."""
        event = self.questions.answered(message)
        if event is not None:
            self.events.append(event)
        return event is not None

    # From the child ------------------------------------------------------------------------------

    def complete(self, call: Call, result: Raw) -> None:
        """The child answered `call` with a complete result."""
        tool = string_of(call.params.get("name")) if self._fitter.asks_for_tools else None
        pieces = self._fitter.fit(call.method, result, tool)
        if call.asked:
            self.questions.call_over(call)
        if pieces is None:
            self.refuse(call.id, _INVALID_RESULT)
            return
        if call.progress is not None:
            self._break(call)
        id = call.id
        head = b'{"jsonrpc":"2.0","id":%b,"result":' % (
            b"%d" % id if type(id) is int else encode_id(id)
        )
        if self.batches:
            self._answer(call.id, b"".join((head, *pieces, b"}\n")))
        else:
            self._to_host += (head, *pieces, b"}\n")

    def fail(self, call: Call, error: Raw) -> None:
        """The child answered `call` with an error."""
        if call.asked:
            self.questions.forget(call)
        self._break(call)
        fitted = bytes(error_for_host(call.method, call.params.get("uri"), error))
        line = b'{"jsonrpc":"2.0","id":%b,"error":%b}\n' % (encode_id(call.id), fitted)
        self._answer(call.id, line)

    def _break(self, call: Call) -> None:
        if call.progress is not None:
            # A real SDK loses progress that arrives in one read with its response.
            self._breaks.append(len(self._to_host))

    def progress(self, call: Call, progress: float, params: Raw) -> None:
        """The child is further with `call`. Under the host's token, and only if it is further: the
        value must increase, over all legs (basic/utilities/progress)."""
        if call.progress_token is None or (call.progress is not None and progress <= call.progress):
            return
        call.progress = progress
        text: bytes | Raw = params
        if self.version < _PROGRESS_MESSAGE_SINCE:
            members = open_object(params)
            if members.pop("message", None) is not None:
                text = encode(members)
        token = encode_id(call.progress_token)
        self._to_host += (
            PROGRESS_HEAD,
            with_token(Raw(text), b"%d" % call.child_id, token),
            b"}\n",
        )

    def log(self, params: Raw) -> None:
        """Passes a log message on."""
        self._to_host += (LOG_HEAD, bytes(params), b"}\n")

    def notify(self, method: str, params: Raw) -> None:
        """Passes on a notification that this bridge does not know."""
        self._to_host.append(notification_line(method, bytes(params)))

    def changed(self, change: Changed) -> None:
        """Something has changed: a list, or a resource that the host is subscribed to."""
        self._to_host.append(notification_line(change.method, bytes(change.params)))

    def watched(self, uri: str, accepted: bool, error: Raw | None) -> list[Id]:
        """The child will tell of changes of `uri`, or will not. Returned are the requests that are
        answered by it."""
        waiting = self._subscribing.pop(uri, [])
        if accepted and waiting:
            self.uris[uri] = None
        for id in waiting:
            if accepted:
                self._answer(id, result_line(id, b"{}"))
            elif error is not None:
                self._answer(
                    id,
                    b'{"jsonrpc":"2.0","id":%b,"error":%b}\n' % (encode_id(id), bytes(error)),
                )
            else:
                why = "The server does not tell of changes of this resource"
                self.refuse(id, Refusal(codes.INVALID_PARAMS, why, {"uri": uri}))
        return waiting

    def fail_subscriptions(self, refusal: Refusal) -> list[Id]:
        """There is no child that could answer the subscriptions that wait: these requests."""
        failed = [id for ids in self._subscribing.values() for id in ids]
        self._subscribing.clear()
        for id in failed:
            self.refuse(id, refusal)
        return failed

    def holds(self, uri: str) -> bool:
        """Whether the host is subscribed to a resource, or to one that it is a part of."""
        return uri in self.uris or any(
            uri.startswith(f"{held.removesuffix('/')}/") for held in self.uris
        )

    @property
    def subscribing(self) -> list[str]:
        """The resources whose subscription is not answered yet."""
        return list(self._subscribing)

    def take_settled(self) -> list[Id]:
        """Takes out which requests have been answered by what another one asked for."""
        settled, self._settled = self._settled, []
        return settled

    def is_subscribing(self, id: Id) -> bool:
        """Whether a request waits for a subscription."""
        return any(id in waiting for waiting in self._subscribing.values())

    def ask(self, question: Question) -> None:
        """The child asks something in the name of a call."""
        self.questions.ask(question)

    def withdraw(self, question: Question) -> None:
        """The child, or the call that it asked for, is not interested any more."""
        self.questions.withdraw(question)

    def refuse(self, id: Id, refusal: Refusal) -> None:
        """Answers a request with an error of ours."""
        self._answer(id, error_line(id, refusal.code, refusal.message, refusal.data))

    def refuse_line(self, line: bytes) -> None:
        """Answers what is no request at all."""
        if not (self.batches and self.batches.take(None, line)):
            self._to_host.append(line)

    def _answer(self, id: Id, line: bytes) -> None:
        if not (self.batches and self.batches.take(id, line)):
            self._to_host.append(line)


def _taken_apart(meta: Raw) -> tuple[Id | None, Raw | None]:
    """The progress token in a request's `_meta`, and what passes of the rest."""
    members = members_of(meta)
    if members is None:
        return None, None
    token = members.pop(PROGRESS_TOKEN_KEY, None)
    for key in _RESERVED:
        members.pop(key, None)
    rest = Raw(encode(members)) if members else None
    if token is None:
        return None, rest
    try:
        return _read_token(token), rest
    except UNREADABLE:
        return None, rest
