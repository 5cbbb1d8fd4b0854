"""Orders of events that the dialogues have found to go wrong: translation F, design D10."""

import pytest

from asking import ACCEPTED, ELICIT, ROOTS, asks
from conversation import EVERYTHING, play
from handshakes import answers, asked, cancel, wants, withdrawn
from test_both_faces import joined
from test_both_faces_of_a_pair import INITIALIZE, MODERN_RESULT, PAIR, WELCOME
from test_handshaken_restart import (
    AGREED,
    CALLED,
    DISCOVERED,
    JOINED,
    NEWS,
    failed,
    listens,
    probe,
)
from test_handshaken_restart import PARAMS as HOST
from test_relay_restart import PARAMS, SHAKEN, agreed, call, called, crash

INITIALIZED = '{"method":"notifications/initialized"}'
NOTE = '{"method":"x/y"}'
LATE = (
    '"error":{"code":-32603,"message":"The server has not answered initialize within 60 s",'
    '"data":{"source":"mcp-bridge","reason":"initialize_timeout"}}'
)


def test_initialized_reaches_a_child_that_is_stalled() -> None:
    conversation = play(SHAKEN)
    conversation.joint.child_stalled(1, True)
    conversation.play(f"host > {NOTE}\nhost > {INITIALIZED}\nchild < {INITIALIZED}")


def test_initialized_waits_for_the_next_process_when_requests_do_not() -> None:
    play(
        SHAKEN,
        crash(),
        f"host > {INITIALIZED}\n" + call(1),
        f'after 60\nhost < {{"id":1,{LATE}}}',
        call(2),
        f'child > {{"id":1000,"result":{agreed()}}}\nchild < {INITIALIZED}\n' + called(2),
    )


def test_so_does_what_is_no_request_in_a_batch() -> None:
    params = PARAMS.replace("2025-06-18", "2025-03-26")
    initialize = f'{{"id":"i","method":"initialize","params":{params}}}'
    answer = f'{{"id":%s,"result":{agreed(version="2025-03-26")}}}'
    item = '{"jsonrpc":"2.0","id":1,"method":"x/y"}'
    note = '{"jsonrpc":"2.0","method":"x/z"}'
    play(
        f"host > {initialize}\nchild < {initialize}",
        "child > %s\nhost < %s" % ((answer % '"i"',) * 2),
        "ended 3\nstart 2\nchild < " + initialize.replace('"i"', "1000"),
        f"host > [{note},{item},{note}]",
        f'after 60\nhost < {{"id":1,{LATE}}}',
        f"child > {answer % '1000'}\nchild < [{note},{note}]",
    )


def test_no_id_of_a_question_is_used_twice_in_a_session() -> None:
    hello = f'child < {{"id":$ID,"method":"initialize","params":{HOST}}}\n'
    form = f'"k":{{{ELICIT}}}'
    play(
        JOINED,
        CALLED,
        wants(1002, form, None) + asked("b-1", ELICIT),
        "ended 3\n" + withdrawn("b-1") + failed() + "start 2\n" + probe(1003),
        'child > {"id":1003,"error":{"code":-32601,"message":"?"}}\n'
        + hello.replace("$ID", "1004"),
        f'child > {{"id":1004,"result":{AGREED}}}\nchild < {INITIALIZED}\n' + NEWS,
        "ended 3\n" + hello.replace("$ID", "1005"),
        "after 0.5\nstart 3",
        'child > {"id":1005,"error":{"code":-32601,"message":"?"}}\n' + probe(1006),
        f'child > {{"id":1006,"result":{{{DISCOVERED}}}}}\n' + listens(1007),
        CALLED.replace("1002", "1008"),
        wants(1008, form, None) + asked("b-2", ELICIT),
        # This is late.
        f'host > {{"id":"b-1","result":{ACCEPTED}}}',
    )


STREAM = '"_meta":{"io.modelcontextprotocol/subscriptionId":"s"}'
LISTEN = (
    '{"id":"s","method":"subscriptions/listen",'
    '"params":{"notifications":{"toolsListChanged":true},$META}}'
)
ACKNOWLEDGED = (
    '{"method":"notifications/subscriptions/acknowledged",'
    f'"params":{{"notifications":{{"toolsListChanged":true}},{STREAM}}}}}'
)
SHAKES_BETWEEN_PROCESSES = (
    PAIR
    + f"\nhost > {LISTEN}\nchild < {LISTEN}\nchild > {ACKNOWLEDGED}\nhost < {ACKNOWLEDGED}\n"
    + 'ended 3\nstart 2\nchild < {"id":1001,"method":"server/discover","params":{$META}}\n'
    + f"host > {INITIALIZE}\nchild < {INITIALIZE}\n"
)


def test_a_stream_outlives_a_process_also_if_the_host_opens_with_a_handshake_meanwhile() -> None:
    play(
        SHAKES_BETWEEN_PROCESSES,
        f'child > {{"id":1001,"result":{MODERN_RESULT}}}',
        'child > {"id":"i","error":{"code":-32601,"message":"?"}}' + WELCOME + f"child < {LISTEN}",
        f"child > {ACKNOWLEDGED}\n"
        f'host < {{"method":"notifications/tools/list_changed","params":{{{STREAM}}}}}',
    )


def test_a_stream_ends_if_the_next_process_has_a_session_for_the_host() -> None:
    answer = f'{{"id":"i","result":{AGREED}}}'
    play(
        SHAKES_BETWEEN_PROCESSES,
        f"""
child > {answer}
host  < {{"id":"s","result":{{"resultType":"complete",{STREAM}}}}}
host  < {{"method":"notifications/cancelled","params":{{"requestId":"s",
         "reason":"The server has been replaced by one of another revision"}}}}
host  < {answer}
""",
    )


ASKED_BESIDE = (
    joined(EVERYTHING)
    + """
child > {"id":1,"result":{"content":[]}}
host  < {"id":1,"result":{"content":[],$DONE}}
host  > {"id":2,"method":"tools/call","params":{"name":"t"}}
child < {"id":2,"method":"tools/call","params":{"name":"t"}}
"""
    + asks("7")
    + asked("b-1", ELICIT)
)
"""A host that speaks both eras is asked in the name of a call of the handshake half."""


def test_the_question_of_a_call_that_is_cancelled_is_withdrawn_in_the_handshake_half() -> None:
    play(
        ASKED_BESIDE,
        cancel("2")
        + 'child < {"id":7,"result":{"action":"cancel"}}\n'
        + 'child < {"method":"notifications/cancelled","params":{"requestId":2}}\n'
        + withdrawn("b-1"),
        answers("b-1", ACCEPTED),
    )


def test_so_is_that_of_a_process_that_ends() -> None:
    play(ASKED_BESIDE, "ended 3\n" + failed(2) + withdrawn("b-1"), answers("b-1", ACCEPTED))


@pytest.mark.parametrize(
    ("answer", "soon"),
    [(f'"result":{ROOTS}', "after 0.1\n"), ('"error":{"code":-1,"message":"no"}', "")],
)
def test_a_call_of_the_handshake_half_that_brings_roots_goes_on_then(
    answer: str, soon: str
) -> None:
    play(
        joined(EVERYTHING, declared='{"roots":{}}'),
        """
child > {"id":1,"result":{"content":[]}}
host  < {"id":1,"result":{"content":[],$DONE}}
child > {"id":7,"method":"roots/list"}
host  > {"id":2,"method":"tools/call","params":{"name":"t"}}
host  < {"id":"b-1","method":"roots/list"}
"""
        + f'host > {{"id":"b-1",{answer}}}\nchild < {{"id":7,{answer}}}\n{soon}'
        + 'child < {"id":2,"method":"tools/call","params":{"name":"t"}}',
    )


WATCHES_BETWEEN_SESSIONS = (
    joined(offers='{"resources":{"subscribe":true},"tools":{}}')
    + f"""
host   > {{"id":2,"method":"x/y","params":{{$META}}}}
child  < {{"id":2,"method":"x/y"}}
child  > {{"id":1,"result":{{"content":[]}}}}
host   < {{"id":1,"result":{{"content":[],$DONE}}}}
host   > {{"id":3,"method":"tools/call","params":{{"name":"t",$FULL}}}}
beside 2
child2 < {{"id":1002,"method":"initialize","params":{{"protocolVersion":"2025-11-25",
         "capabilities":{EVERYTHING.replace('"roots":{}', '"roots":{"listChanged":true}')},
         "clientInfo":{{"name":"host","version":"2"}}}}}}
ended 3
"""
    + failed(2)
    + """
host   > {"id":5,"method":"resources/subscribe","params":{"uri":"x:a"}}
"""
)
"""A host with two faces subscribes while there is but a session that is being opened."""


def test_a_subscription_fails_with_the_session_that_was_to_bring_it() -> None:
    play(
        WATCHES_BETWEEN_SESSIONS,
        """
ended  4
child  < {"id":1003,"method":"initialize","params":{"protocolVersion":"2025-11-25",
         "capabilities":{},"clientInfo":{"name":"host","version":"2"}}}
""",
        "after 0.5\nstart 3",
        "ended 4\nend 3\n" + failed(3, 4) + failed(5, 4),
    )


def test_so_it_does_when_the_host_has_waited_to_its_end() -> None:
    late = (
        '"error":{"code":-32603,'
        '"message":"The host has closed its end and the server has not answered in time",'
        '"data":{"source":"mcp-bridge","reason":"child_unresponsive"}}'
    )
    play(
        WATCHES_BETWEEN_SESSIONS,
        "eof",
        f'after 20\nhost < {{"id":5,{late}}}\nhost < {{"id":3,{late}}}\nfinish 0',
    )


def test_a_late_refusal_of_initialize_is_not_for_the_modern_half_either() -> None:
    play(
        f"host > {INITIALIZE}\nchild < {INITIALIZE}",
        'after 5\nchild < {"id":$PROBE,"method":"server/discover","params":{$META}}',
        f'child > {{"id":$PROBE,"result":{MODERN_RESULT}}}',
        "after 5" + WELCOME,
        'host > {"id":9,"method":"x/y","params":{$META}}\n'
        'child < {"id":9,"method":"x/y","params":{$META}}',
        'child > {"id":"i","error":{"code":-32601,"message":"?"}}',
    )
