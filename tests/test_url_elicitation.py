"""The legacy error -32042, which sends the user to URLs first: translation D.8."""

import pytest

from asking import (
    ACCEPTED,
    CREATE,
    ELICIT,
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

A = '{"mode":"url","message":"Log in","url":"https://x/a","elicitationId":"ea"}'
B = '{"mode":"url","message":"Pay","url":"https://x/b","elicitationId":"eb","later":1}'


def shown(message: str, url: str) -> str:
    """The entry of `inputRequests`."""
    return (
        '"method":"elicitation/create",'
        f'"params":{{"mode":"url","message":"{message}","url":"https://x/{url}"}}'
    )


LOG_IN, PAY = shown("Log in", "a"), shown("Pay", "b")
ACCEPT = '{"action":"accept"}'


def needed(child_id: int, *elicitations: str) -> str:
    """The child refuses a call."""
    data = f'{{"elicitations":[{",".join(elicitations)}]}}'
    return f'child > {{"id":{child_id},"error":{{"code":-32042,"message":"go","data":{data}}}}}\n'


def completed(id: str) -> str:
    """The child says that an interaction is over."""
    return (
        'child > {"method":"notifications/elicitation/complete",'
        f'"params":{{"elicitationId":"{id}"}}}}\n'
    )


def again(child_id: int) -> str:
    """The call is sent to the child once more."""
    return f'child < {{"id":{child_id},"method":"tools/call","params":{{"name":"t"}}}}\n'


NEEDED = opened() + call("1", 1) + needed(1, A) + input_required("1", 1, ("url-1", LOG_IN))


@clause("S-16", "S-56", "S-122")
def test_the_host_is_asked_and_the_call_sent_again_once_the_interaction_is_over() -> None:
    play(
        NEEDED,
        retry("2", 1, f'{{"url-1":{ACCEPT}}}'),
        completed("ea") + again(2),
        done(2, "2"),
    )


def test_an_interaction_that_was_over_before_the_retry_counts() -> None:
    play(NEEDED, completed("ea"), retry("2", 1, f'{{"url-1":{ACCEPT}}}') + again(2), done(2, "2"))


@clause("S-127")
def test_no_more_than_half_a_minute_is_waited_for_it() -> None:
    play(
        NEEDED,
        completed("other"),
        retry("2", 1, f'{{"url-1":{ACCEPT}}}') + "after 29.9",
        "after 0.1\n" + again(2),
        # Not done yet: the host has its own way of waiting.
        needed(2, A) + input_required("2", 2, ("url-1", LOG_IN)),
        retry("3", 2, f'{{"url-1":{ACCEPT}}}'),
        completed("ea") + again(3),
        done(3, "3"),
    )


def test_several_are_put_together_and_all_waited_for() -> None:
    play(
        opened(),
        call("1", 1),
        needed(1, A, B) + input_required("1", 1, ("url-1", LOG_IN), ("url-2", PAY)),
        retry("2", 1, f'{{"url-2":{ACCEPT}}}') + input_required("2", 2, ("url-1", LOG_IN)),
        completed("eb"),
        retry("3", 2, f'{{"url-1":{ACCEPT}}}'),
        completed("ea") + again(2),
    )


def test_one_without_an_id_is_not_waited_for() -> None:
    play(
        opened(),
        call("1", 1),
        needed(1, '{"mode":"url","message":"Log in","url":"https://x/a"}')
        + input_required("1", 1, ("url-1", LOG_IN)),
        retry("2", 1, f'{{"url-1":{ACCEPT}}}') + again(2),
    )


@pytest.mark.parametrize("action", ["decline", "cancel"])
def test_a_tool_whose_url_is_declined_fails_with_words_for_the_model(action: str) -> None:
    play(
        NEEDED,
        retry("2", 1, f'{{"url-1":{{"action":"{action}"}}}}')
        + 'host  < {"id":2,"result":{"content":[{"type":"text",'
        + '"text":"The requested URL interaction was declined."}],"isError":true,$DONE}}',
        "after 700",
    )


@pytest.mark.parametrize(
    ("method", "params"), [("prompts/get", '"name":"p"'), ("resources/read", '"uri":"x:y"')]
)
def test_anything_else_fails_with_an_error(method: str, params: str) -> None:
    play(
        opened(),
        f"""
host  > {{"id":1,"method":"{method}","params":{{{params},$FULL}}}}
child < {{"id":1,"method":"{method}","params":{{{params}}}}}
""",
        needed(1, A) + input_required("1", 1, ("url-1", LOG_IN)),
        f"""
host  > {{"id":2,"method":"{method}","params":{{{params},"requestState":"$S1",
        "inputResponses":{{"url-1":{{"action":"decline"}}}},$FULL}}}}
host  < {{"id":2,"error":{{"code":-32603,"message":"The requested URL interaction was declined.",
         "data":{{"source":"mcp-bridge","reason":"declined"}}}}}}
""",
    )


@clause("S-38", "S-21")
def test_a_new_leg_that_cannot_be_asked_this_is_told_so() -> None:
    play(
        NEEDED,
        retry("2", 1, None, capabilities='{"elicitation":{}}')
        + 'host  < {"id":2,"error":{"code":-32021,'
        + '"message":"The server asked for a capability that this request did not declare",'
        + '"data":{"requiredCapabilities":{"elicitation":{"url":{}}},'
        + '"detail":"The URLs cannot be shown"}}}',
    )


@clause("S-16")
@pytest.mark.parametrize(
    "data",
    [
        "{}",
        '{"elicitations":{}}',
        '{"elicitations":[]}',
        '{"elicitations":[{"url":"https://x"}]}',
        '{"elicitations":[7]}',
        "[]",
    ],
)
def test_malformed_data_is_passed_on_inside_another_error(data: str) -> None:
    play(
        opened(),
        call("1", 1),
        f"""
child > {{"id":1,"error":{{"code":-32042,"message":"go","data":{data}}}}}
host  < {{"id":1,"error":{{"code":-32603,"message":"go","data":{{"code":-32042,"data":{data}}}}}}}
""",
    )


def test_where_no_more_calls_may_be_parked_it_is_an_error_too() -> None:
    data = f'{{"elicitations":[{A}]}}'
    play(
        NEEDED,
        call("2", 2, name="u"),
        f"""
child > {{"id":2,"error":{{"code":-32042,"message":"go","data":{data}}}}}
host  < {{"id":2,"error":{{"code":-32603,"message":"go","data":{{"code":-32042,"data":{data}}}}}}}
""",
        settings=Settings(most_parked=1),
    )


@pytest.mark.parametrize("before", ["", retry("2", 1, f'{{"url-1":{ACCEPT}}}')])
def test_such_a_call_can_be_cancelled(before: str) -> None:
    id = 2 if before else 1
    play(
        NEEDED,
        before,
        f'host  > {{"method":"notifications/cancelled","params":{{"requestId":{id}}}}}',
        completed("ea") + "after 700",
    )


def test_a_call_that_waits_is_answered_when_the_child_ends() -> None:
    play(
        NEEDED,
        retry("2", 1, f'{{"url-1":{ACCEPT}}}'),
        """
ended 3
host < {"id":2,"error":{"code":-32603,"message":"The server exited with code 3",
       "data":{"source":"mcp-bridge","reason":"child_exited","exitCode":3,"stderr":["last words"]}}}
""",
    )


def test_the_levels_and_progress_of_the_new_leg_count() -> None:
    more = '"progressToken":"p"'
    play(
        NEEDED,
        completed("ea"),
        f'host  > {{"id":2,"method":"tools/call","params":{{"name":"t","requestState":"$S1",'
        f'"inputResponses":{{"url-1":{ACCEPT}}},{meta(EVERYTHING, more)}}}}}\n'
        'child < {"id":2,"method":"tools/call","params":{"name":"t","_meta":{"progressToken":2}}}\n'
        'child > {"method":"notifications/progress","params":{"progressToken":2,"progress":1}}\n'
        'host  < {"method":"notifications/progress","params":{"progressToken":"p","progress":1}}\n',
    )


# Together with other questions -----------------------------------------------------------------


def test_a_question_that_is_gathered_when_the_call_is_refused_is_settled_and_not_shown() -> None:
    play(
        opened(),
        call("1", 1),
        asks('"q"'),
        needed(1, A)
        + 'child < {"id":"q","result":{"action":"cancel"}}\n'
        + input_required("1", 1, ("url-1", LOG_IN)),
    )


def test_a_refusal_that_comes_while_the_call_is_parked_is_put_with_its_next_leg() -> None:
    play(
        opened(),
        call("1", 1),
        asks('"q"') + gathered("1", 1, ("q", ELICIT)),
        needed(1, A),
        retry("2", 1, f'{{"q":{ACCEPTED}}}')
        + answered('"q"', ACCEPTED)
        + input_required("2", 2, ("url-1", LOG_IN)),
        completed("ea"),
        retry("3", 2, f'{{"url-1":{ACCEPT}}}') + again(2),
        done(2, "3"),
    )


def test_a_question_refused_before_does_not_keep_the_urls_from_being_shown() -> None:
    capabilities = '{"elicitation":{"url":{}}}'
    play(
        opened(),
        call("1", 1, capabilities=capabilities),
        asks('"s"', CREATE)
        + 'child < {"id":"s","error":{"code":-32601,'
        + '"message":"The client has not declared sampling"}}',
        needed(1, A) + input_required("1", 1, ("url-1", LOG_IN)),
        completed("ea"),
        retry("2", 1, f'{{"url-1":{ACCEPT}}}', capabilities=capabilities) + again(2),
    )


def test_a_token_of_the_first_leg_is_not_sent_with_the_last() -> None:
    token = '"progressToken":"p"'
    sent = call("1", None, more=token) + (
        'child < {"id":1,"method":"tools/call","params":{"name":"t","_meta":{"progressToken":1}}}\n'
    )
    play(
        opened(),
        sent,
        needed(1, A) + input_required("1", 1, ("url-1", LOG_IN)),
        completed("ea"),
        retry("2", 1, f'{{"url-1":{ACCEPT}}}') + again(2),
    )


@clause("S-66")
def test_questions_that_were_given_up_are_not_shown_with_the_urls() -> None:
    play(
        opened(),
        call("1", 1),
        asks('"q"') + gathered("1", 1, ("q", ELICIT)),
        needed(1, A),
        retry("2", 1, "{}")
        + 'child < {"id":"q","result":{"action":"cancel"}}\n'
        + input_required("2", 2, ("url-1", LOG_IN)),
        completed("ea"),
        retry("3", 2, f'{{"url-1":{ACCEPT}}}') + again(2),
    )
