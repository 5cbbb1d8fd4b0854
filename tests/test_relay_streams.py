"""The streams of a modern pair outlive its child: translation F, H.4."""

import pytest

from conversation import play
from mcp_era_bridge.settings import Settings
from mcp_era_wire.versions import Era
from test_relay import EXITED, MODERN_PAIR, MODERN_RESULT

FILTER = (
    '{"toolsListChanged":true,"promptsListChanged":false,"resourcesListChanged":true,'
    '"resourceSubscriptions":["a:","b:"],"x":{"n":1.50}}'
)
ID = '"_meta":{"io.modelcontextprotocol/subscriptionId":%s}'


def listen(id: str) -> str:
    return f'{{"id":{id},"method":"subscriptions/listen","params":{{$META,"notifications":{{}}}}}}'


def acknowledged(id: str, honoured: str = FILTER) -> str:
    method = "notifications/subscriptions/acknowledged"
    return f'{{"method":"{method}","params":{{{ID % id},"notifications":{honoured}}}}}'


def opened(id: str, honoured: str = FILTER) -> str:
    """The host opens a stream, and the child acknowledges it."""
    return f"""
host  > {listen(id)}
child < {listen(id)}
child > {acknowledged(id, honoured)}
host  < {acknowledged(id, honoured)}
"""


def probe(id: int = 1001) -> str:
    return f'\nchild < {{"id":{id},"method":"server/discover","params":{{$META}}}}\n'


def back(id: int = 1001) -> str:
    return f'\nchild > {{"id":{id},"result":{MODERN_RESULT}}}\n'


def news(id: str) -> str:
    """Whatever a stream with FILTER is for may have changed."""
    return f"""
host  < {{"method":"notifications/tools/list_changed","params":{{{ID % id}}}}}
host  < {{"method":"notifications/resources/list_changed","params":{{{ID % id}}}}}
host  < {{"method":"notifications/resources/updated","params":{{"uri":"a:",{ID % id}}}}}
host  < {{"method":"notifications/resources/updated","params":{{"uri":"b:",{ID % id}}}}}
"""


def ended(id: str, why: str) -> str:
    return f"""
host  < {{"id":{id},"result":{{"resultType":"complete",{ID % id}}}}}
host  < {{"method":"notifications/cancelled","params":{{"requestId":{id},"reason":"{why}"}}}}
"""


def cancel(id: str) -> str:
    return f'{{"method":"notifications/cancelled","params":{{"requestId":{id}}}}}'


LESS = "The server does not offer the same subscriptions any more"
CALL = '{"id":5,"method":"tools/call","params":{$META}}'
CRASH = "ended 3\nstart 2" + probe()


def test_a_stream_is_opened_again_at_the_next_process() -> None:
    play(
        MODERN_PAIR,
        opened("7"),
        opened('"7"', "{}"),
        f"host > {CALL}\nchild < {CALL}",
        f'ended 3\nhost < {{"id":5,{EXITED}}}\nstart 2' + probe(),
        # What the host says meanwhile comes behind the streams.
        f"host > {CALL}",
        back() + f"child < {listen('7')}\nchild < {listen(chr(34) + '7' + chr(34))}\n"
        f"child < {CALL}",
        f"child > {acknowledged('7')}" + news("7"),
        f"child > {acknowledged(chr(34) + '7' + chr(34), '{}')}",
        # From now on all is as before.
        f'child > {{"method":"notifications/tools/list_changed","params":{{{ID % 7}}}}}\n'
        f'host < {{"method":"notifications/tools/list_changed","params":{{{ID % 7}}}}}',
        "after 10",
        f'ended 3\nhost < {{"id":5,{EXITED}}}\nstart 3' + probe(1002),
        back(1002) + f"child < {listen('7')}\nchild < {listen(chr(34) + '7' + chr(34))}\n",
    )


AGAIN = (MODERN_PAIR, opened("7"), CRASH, back() + f"child < {listen('7')}")
"""A stream has been sent to the next process."""


def test_more_than_before_is_as_good() -> None:
    more = (
        FILTER.replace("false", "true").replace('"b:"]', '"c:","b:"]').replace('"x"', '"y":1,"x"')
    )
    play(*AGAIN, f"child > {acknowledged('7', more)}" + news("7"))


@pytest.mark.parametrize(
    "less",
    [
        FILTER.replace('"toolsListChanged":true,', ""),
        FILTER.replace('"toolsListChanged":true', '"toolsListChanged":false'),
        FILTER.replace('"a:",', ""),
        FILTER.replace(',"x":{"n":1.50}', ""),
        "{}",
        "7",
    ],
)
def test_a_stream_that_the_next_process_does_not_honour_in_full_is_ended(less: str) -> None:
    play(
        *AGAIN,
        f"child > {acknowledged('7', less)}\nchild < {cancel('7')}" + ended("7", LESS),
        # It is forgotten.
        "after 10",
        "ended 3",
    )


def test_a_stream_that_the_next_process_refuses_is_ended() -> None:
    play(
        *AGAIN,
        'child > {"id":7,"error":{"code":-32601,"message":"?"}}' + ended("7", LESS),
        "after 10",
        "ended 3",
    )
    play(*AGAIN, f"child > {cancel('7')}" + ended("7", LESS), "after 10", "ended 3")


def test_a_stream_that_the_next_process_ends_in_good_order_is_ended_so() -> None:
    result = f'{{"id":7,"result":{{"resultType":"complete",{ID % 7}}}}}'
    play(*AGAIN, f"child > {result}\nhost < {result}", "after 10", "ended 3")


@pytest.mark.parametrize(
    "end",
    [
        f'child > {{"id":7,"result":{{"resultType":"complete",{ID % 7}}}}}\n'
        f'host < {{"id":7,"result":{{"resultType":"complete",{ID % 7}}}}}',
        'child > {"id":7,"error":{"code":1}}\nhost < {"id":7,"error":{"code":1}}',
        f"child > {cancel('7')}\nhost < {cancel('7')}",
        f"host > {cancel('7')}\nchild < {cancel('7')}",
    ],
)
def test_a_stream_that_has_ended_is_not_opened_again(end: str) -> None:
    play(MODERN_PAIR, opened("7"), end, "ended 3", "eof\nfinish 0")


def test_a_stream_that_was_never_acknowledged_is_opened_as_if_for_the_first_time() -> None:
    asked = f"host > {listen('7')}\nchild < {listen('7')}"
    again = back() + f"child < {listen('7')}"
    play(
        MODERN_PAIR,
        asked,
        CRASH,
        again,
        f"child > {acknowledged('7')}\nhost < {acknowledged('7')}",
    )
    refusal = '{"id":7,"error":{"code":-32602,"message":"no"}}'
    play(MODERN_PAIR, asked, CRASH, again, f"child > {refusal}\nhost < {refusal}")


def test_a_stream_can_be_cancelled_while_there_is_no_child() -> None:
    play(MODERN_PAIR, opened("7"), CRASH, f"host > {cancel('7')}", back())
    play(*AGAIN, f"host > {cancel('7')}\nchild < {cancel('7')}", "after 10", "ended 3")


def test_a_second_crash_before_the_acknowledgement_changes_nothing() -> None:
    play(
        *AGAIN,
        "ended 3" + probe(1002),
        "after 0.5\nstart 3",
        back(1002) + f"child < {listen('7')}",
        f"child > {acknowledged('7')}" + news("7"),
    )


def test_streams_are_ended_if_the_next_process_is_a_legacy_one() -> None:
    play(
        MODERN_PAIR,
        opened("7"),
        CRASH,
        """
child > {"id":1001,"error":{"code":-32601,"message":"?"}}
child < {"id":1002,"method":"initialize","params":{"protocolVersion":"2025-11-25",
         "capabilities":{},"clientInfo":{"name":"host","version":"2"}}}
""",
        """
child > {"id":1002,"result":{"protocolVersion":"2025-11-25","capabilities":{}}}
child < {"method":"notifications/initialized"}
"""
        + ended("7", "The server has been replaced by one of another revision"),
    )


def test_streams_are_ended_if_no_process_comes_about() -> None:
    play(
        MODERN_PAIR,
        opened("7"),
        CRASH,
        "missing gone" + ended("7", "The server could not be started: gone"),
        "eof\nfinish 0",
    )
    play(
        MODERN_PAIR,
        opened("7"),
        CRASH,
        """
after 5
child < {"id":1002,"method":"initialize","params":{"protocolVersion":"2025-11-25",
         "capabilities":{},"clientInfo":{"name":"host","version":"2"}}}
""",
        'child > {"id":1002,"error":{"code":1}}'
        + ended("7", "The server could not be started again"),
    )


def test_streams_are_ended_when_the_host_is_going() -> None:
    crash = f'ended 3\nhost < {{"id":5,{EXITED}}}'
    gone = ended("7", "The server exited with code 3")
    held = f"host > {CALL}\nchild < {CALL}"
    play(
        MODERN_PAIR,
        opened("7"),
        held,
        "eof",
        crash + gone + "finish 0",
    )
    play(
        MODERN_PAIR, opened("7"), CRASH, "eof" + ended("7", "The server is shut down") + "finish 0"
    )


def test_a_server_that_is_modern_by_the_users_word_gets_its_streams_at_once() -> None:
    play(
        f"host > {listen('7')}\nchild < {listen('7')}",
        f"child > {acknowledged('7')}\nhost < {acknowledged('7')}",
        f"ended 3\nstart 2\nchild < {listen('7')}",
        f"child > {acknowledged('7')}" + news("7"),
        settings=Settings(era=Era.MODERN),
    )


def test_no_more_streams_are_kept_than_may_be() -> None:
    play(
        MODERN_PAIR,
        opened("7"),
        opened("8"),
        f'ended 3\nhost < {{"id":8,{EXITED}}}\nstart 2' + probe(),
        back() + f"child < {listen('7')}",
        settings=Settings(most_streams=1),
    )


def test_a_modern_child_that_asks_in_the_old_way_is_not_withdrawn_from() -> None:
    asks = '{"id":0,"method":"roots/list"}'
    play(MODERN_PAIR, f"child > {asks}\nhost < {asks}", "ended 3")
