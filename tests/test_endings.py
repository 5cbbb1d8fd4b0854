"""The end of the child, the end of the host, and a child that never comes: design D10."""

import pytest

from conversation import GREETED, OPENED, PROBED, play
from mcp_era_bridge.settings import Settings

clause = pytest.mark.clause

CALL = """
host  > {"id":"c","method":"tools/call","params":{"name":"t",$META}}
child < {"id":1,"method":"tools/call","params":{"name":"t"}}
"""
EXITED = (
    '"error":{"code":-32603,"message":"The server exited with code 9",'
    '"data":{"source":"mcp-bridge","reason":"child_exited","exitCode":9,"stderr":["last words"]}}'
)


@clause("C-39", "S-23")
def test_a_call_that_was_under_way_fails_and_is_not_repeated() -> None:
    play(
        OPENED,
        CALL,
        f"""
host  > {{"id":2,"method":"tools/list","params":{{$META}}}}
child < {{"id":2,"method":"tools/list"}}
ended 9
host  < {{"id":"c",{EXITED}}}
host  < {{"id":2,{EXITED}}}
host  > {{"id":"c","method":"tools/list","params":{{$META}}}}
start 2
child < {{"id":1002,"method":"server/discover","params":{{$META}}}}
child > {{"id":1002,"error":{{"code":-32601,"message":"?"}}}}
child < {{"id":1003,"method":"initialize","params":{{"protocolVersion":"2025-11-25",
         "capabilities":{{}},"clientInfo":{{"name":"host","version":"2"}}}}}}
child > {{"id":1003,"result":{{"protocolVersion":"2025-11-25","capabilities":{{}},
        "serverInfo":{{"name":"old","version":"1"}}}}}}
child < {{"method":"notifications/initialized"}}
child < {{"id":1,"method":"tools/list"}}
""",
    )


def test_a_cancelled_call_is_not_failed_by_the_end_of_the_child() -> None:
    play(
        OPENED,
        CALL,
        """
host  > {"method":"notifications/cancelled","params":{"requestId":"c"}}
child < {"method":"notifications/cancelled","params":{"requestId":1}}
ended 9
""",
    )


def test_the_end_of_an_idle_child_is_not_the_hosts_business() -> None:
    play(OPENED, "ended 0", "after 3600")


def test_what_an_ended_process_still_says_is_nobodys() -> None:
    conversation = play(OPENED, CALL)
    conversation.play(f'ended 9\nhost < {{"id":"c",{EXITED}}}')
    conversation.play(
        """
host  > {"id":"c","method":"tools/list","params":{$META}}
start 2
child < {"id":1002,"method":"server/discover","params":{$META}}
"""
    )
    old = b'{"jsonrpc":"2.0","id":1002,"error":{"code":-32601,"message":"?"}}'
    conversation.joint.from_child(1, [old], True, conversation.now)
    assert conversation.joint.out.to_child == []


@clause("C-39")
def test_a_child_that_takes_nothing_gets_no_more_requests_until_it_does() -> None:
    conversation = play(OPENED, CALL)
    conversation.joint.child_stalled(1, True)
    conversation.play(
        """
host  > {"id":2,"method":"tools/list","params":{$META}}
host  < {"id":2,"error":{"code":-32603,"message":"The server takes nothing of what it is sent",
         "data":{"source":"mcp-bridge","reason":"child_unresponsive"}}}
host  > {"method":"com.example/poke"}
host  > {"method":"notifications/cancelled","params":{"requestId":"c"}}
child < {"method":"notifications/cancelled","params":{"requestId":1}}
"""
    )
    conversation.joint.child_stalled(1, False)
    conversation.play(
        """
host  > {"id":2,"method":"tools/list","params":{$META}}
child < {"id":2,"method":"tools/list"}
"""
    )


NOT_STARTED = (
    '"error":{"code":-32603,"message":"The server could not be started: no such file",'
    '"data":{"source":"mcp-bridge","reason":"start_failed"}}'
)


@pytest.mark.parametrize(
    "request_",
    [
        '"method":"server/discover","params":{$META}',
        '"method":"tools/list","params":{$META}',
        '"method":"initialize","params":{"protocolVersion":"2025-11-25"}',
    ],
)
def test_every_request_is_told_why_there_is_no_server(request_: str) -> None:
    sent_first = f'host > {{"id":1,{request_}}}\nchild < '
    first = (
        '{"id":1000,"method":"server/discover","params":{$META}}'
        if "META" in request_
        else f'{{"id":1,{request_}}}'
    )
    play("missing no such file", f'host > {{"id":1,{request_}}}\nstart 2\nchild < {first}')
    play(
        sent_first + first,
        f'missing no such file\nhost < {{"id":1,{NOT_STARTED}}}',
        "eof\nfinish 0",
    )


def test_a_ping_of_no_era_is_answered_without_a_server() -> None:
    play("missing no such file", 'host > {"id":1,"method":"ping"}\nhost < {"id":1,"result":{}}')


@clause("S-84", "C-38")
def test_the_end_of_the_host_lets_what_was_asked_be_answered_first() -> None:
    play(
        OPENED,
        CALL,
        "eof",
        """
child > {"id":1,"result":{"content":[]}}
host  < {"id":"c","result":{"content":[],$DONE}}
finish 0
""",
        'child > {"method":"com.example/news"}',
    )


@clause("S-84", "C-38")
@pytest.mark.parametrize("before", [OPENED, OPENED + CALL.replace('"c"', "7")])
def test_the_end_of_the_host_waits_no_longer_than_for_last_words(before: str) -> None:
    conversation = play(before, settings=Settings(last_words_timeout=3))
    if before is OPENED:
        conversation.play("eof\nfinish 0")
    else:
        conversation.play("eof")
        conversation.play("after 2.9")
        conversation.play(
            """
after 0.2
host  < {"id":7,"error":{"code":-32603,
         "message":"The host has closed its end and the server has not answered in time",
         "data":{"source":"mcp-bridge","reason":"child_unresponsive"}}}
finish 0
"""
        )


def test_the_end_of_the_host_waits_for_the_search_too() -> None:
    play(
        GREETED,
        "eof",
        """
child > {"id":$HELLO,"result":{"protocolVersion":"2025-11-25","capabilities":{"tools":{}},
        "serverInfo":{"name":"old","version":"1"}}}
child < {"method":"notifications/initialized"}
host  < {"id":"d","result":{"supportedVersions":["2026-07-28"],"capabilities":{"tools":{}},$LISTED}}
finish 0
""",
    )


def test_an_ended_host_and_an_ended_child_are_the_end() -> None:
    play(OPENED, CALL, "eof", f'ended 9\nhost < {{"id":"c",{EXITED}}}\nfinish 0')


def test_a_stream_is_not_work_that_the_end_of_the_host_waits_for() -> None:
    modern = '{"supportedVersions":["2026-07-28"]}'
    play(
        PROBED,
        f"""
child > {{"id":$PROBE,"result":{modern}}}
host  < {{"id":"d","result":{modern}}}
host  > {{"id":1,"method":"subscriptions/listen","params":{{$META}}}}
child < {{"id":1,"method":"subscriptions/listen","params":{{$META}}}}
eof
finish 0
""",
    )
