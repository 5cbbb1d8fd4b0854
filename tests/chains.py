"""Plays dialogues of a host and a server through several bridges in a row: no I/O, no clock.

Lives here: joints wired back to back, the notation of a dialogue, and the names that it gives to
what every bridge names anew. Does not: the dialogues (round_trips.py), any expectation of theirs.

A dialogue is written as the host and the server would have it without any bridge:

    host   > {...}         the host writes a line, and the server gets the very same
    server > {...}         the server writes a line, and the host gets the very same
    after 2                so many seconds later

What differs with the bridges stands below the line that it comes of, and is then all that comes:

    server < {...}         the server gets this
    host   < {...}         the host gets this
    nothing                nobody gets anything

Ids, progress tokens, `requestState`, the keys of `inputRequests` and elicitationIds are names: each
end may know the other's by another name, but always by the same one, and its own comes back to it
as it gave it. Apart from them everything counts, down to the spelling of numbers; only the order of
members does not. `$META` and the like are those of conversation.py.
"""

import json
import re
from collections.abc import Iterator
from typing import Final, NamedTuple, TypeAlias

from msgspec import Raw

from conversation import MACROS, SEAL
from mcp_era_bridge.effects import Keep
from mcp_era_bridge.joint import Joint
from mcp_era_bridge.settings import Settings
from mcp_era_wire.envelope import Buffer
from mcp_era_wire.versions import Era


class Number(NamedTuple):
    """A number as it was spelt: 1.50 is not 1.5, and 2^70 is not rounded."""

    text: str


Json: TypeAlias = "dict[str, Json] | list[Json] | str | Number | bool | None"
Object: TypeAlias = "dict[str, Json]"

HOST, SERVER = "host", "server"
_OTHER: Final = {HOST: SERVER, SERVER: HOST}
_MOMENT: Final = 0.1
"""Seconds after each line: questions are gathered, a call without questions is made again."""
_SUBSCRIPTION_ID: Final = "io.modelcontextprotocol/subscriptionId"
_LINE: Final = re.compile(r"(host|server)\s*([<>])\s*(\{.*)|(nothing)|after\s+(\S+)", re.DOTALL)


class Chain:
    """Bridges in a row; each is given as the era of what it has behind itself (`--era`)."""

    def __init__(self, *eras: Era) -> None:
        self._now = 100.0
        self._joints: list[Joint] = []
        self.arrived: dict[str, list[str]] = {HOST: [], SERVER: []}
        """What has come out of the two ends."""
        for number, era in enumerate(eras, 1):
            info = Raw(b'{"name":"bridge %d","version":"0"}' % number)
            self._joints.append(Joint(Settings(era=era), 1000 * number, info, SEAL))
        for joint in self._joints:
            joint.child_started(1, self._now)

    def say(self, side: str, line: str) -> None:
        """An end writes a line."""
        wire = line.encode()
        if not self._joints:
            self.arrived[_OTHER[side]].append(line)
        elif side == HOST:
            self._joints[0].from_host([wire], wire.isascii(), self._now)
        else:
            last = self._joints[-1]
            last.from_child(last.process, [wire], wire.isascii(), self._now)
        self._pass_on()
        self.let_pass(_MOMENT)

    def let_pass(self, seconds: float) -> None:
        """Time goes by."""
        end = self._now + seconds
        while (due := self._deadline) is not None and due <= end:
            self._now = max(self._now, due)
            for joint in self._joints:
                joint.passed(self._now)
            self._pass_on()
        self._now = end

    @property
    def _deadline(self) -> float | None:
        times = (joint.deadline for joint in self._joints)
        return min((time for time in times if time is not None), default=None)

    def _pass_on(self) -> None:
        """What one has for another reaches it, until nobody has anything."""
        while any([self._pass_on_from(place) for place in range(len(self._joints))]):
            pass

    def _pass_on_from(self, place: int) -> bool:
        out = self._joints[place].out
        to_host, to_child = _taken(out.to_host), _taken(out.to_child)
        # One process each: nothing starts again, nothing ends, and everything is a message.
        assert all(isinstance(action, Keep) for action in out.actions), out.actions
        assert not out.to_others and not out.noise, (out.to_others, out.noise)
        out.actions.clear()
        out.notes.clear()
        out.host_breaks.clear()
        if to_host and place == 0:
            self.arrived[HOST] += [line.decode() for line in to_host]
        elif to_host:
            before = self._joints[place - 1]
            before.from_child(before.process, to_host, _are_ascii(to_host), self._now)
        if to_child and place + 1 == len(self._joints):
            self.arrived[SERVER] += [line.decode() for line in to_child]
        elif to_child:
            self._joints[place + 1].from_host(to_child, _are_ascii(to_child), self._now)
        return bool(to_host or to_child)


def _taken(pieces: list[Buffer]) -> list[bytes]:
    wire = b"".join(pieces)
    pieces.clear()
    assert not wire or wire.endswith(b"\n"), wire
    return wire.split(b"\n")[:-1]


def _are_ascii(lines: list[bytes]) -> bool:
    return all(line.isascii() for line in lines)


class Dialogue:
    """One dialogue through one chain; `play` may be called again and again."""

    def __init__(self, chain: Chain) -> None:
        self._chain = chain
        self._far: dict[tuple[str, str], dict[Json, Json]] = {}
        """What the other end calls what an end has named, by the kind and the giver of the name."""

    def play(self, script: str) -> None:
        """Plays a script to its end; raises AssertionError where something else comes."""
        for event, below in _events(script):
            self._happen(event, below)

    def _happen(self, event: str, below: list[str]) -> None:
        side, text, seconds = _parts(event)
        expected: list[tuple[str, Json]] = []
        if seconds is not None:
            self._chain.let_pass(float(seconds))
        else:
            message = _loads(text)
            self._chain.say(side, _dumps(self._named(message, side, at=side)))
            expected = [(_OTHER[side], message)]
        if below:
            told = (_parts(line) for line in below)
            expected = [(end, _loads(text)) for end, text, _ in told if end]
        for end in (SERVER, HOST):
            came, self._chain.arrived[end] = self._chain.arrived[end], []
            wanted = [message for where, message in expected if where == end]
            self._check(event, end, wanted, [_loads(line) for line in came])

    def _check(self, event: str, end: str, wanted: list[Json], came: list[Json]) -> None:
        for want, got in zip(wanted, came, strict=False):
            self._learn(want, got, _OTHER[end])
        named = [self._named(want, _OTHER[end], at=end) for want in wanted]
        if named != came:
            lacking = "".join(f"\n  - {_dumps(each)}" for each in named if each not in came)
            too_much = "".join(f"\n  + {_dumps(each)}" for each in came if each not in named)
            raise AssertionError(
                f"after\n    {event}\nthe {end} was to get (-) and gets (+):{lacking}{too_much}"
            )

    # Names ---------------------------------------------------------------------------------------

    def _learn(self, want: Json, got: Json, giver: str) -> None:
        """A message of `giver` has reached the other end, which has its own names for things."""
        if _at(want, "method") is not None and _at(want, "id") is not None:
            self._meet("id", giver, _at(want, "id"), _at(got, "id"))
            self._meet("token", giver, *_both(want, got, "params", "_meta", "progressToken"))
            self._meet("elicitation", giver, *_both(want, got, "params", "elicitationId"))
        self._meet("state", giver, *_both(want, got, "result", "requestState"))
        asked, heard = _both(want, got, "result", "inputRequests")
        if isinstance(asked, dict) and isinstance(heard, dict):
            for name, key in zip(asked, heard, strict=False):
                self._meet("key", giver, name, key)

    def _meet(self, kind: str, giver: str, name: Json, far: Json) -> None:
        if name is not None and far is not None:
            known = self._far.setdefault((kind, giver), {})
            known[name] = far
            # A key counts within its round only.
            twins = [other for other in known if known[other] == far and other != name]
            assert kind == "key" or not twins, f"{far} is {name} and {twins}"

    def _named(self, message: Json, writer: str, *, at: str) -> Json:
        """A message of `writer` with the names that things have at one end."""
        if not isinstance(message, dict):
            return message
        other = _OTHER[writer]

        def of(giver: str, kind: str, name: Json) -> Json:
            return name if giver == at else self._far.get((kind, giver), {}).get(name, name)

        def keyed(giver: str, entries: Json) -> Json:
            if not isinstance(entries, dict):
                return entries
            named: Object = {}
            for name, entry in entries.items():
                key = of(giver, "key", name)
                assert isinstance(key, str)
                named[key] = entry
            return named

        made = {**message}
        method = made.get("method")
        if "id" in made:
            made["id"] = of(writer if method is not None else other, "id", made["id"])
        for part in ("params", "result"):
            inside = made.get(part)
            if not isinstance(inside, dict):
                continue
            made[part] = inside = {**inside}
            for name, value in inside.items():
                if name == "requestState":
                    inside[name] = of(SERVER, "state", value)
                elif name in ("inputRequests", "inputResponses"):
                    inside[name] = keyed(SERVER, value)
                elif name == "elicitationId":
                    inside[name] = of(SERVER, "elicitation", value)
                elif name == "progressToken":
                    inside[name] = of(other, "token", value)
                elif name == "requestId":
                    asked = value in self._far.get(("id", writer), {})
                    inside[name] = of(writer if asked or writer == HOST else HOST, "id", value)
                elif name == "_meta" and isinstance(value, dict):
                    inside[name] = value = {**value}
                    if "progressToken" in value:
                        value["progressToken"] = of(writer, "token", value["progressToken"])
                    if _SUBSCRIPTION_ID in value:
                        value[_SUBSCRIPTION_ID] = of(HOST, "id", value[_SUBSCRIPTION_ID])
        return made


def _both(one: Json, two: Json, *path: str) -> tuple[Json, Json]:
    return _at(one, *path), _at(two, *path)


def _at(value: Json, *path: str) -> Json:
    for name in path:
        value = value.get(name) if isinstance(value, dict) else None
    return value


# Reading and writing -----------------------------------------------------------------------------


def has_losses(script: str) -> bool:
    """Whether anything in a dialogue is not as it would be without bridges."""
    return any(below for _, below in _events(script))


def _events(script: str) -> Iterator[tuple[str, list[str]]]:
    """Each event, and the lines below that say what comes of it."""
    event: str | None = None
    below: list[str] = []
    for line in _logical_lines(script):
        if _is_below(line):
            assert event is not None, f"the script begins with {line}"
            below.append(line)
            continue
        if event is not None:
            yield event, below
        event, below = line, []
    if event is not None:
        yield event, below


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


def _is_below(line: str) -> bool:
    return line == "nothing" or re.match(r"(host|server)\s*<", line) is not None


def _parts(line: str) -> tuple[str, str, str | None]:
    """The end, the message, and the seconds that go by."""
    match = _LINE.fullmatch(line)
    assert match is not None, line
    side, _, text, _, seconds = match.groups()
    return side or "", text or "", seconds


def _loads(text: str) -> Json:
    for name in sorted(MACROS, key=len, reverse=True):
        text = text.replace(name, MACROS[name])
    loaded: Json = json.loads(
        text, parse_int=Number, parse_float=Number, object_pairs_hook=_without_twins
    )
    if isinstance(loaded, dict):
        loaded.setdefault("jsonrpc", "2.0")
    return loaded


def _without_twins(pairs: list[tuple[str, Json]]) -> Object:
    assert len({name for name, _ in pairs}) == len(pairs), f"a member stands twice: {pairs}"
    return dict(pairs)


def _dumps(value: Json) -> str:
    if isinstance(value, Number):
        return value.text
    if isinstance(value, dict):
        inside = (f"{json.dumps(name)}:{_dumps(each)}" for name, each in value.items())
        return "{" + ",".join(inside) + "}"
    if isinstance(value, list):
        return "[" + ",".join(map(_dumps, value)) + "]"
    return json.dumps(value, ensure_ascii=False)
