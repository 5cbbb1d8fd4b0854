"""The `initialize` handshake, as a client of the old era does it.

Lives here: the params of `initialize` made from what a modern host declares, and the reading of a
child's answer. Does not: the requests that follow (peer.py), what a refusal says about the child's
era (bridge, child_era.py). Spec 2025-11-25, basic/lifecycle; schema.ts (InitializeResult).
"""

from typing import Final, TypeAlias

import msgspec
from msgspec import Raw

from mcp_era_wire import codes
from mcp_era_wire.envelope import ABSENT, encode, read_error_head
from mcp_era_wire.events import Server
from mcp_era_wire.members import (
    Members,
    is_implementation,
    is_object,
    members_of,
    string_of,
    strings_of,
)
from mcp_era_wire.versions import (
    LEGACY_VERSIONS,
    MODERN_VERSIONS,
    TASKS_EXTENSION,
    newest_common,
)

_NO_MEMBERS: Final = Raw(b"{}")
_SINCE: Final = {
    "elicitation": "2025-06-18",
    "elicitation.form": "2025-06-18",
    "elicitation.url": "2025-11-25",
    "sampling.context": "2025-11-25",
    "sampling.tools": "2025-11-25",
}
_ASKED_WITH: Final = frozenset({"roots", "sampling", "elicitation"})


def client_capabilities(modern: Raw, *, roots: bool = False) -> bytes:
    """Modern client capabilities as a legacy client declares them, as JSON.

    `roots` declares roots in any case: there are some that need no host. Tasks are never declared:
    a client of ours hosts none. Whatever we do not know passes.
    """
    declared = members_of(modern) or {}
    declared.pop("tasks", None)
    if roots or "roots" in declared:
        declared["roots"] = Raw(b'{"listChanged":true}')
    _drop_tasks_extension(declared)
    return encode(declared)


def of_use(names: frozenset[str], version: str) -> frozenset[str]:
    """Those of the capabilities, by name, that let a child of revision `version` ask for something.

    For any other it is not worth it to open another session, in which a server has to begin anew.
    """
    return frozenset(
        name
        for name in names
        if name.partition(".")[0] in _ASKED_WITH and _SINCE.get(name, "") <= version
    )


class Client(msgspec.Struct, frozen=True):
    """A legacy host as it said itself in `initialize`; `capabilities` in the modern spelling."""

    info: Raw | None
    capabilities: Raw


def read_initialize_request(params: Raw) -> Client:
    """Who a legacy host is. What it says badly is left out: the child is the judge of that."""
    members = members_of(params) or {}
    info = members.get("clientInfo")
    declared = members_of(members.get("capabilities")) or {}
    declared.pop("tasks", None)
    if "roots" in declared:
        declared["roots"] = _NO_MEMBERS
    version = string_of(members.get("protocolVersion"))
    if "elicitation" in declared and version in LEGACY_VERSIONS[:-1]:
        # There was only the form then, and no word for it.
        declared["elicitation"] = _NO_MEMBERS
    _drop_tasks_extension(declared)
    return Client(info if is_implementation(info) else None, Raw(encode(declared)))


def _drop_tasks_extension(capabilities: Members) -> None:
    extensions = members_of(capabilities.get("extensions"))
    if extensions is not None and extensions.pop(TASKS_EXTENSION, None) is not None:
        capabilities["extensions"] = Raw(encode(extensions))


def initialize_params(version: str, capabilities: bytes, client_info: Raw) -> bytes:
    """The params of `initialize`, as JSON; without `_meta`, so nothing of the modern era is in."""
    return encode(
        {
            "protocolVersion": version,
            "capabilities": Raw(capabilities),
            "clientInfo": client_info,
        }
    )


class Refused(msgspec.Struct, frozen=True):
    """An error, or a result that is no InitializeResult. `error` is the error object as JSON.

    `legacy` and `modern` are the newest versions that it names and we speak. `foreign` are those
    that it names if the error is -32022 and we speak none of them.
    """

    error: Raw
    legacy: str | None = None
    modern: str | None = None
    foreign: tuple[str, ...] = ()


InitializeAnswer: TypeAlias = Server | Refused


def read_initialize_answer(result: Raw, error: Raw) -> InitializeAnswer:
    """What the child made of `initialize` (ABSENT stands for the missing one of the two)."""
    if result is not ABSENT:
        return _read_result(result)
    if error is ABSENT:
        return _no_result("The server's answer to initialize has no result")
    head = read_error_head(error)
    supported = strings_of((members_of(head.data) or {}).get("supported")) or []
    legacy = newest_common(supported, LEGACY_VERSIONS)
    modern = newest_common(supported, MODERN_VERSIONS)
    unsupported = head.code == codes.UNSUPPORTED_PROTOCOL_VERSION
    foreign = unsupported and legacy is None and modern is None
    return Refused(error, legacy, modern, tuple(supported) if foreign else ())


def _read_result(result: Raw) -> InitializeAnswer:
    members = members_of(result) or {}
    version = string_of(members.get("protocolVersion"))
    if version is None:
        return _no_result("The server's answer to initialize has no protocolVersion")
    if version not in LEGACY_VERSIONS:
        return _no_result(f"The server answered initialize with the unknown version {version}")
    info = members.get("serverInfo")
    instructions = members.get("instructions")
    return Server(
        version=version,
        server_info=info if is_implementation(info) else None,
        capabilities=_object(members.get("capabilities")),
        instructions=instructions if string_of(instructions) is not None else None,
        meta=members.get("_meta"),
        result=result,
    )


def _object(value: Raw | None) -> Raw:
    return value if value is not None and is_object(value) else _NO_MEMBERS


def _no_result(message: str) -> Refused:
    return Refused(Raw(encode({"code": codes.INTERNAL_ERROR, "message": message})))
