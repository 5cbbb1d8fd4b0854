"""The errors that the bridge answers with on its own account.

Lives here: code, message and `data` of each, so that none looks like the child's. Does not: the
errors that a modern server owes its host for a bad request (modern/). Spec 2026-07-28, basic/index
(Error Codes).
"""

from typing import Final

from msgspec import Raw

from mcp_era_bridge.effects import Ending
from mcp_era_wire import codes
from mcp_era_wire.members import members_of, string_of
from mcp_era_wire.refusal import Refusal, bridge_error

DUPLICATE_ID: Final = Refusal(codes.INVALID_REQUEST, "A request with this id is still open")


def _internal(message: str, reason: str, **more: object) -> Refusal:
    return Refusal(codes.INTERNAL_ERROR, message, bridge_error(reason, **more))


LINE_TOO_LONG: Final = _internal("The server's answer was too long to be read", "line_too_long")
INVALID_LINE: Final = _internal("The server's answer could not be read", "invalid_line")
ERA_CHANGED: Final = _internal(
    "The server is started again: it turned out to speak the handshake era", "era_changed"
)
CHILD_UNRESPONSIVE: Final = _internal(
    "The server takes nothing of what it is sent", "child_unresponsive"
)
NO_LAST_WORDS: Final = _internal(
    "The host has closed its end and the server has not answered in time", "child_unresponsive"
)
SESSION_OVER: Final = _internal(
    "The server is started again to learn what the host can do", "session_over"
)
SESSION_CHANGED: Final = _internal(
    "The server was started again and does not offer any more what the session was opened with",
    "session_changed",
)


def too_many_requests(most: int) -> Refusal:
    """A request beyond the limit of open ones."""
    return _internal(
        f"Too many requests are open; the limit is {most}", "too_many_requests", limit=most
    )


def not_started(why: str) -> Refusal:
    """The command cannot be run; `why` says what is wrong with it."""
    return _internal(f"The server could not be started: {why}", "start_failed")


def child_exited(ending: Ending) -> Refusal:
    """The child ended with requests open."""
    more: dict[str, object] = {}
    if ending.code is not None:
        more["exitCode"] = ending.code
    if ending.signal is not None:
        more["signal"] = ending.signal
    if ending.stderr:
        more["stderr"] = ending.stderr
    return _internal(f"The server {ending.how}", "child_exited", **more)


def initialize_timeout(seconds: float) -> Refusal:
    """The child has not answered `initialize` yet."""
    return _internal(
        f"The server has not answered initialize within {seconds:g} s", "initialize_timeout"
    )


_NO_SESSION: Final = {
    "initialize_failed": "The server refused initialize",
    "discover_failed": "The server did not answer server/discover as a modern one does",
}


def no_session(reason: str, error: Raw | None) -> Refusal:
    """The child would not open a session; `error` is its own error object, if it sent one."""
    said = string_of((members_of(error) or {}).get("message"))
    message = _NO_SESSION[reason] + (f": {said}" if said else "")
    return _internal(message, reason, **({"error": error} if error is not None else {}))
