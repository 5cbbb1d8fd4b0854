"""The host's open requests, over both of its faces. Spec 2026-07-28, basic/index (Requests)."""

from typing import TypeAlias

from mcp_era_wire.envelope import Id
from mcp_era_wire.events import Call

Open: TypeAlias = dict[Id, Call | None]
"""The open requests of a host by their ids; one that only listens, or waits for a subscription, has
no call."""
