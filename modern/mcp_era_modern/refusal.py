"""A request that is answered with an error of the bridge's own. Spec 2026-07-28, basic/index (Error
Responses)."""

import msgspec
from msgspec import UNSET, Raw

from mcp_era_wire.envelope import encode


class Refusal(msgspec.Struct, frozen=True, omit_defaults=True):
    """Why a request is answered with an error: the error's three members."""

    code: int
    message: str
    data: object = UNSET

    @property
    def error(self) -> Raw:
        """The `error` member as JSON."""
        return Raw(encode(self))
