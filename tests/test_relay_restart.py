"""A legacy pair outlives its child: the session is told to the next process: translation F."""

import pytest

from conversation import Conversation, play
from mcp_era_bridge.settings import Settings
from mcp_era_legacy.host_session import HostSession
from mcp_era_wire.events import Severity
from mcp_era_wire.versions import Era

CAPABILITIES = (
    '{"logging":{},"tools":{"listChanged":true},"prompts":{"listChanged":false},'
    '"resources":{"listChanged":true,"subscribe":true}}'
)
PARAMS = (
    '{"protocolVersion":"2025-06-18","capabilities":{"roots":{"listChanged":true},"x":{"n":1.50}},'
    '"clientInfo":{"name":"h","version":"1"}}'
)
INITIALIZE = f'{{"id":"i","method":"initialize","params":{PARAMS}}}'


def agreed(capabilities: str = CAPABILITIES, version: str = "2025-06-18") -> str:
    """The result of `initialize`."""
    return f'{{"protocolVersion":"{version}","capabilities":{capabilities}}}'


SHAKEN = f"""
host  > {INITIALIZE}
child < {INITIALIZE}
child > {{"id":"i","result":{agreed()}}}
host  < {{"id":"i","result":{agreed()}}}
"""
INITIALIZED = """
host  > {"method":"notifications/initialized"}
child < {"method":"notifications/initialized"}
"""
PAIR = SHAKEN + INITIALIZED
"""A legacy host and a legacy child, shaken hands."""


def hello(id: int = 1000) -> str:
    """The host's `initialize`, under an id of ours."""
    return f'child < {{"id":{id},"method":"initialize","params":{PARAMS}}}\n'


def discover(id: int) -> str:
    """Whether it is modern is asked of a process whose predecessor ended on `initialize`."""
    return (
        f'child < {{"id":{id},"method":"server/discover","params":{{"_meta":{{'
        '"io.modelcontextprotocol/protocolVersion":"2026-07-28",'
        '"io.modelcontextprotocol/clientInfo":{"name":"h","version":"1"},'
        '"io.modelcontextprotocol/clientCapabilities":{"roots":{},"x":{"n":1.50}}}}}\n'
    )


NOT_MODERN = 'child > {"id":1005,"error":{"code":-32601,"message":"?"}}\n'


def opens(number: int) -> str:
    """The first thing that the process is asked: the two take turns while it keeps ending."""
    id = 998 + number
    return discover(id) if number % 2 else hello(id)


def crash(number: int = 2, id: int = 1000) -> str:
    """The child exits while nothing is open, and is started again."""
    return f"ended 3\nstart {number}\n{hello(id)}"


NEWS = """
host  < {"method":"notifications/tools/list_changed"}
host  < {"method":"notifications/resources/list_changed"}
"""


def back(id: int = 1000, *, news: str = NEWS, told: str = "") -> str:
    """The next process answers, is told of the session in `told`, and the host of the news."""
    return f"""
child > {{"id":{id},"result":{agreed()}}}
child < {{"method":"notifications/initialized"}}
{told}{news}"""


def error(code: int = 3) -> str:
    """The error member of what failed with the child."""
    return (
        f'"error":{{"code":-32603,"message":"The server exited with code {code}","data":'
        f'{{"source":"mcp-bridge","reason":"child_exited","exitCode":{code},'
        '"stderr":["last words"]}}'
    )


def call(id: object = 1) -> str:
    return f'host  > {{"id":{id},"method":"tools/call"}}\n'


def called(id: object = 1) -> str:
    return f'child < {{"id":{id},"method":"tools/call"}}\n'


CANCEL = '{"method":"notifications/cancelled","params":{"requestId":%s}}'


def subscribe(uri: str, id: int, method: str = "subscribe") -> str:
    return f'{{"id":{id},"method":"resources/{method}","params":{{"uri":"{uri}","x":1.50}}}}'


def subscribed(uri: str, id: int = 5) -> str:
    """The host subscribes to a resource, and the child accepts."""
    return f"""
host  > {subscribe(uri, id)}
child < {subscribe(uri, id)}
child > {{"id":{id},"result":{{}}}}
host  < {{"id":{id},"result":{{}}}}
"""


def set_level(id: int, level: str = "info") -> str:
    return f'{{"id":{id},"method":"logging/setLevel","params":{{"level":"{level}","n":1.50}}}}'


def updated(uri: str) -> str:
    return f'host < {{"method":"notifications/resources/updated","params":{{"uri":"{uri}"}}}}\n'


OK = '\nchild > {"id":%d,"result":{}}\nhost < {"id":%d,"result":{}}\n'


# What the next process is told -------------------------------------------------------------------


def test_a_legacy_session_goes_on_with_the_next_process() -> None:
    play(
        PAIR,
        f"""
{call(1)}{called(1)}
{call(2)}{called(2)}
child > {{"id":1,"result":{{}}}}
host  < {{"id":1,"result":{{}}}}
ended 3
host  < {{"id":2,{error()}}}
start 2
{hello()}""",
        back(),
        call(3) + called(3),
        'child > {"id":3,"result":{}}\nhost < {"id":3,"result":{}}',
        "eof\nfinish 0",
    )


def test_a_session_is_told_as_it_stood() -> None:
    told = f"""
child < {set_level(1001, "debug")}
child < {subscribe("b:", 1002)}
child < {subscribe("a:", 1003)}
"""
    play(
        PAIR,
        f"host > {set_level(7)}\nchild < {set_level(7)}" + OK % (7, 7),
        f"host > {set_level(8, 'debug')}\nchild < {set_level(8, 'debug')}" + OK % (8, 8),
        # Refused, or not answered before the end: as if it had never been asked.
        f"host > {set_level(9, 'odd')}\nchild < {set_level(9, 'odd')}",
        'child > {"id":9,"error":{"code":-32602}}\nhost < {"id":9,"error":{"code":-32602}}',
        subscribed("a:"),
        subscribed("b:"),
        subscribed("c:"),
        # Once more: params are those of the last time, and so is its place.
        subscribed("a:"),
        f"host > {subscribe('c:', 6, 'unsubscribe')}\nchild < {subscribe('c:', 6, 'unsubscribe')}"
        + OK % (6, 6),
        f"""
host  > {set_level(10, "error")}
child < {set_level(10, "error")}
host  > {subscribe("d:", 11)}
child < {subscribe("d:", 11)}
host  > {subscribe("a:", 12, "unsubscribe")}
child < {subscribe("a:", 12, "unsubscribe")}
ended 3
host  < {{"id":10,{error()}}}
host  < {{"id":11,{error()}}}
host  < {{"id":12,{error()}}}
start 2
{hello()}""",
        back(told=told, news=NEWS + updated("b:") + updated("a:")),
        # The answers are for us.
        'child > {"id":1001,"result":{}}',
        'child > {"id":1003,"result":{}}',
        # What it does not take up is not live any more.
        'child > {"id":1002,"error":{"code":-32002,"message":"gone"}}',
        "after 10",
        crash(3, 1004),
        back(
            1004,
            told=f"child < {set_level(1005, 'debug')}\nchild < {subscribe('a:', 1006)}\n",
            news=NEWS + updated("a:"),
        ),
        # A late answer under an old number is none of ours.
        f"host > {subscribe('a:', 13, 'unsubscribe')}\nchild < {subscribe('a:', 13, 'unsubscribe')}"
        + OK % (13, 13),
        "after 10",
        crash(4, 1007),
        back(1007, told=f"child < {set_level(1008, 'debug')}\n"),
    )


def test_a_withdrawn_subscription_is_not_told() -> None:
    play(
        PAIR,
        f"host > {subscribe('a:', 5)}\nchild < {subscribe('a:', 5)}",
        f"host > {CANCEL % 5}\nchild < {CANCEL % 5}",
        'child > {"id":5,"result":{}}\nhost < {"id":5,"result":{}}',
        crash(),
        back(),
    )


def test_params_without_a_uri_are_the_childs_business() -> None:
    play(
        PAIR,
        'host > {"id":5,"method":"resources/subscribe","params":7}\n'
        'child < {"id":5,"method":"resources/subscribe","params":7}' + OK % (5, 5),
        'host > {"id":5,"method":"resources/unsubscribe"}\n'
        'child < {"id":5,"method":"resources/unsubscribe"}' + OK % (5, 5),
        crash(),
        back(),
    )


def test_of_too_many_subscriptions_the_oldest_is_not_told() -> None:
    session = HostSession(most_subscriptions=2)
    for id, uri in enumerate(("a:", "b:", "a:", "c:")):
        session.requested(id, "resources/subscribe", subscribe(uri, id).encode())
        session.answered(id, b"{}")  # type: ignore[arg-type]
    assert [uri for _, _, uri in session.requests()] == ["a:", "c:"]
    assert session.forgotten == 1


def test_a_second_initialize_that_is_accepted_is_the_one_that_counts() -> None:
    again = INITIALIZE.replace("2025-06-18", "2025-11-25")
    answer = f'{{"id":"i","result":{agreed("{}", "2025-11-25")}}}'
    play(
        PAIR,
        f"host > {again}\nchild < {again}",
        f"child > {answer}\nhost < {answer}",
        "ended 3\nstart 2\nchild < " + again.replace('"i"', "1000"),
        f"""
child > {answer.replace('"i"', "1000")}
child < {{"method":"notifications/initialized"}}
""",
    )


# When the crash comes ----------------------------------------------------------------------------


def test_a_child_that_ends_before_initialized_is_not_told_of_it() -> None:
    play(
        SHAKEN,
        crash(),
        # There is nothing yet that could have changed for the host.
        f'child > {{"id":1000,"result":{agreed()}}}',
        INITIALIZED,
        "after 10",
        crash(3, 1001),
        back(1001),
    )


def test_an_initialized_that_comes_while_there_is_no_child_is_passed_on() -> None:
    play(
        SHAKEN,
        crash(),
        'host > {"method":"notifications/initialized"}',
        call(),
        f"""
child > {{"id":1000,"result":{agreed()}}}
child < {{"method":"notifications/initialized"}}
{called()}""",
    )


def test_a_child_that_ends_by_itself_while_idle_is_started_again() -> None:
    play(PAIR, "ended 0\nstart 2\n" + hello(), back())
    play(PAIR, "ended SIGKILL\nstart 2\n" + hello(), back())


def test_a_child_that_ends_again_and_again_is_waited_for_until_it_is_hopeless() -> None:
    play(
        PAIR,
        crash(),
        call(),
        *[
            step
            for number, pause in enumerate((0.5, 1, 2, 4), 3)
            for step in (f"ended 3\n{opens(number)}", f"after {pause}\nstart {number}")
        ],
        f'ended 9\nhost < {{"id":1,{error(9)}}}',
        # Eight seconds to the next start: nobody is to wait so long, and nobody is waited for.
        "after 2.9",
        call() + f'host < {{"id":1,{error(9)}}}',
        f"host > {CANCEL % 1}",
        "after 60",
        call() + "start 7\n" + discover(1005),
        NOT_MODERN + hello(1006),
        back(1006) + called(),
    )


def test_a_hopeless_child_is_started_with_the_next_request_and_no_sooner() -> None:
    conversation = play(PAIR, crash())
    for number in range(3, 7):
        conversation.play(f"ended 3\n{opens(number)}")
        conversation.play(f"after 5\nstart {number}")
    conversation.play("ended 3")
    conversation.play("after 3")
    # Five seconds left of the eight.
    conversation.play(call() + discover(1005))
    conversation.play("after 4.9")
    conversation.play("after 0.1\nstart 7")
    conversation.play(NOT_MODERN + hello(1006))
    conversation.play(back(1006) + called())


def test_a_crash_while_the_session_is_told_starts_anew() -> None:
    told = f"child < {subscribe('a:', 1001)}\n"
    play(
        PAIR,
        subscribed("a:"),
        crash(),
        back(told=told, news=NEWS + updated("a:")),
        call() + called(),
        # Neither the subscription nor the call has been answered.
        f'ended 3\nhost < {{"id":1,{error()}}}\n' + hello(1002),
        "after 0.5\nstart 3",
        back(1002, told=told.replace("1001", "1003"), news=NEWS + updated("a:")),
    )


def test_a_crash_at_the_end_of_the_host_ends_the_bridge() -> None:
    play(
        PAIR,
        call() + called(),
        "eof",
        f'ended 3\nhost < {{"id":1,{error()}}}\nfinish 3',
    )


def test_the_end_of_the_host_while_nothing_waits_for_the_next_process_ends_the_bridge() -> None:
    play(PAIR, crash(), "eof\nfinish 0")


def test_what_waits_at_the_end_of_the_host_is_served_if_the_next_process_comes_in_time() -> None:
    waiting = (PAIR, crash(), call(), "eof")
    play(
        *waiting,
        back() + called(),
        'child > {"id":1,"result":{}}\nhost < {"id":1,"result":{}}\nfinish 0',
    )
    play(*waiting, f'ended 3\nhost < {{"id":1,{error()}}}\nfinish 3')
    play(
        *waiting,
        """
after 20
host  < {"id":1,"error":{"code":-32603,
         "message":"The host has closed its end and the server has not answered in time",
         "data":{"source":"mcp-bridge","reason":"child_unresponsive"}}}
finish 0
""",
    )


# What the host says meanwhile --------------------------------------------------------------------


def test_what_the_host_says_meanwhile_is_passed_on_in_order() -> None:
    conversation = play(PAIR, crash())
    lines = [
        b'{"jsonrpc":"2.0","id":1,"method":"a","params":{"n":1.50}}',
        b'{"jsonrpc":"2.0","method":"notifications/roots/list_changed"}',
        b'{"jsonrpc":"2.0","id":"1","method":"b"}',
        b"not JSON",
        b'[{"jsonrpc":"2.0","id":2,"method":"c"}]',
        b'{ "method":"x/y" , "id": 1.5 }\r',
    ]
    joint = conversation.joint
    joint.from_host(lines, True, conversation.now)
    assert joint.out.to_child == []
    answer = f'{{"jsonrpc":"2.0","id":1000,"result":{agreed()}}}'.encode()
    joint.from_child(2, [answer], True, conversation.now)
    assert b"".join(joint.out.to_child).split(b"\n")[1:] == [*lines, b""]


def test_what_the_host_takes_back_meanwhile_reaches_nobody() -> None:
    play(
        PAIR,
        call(1) + called(1),
        f'ended 3\nhost < {{"id":1,{error()}}}\nstart 2\n' + hello(),
        call(2),
        call(3),
        f"host > {CANCEL % 2}",
        # Of what died with the child, too.
        f"host > {CANCEL % 1}",
        'host > {"method":"notifications/progress","params":{"progressToken":1,"progress":1}}',
        back() + called(3),
        f"host > {CANCEL % 1}",
        f"host > {CANCEL % 3}\nchild < {CANCEL % 3}",
        f"host > {CANCEL % 4}\nchild < {CANCEL % 4}",
    )


def test_no_more_requests_wait_than_may_be_open() -> None:
    play(
        PAIR,
        crash(),
        call(1),
        call(2)
        + """
host  < {"id":2,"error":{"code":-32603,"message":"Too many requests are open; the limit is 1",
         "data":{"source":"mcp-bridge","reason":"too_many_requests","limit":1}}}
""",
        f"host > {CANCEL % 1}",
        call(3),
        back() + called(3),
        settings=Settings(most_open=1),
    )


def test_a_line_over_the_limit_is_refused_meanwhile() -> None:
    play(
        PAIR,
        crash(),
        """
host  ! LONG {"jsonrpc":"2.0","id":5,"method":"tools/call","params":{"name":"aaaaaaaaaaaaaaa
host  < {"id":5,"error":{"code":-32600,"message":"The line is too long"}}
""",
        back(),
    )


def test_of_many_notifications_the_newest_wait() -> None:
    conversation = play(PAIR, crash())
    for number in range(1030):
        conversation.play(f'host > {{"method":"x/{number}"}}')
    notified = "".join(f'child < {{"method":"x/{number}"}}\n' for number in range(6, 1030))
    conversation.play(back() + notified)


# When it does not come about ---------------------------------------------------------------------

REFUSED = """
host  < {"id":1,"error":{"code":-32603,"message":"The server refused initialize: not today",
         "data":{"source":"mcp-bridge","reason":"initialize_failed",
         "error":{"code":-32000,"message":"not today"}}}}
"""
REFUSAL = 'child > {"id":1000,"error":{"code":-32000,"message":"not today"}}'
PROBE = """
child < {"id":1001,"method":"server/discover","params":{
         "_meta":{"io.modelcontextprotocol/protocolVersion":"2026-07-28",
         "io.modelcontextprotocol/clientInfo":{"name":"h","version":"1"},
         "io.modelcontextprotocol/clientCapabilities":{"roots":{},"x":{"n":1.50}}}}}
"""
NEXT = call(2) + hello(1002)


def test_a_process_that_refuses_initialize_fails_what_waits_and_the_next_request_tries_again() -> (
    None
):
    refused = (PAIR, crash(), call(1), REFUSAL + PROBE)
    again = (NEXT, "after 0.5\nstart 3", back(1002) + called(2))
    play(*refused, 'child > {"id":1001,"error":{"code":-32601}}' + REFUSED + "end 2", *again)
    play(*refused, "after 5" + REFUSED + "end 2", *again)
    play(
        *refused,
        f"ended 3\n{discover(1002)}",
        "after 0.5\nstart 3",
        'child > {"id":1002,"error":{"code":-32601,"message":"?"}}\n' + hello(1003),
        back(1003) + called(1),
    )


def test_a_process_that_the_user_says_is_legacy_is_not_asked_whether_it_is_modern() -> None:
    play(
        PAIR,
        crash(),
        call(1),
        REFUSAL + REFUSED + "end 2",
        NEXT.replace("1002", "1001"),
        "after 0.5\nstart 3",
        back(1001) + called(2),
        settings=Settings(era=Era.LEGACY),
    )


def test_an_answer_to_initialize_that_cannot_be_read_is_a_refusal() -> None:
    torn = '{"jsonrpc":"2.0","id":1000,"result":{"capabilities":{"to'
    play(
        PAIR,
        crash(),
        call(1),
        f"""
child ! {torn}
noise   {torn}
host  < {{"id":1,"error":{{"code":-32603,"message":"The server's answer could not be read",
         "data":{{"source":"mcp-bridge","reason":"invalid_line"}}}}}}
end 2
""",
    )


TIMED_OUT = """
host  < {"id":1,"error":{"code":-32603,
         "message":"The server has not answered initialize within 60 s",
         "data":{"source":"mcp-bridge","reason":"initialize_timeout"}}}
"""


def test_a_process_that_has_written_nothing_is_left_alone() -> None:
    silent = (PAIR, crash(), call(1), "after 60" + TIMED_OUT)
    play(*silent, back(), call(2) + called(2))
    play(*silent, call(2), back() + called(2))
    play(*silent, call(1), "after 60" + TIMED_OUT, back())
    play(*silent, "eof\nfinish 0")


def test_a_process_that_has_written_something_is_replaced_with_the_next_request() -> None:
    play(
        PAIR,
        crash(),
        call(1),
        "child ! Loading\nnoise Loading",
        "after 60" + TIMED_OUT,
        call(2) + "start 3\n" + hello(1001),
        # The old one's words are nobody's.
        f'child2 > {{"id":1000,"result":{agreed()}}}',
        back(1001) + called(2),
    )


def test_a_command_that_cannot_be_run_any_more_is_tried_with_each_request() -> None:
    failed = """
missing no such file
host  < {"id":1,"error":{"code":-32603,"message":"The server could not be started: no such file",
         "data":{"source":"mcp-bridge","reason":"start_failed"}}}
"""
    conversation = play(PAIR, crash(), call(1), failed)
    conversation.play(call(1) + "start 3\n" + hello(1001))
    conversation.play(failed)
    conversation.play("eof\nfinish 0")


CHANGED = """
host  < {"id":1,"error":{"code":-32603,"message":"The server was started again and $WHAT",
         "data":{"source":"mcp-bridge","reason":"session_changed"}}}
finish 1
"""
OFFERS_LESS = CHANGED.replace("$WHAT", "does not offer any more what the session was opened with")


@pytest.mark.parametrize(
    ("result", "lacking"),
    [
        (agreed(version="2025-11-25"), ["protocolVersion 2025-06-18"]),
        ('{"capabilities":{}}', None),
        ("{}", None),
        ("7", None),
        (agreed(CAPABILITIES.replace('"logging":{},', "")), ["logging"]),
        (agreed(CAPABILITIES.replace('"logging":{}', '"logging":true')), ["logging"]),
        (agreed(CAPABILITIES.replace('"subscribe":true', '"subscribe":false')), None),
        (agreed('{"logging":{},"tools":{},"resources":{"subscribe":true}}'), None),
    ],
)
def test_a_process_that_offers_less_ends_the_session(
    result: str, lacking: list[str] | None
) -> None:
    conversation = play(PAIR, crash(), call(1))
    joint = conversation.joint
    joint.from_child(2, [f'{{"jsonrpc":"2.0","id":1000,"result":{result}}}'.encode()], True, 100.0)
    (note,) = [note for note in joint.out.notes if note.severity is Severity.ERROR]
    assert lacking is None or note.fields["lacking"] == lacking
    assert note.fields["lacking"]


def test_what_waits_is_told_that_the_session_is_over() -> None:
    play(
        PAIR,
        crash(),
        call(1),
        f'child > {{"id":1000,"result":{agreed("{}")}}}' + OFFERS_LESS,
        call(2),
    )


@pytest.mark.parametrize(
    "more",
    [
        CAPABILITIES.replace('"listChanged":false', '"listChanged":true'),
        CAPABILITIES.replace('"prompts":{"listChanged":false},', '"prompts":{},"new":{"x":true},'),
    ],
)
def test_a_process_that_offers_more_will_do(more: str) -> None:
    play(PAIR, crash(), back().replace(CAPABILITIES, more), call() + called())


def test_a_capability_is_compared_to_its_last_part() -> None:
    deep = '{"tasks":{"requests":{"tools":{"call":%s}}},"vendor":{"n":1,"s":"x","no":null}}'
    shaken = PAIR.replace(CAPABILITIES, deep % "{}")
    play(shaken, crash(), back(news="").replace(CAPABILITIES, deep.replace("1", "2") % '{"a":{}}'))
    play(
        shaken,
        crash(),
        call(1),
        f'child > {{"id":1000,"result":{agreed(deep % "true")}}}' + OFFERS_LESS,
    )


def test_a_server_that_ends_on_initialize_by_now_is_asked_whether_it_is_modern() -> None:
    play(
        PAIR,
        crash(),
        f"ended 4\n{discover(1001)}",
        "after 0.5\nstart 3",
        f'child > {{"id":1001,"result":{{{CAN}}}}}\n'
        f'child < {{"id":1002,"method":"subscriptions/listen","params":{{{ENVELOPE},'
        '"notifications":{"toolsListChanged":true,"resourcesListChanged":true}}}',
    )


CAN = f'"supportedVersions":["2026-07-28"],"capabilities":{CAPABILITIES}'
ENVELOPE = PROBE[PROBE.index('"_meta"') : PROBE.rindex("}}")].replace("\n", "")


def test_a_server_that_has_become_modern_goes_on_with_the_session() -> None:
    play(
        PAIR,
        crash(),
        call(1),
        REFUSAL + PROBE,
        f"""
child > {{"id":1001,"result":{{{CAN}}}}}
child < {{"id":1002,"method":"subscriptions/listen","params":{{{ENVELOPE},"notifications":{{
         "toolsListChanged":true,"resourcesListChanged":true}}}}}}
child < {{"id":1003,"method":"tools/call","params":{{{ENVELOPE}}}}}
child > {{"method":"notifications/subscriptions/acknowledged","params":{{"notifications":{{
         "toolsListChanged":true}},"_meta":{{"io.modelcontextprotocol/subscriptionId":1002}}}}}}
host  < {{"method":"notifications/tools/list_changed"}}
child > {{"id":1003,"result":{{"resultType":"complete","content":[]}}}}
host  < {{"id":1,"result":{{"content":[]}}}}
""",
    )


def test_a_server_that_has_become_modern_and_offers_less_ends_the_session() -> None:
    answer = '"result":{"supportedVersions":["2026-07-28"],"capabilities":{}}'
    play(PAIR, crash(), call(1), REFUSAL + PROBE, f'child > {{"id":1001,{answer}}}' + OFFERS_LESS)


@pytest.mark.parametrize(
    "answer",
    [
        '{"code":-32022,"message":"no","data":{"supported":["2026-07-28"]}}',
        '{"code":-32021,"message":"no","data":{"requiredCapabilities":{"sampling":{}}}}',
    ],
)
def test_a_server_that_is_modern_and_does_not_say_what_it_is_has_no_session(answer: str) -> None:
    refused = f'child > {{"id":1001,"error":{answer}}}' + REFUSED + "end 2"
    play(PAIR, crash(), call(1), REFUSAL + PROBE, refused)


# What the next process says before its answer ----------------------------------------------------


def test_what_a_process_says_before_its_answer_follows_the_news() -> None:
    play(
        PAIR,
        crash(),
        'child > {"id":7,"method":"ping"}\nchild < {"id":7,"result":{}}',
        "child ! banner\nnoise banner",
        'child > {"id":0,"method":"roots/list"}',
        'child > {"method":"notifications/message","params":{"level":"info","data":"up"}}',
        'child > {"id":99,"result":{}}',
        back(
            news=NEWS
            + 'host < {"id":0,"method":"roots/list"}\n'
            + 'host < {"method":"notifications/message","params":{"level":"info","data":"up"}}\n'
        ),
        'host > {"id":0,"result":{"roots":[]}}\nchild < {"id":0,"result":{"roots":[]}}',
    )


def test_a_batch_around_the_answer_is_taken_apart() -> None:
    item = '"jsonrpc":"2.0",'
    play(
        PAIR,
        crash(),
        f"""
child > [{{{item}"method":"a"}},{{{item}"id":1000,"result":{agreed()}}},{{{item}"method":"b"}}]
child < {{"method":"notifications/initialized"}}
{NEWS}
host  < {{"method":"a"}}
host  < {{"method":"b"}}
""",
    )


def test_a_process_that_says_very_much_before_its_answer_is_not_kept_in_full() -> None:
    conversation = play(PAIR, crash())
    for number in range(70):
        conversation.play(f'child > {{"method":"x/{number}"}}')
    said = "".join(f'host < {{"method":"x/{number}"}}\n' for number in range(64))
    conversation.play(back(news=NEWS + said))


# What the child has asked ------------------------------------------------------------------------


def asks(id: object, method: str = "sampling/createMessage") -> str:
    return f'child > {{"id":{id},"method":"{method}"}}\nhost < {{"id":{id},"method":"{method}"}}\n'


def withdrawn(id: object) -> str:
    reason = "The server has ended and is started again"
    params = f'{{"requestId":{id},"reason":"{reason}"}}'
    return f'host < {{"method":"notifications/cancelled","params":{params}}}\n'


def answers(id: object, at_child: object = None) -> str:
    event = f'host > {{"id":{id},"result":{{"model":"m"}}}}\n'
    if at_child is None:
        return event
    return event + f'child < {{"id":{at_child},"result":{{"model":"m"}}}}\n'


def test_what_a_dead_child_has_asked_is_withdrawn_and_the_answer_dropped() -> None:
    play(
        PAIR,
        asks(0) + asks('"x"'),
        answers('"x"', '"x"'),
        asks(1),
        "ended 3\n" + withdrawn(0) + withdrawn(1) + "start 2\n" + hello(),
        answers(1),
        back(),
        answers(0),
        # An answer to nothing is the child's business again.
        answers(0, 0),
        asks(0),
        answers(0, 0),
    )


def test_an_id_that_is_still_in_use_at_the_host_is_replaced() -> None:
    play(
        PAIR,
        asks(0),
        "ended 3\n" + withdrawn(0) + "start 2\n" + hello(),
        back(),
        """
child > {"id":0,"method":"sampling/createMessage","params":{"n":1.50}}
host  < {"id":"b-1","method":"sampling/createMessage","params":{"n":1.50}}
""",
        asks('"0"') + asks(1),
        # The late answer to the first.
        answers(0),
        answers('"b-1"', 0),
        answers(1, 1),
        # Now the id is free.
        asks(0),
        answers(0, 0),
    )


def test_a_replaced_id_is_replaced_in_cancellations_and_once_only() -> None:
    cancel = '{"method":"notifications/cancelled","params":{"reason":"r","requestId":%s}}'
    collide = (
        PAIR,
        asks(0),
        "ended 3\n" + withdrawn(0) + "start 2\n" + hello(),
        back(),
        'child > {"id":0,"method":"roots/list"}\nhost < {"id":"b-1","method":"roots/list"}',
    )
    play(
        *collide,
        f"child > {cancel % 0}\nhost < " + cancel % '"b-1"',
        f"child > {cancel % 0}\nhost < {cancel % 0}",
    )
    # One that the child uses itself, and another end.
    play(
        *collide,
        'child > {"id":"b-1","method":"roots/list"}\nhost < {"id":"b-2","method":"roots/list"}',
        "ended 3\n" + withdrawn('"b-1"') + withdrawn('"b-2"') + hello(1001),
        "after 0.5\nstart 3",
        answers('"b-2"'),
        back(1001),
        answers('"b-1"'),
        answers(0),
        asks(0),
    )


def test_a_request_that_the_child_took_back_is_not_withdrawn_again() -> None:
    cancel = CANCEL % 0
    play(PAIR, asks(0), f"child > {cancel}\nhost < {cancel}", crash(), back(), asks(0))


def test_progress_of_what_a_dead_child_has_asked_is_dropped() -> None:
    progress = '{"method":"notifications/progress","params":{"progressToken":0,"progress":1}}'
    play(
        PAIR,
        asks(0),
        f"host > {progress}\nchild < {progress}",
        "ended 3\n" + withdrawn(0) + "start 2\n" + hello(),
        f"host > {progress}",
        back(),
        f"host > {progress}",
        asks(1),
        f"host > {progress}\nchild < {progress}",
    )


# Batches -----------------------------------------------------------------------------------------

OLD = PAIR.replace("2025-06-18", "2025-03-26")


def batch(*items: str) -> str:
    return "[" + ",".join('{"jsonrpc":"2.0",' + item[1:] for item in items) + "]"


def old(script: str) -> str:
    return script.replace("2025-06-18", "2025-03-26")


def test_the_requests_of_a_batch_fail_with_the_child() -> None:
    line = batch('{"id":1,"method":"a"}', '{"method":"n"}', '{"id":2,"method":"b"}')
    play(
        OLD,
        f"host > {line}\nchild < {line}",
        'child > {"id":1,"result":{}}\nhost < {"id":1,"result":{}}',
        f'ended 3\nhost < {{"id":2,{error()}}}\nstart 2\n' + old(hello()),
        old(back()),
    )


def test_batches_are_of_one_revision_only() -> None:
    line = batch('{"id":1,"method":"a"}')
    play(PAIR, f"host > {line}\nchild < {line}", crash())


def test_a_subscription_in_a_batch_is_one() -> None:
    line = batch(subscribe("a:", 1), set_level(2), '{"id":3,"method":"x"}')
    answer = batch('{"id":2,"error":{"code":1}}', '{"id":1,"result":{}}')
    play(
        OLD,
        f"host > {line}\nchild < {line}",
        f"child > {answer}\nhost < {answer}",
        f'ended 3\nhost < {{"id":3,{error()}}}\nstart 2\n' + old(hello()),
        old(back(told=f"child < {subscribe('a:', 1001)}\n", news=NEWS + updated("a:"))),
    )


def test_a_batch_waits_without_what_is_taken_back() -> None:
    play(
        OLD,
        old(crash()),
        "host > " + batch('{"id":1,"method":"a"}', '{"id":2,"method":"b"}', '{"method":"n"}'),
        "host > " + batch(CANCEL % 2, '{"id":7,"result":{}}'),
        "host > " + batch('{"id":3,"method":"c"}'),
        f"host > {CANCEL % 3}",
        old(back()) + "child < " + batch('{"id":1,"method":"a"}', '{"method":"n"}'),
    )


def test_an_answer_to_a_dead_child_is_taken_out_of_a_batch() -> None:
    asked = batch('{"id":%s,"method":"m"}', '{"method":"n"}')
    answered = batch('{"id":1,"result":{}}', '{"id":"b-1","result":{}}')
    play(
        OLD,
        asks(0) + asks(1),
        "ended 3\n" + withdrawn(0) + withdrawn(1) + "start 2\n" + old(hello()),
        old(back()),
        f"child > {asked % 0}\nhost < {asked}" % '"b-1"',
        f"host > {answered}\nchild < " + batch('{"id":0,"result":{}}'),
        "host > " + batch('{"id":0,"result":{}}'),
    )


def test_requests_of_a_batch_that_are_too_many_are_refused() -> None:
    too_many = """
host  < {"id":2,"error":{"code":-32603,"message":"Too many requests are open; the limit is 1",
         "data":{"source":"mcp-bridge","reason":"too_many_requests","limit":1}}}
"""
    line = batch('{"id":1,"method":"a"}', '{"id":2,"method":"b"}')
    left = batch('{"id":1,"method":"a"}')
    settings = Settings(most_open=1)
    play(OLD, f"host > {line}\nchild < {left}" + too_many, settings=settings)
    play(
        OLD,
        old(crash()),
        f"host > {line}" + too_many,
        old(back()) + f"child < {left}",
        settings=settings,
    )


# Stalls ------------------------------------------------------------------------------------------


def test_the_next_process_is_not_taken_for_stalled() -> None:
    conversation: Conversation = play(PAIR)
    conversation.joint.child_stalled(1, True)
    conversation.play(crash())
    conversation.play(back())
    conversation.play(call() + called())
