"""Orders of events that the dialogues have found to go wrong: translation F, design D10."""

from conversation import play
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
