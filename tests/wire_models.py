"""What hosts may hear and children may be told, by the official wire models.

Lives here: the checks of single messages, beyond what a table of lines says. Does not: which
message answers which (conversation.py). Spec 2026-07-28 and 2025-11-25, schema.ts.
"""

import json
from typing import Final, TypeAlias

from mcp_types import InputRequiredResult
from mcp_types.methods import (
    CLIENT_REQUESTS,
    SERVER_NOTIFICATIONS,
    SERVER_RESULTS,
    parse_server_notification,
    parse_server_request,
    validate_client_request,
    validate_server_result,
)

Json: TypeAlias = "dict[str, Json] | list[Json] | str | int | float | bool | None"

MODERN: Final = "2026-07-28"
_PREFIX: Final = "io.modelcontextprotocol/"
_MODERN_ONLY: Final = ("resultType", "ttlMs", "cacheScope", "inputRequests", "requestState")


def check_modern_result(method: str, result: Json) -> None:
    """A result as 2026-07-28 wants it, and without what the wire models let pass."""
    assert isinstance(result, dict)
    if result.get("resultType") == "input_required":
        assert method in ("tools/call", "prompts/get", "resources/read"), method
        assert not {"ttlMs", "cacheScope"} & result.keys()
        assert InputRequiredResult.model_validate(result).request_state
        for question in _items(list(_object(result["inputRequests"]).values())):
            assert question.keys() == {"method", "params"}, question
            assert not {"task", "elicitationId", "_meta"} & _object(question["params"]).keys()
        return
    assert result.get("resultType") == "complete", result
    cacheable = method.endswith("/list") or method in ("server/discover", "resources/read")
    cacheable = cacheable or method == "resources/templates/list"
    assert ("ttlMs" in result) is ("cacheScope" in result)
    if cacheable:
        assert type(result["ttlMs"]) is int and result["ttlMs"] >= 0
        assert result["cacheScope"] in ("private", "public")
    assert "task" not in result and result.get("nextCursor", "") is not None
    for tool in _items(result.get("tools")):
        assert "execution" not in tool, tool
        schema = tool["inputSchema"]
        assert isinstance(schema, dict) and "type" in schema, tool
    if method in _KNOWN_METHODS:
        validate_server_result(method, "2026-07-28", result)


def check_legacy_request(message: "dict[str, Json]", version: str, has_tasks: bool = False) -> None:
    """A request as a legacy client of `version` sends it: nothing of the modern era is in it. Only
    to a child that has tasks may a call be one."""
    method = str(message["method"])
    assert type(message["id"]) is int
    if method == "server/discover":
        return
    text = json.dumps(message)
    for name in ("protocolVersion", "clientInfo", "clientCapabilities", "logLevel"):
        assert f"io.modelcontextprotocol/{name}" not in text, text
    params = message.get("params")
    assert params is None or isinstance(params, dict)
    for name in ("inputResponses", "requestState", *([] if has_tasks else ["task"])):
        assert method not in _KNOWN_METHODS or name not in (params or {}), text
    if method in _KNOWN_METHODS or method == "initialize":
        validate_client_request(method, version, params)


def check_legacy_result(method: str, version: str, result: Json) -> None:
    """A result as a host of `version` wants it, and nothing of the modern era is in it."""
    assert isinstance(result, dict), result
    assert not result.keys() & set(_MODERN_ONLY), result
    assert f"{_PREFIX}serverInfo" not in json.dumps(result.get("_meta")), result
    assert result.get("_meta") != {}, result
    if (method, version) in SERVER_RESULTS:
        validate_server_result(method, version, result)


def check_legacy_push(message: "dict[str, Json]", version: str) -> None:
    """A request or a notification as a server of `version` sends it."""
    method, params = str(message["method"]), message.get("params")
    assert params is None or isinstance(params, dict), message
    assert f'"{_PREFIX}' not in json.dumps(message), message
    if "id" in message:
        assert isinstance(message["id"], str), message
        parse_server_request(method, version, params)
    elif (method, version) in SERVER_NOTIFICATIONS:
        parse_server_notification(method, version, params)


def check_modern_line(message: "dict[str, Json]") -> None:
    """A line as a modern client writes it: with its envelope, an integer id, and no answers but the
    one that keeps a child from waiting for ever (translation L-21)."""
    if "method" not in message:
        assert message.keys() == {"jsonrpc", "id", "error"}, message
        return
    method, params = str(message["method"]), message.get("params")
    if "id" not in message:
        assert method not in ("notifications/initialized", "notifications/progress"), message
        return
    assert type(message["id"]) is int, message
    assert isinstance(params, dict), message
    meta = params["_meta"]
    assert isinstance(meta, dict), message
    assert meta[f"{_PREFIX}protocolVersion"] == MODERN, message
    assert isinstance(meta[f"{_PREFIX}clientCapabilities"], dict), message
    assert f"{_PREFIX}related-task" not in meta and "task" not in params, message
    if "progressToken" in meta:
        assert meta["progressToken"] == message["id"], message
    if (method, MODERN) in CLIENT_REQUESTS:
        validate_client_request(method, MODERN, params)


_KNOWN_METHODS = frozenset(
    {
        "server/discover",
        "tools/list",
        "tools/call",
        "prompts/list",
        "prompts/get",
        "resources/list",
        "resources/templates/list",
        "resources/read",
        "completion/complete",
    }
)


def _object(value: Json) -> "dict[str, Json]":
    assert isinstance(value, dict), value
    return value


def _items(value: Json) -> "list[dict[str, Json]]":
    return [item for item in value if isinstance(item, dict)] if isinstance(value, list) else []
