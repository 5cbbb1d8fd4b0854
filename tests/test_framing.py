"""Any split of a stream gives the same lines. Spec 2026-07-28, basic/transports/stdio (messages are
delimited by newlines); design of the bridge: dirty input (the line limit)."""

import itertools
import tracemalloc

from hypothesis import example, given
from hypothesis import strategies as st

from mcp_era_bridge.framing import LineCutter
from mcp_era_wire.dirty import LongLine

EDGE = 4096
LIMIT = 3 * EDGE
"""Small, and yet more than the two ends that are kept of a longer line."""

lines = st.one_of(
    st.binary(max_size=40),
    st.text(max_size=20).map(str.encode),
    st.sampled_from(["{}", '{"id":1}\r', "größe", "\r", "", "\x00"]).map(str.encode),
)
streams = st.lists(lines).map(b"\n".join)
cuts = st.lists(st.floats(0, 1), max_size=8)


def pieces(stream: bytes, cuts: list[float]) -> list[bytes]:
    """The stream in pieces, cut at these fractions of it."""
    places = [0, *sorted(round(cut * len(stream)) for cut in cuts), len(stream)]
    return [stream[a:b] for a, b in itertools.pairwise(places) if a < b]


def cut(chunks: list[bytes], limit: int = LIMIT) -> list[bytes]:
    """All lines, the last one too if it has no line feed; checks what is said of them."""
    cutter = LineCutter(limit)
    found: list[bytes] = []
    for chunk in chunks:
        told = cutter.feed(chunk)
        assert not (told and cutter.ascii) or all(line.isascii() for line in told)
        found += told
    told = cutter.rest()
    assert not (told and cutter.ascii) or all(line.isascii() for line in told)
    return found + told


def plain(stream: bytes) -> list[bytes]:
    """The lines as anybody would say."""
    whole = stream.split(b"\n")
    return whole if whole[-1] else whole[:-1]


def seen(line: bytes) -> tuple[bytes, int | None]:
    """All that can be seen of a line: a long one is known by its size."""
    return bytes(line), line.size if isinstance(line, LongLine) else None


@given(streams, cuts)
@example(b"", [])
@example(b"\n", [])
@example(b"\r\n\r\n", [0.25, 0.5])
@example("ä\n".encode(), [0.4])
@example("ä\nb\nc".encode(), [0.4, 0.7])
@example("a\nbä".encode(), [0.8])
def test_any_split_gives_the_same_lines(stream: bytes, cuts: list[float]) -> None:
    assert cut(pieces(stream, cuts)) == plain(stream)


@given(streams)
def test_single_bytes_give_the_same_lines(stream: bytes) -> None:
    assert cut([stream[i : i + 1] for i in range(len(stream))]) == plain(stream)


@given(st.lists(st.text(st.characters(max_codepoint=127), max_size=9)), cuts)
def test_a_stream_of_ascii_is_always_said_to_be(texts: list[str], cuts: list[float]) -> None:
    cutter = LineCutter(LIMIT)
    for chunk in pieces("\n".join(texts).encode(), cuts):
        cutter.feed(chunk)
        assert cutter.ascii
    cutter.rest()
    assert cutter.ascii


def test_ascii_is_said_anew_of_every_line_that_begins_in_a_chunk_of_its_own() -> None:
    cutter = LineCutter(LIMIT)
    assert (cutter.feed("ä\n".encode()), cutter.ascii) == (["ä".encode()], False)
    assert (cutter.feed(b"a\n"), cutter.ascii) == ([b"a"], True)


def test_a_line_begun_in_another_chunk_counts_for_ascii() -> None:
    cutter = LineCutter(LIMIT)
    assert cutter.feed("ä".encode()) == []
    assert (cutter.feed(b"b\nc\n"), cutter.ascii) == (["äb".encode(), b"c"], False)


def test_a_carriage_return_is_left_to_the_decoder() -> None:
    assert cut([b"{}\r\n", b"{}\r", b"\n"]) == [b"{}\r", b"{}\r"]


def test_the_last_line_needs_no_line_feed() -> None:
    cutter = LineCutter(LIMIT)
    assert cutter.feed(b"a\nb") == [b"a"]
    assert cutter.rest() == [b"b"]
    assert cutter.rest() == []


def test_nothing_is_left_of_a_stream_that_ends_with_a_line_feed() -> None:
    cutter = LineCutter(LIMIT)
    assert cutter.feed(b"a\n") == [b"a"]
    assert cutter.rest() == []


# The limit --------------------------------------------------------------------------------------


def numbered(size: int) -> bytes:
    """Bytes of which no two windows look alike."""
    return b"".join(b"%d," % number for number in range(size // 4 + 4))[:size]


def as_long(line: bytes) -> LongLine:
    return LongLine.of_ends(line, line, len(line))


@given(
    st.integers(LIMIT + 1, 3 * LIMIT),
    st.sampled_from([b"", b"a\n", b"a\n\n"]),
    st.sampled_from([b"", b"\n", b"\nb\n", b"\nb"]),
    cuts,
)
@example(LIMIT + 1, b"", b"", [])
@example(LIMIT + 1, b"", b"\n", [0.1])
@example(LIMIT + 1, b"", b"\n", [0.1, 0.2])
@example(2 * LIMIT, b"", b"\n", [0.5, 0.51, 0.52, 0.99])
def test_any_split_gives_the_same_ends_and_size_of_a_line_over_the_limit(
    size: int, before: bytes, after: bytes, cuts: list[float]
) -> None:
    stream = before + numbered(size) + after
    expected = [as_long(x) if len(x) > LIMIT else x for x in plain(stream)]
    assert [seen(x) for x in cut(pieces(stream, cuts))] == [seen(x) for x in expected]


@given(cuts)
def test_a_line_of_just_the_limit_is_whole(cuts: list[float]) -> None:
    stream = numbered(LIMIT)
    (line,) = cut(pieces(stream + b"\n", cuts))
    assert seen(line) == (stream, None)


def test_a_line_over_the_limit_in_one_chunk_with_others() -> None:
    stream = b"a\n" + numbered(LIMIT + 1) + b"\nb\n" + numbered(LIMIT + 2)
    found = [seen(line) for line in cut([stream])]
    assert [size for _, size in found] == [None, LIMIT + 1, None, LIMIT + 2]


def test_of_an_endless_line_only_the_ends_are_kept() -> None:
    cutter = LineCutter(1 << 20)
    size = 1 << 16
    tracemalloc.start()
    try:
        for _ in range(1 << 10):
            assert cutter.feed(b"x" * size) == []
        _, most = tracemalloc.get_traced_memory()
    finally:
        tracemalloc.stop()
    (line,) = cutter.rest()
    assert isinstance(line, LongLine)
    assert line.size == 1 << 26
    # The limit, once more while it is joined, and a little.
    assert most < 4 << 20


def test_after_a_line_over_the_limit_everything_is_as_before() -> None:
    cutter = LineCutter(LIMIT)
    for _ in range(5):
        cutter.feed(b"\xff" * LIMIT)
    (long,) = cutter.feed(b"\n")
    assert seen(long)[1] == 5 * LIMIT
    assert not cutter.ascii
    assert (cutter.feed(b"a\n"), cutter.ascii) == ([b"a"], True)
