"""`roots/list` and other questions outside of calls: design D7, translation D.3."""

import pytest
from msgspec import Raw

from asking import (
    CREATE,
    ELICIT,
    LIST_ROOTS,
    ROOTS,
    SHOWN_ROOTS,
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

clause = pytest.mark.clause

NO_ROOTS = '"error":{"code":-32603,"message":"The roots are not available"}'
LIST = """
host  > {"id":"l","method":"tools/list","params":{$FULL}}
child < {"id":1,"method":"tools/list"}
"""
LISTED = """
child > {"id":1,"result":{"tools":[]}}
host  < {"id":"l","result":{"tools":[],$LISTED}}
"""
CHANGED = 'child < {"method":"notifications/roots/list_changed"}\n'


def refused(id: str) -> str:
    """The child does not get its roots."""
    return f'child < {{"id":{id},{NO_ROOTS}}}\n'


@clause("S-56")
@pytest.mark.parametrize("question", [ELICIT, CREATE])
@pytest.mark.parametrize("before", ["", LIST])
def test_sampling_and_elicitation_outside_of_calls_are_refused(question: str, before: str) -> None:
    play(
        opened(),
        before,
        asks('"q"', question)
        + 'child < {"id":"q","error":{"code":-32602,"message":"No request is being processed"}}',
    )


def test_roots_that_were_not_declared_are_refused_at_once() -> None:
    play(
        opened('{"sampling":{}}'),
        asks('"q"', LIST_ROOTS)
        + 'child < {"id":"q","error":{"code":-32601,'
        + '"message":"The client has not declared roots"}}',
    )


@clause("S-57", "S-56")
def test_roots_wait_for_the_next_call_and_are_put_before_it_starts() -> None:
    play(
        opened(),
        asks('"q"', LIST_ROOTS) + "after 30",
        call("1", None),
        gathered("1", 1, ("q", SHOWN_ROOTS)),
        retry("2", 1, f'{{"q":{ROOTS}}}')
        + answered('"q"', ROOTS)
        + "after 0.1\n"
        + 'child < {"id":1,"method":"tools/call","params":{"name":"t"}}\n',
        done(1, "2"),
    )


def test_several_are_put_with_one_call() -> None:
    play(
        opened(),
        asks('"q"', LIST_ROOTS) + asks("7", LIST_ROOTS),
        call("1", None),
        gathered("1", 1, ("q", SHOWN_ROOTS), ("7", SHOWN_ROOTS)),
        retry("2", 1, f'{{"q":{ROOTS},"7":{ROOTS}}}')
        + answered('"q"', ROOTS)
        + answered("7", ROOTS)
        + "after 0.1\n"
        + 'child < {"id":1,"method":"tools/call","params":{"name":"t"}}\n',
    )


def test_only_a_call_that_declares_roots_carries_them() -> None:
    other = '{"sampling":{}}'
    play(
        opened(),
        asks('"q"', LIST_ROOTS),
        call("1", 1, capabilities=other),
        done(1, "1"),
        f"""
host  > {{"id":3,"method":"resources/templates/list","params":{{{meta(EVERYTHING)}}}}}
child < {{"id":2,"method":"resources/templates/list"}}
child > {{"id":2,"result":{{"resourceTemplates":[]}}}}
host  < {{"id":3,"result":{{"resourceTemplates":[],$LISTED}}}}
""",
        call("4", None),
        gathered("4", 1, ("q", SHOWN_ROOTS)),
    )


def test_roots_that_the_host_gave_answer_later_questions_outside_of_calls() -> None:
    play(
        opened(),
        call("1", 1),
        asks('"q"', LIST_ROOTS),
        gathered("1", 1, ("q", SHOWN_ROOTS)),
        retry("2", 1, f'{{"q":{ROOTS}}}') + answered('"q"', ROOTS),
        done(1, "2"),
        asks('"r"', LIST_ROOTS) + answered('"r"', ROOTS) + "after 0.1",
        # Inside a call the host is asked: they may have changed.
        call("3", 2),
        asks('"s"', LIST_ROOTS),
        gathered("3", 2, ("s", SHOWN_ROOTS)),
    )


def test_those_that_wait_are_answered_as_soon_as_roots_are_known() -> None:
    play(
        opened(),
        call("1", 1),
        asks('"q"', LIST_ROOTS),
        gathered("1", 1, ("q", SHOWN_ROOTS)),
        'child > {"id":1,"result":{"content":[]}}',
        asks('"r"', LIST_ROOTS),
        retry("2", 1, f'{{"q":{ROOTS}}}')
        + answered('"q"', ROOTS)
        + answered('"r"', ROOTS)
        + 'host  < {"id":2,"result":{"content":[],$DONE}}\n',
    )


GIVEN = Settings(roots=Raw(ROOTS.encode()))
DECLARED = '{"sampling":{},"roots":{"listChanged":true}}'


@pytest.mark.parametrize("before", ["", LIST, call("1", 1, capabilities='{"sampling":{}}')])
def test_roots_of_the_command_line_need_no_host(before: str) -> None:
    play(
        opened('{"sampling":{}}', declared=DECLARED),
        before.replace("$FULL", meta('{"sampling":{}}')),
        asks('"q"', LIST_ROOTS) + answered('"q"', ROOTS),
        settings=GIVEN,
    )


@pytest.mark.parametrize("source", ["the command line", "the host"])
def test_the_child_has_a_moment_to_take_its_roots_in(source: str) -> None:
    known = (
        ""
        if source == "the command line"
        else (
            call("1", 1)
            + asks('"q"', LIST_ROOTS)
            + gathered("1", 1, ("q", SHOWN_ROOTS))
            + retry("2", 1, f'{{"q":{ROOTS}}}')
            + answered('"q"', ROOTS)
            + done(1, "2")
        )
    )
    id = 2 if known else 1
    play(
        opened(),
        known,
        asks('"r"', LIST_ROOTS) + answered('"r"', ROOTS),
        call("3", None) + "after 0.09",
        f"""
host  > {{"id":4,"method":"tools/list","params":{{$FULL}}}}
child < {{"id":{id},"method":"tools/list"}}
""",
        "after 0.01\n" + f'child < {{"id":{id + 1},"method":"tools/call","params":{{"name":"t"}}}}',
        call("5", id + 2, name="u"),
        settings=GIVEN if source == "the command line" else None,
    )


# Servers that serve nothing until they have their roots -----------------------------------------


def test_a_child_that_does_nothing_else_is_refused_its_roots_after_a_second() -> None:
    play(
        opened(),
        asks('"q"', LIST_ROOTS),
        LIST,
        "after 0.99",
        "after 0.01\n" + refused('"q"'),
        # Further ones are refused at once: one real server asks 15 times.
        asks('"r"', LIST_ROOTS) + refused('"r"'),
        LISTED,
    )


def test_so_is_one_that_asks_when_it_is_asked() -> None:
    play(opened(), LIST, asks('"q"', LIST_ROOTS), "after 1\n" + refused('"q"'), LISTED)


def test_a_child_that_goes_on_working_keeps_its_question() -> None:
    play(
        opened(),
        asks('"q"', LIST_ROOTS),
        LIST,
        'after 0.9\nchild > {"method":"com.example/x"}\nhost < {"method":"com.example/x"}',
        "after 0.9",
        LISTED,
        "after 30",
        call("1", None),
        gathered("1", 1, ("q", SHOWN_ROOTS)),
    )


REFUSED = opened() + asks('"q"', LIST_ROOTS) + LIST + "after 1\n" + refused('"q"') + LISTED


def test_the_next_call_that_declares_roots_has_it_ask_again() -> None:
    play(
        REFUSED,
        call("1", None) + CHANGED,
        asks('"r"', LIST_ROOTS) + gathered("1", 1, ("r", SHOWN_ROOTS)),
        retry("2", 1, f'{{"r":{ROOTS}}}')
        + answered('"r"', ROOTS)
        + "after 0.1\n"
        + 'child < {"id":2,"method":"tools/call","params":{"name":"t"}}\n',
        done(2, "2"),
        asks('"s"', LIST_ROOTS) + answered('"s"', ROOTS),
    )


def test_if_it_does_not_the_call_starts_and_it_is_not_told_again() -> None:
    play(
        REFUSED,
        call("1", None) + CHANGED,
        # Others do not wait for it.
        call("2", 2, name="u"),
        "after 0.49",
        "after 0.01\n" + 'child < {"id":3,"method":"tools/call","params":{"name":"t"}}\n',
        call("3", 4, name="v"),
        done(3, "1"),
    )


def test_a_call_that_does_not_declare_roots_has_nobody_ask() -> None:
    play(REFUSED, call("1", 2, capabilities='{"sampling":{}}'))


def test_a_call_cancelled_while_it_waits_for_roots_never_starts() -> None:
    cancel = 'host  > {"method":"notifications/cancelled","params":{"requestId":1}}\n'
    play(
        REFUSED,
        call("1", None) + CHANGED,
        cancel + "after 5",
        call("2", 2),
        asks('"r"', LIST_ROOTS) + gathered("2", 1, ("r", SHOWN_ROOTS)),
    )


@clause("S-51")
def test_a_call_that_was_to_bring_roots_and_is_abandoned_never_starts() -> None:
    cancel = 'host  > {"method":"notifications/cancelled","params":{"requestId":1}}\n'
    play(
        opened(),
        asks('"q"', LIST_ROOTS),
        call("1", None),
        gathered("1", 1, ("q", SHOWN_ROOTS)),
        cancel + refused('"q"'),
        # The next one has it ask again.
        call("2", None) + CHANGED,
    )


@clause("S-67")
def test_roots_that_no_call_can_bring_are_given_up_in_the_end() -> None:
    play(opened(), asks('"q"', LIST_ROOTS) + "after 599", "after 1\n" + refused('"q"'))


def test_a_call_that_was_to_bring_roots_and_expires_never_starts() -> None:
    play(
        opened(),
        asks('"q"', LIST_ROOTS),
        call("1", None),
        gathered("1", 1, ("q", SHOWN_ROOTS)),
        "after 600\n" + refused('"q"'),
        "after 5",
    )


def test_roots_that_are_withdrawn_make_nobody_wait() -> None:
    withdrawn = 'child > {"method":"notifications/cancelled","params":{"requestId":"q"}}\n'
    play(opened(), asks('"q"', LIST_ROOTS) + withdrawn, call("1", 1), done(1, "1"))


def test_a_retry_that_brings_no_roots_is_asked_again_and_the_call_does_not_start() -> None:
    play(
        opened(),
        asks('"q"', LIST_ROOTS),
        call("1", None),
        gathered("1", 1, ("q", SHOWN_ROOTS)),
        retry("2", 1, "{}") + input_required("2", 2, ("q", SHOWN_ROOTS)),
        retry("3", 2, f'{{"q":{ROOTS}}}')
        + answered('"q"', ROOTS)
        + "after 0.1\n"
        + 'child < {"id":1,"method":"tools/call","params":{"name":"t"}}\n',
        done(1, "3"),
    )


def test_roots_withdrawn_before_they_were_put_let_the_call_start() -> None:
    withdrawn = 'child > {"method":"notifications/cancelled","params":{"requestId":"q"}}\n'
    play(
        opened(),
        asks('"q"', LIST_ROOTS) + asks('"r"', LIST_ROOTS),
        call("1", None),
        withdrawn,
        withdrawn.replace('"q"', '"r"')
        + 'child < {"id":1,"method":"tools/call","params":{"name":"t"}}\n',
        "after 1",
        done(1, "1"),
    )


def test_a_call_that_cannot_be_parked_starts_without_bringing_roots() -> None:
    play(
        opened(),
        call("1", 1),
        asks('"p"') + gathered("1", 1, ("p", ELICIT)),
        'child > {"id":1,"result":{"content":[]}}',
        asks('"q"', LIST_ROOTS),
        call("2", None, name="u")
        + 'child < {"id":"q","error":{"code":-32603,'
        + '"message":"Too many calls wait for the user"}}\n'
        + 'child < {"id":2,"method":"tools/call","params":{"name":"u"}}\n',
        done(2, "2"),
        settings=Settings(most_parked=1),
    )


def test_a_call_that_only_brings_roots_is_shown_nothing_else() -> None:
    play(
        opened(),
        asks('"q"', LIST_ROOTS),
        call("1", None),
        gathered("1", 1, ("q", SHOWN_ROOTS)),
        asks('"s"', CREATE)
        + 'child < {"id":"s","error":{"code":-32602,"message":"No request is being processed"}}',
    )


def test_a_cancellation_is_no_sign_of_life_of_the_child() -> None:
    other = LIST.replace('"l"', '"m"').replace('"id":1', '"id":2')
    play(
        opened(),
        asks('"q"', LIST_ROOTS),
        LIST + other,
        "after 0.9",
        'host  > {"method":"notifications/cancelled","params":{"requestId":"m"}}\n'
        + 'child < {"method":"notifications/cancelled","params":{"requestId":2}}\n',
        "after 0.1\n" + refused('"q"'),
    )


def test_roots_refused_under_a_call_that_declares_none_are_asked_for_again() -> None:
    play(
        opened(),
        call("1", 1, capabilities='{"sampling":{}}'),
        asks('"q"', LIST_ROOTS)
        + 'child < {"id":"q","error":{"code":-32601,'
        + '"message":"The client has not declared roots"}}',
        done(1, "1"),
        call("2", None) + CHANGED,
    )
