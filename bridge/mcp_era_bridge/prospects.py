"""What a host will see of a server of the other era through the bridge, and what it will not.

Lives here: for each crossed pair the features that are bridged and those that are not, by what the
server declares. Does not: how they are bridged. The README says the same: what is lost stands there
in these words, and a test compares them.
"""

from collections.abc import Callable
from typing import Final

import msgspec

from mcp_era_wire.members import Members, members_of
from mcp_era_wire.versions import TASKS_EXTENSION, Era


class Loss(msgspec.Struct, frozen=True):
    """Something that a host does not get, or only nearly. `id` never changes."""

    id: str
    what: str
    why: str


_Condition = Callable[[Members], bool]


def _declares(*names: str) -> _Condition:
    return lambda declared: any(name in declared for name in names)


def _tells_of_changes(declared: Members) -> bool:
    return any(
        bytes(flag) == b"true"
        for name in ("tools", "prompts", "resources")
        for flag in (members_of(declared.get(name)) or {}).values()
    )


def _has_tasks_extension(declared: Members) -> bool:
    return TASKS_EXTENSION in (members_of(declared.get("extensions")) or {})


_LISTS: Final = _declares("tools", "prompts", "resources")
_BRIDGED: Final[tuple[tuple[str, _Condition], ...]] = (
    ("tools", _declares("tools")),
    ("prompts", _declares("prompts")),
    ("resources", _declares("resources")),
    ("completion", _declares("completions")),
    ("log messages", _declares("logging")),
    ("changes and subscriptions", _tells_of_changes),
    ("questions of the server (sampling, elicitation, roots)", _declares("tools", "prompts")),
    ("progress", _LISTS),
    ("cancellation", _LISTS),
)

LOST: Final[dict[Era, tuple[tuple[_Condition, Loss], ...]]] = {
    # By the era of the server; the host is of the other one.
    Era.LEGACY: (
        (
            _LISTS,
            Loss(
                "caching",
                "caching of lists and resources",
                "A legacy server may change its lists as a side effect of a call, which 2026-07-28"
                " forbids; results therefore say that they must not be cached (ttlMs 0).",
            ),
        ),
        (
            _declares("logging"),
            Loss(
                "log_origin",
                "which request a log message belongs to",
                "A log message does not say which request it belongs to: one passes if any request"
                " under way asked for such",
            ),
        ),
        (
            _declares("tools", "prompts"),
            Loss(
                "stray_questions",
                "questions outside of any call, if it asks such",
                "What a server asks outside of any call is refused, but for roots.",
            ),
        ),
        (
            _declares("tasks"),
            Loss(
                "tasks",
                "the tasks extension of 2026-07-28",
                "not offered: an old server's tasks are of another kind",
            ),
        ),
    ),
    Era.MODERN: (
        (
            _declares("tools", "prompts"),
            Loss(
                "refused_questions",
                "a question that is answered with an error, if it asks any",
                "A modern server's question that the host answers with an error has no such answer"
                " in its era: an elicitation counts as cancelled, for the others the call fails"
                " with the host's own error.",
            ),
        ),
        (
            _declares("tools", "prompts"),
            Loss(
                "rounds",
                "calls of more than ten rounds of questions",
                "A call that a modern server asks for in more than ten rounds fails; so do official"
                " clients.",
            ),
        ),
        (
            _has_tasks_extension,
            Loss("tasks", "tasks", "not offered: they are of another kind in each era"),
        ),
    ),
}


def bridged_features(declared: Members) -> list[str]:
    """What is translated for a host of the other era, by what the server declares."""
    return [what for what, applies in _BRIDGED if applies(declared)]


def losses(server: Era, declared: Members) -> list[Loss]:
    """What a host of the other era does not get of such a server."""
    return [loss for applies, loss in LOST[server] if applies(declared)]
