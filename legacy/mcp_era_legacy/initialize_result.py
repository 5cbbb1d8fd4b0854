"""The answer to a legacy host's `initialize`, made of what a modern server says of itself.

Lives here: the version that is agreed on, and a DiscoverResult as an InitializeResult. Does not:
what the host says in `initialize` (handshake.py). Spec 2025-11-25, basic/lifecycle (Version
Negotiation, Capability Negotiation); schema.ts of each revision (InitializeResult, Implementation);
2026-07-28, server/discover.
"""

from typing import Final

from msgspec import Raw

from mcp_era_wire.envelope import encode
from mcp_era_wire.members import Members, is_implementation, is_object, members_of, string_of
from mcp_era_wire.versions import (
    LEGACY_VERSIONS,
    NEWEST_LEGACY,
    SERVER_INFO_KEY,
    TASKS_EXTENSION,
)

_COMPLETIONS_SINCE: Final = "2025-03-26"
_IDENTITY_SINCE: Final = {
    "title": "2025-06-18",
    "icons": "2025-11-25",
    "description": "2025-11-25",
    "websiteUrl": "2025-11-25",
}
_OBJECTS: Final = frozenset(
    {"tools", "prompts", "resources", "logging", "completions", "experimental", "extensions"}
)
_OF_DISCOVERY: Final = ("resultType", "supportedVersions", "ttlMs", "cacheScope")
_NO_MEMBERS: Final = Raw(b"{}")


def agreed_version(requested: str | None) -> str:
    """The revision to speak with a host that asked for `requested`."""
    return requested if requested in LEGACY_VERSIONS else NEWEST_LEGACY


def initialize_result(discovered: Raw, version: str, fallback_name: str) -> bytes:
    """The InitializeResult, as JSON, for a host of `version`.

    `discovered` is the server's DiscoverResult. A server need not say who it is, but here somebody
    must: `fallback_name` is its name then. Members that we do not know pass.
    """
    rest = members_of(discovered) or {}
    for name in _OF_DISCOVERY:
        rest.pop(name, None)
    rest.pop("protocolVersion", None)
    meta = members_of(rest.pop("_meta", None)) or {}
    identity = _first_implementation(meta.pop(SERVER_INFO_KEY, None), rest.pop("serverInfo", None))
    result: dict[str, object] = {
        "protocolVersion": version,
        "capabilities": _capabilities(rest.pop("capabilities", None), version),
        "serverInfo": _of_revision(identity, version)
        or {"name": fallback_name, "version": "unknown"},
    }
    if string_of(rest.get("instructions")) is None:
        rest.pop("instructions", None)
    result |= rest
    if meta:
        result["_meta"] = meta
    return encode(result)


def _first_implementation(*said: Raw | None) -> Members | None:
    """In the body it stood in drafts, and some servers still have it there."""
    return next((members_of(info) for info in said if is_implementation(info)), None)


def _of_revision(identity: Members | None, version: str) -> Members | None:
    if identity is None:
        return None
    return {
        name: value
        for name, value in identity.items()
        if version >= _IDENTITY_SINCE.get(name, version)
    }


def _capabilities(modern: Raw | None, version: str) -> Members:
    """Modern server capabilities in the legacy spelling: tasks are another thing here."""
    capabilities = members_of(modern) or {}
    capabilities.pop("tasks", None)
    if version < _COMPLETIONS_SINCE:
        capabilities.pop("completions", None)
    for name in _OBJECTS & capabilities.keys():
        if is_object(capabilities[name]):
            continue
        if bytes(capabilities[name]) in (b"null", b"false"):
            del capabilities[name]
        else:
            capabilities[name] = _NO_MEMBERS
    extensions = members_of(capabilities.get("extensions"))
    if extensions is not None and extensions.pop(TASKS_EXTENSION, None) is not None:
        capabilities["extensions"] = Raw(encode(extensions))
    return capabilities
