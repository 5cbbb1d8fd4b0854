"""What becomes of a modern server's error on its way to a legacy host.

Lives here: the codes that differ between the eras. Does not: -32022, which concerns the bridge and
not the host. Everything else passes as it came. Spec 2025-11-25, server/resources (Error Handling);
2026-07-28, basic/index (Error Codes), server/resources (Error Handling).
"""

from typing import Final

import msgspec
from msgspec import UNSET, Raw, UnsetType

from mcp_era_wire import codes, methods
from mcp_era_wire.envelope import UNREADABLE, encode
from mcp_era_wire.members import members_of, open_object, string_of
from mcp_era_wire.refusal import bridge_error

_NOT_FOUND: Final = Raw(b"%d" % codes.LEGACY_RESOURCE_NOT_FOUND)
_INTERNAL: Final = Raw(b"%d" % codes.INTERNAL_ERROR)


class _Error(msgspec.Struct, frozen=True):
    code: int
    message: str
    data: Raw | UnsetType = UNSET


_read_error: Final = msgspec.json.Decoder(_Error).decode


def error_for_host(method: str, uri: Raw | None, error: Raw) -> bytes | Raw:
    """The `error` member, as JSON, that the host gets for a request that the server failed.

    `uri` is the one that the host asked for, as JSON, if it asked for any.
    """
    try:
        read = _read_error(error)
    except UNREADABLE:
        return encode(
            {
                "code": codes.INTERNAL_ERROR,
                "message": "The server returned an invalid error",
                "data": bridge_error("invalid_error", error=error),
            }
        )
    if read.code == codes.INVALID_PARAMS and method == methods.RESOURCES_READ:
        return _not_found(error) if _names(read, uri) else error
    if read.code == codes.HEADER_MISMATCH:
        return _wrapped(error, read)
    return error


def _names(error: _Error, uri: Raw | None) -> bool:
    """Whether an error is about the URI that was asked for: the code alone tells nothing."""
    asked = string_of(uri)
    if asked is None or error.data is UNSET:
        return False
    return string_of((members_of(error.data) or {}).get("uri")) == asked


def _not_found(error: Raw) -> bytes:
    return encode({**open_object(error), "code": _NOT_FOUND})


def _wrapped(error: Raw, read: _Error) -> bytes:
    """A code that says nothing on stdio, where there are no headers; the server's own goes into
    `data`."""
    data: dict[str, object] = {"code": read.code}
    if read.data is not UNSET:
        data["data"] = read.data
    return encode({**open_object(error), "code": _INTERNAL, "data": data})
