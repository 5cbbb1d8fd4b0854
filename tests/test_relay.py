"""Matched pairs: lines go as the bytes that came: translation F."""

import pytest

from conversation import PROBED, Conversation, play
from mcp_era_bridge.settings import Settings

MODERN_RESULT = '{"supportedVersions":["2026-07-28"]}'
MODERN_PAIR = (
    PROBED
    + f"""
child > {{"id":$PROBE,"result":{MODERN_RESULT}}}
host  < {{"id":"d","result":{MODERN_RESULT}}}
"""
)
INITIALIZE = '{"id":0,"method":"initialize","params":{"protocolVersion":"2025-03-26"}}'
INITIALIZED = '{"id":0,"result":{"protocolVersion":"2025-03-26","capabilities":{}}}'
LEGACY_PAIR = f"""
host  > {INITIALIZE}
child < {INITIALIZE}
child > {INITIALIZED}
host  < {INITIALIZED}
"""
PAIRS = [MODERN_PAIR, LEGACY_PAIR]


def relayed(conversation: Conversation, line: bytes, to_child: bool) -> bytes:
    """What comes out at the other end for `line`."""
    joint = conversation.joint
    if to_child:
        joint.from_host([line], line.isascii(), conversation.now)
        pieces, joint.out.to_child[:] = list(joint.out.to_child), []
    else:
        joint.from_child(joint.process, [line], line.isascii(), conversation.now)
        pieces, joint.out.to_host[:] = list(joint.out.to_host), []
    return b"".join(pieces)


@pytest.mark.parametrize("pair", PAIRS)
@pytest.mark.parametrize("to_child", [True, False])
@pytest.mark.parametrize(
    "line",
    [
        b'{"jsonrpc":"2.0","id":1,"method":"x","params":{"n":1.50,"e":1e400,"n":2}}',
        b'{ "id" : "\\u00fc" ,"method":"x", "jsonrpc": "2.0" } \r',
        b'{"jsonrpc":"2.0","id":1.5,"method":"x"}',
        b'{"jsonrpc":"2.0","method":"notifications/progress","params":{"progressToken":"t"}}',
        b'{"jsonrpc":"2.0","id":7,"result":{"resultType":"x.example/odd","v":[1,null,1.0]}}',
        b'{"jsonrpc":"2.0","id":null,"error":{"code":-32002,"message":"m"}}',
        '{"jsonrpc":"2.0","id":7,"result":{"text":"caf\u00e9 \U0001f512"}}'.encode(),
        b'{"jsonrpc":"2.0","id":7,"result":{"text":"caf\xe9"}}',
        b'{"jsonrpc":"2.0","id":7,"result":{"v":NaN}}',
        b'[{"jsonrpc":"2.0","id":1,"method":"x"},{"jsonrpc":"2.0","id":2,"result":{}}]',
    ],
)
def test_a_line_goes_on_byte_for_byte(pair: str, to_child: bool, line: bytes) -> None:
    assert relayed(play(pair), line, to_child) == line + b"\n"


@pytest.mark.parametrize("pair", PAIRS)
@pytest.mark.parametrize("line", [b"not JSON", b"{}", b"", b"[]", b'{"id":1}', b"\xff\xfe"])
def test_the_child_judges_what_the_host_says(pair: str, line: bytes) -> None:
    assert relayed(play(pair), line, True) == line + b"\n"


@pytest.mark.parametrize("pair", PAIRS)
@pytest.mark.parametrize(
    "line",
    [
        "Starting server...",
        "42",
        '"x"',
        "{}",
        "[]",
        "[1,2]",
        '{"level":"info","msg":"log"}',
        '{"id":1}',
        "{not",
        "\x00",
    ],
)
def test_what_is_no_message_does_not_reach_the_host(pair: str, line: str) -> None:
    conversation = play(pair)
    assert relayed(conversation, line.encode(), False) == b""
    assert conversation.joint.out.noise == [line.encode()]


@pytest.mark.parametrize("pair", PAIRS)
def test_a_blank_line_is_swallowed(pair: str) -> None:
    conversation = play(pair)
    assert relayed(conversation, b"  \r", False) == b""
    assert conversation.joint.out.noise == []


AGAIN = f"""
start 2
child < {INITIALIZE.replace('"id":0', '"id":1000')}
"""
"""A legacy child is started again at once, and shaken hands with."""

EXITED = (
    '"error":{"code":-32603,"message":"The server exited with code 3",'
    '"data":{"source":"mcp-bridge","reason":"child_exited","exitCode":3,"stderr":["last words"]}}'
)


def test_a_modern_child_that_ends_fails_what_is_open_and_the_next_line_finds_a_new_one() -> None:
    play(
        MODERN_PAIR,
        f"""
host  > {{"id":1,"method":"a","params":{{$META}}}}
child < {{"id":1,"method":"a","params":{{$META}}}}
host  > {{"id":"1","method":"b","params":{{$META}}}}
child < {{"id":"1","method":"b","params":{{$META}}}}
child > {{"id":1,"result":{{}}}}
host  < {{"id":1,"result":{{}}}}
ended 3
host  < {{"id":"1",{EXITED}}}
host  > {{"id":2,"method":"a","params":{{$META}}}}
start 2
child < {{"id":1001,"method":"server/discover","params":{{$META}}}}
child > {{"id":1001,"result":{MODERN_RESULT}}}
child < {{"id":2,"method":"a","params":{{$META}}}}
""",
    )


def test_a_legacy_child_that_ends_fails_what_is_open_and_is_started_again() -> None:
    play(
        LEGACY_PAIR,
        f"""
host  > {{"id":"\\u00fc","method":"a"}}
child < {{"id":"\u00fc","method":"a"}}
host  > {{"id":2,"method":"b"}}
child < {{"id":2,"method":"b"}}
child > {{"id":"\u00fc","result":{{}}}}
host  < {{"id":"\u00fc","result":{{}}}}
ended 3
host  < {{"id":2,{EXITED}}}
{AGAIN}
""",
    )


@pytest.mark.parametrize("pair", PAIRS)
def test_a_cancelled_request_is_not_waited_for_and_may_be_answered_all_the_same(pair: str) -> None:
    cancel = '{"method":"notifications/cancelled","params":{"requestId":1}}'
    asked = f"""
host  > {{"id":1,"method":"a"}}
child < {{"id":1,"method":"a"}}
host  > {cancel}
child < {cancel}
"""
    play(pair, asked, "eof\nfinish 0")
    play(pair, asked, 'child > {"id":1,"result":{}}\nhost < {"id":1,"result":{}}')
    play(
        pair,
        asked,
        *[asked.replace("1", str(n)) for n in range(2, 5)],
        settings=Settings(most_open=1),
    )


@pytest.mark.parametrize("pair", PAIRS)
def test_a_half_line_at_the_end_of_the_child_is_no_answer(pair: str) -> None:
    conversation = play(pair, 'host > {"id":2,"method":"a"}\nchild < {"id":2,"method":"a"}')
    torn = b'{"jsonrpc":"2.0","id":2,"result":{"content":[{"ty'
    conversation.joint.last_from_child(1, torn, conversation.now)
    assert conversation.joint.out.noise == [torn]
    conversation.joint.out.noise.clear()
    conversation.play(
        f'ended 3\nhost < {{"id":2,{EXITED}}}' + (AGAIN if pair is LEGACY_PAIR else "")
    )


@pytest.mark.parametrize("pair", PAIRS)
def test_a_whole_line_at_the_end_of_the_child_is_an_answer(pair: str) -> None:
    conversation = play(pair, 'host > {"id":2,"method":"a"}\nchild < {"id":2,"method":"a"}')
    whole = b'{"jsonrpc":"2.0","id":2,"result":{}}'
    conversation.joint.last_from_child(1, whole, conversation.now)
    assert b"".join(conversation.joint.out.to_host) == whole + b"\n"


UNRESPONSIVE = (
    '"error":{"code":-32603,"message":"The server takes nothing of what it is sent",'
    '"data":{"source":"mcp-bridge","reason":"child_unresponsive"}}'
)


@pytest.mark.parametrize("pair", PAIRS)
def test_a_child_that_takes_nothing_gets_no_more_requests_until_it_does(pair: str) -> None:
    conversation = play(pair, 'host > {"id":1,"method":"a"}\nchild < {"id":1,"method":"a"}')
    conversation.joint.child_stalled(1, True)
    cancel = '{"method":"notifications/cancelled","params":{"requestId":1}}'
    conversation.play(f'host > {{"id":2,"method":"a"}}\nhost < {{"id":2,{UNRESPONSIVE}}}')
    conversation.play('host > {"method":"x/y"}')
    conversation.play(f"host > {cancel}\nchild < {cancel}")
    conversation.joint.child_stalled(1, False)
    conversation.play('host > {"id":2,"method":"a"}\nchild < {"id":2,"method":"a"}')


@pytest.mark.parametrize("pair", PAIRS)
@pytest.mark.parametrize(
    "line",
    [
        b'{"jsonrpc":"2.0","method":"notifications/message","params":{"data":"\\ud83d"}}',
        b'{"jsonrpc":"2.0","method":"notifications/message","params":{"data":NaN}}',
        b'{"jsonrpc":"2.0","id":1,"method":"x","params":{"data":NaN}}',
        b'{"jsonrpc":"2.0","id":1,"result":' + b"[" * 2000 + b"]" * 2000 + b"}",
    ],
)
def test_what_we_cannot_read_and_a_host_may_is_for_the_host(pair: str, line: bytes) -> None:
    assert relayed(play(pair), line, False) == line + b"\n"


@pytest.mark.parametrize("pair", PAIRS)
def test_an_answer_that_breaks_off_fails_its_request(pair: str) -> None:
    torn = '{"jsonrpc":"2.0","id":2,"result":{"content":[{"ty'
    play(
        pair,
        'host > {"id":2,"method":"a"}\nchild < {"id":2,"method":"a"}',
        f"""
child ! {torn}
noise   {torn}
host  < {{"id":2,"error":{{"code":-32603,"message":"The server's answer could not be read",
         "data":{{"source":"mcp-bridge","reason":"invalid_line"}}}}}}
""",
        "ended 3" + (AGAIN if pair is LEGACY_PAIR else ""),
    )


@pytest.mark.parametrize("pair", PAIRS)
def test_messages_on_one_line_and_text_around_them_are_told_apart(pair: str) -> None:
    one, two = '{"jsonrpc":"2.0","id":1,"result":{}}', '{"jsonrpc":"2.0","method":"x"}'
    play(
        pair,
        f"child ! {one}{two}\nhost < {one}\nhost < {two}",
        f"child ! {one} done\nhost < {one}\nnoise  done",
        f"child ! log: {one}\nnoise log:\nhost < {one}",
        f"child ! \\xef\\xbb\\xbf{one}\nhost < {one}",
    )


@pytest.mark.parametrize("pair", PAIRS)
def test_an_over_long_line_of_the_host_without_an_id_is_a_parse_error(pair: str) -> None:
    play(
        pair,
        'host ! LONG aaaaaaaaaaaaaaaaaaaaaaaaa\nhost < {"error":{"code":-32700,'
        '"message":"Parse error"}}',
    )


def test_answers_in_a_batch_are_answers() -> None:
    batch = '[{"jsonrpc":"2.0","id":1,"result":{}},{"jsonrpc":"2.0","id":2,"error":{}},7]'
    play(
        LEGACY_PAIR,
        f"""
host  > {{"id":1,"method":"a"}}
child < {{"id":1,"method":"a"}}
host  > {{"id":2,"method":"b"}}
child < {{"id":2,"method":"b"}}
child ! {batch}
host  < {batch}
ended SIGKILL
{AGAIN}
""",
    )


@pytest.mark.parametrize("pair", PAIRS)
def test_lines_over_the_limit_fail_whom_they_concern(pair: str) -> None:
    conversation = play(
        pair,
        """
host  ! LONG {"jsonrpc":"2.0","id":5,"method":"tools/call","params":{"name":"aaaaaaaaaaaaaaa
host  < {"id":5,"error":{"code":-32600,"message":"The line is too long"}}
host  > {"id":1,"method":"a"}
child < {"id":1,"method":"a"}
host  > {"id":2,"method":"a"}
child < {"id":2,"method":"a"}
""",
    )
    too_long = (
        '"error":{"code":-32603,"message":"The server\'s answer was too long to be read",'
        '"data":{"source":"mcp-bridge","reason":"line_too_long"}}'
    )
    text = '{"jsonrpc":"2.0","id":1,"result":{"content":["aaaaaaaaaaaaa'
    conversation.play(f'child ! LONG {text}\nnoise {text}\x00{text}\nhost < {{"id":1,{too_long}}}')
    conversation.play(f'child ! LONG aaaaa\nnoise aaaaa\x00aaaaa\nhost < {{"id":2,{too_long}}}')


@pytest.mark.parametrize("pair", PAIRS)
def test_more_requests_than_may_be_open_are_refused(pair: str) -> None:
    play(
        pair,
        """
host  > {"id":1,"method":"a"}
child < {"id":1,"method":"a"}
host  > {"id":2,"method":"a"}
host  < {"id":2,"error":{"code":-32603,"message":"Too many requests are open; the limit is 1",
         "data":{"source":"mcp-bridge","reason":"too_many_requests","limit":1}}}
child > {"id":1,"result":{}}
host  < {"id":1,"result":{}}
host  > {"id":2,"method":"a"}
child < {"id":2,"method":"a"}
""",
        settings=Settings(most_open=1),
    )


def test_a_modern_pair_is_told_of_initialize_with_an_envelope_by_its_child() -> None:
    initialize = '{"id":0,"method":"initialize","params":{$META}}'
    play(MODERN_PAIR, f"host > {initialize}\nchild < {initialize}")


def test_requests_of_a_legacy_child_reach_its_host_and_the_answers_it() -> None:
    play(
        LEGACY_PAIR,
        """
host  > {"id":7,"method":"tools/call"}
child < {"id":7,"method":"tools/call"}
child > {"id":7,"method":"sampling/createMessage"}
host  < {"id":7,"method":"sampling/createMessage"}
host  > {"id":7,"result":{"model":"m"}}
child < {"id":7,"result":{"model":"m"}}
child > {"id":7,"result":{}}
host  < {"id":7,"result":{}}
""",
    )


def test_a_call_that_waits_for_a_host_that_is_gone_is_not_waited_for() -> None:
    asks = '{"id":7,"method":"roots/list"}'
    busy = """
host  > {"id":1,"method":"tools/call"}
child < {"id":1,"method":"tools/call"}
"""
    play(LEGACY_PAIR, busy, f"child > {asks}\nhost < {asks}", "eof\nfinish 0")
    # One of two may go on without.
    play(
        LEGACY_PAIR,
        busy,
        busy.replace('"id":1', '"id":2'),
        f"child > {asks}\nhost < {asks}",
        "eof",
        'child > {"id":2,"result":{}}\nhost < {"id":2,"result":{}}\nfinish 0',
    )
