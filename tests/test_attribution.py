"""Which of several calls a question belongs to, and whose it is when that call is over: design D5,
D5a, translation D.3."""

import pytest

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
from conversation import EVERYTHING, opened, play
from mcp_era_legacy.attribution import Askers

clause = pytest.mark.clause

TWO = opened() + call('"a"', 1, name="a") + call('"b"', 2, name="b")
"""Two calls run, of tools that have never asked."""


def cancels(id: str) -> str:
    """The host cancels."""
    return f'host  > {{"method":"notifications/cancelled","params":{{"requestId":{id}}}}}\n'


def is_cancelled(child_id: int) -> str:
    """The child is told."""
    return f'child < {{"method":"notifications/cancelled","params":{{"requestId":{child_id}}}}}\n'


def asker(name: str, id: int) -> str:
    """A call of `name` asks and ends: from now on the name is known. Uses the child's id `id`."""
    return (
        call(f'"w{id}"', id, name=name)
        + asks(f'"w{id}"')
        + gathered(f'"w{id}"', id, (f"w{id}", ELICIT))
        + retry(f'"x{id}"', id, f'{{"w{id}":{ACCEPTED}}}', name=name)
        + answered(f'"w{id}"', ACCEPTED)
        + done(id, f'"x{id}"')
    )


@clause("S-22")
def test_a_server_that_never_asks_is_never_serialised() -> None:
    play(opened(), *(call(str(n), n) for n in range(1, 40)), *(done(n, str(n)) for n in (7, 3, 39)))


def test_the_only_call_that_runs_has_asked() -> None:
    play(TWO, done(1, '"a"'), asks('"q"'), gathered('"b"', 1, ("q", ELICIT)))


def test_a_question_waits_until_one_candidate_is_left() -> None:
    play(
        TWO,
        asks('"q"') + "after 1.9",
        done(2, '"b"'),
        gathered('"a"', 1, ("q", ELICIT)),
    )


def test_after_the_window_the_oldest_carries_it_and_its_answer_reaches_the_child() -> None:
    play(
        TWO,
        asks('"q"') + "after 1.99",
        "after 0.03\n" + input_required('"a"', 1, ("q", ELICIT)),
        # It was the other one's: nobody is the worse for it.
        retry('"r"', 1, f'{{"q":{ACCEPTED}}}', name="a") + answered('"q"', ACCEPTED),
        done(2, '"b"'),
        done(1, '"r"'),
    )


def test_each_question_has_its_own_window() -> None:
    play(
        TWO,
        asks('"q"') + "after 1\n" + asks('"r"', CREATE),
        "after 1.02\n" + input_required('"a"', 1, ("q", ELICIT)),
        # Then only one is left that is not waiting for the host.
        "after 0.02\n" + input_required('"b"', 2, ("r", CREATE)),
    )


def test_the_oldest_that_can_carry_it_is_guessed() -> None:
    play(
        opened(),
        call('"a"', 1, name="a", capabilities='{"sampling":{}}'),
        call('"b"', 2, name="b", capabilities='{"elicitation":{}}'),
        call('"c"', 3, name="c"),
        asks('"q"'),
        "after 2.02\n" + input_required('"b"', 1, ("q", ELICIT)),
    )


def test_meanwhile_no_further_candidate_starts() -> None:
    play(
        TWO,
        asks('"q"'),
        call('"c"', None, name="c"),
        """
host  > {"id":"l","method":"tools/list","params":{$FULL}}
child < {"id":3,"method":"tools/list"}
""",
        'child > {"id":1,"result":{"content":[]}}\n'
        + 'host  < {"id":"a","result":{"content":[],$DONE}}\n'
        + 'child < {"id":4,"method":"tools/call","params":{"name":"c"}}',
        gathered('"b"', 1, ("q", ELICIT)),
    )


def test_nothing_is_held_longer_than_the_window() -> None:
    play(
        opened(),
        call('"a"', 1, name="a"),
        call('"b"', 2, name="b"),
        call('"z"', 3, name="z"),
        asks('"q"') + "after 1.5",
        asks('"r"'),
        call('"c"', None, name="c"),
        "after 0.52\n" + input_required('"a"', 1, ("q", ELICIT)),
        # Another question does not make it wait longer.
        asks('"s"'),
        "after 1.48\n" + 'child < {"id":4,"method":"tools/call","params":{"name":"c"}}',
        "after 0.02\n" + input_required('"b"', 2, ("r", ELICIT)),
    )


# Names that are remembered ----------------------------------------------------------------------


def test_a_name_that_has_asked_before_is_guessed_at_once() -> None:
    play(
        opened(),
        asker("b", 1),
        call('"a"', 2, name="a"),
        call('"b"', 3, name="b"),
        asks('"q"'),
        gathered('"b"', 2, ("q", ELICIT)),
    )


def test_calls_of_such_names_start_one_after_the_other() -> None:
    play(
        opened(),
        asker("b", 1),
        call('"1"', 2, name="b"),
        call('"2"', None, name="b"),
        call('"3"', None, name="b"),
        # Others do not wait.
        call('"4"', 3, name="a"),
        # Having asked, it may not ask for another.
        asks('"q"') + 'child < {"id":4,"method":"tools/call","params":{"name":"b"}}',
        gathered('"1"', 2, ("q", ELICIT)),
        'child > {"id":4,"result":{"content":[]}}\n'
        + 'host  < {"id":"2","result":{"content":[],$DONE}}\n'
        + 'child < {"id":5,"method":"tools/call","params":{"name":"b"}}',
    )


def test_they_wait_no_longer_than_the_window() -> None:
    play(
        opened(),
        asker("b", 1),
        call('"1"', 2, name="b"),
        call('"2"', None, name="b") + "after 1",
        call('"3"', None, name="b"),
        "after 1\n" + 'child < {"id":3,"method":"tools/call","params":{"name":"b"}}',
        "after 1\n" + 'child < {"id":4,"method":"tools/call","params":{"name":"b"}}',
    )


def test_a_cancelled_one_lets_the_next_one_start() -> None:
    play(
        opened(),
        asker("b", 1),
        call('"1"', 2, name="b"),
        call('"2"', None, name="b"),
        call('"3"', None, name="b"),
        cancels('"2"'),
        cancels('"1"')
        + is_cancelled(2)
        + 'child < {"id":3,"method":"tools/call","params":{"name":"b"}}',
        done(3, '"3"'),
    )


def test_prompts_and_resources_are_remembered_too() -> None:
    read = '"method":"resources/read","params":{"uri":"'
    play(
        opened(),
        f"""
host  > {{"id":1,{read}db://a",$FULL}}}}
child < {{"id":1,{read}db://a"}}}}
""",
        asks('"q"'),
        gathered("1", 1, ("q", ELICIT)),
        cancels("1") + answered('"q"', '{"action":"cancel"}') + is_cancelled(1),
        'child > {"id":1,"error":{"code":0,"message":"cancelled"}}',
        # All resources of one scheme count as one.
        f"""
host  > {{"id":2,{read}db://b",$FULL}}}}
child < {{"id":2,{read}db://b"}}}}
host  > {{"id":3,{read}db://c",$FULL}}}}
host  > {{"id":4,{read}file:///c",$FULL}}}}
child < {{"id":3,{read}file:///c"}}}}
child > {{"id":2,"result":{{"contents":[]}}}}
host  < {{"id":2,"result":{{"contents":[],$LISTED}}}}
child < {{"id":4,{read}db://c"}}}}
""",
    )


def test_the_names_are_limited_and_the_newest_stay() -> None:
    askers = Askers(most=2)
    for name in (b"a", b"b", b"a", b"c"):
        askers.add(("tools/call", name))
    assert [("tools/call", name) in askers for name in (b"a", b"b", b"c")] == [True, False, True]


def test_two_calls_that_wait_for_each_other_both_end() -> None:
    """One waits for what the other does, and both have asked before."""
    play(
        opened(),
        asker("a", 1),
        asker("b", 2),
        call('"1"', 3, name="a"),
        call('"2"', None, name="b"),
        "after 2\n" + 'child < {"id":4,"method":"tools/call","params":{"name":"b"}}',
        done(3, '"1"'),
        done(4, '"2"'),
    )


# Whose question it is once its call is over -----------------------------------------------------


@clause("S-22")
def test_a_call_that_ends_before_its_guessed_question_was_put_hands_it_on() -> None:
    play(
        opened(),
        asker("b", 1),
        call('"a"', 2, name="a"),
        call('"b"', 3, name="b"),
        asks('"q"'),
        done(3, '"b"'),
        gathered('"a"', 2, ("q", ELICIT)),
        retry('"r"', 2, f'{{"q":{ACCEPTED}}}', name="a") + answered('"q"', ACCEPTED),
    )


def test_a_cancelled_messenger_hands_a_guessed_question_on_that_the_host_has_seen() -> None:
    play(
        opened(),
        asker("b", 1),
        call('"a"', 2, name="a"),
        call('"b"', 3, name="b"),
        asks('"q"'),
        gathered('"b"', 2, ("q", ELICIT)),
        cancels('"b"') + is_cancelled(3),
        gathered('"a"', 3, ("q", ELICIT)),
    )


def test_a_certain_question_ends_with_its_call() -> None:
    play(
        opened(),
        call('"a"', 1, name="a"),
        asks('"q"'),
        call('"b"', 2, name="b"),
        'child > {"id":1,"result":{"content":[]}}\n'
        + answered('"q"', '{"action":"cancel"}')
        + 'host  < {"id":"a","result":{"content":[],$DONE}}',
        "after 5",
    )


def test_without_another_call_the_child_is_answered_in_the_name_of_the_host() -> None:
    play(
        TWO,
        asks('"q"'),
        done(1, '"a"'),
        "after 0.01\n",
        'child > {"id":2,"result":{"content":[]}}\n'
        + answered('"q"', '{"action":"cancel"}')
        + 'host  < {"id":"b","result":{"content":[],$DONE}}',
    )


def test_a_call_that_came_later_is_not_taken_for_the_asker() -> None:
    play(
        opened(),
        asker("a", 1),
        call('"a"', 2, name="a"),
        asks('"q"'),
        call('"b"', 3, name="b"),
        cancels('"a"') + answered('"q"', '{"action":"cancel"}') + is_cancelled(2),
        "after 5",
    )


# Cancelled calls --------------------------------------------------------------------------------


def test_a_cancelled_call_may_be_the_one_that_asks() -> None:
    play(
        opened(),
        call('"a"', 1, name="a"),
        cancels('"a"') + is_cancelled(1),
        asks('"q"') + answered('"q"', '{"action":"cancel"}'),
        asks('"r"', CREATE)
        + 'child < {"id":"r","error":{"code":-1,'
        + '"message":"The sampling request was not answered"}}',
    )


def test_until_the_child_has_answered_it() -> None:
    play(
        TWO,
        cancels('"a"') + is_cancelled(1),
        asks('"q"') + "after 1",
        'child > {"id":1,"error":{"code":0,"message":"cancelled"}}',
        gathered('"b"', 1, ("q", ELICIT)),
    )


def test_or_for_a_minute() -> None:
    play(
        TWO,
        cancels('"a"') + is_cancelled(1),
        "after 60",
        asks('"q"') + gathered('"b"', 1, ("q", ELICIT)),
    )


def test_it_is_the_last_one_to_be_guessed() -> None:
    play(
        TWO,
        cancels('"a"') + is_cancelled(1),
        asks('"q"'),
        "after 2.02\n" + input_required('"b"', 1, ("q", ELICIT)),
    )


# Expiry -----------------------------------------------------------------------------------------


def test_a_guessed_messenger_that_expires_is_left_to_end_by_itself() -> None:
    play(
        TWO,
        asks('"q"') + "after 2.02\n" + input_required('"a"', 1, ("q", ELICIT)),
        "after 600\n" + answered('"q"', '{"action":"cancel"}'),
        'child > {"id":1,"result":{"content":[]}}',
        done(2, '"b"'),
    )


@clause("S-38")
def test_a_guessed_messengers_own_failure_passes_as_it_is() -> None:
    capabilities = '{"sampling":{}}'
    failed = '"content":[],"isError":true'
    play(
        opened(capabilities),
        call('"a"', 1, name="a", capabilities=capabilities),
        call('"b"', 2, name="b", capabilities=capabilities),
        asks('"q"'),
        'after 2\nchild < {"id":"q","error":{"code":-32601,'
        '"message":"The client has not declared elicitation.form"}}',
        f'child > {{"id":1,"result":{{{failed}}}}}\n'
        f'host  < {{"id":"a","result":{{{failed},$DONE}}}}',
    )


def test_parked_calls_carry_what_nobody_else_can_have_asked() -> None:
    play(
        opened(),
        call('"a"', 1, name="a"),
        asks('"q"') + gathered('"a"', 1, ("q", ELICIT)),
        call('"b"', 2, name="b"),
        asks('"r"') + gathered('"b"', 2, ("r", ELICIT)),
        asks('"s"', CREATE),
        retry('"c"', 1, f'{{"q":{ACCEPTED}}}', name="a") + answered('"q"', ACCEPTED),
        # The one that asked last.
        retry('"d"', 2, f'{{"r":{ACCEPTED}}}', name="b") + answered('"r"', ACCEPTED),
        gathered('"d"', 3, ("s", CREATE)),
        retry('"e"', 3, f'{{"s":{SAMPLED}}}', name="b") + answered('"s"', SAMPLED),
    )


# Unlucky orders --------------------------------------------------------------------------------


def test_calls_held_behind_a_question_start_one_by_one_if_they_may_ask_too() -> None:
    def starts(id: int) -> str:
        return f'child < {{"id":{id},"method":"tools/call","params":{{"name":"b"}}}}\n'

    play(
        opened(),
        asker("b", 1),
        call('"x"', 2, name="x"),
        call('"y"', 3, name="y"),
        asks('"q"'),
        call('"1"', None, name="b"),
        call('"2"', None, name="b"),
        call('"3"', None, name="z"),
        'child > {"id":2,"result":{"content":[]}}\n'
        + 'host  < {"id":"x","result":{"content":[],$DONE}}\n'
        + 'child < {"id":4,"method":"tools/call","params":{"name":"z"}}\n'
        + starts(5),
        gathered('"y"', 2, ("q", ELICIT)),
        asks('"r"') + starts(6),
    )


def test_a_withdrawn_question_holds_nothing_up() -> None:
    play(
        TWO,
        asks('"q"'),
        call('"c"', None, name="c"),
        'child > {"method":"notifications/cancelled","params":{"requestId":"q"}}\n'
        + 'child < {"id":3,"method":"tools/call","params":{"name":"c"}}',
    )


def test_names_are_remembered_across_processes() -> None:
    declared = EVERYTHING.replace('"roots":{}', '"roots":{"listChanged":true}')
    play(
        opened(),
        asker("b", 1),
        "ended 3",
        call('"1"', None, name="b")
        + "start 2\n"
        + 'child < {"id":1002,"method":"server/discover","params":{$FULL}}\n'
        + 'child > {"id":1002,"error":{"code":-32601,"message":"?"}}\n'
        + 'child < {"id":1003,"method":"initialize","params":{"protocolVersion":"2025-11-25",'
        + f'"capabilities":{declared},"clientInfo":{{"name":"host","version":"2"}}}}}}\n'
        + 'child > {"id":1003,"result":{"protocolVersion":"2025-11-25","capabilities":{},'
        + '"serverInfo":{"name":"old","version":"1"}}}\n'
        + 'child < {"method":"notifications/initialized"}\n'
        + 'child < {"id":1,"method":"tools/call","params":{"name":"b"}}\n',
        call('"2"', None, name="b"),
    )


def test_a_call_that_has_been_answered_may_ask_again_and_is_the_oldest() -> None:
    play(
        opened(),
        call('"a"', 1, name="a"),
        asks('"q"') + gathered('"a"', 1, ("q", ELICIT)),
        retry('"b"', 1, f'{{"q":{ACCEPTED}}}', name="a") + answered('"q"', ACCEPTED),
        call('"c"', 2, name="c"),
        asks('"r"'),
        gathered('"b"', 2, ("r", ELICIT)),
    )


def test_a_call_that_waits_for_its_log_level_counts_as_started() -> None:
    level = '"io.modelcontextprotocol/logLevel":"info"'
    play(
        opened(offers='{"tools":{},"logging":{}}'),
        asker("b", 1),
        call('"1"', 2, name="b"),
        call('"2"', None, name="b", more=level),
        call('"3"', None, name="b"),
        'child > {"id":2,"result":{"content":[]}}\n'
        + 'host  < {"id":"1","result":{"content":[],$DONE}}\n'
        + 'child < {"id":3,"method":"logging/setLevel","params":{"level":"info"}}\n',
        'child > {"id":3,"result":{}}\n'
        + 'child < {"id":4,"method":"tools/call","params":{"name":"b"}}\n',
        'child > {"id":4,"result":{"content":[]}}\n'
        + 'host  < {"id":"2","result":{"content":[],$DONE}}\n'
        + 'child < {"id":5,"method":"tools/call","params":{"name":"b"}}\n',
    )


def test_of_three_parked_calls_the_one_that_asked_last_carries_the_next_question() -> None:
    play(
        opened(),
        call('"a"', 1, name="a"),
        asks('"q1"') + gathered('"a"', 1, ("q1", ELICIT)),
        call('"b"', 2, name="b"),
        asks('"q2"') + gathered('"b"', 2, ("q2", ELICIT)),
        call('"c"', 3, name="c"),
        asks('"q3"') + gathered('"c"', 3, ("q3", ELICIT)),
        # The first goes on, asks again and is parked last.
        retry('"d"', 1, f'{{"q1":{ACCEPTED}}}', name="a") + answered('"q1"', ACCEPTED),
        asks('"q4"') + gathered('"d"', 4, ("q4", ELICIT)),
        asks('"q5"', CREATE),
        retry('"e"', 4, f'{{"q4":{ACCEPTED}}}', name="a") + answered('"q4"', ACCEPTED),
        gathered('"e"', 5, ("q5", CREATE)),
    )
