"""The log levels of both eras, least severe first.

Spec 2026-07-28, server/utilities/logging (Log Levels).
"""

from typing import Final

LOG_LEVELS: Final = (
    "debug",
    "info",
    "notice",
    "warning",
    "error",
    "critical",
    "alert",
    "emergency",
)

SEVERITY: Final = {level: index for index, level in enumerate(LOG_LEVELS)}
"""The index of each level in LOG_LEVELS: the higher, the more severe."""
