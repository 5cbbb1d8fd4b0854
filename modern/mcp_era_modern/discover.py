"""`server/discover`, from both ends: the answer we give a host, and a child's answer to a probe.

Lives here: the DiscoverResult made of a legacy handshake, the probe's text, and the reading of what
comes back. Does not: what follows from it for the child's era (bridge, child_era.py).
Spec 2026-07-28, server/discover; basic/versioning (Backward Compatibility).
"""

from typing import Final, TypeAlias

import msgspec
from msgspec import Raw

from mcp_era_modern.request_meta import NO_MEMBERS, RequestMeta
from mcp_era_wire import codes
from mcp_era_wire.envelope import ABSENT, encode, read_error_head
from mcp_era_wire.events import Server
from mcp_era_wire.members import Members, is_object, members_of, strings_of
from mcp_era_wire.versions import (
    CLIENT_CAPABILITIES_KEY,
    CLIENT_INFO_KEY,
    LEGACY_VERSIONS,
    MODERN_VERSIONS,
    NEWEST_MODERN,
    PROTOCOL_VERSION_KEY,
    SERVER_INFO_KEY,
    TASKS_EXTENSION,
    newest_common,
)

_KNOWN_CAPABILITIES: Final = frozenset(
    {"tools", "prompts", "resources", "logging", "completions", "experimental", "extensions"}
)


def discover_result(server: Server) -> bytes:
    """The DiscoverResult, as JSON, for a server that answered `initialize` with `server`.

    It names modern versions only: a host could not use the others with an envelope.
    """
    result: dict[str, object] = {
        "resultType": "complete",
        "supportedVersions": MODERN_VERSIONS,
        "capabilities": _capabilities(server.capabilities),
    }
    if server.instructions is not None:
        result["instructions"] = server.instructions
    result["ttlMs"] = 0
    result["cacheScope"] = "private"
    meta = members_of(server.meta) or {}
    if server.server_info is not None:
        meta.setdefault(SERVER_INFO_KEY, server.server_info)
    if meta:
        result["_meta"] = meta
    return encode(result)


def _capabilities(legacy: Raw) -> Members:
    """Legacy server capabilities in the modern spelling: tasks are another thing now."""
    capabilities = members_of(legacy) or {}
    capabilities.pop("tasks", None)
    for name in _KNOWN_CAPABILITIES & capabilities.keys():
        if is_object(capabilities[name]):
            continue
        if bytes(capabilities[name]) in (b"null", b"false"):
            del capabilities[name]
        else:
            capabilities[name] = NO_MEMBERS
    extensions = members_of(capabilities.get("extensions"))
    if extensions is not None and extensions.pop(TASKS_EXTENSION, None) is not None:
        capabilities["extensions"] = Raw(encode(extensions))
    return capabilities


def probe_params(meta: RequestMeta, required: Raw | None = None) -> bytes:
    """The params of a probe in the name of the host that sent `meta`.

    `required` are capabilities that the child asked for, put in beside the host's own.
    """
    capabilities: object = meta.capabilities
    if required is not None:
        capabilities = {**(members_of(meta.capabilities) or {}), **(members_of(required) or {})}
    members: dict[str, object] = {PROTOCOL_VERSION_KEY: NEWEST_MODERN}
    if meta.client_info is not None:
        members[CLIENT_INFO_KEY] = meta.client_info
    members[CLIENT_CAPABILITIES_KEY] = capabilities
    return encode({"_meta": members})


class Modern(msgspec.Struct, frozen=True):
    """The child is modern and speaks `versions`. `common` is None if we speak none of them."""

    common: str | None
    versions: tuple[str, ...] = ()


class Legacy(msgspec.Struct, frozen=True):
    """The child says itself that it speaks `version`, a legacy one, and none of ours."""

    version: str


class Refused(msgspec.Struct, frozen=True):
    """-32022 that names a version of ours, though it refused one of ours."""


class Needs(msgspec.Struct, frozen=True):
    """-32021: a modern child that wants `capabilities` (a JSON object) declared first."""

    capabilities: Raw


class NoEvidence(msgspec.Struct, frozen=True):
    """Anything else: what a legacy child may answer."""


ProbeAnswer: TypeAlias = Modern | Legacy | Refused | Needs | NoEvidence


def read_probe_answer(result: Raw, error: Raw) -> ProbeAnswer:
    """What a child's answer to `server/discover` says about it (ABSENT for the missing one)."""
    if result is not ABSENT:
        versions = strings_of((members_of(result) or {}).get("supportedVersions")) or []
        ours = Modern(newest_common(versions, MODERN_VERSIONS), tuple(versions))
        return _by_versions(versions, ours)
    head = read_error_head(error)
    data = members_of(head.data) or {}
    if head.code == codes.UNSUPPORTED_PROTOCOL_VERSION:
        return _by_versions(strings_of(data.get("supported")) or [], Refused())
    if head.code == codes.MISSING_REQUIRED_CLIENT_CAPABILITY:
        return Needs(data.get("requiredCapabilities", NO_MEMBERS))
    return NoEvidence()


def _by_versions(versions: list[str], if_ours: Modern | Refused) -> ProbeAnswer:
    if newest_common(versions, MODERN_VERSIONS) is not None:
        return if_ours
    legacy = newest_common(versions, LEGACY_VERSIONS)
    if legacy is not None:
        return Legacy(legacy)
    return Modern(None, tuple(versions)) if versions else NoEvidence()
