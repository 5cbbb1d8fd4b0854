"""Another session with a legacy child, for a call that declares more: design D3, L-5."""

import pytest
from msgspec import Raw

from asking import (
    ACCEPTED,
    CREATE,
    ELICIT,
    SAMPLED,
    answered,
    asks,
    call,
    done,
    gathered,
    input_required,
    retry,
)
from conversation import EVERYTHING, meta, opened, play
from mcp_era_bridge.settings import Settings
from test_subscriptions import A, acknowledged, ended, listen, ok, subscribe, tag, told

clause = pytest.mark.clause

NOTHING = "{}"
SAMPLING = '{"sampling":{}}'
FORM = '{"elicitation":{"form":{}}}'
BOTH = '{"sampling":{},"elicitation":{"form":{}}}'


def hello(number: int, declared: str, child: str = "child") -> str:
    """The process is shaken hands with."""
    return (
        f'{child} < {{"id":{number},"method":"initialize","params":{{'
        f'"protocolVersion":"2025-11-25","capabilities":{declared},'
        '"clientInfo":{"name":"host","version":"2"}}}\n'
    )


def greets(
    number: int, child: str = "child", offers: str = '{"tools":{}}', version: str = "2025-11-25"
) -> str:
    """It answers."""
    return (
        f'{child} > {{"id":{number},"result":{{"protocolVersion":"{version}",'
        f'"capabilities":{offers},"serverInfo":{{"name":"old","version":"1"}}}}}}\n'
        'child < {"method":"notifications/initialized"}\n'
    )


def sent(child_id: int, name: str = "t") -> str:
    """A call reaches the present child."""
    return f'child < {{"id":{child_id},"method":"tools/call","params":{{"name":"{name}"}}}}\n'


# The old process is idle ------------------------------------------------------------------------


@clause("S-20", "S-37")
def test_an_idle_process_is_replaced_by_one_that_is_told_of_all_capabilities() -> None:
    play(
        opened(SAMPLING),
        call("1", None, capabilities=FORM) + "start 2\n" + hello(1002, BOTH),
        greets(1002) + sent(1),
        asks('"q"') + gathered("1", 1, ("q", ELICIT)),
        retry("2", 1, f'{{"q":{ACCEPTED}}}', capabilities=FORM) + answered('"q"', ACCEPTED),
        done(1, "2"),
        # Whoever declares less is served as well, and asked no more than it declares.
        call("3", 2, capabilities=NOTHING),
        asks('"r"', CREATE)
        + 'child < {"id":"r","error":{"code":-32601,'
        + '"message":"The client has not declared sampling"}}',
        done(2, "3"),
    )


def test_meanwhile_everything_else_waits_and_is_not_lost() -> None:
    play(
        opened(NOTHING),
        call("1", None, capabilities=FORM) + "start 2\n" + hello(1002, FORM),
        call("2", None, name="u", capabilities=NOTHING),
        f"""
host  > {{"id":3,"method":"tools/list","params":{{{meta(NOTHING)}}}}}
host  > {{"id":"e","method":"server/discover","params":{{{meta(NOTHING)}}}}}
host  < {{"id":"e","result":{{"supportedVersions":["2026-07-28"],"capabilities":{{"tools":{{}}}},
         $LISTED}}}}
""",
        'host  > {"method":"notifications/cancelled","params":{"requestId":2}}',
        greets(1002) + sent(1) + 'child < {"id":2,"method":"tools/list"}\n',
        done(1, "1"),
    )


@pytest.mark.parametrize(
    "lines",
    [
        'child > {"id":1,"method":"ping"}\nchild < {"id":1,"result":{}}\n',
        "child ! banner\nnoise banner\n",
        'child > {"method":"notifications/message","params":{"level":"info","data":1}}\n',
        'child > {"id":99,"result":{}}\n',
    ],
)
def test_what_the_new_process_says_before_is_dealt_with(lines: str) -> None:
    play(
        opened(NOTHING),
        call("1", None, capabilities=FORM) + "start 2\n" + hello(1002, FORM),
        lines + greets(1002) + sent(1),
        done(1, "1"),
    )


def test_a_question_that_comes_before_the_session_is_answered_once_it_is_open() -> None:
    play(
        opened(NOTHING),
        call("1", None, capabilities=FORM) + "start 2\n" + hello(1002, FORM),
        asks('"q"', '"method":"roots/list"'),
        greets(1002)
        + 'child < {"id":"q","error":{"code":-32601,'
        + '"message":"The client has not declared roots"}}\n'
        + sent(1),
    )


ENDS = [
    (
        'child > {"id":%d,"error":{"code":-32000,"message":"no"}}\n',
        '"message":"The server refused initialize: no","data":{"source":"mcp-bridge",'
        '"reason":"initialize_failed","error":{"code":-32000,"message":"no"}}',
    ),
    (
        "after 60\n",
        '"message":"The server has not answered initialize within 60 s",'
        '"data":{"source":"mcp-bridge","reason":"initialize_timeout"}',
    ),
    (
        "ended 3\n",
        '"message":"The server exited with code 3","data":{"source":"mcp-bridge",'
        '"reason":"child_exited","exitCode":3,"stderr":["last words"]}',
    ),
    (
        "missing no such file\n",
        '"message":"The server could not be started: no such file",'
        '"data":{"source":"mcp-bridge","reason":"start_failed"}',
    ),
]
REPLACED = opened(NOTHING) + call("1", None, capabilities=FORM) + "start 2\n" + hello(1002, FORM)


def at(end: str, number: int) -> str:
    """How the process ends that was shaken hands with as `number`."""
    return end % number if "%d" in end else end


@pytest.mark.parametrize(("end", "error"), ENDS)
def test_after_a_replacement_that_does_not_start_one_is_started_as_before(
    end: str, error: str
) -> None:
    play(
        REPLACED,
        call("2", None, name="u", capabilities=NOTHING),
        at(end, 1002) + "start 3\n" + hello(1003, NOTHING),
        # The calls are served, and asked no more than the server knows of.
        greets(1003) + sent(1) + sent(2, "u"),
        done(1, "1"),
        # It is not wished for again.
        call("3", 3, name="v", capabilities=FORM),
        done(3, "3"),
    )


@pytest.mark.parametrize(("end", "error"), ENDS)
def test_if_that_does_not_start_either_what_waits_fails(end: str, error: str) -> None:
    again = (
        "start 4\n" + f'child < {{"id":1004,"method":"server/discover","params":{{{meta(FORM)}}}}}'
    )
    play(
        REPLACED,
        at(ENDS[0][0], 1002) + "start 3\n" + hello(1003, NOTHING),
        at(end, 1003) + "end 3\n" + f'host  < {{"id":1,"error":{{"code":-32603,{error}}}}}\n',
        call("2", None, capabilities=FORM) + again,
        # It was not for want of what it had been told before, so that is tried again.
        'child > {"id":1004,"error":{"code":-32601,"message":"?"}}\n' + hello(1005, FORM),
        greets(1005) + sent(1),
    )


def test_a_server_that_exits_only_once_is_started_again_with_patience() -> None:
    play(
        REPLACED,
        "ended 3\n" + "start 3\n" + hello(1003, NOTHING),
        "ended 3\n"
        + "end 3\n"
        + 'host  < {"id":1,"error":{"code":-32603,"message":"The server exited with code 3",'
        + '"data":{"source":"mcp-bridge","reason":"child_exited","exitCode":3,'
        + '"stderr":["last words"]}}}\n',
    )


# The old process is busy ------------------------------------------------------------------------

ANSWERED = (
    '{"protocolVersion":"2025-11-25","capabilities":{"tools":{}},'
    '"serverInfo":{"name":"old","version":"1"}}'
)
BUSY = opened(SAMPLING) + call("1", 1, name="slow", capabilities=SAMPLING)
BESIDE = BUSY + call("2", None, capabilities=FORM) + "beside 2\n" + hello(1002, BOTH, "child2")


def test_a_busy_process_goes_on_beside_the_new_one_and_ends_when_it_is_done() -> None:
    play(
        BESIDE,
        # Meanwhile it serves whoever needs no more than it was told of.
        call("3", 2, name="u", capabilities=NOTHING),
        greets(1002, "child2") + sent(1),
        call("4", 2, name="v", capabilities=SAMPLING),
        'child1 > {"id":2,"result":{"content":[]}}\n'
        'host  < {"id":3,"result":{"content":[],$DONE}}\n',
        'child1 > {"id":1,"result":{"content":[]}}\n'
        'host  < {"id":1,"result":{"content":[],$DONE}}\nend 1\n',
        done(2, "4"),
        done(1, "2"),
    )


def test_what_one_process_answers_in_the_name_of_another_is_dropped() -> None:
    play(
        BESIDE,
        f'child1 > {{"id":1002,"result":{ANSWERED}}}',
        'child1 > {"id":1,"result":{"content":[]}}\nhost  < {"id":1,"result":{"content":[],$DONE}}',
        f'child2 > {{"id":1002,"result":{ANSWERED}}}\n'
        'child < {"method":"notifications/initialized"}\n' + sent(1) + "end 1",
    )


def test_a_parked_call_keeps_its_process() -> None:
    play(
        BUSY,
        asks('"q"', CREATE) + gathered("1", 1, ("q", CREATE)),
        call("2", None, capabilities=FORM) + "beside 2\n" + hello(1002, BOTH, "child2"),
        greets(1002, "child2") + sent(1),
        retry("3", 1, f'{{"q":{SAMPLED}}}', name="slow", capabilities=SAMPLING)
        + f'child1 < {{"id":"q","result":{SAMPLED}}}\n',
        'child1 > {"id":1,"result":{"content":[]}}\n'
        'host  < {"id":3,"result":{"content":[],$DONE}}\nend 1\n',
        done(1, "2"),
    )


@clause("S-51")
def test_calls_of_the_old_process_can_be_cancelled() -> None:
    play(
        BESIDE,
        greets(1002, "child2") + sent(1),
        'host  > {"method":"notifications/cancelled","params":{"requestId":1}}\n'
        'child1 < {"method":"notifications/cancelled","params":{"requestId":1}}\nend 1\n',
        done(1, "2"),
    )


def test_the_end_of_the_old_process_fails_what_it_had_and_nothing_else() -> None:
    play(
        BESIDE,
        greets(1002, "child2") + sent(1),
        """
ended1 3
host < {"id":1,"error":{"code":-32603,"message":"The server exited with code 3",
       "data":{"source":"mcp-bridge","reason":"child_exited","exitCode":3,"stderr":["last words"]}}}
""",
        done(1, "2"),
    )


def test_the_end_of_the_new_process_fails_nothing_of_the_old_one() -> None:
    play(
        BESIDE,
        greets(1002, "child2") + sent(1),
        """
ended2 3
host < {"id":2,"error":{"code":-32603,"message":"The server exited with code 3",
       "data":{"source":"mcp-bridge","reason":"child_exited","exitCode":3,"stderr":["last words"]}}}
""",
        # Another one is started for the next request, and told of all that was declared.
        call("5", None, capabilities=NOTHING)
        + "start 3\n"
        + f'child < {{"id":1003,"method":"server/discover","params":{{{meta(NOTHING)}}}}}\n',
        'host  > {"method":"notifications/cancelled","params":{"requestId":1}}\n'
        'child1 < {"method":"notifications/cancelled","params":{"requestId":1}}\nend 1\n',
        'child > {"id":1003,"error":{"code":-32601,"message":"?"}}\n' + hello(1004, BOTH),
        greets(1004) + sent(1),
    )


@pytest.mark.parametrize(
    ("end", "ends"),
    [
        ('child2 > {"id":1002,"error":{"code":-32000,"message":"no"}}\n', "end 2\n"),
        ("after 60\n", "end 2\n"),
        ("ended2 3\n", "end 2\n"),
        ("missing2 no such file\n", "end 2\n"),
    ],
)
def test_one_that_does_not_start_leaves_the_old_one_and_is_not_wished_for_again(
    end: str, ends: str
) -> None:
    play(
        BESIDE,
        end + ends + sent(2),
        done(2, "2"),
        done(1, "1"),
        call("3", 3, capabilities=FORM),
        done(3, "3"),
    )


def test_a_call_that_needs_still_more_waits_too() -> None:
    more = '{"sampling":{},"elicitation":{"form":{}},"roots":{}}'
    declared = '{"sampling":{},"elicitation":{"form":{}},"roots":{"listChanged":true}}'
    play(
        BESIDE,
        call("3", None, name="u", capabilities='{"roots":{}}'),
        # There are two processes now: it is served, and not asked for its roots.
        greets(1002, "child2") + sent(1) + sent(2, "u"),
        'child1 > {"id":1,"result":{"content":[]}}\n'
        'host  < {"id":1,"result":{"content":[],$DONE}}\nend 1\n',
        call("4", None, name="v", capabilities=more)
        + "beside 3\n"
        + hello(1003, declared, "child3"),
    )


def test_the_host_may_end_while_another_session_is_opened() -> None:
    play(
        BESIDE,
        "eof",
        done(1, "1"),
        greets(1002, "child2") + sent(1) + "end 1\n",
        done(1, "2") + "finish 0",
    )


# When there is no other session -----------------------------------------------------------------


@pytest.mark.parametrize(
    ("before", "settings"),
    [
        (opened(SAMPLING), Settings(one_process=True)),
        (BUSY, Settings(one_process=True)),
        (BUSY, Settings(max_sessions=1)),
    ],
)
def test_where_none_may_be_opened_the_call_is_served_as_it_is(
    before: str, settings: Settings
) -> None:
    id = 2 if "slow" in before else 1
    play(before, call("2", id, capabilities=FORM), done(id, "2"), settings=settings)


def test_one_process_at_a_time_may_still_be_replaced() -> None:
    play(
        opened(SAMPLING),
        call("1", None, capabilities=FORM) + "start 2\n" + hello(1002, BOTH),
        settings=Settings(max_sessions=1),
    )


@pytest.mark.parametrize(
    ("version", "capabilities"),
    [
        ("2025-03-26", FORM),
        ("2025-06-18", '{"elicitation":{"form":{},"url":{}}}'),
        ("2025-06-18", '{"sampling":{"tools":{}}}'),
        ("2025-11-25", '{"extensions":{"io.modelcontextprotocol/tasks":{}}}'),
        ("2025-11-25", NOTHING),
    ],
)
def test_nothing_is_opened_for_what_the_child_could_not_use(
    version: str, capabilities: str
) -> None:
    first = '{"sampling":{},"elicitation":{}}' if version == "2025-06-18" else SAMPLING
    play(opened(first, version=version), call("1", 1, capabilities=capabilities))


def test_lists_do_not_ask_so_they_need_no_other_session() -> None:
    play(
        opened(NOTHING),
        """
host  > {"id":1,"method":"tools/list","params":{$FULL}}
child < {"id":1,"method":"tools/list"}
""",
    )


def test_the_form_that_is_meant_by_nothing_is_the_form() -> None:
    play(opened('{"elicitation":{}}'), call("1", 1, capabilities=FORM))


def test_it_is_said_in_words_where_both_are_meant() -> None:
    play(
        opened('{"elicitation":{}}'),
        call("1", None, capabilities='{"elicitation":{"url":{}}}')
        + "start 2\n"
        + hello(1002, '{"elicitation":{"url":{},"form":{}}}'),
    )


# Streams ----------------------------------------------------------------------------------------

OFFERS = '{"tools":{"listChanged":true},"resources":{"subscribe":true}}'


def test_streams_go_over_to_the_new_session() -> None:
    both = '{"toolsListChanged":true,"resourceSubscriptions":["x:a"]}'
    play(
        opened(NOTHING, offers=OFFERS),
        listen("1", both).replace("$FULL", meta(NOTHING))
        + subscribe(1, "x:a")
        + ok(1)
        + acknowledged("1", both),
        call("2", 2, name="slow", capabilities=NOTHING),
        call("3", None, capabilities=FORM) + "beside 2\n" + hello(1002, FORM, "child2"),
        greets(1002, "child2", OFFERS) + subscribe(1, "x:a") + sent(2),
        # The old one is not heard any more.
        'child1 > {"method":"notifications/tools/list_changed"}',
        ok(1)
        + told(
            ("notifications/tools/list_changed", tag("1")),
            ("notifications/resources/updated", f'"uri":"x:a",{tag("1")}'),
        ),
    )


def test_or_are_ended_if_it_does_not_offer_the_same() -> None:
    play(
        opened(NOTHING, offers=OFFERS),
        listen("1", A).replace("$FULL", meta(NOTHING))
        + subscribe(1, "x:a")
        + ok(1)
        + acknowledged("1", A),
        call("3", None, capabilities=FORM) + "start 2\n" + hello(1002, FORM),
        greets(1002)
        + ended("1", "The server does not offer the same subscriptions any more")
        + sent(1),
    )


def test_everything_may_be_declared_at_once() -> None:
    declared = EVERYTHING.replace('"roots":{}', '"roots":{"listChanged":true}')
    play(
        opened(NOTHING),
        call("1", None, capabilities=EVERYTHING) + "start 2\n" + hello(1002, declared),
        greets(1002) + sent(1),
    )


def test_when_the_old_process_ends_meanwhile_everything_waits_for_the_new_one() -> None:
    play(
        BESIDE,
        """
ended1 3
host < {"id":1,"error":{"code":-32603,"message":"The server exited with code 3",
       "data":{"source":"mcp-bridge","reason":"child_exited","exitCode":3,"stderr":["last words"]}}}
""",
        call("3", None, name="u", capabilities=NOTHING),
        greets(1002) + sent(1) + sent(2, "u"),
        done(1, "2"),
        done(2, "3"),
    )


def test_and_for_one_as_before_if_that_does_not_start_either() -> None:
    ended = (
        '"code":-32603,"message":"The server exited with code 3","data":{"source":"mcp-bridge",'
        '"reason":"child_exited","exitCode":3,"stderr":["last words"]}'
    )
    play(
        BESIDE,
        "ended1 3\n" + f'host < {{"id":1,"error":{{{ended}}}}}',
        "ended2 3\n" + hello(1003, SAMPLING),
        "after 0.5\nstart 3\n",
        greets(1003) + sent(1),
    )


# Unlucky orders --------------------------------------------------------------------------------


def test_what_stands_behind_the_answer_in_a_batch_is_heard_too() -> None:
    play(
        opened(NOTHING),
        call("1", None, capabilities=FORM) + "start 2\n" + hello(1002, FORM),
        """
child > [{"jsonrpc":"2.0","id":1002,"result":{"protocolVersion":"2025-03-26",
        "capabilities":{"tools":{}},"serverInfo":{"name":"old","version":"1"}}},
        {"jsonrpc":"2.0","id":5,"method":"ping"}]
child < {"method":"notifications/initialized"}
child < {"id":5,"result":{}}
"""
        + sent(1),
    )


def test_a_stalled_process_that_is_succeeded_stalls_nobody() -> None:
    conversation = play(BESIDE)
    conversation.joint.child_stalled(1, True)
    conversation.play(greets(1002, "child2") + sent(1) + call("3", 2, name="u"))


def test_a_new_process_that_is_stalled_stalls_the_host() -> None:
    conversation = play(BESIDE)
    conversation.joint.child_stalled(2, True)
    conversation.play(greets(1002, "child2") + sent(1))
    conversation.play(
        call("3", None)
        + 'host < {"id":3,"error":{"code":-32603,'
        + '"message":"The server takes nothing of what it is sent",'
        + '"data":{"source":"mcp-bridge","reason":"child_unresponsive"}}}'
    )


@clause("S-84")
def test_a_call_that_waits_for_a_session_is_answered_before_the_end() -> None:
    no_answer = '"message":"The host has closed its end and the server has not answered in time"'
    data = '"data":{"source":"mcp-bridge","reason":"child_unresponsive"}'
    play(
        opened(NOTHING),
        call("1", None, capabilities=FORM) + "start 2\n" + hello(1002, FORM),
        "eof\n",
        f'after 20\nhost  < {{"id":1,"error":{{"code":-32603,{no_answer},{data}}}}}\nfinish 0',
    )


def test_a_stream_lives_on_after_a_replacement_that_does_not_start() -> None:
    tools = '{"toolsListChanged":true}'
    play(
        opened(NOTHING, offers=OFFERS),
        listen("1", tools).replace("$FULL", meta(NOTHING)) + acknowledged("1", tools),
        call("2", None, capabilities=FORM) + "start 2\n" + hello(1002, FORM),
        at(ENDS[0][0], 1002) + "start 3\n" + hello(1003, NOTHING),
        greets(1003, offers=OFFERS)
        + told(("notifications/tools/list_changed", tag("1")))
        + sent(1),
    )


def test_and_is_ended_if_none_starts() -> None:
    tools = '{"toolsListChanged":true}'
    play(
        opened(NOTHING, offers=OFFERS),
        listen("1", tools).replace("$FULL", meta(NOTHING)) + acknowledged("1", tools),
        call("2", None, capabilities=FORM) + "start 2\n" + hello(1002, FORM),
        at(ENDS[0][0], 1002) + "start 3\n" + hello(1003, NOTHING),
        at(ENDS[0][0], 1003)
        + "end 3\n"
        + f'host  < {{"id":2,"error":{{"code":-32603,{ENDS[0][1]}}}}}\n'
        + ended("1", "The server refused initialize: no"),
    )


# What is worth another session -----------------------------------------------------------------


def test_a_list_before_the_call_does_not_hide_what_the_call_declares() -> None:
    play(
        opened(NOTHING),
        f"""
host  > {{"id":1,"method":"tools/list","params":{{{meta(FORM)}}}}}
child < {{"id":1,"method":"tools/list"}}
child > {{"id":1,"result":{{"tools":[]}}}}
host  < {{"id":1,"result":{{"tools":[],$LISTED}}}}
""",
        call("2", None, capabilities=FORM) + "start 2\n" + hello(1002, FORM),
    )


def test_roots_of_the_command_line_are_nothing_that_the_server_lacks() -> None:
    play(
        opened(NOTHING, declared='{"roots":{"listChanged":true}}'),
        call("1", 1, capabilities='{"roots":{}}'),
        settings=Settings(roots=Raw(b'{"roots":[]}')),
    )


def test_what_was_given_up_is_not_wished_for_with_something_else() -> None:
    both = '{"roots":{},"elicitation":{"form":{}}}'
    roots = '{"roots":{"listChanged":true}}'
    play(
        REPLACED,
        at(ENDS[0][0], 1002) + "start 3\n" + hello(1003, NOTHING),
        greets(1003) + sent(1),
        done(1, "1"),
        call("2", None, capabilities=both) + "start 4\n" + hello(1004, roots),
        greets(1004) + sent(1),
    )


def test_the_parts_of_what_was_given_up_are_not_wished_for_either() -> None:
    # Else the server would be started again and again.
    parts = '{"elicitation":{"form":{},"url":{}}}'
    play(
        REPLACED,
        at(ENDS[0][0], 1002) + "start 3\n" + hello(1003, NOTHING),
        greets(1003) + sent(1),
        done(1, "1"),
        call("2", 2, capabilities=parts),
    )


def test_nor_when_the_server_is_started_again() -> None:
    ended = (
        '"code":-32603,"message":"The server exited with code 3","data":{"source":"mcp-bridge",'
        '"reason":"child_exited","exitCode":3,"stderr":["last words"]}'
    )
    play(
        BESIDE,
        'child2 > {"id":1002,"error":{"code":-32000,"message":"no"}}\nend 2\n' + sent(2),
        "ended 3\n"
        + f'host < {{"id":1,"error":{{{ended}}}}}\nhost < {{"id":2,"error":{{{ended}}}}}',
        call("3", None, capabilities=FORM)
        + "start 3\n"
        + f'child < {{"id":1003,"method":"server/discover","params":{{{meta(FORM)}}}}}\n',
        'child > {"id":1003,"error":{"code":-32601,"message":"?"}}\n' + hello(1004, SAMPLING),
        greets(1004) + sent(1),
    )


def test_a_call_that_lacks_only_what_was_given_up_waits_for_nobody() -> None:
    declared = '{"sampling":{},"roots":{"listChanged":true}}'
    play(
        BESIDE,
        'child2 > {"id":1002,"error":{"code":-32000,"message":"no"}}\nend 2\n' + sent(2),
        call("3", None, capabilities='{"roots":{}}')
        + "beside 3\n"
        + hello(1003, declared, "child3"),
        call("4", 3, name="u", capabilities=FORM),
    )


@clause("S-84")
def test_the_end_is_not_waited_for_once_everything_is_answered() -> None:
    play(
        REPLACED,
        at(ENDS[0][0], 1002) + "start 3\n" + hello(1003, NOTHING),
        "eof",
        "missing no such file\nend 3\n"
        + f'host < {{"id":1,"error":{{"code":-32603,{ENDS[3][1]}}}}}\nfinish 0',
    )


def test_a_stream_opened_meanwhile_is_promised_nothing_if_none_starts() -> None:
    play(
        REPLACED,
        listen("s", A).replace('"id":s', '"id":"s"').replace("$FULL", meta(NOTHING)),
        at(ENDS[0][0], 1002) + "start 3\n" + hello(1003, NOTHING),
        at(ENDS[0][0], 1003)
        + "end 3\n"
        + f'host  < {{"id":1,"error":{{"code":-32603,{ENDS[0][1]}}}}}\n'
        + acknowledged('"s"', "{}")
        + ended('"s"', "The server refused initialize: no"),
    )


# The answers of the new process ----------------------------------------------------------------


def test_its_answer_may_bear_the_id_as_text() -> None:
    play(REPLACED, greets(1002).replace('"id":1002', '"id":"1002"') + sent(1))


def test_an_answer_that_cannot_be_read_is_a_refusal() -> None:
    play(
        REPLACED,
        'child ! {"jsonrpc":"2.0","id":1002,"result":{\n'
        + 'noise {"jsonrpc":"2.0","id":1002,"result":{\nstart 3\n'
        + hello(1003, NOTHING),
    )


@clause("S-24")
def test_a_state_of_a_process_that_is_gone_is_refused_as_such() -> None:
    play(
        BUSY,
        asks('"q"', CREATE) + gathered("1", 1, ("q", CREATE)),
        call("2", None, capabilities=FORM) + "beside 2\n" + hello(1002, BOTH, "child2"),
        greets(1002, "child2") + sent(1),
        'host  > {"method":"notifications/cancelled","params":{"requestId":1}}\n'
        + 'child1 < {"id":"q","error":{"code":-1,'
        + '"message":"The sampling request was not answered"}}\n'
        + 'child1 < {"method":"notifications/cancelled","params":{"requestId":1}}\nend 1\n',
        retry("3", 1, "{}", name="slow", capabilities=SAMPLING)
        + 'host  < {"id":3,"error":{"code":-32602,"message":"requestState was not accepted",'
        + '"data":{"reason":"restarted"}}}',
    )


def test_a_call_sent_again_goes_to_the_process_that_refused_it() -> None:
    url = '{"elicitation":{"url":{}}}'
    wanted = '{"elicitations":[{"mode":"url","message":"m","url":"https://x","elicitationId":"e"}]}'
    shown = '"method":"elicitation/create","params":{"mode":"url","message":"m","url":"https://x"}'
    play(
        opened(url),
        call("1", 1, capabilities=url),
        f'child > {{"id":1,"error":{{"code":-32042,"message":"go","data":{wanted}}}}}\n'
        + input_required("1", 1, ("url-1", shown)),
        call("2", None, capabilities=SAMPLING)
        + "beside 2\n"
        + hello(1002, '{"elicitation":{"url":{}},"sampling":{}}', "child2"),
        greets(1002, "child2") + sent(1),
        'child1 > {"method":"notifications/elicitation/complete",'
        + '"params":{"elicitationId":"e"}}\n',
        retry("3", 1, '{"url-1":{"action":"accept"}}', capabilities=url)
        + 'child1 < {"id":2,"method":"tools/call","params":{"name":"t"}}\n',
    )


def test_a_second_replacement_falls_back_as_the_first_did() -> None:
    more = '{"roots":{}}'
    roots = '{"roots":{"listChanged":true}}'
    play(
        REPLACED,
        at(ENDS[0][0], 1002) + "start 3\n" + hello(1003, NOTHING),
        greets(1003) + sent(1),
        done(1, "1"),
        call("2", None, capabilities=more) + "start 4\n" + hello(1004, roots),
        at(ENDS[0][0], 1004) + "start 5\n" + hello(1005, NOTHING),
        greets(1005) + sent(1),
        done(1, "2"),
    )
