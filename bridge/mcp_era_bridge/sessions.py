"""The sessions with the processes of one legacy server: that which takes requests, and older ones.

Lives here: which process is which, how a session is opened and how it ends. Does not: what a
session does (session.py), when another one is wanted (succession.py), what the host asks for
(bridged.py). Spec 2025-11-25, basic/lifecycle.
"""

from typing import Final

import msgspec
from msgspec import Raw

from mcp_era_bridge.effects import EndChild, Outbox
from mcp_era_bridge.open_requests import Open
from mcp_era_bridge.second_face import SecondFace
from mcp_era_bridge.session import Session
from mcp_era_bridge.settings import Settings
from mcp_era_legacy.attribution import Askers
from mcp_era_legacy.handshake import read_initialize_request
from mcp_era_legacy.peer import LegacyPeer
from mcp_era_legacy.questions import Asking
from mcp_era_legacy.stray_roots import KnownRoots
from mcp_era_modern.face import ModernFace
from mcp_era_wire.capabilities import united
from mcp_era_wire.envelope import Message, encode
from mcp_era_wire.events import Server
from mcp_era_wire.members import members_of, same_json, string_of

_ROOTS: Final = Raw(b'{"roots":{}}')


class Sessions:
    """All of them: `current` takes requests, the others (`draining`, by their processes) only end
    what they have begun."""

    def __init__(self, out: Outbox, face: ModernFace, open: Open, settings: Settings) -> None:
        self._out = out
        self._face = face
        self._open = open
        self._settings = settings
        self._asking = Asking(
            Askers(),
            KnownRoots(fixed=settings.roots),
            most_open=settings.most_questions,
            answer_timeout=settings.answer_timeout,
        )
        self.current: Session | None = None
        self.draining: dict[int, Session] = {}
        self.second: SecondFace | None = None
        """The host's face of the handshake era, if it speaks both."""
        self.server: Server | None = None
        """What the child has last said of itself."""

    def all(self) -> list[Session]:
        """The current one first."""
        current = [self.current] if self.current is not None else []
        return [*current, *self.draining.values()]

    def peers(self) -> list[LegacyPeer]:
        """The peers of all of them."""
        return [session.peer for session in self.all()]

    def open(self, number: int, server: Server, declared: Raw, now: float) -> None:
        """The process `number` has answered `initialize` with `server`: it is the current one now.

        `declared` are the capabilities, in the modern spelling, that it was told of.
        """
        self.server = server
        old = self.current
        if old is not None:
            old.draining = True
            self.draining[old.number] = old
        declared = self._with_roots(declared)
        declares_roots = "roots" in (members_of(declared) or {})
        self.current = Session(
            self._out,
            self._face,
            self._open,
            number,
            server,
            declared,
            msgspec.structs.replace(self._asking, declares_roots=declares_roots),
            strict_logs=self._settings.strict_logs,
        )
        self.current.peer.open()
        self._face.ready(server, number)
        if self.second is not None:
            self.current.second = self.second
            self.second.adopt(self.current.peer, now)

    def _with_roots(self, capabilities: Raw) -> Raw:
        """The user may have given roots, whatever the host declares."""
        if self._settings.roots is None:
            return capabilities
        return Raw(encode(united(capabilities, _ROOTS)))

    def share(self, second: SecondFace) -> None:
        """The host uses its other face, too, from now on."""
        self.second = second
        for session in self.all():
            session.second = second

    def of(self, number: int) -> Session | None:
        """The session with the process `number`."""
        current = self.current
        if current is not None and current.number == number:
            return current
        return self.draining.get(number)

    def take_out(self, number: int) -> Session | None:
        """The process `number` is gone, and with it its session."""
        session = self.draining.pop(number, None)
        if session is None and self.current is not None and self.current.number == number:
            session, self.current = self.current, None
            self._face.streams.child_gone()
        return session

    def end_drained(self) -> None:
        """Ends the processes that have nothing left to do."""
        for session in [each for each in self.draining.values() if each.is_idle]:
            del self.draining[session.number]
            self._face.exchanges.child_gone(session.number)
            self._out.actions.append(EndChild(session.number))

    def answered(self, initialize: Message) -> Raw | None:
        """The child's own InitializeResult, if a host that sends `initialize` may have it: then
        nothing has passed in this session, and it was opened with the same words."""
        session = self.current
        if session is None or self.draining or not session.is_untouched:
            return None
        wanted = string_of((members_of(initialize.params) or {}).get("protocolVersion"))
        declared = self._with_roots(read_initialize_request(initialize.params).capabilities)
        same = wanted == session.version and same_json(declared, session.declared)
        return session.server.result if same else None
