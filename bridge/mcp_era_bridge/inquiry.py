"""Carries the search for the child's era out: its steps become lines, the child's lines its events.

Lives here: the requests of the bridge's own and their answers, what is remembered of the server.
Does not: the rules of the search (child_era.py), the requests that wait for it (opening.py).
Spec 2026-07-28, basic/versioning; basic/transports/stdio (Backward Compatibility).
"""

from typing import Final, TypeAlias

import msgspec
from msgspec import UNSET, Raw

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
from mcp_era_bridge.child_life import ChildLife
from mcp_era_bridge.effects import Keep, Outbox, Remembered
from mcp_era_bridge.own_requests import OwnRequests
from mcp_era_bridge.refusals import INVALID_LINE
from mcp_era_bridge.settings import Settings
from mcp_era_legacy.handshake import (
    client_capabilities,
    initialize_params,
    read_initialize_answer,
)
from mcp_era_modern.discover import probe_params, read_probe_answer
from mcp_era_modern.request_meta import NO_MEMBERS, RequestMeta
from mcp_era_wire import codes, methods
from mcp_era_wire.capabilities import reduced, united
from mcp_era_wire.envelope import ABSENT, Id, Message, encode, request_line
from mcp_era_wire.events import Server, Severity
from mcp_era_wire.versions import Era

_UNREADABLE_ANSWER: Final = Raw(
    encode({"code": codes.INTERNAL_ERROR, "message": INVALID_LINE.message})
)
_RELAYED_SERVER: Final = Server("", None, NO_MEMBERS)
"""Stands for a server that a host has shaken hands with itself."""

Conclusion: TypeAlias = Settled | GaveUp


class Asker(msgspec.Struct, frozen=True):
    """In whose name the child is asked: the host's first request.

    `meta` is its envelope, or one made of the `initialize` of a legacy host. `discover` are the
    params of the host's own `server/discover`, if that is what it was and it may go to the child.
    `initialize` is a legacy host's own, as it came.
    """

    host: Era
    meta: RequestMeta
    discover: Raw | None = None
    initialize: bytes | None = None


class Inquiry:
    """The search for one server's era, over as many processes as it takes."""

    def __init__(
        self,
        out: Outbox,
        life: ChildLife,
        own: OwnRequests,
        settings: Settings,
        bridge_info: Raw,
        remembered: Remembered | None,
    ) -> None:
        self._out = out
        self._life = life
        self._own = own
        self._settings = settings
        self._bridge_info = bridge_info
        self._remembered = remembered
        self._search: ChildEra | None = None
        self._asker = Asker(Era.MODERN, RequestMeta())
        self.held: list[bytes] = []
        """What the process has said meanwhile that is for the host."""
        self.declared = NO_MEMBERS
        """The capabilities, in the modern spelling, that the last session was opened with."""
        self.given_up: frozenset[str] = frozenset()
        """Capabilities, by name, that the server does not start with."""
        self.asked_discover = False
        """Whether the last probe was the host's own `server/discover`, word for word."""

    @property
    def deadline(self) -> float | None:
        """When `passed` wants to be called."""
        return self._search.deadline if self._search is not None else None

    @property
    def meta(self) -> RequestMeta:
        """The envelope in whose name the child was last asked."""
        return self._asker.meta

    @property
    def open(self) -> bool:
        """Whether the search is under way."""
        return self._search is not None and not self._search.over

    def begin(self, asker: Asker, now: float, *, pinned: Era | None = None) -> Conclusion | None:
        """Starts to search. `pinned` is the child's era, if it is known; else the user may have
        said it."""
        self._asker = asker
        self._search = ChildEra(
            asker.host,
            pinned=pinned or self._settings.era,
            memory=self._remembered.memory if self._remembered is not None else None,
            probe_timeout=self._settings.probe_timeout,
            initialize_timeout=self._settings.initialize_timeout,
        )
        return self._take(self._search.begin(now), now)

    @property
    def asks(self) -> bool:
        """Whether a request of the bridge's own is open at the child."""
        return bool(self._own.open)

    @property
    def is_probing(self) -> bool:
        """Whether the child has been sent nothing but a probe, which it has not answered."""
        return self._search is not None and self._search.state is State.PROBING

    def initialize_instead(self, asker: Asker, now: float) -> Conclusion | None:
        """The host opens with `initialize` while the probe is out."""
        assert self._search is not None
        self._asker = asker
        self.asked_discover = False
        return self._take(self._search.host_is_legacy(now), now)

    def wanted_again(self, now: float) -> Conclusion | None:
        """The host wants something while the search is under way."""
        search = self._search
        if search is None or search.state is not State.OVERDUE:
            return None
        return self._take(search.resume(now), now)

    def abandon(self) -> None:
        """The search is of no use any more, and neither is what was asked."""
        self._search = None
        self._own.forget()
        self.held.clear()

    def restart(self, now: float) -> None:
        """Wants the process ended, if there is one, and another one started."""
        self._own.forget()
        self.held.clear()
        self._life.restart(now)

    def held_lines(self) -> list[bytes]:
        """Takes out what has been held."""
        held, self.held = self.held, []
        return held

    def started(self, now: float) -> None:
        """The process runs: only now can it hear what it was asked."""
        if self._search is not None:
            self._search.started(now)

    def has_read(self, has_read: bool) -> None:
        """Whether the process has read all that it was told."""
        if self._search is not None:
            self._search.has_read = has_read

    def heard(self) -> None:
        """The process wrote something."""
        if self._search is not None:
            self._search.heard()

    def answered(self, message: Message, now: float) -> Conclusion | None:
        """A response of the child that answers no request of the host."""
        search = self._search
        method = self._own.take(message)
        if search is None or method is None:
            self._out.note(Severity.DEBUG, "answer to nothing dropped", id=repr(message.id))
            return None
        result = ABSENT if message.is_failure else message.result
        if method == methods.DISCOVER:
            answer = read_probe_answer(result, message.error)
            return self._take(search.probe_answered(answer, result, now), now)
        opening = read_initialize_answer(result, message.error)
        return self._take(search.initialize_answered(opening, now), now)

    def answered_unreadably(self, id: Id, now: float) -> Conclusion | None:
        """An answer that cannot be read counts as a refusal, so that nobody waits for another."""
        if not self._own.is_open(id):
            return None
        return self.answered(Message("2.0", id, UNSET, ABSENT, ABSENT, _UNREADABLE_ANSWER), now)

    def host_answered(self, message: Message, now: float) -> Conclusion | None:
        """The child answered the `initialize` of a legacy host.

        A result counts whatever it says: it is between the two, and of no version of ours.
        """
        search = self._search
        if search is None:
            return None
        if not message.is_failure:
            return self._take(search.initialize_answered(_RELAYED_SERVER, now), now)
        refusal = read_initialize_answer(ABSENT, message.error)
        return self._take(search.initialize_answered(refusal, now), now)

    def ended(self, now: float) -> Conclusion | None:
        """The process has ended."""
        self._own.forget()
        self.held.clear()
        return self._take(self._search.ended(now), now) if self._search is not None else None

    def passed(self, now: float) -> Conclusion | None:
        """Time went by."""
        return self._take(self._search.passed(now), now) if self._search is not None else None

    # What the search wants -----------------------------------------------------------------------

    def _take(self, steps: list[Step], now: float) -> Conclusion | None:
        conclusion: Conclusion | None = None
        for step in steps:
            match step:
                case SendProbe(required):
                    self._send_probe(required)
                case SendInitialize(version):
                    self._send_initialize(version)
                case RelayInitialize():
                    assert self._asker.initialize is not None
                    self._life.say(self._asker.initialize, b"\n")
                case Restart():
                    self.restart(now)
                case Forget():
                    self._forget()
                case Settled():
                    self._learn(step)
                    conclusion = step
                case GaveUp():
                    conclusion = step
        return conclusion

    def _send_probe(self, required: Raw | None) -> None:
        discover = self._asker.discover
        self.asked_discover = discover is not None and required is None
        if discover is None or required is not None:
            # With capabilities put in, the answer is no longer the one that is due to the host.
            self._send(methods.DISCOVER, probe_params(self._asker.meta, required))
        else:
            self._send(methods.DISCOVER, bytes(discover))

    def _send_initialize(self, version: str) -> None:
        meta = self._asker.meta
        # What has been declared once is known: it would be asked for again.
        wanted = united(self.declared, reduced(meta.capabilities, self.given_up))
        self.declared = Raw(encode(wanted))
        capabilities = client_capabilities(self.declared, roots=self._settings.roots is not None)
        info = meta.client_info or self._bridge_info
        self._send(methods.INITIALIZE, initialize_params(version, capabilities, info))

    def _send(self, method: str, params: bytes) -> None:
        self._life.say(request_line(self._own.add(method), method, params))

    # What is remembered --------------------------------------------------------------------------

    def _learn(self, settled: Settled) -> None:
        """A server that we have shaken hands with is remembered, or was, or is another one now."""
        if settled.server is None or self._asker.host is Era.LEGACY:
            return
        info = Raw(encode(settled.server.server_info))
        found: Memory | None = self._search.found if self._search is not None else None
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
