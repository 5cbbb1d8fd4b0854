"""A request that is answered with an error of the bridge's own. Spec 2026-07-28, basic/index (Error
Responses)."""

from typing import Final

import msgspec
from msgspec import UNSET, Raw

from mcp_era_wire.envelope import encode

SOURCE: Final = "mcp-bridge"
"""`data.source` of errors that the bridge makes itself, so that none looks like the child's."""


def bridge_error(reason: str, **more: object) -> dict[str, object]:
    """The `data` of an error of the bridge's own; `reason` is one word for programs to read."""
    return {"source": SOURCE, "reason": reason, **more}


class Refusal(msgspec.Struct, frozen=True, omit_defaults=True):
    """Why a request is answered with an error: the error's three members."""

    code: int
    message: str
    data: object = UNSET

    @property
    def error(self) -> Raw:
        """The `error` member as JSON."""
        return Raw(encode(self))
