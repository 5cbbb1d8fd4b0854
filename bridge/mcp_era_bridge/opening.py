"""Everything before the verdict: who the host is, who the child is, and what waits meanwhile.

Lives here: the first decisive message of the host, the search for the child's era carried out, the
requests that wait for it. Does not: what follows from the verdict (joint.py), the rules of the
search (child_era.py). Spec 2026-07-28, basic/versioning; basic/transports/stdio.
"""

from typing import Final

import msgspec
from msgspec import UNSET, Raw

from mcp_era_bridge import refusals
from mcp_era_bridge.bridged import read_cancelled
from mcp_era_bridge.child_era import (
    ChildEra,
    Forget,
    GaveUp,
    Memory,
    RelayInitialize,
    Restart,
    SendInitialize,
    SendProbe,
    Settled,
    State,
    Step,
)
from mcp_era_bridge.child_life import ChildLife, Presence
from mcp_era_bridge.child_lines import read_child_line
from mcp_era_bridge.effects import Ending, Keep, Outbox, Remembered
from mcp_era_bridge.host_era import era_of_opening, has_envelope
from mcp_era_bridge.host_lines import read_host_line
from mcp_era_bridge.own_requests import OwnRequests
from mcp_era_bridge.waiting import Waiting, WaitingRoom
from mcp_era_legacy.handshake import (
    client_capabilities,
    initialize_params,
    read_initialize_answer,
    read_initialize_request,
)
from mcp_era_modern.discover import probe_params, read_probe_answer
from mcp_era_modern.face import ModernFace, Refusal
from mcp_era_modern.request_meta import NO_MEMBERS, RequestMeta
from mcp_era_wire import codes, methods
from mcp_era_wire.dirty import Batch, Blank, Broken, Noise, message_part
from mcp_era_wire.envelope import ABSENT, UNREADABLE, Id, Message, encode, request_line, result_line
from mcp_era_wire.events import Server, Severity
from mcp_era_wire.versions import NEWEST_MODERN, Era

BRIDGED_QUESTIONS: Final[frozenset[str]] = frozenset()
"""The question capabilities of a modern host that a legacy child may use through us."""

_MOST_HELD: Final = 64
"""How many lines of a child are kept for a modern host, in case it is modern too."""

_UNREADABLE_ANSWER: Final = Raw(
    encode({"code": codes.INTERNAL_ERROR, "message": refusals.INVALID_LINE.message})
)
_RELAYED_SERVER: Final = Server("", None, NO_MEMBERS)
"""Stands for a server that a host has shaken hands with itself."""

_NO_ERA: Final = Refusal(
    codes.INVALID_PARAMS,
    f"Send the _meta of {NEWEST_MODERN} with every request, or initialize first",
)
_NO_DISCOVER: Final = Refusal(
    codes.METHOD_NOT_FOUND, "server/discover is over: the host has sent initialize"
)


class Settings(msgspec.Struct, frozen=True):
    """What the user may set of the protocol's side. Times are in seconds."""

    era: Era | None = None
    """The child's era, if the user has said it."""
    probe_timeout: float = 5.0
    initialize_timeout: float = 60.0
    last_words_timeout: float = 20.0
    """How long requests may still take once the host has closed its end."""
    most_open: int = 10_000
    """How many requests of the host may be open at once."""


class Verdict(msgspec.Struct, frozen=True):
    """Who is who, and what has to be caught up on.

    `waiting` are lines of the host that have not reached the child, `held` lines of the child that
    have not reached the host, both in order. `carried` is the host's own `server/discover` that
    went to the child as the probe and was answered by `settled.discovered`.
    """

    host: Era
    settled: Settled
    waiting: list[Waiting]
    held: list[bytes]
    carried: Id | None


class Opening:
    """The time before a verdict, and again after the child has ended.

    `bridge_info` is the bridge's own Implementation as JSON, for hosts that do not say who they
    are. A verdict is left in `verdict` for the joint to take.
    """

    def __init__(
        self,
        out: Outbox,
        life: ChildLife,
        own: OwnRequests,
        face: ModernFace,
        settings: Settings,
        bridge_info: Raw,
        remembered: Remembered | None,
    ) -> None:
        self._out = out
        self._life = life
        self._own = own
        self._face = face
        self._settings = settings
        self._bridge_info = bridge_info
        self._remembered = remembered
        self._waiting = WaitingRoom()
        self._held: list[bytes] = []
        self._host: Era | None = None
        self._search: ChildEra | None = None
        self._meta = RequestMeta()
        """The envelope in which the child is asked: that of the host's first request."""
        self._carried: Id | None = None
        self._initialize: Waiting | None = None
        """The legacy host's `initialize`."""
        self._refusal_line: bytes | None = None
        """The child's own refusal of it, as it came."""
        self._ending: Ending | None = None
        """How the last process ended in the course of the search."""
        self._dead_end: Refusal | None = None
        self.verdict: Verdict | None = None

    @property
    def work(self) -> int:
        """How many requests of the host wait."""
        return len(self._waiting)

    @property
    def deadline(self) -> float | None:
        """When `passed` wants to be called."""
        return self._search.deadline if self._search is not None else None

    # From the host -------------------------------------------------------------------------------

    def from_host(self, line: bytes, ascii: bool, now: float) -> None:
        """Handles a line of the host."""
        message = read_host_line(line, ascii)
        if not isinstance(message, Message):
            if message is not None:
                self._out.to_host.append(message)
        elif message.method is UNSET:
            if self._host is Era.LEGACY and self._life.presence is not Presence.ABSENT:
                self._life.say(line, b"\n")
            else:
                self._out.note(Severity.DEBUG, "response of the host dropped")
        elif message.id is UNSET:
            self._notification(Waiting(line, message, None))
        else:
            self._request(message.id, Waiting(line, message, message.id), now)

    def _notification(self, waiting: Waiting) -> None:
        if waiting.message.method != methods.CANCELLED:
            self._waiting.add_notification(waiting)
            return
        try:
            id = read_cancelled(waiting.message.params).request_id
        except UNREADABLE:
            return  # malformed: ignored (basic/patterns/cancellation, Error Handling)
        if self._waiting.remove(id) is not None and self._carried == id:
            self._carried = None

    def _request(self, id: Id, waiting: Waiting, now: float) -> None:
        message = waiting.message
        if self._dead_end is not None:
            self._face.refuse(id, self._dead_end)
        elif self._host is None:
            self._first_request(id, waiting, now)
        elif (
            self._host is Era.MODERN
            and message.method == methods.INITIALIZE
            and not has_envelope(message)
        ):
            self.initialize_after_all(waiting, now)
        else:
            self._wait(id, waiting, now)

    def _first_request(self, id: Id, waiting: Waiting, now: float) -> None:
        """A request while the host's era is not known (translation G.1)."""
        message = waiting.message
        era = era_of_opening(message)
        if era is None:
            if message.method == methods.PING:
                self._out.to_host.append(result_line(id, b"{}"))
            else:
                self._face.refuse(id, _NO_ERA)
        elif era is Era.MODERN and not has_envelope(message):
            # `server/discover` without its envelope: refused by either era of child, by us for now.
            self._face.request(id, message)
        else:
            self._host = era
            self._wait(id, waiting, now)

    def initialize_after_all(self, waiting: Waiting, now: float) -> None:
        """A host that was taken for modern opens with a handshake (translation G.2).

        Nobody can take the first hello back: a child that was spoken to is started again.
        """
        assert waiting.id is not None
        pending = self._waiting.requests
        if any(other.message.method != methods.DISCOVER for other in pending):
            self._face.refuse(waiting.id, refusals.ALREADY_MODERN)
            return
        for other in pending:
            if other.id is not None:
                self._face.refuse(other.id, _NO_DISCOVER)
        self._waiting.empty()
        self._host = Era.LEGACY
        self._search = None
        if self._life.spoken_to:
            self._restart()
        self._wait(waiting.id, waiting, now)

    def _wait(self, id: Id, waiting: Waiting, now: float) -> None:
        """Lets a request wait for the verdict, and sees to it that one is sought."""
        if id in self._waiting:
            self._face.refuse(id, refusals.DUPLICATE_ID)
            return
        if len(self._waiting) >= self._settings.most_open:
            self._face.refuse(id, refusals.too_many_requests(self._settings.most_open))
            return
        self._waiting.add_request(id, waiting)
        if self._life.presence is Presence.ABSENT:
            self._restart()
        if self._search is None or self._search.over:
            self._begin(id, waiting, now)
        elif self._search.state is State.OVERDUE:
            self._take(self._search.resume(now), now)

    def _restart(self) -> None:
        self._own.forget()
        self._held.clear()
        self._life.restart()

    # The search ----------------------------------------------------------------------------------

    def _begin(self, id: Id, first: Waiting, now: float) -> None:
        """Starts the search for the child's era, in the name of the host's first request."""
        assert self._host is not None
        self._search = ChildEra(
            self._host,
            pinned=self._settings.era,
            memory=self._remembered.memory if self._remembered is not None else None,
            probe_timeout=self._settings.probe_timeout,
            initialize_timeout=self._settings.initialize_timeout,
        )
        self._carried = None
        self._refusal_line = None
        if self._host is Era.LEGACY:
            self._initialize = first
            client = read_initialize_request(first.message.params)
            self._meta = RequestMeta(
                version=NEWEST_MODERN, capabilities=client.capabilities, client_info=client.info
            )
        else:
            self._meta = self._face.read_meta(first.message)
            if first.message.method == methods.DISCOVER and self._meta.is_good:
                self._carried = id
        self._take(self._search.begin(now), now)

    def _take(self, steps: list[Step], now: float) -> None:
        for step in steps:
            match step:
                case SendProbe(required):
                    self._send_probe(required)
                case SendInitialize(version):
                    params = initialize_params(
                        version,
                        client_capabilities(self._meta.capabilities, BRIDGED_QUESTIONS),
                        self._meta.client_info or self._bridge_info,
                    )
                    self._send(methods.INITIALIZE, params)
                case RelayInitialize():
                    assert self._initialize is not None
                    self._life.say(self._initialize.line, b"\n")
                case Restart():
                    self._restart()
                case Forget():
                    self._forget()
                case Settled():
                    self._settled(step)
                case GaveUp(reason, error):
                    self._gave_up(reason, error)

    def _send(self, method: str, params: bytes) -> None:
        self._life.say(request_line(self._own.add(method), method, params))

    def _send_probe(self, required: Raw | None) -> None:
        if self._carried is not None and required is None:
            carried = next(w for w in self._waiting.requests if w.id == self._carried)
            self._send(methods.DISCOVER, bytes(carried.message.params))
            return
        # With capabilities put in, the answer is no longer the one that is due to the host.
        self._carried = None
        self._send(methods.DISCOVER, probe_params(self._meta, required))

    def _settled(self, settled: Settled) -> None:
        assert self._host is not None and self._search is not None
        if settled.server is not None and self._host is Era.MODERN:
            self._remember(Raw(encode(settled.server.server_info)), self._search.found)
        if self._host is Era.LEGACY and settled.era is Era.MODERN:
            self._out.note(Severity.ERROR, refusals.NOT_BRIDGED.message)
            self._dead_end = refusals.NOT_BRIDGED
            self.fail(self._dead_end)
            return
        carried = self._carried if settled.discovered is not None else None
        waiting, self._held, held = self._waiting.empty(), [], self._held
        if self._host is Era.LEGACY:
            waiting = [other for other in waiting if other is not self._initialize]
        self.verdict = Verdict(self._host, settled, waiting, held, carried)

    def _gave_up(self, reason: str, error: Raw | None) -> None:
        if reason == "initialize_timeout":
            self.fail(refusals.initialize_timeout(self._settings.initialize_timeout))
        elif reason == "child_exited" and self._ending is not None:
            self._fail_initialize(refusals.child_exited(self._ending))
        else:
            self._fail_initialize(refusals.no_session(reason, error))

    def _fail_initialize(self, refusal: Refusal) -> None:
        """The child has no session for us. A legacy host gets to see the child's own words."""
        if self._host is Era.LEGACY and self._refusal_line is not None:
            initialize, self._initialize = self._initialize, None
            if initialize is not None and initialize.id is not None:
                if self._waiting.remove(initialize.id) is not None:
                    self._out.to_host += (self._refusal_line, b"\n")
        self.fail(refusal)

    def lost(self, refusal: Refusal) -> None:
        """There is no child: everything that waits fails, and the search begins anew some time."""
        self._search = None
        self._own.forget()
        self._held.clear()
        self.fail(refusal)

    def fail(self, refusal: Refusal) -> None:
        """Everything that waits fails; a legacy host may open anew."""
        for waiting in self._waiting.requests:
            assert waiting.id is not None
            self._face.refuse(waiting.id, refusal)
        self._waiting.empty()
        self._carried = None
        self._initialize = None
        if self._host is Era.LEGACY and self._dead_end is None:
            self._host = None

    # What is remembered --------------------------------------------------------------------------

    def _remember(self, info: Raw, found: Memory | None) -> None:
        known = self._remembered
        if found is not None:
            self._remembered = Remembered(found, info)
            self._out.actions.append(Keep(self._remembered))
        elif known is not None and bytes(known.server_info) != bytes(info):
            self._forget()

    def _forget(self) -> None:
        if self._remembered is not None:
            self._remembered = None
            self._out.actions.append(Keep(None))

    # From the child -------------------------------------------------------------------------------

    def from_child(self, line: bytes, ascii: bool, now: float) -> list[bytes]:
        """Handles a line of the child before the verdict. Returned are the items of a batch: each
        is a line of its own, and the first may bring the verdict."""
        if self._search is not None:
            self._search.heard()
        read = read_child_line(line, ascii)
        match read:
            case Message():
                self._message(line, read, now)
            case Batch(items):
                return items
            case Broken(id):
                self._out.noise.append(line)
                if id is not UNSET:
                    self._broken_response(Message("2.0", id, error=_UNREADABLE_ANSWER), now)
            case Noise():
                self._out.noise.append(line)
            case Blank():
                pass
        return []

    def _message(self, line: bytes, message: Message, now: float) -> None:
        if message.method is UNSET:
            self._response(line, message, now)
        elif message.method == methods.PING and message.id is not UNSET:
            self._life.say(result_line(message.id, b"{}"))
        elif self._host is Era.LEGACY:
            # For a host of its own era, whatever comes of the search.
            self._out.to_host += (message_part(line), b"\n")
        elif len(self._held) < _MOST_HELD:
            self._held.append(line)
        else:
            self._out.note(Severity.WARNING, "message of the child lost", method=message.method)

    def _response(self, line: bytes, message: Message, now: float) -> None:
        """An answer while the era is sought."""
        search = self._search
        initialize = self._initialize
        if search is None or initialize is None or message.id != initialize.id:
            self.stray(message, now)
        elif message.is_failure:
            self._refusal_line = message_part(line)
            answer = read_initialize_answer(message.result, message.error)
            self._take(search.initialize_answered(answer, now), now)
        else:
            # Whatever it says: it is between the two now, and of no version of ours.
            self._held.append(message_part(line))
            self._take(search.initialize_answered(_RELAYED_SERVER, now), now)

    def _broken_response(self, message: Message, now: float) -> None:
        """An answer that cannot be read counts as a refusal, so that nobody waits for another."""
        if self._own.is_open(message.id):
            self.stray(message, now)

    def stray(self, message: Message, now: float) -> None:
        """A response that answers no request of the host: perhaps one of the bridge's own."""
        search = self._search
        method = self._own.take(message)
        result = ABSENT if message.is_failure else message.result
        if search is None or method is None:
            self._out.note(Severity.DEBUG, "answer to nothing dropped", id=repr(message.id))
        elif method == methods.DISCOVER:
            answer_to_probe = read_probe_answer(result, message.error)
            self._take(search.probe_answered(answer_to_probe, result, now), now)
        else:
            answer = read_initialize_answer(result, message.error)
            self._take(search.initialize_answered(answer, now), now)

    def ended(self, ending: Ending, now: float) -> bool:
        """The process has ended; whether the search goes on with another one."""
        search = self._search
        self._own.forget()
        if search is None or search.over:
            return False
        self._ending = ending
        self._take(search.ended(now), now)
        return not search.over

    def passed(self, now: float) -> None:
        """Time went by."""
        if self._search is not None:
            self._take(self._search.passed(now), now)
