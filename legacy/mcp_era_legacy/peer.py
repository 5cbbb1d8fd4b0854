"""The peer towards a legacy child: one handshake session, as an old client would lead it.

Lives here: our ids, the requests in flight, what the child may be sent at the negotiated version.
Does not: the choice to speak to the child in this era (bridge, child_era.py), the host's ids.
Spec 2025-11-25, basic/lifecycle, basic/utilities/cancellation, basic/utilities/ping.
"""

from msgspec import UNSET, Raw, UnsetType

from mcp_era_legacy.call_lines import write_call
from mcp_era_legacy.errands import Errands
from mcp_era_legacy.hidden_tasks import TASK, HiddenTasks, hidden_tasks
from mcp_era_legacy.log_levels import LogLevels
from mcp_era_legacy.questions import Asking, Questions
from mcp_era_wire import codes, methods
from mcp_era_wire.deadlines import earliest
from mcp_era_wire.envelope import (
    ABSENT,
    Buffer,
    Id,
    Message,
    encode,
    error_line,
    notification_line,
    number_of,
    result_line,
)
from mcp_era_wire.events import (
    NO_LEVEL,
    Call,
    ChildEvent,
    Completed,
    Dropped,
    Failed,
    Logged,
    Progressed,
    Question,
    Refused,
    Server,
    Stray,
    Withdrawn,
)
from mcp_era_wire.members import members_of
from mcp_era_wire.notices import cancelled_id, notice, progress_in, severity_of


class LegacyPeer:
    """The session with one child process, from the answer to `initialize` on.

    Lines for the child are appended to `to_child`, in pieces. What happens other than in answer to
    a line of the child is left in `events`. Ids count up from 1 and none is used twice in the
    session (2025-11-25, basic, Requests). Times are in seconds.
    """

    def __init__(
        self,
        to_child: list[Buffer],
        server: Server,
        asking: Asking,
        *,
        strict_logs: bool = False,
    ) -> None:
        self._to_child = to_child
        self._version = server.version
        self._strict_logs = strict_logs
        self._last_id = 0
        self._calls: dict[int, Call] = {}
        self._waiting: dict[Call, None] = {}
        """Calls that have not been written to the child yet."""
        self.events: list[ChildEvent] = []
        self._questions = Questions(to_child, self.events, self._calls, server.version, asking)
        self._levels = LogLevels("logging" in (members_of(server.capabilities) or {}))
        self._errands = Errands(to_child, self._fresh_id, self.events, self._levels)
        self._tasks = hidden_tasks(server.capabilities, to_child, self._fresh_id)
        if self._tasks is not None:
            self._questions.tasks = self._tasks.calls
        self._at_ease = self._questions.is_idle and self._tasks is None
        """Whether a call that wants no log messages starts at once, and nobody minds."""

    @property
    def is_idle(self) -> bool:
        """Whether no call is under way here, or waits for the host."""
        return not self._calls and not self._waiting

    @property
    def is_untouched(self) -> bool:
        """Whether no request has been sent to the child, and none of its own is open."""
        return not self._last_id and not self._questions.has_open

    @property
    def deadline(self) -> float | None:
        """When `passed` wants to be called."""
        errands = self._errands.deadline
        if self._at_ease:
            return errands
        tasks = self._tasks.deadline if self._tasks is not None else None
        return earliest(errands, self._questions.deadline, tasks)

    def open(self) -> None:
        """Tells the child that the handshake is done; calls may follow."""
        self._to_child.append(notification_line(methods.INITIALIZED))

    # The way of a call to the child --------------------------------------------------------------

    def begin(self, call: Call, now: float) -> None:
        """Sends a call, at once or as soon as it may."""
        if self._at_ease and call.log_level < 0:
            self._last_id = id = self._last_id + 1
            call.child_id = id
            self._calls[id] = call
            write_call(self._to_child, id, call, self._version)
        else:
            self._waiting[call] = None
            if self._tasks is None or self._tasks.admits(call, now):
                self._after_roots(call, now)
            self.look(now)

    def _after_roots(self, call: Call, now: float) -> None:
        """First of all the child gets the roots that it waits for, if the call can bring them."""
        stray = self._questions.stray
        if not stray.is_idle:
            carried = stray.carried_by(call)
            for question in carried:
                self._questions.carry(question, call)
            if carried:
                return  # it goes on once the host has answered
            if stray.coaxes_for(call, now):
                self._to_child.append(notification_line(methods.ROOTS_LIST_CHANGED))
                return
            if stray.settles_before(call):
                return
        self._after_others(call, now)

    def _after_others(self, call: Call, now: float) -> None:
        """Then it waits for other calls, if that tells who asks."""
        if self._questions.attribution.admits(call, now):
            self._after_level(call, now)

    def _after_level(self, call: Call, now: float) -> None:
        """Then the child is told how much it shall log for it."""
        # Whoever comes next waits for it from now on, if it may ask.
        self._questions.attribution.started(call)
        if call.log_level < 0 or not self._errands.set_level(call.log_level, call, now):
            self._start(call, now)

    def _start(self, call: Call, now: float) -> None:
        del self._waiting[call]
        if call.log_level >= 0:
            self._levels.begin(call.log_level)
        self._questions.stray.written(now)
        self._last_id = id = self._last_id + 1
        call.child_id = id
        self._calls[id] = call
        task = TASK if self._tasks is not None and self._tasks.needs(call) else None
        write_call(self._to_child, id, call, self._version, task)

    def _fresh_id(self) -> int:
        self._last_id += 1
        return self._last_id

    # What becomes of a call ----------------------------------------------------------------------

    def cancel(self, call: Call, reason: Raw | None, now: float) -> None:
        """Nobody waits for a call any more. If the child knows it, its answer will be a Stray."""
        call.cancelled = True
        if call in self._waiting:
            self._forget_waiting(call)
            self._over(call, now)
            return
        if self._calls.get(call.child_id) is not call:
            if call.asked:
                # It has ended, with something that it asked still before the host.
                self._questions.call_over(call, now)
                self.look(now)
            return
        del self._calls[call.child_id]
        self._questions.call_cancelled(call, now)
        # What it carries is answered first: the child may wait for that before it listens.
        self._end(call, now)
        if self._tasks is None or not self._tasks.cancel(call):
            params: dict[str, object] = {"requestId": call.child_id}
            if reason is not None:
                params["reason"] = reason
            self._to_child.append(notification_line(methods.CANCELLED, encode(params)))
        else:
            self._tasks.over(call)
        self.look(now)

    def _forget_waiting(self, call: Call) -> None:
        del self._waiting[call]
        self._questions.attribution.drop(call)
        self._questions.stray.drop(call)
        if self._tasks is not None:
            self._tasks.drop(call)

    def park(self, call: Call, now: float) -> None:
        """The leg of a call was answered: it waits for the host's next one."""
        if not self.has(call):
            return
        if call.log_level >= 0 and call.child_id:
            self._levels.end(call.log_level, now)
        self._questions.call_parked(call, now)
        self.look(now)

    def resume(self, call: Call, now: float) -> None:
        """The next leg of a call has begun, with its own log level."""
        if not self.has(call):
            return
        self._questions.call_resumed(call)
        if call.log_level >= 0 and call.child_id:
            self._errands.set_level(call.log_level, None, now)
            self._levels.begin(call.log_level)
        self.look(now)

    def has(self, call: Call) -> bool:
        """Whether a call is under way here, or waits."""
        return call in self._waiting or self._calls.get(call.child_id) is call

    def proceed(self, call: Call, now: float) -> None:
        """A call has brought the child its roots: then it starts itself."""
        if call in self._waiting:
            self._after_roots(call, now)
            self.look(now)

    def begin_again(self, call: Call, now: float) -> None:
        """Sends a call that has been answered once more, under a new id."""
        call.child_id = 0
        self.begin(call, now)

    def _over(self, call: Call, now: float) -> None:
        """A call has ended in one way or another."""
        self._end(call, now)
        self.look(now)

    def _end(self, call: Call, now: float) -> None:
        if call.log_level >= 0 and call.child_id and not call.parked:
            self._levels.end(call.log_level, now)
        call.log_level = NO_LEVEL
        if call.asked or not self._at_ease:
            self._questions.call_over(call, now)

    def look(self, now: float) -> None:
        """Starts what need not wait any longer."""
        attribution = self._questions.attribution
        while free := attribution.released(now):
            for call in free:
                if call in self._waiting:
                    self._after_level(call, now)
        self._at_ease = self._questions.is_idle and self._tasks is None

    def passed(self, now: float) -> None:
        """Time went by."""
        for call in self._questions.passed(now):
            if call in self._waiting and not call.parked:
                self._after_others(call, now)
        for call in self._errands.passed(now):
            self._start_if_waiting(call, now)
        if self._tasks is not None and self._tasks.passed(now):
            self._tools_known(self._tasks, now)
        self.look(now)

    def _start_if_waiting(self, call: Call | None, now: float) -> None:
        if call is not None and call in self._waiting:
            self._start(call, now)

    # Questions -----------------------------------------------------------------------------------

    def answer(self, question: Question, answer: Raw, now: float) -> None:
        """The host answered a question of the child."""
        self._questions.answer(question, answer, now)
        self._start_if_carried(question, now)
        self.look(now)

    def fail(self, question: Question, error: Raw, now: float) -> None:
        """The host answered a question of the child with an error."""
        self._questions.fail(question, error)
        self._start_if_carried(question, now)
        self.look(now)

    def _start_if_carried(self, question: Question, now: float) -> None:
        """A call of a host that is asked beside it goes on at once; any other has its next leg."""
        if question.call is not None and question.call.legacy:
            self._start_if_free(question, now)

    def refuse(self, question: Question, code: int, message: str, now: float) -> None:
        """The host cannot be asked this."""
        self._questions.refuse(question, code, message)
        self._start_if_free(question, now)
        self.look(now)

    def _start_if_free(self, question: Question, now: float) -> None:
        """A call that was to bring an answer to the child before it starts need not any more."""
        call = question.call
        if call is None or call.parked or call not in self._waiting:
            return
        if not self._questions.are_carried_by(call):
            self._after_roots(call, now)
            self.look(now)

    def give_up(self, question: Question, now: float) -> None:
        """Nobody will answer this."""
        self._questions.give_up(question)
        self.look(now)

    def waits_for(self, question: Question) -> bool:
        """Whether the child has no answer to a question yet."""
        return self._questions.is_open(question)

    def is_open(self, question: Question) -> bool:
        """Whether a question waits for its answer still, and the call that carries it goes on."""
        return (
            self._questions.is_open(question)
            and question.call is not None
            and self.has(question.call)
        )

    def leave(self, call: Call, now: float) -> None:
        """Nobody will answer what a call has asked, but it may go on and end for itself, if it has
        been started."""
        self._questions.leave(call)
        if call in self._waiting:
            self._forget_waiting(call)
        self.look(now)

    def standing_level(self, before: int, level: int, now: float) -> None:
        """The host wants messages of `level` for as long as the session lasts; it has wanted those
        of `before`, if that is a level."""
        if before >= 0:
            self._levels.end(before, now)
        self._errands.set_level(level, None, now)
        self._levels.begin(level)

    def watch(self, uri: str, now: float) -> None:
        """A stream of the host wants to hear of changes of a resource; see Watched."""
        self._errands.watch(uri, now)

    def unwatch(self, uri: str, now: float) -> None:
        """A stream of the host does not want to hear of them any more."""
        self._errands.unwatch(uri, now)

    # Everything else -----------------------------------------------------------------------------

    def roots_changed(self) -> None:
        """The host has other roots, if the child knows of roots at all."""
        if self._questions.declares_roots:
            self._to_child.append(notification_line(methods.ROOTS_LIST_CHANGED))

    def notify(self, method: str, params: bytes) -> None:
        """Passes a notification on."""
        self._to_child.append(notification_line(method, params))

    def plain_answer(self, message: Message) -> Call | None:
        """The call that a result answers, if nobody else is concerned by it; else `receive` it."""
        id = message.id
        call = self._calls.get(id) if type(id) is int else None
        if (
            call is None
            or call.asked
            or call.log_level >= 0
            or message.error is not ABSENT
            or not self._at_ease
        ):
            return None
        del self._calls[call.child_id]
        return call

    def receive(self, message: Message, now: float) -> ChildEvent | None:
        """Takes one message of the child. None means that it has been dealt with here."""
        id = message.id
        if message.method is UNSET:
            call = self._calls.pop(id, None) if type(id) is int else self._take_call(id)
            if not self._at_ease:
                self._questions.stray.heard(bool(self._calls), now)
            if call is None:
                return self._other_answer(message, now)
            if self._tasks is not None and self._goes_on_as_task(self._tasks, call, message, now):
                return None
            if call.log_level >= 0 or call.asked or not self._at_ease:
                self._over(call, now)
            if message.error is ABSENT or not message.is_failure:
                return Completed(call, message.result)
            return Failed(call, message.error)
        if not self._at_ease:
            self._questions.stray.heard(bool(self._calls), now)
        if id is UNSET:
            return self._notification(message.method, message.params, now)
        if message.method == methods.PING:
            # Also before `initialized`: the receiver must respond promptly (utilities/ping).
            self._to_child.append(result_line(id, b"{}"))
            return None
        if message.method in methods.QUESTIONS:
            self._questions.asked(id, message.method, message.params, now)
            self.look(now)
            return None
        why = f"{message.method} is not supported by this client"
        self._to_child.append(error_line(id, codes.METHOD_NOT_FOUND, why))
        return Refused(message.method, why)

    def _goes_on_as_task(
        self, tasks: HiddenTasks, call: Call, message: Message, now: float
    ) -> bool:
        """Whether the child has made a task of a call, or refused it because it is to be one."""
        if message.is_failure:
            if not tasks.was_refused(call, message.error, now):
                tasks.over(call)
                return False
            if call.log_level >= 0:
                self._levels.end(call.log_level, now)
            self._waiting[call] = None
            call.child_id = 0
            return True
        id = tasks.created(call, message.result) if not tasks.has(call) else None
        if id is None:
            tasks.over(call)
            return False
        call.child_id = id
        self._calls[id] = call
        return True

    def _tools_known(self, tasks: HiddenTasks, now: float) -> None:
        calls, failed = tasks.released()
        for call in calls:
            if call in self._waiting:
                self._after_roots(call, now)
        for call, error in failed:
            del self._waiting[call]
            self._over(call, now)
            self.events.append(Failed(call, error))
        self.look(now)

    def _other_answer(self, message: Message, now: float) -> ChildEvent | None:
        """A response to a request of our own, or to none that is open."""
        id = number_of(message.id)
        if id is not None:
            if self._tasks is not None:
                if self._tasks.is_listing(id):
                    if self._tasks.listed(message, now):
                        self._tools_known(self._tasks, now)
                    return None
                self._tasks.born_late(id, message.result)
            if self._errands.has(id):
                self._start_if_waiting(self._errands.answered(id, message.is_failure, now), now)
                self.look(now)
                return None
            self._questions.cancelled_call_answered(id, now)
            self.look(now)
        return Stray(message)

    def _notification(self, method: str, params: Raw, now: float) -> ChildEvent | None:
        if method == methods.PROGRESS:
            return self._progress(params)
        if method == methods.LOG_MESSAGE:
            wanted = self._is_wanted(severity_of(params))
            return Logged(params) if wanted else Dropped(method)
        if method == methods.CANCELLED:
            return self._withdrawal(cancelled_id(params), now)
        if method == methods.TOOLS_LIST_CHANGED and self._tasks is not None:
            self._tasks.list_changed()
        return notice(method, params)

    def _withdrawal(self, id: Id | None, now: float) -> ChildEvent | None:
        """The child withdraws a question of its own; ours are not its to cancel."""
        question = self._questions.withdrawn(id) if id is not None else None
        if question is None:
            return Dropped(methods.CANCELLED)
        self._start_if_free(question, now)
        self.look(now)
        return Withdrawn(question)

    def _progress(self, params: Raw) -> ChildEvent | None:
        """Progress of a call that is under way and asked for it; of any other it is nobody's."""
        read = progress_in(params)
        call = self._calls.get(read.token) if read is not None else None
        if call is None and read is not None and self._tasks is not None:
            call = self._tasks.tokens.get(read.token)
        if read is None or call is None or call.progress_token is None:
            return None
        return Progressed(call, read.progress, params)

    def _is_wanted(self, severity: int) -> bool:
        """Whether a request under way asked for such messages (server/utilities/logging)."""
        if severity < self._levels.lowest:
            return False
        return not self._strict_logs or self._all_want(severity)

    def _all_want(self, severity: int) -> bool:
        """Whether every call under way asked for messages of this severity."""
        return all(
            0 <= call.log_level <= severity for call in self._calls.values() if not call.parked
        )

    def _take_call(self, id: Id | UnsetType) -> Call | None:
        number = number_of(id)
        return self._calls.pop(number, None) if number is not None else None

    def give_up_call(self, id: Id, now: float) -> Call | None:
        """Takes the call out that the child knows as `id`: its answer cannot be read."""
        call = self._take_call(id)
        if call is not None:
            self._over(call, now)
        return call

    def lost_answers(self, now: float) -> list[Call]:
        """Takes all calls out that the child has: it may have answered any of them."""
        calls = list(self._calls.values())
        self._calls.clear()
        for call in calls:
            self._over(call, now)
        return calls

    def lost(self) -> list[Call]:
        """The child is gone: the calls that it will not answer any more."""
        return [*self._calls.values(), *self._waiting]
