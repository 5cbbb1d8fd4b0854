"""The log: what the joint and the shell note, on stderr.

Lives here: which notes are written and how (structlog, imported with the first one). Does not:
stderr itself (stderr.py). Nothing is noted per message at the default level.
"""

from collections.abc import Callable

from mcp_era_bridge.stderr import StderrSink
from mcp_era_wire.events import Note, Severity

_NOISE_A_WINDOW = 20
_WINDOW = 10.0


class Log:
    """Writes notes at or above `level` to `sink`, as text or as JSON."""

    def __init__(self, sink: StderrSink, level: Severity, as_json: bool) -> None:
        self.sink = sink
        self.level = level
        self._as_json = as_json
        self._render: Callable[[Note], str] | None = None
        self._noise = 0
        self._noise_since = float("-inf")

    def note(self, note: Note) -> None:
        """Writes a note, if it is severe enough."""
        if note.severity < self.level:
            return
        if self._render is None:
            self._render = _renderer(self._as_json)
        self.sink.write(self._render(note).encode() + b"\n")

    def noise(self, line: bytes, now: float) -> None:
        """Shows a line of the child's stdout that is no message: 20 in 10 s, then a count."""
        if now - self._noise_since > _WINDOW:
            self.count_noise()
            self._noise_since = now
        self._noise += 1
        if self._noise <= _NOISE_A_WINDOW:
            self.sink.write(b"mcp-bridge: not a message: " + line[:1000] + b"\n")

    def count_noise(self) -> None:
        """Says how many such lines have not been shown; to be called at the end, too."""
        more = self._noise - _NOISE_A_WINDOW
        if more > 0:
            self.sink.write(b"mcp-bridge: %d more lines that are not messages\n" % more)
        self._noise = 0


def _renderer(as_json: bool) -> Callable[[Note], str]:
    import os

    import structlog

    stamp = structlog.processors.TimeStamper(fmt="iso")
    last: structlog.typing.Processor = (
        structlog.processors.JSONRenderer(default=str)
        if as_json
        else structlog.dev.ConsoleRenderer(colors=os.isatty(2))
    )

    def render(note: Note) -> str:
        event: structlog.typing.EventDict = {
            **note.fields,
            "level": note.severity.name.lower(),
            "event": note.event,
            "logger": "mcp-bridge",
        }
        method = note.severity.name.lower()
        return str(last(None, method, dict(stamp(None, method, event))))

    return render
