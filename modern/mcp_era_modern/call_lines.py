"""A call as the line that a modern child gets.

Lives here: the envelope that each request carries, and the writing of calls with it. Does not: the
order in which calls are written (peer.py). Spec 2026-07-28, basic/index (Per-request protocol
fields); basic/patterns/mrtr (Client Requirements).
"""

from typing import Final

from msgspec import Raw

from mcp_era_wire import methods
from mcp_era_wire.envelope import Buffer, encode
from mcp_era_wire.events import Call
from mcp_era_wire.levels import LOG_LEVELS
from mcp_era_wire.members import members_of
from mcp_era_wire.versions import (
    CLIENT_CAPABILITIES_KEY,
    CLIENT_INFO_KEY,
    LOG_LEVEL_KEY,
    NEWEST_MODERN,
    PROGRESS_TOKEN_KEY,
    PROTOCOL_VERSION_KEY,
)

_METHOD_JSON: Final = {method: encode(method) for method in methods.REQUESTS}


class Envelope:
    """The reserved `_meta` members of every request that is made for one client.

    `client_info` is its Implementation as JSON, if it has said who it is; `capabilities` are its
    own, in the modern spelling. Levels are indices of LOG_LEVELS, negative for none.
    """

    def __init__(self, client_info: Raw | None, capabilities: Raw) -> None:
        self.capabilities = capabilities
        members: dict[str, object] = {PROTOCOL_VERSION_KEY: NEWEST_MODERN}
        if client_info is not None:
            members[CLIENT_INFO_KEY] = client_info
        members[CLIENT_CAPABILITIES_KEY] = capabilities
        self._text = encode(members)[1:-1]

    def text(self, level: int) -> bytes:
        """The members as JSON, without the braces around them."""
        if level < 0:
            return self._text
        return b'%b,"%b":"%b"' % (self._text, LOG_LEVEL_KEY.encode(), LOG_LEVELS[level].encode())

    def params(self) -> bytes:
        """The params of a request that has no others."""
        return b'{"_meta":{%b}}' % self._text


def write_call(
    to_child: list[Buffer], id: int, call: Call, envelope: bytes, more: bytes = b""
) -> None:
    """Appends the pieces of a call's line, under our `id`, which serves as the progress token too.

    `envelope` and `more` are members as JSON, the latter of the params, with a comma in front.
    """
    params = call.params
    method = _METHOD_JSON.get(call.method) or encode(call.method)
    meta = envelope
    if call.progress_token is not None:
        meta = b'%b,"%b":%d' % (meta, PROGRESS_TOKEN_KEY.encode(), id)
    own = params.get("_meta")
    if own is not None:
        params = {**params}
        del params["_meta"]
        rest = encode(members_of(own) or {})[1:-1]
        if rest:
            meta = b"%b,%b" % (meta, rest)
    inside = encode(params)[1:-1] + b"," if params else b""
    to_child.append(
        b'{"jsonrpc":"2.0","id":%d,"method":%b,"params":{%b"_meta":{%b}%b}}\n'
        % (id, method, inside, meta, more)
    )
