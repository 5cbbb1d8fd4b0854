"""Any line of either side gives a defined answer or a note, never an exception."""

import json

import pytest
from hypothesis import example, given, settings
from hypothesis import strategies as st

from conversation import GREETED, OPENED, PROBED, Conversation, Json, play
from mcp_era_wire.dirty import examine
from mcp_era_wire.envelope import UNREADABLE, read_message, sound_utf8

clause = pytest.mark.clause

INITIALIZE = '{"id":0,"method":"initialize","params":{"protocolVersion":"2025-11-25"}}'
LEGACY_PAIR = f"""
host  > {INITIALIZE}
child < {INITIALIZE}
child > {{"id":0,"result":{{"protocolVersion":"2025-11-25"}}}}
host  < {{"id":0,"result":{{"protocolVersion":"2025-11-25"}}}}
"""
CALL = """
host  > {"id":"c","method":"tools/call","params":{"name":"t",$META}}
child < {"id":1,"method":"tools/call","params":{"name":"t"}}
"""
STATES = ["", PROBED, GREETED, OPENED, OPENED + CALL, LEGACY_PAIR]

json_values: st.SearchStrategy[Json] = st.recursive(
    st.none()
    | st.booleans()
    | st.integers()
    | st.floats()
    | st.text()
    | st.sampled_from(["c", "d", 0, 1, 1000, 1001, "2.0", "2026-07-28"]),
    lambda inner: st.lists(inner, max_size=4) | st.dictionaries(st.text(), inner, max_size=4),
    max_leaves=8,
)
member_names = st.sampled_from(
    ["jsonrpc", "id", "method", "params", "result", "error", "_meta", "code", "message", "tools"]
)
methods = st.sampled_from(
    [
        "tools/list",
        "tools/call",
        "resources/read",
        "initialize",
        "ping",
        "server/discover",
        "roots/list",
        "notifications/cancelled",
        "notifications/initialized",
        "x",
    ]
)


@st.composite
def near_messages(draw: st.DrawFn) -> bytes:
    """Objects that are nearly messages."""
    members: dict[str, Json] = draw(st.dictionaries(member_names, json_values, max_size=6))
    if draw(st.booleans()):
        members["jsonrpc"] = "2.0"
    if draw(st.booleans()):
        members["method"] = draw(methods)
    if draw(st.booleans()):
        members["id"] = draw(st.sampled_from(["c", "d", 0, 1, 1000, 1001, 7]))
    text = json.dumps(members, ensure_ascii=draw(st.booleans()))
    return text.encode("utf-8", "surrogatepass")


@st.composite
def torn(draw: st.DrawFn) -> bytes:
    """A line that somebody else has written into."""
    line = draw(near_messages())
    at = draw(st.integers(0, len(line)))
    return line[:at] + draw(st.binary(max_size=4)) + line[draw(st.integers(at, len(line))) :]


lines = (st.binary(max_size=60) | near_messages() | torn()).map(lambda b: b.replace(b"\n", b""))


def in_state(script: str) -> Conversation:
    """A fresh conversation in one of STATES."""
    return play(script)


def outcome(conversation: Conversation) -> tuple[list[bytes], list[bytes]]:
    """The lines for the host and for the child; strict UTF-8 and JSON, or the host's own bytes."""
    out = conversation.joint.out
    to_host, to_child = b"".join(out.to_host), b"".join(out.to_child)
    out.to_host.clear()
    out.to_child.clear()
    return to_host.split(b"\n")[:-1], to_child.split(b"\n")[:-1]


def check_messages(wire: list[bytes]) -> None:
    """Each line is one JSON-RPC message in UTF-8."""
    for line in wire:
        assert sound_utf8(line), line
        assert read_message(line).says_something, line


@clause("S-02", "S-79", "S-80", "S-81")
@given(state=st.sampled_from(STATES[:-1]), line=lines)
@settings(max_examples=400, deadline=None)
def test_whatever_a_host_says_comes_to_a_defined_end(state: str, line: bytes) -> None:
    conversation = in_state(state)
    outcome(conversation)
    conversation.joint.from_host([line], False, conversation.now)
    to_host, to_child = outcome(conversation)
    check_messages(to_host)
    check_messages(to_child)


@clause("S-02", "S-79", "S-80", "S-81")
@given(state=st.sampled_from(STATES[:-1]), line=lines)
@settings(max_examples=400, deadline=None)
def test_whatever_a_child_says_comes_to_a_defined_end(state: str, line: bytes) -> None:
    conversation = in_state(state)
    outcome(conversation)
    conversation.joint.from_child(1, [line], False, conversation.now)
    to_host, to_child = outcome(conversation)
    if conversation.joint.process == 1 and state != PROBED:
        check_messages(to_host)
    check_messages(to_child)


@given(line=lines)
@example(line=b'{"jsonrpc":"2.0","id":0,"result":{}}\x80')
@example(line=b'{"jsonrpc":"2.0","id":0,"result":"\xff"}\xfe{"jsonrpc":"2.0","method":"\xfd"}')
@settings(max_examples=200, deadline=None)
def test_a_pair_of_one_era_gets_every_line_or_sees_it_noted(line: bytes) -> None:
    conversation = in_state(LEGACY_PAIR)
    outcome(conversation)
    conversation.joint.from_host([line], False, conversation.now)
    assert outcome(conversation) == ([], [line])
    conversation.joint.from_child(1, [line], False, conversation.now)
    to_host, _ = outcome(conversation)
    noted = conversation.joint.out.noise
    # Every piece of it is with the host or on stderr, and none is there that was not in it.
    for piece in (*to_host, *noted):
        assert piece in line
    assert sorted(solid(b"".join((*to_host, *noted)))) == sorted(solid(line))


def solid(text: bytes) -> bytes:
    """The bytes without white space and byte order marks, which may go."""
    return text.translate(None, b" \t\r\n\xef\xbb\xbf")


@given(line=lines)
@settings(max_examples=300, deadline=None)
def test_a_line_the_decoder_takes_is_never_taken_for_anything_else(line: bytes) -> None:
    try:
        message = read_message(line)
    except UNREADABLE:
        examine(line, lenient=True)
        examine(line, lenient=False)
        return
    if sound_utf8(line) and message.says_something:
        again = examine(line, lenient=True)
        assert again.method == message.method and again.id == message.id  # type: ignore[union-attr]
