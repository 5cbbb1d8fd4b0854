"""What the user may set of the protocol's side, as the joint wants it.

Lives here: the values and their defaults. Does not: the options they come from (options.py).
"""

import msgspec

from mcp_era_wire.versions import Era


class Settings(msgspec.Struct, frozen=True):
    """Times are in seconds."""

    era: Era | None = None
    """The child's era, if the user has said it."""
    probe_timeout: float = 5.0
    initialize_timeout: float = 60.0
    last_words_timeout: float = 20.0
    """How long requests may still take once the host has closed its end."""
    most_open: int = 10_000
    """How many requests of the host may be open at once."""
    most_line: int = 64 << 20
    """How many bytes a line may have."""
    tells_stderr: bool = True
    """Whether the end of a child's stderr goes into the errors that its end causes."""
