"""How what a modern server lists reaches a legacy host: translation E.5."""

from typing import Final

import pytest

from fitting import AUDIO, DONE, NEWEST, OLDEST, STRUCTURED, Steps, checked, fitted, of
from mcp_era_wire.versions import LEGACY_VERSIONS

versions = pytest.mark.parametrize("version", LEGACY_VERSIONS)

INPUT: Final = '"inputSchema":{"type":"object"}'
TOOLS: Final[list[tuple[str, Steps]]] = [
    (f'{{"name":"t",{INPUT},"later":{{"execution":1.50}}}}', [(OLDEST, None)]),
    (
        '{"name":"t","inputSchema":{"type":"object","oneOf":[{"required":["a"]}],"$defs":{"x":true},'
        '"properties":{"a":{"const":1e400}},"additionalProperties":false}}',
        [(OLDEST, None)],
    ),
    (
        f'{{"name":"t",{INPUT},"execution":{{"taskSupport":"required"}}}}',
        [(OLDEST, f'{{"name":"t",{INPUT}}}')],
    ),
    (
        '{"name":"t","inputSchema":{"type":"object","properties":{"a":true,"b":false,"c":{}}}}',
        [
            (
                OLDEST,
                '{"name":"t","inputSchema":'
                '{"type":"object","properties":{"a":{},"b":{"not":{}},"c":{}}}}',
            )
        ],
    ),
    (
        f'{{"name":"t",{INPUT},"outputSchema":{{"type":"object","properties":{{"a":true}}}}}}',
        [
            (OLDEST, f'{{"name":"t",{INPUT}}}'),
            (
                STRUCTURED,
                f'{{"name":"t",{INPUT},"outputSchema":'
                '{"type":"object","properties":{"a":{}}}}',
            ),
        ],
    ),
    (
        f'{{"name":"t",{INPUT},"annotations":{{"readOnlyHint":true,"title":"T"}}}}',
        [(OLDEST, f'{{"name":"t",{INPUT}}}'), (AUDIO, None)],
    ),
    (
        f'{{"name":"t","title":"T",{INPUT},"icons":[{{"src":"data:"}}],"_meta":{{"a":1}},'
        '"outputSchema":{"$schema":"s","type":"obj\\u0065ct","minProperties":1.0}}',
        [
            (OLDEST, f'{{"name":"t",{INPUT}}}'),
            (
                STRUCTURED,
                f'{{"name":"t","title":"T",{INPUT},"_meta":{{"a":1}},'
                '"outputSchema":{"$schema":"s","type":"obj\\u0065ct","minProperties":1.0}}',
            ),
            (NEWEST, None),
        ],
    ),
]


@versions
@pytest.mark.parametrize(("tool", "steps"), TOOLS)
def test_a_tool_is_one_that_the_revision_knows(version: str, tool: str, steps: Steps) -> None:
    plain = f'{{"name":"z",{INPUT}}}'
    result = f'{{"tools":[{plain},{tool},{plain}],{DONE},"ttlMs":0,"cacheScope":"private"}}'
    expected = of(steps, version) or tool
    assert checked("tools/list", version, result) == f'{{"tools":[{plain},{expected},{plain}]}}'


@versions
@pytest.mark.parametrize(
    "schema",
    [
        "{}",
        '{"type":"array","items":{}}',
        '{"type":["object"]}',
        '{"type":["object","null"]}',
        '{"oneOf":[{"type":"object"}]}',
        '{"$ref":"#/$defs/a","$defs":{"a":{"type":"object"}}}',
    ],
)
def test_only_an_object_can_be_the_output_of_a_tool(version: str, schema: str) -> None:
    tools = f'{{"tools":[{{"name":"t",{INPUT},"outputSchema":{schema}}}]}}'
    assert checked("tools/list", version, tools) == f'{{"tools":[{{"name":"t",{INPUT}}}]}}'


@versions
@pytest.mark.parametrize(
    ("tool", "expected"),
    [
        ('{"inputSchema":null}', '{"inputSchema":null}'),
        ('{"name":7,"outputSchema":null}', '{"name":7}'),
        ('{"name":"t","outputSchema":true}', '{"name":"t"}'),
        ('{"name":"t","execution":null}', '{"name":"t"}'),
        ('{"inputSchema":{"properties":[true]}}', '{"inputSchema":{"properties":[true]}}'),
    ],
)
def test_a_bad_tool_loses_no_more_than_a_good_one(version: str, tool: str, expected: str) -> None:
    assert fitted("tools/list", version, f'{{"tools":[{tool}]}}') == f'{{"tools":[{expected}]}}'


ITEMS: Final[list[tuple[str, str, str, Steps]]] = [
    (
        "prompts/list",
        "prompts",
        '{"name":"p","title":"P","arguments":[{"name":"a","title":"A","required":true}],'
        '"icons":[{"src":"data:"}],"_meta":{"a":1},"later":1.50}',
        [
            (OLDEST, '{"name":"p","arguments":[{"name":"a","required":true}],"later":1.50}'),
            (
                STRUCTURED,
                '{"name":"p","title":"P","arguments":[{"name":"a","title":"A","required":true}],'
                '"_meta":{"a":1},"later":1.50}',
            ),
            (NEWEST, None),
        ],
    ),
    ("prompts/list", "prompts", '{"name":"p","arguments":[]}', [(OLDEST, None)]),
    (
        "resources/list",
        "resources",
        '{"uri":"x:y","name":"r","title":"R","size":3,"icons":[],"_meta":{},'
        '"annotations":{"lastModified":"2026-01-01","audience":["user"]}}',
        [
            (
                OLDEST,
                '{"uri":"x:y","name":"r","size":3,"annotations":{"audience":["user"]}}',
            ),
            (
                STRUCTURED,
                '{"uri":"x:y","name":"r","title":"R","size":3,"_meta":{},'
                '"annotations":{"lastModified":"2026-01-01","audience":["user"]}}',
            ),
            (NEWEST, None),
        ],
    ),
    (
        "resources/templates/list",
        "resourceTemplates",
        '{"uriTemplate":"x:{y}","name":"r","title":"R","icons":[],"_meta":{},'
        '"annotations":{"lastModified":"2026-01-01"}}',
        [
            (OLDEST, '{"uriTemplate":"x:{y}","name":"r","annotations":{}}'),
            (
                STRUCTURED,
                '{"uriTemplate":"x:{y}","name":"r","title":"R","_meta":{},'
                '"annotations":{"lastModified":"2026-01-01"}}',
            ),
            (NEWEST, None),
        ],
    ),
]


@versions
@pytest.mark.parametrize(("method", "name", "item", "steps"), ITEMS)
def test_an_item_is_one_that_the_revision_knows(
    version: str, method: str, name: str, item: str, steps: Steps
) -> None:
    result = f'{{"{name}":[{item}],"nextCursor":"c",{DONE},"ttlMs":9,"cacheScope":"public"}}'
    expected = of(steps, version) or item
    assert checked(method, version, result) == f'{{"{name}":[{expected}],"nextCursor":"c"}}'


@versions
@pytest.mark.parametrize("arguments", ["null", "{}", "[7]"])
def test_bad_arguments_of_a_prompt_are_left_to_the_host(version: str, arguments: str) -> None:
    result = f'{{"prompts":[{{"arguments":{arguments}}}]}}'
    assert fitted("prompts/list", version, result) == result
