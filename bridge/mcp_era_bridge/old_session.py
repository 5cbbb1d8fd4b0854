"""The protocol half of the bundled old server: a handshake-era session over stdio.

Lives here: lines and journal, handshake, dispatch, log level, subscriptions, running calls and
their questions, as somebody would have written it in 2025 with the standard library alone. Does
not: what the server is about (old_server.py), nor anything of the bridge, which it does not know.
Spec 2025-11-25, basic/lifecycle, basic/utilities, server/utilities/logging.
"""

import itertools
import json
import os
import queue
import sys
import threading
from collections.abc import Callable, Iterator
from concurrent.futures import ThreadPoolExecutor
from typing import Protocol, TextIO, cast

JsonObject = dict[str, object]
RequestId = str | int
Method = Callable[[JsonObject], JsonObject]  # params to result
ToolRun = Callable[["Call"], JsonObject]

VERSIONS = ("2024-11-05", "2025-03-26", "2025-06-18", "2025-11-25")
LEVELS = ("debug", "info", "notice", "warning", "error", "critical", "alert", "emergency")
PARSE_ERROR, INVALID_REQUEST, METHOD_NOT_FOUND = -32700, -32600, -32601
INVALID_PARAMS, INTERNAL_ERROR, RESOURCE_NOT_FOUND = -32602, -32603, -32002


class RpcError(Exception):
    """Becomes a JSON-RPC error."""

    def __init__(self, code: int, message: str, **more: object) -> None:
        super().__init__(message)
        self.error: JsonObject = {"code": code, "message": message, **more}


class Declined(Exception):
    """The client answered a question with an error."""


class Stopped(Exception):
    """The call was cancelled, or the client has gone: nobody wants its answer."""


def as_object(value: object) -> JsonObject:
    # The keys of a JSON object are strings, so the cast only says what json.loads promises.
    return cast(JsonObject, value) if isinstance(value, dict) else {}


def as_list(value: object) -> list[object]:
    return cast(list[object], value) if isinstance(value, list) else []


def as_id(value: object) -> RequestId | None:
    return value if isinstance(value, str | int) and not isinstance(value, bool) else None


class Wire:
    """JSON-RPC lines on stdin and stdout. One lock: lines and journal entries never mix."""

    def __init__(self, journal: TextIO | None) -> None:
        self._journal = journal
        self._lock = threading.Lock()

    def messages(self) -> Iterator[JsonObject]:
        for line in sys.stdin.buffer:
            if not line.strip():
                continue
            try:
                decoded: object = json.loads(line)
            except (ValueError, RecursionError):
                self.send(error=RpcError(PARSE_ERROR, "Parse error").error)
                continue
            # Batches were part of 2025-03-26 only; taking them always does no harm.
            for message in as_list(decoded) or [decoded]:
                with self._lock:
                    self._note("in", message)
                yield as_object(message)

    def send(self, **members: object) -> None:
        message = {"jsonrpc": "2.0"} | {k: v for k, v in members.items() if v is not None}
        with self._lock:
            self._note("out", message)  # first: whoever has the line finds it in the journal
            try:
                sys.stdout.buffer.write(json.dumps(message).encode() + b"\n")
                sys.stdout.buffer.flush()
            except BrokenPipeError:  # nobody reads any more; end of input will follow
                os.dup2(os.open(os.devnull, os.O_WRONLY), sys.stdout.fileno())

    def _note(self, direction: str, message: object) -> None:
        if self._journal is not None:
            self._journal.write(json.dumps({"dir": direction, "message": message}) + "\n")
            self._journal.flush()


class Service(Protocol):
    """What a session is opened for."""

    identity: JsonObject  # the members of the initialize result that the protocol leaves open
    methods: dict[str, Method]  # what is answered at once

    def tool(self, params: JsonObject) -> ToolRun: ...


class Session:
    """Handshake, dispatch, log level, subscriptions, running calls."""

    def __init__(self, wire: Wire, pool: ThreadPoolExecutor, service: Service) -> None:
        self.send = wire.send
        self.client: JsonObject | None = None  # its capabilities, known after `initialize`
        # Each use of these two is one operation of a dict, so threads need no lock for them.
        self.asked: dict[RequestId | None, Call] = {}
        self._calls: dict[RequestId | None, Call] = {}
        self._question_numbers = itertools.count(1)
        self._pool = pool
        self._service = service
        self._level = LEVELS.index("warning")
        self._subscribed: set[object] = set()
        self._methods: dict[str, Method] = {
            **service.methods,
            "initialize": self._initialize,
            "ping": lambda params: {},
            "logging/setLevel": self._set_level,
            "resources/subscribe": self._subscribe,
            "resources/unsubscribe": self._unsubscribe,
        }

    def handle(self, message: JsonObject) -> None:
        method, request_id = message.get("method"), as_id(message.get("id"))
        params = as_object(message.get("params"))
        if isinstance(method, str) and request_id is not None:
            self._request(request_id, method, params)
        elif isinstance(method, str) and "id" not in message:
            if method == "notifications/cancelled":
                call = self._calls.pop(as_id(params.get("requestId")), None)
                if call is not None:
                    call.stop()
        elif "result" in message or "error" in message:
            asker = self.asked.pop(request_id, None)
            if asker is not None:
                asker.answers.put(message)
        else:
            self.send(error=RpcError(INVALID_REQUEST, "Invalid request").error)

    def close(self) -> None:
        for call in list(self._calls.values()):
            call.stop()

    def notify(self, method: str, **params: object) -> None:
        self.send(method=method, params=params or None)

    def log(self, level: str, data: object) -> None:
        if LEVELS.index(level) >= self._level:
            self.notify("notifications/message", level=level, logger="shop", data=data)

    def resource_changed(self, uri: str) -> None:
        if uri in self._subscribed:
            self.notify("notifications/resources/updated", uri=uri)

    def next_question_id(self) -> str:
        return f"q{next(self._question_numbers)}"

    def _request(self, request_id: RequestId, method: str, params: JsonObject) -> None:
        try:
            if self.client is None and method not in ("initialize", "ping"):
                raise RpcError(INVALID_PARAMS, "Invalid request parameters", data="")
            if method == "tools/call":
                tool = self._service.tool(params)
                call = self._calls[request_id] = Call(self, params)
                self._pool.submit(self._run, request_id, tool, call)
                return
            if method not in self._methods:
                raise RpcError(METHOD_NOT_FOUND, f"Method not found: {method}")
            self.send(id=request_id, result=self._methods[method](params))
        except RpcError as failure:
            self.send(id=request_id, error=failure.error)

    def _run(self, request_id: RequestId, tool: ToolRun, call: "Call") -> None:
        result = error = None
        try:
            result = tool(call)
        except Stopped:
            return
        except Exception as bug:  # a broken tool must not leave its caller waiting
            error = RpcError(INTERNAL_ERROR, f"Internal error: {bug}").error
        if self._calls.pop(request_id, None) is not None:  # else cancelled: no answer
            self.send(id=request_id, result=result, error=error)

    def _initialize(self, params: JsonObject) -> JsonObject:
        asked = params.get("protocolVersion")
        self.client = as_object(params.get("capabilities"))
        version = asked if asked in VERSIONS else VERSIONS[-1]
        return {"protocolVersion": version, **self._service.identity}

    def _set_level(self, params: JsonObject) -> JsonObject:
        level = params.get("level")
        if not isinstance(level, str) or level not in LEVELS:
            raise RpcError(INVALID_PARAMS, f"Invalid log level: {level}")
        self._level = LEVELS.index(level)
        return {}

    def _subscribe(self, params: JsonObject) -> JsonObject:
        self._methods["resources/read"](params)  # raises what reading it would raise
        self._subscribed.add(params["uri"])
        return {}

    def _unsubscribe(self, params: JsonObject) -> JsonObject:
        self._methods["resources/read"](params)
        self._subscribed.discard(params["uri"])
        return {}


class Call:
    """One running tools/call, as its tool sees it from a thread of its own."""

    def __init__(self, session: Session, params: JsonObject) -> None:
        self.session = session
        self.client = session.client or {}
        self.arguments = as_object(params.get("arguments"))
        self.answers: queue.SimpleQueue[JsonObject | None] = queue.SimpleQueue()
        self._token = as_id(as_object(params.get("_meta")).get("progressToken"))
        self._stopped = threading.Event()

    def stop(self) -> None:
        self._stopped.set()
        self.answers.put(None)

    def wait(self, seconds: float) -> None:
        if self._stopped.wait(seconds):
            raise Stopped

    def progress(self, done: int, total: int, message: str) -> None:
        self.wait(0)
        if self._token is not None:
            note: JsonObject = {"progress": done, "total": total, "message": message}
            self.session.notify("notifications/progress", progressToken=self._token, **note)

    def ask(self, method: str, params: JsonObject | None = None) -> JsonObject:
        question_id = self.session.next_question_id()
        self.session.asked[question_id] = self
        self.session.send(id=question_id, method=method, params=params)
        answer = self.answers.get()
        if answer is None:
            if self.session.asked.pop(question_id, None) is not None:
                self.session.notify("notifications/cancelled", requestId=question_id)
            raise Stopped
        if "error" in answer:
            raise Declined(as_object(answer["error"]).get("message"))
        return as_object(answer.get("result"))
