"""A call as the line that a legacy child gets.

Lives here: the writing of calls, and what an older revision does not know in them. Does not: the
order in which calls are written (peer.py). Spec 2025-11-25, schema.ts (ClientRequest).
"""

from typing import Final

from msgspec import Raw

from mcp_era_wire import methods
from mcp_era_wire.envelope import Buffer, encode
from mcp_era_wire.events import Call
from mcp_era_wire.members import members_of
from mcp_era_wire.versions import PROGRESS_TOKEN_KEY

_COMPLETION_CONTEXT_SINCE: Final = "2025-06-18"
_METHOD_JSON: Final = {
    method: encode(method)
    for method in (
        methods.TOOLS_LIST,
        methods.TOOLS_CALL,
        methods.PROMPTS_LIST,
        methods.PROMPTS_GET,
        methods.RESOURCES_LIST,
        methods.RESOURCE_TEMPLATES_LIST,
        methods.RESOURCES_READ,
    )
}


def write_call(
    to_child: list[Buffer], id: int, call: Call, version: str, task: Raw | None = None
) -> None:
    """Appends the pieces of a call's line, under our `id`, for a child of `version`. With `task` it
    is made as a task."""
    params = call.params
    method = _METHOD_JSON.get(call.method)
    if params and method is not None and call.progress_token is None and task is None:
        # The way of nearly every call.
        head = b'{"jsonrpc":"2.0","id":%d,"method":%b,"params":' % (id, method)
        to_child += (head, encode(params), b"}\n")
        return
    if call.progress_token is not None:
        # Our id is unique in the session, so it serves as the token too.
        meta = members_of(params.get("_meta")) or {}
        meta[PROGRESS_TOKEN_KEY] = Raw(b"%d" % id)
        params = {**params, "_meta": Raw(encode(meta))}
    if call.method == methods.COMPLETE and version < _COMPLETION_CONTEXT_SINCE:
        _take_context_out(call)
    if task is not None:
        params = {**params, "task": task}
    method = method or encode(call.method)
    if not params:
        to_child.append(b'{"jsonrpc":"2.0","id":%d,"method":%b}\n' % (id, method))
        return
    head = b'{"jsonrpc":"2.0","id":%d,"method":%b,"params":' % (id, method)
    to_child += (head, encode(params), b"}\n")


def _take_context_out(call: Call) -> None:
    call.params.pop("context", None)
    ref = members_of(call.params.get("ref"))
    if ref is not None and ref.pop("title", None) is not None:
        call.params["ref"] = Raw(encode(ref))
