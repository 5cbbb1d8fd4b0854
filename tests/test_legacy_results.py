"""How the results of a modern server reach a legacy host: translation E.5.

Lists are in test_legacy_lists.py, properties of all results in test_legacy_result_properties.py.
"""

import json
from typing import Final

import pytest
from msgspec import Raw

from fitting import (
    AUDIO,
    BARE,
    DONE,
    LISTS,
    NEWEST,
    OLDEST,
    SERVER_INFO,
    STRUCTURED,
    Steps,
    checked,
    fitted,
    of,
)
from mcp_era_legacy.results import Fitter
from mcp_era_wire.versions import LEGACY_VERSIONS

NUMBERS: Final = '{"price":1.50,"huge":1e400,"id":12345678901234567890123}'

versions = pytest.mark.parametrize("version", LEGACY_VERSIONS)
methods = pytest.mark.parametrize("method", [*BARE, "com.example/do"])


@versions
@methods
@pytest.mark.parametrize("result", ["null", "[]", '"text"', "7", "true"])
def test_a_result_that_is_no_object_is_none(method: str, version: str, result: str) -> None:
    assert Fitter(version).fit(method, Raw(result.encode())) is None


@versions
@methods
def test_a_result_loses_what_only_the_modern_era_has(method: str, version: str) -> None:
    members = BARE.get(method, '"anything":{"at":["all"]}')
    sent = f'{{{DONE},"ttlMs":5,"cacheScope":"public",{members},"later":{NUMBERS}}}'
    assert fitted(method, version, sent) == f'{{{members},"later":{NUMBERS}}}'


@versions
@methods
@pytest.mark.parametrize(
    ("meta", "kept"),
    [
        (f"{{{SERVER_INFO}}}", None),
        ("{}", None),
        (f'{{"a":1.50,{SERVER_INFO},"b":{{}}}}', '{"a":1.50,"b":{}}'),
        ('{"a": 1.50}', '{"a": 1.50}'),
        ("null", "null"),
    ],
)
def test_the_servers_identity_is_no_part_of_a_result(
    method: str, version: str, meta: str, kept: str | None
) -> None:
    members = BARE.get(method, '"a":1')
    expected = f'{{{members},"_meta":{kept}}}' if kept else f"{{{members}}}"
    assert fitted(method, version, f'{{{members},"_meta":{meta}}}') == expected


@versions
def test_members_that_only_look_like_ours_are_left_alone(version: str) -> None:
    result = f'{{"a":{{{DONE},"ttlMs":0}},"structuredContent":[],"content":null}}'
    assert fitted("com.example/do", version, result) == result


@versions
@pytest.mark.parametrize("member", LISTS.items())
@pytest.mark.parametrize("value", ["{}", '"x"', "7", "[null,7,[]]"])
def test_lists_and_items_that_are_none_are_left_to_the_host(
    version: str, member: tuple[str, str], value: str
) -> None:
    method, name = member
    assert fitted(method, version, f'{{"{name}":{value}}}') == f'{{"{name}":{value}}}'


@versions
@pytest.mark.parametrize("method", [method for method in BARE if method.endswith("list")])
@pytest.mark.parametrize("cursor", ['""', '"\\u00e9"', '"x"'])
def test_a_cursor_stays_as_it_is(version: str, method: str, cursor: str) -> None:
    result = f'{{{BARE[method]},"nextCursor":{cursor}}}'
    assert checked(method, version, result) == result


# Content ---------------------------------------------------------------------------------------

TEXT: Final = '{"type":"text","text":"t"}'
BLOCKS: Final[list[tuple[str, Steps]]] = [
    (TEXT, [(OLDEST, None)]),
    ('{"type":"image","data":"aQ==","mimeType":"image/png"}', [(OLDEST, None)]),
    (
        '{"type":"audio","data":"aQ==","mimeType":"audio/wav"}',
        [(OLDEST, '{"type":"text","text":"[audio: audio/wav]"}'), (AUDIO, None)],
    ),
    (
        '{"type":"audio","data":"","mimeType":"a/b","_meta":{"k":1},"annotations":{"priority":1}}',
        [
            (OLDEST, '{"type":"text","text":"[audio: a/b]","annotations":{"priority":1}}'),
            (AUDIO, '{"type":"audio","data":"","mimeType":"a/b","annotations":{"priority":1}}'),
            (STRUCTURED, None),
        ],
    ),
    (
        '{"type":"resource_link","name":"n","uri":"x:y","size":3,"icons":[{"src":"data:"}]}',
        [
            (OLDEST, '{"type":"text","text":"n: x:y"}'),
            (STRUCTURED, '{"type":"resource_link","name":"n","uri":"x:y","size":3}'),
            (NEWEST, None),
        ],
    ),
    (
        '{"type":"resource_link","name":"n","title":"T \\"q\\"","uri":"x:y",'
        '"annotations":{"audience":["user"],"lastModified":"2026-01-01"}}',
        [
            (
                OLDEST,
                '{"type":"text","text":"T \\"q\\": x:y","annotations":{"audience":["user"]}}',
            ),
            (STRUCTURED, None),
        ],
    ),
    (
        '{"type":"text","text":"t","annotations":{"lastModified":"2026-01-01","priority":0.50}}',
        [
            (OLDEST, '{"type":"text","text":"t","annotations":{"priority":0.50}}'),
            (STRUCTURED, None),
        ],
    ),
    (
        '{"type":"text","text":"\\u0074","_meta":{"a":{}},"later":1e400}',
        [(OLDEST, '{"type":"text","text":"\\u0074","later":1e400}'), (STRUCTURED, None)],
    ),
    (
        '{"type":"resource","_meta":{},"resource":{"uri":"x:y","text":"t","_meta":{"a":1}}}',
        [(OLDEST, '{"type":"resource","resource":{"uri":"x:y","text":"t"}}'), (STRUCTURED, None)],
    ),
    ('{"type":"resource","resource":{"uri":"x:y","blob":"aQ=="}}', [(OLDEST, None)]),
]


@versions
@pytest.mark.parametrize(("block", "steps"), BLOCKS)
def test_a_block_is_one_that_the_revision_knows(version: str, block: str, steps: Steps) -> None:
    expected = of(steps, version) or block
    assert (
        checked("tools/call", version, f'{{"content":[{TEXT},{block},{TEXT}],{DONE}}}')
        == f'{{"content":[{TEXT},{expected},{TEXT}]}}'
    )
    assert (
        checked("prompts/get", version, f'{{"messages":[{{"role":"user","content":{block}}}]}}')
        == f'{{"messages":[{{"role":"user","content":{expected}}}]}}'
    )


@versions
@pytest.mark.parametrize(
    "block",
    ['{"type":"later","_meta":{"a":1},"icons":[]}', '{"type":7,"_meta":{}}', "{}", "[]", '"text"'],
)
def test_a_block_of_no_known_kind_passes(version: str, block: str) -> None:
    result = f'{{"content":[{block}]}}'
    assert fitted("tools/call", version, result) == result
    result = f'{{"messages":[{{"content":{block}}}]}}'
    assert fitted("prompts/get", version, result) == result


@pytest.mark.parametrize(
    ("block", "text"),
    [
        ('{"type":"audio"}', "[audio: unknown]"),
        ('{"type":"resource_link","uri":"x:y"}', "x:y"),
        ('{"type":"resource_link","name":"n","title":""}', "n"),
        ('{"type":"resource_link","name":"n","title":null,"uri":"x:y"}', "n: x:y"),
    ],
)
def test_a_bad_block_still_becomes_a_text(block: str, text: str) -> None:
    expected = f'{{"content":[{{"type":"text","text":"{text}"}}]}}'
    assert fitted("tools/call", OLDEST, f'{{"content":[{block}]}}') == expected


@versions
def test_contents_of_resources_have_no_meta_at_first(version: str) -> None:
    first = '{"uri":"x:y","blob":"aQ==","_meta":{"a":1}}'
    expected = first if version >= STRUCTURED else '{"uri":"x:y","blob":"aQ=="}'
    other = '{"uri":"x:z","text":"t","later":{"_meta":1.50}}'
    result = f'{{"contents":[{first},{other}],{DONE},"ttlMs":1,"cacheScope":"private"}}'
    assert checked("resources/read", version, result) == f'{{"contents":[{expected},{other}]}}'


@versions
@pytest.mark.parametrize("content", ["", ',"content":null'])
def test_a_call_without_content_gets_an_empty_one(version: str, content: str) -> None:
    result = f'{{"isError":true{content},{DONE}}}'
    assert checked("tools/call", version, result) == '{"isError":true,"content":[]}'


# Structured content ----------------------------------------------------------------------------


@versions
@pytest.mark.parametrize("value", ["null", "[1.50, 2]", "1e400", '"a \\ud83d\\ude00"', "false"])
@pytest.mark.parametrize("content", [f"[{TEXT}]", "[]"])
def test_structured_content_that_is_no_object_becomes_text(
    version: str, value: str, content: str
) -> None:
    text = json.dumps(value, ensure_ascii=False)
    expected = content if "text" in content else f'[{{"type":"text","text":{text}}}]'
    result = f'{{"structuredContent":{value},"content":{content},{DONE}}}'
    assert checked("tools/call", version, result) == f'{{"content":{expected}}}'


@versions
def test_structured_content_without_content_is_said_in_text(version: str) -> None:
    result = '{"structuredContent":["\u00e9"],"resultType":"complete"}'
    expected = '{"content":[{"type":"text","text":"[\\"\u00e9\\"]"}]}'
    assert checked("tools/call", version, result) == expected


@versions
def test_an_object_stays_where_the_revision_has_structured_content(version: str) -> None:
    result = f'{{"content":[],"structuredContent":{NUMBERS}}}'
    text = json.dumps(NUMBERS)
    if version < STRUCTURED:
        expected = f'{{"content":[{{"type":"text","text":{text}}}]}}'
    else:
        expected = result
    assert checked("tools/call", version, result) == expected


@versions
def test_the_text_of_a_link_is_not_that_of_the_structured_content(version: str) -> None:
    link = '{"type":"resource_link","name":"n","uri":"x:y"}'
    shown = link if version >= STRUCTURED else '{"type":"text","text":"n: x:y"}'
    result = f'{{"content":[{link}],"structuredContent":[1]}}'
    assert (
        checked("tools/call", version, result)
        == f'{{"content":[{shown},{{"type":"text","text":"[1]"}}]}}'
    )


@versions
def test_structured_content_beside_content_that_is_none_goes(version: str) -> None:
    result = '{"content":"text","structuredContent":[1]}'
    assert fitted("tools/call", version, result) == '{"content":"text"}'


ARRAY_TOOL: Final = '{"name":"t","inputSchema":{"type":"object"},"outputSchema":{"type":"array"}}'
OBJECT_TOOL: Final = ARRAY_TOOL.replace("array", "object")
STRUCTURED_CALL: Final = f'{{"content":[{TEXT}],"structuredContent":{{"a":1}}}}'
PLAIN_CALL: Final = f'{{"content":[{TEXT}]}}'


@pytest.mark.parametrize("version", [STRUCTURED, NEWEST])
def test_a_tool_without_its_output_schema_has_no_structured_content(version: str) -> None:
    fitter = Fitter(version)

    def listed(*tools: str) -> str:
        return fitted("tools/list", version, f'{{"tools":[{",".join(tools)}]}}', None, fitter)

    def called(tool: str | None) -> str:
        return fitted("tools/call", version, STRUCTURED_CALL, tool, fitter)

    other = OBJECT_TOOL.replace('"t"', '"other"')
    assert called("t") == STRUCTURED_CALL
    pieces = fitter.fit("tools/list", Raw(f'{{"tools":[{other},{ARRAY_TOOL}]}}'.encode()))
    assert pieces is not None
    assert b"".join(pieces).count(b"outputSchema") == 1
    assert called("t") == PLAIN_CALL
    assert called("other") == called(None) == STRUCTURED_CALL
    listed(other)
    assert called("t") == PLAIN_CALL
    assert "outputSchema" in listed(OBJECT_TOOL)
    assert called("t") == STRUCTURED_CALL


def test_only_so_many_tools_without_their_output_schema_are_remembered() -> None:
    fitter = Fitter(NEWEST)
    tools = ",".join(ARRAY_TOOL.replace('"t"', f'"t{number}"') for number in range(1025))
    assert fitter.fit("tools/list", Raw(f'{{"tools":[{tools}]}}'.encode())) is not None
    for name, expected in (("t0", STRUCTURED_CALL), ("t1", PLAIN_CALL), ("t1024", PLAIN_CALL)):
        assert fitted("tools/call", NEWEST, STRUCTURED_CALL, name, fitter) == expected
