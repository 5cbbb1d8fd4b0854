"""What a modern host may ask and how it is refused: translation B.1, B.4, B.7."""

import pytest

from conversation import MACROS, OPENED, play
from mcp_era_bridge.settings import Settings

clause = pytest.mark.clause

SERVED_AFTER_ALL = """
host  > {"id":"after","method":"tools/list","params":{$META}}
child < {"id":1,"method":"tools/list"}
"""
"""Whatever was refused before has cost nothing and reached nobody."""


@clause("S-02", "S-07")
@pytest.mark.parametrize(
    "line",
    [
        "this is not JSON",
        "{not JSON",
        '{"jsonrpc":"2.0","id":5,"method":"tools/li',
        '\\xff\\xfe{"jsonrpc"',
        '{"jsonrpc":"2.0","id":5,"method":"tools/list\\xff"}',
        "NaN",
    ],
)
def test_a_line_that_is_not_utf8_json_is_a_parse_error_without_an_id(line: str) -> None:
    play(
        OPENED,
        f'host  ! {line}\nhost  < {{"error":{{"code":-32700,"message":"Parse error"}}}}',
        SERVED_AFTER_ALL,
    )


@clause("S-07", "S-08", "S-09")
@pytest.mark.parametrize(
    ("line", "id"),
    [
        ("null", None),
        ("17", None),
        ('"x"', None),
        ("{}", None),
        ('{"jsonrpc":"2.0"}', None),
        ('{"jsonrpc":"2.0","id":1}', "1"),
        ('{"jsonrpc":"1.0","id":1,"method":"tools/list"}', "1"),
        ('{"id":1,"method":"tools/list"}', "1"),
        ('{"jsonrpc":"2.0","id":"a","method":7}', '"a"'),
        ('{"jsonrpc":"2.0","id":null,"method":"tools/list"}', None),
        ('{"jsonrpc":"2.0","id":true,"method":"tools/list"}', None),
        ('{"jsonrpc":"2.0","id":1.5,"method":"tools/list"}', None),
        ('{"jsonrpc":"2.0","id":[],"method":"tools/list"}', None),
    ],
)
def test_json_that_is_no_request_is_an_invalid_request(line: str, id: str | None) -> None:
    member = f'"id":{id},' if id else ""
    play(
        OPENED,
        f"host  ! {line}\n"
        f'host  < {{{member}"error":{{"code":-32600,"message":"Invalid request"}}}}',
        SERVED_AFTER_ALL,
    )


@pytest.mark.parametrize("line", ["[]", '[{"jsonrpc":"2.0","id":1,"method":"tools/list"}]'])
def test_a_batch_is_refused_whole(line: str) -> None:
    refusal = '{"code":-32600,"message":"Batches are not part of this revision"}'
    play(OPENED, f'host  ! {line}\nhost  < {{"error":{refusal}}}', SERVED_AFTER_ALL)


def test_a_line_over_the_limit_is_refused_under_its_id() -> None:
    play(
        OPENED,
        """
host  ! LONG {"jsonrpc":"2.0","id":7,"method":"tools/call","params":{"name":"aaaaaaaaaa
host  < {"id":7,"error":{"code":-32600,"message":"The line is too long"}}
host  ! LONG aaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaa
host  < {"error":{"code":-32700,"message":"Parse error"}}
""",
        SERVED_AFTER_ALL,
    )


@pytest.mark.parametrize(
    "line",
    ["", "   ", '{"jsonrpc":"2.0","id":1,"result":{}}', '{"jsonrpc":"2.0","id":1,"error":{}}'],
)
def test_blank_lines_and_responses_of_a_host_are_ignored(line: str) -> None:
    play(OPENED, f"host  ! {line}", SERVED_AFTER_ALL)


@pytest.mark.parametrize(("before", "after"), [("\\xef\\xbb\\xbf", ""), ("  ", "  \\x0d")])
def test_a_mark_and_white_space_around_a_line_are_forgiven(before: str, after: str) -> None:
    line = '{"jsonrpc":"2.0","id":1,"method":"tools/list","params":{$META}}'
    play(OPENED, f'host  ! {before}{line}{after}\nchild < {{"id":1,"method":"tools/list"}}')


@clause("S-36", "S-20", "S-21")
@pytest.mark.parametrize(
    ("params", "key"),
    [
        ("", "_meta"),
        (',"params":{}', "_meta"),
        (',"params":{"_meta":null}', "_meta"),
        (',"params":{"_meta":[]}', "_meta"),
        (',"params":{"_meta":{}}', "io.modelcontextprotocol/protocolVersion"),
        (
            ',"params":{"_meta":{"io.modelcontextprotocol/protocolVersion":7}}',
            "io.modelcontextprotocol/protocolVersion",
        ),
        (
            ',"params":{"_meta":{"io.modelcontextprotocol/protocolVersion":"2026-07-28"}}',
            "io.modelcontextprotocol/clientCapabilities",
        ),
        (
            ',"params":{"_meta":{"io.modelcontextprotocol/protocolVersion":"2026-07-28",'
            '"io.modelcontextprotocol/clientCapabilities":[]}}',
            "io.modelcontextprotocol/clientCapabilities",
        ),
    ],
)
def test_a_request_without_its_envelope_is_refused_whatever_came_before(
    params: str, key: str
) -> None:
    play(
        OPENED,
        f"""
host  > {{"id":1,"method":"tools/list"{params}}}
host  < {{"id":1,"error":{{"code":-32602,
         "message":"Missing or malformed request metadata: {key}"}}}}
""",
        SERVED_AFTER_ALL,
    )


def test_params_that_are_no_object_are_refused() -> None:
    play(
        OPENED,
        """
host  > {"id":1,"method":"tools/list","params":[]}
host  < {"id":1,"error":{"code":-32602,"message":"Invalid params: not an object"}}
""",
        SERVED_AFTER_ALL,
    )


@clause("S-43")
@pytest.mark.parametrize("version", ["1900-01-01", "2025-11-25", "2027-02-10", ""])
@pytest.mark.parametrize("method", ["tools/list", "server/discover", "ping", "no/such"])
def test_a_version_we_do_not_speak_is_refused_with_those_we_do(version: str, method: str) -> None:
    play(
        OPENED,
        f"""
host  > {{"id":1,"method":"{method}","params":{{"_meta":{{
        "io.modelcontextprotocol/protocolVersion":"{version}",
        "io.modelcontextprotocol/clientCapabilities":{{}}}}}}}}
host  < {{"id":1,"error":{{"code":-32022,"message":"Unsupported protocol version",
         "data":{{"supported":["2026-07-28"],"requested":"{version}"}}}}}}
""",
        SERVED_AFTER_ALL,
    )


@clause("S-55", "S-143")
@pytest.mark.parametrize(
    "method",
    [
        "initialize",
        "ping",
        "logging/setLevel",
        "resources/subscribe",
        "resources/unsubscribe",
        "tasks/list",
        "tasks/result",
        "roots/list",
        "sampling/createMessage",
        "elicitation/create",
    ],
)
def test_removed_methods_and_questions_the_wrong_way_are_not_found(method: str) -> None:
    play(
        OPENED,
        f"""
host  > {{"id":1,"method":"{method}","params":{{$META}}}}
host  < {{"id":1,"error":{{"code":-32601,"message":"{method} is not in 2026-07-28",
         "data":{{"method":"{method}"}}}}}}
""",
        SERVED_AFTER_ALL,
    )


@pytest.mark.parametrize("method", ["notifications/cancelled", "notifications/initialized"])
def test_a_notification_sent_as_a_request_is_not_found(method: str) -> None:
    play(
        OPENED,
        f"""
host  > {{"id":1,"method":"{method}","params":{{"requestId":1,$META}}}}
host  < {{"id":1,"error":{{"code":-32601,"message":"{method} is a notification",
         "data":{{"method":"{method}"}}}}}}
""",
        SERVED_AFTER_ALL,
    )


@pytest.mark.parametrize("method", ["tasks/get", "tasks/update", "tasks/cancel"])
def test_what_is_not_bridged_yet_is_refused_and_reaches_nobody(method: str) -> None:
    play(
        OPENED,
        f"""
host  > {{"id":1,"method":"{method}","params":{{"notifications":{{}},$META}}}}
host  < {{"id":1,"error":{{"code":-32601,
         "message":"{method} is not bridged to a server of the handshake era",
         "data":{{"method":"{method}"}}}}}}
""",
        SERVED_AFTER_ALL,
    )


def with_meta(more: str) -> str:
    """A modern request's `_meta` with one member more."""
    return MACROS["$META"].removesuffix("}") + "," + more + "}"


@clause("S-119")
@pytest.mark.parametrize("level", ['"loud"', "7", "null", '"ERROR"'])
def test_an_unknown_log_level_is_refused(level: str) -> None:
    meta = with_meta(f'"io.modelcontextprotocol/logLevel":{level}')
    play(
        OPENED,
        f"""
host  > {{"id":1,"method":"tools/list","params":{{{meta}}}}}
host  < {{"id":1,"error":{{"code":-32602,"message":"Unknown log level"}}}}
""",
        SERVED_AFTER_ALL,
    )


@pytest.mark.parametrize("token", ["null", "1.5", "true", "{}"])
def test_a_progress_token_of_another_type_is_refused(token: str) -> None:
    meta = with_meta(f'"progressToken":{token}')
    play(
        OPENED,
        f"""
host  > {{"id":1,"method":"tools/list","params":{{{meta}}}}}
host  < {{"id":1,"error":{{"code":-32602,
         "message":"progressToken must be a string or an integer"}}}}
""",
        SERVED_AFTER_ALL,
    )


@pytest.mark.parametrize(
    ("method", "params", "member"),
    [
        ("tools/list", '"cursor":7,', "cursor"),
        ("prompts/list", '"cursor":null,', "cursor"),
        ("resources/list", '"cursor":{},', "cursor"),
        ("resources/templates/list", '"cursor":[],', "cursor"),
        ("tools/call", "", "name"),
        ("tools/call", '"name":null,', "name"),
        ("tools/call", '"name":7,"arguments":{},', "name"),
        ("tools/call", '"name":"t","arguments":[],', "arguments"),
        ("tools/call", '"name":"t","arguments":null,', "arguments"),
        ("prompts/get", '"arguments":{},', "name"),
        ("prompts/get", '"name":"p","arguments":{"a":1},', "arguments"),
        ("resources/read", "", "uri"),
        ("resources/read", '"uri":1,', "uri"),
        ("completion/complete", '"argument":{"name":"a","value":"b"},', "ref"),
        ("completion/complete", '"ref":{"type":"ref/prompt","name":"p"},', "argument"),
        ("completion/complete", '"ref":{},"argument":{"name":"a","value":1},', "argument"),
    ],
)
def test_params_that_are_missing_or_of_another_type_are_refused(
    method: str, params: str, member: str
) -> None:
    play(
        OPENED,
        f"""
host  > {{"id":1,"method":"{method}","params":{{{params}$META}}}}
host  < {{"id":1,"error":{{"code":-32602,"message":"Invalid params: {member}",
         "data":{{"member":"{member}"}}}}}}
""",
        SERVED_AFTER_ALL,
    )


@clause("S-40")
@pytest.mark.parametrize("info", ["null", '"me"', "{}", '{"name":"n"}', '{"name":1,"version":"1"}'])
def test_a_host_that_says_badly_who_it_is_is_served(info: str) -> None:
    meta = MACROS["$META"].replace('{"name":"host","version":"2"}', info)
    play(
        OPENED,
        f"""
host  > {{"id":1,"method":"tools/list","params":{{{meta}}}}}
child < {{"id":1,"method":"tools/list"}}
""",
    )


@clause("S-60", "S-62", "S-69")
@pytest.mark.parametrize("method", ["tools/call", "prompts/get", "resources/read"])
@pytest.mark.parametrize(("state", "reason"), [('"made up"', "invalid"), ("7", "malformed")])
def test_a_request_state_that_is_not_ours_is_refused(method: str, state: str, reason: str) -> None:
    play(
        OPENED,
        f"""
host  > {{"id":1,"method":"{method}",
        "params":{{"name":"x","uri":"x:y","requestState":{state},$META}}}}
host  < {{"id":1,"error":{{"code":-32602,"message":"requestState was not accepted",
         "data":{{"reason":"{reason}"}}}}}}
""",
        SERVED_AFTER_ALL,
    )


@clause("S-34", "S-35", "S-42")
def test_what_belongs_to_the_modern_era_stays_with_us_and_the_rest_goes_on() -> None:
    meta = with_meta(
        '"io.modelcontextprotocol/logLevel":"info","progressToken":"t",'
        '"io.modelcontextprotocol/related-task":{"taskId":"x"},'
        '"traceparent":"00-0af7651916cd43dd8448eb211c80319c-b7ad6b7169203331-01",'
        '"com.example/note":{"a":[1.50,1e400]}'
    )
    play(
        OPENED,
        f"""
host  > {{"id":1,"method":"tools/call","params":{{"name":"t","task":{{"ttl":1}},
        "inputResponses":{{"a":{{}}}},"future":[1],{meta},"arguments":{{"n":12345678901234567890}}}}}}
child < {{"id":1,"method":"tools/call","params":{{"name":"t","future":[1],
         "arguments":{{"n":12345678901234567890}},"_meta":{{"progressToken":1,
         "traceparent":"00-0af7651916cd43dd8448eb211c80319c-b7ad6b7169203331-01",
         "com.example/note":{{"a":[1.50,1e400]}}}}}}}}
""",
    )


def test_numbers_and_unknown_members_of_params_keep_their_spelling() -> None:
    conversation = play(OPENED)
    arguments = b'{"f":1.50,"e":1e400,"i":123456789012345678901234567890,"s":"\\u00e9", "n" : null}'
    line = (
        b'{"jsonrpc":"2.0","id":1,"method":"tools/call","params":{"name":"t","arguments":'
        + arguments
        + b","
        + MACROS["$META"].encode()
        + b"}}"
    )
    conversation.joint.from_host([line], True, conversation.now)
    assert arguments in b"".join(conversation.joint.out.to_child)


@clause("S-03")
@pytest.mark.parametrize(
    "id", ["0", "-1", "7", '"7"', '""', '"\u00fc"', "123456789012345678901234567890", "1000"]
)
def test_the_answer_bears_the_id_as_the_host_wrote_it(id: str) -> None:
    play(
        OPENED,
        f"""
host  > {{"id":{id},"method":"tools/list","params":{{$META}}}}
child < {{"id":1,"method":"tools/list"}}
child > {{"id":1,"result":{{"tools":[]}}}}
host  < {{"id":{id},"result":{{"tools":[],$LISTED}}}}
""",
    )


def test_an_id_that_is_still_open_is_refused_and_the_first_request_goes_on() -> None:
    play(
        OPENED,
        """
host  > {"id":1,"method":"tools/list","params":{$META}}
child < {"id":1,"method":"tools/list"}
host  > {"id":1,"method":"prompts/list","params":{$META}}
host  < {"id":1,"error":{"code":-32600,"message":"A request with this id is still open"}}
host  > {"id":"1","method":"prompts/list","params":{$META}}
child < {"id":2,"method":"prompts/list"}
child > {"id":1,"result":{"tools":[]}}
host  < {"id":1,"result":{"tools":[],$LISTED}}
host  > {"id":1,"method":"prompts/list","params":{$META}}
child < {"id":3,"method":"prompts/list"}
""",
    )


def test_more_requests_than_may_be_open_are_refused_and_lose_nothing() -> None:
    play(
        OPENED,
        """
host  > {"id":1,"method":"tools/list","params":{$META}}
child < {"id":1,"method":"tools/list"}
host  > {"id":2,"method":"tools/list","params":{$META}}
host  < {"id":2,"error":{"code":-32603,"message":"Too many requests are open; the limit is 1",
         "data":{"source":"mcp-bridge","reason":"too_many_requests","limit":1}}}
child > {"id":1,"result":{"tools":[]}}
host  < {"id":1,"result":{"tools":[],$LISTED}}
host  > {"id":2,"method":"tools/list","params":{$META}}
child < {"id":2,"method":"tools/list"}
""",
        settings=Settings(most_open=1),
    )


@clause("S-22")
def test_calls_are_under_way_at_once_and_answered_as_they_end() -> None:
    play(
        OPENED,
        """
host  > {"id":"slow","method":"tools/call","params":{"name":"s",$META}}
child < {"id":1,"method":"tools/call","params":{"name":"s"}}
host  > {"id":"fast","method":"tools/call","params":{"name":"f",$META}}
child < {"id":2,"method":"tools/call","params":{"name":"f"}}
child > {"id":2,"result":{"content":[]}}
host  < {"id":"fast","result":{"content":[],$DONE}}
child > {"id":1,"result":{"content":[]}}
host  < {"id":"slow","result":{"content":[],$DONE}}
""",
    )


@clause("S-18")
@pytest.mark.parametrize(
    "method",
    [
        "notifications/initialized",
        "notifications/roots/list_changed",
        "notifications/progress",
        "notifications/message",
        "tools/call",
        "initialize",
        "logging/setLevel",
    ],
)
def test_a_notification_of_the_other_era_is_dropped_silently(method: str) -> None:
    play(OPENED, f'host  > {{"method":"{method}"}}', SERVED_AFTER_ALL)


@clause("S-18")
def test_a_notification_that_we_do_not_know_goes_on_without_its_envelope() -> None:
    play(
        OPENED,
        """
host  > {"method":"com.example/poke","params":{"a":1,"_meta":{"com.example/k":2,
        "io.modelcontextprotocol/protocolVersion":"2026-07-28"}}}
child < {"method":"com.example/poke","params":{"a":1,"_meta":{"com.example/k":2}}}
host  > {"method":"com.example/poke","params":{$META}}
child < {"method":"com.example/poke"}
host  > {"method":"com.example/poke"}
child < {"method":"com.example/poke"}
""",
    )


def test_a_request_that_we_do_not_know_goes_on_and_its_answer_comes_back() -> None:
    play(
        OPENED,
        """
host  > {"id":1,"method":"com.example/do","params":{"k":1,$META}}
child < {"id":1,"method":"com.example/do","params":{"k":1}}
child > {"id":1,"result":{"v":[1,null,1.0]}}
host  < {"id":1,"result":{"v":[1,null,1.0],$DONE}}
""",
    )
