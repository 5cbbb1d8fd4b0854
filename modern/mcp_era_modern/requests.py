"""What 2026-07-28 asks of a request's params, and which methods a modern host may not use.

Lives here: required members and their types, removed methods, members that only the modern era
knows. Does not: `_meta` (request_meta.py). Spec 2026-07-28, schema.ts (<Method>RequestParams).
"""

from collections.abc import Callable
from typing import Final

import msgspec

from mcp_era_wire import methods
from mcp_era_wire.envelope import UNREADABLE
from mcp_era_wire.members import Members, is_object, is_string

REMOVED: Final = frozenset(
    {
        methods.INITIALIZE,
        methods.PING,
        methods.SET_LEVEL,
        methods.RESOURCES_SUBSCRIBE,
        methods.RESOURCES_UNSUBSCRIBE,
        methods.TASKS_LIST,
        methods.TASKS_RESULT,
        methods.ROOTS_LIST,
        methods.CREATE_MESSAGE,
        methods.ELICIT,
    }
)
"""Requests of the handshake era that 2026-07-28 took away, and questions sent the wrong way."""

NOT_BRIDGED: Final = frozenset(
    {
        methods.TASKS_GET,
        methods.TASKS_UPDATE,
        methods.TASKS_CANCEL,
    }
)
"""Requests of 2026-07-28 that a legacy child cannot answer as they are, and we do not yet."""


class _Argument(msgspec.Struct, frozen=True):
    name: str
    value: str


_read_argument = msgspec.json.Decoder(_Argument).decode
_read_texts = msgspec.json.Decoder(dict[str, str]).decode


_QUOTE, _BRACE = b'"{'


def _check_list(params: Members) -> str | None:
    cursor = params.get("cursor")
    return "cursor" if cursor is not None and not is_string(cursor) else None


def _check_call(params: Members) -> str | None:
    # On the way of every call, so the two looks are written out.
    name = params.get("name")
    if name is None or memoryview(name)[0] != _QUOTE:
        return "name"
    arguments = params.get("arguments")
    if arguments is None or memoryview(arguments)[0] == _BRACE:
        return None
    return "arguments"


def _check_get_prompt(params: Members) -> str | None:
    name = params.get("name")
    if name is None or not is_string(name):
        return "name"
    arguments = params.get("arguments")
    if arguments is not None:
        try:
            _read_texts(arguments)
        except UNREADABLE:
            return "arguments"
    return None


def _check_read(params: Members) -> str | None:
    uri = params.get("uri")
    return "uri" if uri is None or not is_string(uri) else None


def _check_complete(params: Members) -> str | None:
    ref, argument = params.get("ref"), params.get("argument")
    if ref is None or not is_object(ref):
        return "ref"
    if argument is None:
        return "argument"
    try:
        _read_argument(argument)
    except UNREADABLE:
        return "argument"
    return None


class Rule(msgspec.Struct, frozen=True, gc=False):
    """What is known of a method: the first wrong member of its params, and who answers it."""

    check: Callable[[Members], str | None]
    takes_input: bool = False
    """May be answered `input_required` (basic/patterns/mrtr, Supported Requests)."""
    is_served_here: bool = False
    """Is answered by the face itself."""
    is_stream: bool = False
    """Is not answered before it ends."""


def _no_check(params: Members) -> None:
    """What is not known is not judged."""


RETRY_MEMBERS: Final = frozenset({"inputResponses", "requestState", "task"})
"""Members that mean something else to a legacy child, or nothing."""

UNKNOWN: Final = Rule(_no_check)
"""The rule of any other method: it passes as it is."""

RULES: Final[dict[str, Rule]] = {
    methods.DISCOVER: Rule(_no_check, is_served_here=True),
    methods.TOOLS_LIST: Rule(_check_list),
    methods.PROMPTS_LIST: Rule(_check_list),
    methods.RESOURCES_LIST: Rule(_check_list),
    methods.RESOURCE_TEMPLATES_LIST: Rule(_check_list),
    methods.TOOLS_CALL: Rule(_check_call, takes_input=True),
    methods.PROMPTS_GET: Rule(_check_get_prompt, takes_input=True),
    methods.RESOURCES_READ: Rule(_check_read, takes_input=True),
    methods.COMPLETE: Rule(_check_complete),
    methods.SUBSCRIPTIONS_LISTEN: Rule(_no_check, is_served_here=True, is_stream=True),
}
