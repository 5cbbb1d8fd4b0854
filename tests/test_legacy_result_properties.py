"""What holds for every result on its way to a legacy host: translation E.5, design D13."""

import json
import tracemalloc
from typing import Final

import pytest
from hypothesis import given
from hypothesis import strategies as st
from mcp_types.methods import validate_server_result
from msgspec import Raw

from fitting import BARE, LISTS, NEWEST, OLDEST, SERVER_INFO_KEY, checked, fitted
from good_results import RESULTS
from mcp_era_legacy.results import Fitter
from mcp_era_wire.members import open_object
from mcp_era_wire.versions import LEGACY_VERSIONS


def written(value: object) -> str:
    return json.dumps(value, ensure_ascii=False, separators=(",", ":"))


def an_object(members: dict[str, str]) -> str:
    return "{" + ",".join(f"{written(name)}:{value}" for name, value in members.items()) + "}"


plain_texts = st.text(st.characters(exclude_categories=["Cs"]), max_size=8)
names = plain_texts | st.sampled_from(
    [
        *("resultType", "ttlMs", "cacheScope", "_meta", "structuredContent", "content", "type"),
        *("title", "icons", "annotations", "outputSchema", "execution", "text", "name"),
        *(SERVER_INFO_KEY, "lastModified", "resource", "arguments", "properties"),
        *LISTS.values(),
    ]
)
scalars = (
    st.sampled_from(["null", "true", "false", "1.50", "1e400", "-0.0", "12345678901234567890123"])
    | st.sampled_from(['"text"', '"audio"', '"resource_link"', '"resource"', '"object"'])
    | plain_texts.map(written)
)
values = st.recursive(
    scalars,
    lambda inner: (
        st.lists(inner, max_size=4).map(lambda each: f"[{','.join(each)}]")
        | st.dictionaries(names, inner, max_size=6).map(an_object)
    ),
    max_leaves=20,
)
objects = st.dictionaries(names, values, max_size=8)

MENDED: Final = {"resultType", "ttlMs", "cacheScope", "_meta"}
MENDED_IN: Final = {method: {name} for method, name in LISTS.items()} | {
    "tools/call": {"content", "structuredContent"}
}


@given(objects, st.sampled_from([*BARE, "com.example/do"]), st.sampled_from(LEGACY_VERSIONS))
def test_whatever_no_rule_names_survives_byte_for_byte(
    members: dict[str, str], method: str, version: str
) -> None:
    after = open_object(fitted(method, version, an_object(members)).encode())
    ruled = MENDED | MENDED_IN.get(method, set())
    kept = {name: value for name, value in members.items() if name not in ruled}
    assert {name: bytes(value).decode() for name, value in after.items() if name not in ruled} == (
        kept
    )
    assert after.keys() <= members.keys() | {"content"}


@pytest.mark.parametrize("method", RESULTS)
@given(data=st.data())
def test_a_good_modern_result_becomes_a_good_legacy_one(method: str, data: st.DataObject) -> None:
    result = data.draw(RESULTS[method])
    validate_server_result(method, "2026-07-28", result)
    for version in LEGACY_VERSIONS:
        checked(method, version, json.dumps(result), "t")


# Size ------------------------------------------------------------------------------------------

LARGE: Final = 1 << 22


def test_a_large_result_is_passed_on_in_pieces_and_never_copied() -> None:
    content = b'[{"type":"text","text":"' + b"x" * LARGE + b'"}]'
    result = Raw(
        b'{"resultType":"complete","isError":false,"content":%b,"a":1,"_meta":{}}' % content
    )
    fitter = Fitter(NEWEST)
    tracemalloc.start()
    try:
        pieces = fitter.fit("tools/call", result)
        most = tracemalloc.get_traced_memory()[1]
    finally:
        tracemalloc.stop()
    assert pieces is not None
    assert b"".join(pieces) == b'{"isError":false,"content":%b,"a":1}' % content
    assert [type(piece) for piece in pieces] == [bytes, memoryview, bytes]
    assert most < LARGE / 8


@pytest.mark.parametrize(
    ("sent", "expected"),
    [
        (b'{"b":$,"resultType":"complete"}', b'{"b":$}'),
        (b'{"b":$,"c":$}', b'{"b":$,"c":$}'),
        (b'{"resultType":$}', b"{}"),
        (b'{"a":1,"resultType":$,"b":2}', b'{"a":1,"b":2}'),
    ],
)
def test_the_pieces_of_a_large_result_make_an_object(sent: bytes, expected: bytes) -> None:
    large = b'"' + b"x" * (1 << 16) + b'"'
    pieces = Fitter(NEWEST).fit("com.example/do", Raw(sent.replace(b"$", large)))
    assert pieces is not None
    assert b"".join(pieces) == expected.replace(b"$", large)


@pytest.mark.parametrize("version", [OLDEST, NEWEST])
def test_large_data_of_a_block_becomes_no_text_of_ours(version: str) -> None:
    # The content is copied here, for there is a block to put beside it or to mend, but not opened.
    result = Raw(
        b'{"content":[{"type":"image","mimeType":"a/b","data":"%b","_meta":{}}],'
        b'"structuredContent":[]}' % (b"\\u0041" * (LARGE // 6))
    )
    tracemalloc.start()
    try:
        pieces = Fitter(version).fit("tools/call", result)
        most = tracemalloc.get_traced_memory()[1]
    finally:
        tracemalloc.stop()
    assert pieces is not None and b"\\u0041\\u0041" in b"".join(pieces)
    assert most < 4 * LARGE
