"""Which era the host speaks, from its first decisive message.

Lives here: the verdict on one message. Does not: what is answered, and what follows when a host
changes its mind (joint.py). Spec 2026-07-28, basic/versioning (Backward Compatibility).
"""

from msgspec import UNSET

from mcp_era_wire import methods
from mcp_era_wire.envelope import Message
from mcp_era_wire.members import members_of
from mcp_era_wire.versions import PROTOCOL_VERSION_KEY, Era


def has_envelope(message: Message) -> bool:
    """Whether `params._meta` names a protocol version, of whatever value."""
    meta = members_of((members_of(message.params) or {}).get("_meta"))
    return meta is not None and PROTOCOL_VERSION_KEY in meta


def era_of_opening(message: Message) -> Era | None:
    """The era that a host's message decides, or None: notifications, responses and requests that
    are legal, or equally wrong, in both eras decide nothing."""
    if message.method is UNSET or message.id is UNSET:
        return None
    if has_envelope(message) or message.method == methods.DISCOVER:
        return Era.MODERN
    return Era.LEGACY if message.method == methods.INITIALIZE else None
