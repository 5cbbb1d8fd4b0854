"""Cuts a stream of bytes into lines.

Lives here: lines out of chunks, the line limit, and whether a chunk was plain ASCII. Does not: what
a line holds. Sans-IO. Spec 2026-07-28, basic/transports/stdio (messages are delimited by newlines).
"""

from mcp_era_wire.dirty import LongLine

_EDGE = 4096


class LineCutter:
    """Lines of one stream; `limit` is the most bytes that one may have.

    The pieces of an unfinished line are kept in a list and joined once, so that a line of many
    chunks costs one copy. Of a line over the limit only the two ends are kept: a LongLine.
    """

    def __init__(self, limit: int) -> None:
        self._limit = limit
        self._pieces: list[bytes] = []
        self._size = 0
        self._pieces_ascii = True
        self.ascii = True
        """Whether the lines that `feed` gave last hold nothing but ASCII."""

    def feed(self, chunk: bytes) -> list[bytes]:
        """The lines that `chunk` completes, without their line feeds."""
        ascii = chunk.isascii()
        if b"\n" not in chunk:
            self._keep(chunk, ascii)
            return []
        lines = chunk.split(b"\n")
        self.ascii = ascii and self._pieces_ascii
        if self._pieces:
            self._keep(lines[0], ascii)
            lines[0] = self._taken()
        rest = lines.pop()
        self._pieces_ascii = True
        if rest:
            self._keep(rest, ascii)
        if len(chunk) > self._limit:
            lines = [self._within_limit(line) for line in lines]
        return lines

    def rest(self) -> list[bytes]:
        """At the end of the stream: the line that has no line feed, if there is one."""
        self.ascii = self._pieces_ascii
        return [self._taken()] if self._pieces else []

    def _keep(self, piece: bytes, ascii: bool) -> None:
        self._pieces.append(piece)
        self._size += len(piece)
        self._pieces_ascii = self._pieces_ascii and ascii
        if self._size > self._limit and len(self._pieces) > 2:
            joined = b"".join(self._pieces)
            self._pieces = [joined[:_EDGE], joined[-_EDGE:]]

    def _taken(self) -> bytes:
        pieces, size = self._pieces, self._size
        self._pieces, self._size = [], 0
        if size > self._limit:
            joined = b"".join(pieces)
            return LongLine.of_ends(joined, joined, size)
        return pieces[0] if len(pieces) == 1 else b"".join(pieces)

    def _within_limit(self, line: bytes) -> bytes:
        if len(line) <= self._limit or isinstance(line, LongLine):
            return line
        return LongLine.of_ends(line, line, len(line))
