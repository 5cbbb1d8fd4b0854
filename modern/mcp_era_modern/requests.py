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
        methods.SUBSCRIPTIONS_LISTEN,
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


def _check_list(params: Members) -> str | None:
    cursor = params.get("cursor")
    return "cursor" if cursor is not None and not is_string(cursor) else None


def _check_call(params: Members) -> str | None:
    name = params.get("name")
    if name is None or not is_string(name):
        return "name"
    arguments = params.get("arguments")
    return "arguments" if arguments is not None and not is_object(arguments) else None


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


CHECKS: Final[dict[str, Callable[[Members], str | None]]] = {
    methods.TOOLS_LIST: _check_list,
    methods.PROMPTS_LIST: _check_list,
    methods.RESOURCES_LIST: _check_list,
    methods.RESOURCE_TEMPLATES_LIST: _check_list,
    methods.TOOLS_CALL: _check_call,
    methods.PROMPTS_GET: _check_get_prompt,
    methods.RESOURCES_READ: _check_read,
    methods.COMPLETE: _check_complete,
}
"""For each method, the name of the first member of `params` that is wrong, or None."""
