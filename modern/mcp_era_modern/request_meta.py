"""The `_meta` that every modern request carries, taken apart.

Lives here: which members are the envelope's, which pass on, what is wrong with it. Does not: the
answer to a wrong one (face.py). Spec 2026-07-28, basic/index (Per-request protocol fields).
"""

from typing import Final

import msgspec
from msgspec import Raw

from mcp_era_wire.envelope import UNREADABLE, Id, encode
from mcp_era_wire.events import NO_LEVEL
from mcp_era_wire.levels import SEVERITY
from mcp_era_wire.members import is_implementation, is_object, members_of, string_of
from mcp_era_wire.versions import (
    CLIENT_CAPABILITIES_KEY,
    CLIENT_INFO_KEY,
    LOG_LEVEL_KEY,
    MODERN_VERSIONS,
    PROGRESS_TOKEN_KEY,
    PROTOCOL_VERSION_KEY,
    RELATED_TASK_KEY,
)

_read_token = msgspec.json.Decoder(Id).decode
_MOST_KEY: Final = 4096
"""The longest `_meta` that is remembered, in bytes."""
NO_MEMBERS: Final = Raw(b"{}")


class RequestMeta(msgspec.Struct, frozen=True):
    """The envelope of one modern request.

    `missing` names the required key that is absent or malformed; then the rest is not to be
    trusted. `rest` is `_meta` as JSON without what belongs to this request alone, None if nothing
    is left of it.
    """

    missing: str | None = None
    version: str = ""
    capabilities: Raw = NO_MEMBERS
    client_info: Raw | None = None
    log_level: int = NO_LEVEL
    bad_log_level: bool = False
    progress_token: Id | None = None
    bad_progress_token: bool = False
    rest: Raw | None = None

    @property
    def is_good(self) -> bool:
        """Whether none of the checks on the envelope fails (translation B.1, 7, 8, 10, 11)."""
        return (
            self.missing is None
            and self.version in MODERN_VERSIONS
            and not self.bad_log_level
            and not self.bad_progress_token
        )


def read_request_meta(meta: Raw | None) -> RequestMeta:
    """Takes a request's `_meta` apart. None stands for a request without one."""
    members = members_of(meta)
    if members is None:
        return RequestMeta(missing="_meta")
    version = string_of(members.pop(PROTOCOL_VERSION_KEY, None))
    if version is None:
        return RequestMeta(missing=PROTOCOL_VERSION_KEY)
    capabilities = members.pop(CLIENT_CAPABILITIES_KEY, None)
    if capabilities is None or not is_object(capabilities):
        return RequestMeta(missing=CLIENT_CAPABILITIES_KEY, version=version)
    client_info = members.pop(CLIENT_INFO_KEY, None)
    level = members.pop(LOG_LEVEL_KEY, None)
    log_level = SEVERITY.get(string_of(level) or "", NO_LEVEL)
    token = members.pop(PROGRESS_TOKEN_KEY, None)
    progress_token = _token(token)
    members.pop(RELATED_TASK_KEY, None)
    return RequestMeta(
        version=version,
        capabilities=capabilities,
        # Display data: one that is malformed is ignored, not refused.
        client_info=client_info if is_implementation(client_info) else None,
        log_level=log_level,
        bad_log_level=level is not None and log_level == NO_LEVEL,
        progress_token=progress_token,
        bad_progress_token=token is not None and progress_token is None,
        rest=Raw(encode(members)) if members else None,
    )


def _token(token: Raw | None) -> Id | None:
    if token is None:
        return None
    try:
        return _read_token(token)
    except UNREADABLE:
        return None


_ENVELOPE_KEYS: Final = (
    PROTOCOL_VERSION_KEY,
    CLIENT_INFO_KEY,
    CLIENT_CAPABILITIES_KEY,
    LOG_LEVEL_KEY,
)


def without_envelope(meta: Raw) -> Raw | None:
    """A notification's `_meta` without the reserved keys, or None if nothing is left of it."""
    members = members_of(meta)
    if members is None:
        return meta
    for key in _ENVELOPE_KEYS:
        members.pop(key, None)
    return Raw(encode(members)) if members else None


class MetaReader:
    """Reads `_meta`, remembering the ones that a host sends again and again."""

    def __init__(self, limit: int = 64) -> None:
        self._known: dict[bytes, RequestMeta] = {}
        self._limit = limit

    def known_good(self, meta: Raw) -> RequestMeta | None:
        """The envelope in `meta` if it has been read before and none of its checks fails.

        A host's `_meta` is the same bytes on nearly every request.
        """
        return self._known.get(bytes(meta))

    def read(self, meta: Raw | None) -> RequestMeta:
        """As read_request_meta."""
        if meta is None:
            return read_request_meta(None)
        key = bytes(meta)
        read = read_request_meta(Raw(key))
        if read.is_good and read.progress_token is None and len(key) < _MOST_KEY:
            if len(self._known) >= self._limit:
                self._known.clear()
            self._known[key] = read
        return read
