"""What becomes of a legacy server's error on its way to a modern host.

Lives here: the one table of codes that differ between the eras. Everything else passes as it came.
Spec 2026-07-28, basic/index (Error Codes, Error Responses), server/resources (Error Handling).
"""

from typing import Final

import msgspec
from msgspec import UNSET, Raw, UnsetType

from mcp_era_wire import codes, methods
from mcp_era_wire.capabilities import Required, covers
from mcp_era_wire.envelope import UNREADABLE, encode, read_error_head
from mcp_era_wire.events import Call
from mcp_era_wire.members import members_of
from mcp_era_wire.refusal import Refusal, bridge_error

URL_ELICITATION: Final[Required] = {"elicitation": {"url": {}}}


class ErrorObject(msgspec.Struct, frozen=True, omit_defaults=True):
    """The `error` member of a response."""

    code: int
    message: str
    data: Raw | UnsetType = UNSET


_read_error: Final = msgspec.json.Decoder(ErrorObject).decode


def error_for_host(call: Call, error: Raw) -> bytes | Raw:
    """The `error` member, as JSON, that the host gets for a call that the child failed."""
    try:
        read = _read_error(error)
    except UNREADABLE:
        return encode(
            ErrorObject(
                codes.INTERNAL_ERROR,
                "The server returned an invalid error",
                Raw(encode(bridge_error("invalid_error", error=error))),
            )
        )
    if read.code == codes.LEGACY_RESOURCE_NOT_FOUND:
        if call.method == methods.RESOURCES_READ:
            return encode(_not_found(call, read))
        return encode(_wrapped(read))
    if read.code == codes.LEGACY_URL_ELICITATION_REQUIRED:
        return encode(_url_elicitation(call, read))
    if read.code in codes.RESERVED_CODES and not _is_missing_capability(call, read):
        return encode(_wrapped(read))
    return error


def _not_found(call: Call, error: ErrorObject) -> ErrorObject:
    """-32602 with the URI in `data` (server/resources, Error Handling)."""
    data = error.data
    uri = call.params["uri"]
    if data is UNSET:
        data = Raw(encode({"uri": uri}))
    else:
        members = members_of(data)
        if members is not None and "uri" not in members:
            data = Raw(encode({**members, "uri": uri}))
    return ErrorObject(codes.INVALID_PARAMS, error.message, data)


def _wrapped(error: ErrorObject) -> ErrorObject:
    """A code that a modern server may not send; the child's own goes into `data`."""
    data: dict[str, object] = {"code": error.code}
    if error.data is not UNSET:
        data["data"] = error.data
    return ErrorObject(codes.INTERNAL_ERROR, error.message, Raw(encode(data)))


def _url_elicitation(call: Call, error: ErrorObject) -> ErrorObject:
    """-32021 if the request did not declare what the child needs (basic/index)."""
    if call.method in methods.TAKES_INPUT and not covers(call.capabilities, URL_ELICITATION):
        return ErrorObject(
            codes.MISSING_REQUIRED_CLIENT_CAPABILITY,
            error.message,
            Raw(encode({"requiredCapabilities": URL_ELICITATION})),
        )
    return _wrapped(error)


class _Missing(msgspec.Struct, frozen=True):
    required: Required = msgspec.field(name="requiredCapabilities")


_read_missing: Final = msgspec.json.Decoder(_Missing).decode


def _is_missing_capability(call: Call, error: ErrorObject) -> bool:
    """Whether -32021 has its own meaning: a bridge in the child's place passes on what a modern
    server misses (basic/index, Error Codes)."""
    if error.code != codes.MISSING_REQUIRED_CLIENT_CAPABILITY or error.data is UNSET:
        return False
    try:
        required = _read_missing(error.data).required
    except UNREADABLE:
        return False
    return not covers(call.capabilities, required)


class _Elicitation(msgspec.Struct, frozen=True):
    message: str
    url: str
    elicitation_id: str = msgspec.field(default="", name="elicitationId")


class _Elicitations(msgspec.Struct, frozen=True):
    elicitations: list[_Elicitation]


_read_elicitations: Final = msgspec.json.Decoder(_Elicitations).decode


def wanted_urls(call: Call, error: Raw) -> list[tuple[Raw, str]]:
    """What the user must have done before the child takes a call: the params of an elicitation in
    URL mode, and its elicitationId, for each (2025-11-25, schema.ts, URLElicitationRequiredError).

    Nothing if that is not what `error` says, or if the host cannot be asked it.
    """
    head = read_error_head(error)
    if head.code != codes.LEGACY_URL_ELICITATION_REQUIRED or call.method not in methods.TAKES_INPUT:
        return []
    if not covers(call.capabilities, URL_ELICITATION):
        return []
    try:
        wanted = _read_elicitations(head.data).elicitations
    except UNREADABLE:
        return []
    return [
        (
            Raw(encode({"mode": "url", "message": each.message, "url": each.url})),
            each.elicitation_id,
        )
        for each in wanted
    ]


def capability_refusal(required: Required | None, detail: str) -> Refusal:
    """-32021 for a call that failed for want of a capability (basic/index, Per-request protocol
    fields). `detail` is what the child said."""
    return Refusal(
        codes.MISSING_REQUIRED_CLIENT_CAPABILITY,
        "The server asked for a capability that this request did not declare",
        {"requiredCapabilities": required or {}, "detail": detail},
    )
