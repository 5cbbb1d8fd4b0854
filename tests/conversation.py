"""Plays conversations, written as tables of wire lines, against the joint: no I/O, no clock.

A script has one event or effect a line. `>` is what a side sends us, `<` what we send it; the
`jsonrpc` member is left out and added here.

    host  > {"id":1,"method":"tools/list","params":{$META}}     the host writes a line
    child < {"id":1,"method":"tools/list"}                      we write a line to the child
    child > {"id":1,"result":{"tools":[]}}                      the child writes a line
    host  < {"id":1,"result":{"tools":[],$LISTED}}              we write a line to the host
    host  ! not JSON at all                                     the host writes exactly these bytes
    child ! banner                                              so does it (\\xNN: a byte)
    noise   banner                                              shown on stderr as no message
    ended 3                                                     the child process exits, code 3
    ended SIGKILL                                               or is ended by a signal
    start 2                                                     we want process number 2 started in
                                                                the place of the present one
    beside 2                                                    or beside it
    child2 < ... and child2 > ...                               said to and by process number 2,
                                                                while another one is the present
    ended2 3                                                    process number 2 exits
    end 2                                                       we want process number 2 ended
    unread, read                                it has not read what it was told, or it has
    missing no such file                                        the process cannot be started
    after 5                                                     so many seconds later
    eof                                                         the host closes its end
    finish 0                                                    we are done, with this exit code
    keep silent                                                 we want this remembered
    forget                                                      or forgotten

Everything that comes out after an event must stand below it, line by line, in the order of each
destination; nothing else may come out. Every result to a modern host is checked against the wire
models of the revision, every request to a legacy child against those of the negotiated one; so is
what a legacy host gets from a modern child, and what that is told.

`$META` is the `_meta` of a modern request, `$FULL` that of a host which can be asked anything;
`$DONE` is what completes a result, `$LISTED` what completes a cacheable one; `$PROBE` and `$HELLO`
are the first ids of the bridge's own requests.
`$S1` is the first `requestState` that we send, `$S2` the second, and so on.
"""

import difflib
import json
import re
from typing import Final, TypeAlias

from msgspec import Raw

from mcp_era_bridge.effects import EndChild, Ending, Finish, Keep, Remembered, StartChild
from mcp_era_bridge.joint import Joint
from mcp_era_bridge.settings import Settings
from mcp_era_modern.request_state import Seal
from mcp_era_wire.dirty import LongLine
from wire_models import (
    check_legacy_push,
    check_legacy_request,
    check_legacy_result,
    check_modern_line,
    check_modern_result,
)

Json: TypeAlias = "dict[str, Json] | list[Json] | str | int | float | bool | None"

FIRST_ID: Final = 1000
SEAL: Final = Seal(b"key", "run")
SERVER_INFO: Final = '{"name":"old","version":"1"}'
_IDENTITY: Final = '"_meta":{"io.modelcontextprotocol/serverInfo":' + SERVER_INFO + "}"
EVERYTHING: Final = (
    '{"roots":{},"sampling":{"context":{},"tools":{}},"elicitation":{"form":{},"url":{}}}'
)
"""The capabilities of a host that can be asked anything."""


def meta(capabilities: str = "{}", more: str = "") -> str:
    """The `_meta` member of a modern request, with more members if they are given."""
    return (
        '"_meta":{"io.modelcontextprotocol/protocolVersion":"2026-07-28",'
        '"io.modelcontextprotocol/clientInfo":{"name":"host","version":"2"},'
        f'"io.modelcontextprotocol/clientCapabilities":{capabilities}{more and "," + more}}}'
    )


MACROS: Final = {
    "$META": meta(),
    "$FULL": meta(EVERYTHING),
    "$DONE": '"resultType":"complete",' + _IDENTITY,
    "$LISTED": '"resultType":"complete","ttlMs":0,"cacheScope":"private",' + _IDENTITY,
    "$IDENTITY": _IDENTITY,
    "$PROBE2": str(FIRST_ID + 2),
    "$PROBE": str(FIRST_ID),
    "$HELLO2": str(FIRST_ID + 2),
    "$HELLO": str(FIRST_ID + 1),
}

PROBED: Final = """
host  > {"id":"d","method":"server/discover","params":{$META}}
child < {"id":$PROBE,"method":"server/discover","params":{$META}}
"""
"""A modern host's first request goes to the child as the probe."""

GREETED: Final = (
    PROBED
    + """
child > {"id":$PROBE,"error":{"code":-32601,"message":"Method not found"}}
child < {"id":$HELLO,"method":"initialize","params":{"protocolVersion":"2025-11-25",
         "capabilities":{},"clientInfo":{"name":"host","version":"2"}}}
"""
)
"""The child refused the probe and is shaken hands with."""

DISCOVERED: Final = """
host  < {"id":"d","result":{"supportedVersions":["2026-07-28"],"capabilities":{"tools":{}},
         $LISTED}}
"""

OPENED: Final = (
    GREETED
    + """
child > {"id":$HELLO,"result":{"protocolVersion":"2025-11-25","capabilities":{"tools":{}},
         "serverInfo":{"name":"old","version":"1"}}}
child < {"method":"notifications/initialized"}
"""
    + DISCOVERED
)
"""A modern host and a legacy child, joined."""


def opened(
    capabilities: str = EVERYTHING,
    *,
    offers: str = '{"tools":{}}',
    version: str = "2025-11-25",
    declared: str | None = None,
) -> str:
    """A modern host that declares `capabilities`, joined to a legacy child of `version` that offers
    `offers`. `declared` is what the child is told, if that is not the same."""
    if declared is None:
        declared = capabilities.replace('"roots":{}', '"roots":{"listChanged":true}')
    host = meta(capabilities)
    return f"""
host  > {{"id":"d","method":"server/discover","params":{{{host}}}}}
child < {{"id":$PROBE,"method":"server/discover","params":{{{host}}}}}
child > {{"id":$PROBE,"error":{{"code":-32601,"message":"Method not found"}}}}
child < {{"id":$HELLO,"method":"initialize","params":{{"protocolVersion":"2025-11-25",
         "capabilities":{declared},"clientInfo":{{"name":"host","version":"2"}}}}}}
child > {{"id":$HELLO,"result":{{"protocolVersion":"{version}","capabilities":{offers},
         "serverInfo":{SERVER_INFO}}}}}
child < {{"method":"notifications/initialized"}}
host  < {{"id":"d","result":{{"supportedVersions":["2026-07-28"],"capabilities":{offers},
         $LISTED}}}}
"""


_LINE = re.compile(r"(host|child\d*)\s*([<>!])\s?(.*)|([a-z]+)(\d*)\s*(.*)", re.DOTALL)
_EFFECTS = ("noise", "start", "beside", "end", "finish", "keep", "forget")


class Conversation:
    """One joint and what has been said so far; `play` may be called again and again."""

    def __init__(
        self, settings: Settings | None = None, remembered: Remembered | None = None
    ) -> None:
        bridge_info = Raw(b'{"name":"bridge","version":"0"}')
        self.joint = Joint(settings or Settings(), FIRST_ID, bridge_info, SEAL, remembered)
        self.states: list[str] = []
        """Every `requestState` that we have sent."""
        self.now = 100.0
        self.joint.child_started(1, self.now)
        self._asked: dict[str, str] = {}
        self._initialize: Json = None
        self._version = "2025-11-25"
        self._has_tasks = False
        """Whether the child makes tasks of calls."""
        self._bridging = False
        """Whether we have shaken hands with the child ourselves: then two eras are at work."""
        self._handshaken: str | None = None
        """The version that we have agreed on with a legacy host whose child is modern."""
        self._relayed = False
        """Whether the child has answered the host's `initialize` itself."""
        self._asked_here: dict[str, str] = {}
        """The methods of the requests of such a host."""

    def play(self, script: str) -> None:
        """Plays a script to its end; raises AssertionError with both sides where they differ."""
        event: str | None = None
        expected: list[str] = []
        for line in [*_logical_lines(script), None]:
            if line is not None and _is_effect(line):
                expected.append(line)
                continue
            if event is not None:
                self._check(event, expected, self._happen(event))
            elif expected:
                raise AssertionError(f"the script begins with an effect: {expected[0]}")
            event, expected = line, []

    # What happens --------------------------------------------------------------------------------

    def _happen(self, line: str) -> list[str]:
        match = _LINE.fullmatch(line)
        assert match is not None, line
        side, direction, text, word, number, rest = match.groups()
        process = int((number or (side or "").removeprefix("child").removeprefix("host")) or 0)
        process = process or self.joint.process
        if side is not None:
            text = self._with_states(text)
            wire = _raw_bytes(text) if direction == "!" else _wire_line(text)
            if side == "host":
                self._note_request(_loads(wire))
                self.joint.from_host([wire], wire.isascii(), self.now)
            else:
                self._note_version(wire)
                self.joint.from_child(process, [wire], wire.isascii(), self.now)
        elif word == "ended":
            self.joint.child_ended(process, _ending(rest), self.now)
        elif word == "missing":
            self.joint.child_not_started(process, rest, self.now)
        elif word in ("unread", "read"):
            self.joint.child_has_read(word == "read")
        elif word == "after":
            self._let_pass(float(rest))
        elif word == "eof":
            self.joint.host_ended(self.now)
        else:
            raise AssertionError(f"not an event: {line}")
        return self._effects()

    def _with_states(self, text: str) -> str:
        return re.sub(r"\$S(\d+)", lambda match: self.states[int(match[1]) - 1], text)

    def _without_states(self, text: str) -> str:
        for number, state in enumerate(self.states, 1):
            text = text.replace(state, f"$S{number}")
        return text

    def _let_pass(self, seconds: float) -> None:
        end = self.now + seconds
        while (due := self.joint.deadline) is not None and due <= end:
            assert due >= self.now, "a deadline in the past"
            self.now = due
            self.joint.passed(due)
        self.now = end

    def _note_request(self, message: Json) -> None:
        if isinstance(message, list):
            for item in message:
                self._note_request(item)
        if isinstance(message, dict) and "method" in message and "id" in message:
            params, id = message.get("params"), json.dumps(message["id"])
            if message["method"] == "initialize" and self._handshaken is None:
                self._initialize = message["id"]
                self._relayed = False
            if isinstance(params, dict) and _VERSION_KEY in json.dumps(params.get("_meta")):
                self._asked[id] = str(message["method"])
            else:
                self._asked_here[id] = str(message["method"])

    def _note_version(self, wire: bytes) -> None:
        self._relayed |= b'"protocolVersion"' in wire
        message = _loads(wire)
        result = message.get("result") if isinstance(message, dict) else None
        if isinstance(result, dict) and isinstance(result.get("protocolVersion"), str):
            self._version = str(result["protocolVersion"])
            self._has_tasks = '"tasks"' in json.dumps(result.get("capabilities"))

    # What comes out ------------------------------------------------------------------------------

    def _effects(self) -> list[str]:
        out = self.joint.out
        effects = [f"child < {text}" for text in _lines(out.to_child)]
        for number, pieces in out.to_others.items():
            effects += [f"child{number} < {text}" for text in _lines(pieces)]
            pieces.clear()
        effects += [f"host < {text}" for text in _lines(out.to_host)]
        effects += [f"noise {line.decode('utf-8', 'backslashreplace')}" for line in out.noise]
        for action in out.actions:
            match action:
                case StartChild(number, None):
                    effects.append(f"beside {number}")
                    self.joint.child_started(number, self.now)
                case StartChild(number):
                    effects.append(f"start {number}")
                    self._bridging = False
                    self.joint.child_started(number, self.now)
                case EndChild(number):
                    effects.append(f"end {number}")
                case Keep(None):
                    effects.append("forget")
                case Keep(remembered) if remembered is not None:
                    effects.append(f"keep {remembered.memory.value}")
                case Finish(code):
                    effects.append(f"finish {code}")
                case _:
                    raise AssertionError(action)
        for each in (out.to_child, out.to_host, out.host_breaks, out.noise, out.actions, out.notes):
            each.clear()
        self._validate(effects)
        return [self._without_states(effect) for effect in effects]

    def _validate(self, effects: list[str]) -> None:
        for effect in effects:
            side, _, text = effect.partition(" < ")
            message = _loads(text.encode()) if text else None
            for each in message if isinstance(message, list) else [message]:
                if isinstance(each, dict):
                    self._validate_handshaken(side.rstrip("0123456789"), each)
            if not isinstance(message, dict):
                continue
            side = side.rstrip("0123456789")
            if side == "child" and message.get("method") == "notifications/initialized":
                self._bridging = self._initialize is None
            if not self._bridging:
                continue
            if side == "host" and "id" in message:
                result = message.get("result")
                if isinstance(result, dict) and "requestState" in result:
                    self.states.append(str(result["requestState"]))
                method = self._asked.pop(json.dumps(message["id"]), None)
                if method is not None and isinstance(message.get("result"), dict):
                    check_modern_result(method, message["result"])
            if side == "child" and "method" in message and "id" in message:
                check_legacy_request(message, self._version, self._has_tasks)

    def _validate_handshaken(self, side: str, message: "dict[str, Json]") -> None:
        """Both ends of a legacy host and a modern child, once they are joined."""
        result, id = message.get("result"), json.dumps(message.get("id"))
        is_ours = isinstance(result, dict) and "protocolVersion" in result and not self._relayed
        is_ours = is_ours and not self._bridging
        if side == "host" and is_ours and message["id"] == self._initialize:
            assert isinstance(result, dict)
            self._handshaken = str(result["protocolVersion"])
            check_legacy_result("initialize", self._handshaken, result)
        elif self._handshaken is None or id in self._asked:
            return
        elif side == "host" and "subscriptionId" in json.dumps(message.get("params")):
            return  # of a stream that the host has opened itself
        elif side == "child" and message.get("method") == "initialize":
            self._handshaken = None
        elif side == "child":
            check_modern_line(message)
        elif side == "host" and "method" in message:
            check_legacy_push(message, self._handshaken)
        elif side == "host" and "result" in message:
            method = self._asked_here.pop(id, "")
            check_legacy_result(method, self._handshaken, result)

    def _check(self, event: str, expected: list[str], got: list[str]) -> None:
        wanted = sorted((_normal(line) for line in expected), key=_destination)
        seen = sorted((_normal(line) for line in got), key=_destination)
        if wanted != seen:
            diff = "\n".join(difflib.ndiff(wanted, seen))
            raise AssertionError(f"after\n  {event}\nexpected (-) and seen (+) differ:\n{diff}")


def play(
    *scripts: str, settings: Settings | None = None, remembered: Remembered | None = None
) -> Conversation:
    """Plays scripts as one and returns the conversation, to be gone on with."""
    conversation = Conversation(settings, remembered)
    conversation.play("\n".join(scripts))
    return conversation


_VERSION_KEY: Final = "io.modelcontextprotocol/protocolVersion"


def _logical_lines(script: str) -> list[str]:
    """Lines without comments; a line that is indented goes on with the one before."""
    lines: list[str] = []
    for line in script.splitlines():
        if not line.strip() or line.lstrip().startswith("#"):
            continue
        if line[0].isspace() and lines:
            lines[-1] += line.strip()
        else:
            lines.append(line.rstrip())
    return lines


def _is_effect(line: str) -> bool:
    match = _LINE.fullmatch(line)
    assert match is not None, line
    return match[2] == "<" or match[4] in _EFFECTS


def _expanded(text: str) -> str:
    for name in sorted(MACROS, key=len, reverse=True):
        text = text.replace(name, MACROS[name])
    return text


def _wire_line(text: str) -> bytes:
    text = _expanded(text)
    if text.startswith("{"):
        comma = "" if text[1:].lstrip().startswith("}") else ","
        text = '{"jsonrpc":"2.0"' + comma + text[1:]
    return text.encode()


def _raw_bytes(text: str) -> bytes:
    text = _expanded(text)
    if text.startswith("LONG "):
        line = text.removeprefix("LONG ").encode()
        return LongLine.of_ends(line, line, 1 << 30)
    return re.sub(rb"\\x([0-9a-f]{2})", lambda m: bytes([int(m[1], 16)]), text.encode())


def _loads(text: bytes) -> Json:
    try:
        loaded: Json = json.loads(text)
    except (ValueError, RecursionError):
        return None
    return loaded


def _no_twins(pairs: "list[tuple[str, Json]]") -> "dict[str, Json]":
    assert len({name for name, _ in pairs}) == len(pairs), f"a member stands twice: {pairs}"
    return dict(pairs)


def _normal(line: str) -> str:
    """An effect in one spelling: members sorted, macros expanded, `jsonrpc` left out."""
    match = _LINE.fullmatch(line)
    assert match is not None, line
    side, _, text, word, number, rest = match.groups()
    if side is None:
        return f"{word}{number} {rest}".strip()
    loaded: Json = json.loads(_expanded(text), object_pairs_hook=_no_twins)
    if isinstance(loaded, dict):
        assert loaded.pop("jsonrpc", "2.0") == "2.0"
    return f"{side} < {json.dumps(loaded, sort_keys=True, ensure_ascii=False)}"


def _destination(line: str) -> str:
    return line.split(" ")[0]


def _lines(pieces: "list[bytes | memoryview]") -> list[str]:
    wire = b"".join(pieces)
    assert not wire or wire.endswith(b"\n"), wire
    texts = wire.decode("utf-8").split("\n")[:-1]
    for text in texts:
        message = _loads(text.encode())
        if isinstance(message, dict) and "id" in message:
            assert isinstance(message["id"], int | str | float | None)
    return texts


def _ending(text: str) -> Ending:
    if text.isdigit():
        return Ending(f"exited with code {text}", code=int(text), stderr=["last words"])
    return Ending(f"was ended by {text}", signal=9)
