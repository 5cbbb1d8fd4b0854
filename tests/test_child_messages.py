"""What a legacy child says unasked, badly, or to nobody: translation C, design D11."""

import pytest

from conversation import GREETED, OPENED, Conversation, play
from mcp_era_wire.dirty import LongLine

clause = pytest.mark.clause

CALL = """
host  > {"id":"c","method":"tools/call","params":{"name":"t",$META}}
child < {"id":1,"method":"tools/call","params":{"name":"t"}}
"""
ANSWERED = """
child > {"id":1,"result":{"content":[]}}
host  < {"id":"c","result":{"content":[],$DONE}}
"""


@pytest.mark.parametrize("id", ["7", '"p-1"', "0", '""'])
@pytest.mark.parametrize("before", [OPENED, OPENED + CALL, GREETED])
def test_a_ping_is_answered_at_once_in_every_state(id: str, before: str) -> None:
    play(
        before,
        f'child > {{"id":{id},"method":"ping"}}\nchild < {{"id":{id},"result":{{}}}}',
    )


@clause("S-55")
@pytest.mark.parametrize(
    "method",
    [
        "tasks/get",
        "tools/call",
        "vendor/unknown",
    ],
)
@pytest.mark.parametrize("call", ["", CALL])
def test_a_request_of_the_child_gets_a_proper_error_and_reaches_no_host(
    method: str, call: str
) -> None:
    play(
        OPENED,
        call,
        f"""
child > {{"id":1,"method":"{method}","params":{{"messages":[]}}}}
child < {{"id":1,"error":{{"code":-32601,"message":"{method} is not supported by this client"}}}}
""",
        ANSWERED if call else "",
    )


def test_a_request_that_comes_before_the_session_is_refused_once_it_is_open() -> None:
    play(
        GREETED,
        """
child > {"id":9,"method":"roots/list"}
child > {"id":$HELLO,"result":{"protocolVersion":"2025-11-25","capabilities":{"tools":{}},
        "serverInfo":{"name":"old","version":"1"}}}
child < {"method":"notifications/initialized"}
child < {"id":9,"error":{"code":-32601,"message":"The client has not declared roots"}}
host  < {"id":"d","result":{"supportedVersions":["2026-07-28"],"capabilities":{"tools":{}},$LISTED}}
""",
    )


@clause("S-49", "S-73", "S-74", "S-76", "S-117", "S-118")
@pytest.mark.parametrize(
    "note",
    [
        '"notifications/cancelled","params":{"requestId":1}',
        '"notifications/progress","params":{"progressToken":1,"progress":1}',
        '"notifications/message","params":{"level":"error","data":"x"}',
        '"notifications/tools/list_changed"',
        '"notifications/prompts/list_changed"',
        '"notifications/resources/list_changed"',
        '"notifications/resources/updated","params":{"uri":"x:y"}',
        '"notifications/elicitation/complete","params":{"elicitationId":"e"}',
        '"notifications/tasks/status","params":{}',
        '"notifications/tasks","params":{}',
        '"notifications/subscriptions/acknowledged","params":{}',
        '"notifications/initialized"',
        '"tools/call","params":{"name":"t"}',
    ],
)
def test_a_notification_that_the_host_did_not_ask_for_does_not_reach_it(note: str) -> None:
    play(OPENED, CALL, f'child > {{"method":{note}}}', ANSWERED, f'child > {{"method":{note}}}')


def test_a_notification_that_we_do_not_know_passes_as_it_is() -> None:
    play(
        OPENED,
        """
child > {"method":"com.example/news","params":{"a":[1.50],"_meta":{"k":1}}}
host  < {"method":"com.example/news","params":{"a":[1.50],"_meta":{"k":1}}}
child > {"method":"com.example/news"}
host  < {"method":"com.example/news"}
""",
    )


@clause("S-81")
@pytest.mark.parametrize(
    "line",
    [
        "Starting server...",
        "\\x1b[32mready\\x1b[0m",
        "INFO [x] {not json",
        "null",
        "42",
        '"ready"',
        "[]",
        "[1,2]",
        '[{"level":"info"}]',
        "true",
        '{"level":"info","msg":"structured log"}',
        "{}",
        '{"jsonrpc":"2.0"}',
        '{"id":1}',
        '{"method":5,"id":{}}',
        "{not json",
        "}{",
        "\\x00\\x01",
        "[1,",
    ],
)
@pytest.mark.parametrize("before", [OPENED + CALL, GREETED])
def test_what_is_no_message_goes_to_stderr_and_never_to_the_host(line: str, before: str) -> None:
    shown = line.replace("\\x1b", "\x1b").replace("\\x00\\x01", "\x00\x01")
    play(before, f"child ! {line}\nnoise   {shown}")


@pytest.mark.parametrize("line", ["", "   ", "\\x09\\x0d"])
def test_blank_lines_are_not_even_noise(line: str) -> None:
    play(OPENED, CALL, f"child ! {line}", ANSWERED)


@pytest.mark.parametrize(
    "id", ["987654", '"x"', "null", "1000", "1001", "1.5", "2", "0", '"12345678901234567890123"']
)
def test_an_answer_to_nothing_is_dropped(id: str) -> None:
    play(OPENED, CALL, f'child > {{"id":{id},"result":{{"x":1}}}}', ANSWERED)


def test_a_second_answer_is_dropped() -> None:
    play(OPENED, CALL, ANSWERED, 'child > {"id":1,"result":{"content":[]}}')


@pytest.mark.parametrize("id", ['"1"', "1.0", "1e0"])
def test_an_id_that_comes_back_in_another_type_is_understood(id: str) -> None:
    play(OPENED, CALL, ANSWERED.replace('"id":1', f'"id":{id}'))


@pytest.mark.parametrize(
    "line",
    [
        '{"id":1,"result":{"content":[]}}',
        '\\xef\\xbb\\xbf{"jsonrpc":"2.0","id":1,"result":{"content":[]}}',
        '  {"jsonrpc":"2.0","id":1,"result":{"content":[]}}\\x0d',
        '{"jsonrpc":"1.0","id":7,"jsonrpc":"2.0","id":1,"result":{"content":[]}}',
    ],
)
def test_what_can_be_forgiven_is_forgiven(line: str) -> None:
    play(OPENED, CALL, f'child ! {line}\nhost  < {{"id":"c","result":{{"content":[],$DONE}}}}')


@clause("S-79")
def test_bytes_that_are_not_utf8_become_replacement_characters() -> None:
    play(
        OPENED,
        CALL,
        """
child ! {"jsonrpc":"2.0","id":1,"result":{"content":[{"type":"text","text":"caf\\xe9"}]}}
host  < {"id":"c","result":{"content":[{"type":"text","text":"caf\ufffd"}],$DONE}}
""",
    )


@pytest.mark.parametrize(
    "line",
    [
        '{"jsonrpc":"2.0","id":1,"result":{"v":NaN}}',
        '{"jsonrpc":"2.0","id":1,"result":{"v":[Infinity,-Infinity]}}',
        '{"result":{"v":NaN},"id":1,"jsonrpc":"2.0"}',
        '{"result":{"id":7,"v":NaN},"id":1}',
        '{"jsonrpc":"2.0","result":{"id":7},"id":1,"error":}',
        '{"jsonrpc":"2.0","id":1,"result":',
    ],
)
def test_an_answer_that_cannot_be_read_fails_its_call_and_no_other(line: str) -> None:
    play(
        OPENED,
        CALL,
        f"""
host  > {{"id":"other","method":"tools/list","params":{{$META}}}}
child < {{"id":2,"method":"tools/list"}}
child ! {line}
noise   {line}
host  < {{"id":"c","error":{{"code":-32603,"message":"The server's answer could not be read",
         "data":{{"source":"mcp-bridge","reason":"invalid_line"}}}}}}
child > {{"id":2,"result":{{"tools":[]}}}}
host  < {{"id":"other","result":{{"tools":[],$LISTED}}}}
""",
    )


def test_a_depth_bomb_fails_its_call() -> None:
    bomb = '{"jsonrpc":"2.0","id":1,"result":' + "[" * 100_000
    play(
        OPENED,
        CALL,
        f"""
child ! {bomb}
noise   {bomb}
host  < {{"id":"c","error":{{"code":-32603,"message":"The server's answer could not be read",
         "data":{{"source":"mcp-bridge","reason":"invalid_line"}}}}}}
""",
    )


def test_a_line_over_the_limit_fails_the_call_it_names() -> None:
    conversation = play(OPENED, CALL)
    with_id = '{"jsonrpc":"2.0","id":1,"result":{"content":[' + "1," * 20
    conversation.play(
        """
host  > {"id":"other","method":"tools/list","params":{$META}}
child < {"id":2,"method":"tools/list"}
"""
    )
    _long_line(
        conversation,
        with_id,
        'host  < {"id":"c","error":{"code":-32603,'
        '"message":"The server\'s answer was too long to be read",'
        '"data":{"source":"mcp-bridge","reason":"line_too_long"}}}',
    )


def test_a_line_over_the_limit_that_names_nobody_fails_everything_open() -> None:
    refusal = (
        '"error":{"code":-32603,"message":"The server\'s answer was too long to be read",'
        '"data":{"source":"mcp-bridge","reason":"line_too_long"}}'
    )
    conversation = play(
        OPENED,
        CALL,
        """
host  > {"id":"other","method":"tools/list","params":{$META}}
child < {"id":2,"method":"tools/list"}
""",
    )
    _long_line(
        conversation,
        "x" * 50,
        f'host  < {{"id":"c",{refusal}}}\nhost  < {{"id":"other",{refusal}}}',
    )


def _long_line(conversation: Conversation, text: str, effects: str) -> None:
    shown = LongLine.of_ends(text.encode(), text.encode(), 1 << 30).decode()
    conversation.play(f"child ! LONG {text}\nnoise   {shown}\n{effects}")


def test_a_batch_of_the_child_is_taken_apart() -> None:
    play(
        OPENED,
        CALL,
        """
child > [{"jsonrpc":"2.0","method":"notifications/tools/list_changed"},7,
        {"jsonrpc":"2.0","id":"q","method":"ping"},{"jsonrpc":"2.0","id":1,"result":{"content":[]}}]
child < {"id":"q","result":{}}
noise   7
host  < {"id":"c","result":{"content":[],$DONE}}
""",
    )


def test_strays_and_questions_of_a_batch_are_dealt_with_once() -> None:
    play(
        OPENED,
        CALL,
        """
child > [{"jsonrpc":"2.0","id":99,"result":{}},{"jsonrpc":"2.0","id":"p","method":"ping"},
        {"jsonrpc":"2.0","id":"q","method":"roots/list"}]
child < {"id":"p","result":{}}
child < {"id":"q","error":{"code":-32601,"message":"The client has not declared roots"}}
""",
        ANSWERED,
    )


def test_a_batch_in_a_batch_is_noise_however_deep() -> None:
    deep = "[" * 900 + "]" * 900
    play(OPENED, CALL, f"child ! {deep}\nnoise {deep}", ANSWERED)


@pytest.mark.parametrize(
    ("cut", "repaired"),
    [
        ("\\ud83d", "\\ufffd"),
        ("a\\udc00b", "a\\ufffdb"),
        ("\\\\ud83d\\ud83d", "\\\\ud83d\\ufffd"),
        ("\\ud83d\\ude00\\ud83d", "\\ud83d\\ude00\\ufffd"),
        ("\\uD83D\\uD83D\\uDE00", "\\ufffd\\ud83d\\ude00"),
    ],
)
def test_half_a_surrogate_pair_becomes_a_replacement_character(cut: str, repaired: str) -> None:
    play(
        OPENED,
        CALL,
        f"""
child > {{"id":1,"result":{{"content":[{{"type":"text","text":"{cut}"}}]}}}}
host  < {{"id":"c","result":{{"content":[{{"type":"text","text":"{repaired}"}}],$DONE}}}}
host  > {{"id":2,"method":"tools/call","params":{{"name":"{cut}",$META}}}}
child < {{"id":2,"method":"tools/call","params":{{"name":"{repaired}"}}}}
""",
    )


def test_text_before_a_message_is_noise_and_the_message_counts() -> None:
    play(
        OPENED,
        CALL,
        """
child ! log: {"jsonrpc":"2.0","id":1,"result":{"content":[]}}
noise   log:
host  < {"id":"c","result":{"content":[],$DONE}}
""",
    )


@pytest.mark.parametrize("rest", [" done", "}", " {not JSON", " 7"])
def test_text_after_a_message_is_noise_and_the_message_counts(rest: str) -> None:
    play(
        OPENED,
        CALL,
        f"""
child ! {{"jsonrpc":"2.0","id":1,"result":{{"content":[]}}}}{rest}
noise   {rest}
host  < {{"id":"c","result":{{"content":[],$DONE}}}}
""",
    )


def test_two_messages_on_one_line_are_two_messages() -> None:
    play(
        OPENED,
        CALL,
        """
host  > {"id":2,"method":"tools/list","params":{$META}}
child < {"id":2,"method":"tools/list"}
child ! {"jsonrpc":"2.0","id":1,"result":{"content":[]}}
        {"jsonrpc":"2.0","id":2,"result":{"tools":[]}}
host  < {"id":"c","result":{"content":[],$DONE}}
host  < {"id":2,"result":{"tools":[],$LISTED}}
""",
    )


@pytest.mark.parametrize("front", ["[INFO] ", "[1] ", "{x} ", "[1, ", "{ "])
def test_text_in_front_may_look_like_json(front: str) -> None:
    play(
        OPENED,
        CALL,
        f"""
child ! {front}{{"jsonrpc":"2.0","id":1,"result":{{"content":[]}}}}
noise   {front}
host  < {{"id":"c","result":{{"content":[],$DONE}}}}
""",
    )


@pytest.mark.parametrize("before", [OPENED + CALL, GREETED])
def test_any_number_of_objects_may_stand_on_one_line(before: str) -> None:
    conversation = play(before)
    id = 1 if before is not GREETED else 1001
    answer = (
        f'{{"jsonrpc":"2.0","id":{id},"result":{{"protocolVersion":"2025-11-25","content":[]}}}}'
    )
    line = ("{}" * 2_000 + answer).encode()
    conversation.joint.from_child(1, [line], True, conversation.now)
    assert b'"result"' in b"".join(conversation.joint.out.to_host)


@pytest.mark.parametrize(
    "line",
    [
        '{"jsonrpc":"2.0","id":1,"method":"sampling/createMessage","params":{"t":NaN}}',
        '{"jsonrpc":"2.0","method":"x","params":{"t":NaN},"id":1}',
        '{"jsonrpc":"2.0","method":"x","params":{"t":NaN}}',
    ],
)
def test_a_request_of_the_child_that_cannot_be_read_fails_no_call(line: str) -> None:
    play(OPENED, CALL, f"child ! {line}\nnoise {line}", ANSWERED)


def test_a_request_of_the_child_over_the_limit_fails_no_call() -> None:
    conversation = play(OPENED, CALL)
    _long_line(conversation, '{"jsonrpc":"2.0","id":1,"method":"x","params":["aaaaaaaaaaaa', "")
    conversation.play(ANSWERED)


@clause("S-04")
def test_an_answer_without_a_result_is_an_error_of_ours() -> None:
    play(
        OPENED,
        CALL,
        """
child > {"id":1}
host  < {"id":"c","error":{"code":-32603,"message":"The server returned an invalid result",
         "data":{"source":"mcp-bridge","reason":"invalid_result"}}}
""",
    )


@pytest.mark.parametrize(
    ("both", "expected"),
    [
        ('"result":null,"error":{"code":1,"message":"m"}', '"error":{"code":1,"message":"m"}'),
        ('"result":{"content":[]},"error":null', '"result":{"content":[],$DONE}'),
    ],
)
def test_a_response_with_a_null_beside_what_counts_is_understood(both: str, expected: str) -> None:
    play(OPENED, CALL, f'child > {{"id":1,{both}}}\nhost < {{"id":"c",{expected}}}')
