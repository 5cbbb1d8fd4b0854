"""What the user may set of the protocol's side, as the joint wants it.

Lives here: the values and their defaults. Does not: the options they come from (options.py).
"""

import msgspec
from msgspec import Raw

from mcp_era_wire.versions import Era


class Settings(msgspec.Struct, frozen=True):
    """Times are in seconds."""

    era: Era | None = None
    """The child's era, if the user has said it."""
    server_name: str = "server"
    """What the server is called if it does not say so itself."""
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
    roots: Raw | None = None
    """A ListRootsResult with the roots that the user has given."""
    answer_timeout: float = 600.0
    """How long a call waits for the host's answer to its questions."""
    max_sessions: int = 2
    """How many processes of the server there may be at once."""
    one_process: bool = False
    """Whether a server is never started again for the sake of a capability."""
    strict_logs: bool = False
    """Whether log messages pass only if every request that is open asked for them."""
    most_parked: int = 256
    """How many calls may wait for the host's answers."""
    most_questions: int = 1024
    """How many requests of a child may be open at once."""
    most_streams: int = 256
    """How many streams the host may have open at once."""
    most_uris: int = 4096
    """How many resources may be watched in all of them."""
