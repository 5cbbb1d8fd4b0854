"""The other face of a host that speaks both eras, in front of a legacy child.

Lives here: what a host that has used the modern era says in the handshake era, and which of the
child's doings are due to it. Both faces share the child's session. Does not: that session
(session.py, bridged.py), either era's wire format. Spec 2026-07-28, basic/versioning (Backward
Compatibility); 2025-11-25, basic/lifecycle.
"""

from collections.abc import Callable, Sequence

from msgspec import Raw

from mcp_era_bridge.effects import Outbox
from mcp_era_bridge.open_requests import Open
from mcp_era_bridge.settings import Settings
from mcp_era_bridge.waiting import Waiting
from mcp_era_legacy.face import LegacyFace
from mcp_era_legacy.peer import LegacyPeer
from mcp_era_modern.discover import discover_result
from mcp_era_modern.input_requests import refusal_code
from mcp_era_wire import methods
from mcp_era_wire.capabilities import covers, required_for
from mcp_era_wire.envelope import Id, Message
from mcp_era_wire.events import (
    NO_LEVEL,
    Call,
    Changed,
    Question,
    QuestionAnswered,
    QuestionFailed,
    Server,
    WatchClosed,
    WatchOpened,
)
from mcp_era_wire.refusal import Refusal


class SecondFace:
    """A host that has sent `initialize` after modern requests.

    Its open requests are in `open`, together with the others; `begin` sends a call to the child,
    `peers` are the child's sessions, that which takes requests first. `name` makes the ids of
    questions unlike any other's.
    """

    def __init__(
        self,
        out: Outbox,
        open: Open,
        settings: Settings,
        begin: Callable[[Call, float], None],
        peers: Callable[[], Sequence[LegacyPeer]],
        initialize: Waiting,
        name: str,
    ) -> None:
        self._open = open
        self._begin = begin
        self._peers = peers
        self._initialize = initialize
        self._server_name = settings.server_name
        self._face = LegacyFace(
            out.to_host, out.host_breaks, initialize.message.params, name, settings.most_uris
        )

    def welcome(self, server: Server) -> None:
        """Answers `initialize` with what the child has said of itself."""
        assert self._initialize.id is not None
        discovered = Raw(discover_result(server))
        self._face.welcome(self._initialize.id, discovered, self._server_name)

    def adopt(self, peer: LegacyPeer, now: float) -> None:
        """Another session has begun: the child is told what the host has said for all of them."""
        if self._face.level != NO_LEVEL:
            peer.standing_level(NO_LEVEL, self._face.level, now)
        for uri in dict.fromkeys([*self._face.uris, *self._face.subscribing]):
            peer.watch(uri, now)

    # From the host -------------------------------------------------------------------------------

    def initialize_again(self, initialize: Waiting) -> None:
        """The host has sent another one."""
        assert initialize.id is not None
        self._face.request(initialize.id, initialize.message)

    def request(self, id: Id, message: Message, now: float) -> None:
        """Takes a request, whose id has been seen to be free."""
        face = self._face
        level = face.level
        call = face.request(id, message)
        if call is not None:
            # What it wants logged is what the session is set to.
            call.log_level = NO_LEVEL
            call.legacy = True
            self._open[id] = call
            self._begin(call, now)
            return
        if face.is_subscribing(id):
            self._open[id] = None
        for other in face.take_settled():
            del self._open[other]
        if face.level != level:
            for peer in self._peers():
                peer.standing_level(level, face.level, now)

    def response(self, message: Message) -> bool:
        """Takes a response. Whether it answers a question of the child."""
        return self._face.answered(message)

    def cancel(self, id: Id) -> bool:
        """Whether a cancelled request has waited for a subscription; it is then forgotten."""
        if not self._face.is_subscribing(id):
            return False
        return self._face.cancel(id)

    def settle(self, now: float) -> bool:
        """Tells the child what the host has said. Whether it has said anything."""
        events = self._face.events
        if not events:
            return False
        peers = self._peers()
        match events.pop(0):
            case QuestionAnswered(question, answer):
                for peer in peers:
                    peer.answer(question, answer, now)
            case QuestionFailed(question, error):
                for peer in peers:
                    peer.fail(question, error, now)
            case WatchOpened(uri) if peers:
                peers[0].watch(uri, now)
            case WatchClosed(uri) if peers:
                peers[0].unwatch(uri, now)
            case _:
                pass  # there is no child that it could be told
        return True

    # From the child ------------------------------------------------------------------------------

    def complete(self, call: Call, result: Raw) -> None:
        """The child answered a call with a result."""
        self._face.complete(call, result)

    def fail(self, call: Call, error: Raw) -> None:
        """The child answered a call with an error."""
        self._face.fail(call, error)

    def progress(self, call: Call, progress: float, params: Raw) -> None:
        """The child is further with a call."""
        self._face.progress(call, progress, params)

    def ask(self, question: Question, now: float) -> None:
        """The child asks something in the name of a call."""
        call = question.call
        assert call is not None
        self._face.withdraw(question)
        required = required_for(question.method, question.params)
        if covers(call.capabilities, required):
            self._face.ask(question)
            return
        code, message = refusal_code(question, required, call.capabilities)
        for peer in self._peers():
            peer.refuse(question, code, message, now)

    def withdraw_stale(self) -> None:
        """What nobody waits for any more, or another call has come to carry, the host need not
        answer here."""
        peers = self._peers()
        self._face.questions.withdraw_unless(
            lambda question: (
                question.call is not None
                and question.call.legacy
                and any(peer.waits_for(question) for peer in peers)
            )
        )

    def withdraw(self, question: Question) -> None:
        """The child is not interested any more."""
        self._face.withdraw(question)

    def changed(self, change: Changed) -> bool:
        """Something has changed. Whether the host, in this era, is told: it is not asked what it
        wants to hear of but for single resources."""
        due = change.uri is None or self._face.holds(change.uri)
        if due:
            self._face.changed(change)
        return due

    def watched(self, uri: str, accepted: bool) -> None:
        """The child will tell of changes of a resource, or will not."""
        for id in self._face.watched(uri, accepted, None):
            del self._open[id]

    def elicitation_completed(self, params: Raw) -> None:
        """The interaction behind a URL that the host was sent to is over."""
        self._face.notify(methods.ELICITATION_COMPLETE, params)

    def lost(self, refusal: Refusal) -> None:
        """There is no child that could answer what waits for a subscription."""
        for id in self._face.fail_subscriptions(refusal):
            del self._open[id]

    def refuse(self, id: Id, refusal: Refusal) -> None:
        """Answers a request with an error of ours."""
        self._face.refuse(id, refusal)
