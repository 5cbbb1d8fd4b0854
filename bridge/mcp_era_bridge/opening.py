"""Everything before the verdict: who the host is, and what waits until the child is known.

Lives here: the first decisive message of the host, the requests that wait, what either side says
meanwhile. Does not: how the child is asked (inquiry.py), what follows from the verdict (joint.py).
Spec 2026-07-28, basic/versioning; basic/transports/stdio.
"""

from typing import Final

import msgspec
from msgspec import UNSET, Raw

from mcp_era_bridge import refusals
from mcp_era_bridge.child_era import GaveUp, Settled
from mcp_era_bridge.child_life import ChildLife, Presence
from mcp_era_bridge.child_lines import read_child_line
from mcp_era_bridge.effects import Ending, Outbox, Remembered
from mcp_era_bridge.host_era import era_of_opening, has_envelope
from mcp_era_bridge.host_lines import read_cancelled, read_host_line
from mcp_era_bridge.inquiry import Asker, Conclusion, Inquiry
from mcp_era_bridge.open_requests import Open
from mcp_era_bridge.own_requests import OwnRequests
from mcp_era_bridge.settings import Settings
from mcp_era_bridge.waiting import Waiting, WaitingRoom
from mcp_era_legacy.handshake import read_initialize_request
from mcp_era_modern.face import ModernFace
from mcp_era_modern.kept_streams import KeptStreams
from mcp_era_modern.peer import no_common_version
from mcp_era_modern.request_meta import RequestMeta
from mcp_era_wire import codes, methods
from mcp_era_wire.dirty import Batch, Blank, Broken, Noise, message_part
from mcp_era_wire.envelope import UNREADABLE, Id, Message, number_of, result_line
from mcp_era_wire.events import Severity
from mcp_era_wire.refusal import Refusal
from mcp_era_wire.versions import NEWEST_MODERN, Era

_MOST_HELD: Final = 64
"""How many lines of a child are kept for a modern host, in case it is modern too."""

_NO_ERA: Final = Refusal(
    codes.INVALID_PARAMS,
    f"Send the _meta of {NEWEST_MODERN} with every request, or initialize first",
)
_NO_DISCOVER: Final = Refusal(
    codes.METHOD_NOT_FOUND, "server/discover is over: the host has sent initialize"
)


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
    declared: Raw
    """The capabilities that a legacy child was told of, in the modern spelling."""
    client_info: Raw | None
    """The identity in whose name it was asked."""
    questions: list[Id]
    """The ids of what the child has asked a legacy host meanwhile."""
    initialize: Waiting | None
    """The `initialize` of a legacy host, which the child has answered if it is legacy too."""


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
        open: Open,
        settings: Settings,
        bridge_info: Raw,
        remembered: Remembered | None,
        kept: KeptStreams,
    ) -> None:
        self._out = out
        self._kept = kept
        self._life = life
        self._face = face
        self._open = open
        self._settings = settings
        self._inquiry = Inquiry(out, life, own, settings, bridge_info, remembered)
        self._waiting = WaitingRoom()
        self._host: Era | None = None
        self._carried: Id | None = None
        """The host's own `server/discover` in whose name the child is asked."""
        self._initialize: Waiting | None = None
        """The legacy host's `initialize`."""
        self._questions: list[Id] = []
        """What the child has asked a legacy host meanwhile."""
        self._refusal_line: bytes | None = None
        """The child's own refusal of it, as it came."""
        self._ending: Ending | None = None
        """How the last process ended in the course of the search."""
        self._last_refusal: Refusal | None = None
        """Why there is no child, while there is none."""
        self.verdict: Verdict | None = None

    @property
    def work(self) -> int:
        """How many requests of the host wait."""
        return len(self._waiting)

    @property
    def deadline(self) -> float | None:
        """When `passed` wants to be called."""
        starting = self._life.presence is Presence.STARTING
        return None if starting else self._inquiry.deadline

    # From the host -------------------------------------------------------------------------------

    def from_host(self, line: bytes, ascii: bool, now: float) -> Message | None:
        """Handles a line of the host. Returned is a cancellation of something that does not wait
        here."""
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
            return self._notification(Waiting(line, message, None))
        else:
            self._request(message.id, Waiting(line, message, message.id), now)
        return None

    def _notification(self, waiting: Waiting) -> Message | None:
        if waiting.message.method != methods.CANCELLED:
            self._waiting.add_notification(waiting)
            return None
        try:
            id = read_cancelled(waiting.message.params).request_id
        except UNREADABLE:
            return None  # malformed: ignored (basic/patterns/cancellation, Error Handling)
        if self._waiting.remove(id) is None:
            return waiting.message
        if self._carried == id:
            self._carried = None
        return None

    def _request(self, id: Id, waiting: Waiting, now: float) -> None:
        message = waiting.message
        if self._host is None:
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
            self._face.request(id, message, now)
        else:
            self._host = era
            self._wait(id, waiting, now)

    def initialize_after_all(self, waiting: Waiting, now: float) -> None:
        """A host that was taken for modern opens with a handshake (translation G.2).

        The handshake may follow a probe, but not another handshake: then the child is started
        again.
        """
        assert waiting.id is not None
        pending = self._waiting.requests
        if any(other.message.method != methods.DISCOVER for other in pending):
            # Both eras are to be served by one session, when it is there (design D15).
            self._wait(waiting.id, waiting, now)
            return
        self._host = Era.LEGACY
        if self._inquiry.is_probing:
            self._carried = None
            self._waiting.add_request(waiting.id, waiting)
            self._initialize = waiting
            asker = _legacy_asker(waiting)
            self._conclude(self._inquiry.initialize_instead(asker, now))
            return
        for other in pending:
            if other.id is not None:
                self._face.refuse(other.id, _NO_DISCOVER)
        self._waiting.empty()
        self._inquiry.abandon()
        if self._life.spoken_to:
            self._restart(now)
        self._wait(waiting.id, waiting, now)

    def initialize_beside(self, waiting: Waiting, now: float) -> None:
        """The host of a modern pair opens with a handshake too, and the child has not been asked
        what it is: it is now."""
        assert waiting.id is not None
        self._waiting.add_request(waiting.id, waiting)
        self._host = Era.LEGACY
        self._begin(waiting.id, waiting, now, pinned=Era.MODERN)

    def _wait(self, id: Id, waiting: Waiting, now: float) -> None:
        """Lets a request wait for the verdict, and sees to it that one is sought."""
        if id in self._waiting or id in self._open:
            self._face.refuse(id, refusals.DUPLICATE_ID)
            return
        absent = self._life.presence is Presence.ABSENT
        if absent and self._last_refusal is not None and self._life.is_hopeless(now):
            self._face.refuse(id, self._last_refusal)
            return
        if len(self._waiting) + len(self._open) >= self._settings.most_open:
            self._face.refuse(id, refusals.too_many_requests(self._settings.most_open))
            return
        self._waiting.add_request(id, waiting)
        if absent:
            self._restart(now)
        if self._inquiry.open:
            self._conclude(self._inquiry.wanted_again(now))
        else:
            self._begin(id, waiting, now)

    def succeeded(self, declared: Raw) -> None:
        """Another session was opened meanwhile, with more capabilities."""
        self._inquiry.declared = declared

    def given_up(self, names: frozenset[str]) -> None:
        """The server does not start with these capabilities."""
        self._inquiry.given_up = names

    def reopen(self, now: float) -> None:
        """Starts the server again though no request waits for it, as it was last asked."""
        self._restart(now)
        self._carried = None
        self._conclude(self._inquiry.begin(Asker(Era.MODERN, self._inquiry.meta), now))

    def _restart(self, now: float) -> None:
        self._inquiry.restart(now)

    def _begin(self, id: Id, first: Waiting, now: float, *, pinned: Era | None = None) -> None:
        """Starts the search for the child's era, in the name of the host's first request. `pinned`
        is the era that it is known to speak."""
        self._carried = self._initialize = self._refusal_line = None
        self._questions = []
        params = first.message.params
        if self._host is Era.LEGACY:
            self._initialize = first
            asker = _legacy_asker(first)
        else:
            meta = self._face.read_meta(first.message)
            # One with a bad envelope is the host's fault, and nothing to judge the child by.
            own = first.message.method == methods.DISCOVER and meta.is_good
            self._carried = id if own else None
            asker = Asker(Era.MODERN, meta, discover=params if own else None)
        self._conclude(self._inquiry.begin(asker, now, pinned=pinned))

    # The end of the search -----------------------------------------------------------------------

    def _conclude(self, conclusion: Conclusion | None) -> None:
        match conclusion:
            case Settled():
                self._settled(conclusion)
            case GaveUp():
                self._gave_up(conclusion)
            case None:
                pass

    def _settled(self, settled: Settled) -> None:
        assert self._host is not None
        answered = settled.discovered is not None and self._inquiry.asked_discover
        carried = self._carried if answered else None
        waiting = self._waiting.empty()
        held = self._inquiry.held_lines()
        if self._host is Era.LEGACY:
            waiting = [other for other in waiting if other is not self._initialize]
            if settled.era is Era.LEGACY:
                waiting = self._without_discovers(waiting)
        self.verdict = Verdict(
            self._host,
            settled,
            waiting,
            held,
            carried,
            self._inquiry.declared,
            self._inquiry.meta.client_info,
            self._questions,
            self._initialize,
        )

    def _without_discovers(self, waiting: list[Waiting]) -> list[Waiting]:
        """A host that has sent `initialize` behind `server/discover` is told that it is of no use
        here; the child has been asked it once."""
        others: list[Waiting] = []
        for each in waiting:
            if each.message.method == methods.DISCOVER and each.id is not None:
                self._face.refuse(each.id, _NO_DISCOVER)
            else:
                others.append(each)
        return others

    def _gave_up(self, outcome: GaveUp) -> None:
        reason = outcome.reason
        if reason == "initialize_timeout":
            self.fail(refusals.initialize_timeout(self._settings.initialize_timeout))
        elif reason == "no_common_version":
            refusal = no_common_version(list(outcome.supported))
            self._out.note(Severity.ERROR, refusal.message)
            self.fail(refusal)
        elif reason == "child_exited" and self._ending is not None:
            self._fail_initialize(refusals.child_exited(self._ending))
        else:
            self._fail_initialize(refusals.no_session(reason, outcome.error))
        # Whoever listens to the server that was there before is told that it is not coming back.
        for streams in (self._face.streams, self._kept):
            streams.end_all("The server could not be started again")

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
        self._last_refusal = refusal
        self._inquiry.abandon()
        self.fail(refusal)

    def fail(self, refusal: Refusal) -> None:
        """Everything that waits fails; a legacy host may open anew."""
        for waiting in self._waiting.requests:
            assert waiting.id is not None
            self._face.refuse(waiting.id, refusal)
        self._waiting.empty()
        self._carried = None
        self._initialize = None
        if self._host is Era.LEGACY:
            self._host = None

    # From the child -------------------------------------------------------------------------------

    def from_child(self, line: bytes, ascii: bool, now: float) -> list[bytes]:
        """Handles a line of the child before the verdict. Returned are the items of a batch: each
        is a line of its own, and the first may bring the verdict."""
        self._inquiry.heard()
        read = read_child_line(line, ascii)
        match read:
            case Message():
                self._out.noise_in_front(line)
                self._message(line, read, now)
            case Batch(items):
                return items
            case Broken(id):
                self._out.noise.append(line)
                if id is not UNSET:
                    self._conclude(self._inquiry.answered_unreadably(id, now))
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
            if message.id is not UNSET:
                self._questions.append(message.id)
            self._out.to_host += (message_part(line), b"\n")
        elif len(self._inquiry.held) < _MOST_HELD:
            self._inquiry.held.append(line)
        else:
            self._out.note(Severity.WARNING, "message of the child lost", method=message.method)

    def _response(self, line: bytes, message: Message, now: float) -> None:
        initialize = self._initialize
        if initialize is None or not self._answers(message, initialize.id):
            self.stray(message, now)
            return
        if message.is_failure:
            self._refusal_line = message_part(line)
        else:
            self._inquiry.held.append(message_part(line))
        self._conclude(self._inquiry.host_answered(message, now))

    def _answers(self, message: Message, asked: Id | None) -> bool:
        """Whether a response is meant for the host's `initialize`: as it is ("7" for 7 is
        forgiven), or because it is an error for nobody else, as nothing else is open."""
        id = message.id
        if id == asked or (isinstance(asked, int) and number_of(id) == asked):
            return True
        return id is UNSET and message.is_failure and not self._inquiry.asks

    def stray(self, message: Message, now: float) -> None:
        """A response that answers no request of the host: perhaps one of the bridge's own."""
        self._conclude(self._inquiry.answered(message, now))

    def has_read(self, has_read: bool) -> None:
        """Whether the process has read all that it was told."""
        self._inquiry.has_read(has_read)

    def child_started(self, now: float) -> None:
        """The process runs."""
        self._inquiry.started(now)

    def ended(self, ending: Ending, now: float) -> bool:
        """The process has ended; whether the search goes on with another one."""
        if not self._inquiry.open:
            return False
        self._ending = ending
        self._conclude(self._inquiry.ended(now))
        return self._inquiry.open

    def passed(self, now: float) -> None:
        """Time went by. What a process is asked that has not been started yet has time."""
        if self._life.presence is not Presence.STARTING:
            self._conclude(self._inquiry.passed(now))


def _legacy_asker(initialize: Waiting) -> Asker:
    """In whose name the child is asked by a host that has sent `initialize`."""
    client = read_initialize_request(initialize.message.params)
    meta = RequestMeta(
        version=NEWEST_MODERN, capabilities=client.capabilities, client_info=client.info
    )
    return Asker(Era.LEGACY, meta, initialize=initialize.line)
