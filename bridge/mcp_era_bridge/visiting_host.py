"""A host that looks around: it opens, reads the lists, answers what it is asked, and calls nothing.

Lives here: requests and their answers, lists with cursors, what a host says of itself in either
era. Does not: the bridge that it talks to, the order of a visit (visit.py).
Spec 2026-07-28, basic/index; spec 2025-11-25, basic/lifecycle; server/utilities/pagination.
"""

import os
from typing import Final

import msgspec
import trio
from msgspec import UNSET, Raw

from mcp_era_bridge import __version__
from mcp_era_bridge.framing import LineCutter
from mcp_era_wire import codes, methods
from mcp_era_wire.envelope import (
    UNREADABLE,
    Id,
    Message,
    encode,
    error_line,
    notification_line,
    read_message,
    request_line,
    result_line,
)
from mcp_era_wire.members import members_of, string_of
from mcp_era_wire.versions import (
    CLIENT_CAPABILITIES_KEY,
    CLIENT_INFO_KEY,
    NEWEST_LEGACY,
    NEWEST_MODERN,
    PROTOCOL_VERSION_KEY,
    Era,
)

CLIENT_INFO: Final = {"name": "mcp-bridge-probe", "version": __version__}
CAPABILITIES: Final[dict[str, object]] = {"roots": {}, "sampling": {}, "elicitation": {}}
"""What most hosts declare: some servers have more tools for them."""
_META: Final = {
    PROTOCOL_VERSION_KEY: NEWEST_MODERN,
    CLIENT_INFO_KEY: CLIENT_INFO,
    CLIENT_CAPABILITIES_KEY: CAPABILITIES,
}
_MOST_PAGES: Final = 100
_MOST_LINE: Final = 64 << 20
_NO_ANSWER: Final = "no answer within {:g} s"


class Reply(msgspec.Struct, frozen=True):
    """An answer: one of the two is there."""

    result: Raw | None
    error: Raw | None

    @property
    def complaint(self) -> str:
        """The text of the error."""
        members = members_of(self.error) or {}
        return string_of(members.get("message")) or "an error without a message"


class Listing(msgspec.Struct):
    """What a list holds, page by page. `error` is why it ends early."""

    names: list[str]
    error: str | None = None


class VisitingHost:
    """One end of two pipes: `to_bridge` is written, `from_bridge` read.

    `roots` is the ListRootsResult for a server that asks for roots.
    """

    def __init__(self, era: Era, to_bridge: int, from_bridge: int, roots: Raw | None) -> None:
        self._era = era
        self._to = trio.lowlevel.FdStream(to_bridge)
        self._from = trio.lowlevel.FdStream(from_bridge)
        self._roots = bytes(roots) if roots is not None else b'{"roots":[]}'
        self._last_id = 0
        self._waiting: dict[Id, trio.Event] = {}
        self._replies: dict[Id, Reply] = {}

    async def aclose(self) -> None:
        """Closes both ends."""
        await self._to.aclose()
        await self._from.aclose()

    async def hang_up(self) -> None:
        """Closes the end that the bridge reads."""
        await self._to.aclose()

    async def listen(self) -> None:
        """Reads what the bridge writes, until it writes no more."""
        cutter = LineCutter(_MOST_LINE)
        while chunk := await self._from.receive_some(65536):
            for line in cutter.feed(chunk):
                try:
                    message = read_message(line)
                except UNREADABLE:
                    continue
                await self._take(message)

    async def _take(self, message: Message) -> None:
        if message.id is UNSET:
            return
        if message.method is UNSET:
            waiting = self._waiting.pop(message.id, None)
            if waiting is not None:
                failed = message.is_failure
                self._replies[message.id] = Reply(
                    None if failed else message.result, message.error if failed else None
                )
                waiting.set()
        elif message.method == methods.PING:
            await self._say(result_line(message.id, b"{}"))
        elif message.method == methods.ROOTS_LIST:
            await self._say(result_line(message.id, self._roots))
        elif message.method == methods.ELICIT:
            await self._say(result_line(message.id, b'{"action":"cancel"}'))
        else:
            await self._say(error_line(message.id, codes.METHOD_NOT_FOUND, "Method not found"))

    async def _say(self, line: bytes) -> None:
        try:
            await self._to.send_all(line)
        except (trio.BrokenResourceError, trio.ClosedResourceError):
            return  # the bridge is at its end

    async def ask(
        self, method: str, seconds: float, params: dict[str, object] | None = None
    ) -> Reply | None:
        """Sends a request; its answer, or None if there is none within so many seconds."""
        self._last_id += 1
        answered = self._waiting[self._last_id] = trio.Event()
        members = dict(params or {})
        if self._era is Era.MODERN:
            members["_meta"] = _META
        with trio.move_on_after(seconds):
            await self._say(request_line(self._last_id, method, encode(members)))
            await answered.wait()
        self._waiting.pop(self._last_id, None)
        return self._replies.pop(self._last_id, None)

    async def open(self, seconds: float) -> Reply | None:
        """Opens the conversation as a host of its era does."""
        if self._era is Era.MODERN:
            return await self.ask(methods.DISCOVER, seconds)
        opening: dict[str, object] = {
            "protocolVersion": NEWEST_LEGACY,
            "capabilities": CAPABILITIES,
            "clientInfo": CLIENT_INFO,
        }
        reply = await self.ask(methods.INITIALIZE, seconds, opening)
        if reply is not None and reply.result is not None:
            await self._say(notification_line(methods.INITIALIZED))
        return reply

    async def read_list(self, method: str, member: str, name: str, seconds: float) -> Listing:
        """All items of a list: the text that each has under `name`."""
        listing = Listing([])
        cursor: str | None = None
        seen: set[str] = set()
        for _ in range(_MOST_PAGES):
            params: dict[str, object] = {} if cursor is None else {"cursor": cursor}
            reply = await self.ask(method, seconds, params)
            if reply is None:
                listing.error = _NO_ANSWER.format(seconds)
                return listing
            page = members_of(reply.result)
            if page is None:
                listing.error = reply.complaint
                return listing
            items = _items(page.get(member))
            if items is None:
                listing.error = f"the result has no list {member!r}"
                return listing
            listing.names += [string_of((members_of(item) or {}).get(name)) or "" for item in items]
            cursor = string_of(page.get("nextCursor"))
            if cursor is None:
                return listing
            if cursor in seen:
                listing.error = "a cursor came twice"
                return listing
            seen.add(cursor)
        listing.error = f"there are more than {_MOST_PAGES} pages"
        return listing


def _items(value: Raw | None) -> list[Raw] | None:
    if value is None:
        return None
    try:
        return msgspec.json.decode(value, type=list[Raw])
    except UNREADABLE:
        return None


def pipe_pair() -> tuple[int, int, int, int]:
    """Two pipes: the ends that the bridge reads and writes, and those of the host."""
    bridge_in, to_bridge = os.pipe()
    from_bridge, bridge_out = os.pipe()
    os.set_blocking(bridge_out, False)
    return bridge_in, bridge_out, to_bridge, from_bridge
