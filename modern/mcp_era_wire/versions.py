"""The two eras, the protocol revisions of each, and the reserved `_meta` keys.

Spec 2026-07-28, basic/versioning (Terminology) and basic/index (Per-request protocol fields).
"""

import enum
from typing import Final


class Era(enum.Enum):
    """Which way of opening a conversation a side speaks (basic/versioning, Terminology)."""

    LEGACY = "legacy"
    """Opens with `initialize` and keeps a session: revisions up to 2025-11-25."""
    MODERN = "modern"
    """Carries version, identity and capabilities in every request: 2026-07-28 on."""


LEGACY_VERSIONS: Final = ("2024-11-05", "2025-03-26", "2025-06-18", "2025-11-25")
"""The revisions that open with a handshake, oldest first."""

MODERN_VERSIONS: Final = ("2026-07-28",)
"""The per-request revisions this bridge speaks, oldest first."""

NEWEST_LEGACY: Final = LEGACY_VERSIONS[-1]
NEWEST_MODERN: Final = MODERN_VERSIONS[-1]

META_PREFIX: Final = "io.modelcontextprotocol/"
PROTOCOL_VERSION_KEY: Final = META_PREFIX + "protocolVersion"
CLIENT_INFO_KEY: Final = META_PREFIX + "clientInfo"
CLIENT_CAPABILITIES_KEY: Final = META_PREFIX + "clientCapabilities"
LOG_LEVEL_KEY: Final = META_PREFIX + "logLevel"
SERVER_INFO_KEY: Final = META_PREFIX + "serverInfo"
SUBSCRIPTION_ID_KEY: Final = META_PREFIX + "subscriptionId"
RELATED_TASK_KEY: Final = META_PREFIX + "related-task"
TASKS_EXTENSION: Final = META_PREFIX + "tasks"

PROGRESS_TOKEN_KEY: Final = "progressToken"


def newest_common(offered: list[str], known: tuple[str, ...]) -> str | None:
    """The newest of `known` (oldest first) that is in `offered`, or None."""
    return next((version for version in reversed(known) if version in offered), None)
