"""How the results of a legacy child reach a modern host: translation B.3, B.5, B.6."""

import json

import pytest
from msgspec import Raw

from conversation import GREETED, OPENED, PROBED, play
from mcp_era_modern.results import Completer, mended_tool

clause = pytest.mark.clause

PARAMS = {
    "tools/call": '"name":"t"',
    "prompts/get": '"name":"p"',
    "resources/read": '"uri":"x:y"',
    "completion/complete": '"ref":{"type":"ref/prompt","name":"p"},'
    '"argument":{"name":"a","value":""}',
}


def answered(method: str, result: str, complete: str) -> str:
    """A request of `method`, the child's `result`, and what the host gets."""
    params = PARAMS.get(method, "")
    to_child = f',"params":{{{params}}}' if params else ""
    comma = "," if params else ""
    return f"""
host  > {{"id":"r","method":"{method}","params":{{{params}{comma}$META}}}}
child < {{"id":1,"method":"{method}"{to_child}}}
child > {{"id":1,"result":{result}}}
host  < {{"id":"r","result":{complete}}}
"""


@clause("S-04", "S-05", "S-06", "S-39", "S-110", "S-111", "S-113")
@pytest.mark.parametrize(
    ("method", "members", "ending"),
    [
        ("tools/list", '"tools":[]', "$LISTED"),
        ("prompts/list", '"prompts":[]', "$LISTED"),
        ("resources/list", '"resources":[]', "$LISTED"),
        ("resources/templates/list", '"resourceTemplates":[]', "$LISTED"),
        ("resources/read", '"contents":[{"uri":"x:y","text":"t"}]', "$LISTED"),
        ("resources/read", '"contents":[]', "$LISTED"),
        ("tools/call", '"content":[],"isError":true', "$DONE"),
        ("tools/call", '"content":[],"structuredContent":{"n":1.50}', "$DONE"),
        ("prompts/get", '"messages":[]', "$DONE"),
        ("completion/complete", '"completion":{"values":["a"],"total":1}', "$DONE"),
        ("com.example/do", '"anything":{"at":["all"]}', "$DONE"),
    ],
)
def test_a_result_is_completed_and_otherwise_as_it_came(
    method: str, members: str, ending: str
) -> None:
    play(OPENED, answered(method, f"{{{members}}}", f"{{{members},{ending}}}"))


@pytest.mark.parametrize("result", ["{}", "{ }", "{\\x09\\x20 }"])
def test_an_empty_result_gets_no_comma_too_many(result: str) -> None:
    play(
        OPENED,
        f"""
host  > {{"id":1,"method":"com.example/do","params":{{$META}}}}
child < {{"id":1,"method":"com.example/do"}}
child ! {{"jsonrpc":"2.0","id":1,"result":{result}}}
host  < {{"id":1,"result":{{$DONE}}}}
""",
    )


@clause("S-06")
@pytest.mark.parametrize("value", ['"done"', '"input_required"', "null", "7", '{"a":1}'])
def test_a_result_type_of_the_child_is_its_own_word_and_replaced(value: str) -> None:
    play(
        OPENED,
        answered("tools/call", f'{{"content":[],"resultType":{value}}}', '{"content":[],$DONE}'),
    )


@clause("S-110", "S-111", "S-112")
@pytest.mark.parametrize(
    ("given", "kept"),
    [
        ('"ttlMs":500,"cacheScope":"public"', '"ttlMs":500,"cacheScope":"public"'),
        ('"ttlMs":0', '"ttlMs":0,"cacheScope":"private"'),
        ('"ttlMs":-1,"cacheScope":"shared"', '"ttlMs":0,"cacheScope":"private"'),
        ('"ttlMs":1.5', '"ttlMs":0,"cacheScope":"private"'),
        ('"ttlMs":"5"', '"ttlMs":0,"cacheScope":"private"'),
        ('"ttlMs":null,"cacheScope":null', '"ttlMs":0,"cacheScope":"private"'),
        ('"cacheScope":"private"', '"ttlMs":0,"cacheScope":"private"'),
    ],
)
def test_caching_members_of_the_child_are_kept_if_they_are_legal(given: str, kept: str) -> None:
    play(
        OPENED,
        answered(
            "tools/list",
            f'{{"tools":[],{given}}}',
            f'{{"tools":[],"resultType":"complete",{kept},$IDENTITY}}',
        ),
    )


@clause("S-39")
@pytest.mark.parametrize(
    ("given", "kept"),
    [
        ('{"k":1}', '{"k":1,"io.modelcontextprotocol/serverInfo":{"name":"old","version":"1"}}'),
        ("{}", '{"io.modelcontextprotocol/serverInfo":{"name":"old","version":"1"}}'),
        ("null", '{"io.modelcontextprotocol/serverInfo":{"name":"old","version":"1"}}'),
        (
            '{"io.modelcontextprotocol/serverInfo":null}',
            '{"io.modelcontextprotocol/serverInfo":{"name":"old","version":"1"}}',
        ),
        (
            '{"io.modelcontextprotocol/serverInfo":{"name":"me","version":"3"}}',
            '{"io.modelcontextprotocol/serverInfo":{"name":"me","version":"3"}}',
        ),
        (
            '{"io.modelcontextprotocol/related-task":{"taskId":"x"},"k":[1.0]}',
            '{"k":[1.0],"io.modelcontextprotocol/serverInfo":{"name":"old","version":"1"}}',
        ),
    ],
)
def test_the_identity_is_put_beside_what_the_child_has_in_its_meta(given: str, kept: str) -> None:
    play(
        OPENED,
        answered(
            "tools/call",
            f'{{"_meta":{given},"content":[]}}',
            f'{{"content":[],"resultType":"complete","_meta":{kept}}}',
        ),
    )


def test_members_that_only_look_like_ours_are_left_alone() -> None:
    inner = '{"type":"text","text":"\\"_meta\\" \\"resultType\\"","_meta":{"ttlMs":1}}'
    play(
        OPENED,
        answered("tools/call", f'{{"content":[{inner}]}}', f'{{"content":[{inner}],$DONE}}'),
    )


def test_a_member_in_another_spelling_is_still_found() -> None:
    play(
        OPENED,
        answered("tools/call", '{"content":[],"result\\u0054ype":"x"}', '{"content":[],$DONE}'),
    )


@pytest.mark.parametrize("content", ["", ',"content":null'])
def test_a_call_without_content_gets_an_empty_one(content: str) -> None:
    play(
        OPENED,
        answered(
            "tools/call",
            f'{{"isError":false{content}}}',
            '{"isError":false,"content":[],$DONE}',
        ),
    )


@clause("S-04")
@pytest.mark.parametrize("result", ["null", "[]", '"text"', "7", "true"])
@pytest.mark.parametrize("method", ["tools/call", "tools/list", "com.example/do"])
def test_a_result_that_is_no_object_is_an_error_of_ours(method: str, result: str) -> None:
    params = PARAMS.get(method, "")
    to_child = f',"params":{{{params}}}' if params else ""
    comma = "," if params else ""
    play(
        OPENED,
        f"""
host  > {{"id":1,"method":"{method}","params":{{{params}{comma}$META}}}}
child < {{"id":1,"method":"{method}"{to_child}}}
child > {{"id":1,"result":{result}}}
host  < {{"id":1,"error":{{"code":-32603,"message":"The server returned an invalid result",
         "data":{{"source":"mcp-bridge","reason":"invalid_result"}}}}}}
""",
    )


@clause("S-87", "S-89")
@pytest.mark.parametrize(
    ("tool", "mended"),
    [
        ('{"name":"t","inputSchema":{"type":"object"}}', None),
        ('{"name":"t","inputSchema":{"type":"object"},"outputSchema":{"type":"object"}}', None),
        ('{"name":"t","inputSchema":{"type":"object"},"annotations":{"x":1.0}}', None),
        ('{"name":"t"}', '{"name":"t","inputSchema":{"type":"object"}}'),
        ('{"name":"t","inputSchema":null}', '{"name":"t","inputSchema":{"type":"object"}}'),
        ('{"name":"t","inputSchema":[]}', '{"name":"t","inputSchema":{"type":"object"}}'),
        (
            '{"name":"t","inputSchema":{"properties":{"a":{}}}}',
            '{"name":"t","inputSchema":{"type":"object","properties":{"a":{}}}}',
        ),
        (
            '{"name":"t","inputSchema":{"type":"object"},"outputSchema":null}',
            '{"name":"t","inputSchema":{"type":"object"}}',
        ),
        (
            '{"name":"t","inputSchema":{"type":"object"},"outputSchema":true}',
            '{"name":"t","inputSchema":{"type":"object"}}',
        ),
        (
            '{"name":"t","inputSchema":{"type":"object"},"execution":{"taskSupport":"optional"}}',
            '{"name":"t","inputSchema":{"type":"object"}}',
        ),
        (
            '{"name":"t","inputSchema":{"type":"object"},"execution":null,"later":{"a":1}}',
            '{"name":"t","inputSchema":{"type":"object"},"later":{"a":1}}',
        ),
    ],
)
def test_a_tool_is_mended_where_it_must_be_and_the_order_kept(
    tool: str, mended: str | None
) -> None:
    other = '{"name":"z","inputSchema":{"type":"object","$defs":{}}}'
    play(
        OPENED,
        answered(
            "tools/list",
            f'{{"tools":[{other},{tool},{other}],"nextCursor":""}}',
            f'{{"tools":[{other},{mended or tool},{other}],"nextCursor":"",$LISTED}}',
        ),
    )


def test_a_list_whose_items_are_no_tools_passes_as_it_is() -> None:
    assert bytes(mended_tool(Raw(b"7"))) == b"7"


@pytest.mark.parametrize(
    ("method", "member"),
    [
        ("tools/list", "tools"),
        ("prompts/list", "prompts"),
        ("resources/list", "resources"),
        ("resources/templates/list", "resourceTemplates"),
    ],
)
def test_a_null_cursor_is_no_cursor(method: str, member: str) -> None:
    play(
        OPENED,
        answered(method, f'{{"{member}":[],"nextCursor":null}}', f'{{"{member}":[],$LISTED}}'),
    )


@pytest.mark.parametrize(
    "method", ["tools/list", "prompts/list", "resources/list", "resources/templates/list"]
)
def test_an_empty_cursor_of_the_host_is_a_cursor(method: str) -> None:
    play(
        OPENED,
        f"""
host  > {{"id":1,"method":"{method}","params":{{"cursor":"",$META}}}}
child < {{"id":1,"method":"{method}","params":{{"cursor":""}}}}
""",
    )


def test_more_than_100_completions_are_cut_and_said_to_be_more() -> None:
    values = json.dumps([str(n) for n in range(101)])
    first = json.dumps([str(n) for n in range(100)])
    play(
        OPENED,
        answered(
            "completion/complete",
            f'{{"completion":{{"values":{values},"total":101}}}}',
            f'{{"completion":{{"values":{first},"total":101,"hasMore":true}},$DONE}}',
        ),
        answered(
            "completion/complete",
            f'{{"completion":{{"values":{first}}}}}',
            f'{{"completion":{{"values":{first}}},$DONE}}',
        ).replace('"id":1,', '"id":2,'),
    )


@clause("S-05")
def test_a_large_result_is_passed_on_in_pieces_and_never_copied() -> None:
    completer = Completer(Raw(b'{"name":"old","version":"1"}'))
    result = Raw(b'{"content":[{"type":"text","text":"' + b"x" * (1 << 20) + b'"}]}')
    pieces = completer.complete("tools/call", result)
    assert pieces is not None
    assert isinstance(pieces[0], memoryview)
    assert len(pieces[0]) == len(memoryview(result)) - 1


# server/discover -------------------------------------------------------------------------------


@clause("S-44", "S-85", "S-97", "S-103", "S-114", "S-116", "S-45")
@pytest.mark.parametrize(
    ("legacy", "modern"),
    [
        ("{}", "{}"),
        ('{"tools":{"listChanged":true}}', '{"tools":{"listChanged":true}}'),
        ('{"resources":{"subscribe":true,"listChanged":false}}',) * 2,
        ('{"prompts":{},"logging":{},"completions":{},"experimental":{"x":{"y":1}}}',) * 2,
        ('{"tools":{},"tasks":{"list":{},"requests":{"tools":{"call":{}}}}}', '{"tools":{}}'),
        (
            '{"extensions":{"io.modelcontextprotocol/tasks":{},"com.example/x":{}}}',
            '{"extensions":{"com.example/x":{}}}',
        ),
        ('{"logging":true,"prompts":null,"tools":false}', '{"logging":{}}'),
        (
            '{"tools":[],"resources":"y","completions":5}',
            '{"tools":{},"resources":{},"completions":{}}',
        ),
        ('{"com.example/later":{"a":[1.0]}}',) * 2,
    ],
)
def test_discover_tells_what_the_child_said_it_can_do(legacy: str, modern: str) -> None:
    play(
        GREETED,
        f"""
child > {{"id":$HELLO,"result":{{"protocolVersion":"2025-11-25","capabilities":{legacy},
        "serverInfo":{{"name":"old","version":"1"}}}}}}
child < {{"method":"notifications/initialized"}}
host  < {{"id":"d","result":{{"supportedVersions":["2026-07-28"],"capabilities":{modern},$LISTED}}}}
""",
    )


@clause("S-44", "S-39", "S-110")
def test_discover_bears_the_childs_own_identity_instructions_and_meta() -> None:
    info = '{"name":"n","version":"v","title":"T","icons":[{"src":"data:"}],"later":1}'
    play(
        GREETED,
        f"""
child > {{"id":$HELLO,"result":{{"protocolVersion":"2025-11-25","capabilities":{{}},
        "serverInfo":{info},"instructions":"be \\"nice\\"","_meta":{{"k":1}}}}}}
child < {{"method":"notifications/initialized"}}
host  < {{"id":"d","result":{{"resultType":"complete","supportedVersions":["2026-07-28"],
         "capabilities":{{}},"instructions":"be \\"nice\\"","ttlMs":0,"cacheScope":"private",
         "_meta":{{"k":1,"io.modelcontextprotocol/serverInfo":{info}}}}}}}
host  > {{"id":7,"method":"tools/call","params":{{"name":"t",$META}}}}
child < {{"id":1,"method":"tools/call","params":{{"name":"t"}}}}
child > {{"id":1,"result":{{"content":[]}}}}
host  < {{"id":7,"result":{{"content":[],"resultType":"complete",
         "_meta":{{"io.modelcontextprotocol/serverInfo":{info}}}}}}}
""",
    )


def test_discover_is_answered_by_us_again_and_again() -> None:
    again = """
host  > {"id":2,"method":"server/discover","params":{$META}}
host  < {"id":2,"result":{"supportedVersions":["2026-07-28"],"capabilities":{"tools":{}},$LISTED}}
"""
    play(OPENED, again, again)


def test_a_child_that_does_not_say_who_it_is_has_an_empty_identity() -> None:
    play(
        PROBED,
        """
child > {"id":$PROBE,"error":{"code":-32601,"message":"?"}}
child < {"id":$HELLO,"method":"initialize","params":{"protocolVersion":"2025-11-25",
         "capabilities":{},"clientInfo":{"name":"host","version":"2"}}}
child > {"id":$HELLO,"result":{"protocolVersion":"2024-11-05"}}
child < {"method":"notifications/initialized"}
host  < {"id":"d","result":{"resultType":"complete","supportedVersions":["2026-07-28"],
         "capabilities":{},"ttlMs":0,"cacheScope":"private"}}
""",
    )
