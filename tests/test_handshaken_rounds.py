"""The rounds of a call that asks a legacy host: waits, URLs, ends: translation E.3, E.6."""

import pytest

from asking import ACCEPTED, CREATE, ELICIT, SAMPLED
from conversation import EVERYTHING, meta, play
from handshakes import (
    ASKED_JOINED,
    FIRST,
    again,
    answers,
    asked,
    call,
    cancel,
    cancelled,
    done,
    failed,
    refuses,
    wants,
    withdrawn,
)
from mcp_era_bridge.settings import Settings

clause = pytest.mark.clause

CALLED = ASKED_JOINED + call("1", FIRST)
FORM = f'"k":{{{ELICIT}}}'
ASKED = CALLED + wants(FIRST, FORM) + asked("b-1", ELICIT)
GO = '{"action":"accept"}'


def url(key: str, address: str = "https://a", message: str = "m") -> str:
    """An elicitation behind a URL, as an entry of `inputRequests`."""
    return (
        f'"{key}":{{"method":"elicitation/create",'
        f'"params":{{"mode":"url","url":"{address}","message":"{message}"}}}}'
    )


def shown(number: int, address: str = "https://a", message: str = "m") -> str:
    """The same as the host gets it, as the question with this number."""
    return asked(
        f"b-{number}",
        f'"method":"elicitation/create","params":{{"mode":"url","url":"{address}",'
        f'"message":"{message}","elicitationId":"3e8-{number}"}}',
    )


def over(*numbers: int) -> str:
    """The host hears that these interactions are over."""
    return "".join(
        'host  < {"method":"notifications/elicitation/complete",'
        f'"params":{{"elicitationId":"3e8-{number}"}}}}\n'
        for number in numbers
    )


def finished(child_id: int, *numbers: int) -> str:
    """The call that sent the user to URLs is answered."""
    answer, _, rest = done(child_id, "1").partition("\n")
    return f"{answer}\n{over(*numbers)}{rest}"


# Rounds -----------------------------------------------------------------------------------------

TOO_MANY = failed("1", "The server asked in more than 10 rounds", "too_many_rounds")


@clause("C-28")
def test_a_call_is_made_again_ten_times_and_not_more() -> None:
    conversation = play(CALLED)
    for number in range(1, 11):
        child_id = FIRST + number
        conversation.play(
            wants(child_id - 1, FORM, f'"{number}"')
            + asked(f"b-{number}", ELICIT)
            + answers(f"b-{number}", ACCEPTED)
            + again(child_id, f'"k":{ACCEPTED}', f'"{number}"')
        )
    conversation.play(wants(FIRST + 10, FORM) + TOO_MANY)
    # The next call has all of its rounds.
    conversation.play(call("1", FIRST + 11) + wants(FIRST + 11, FORM) + asked("b-11", ELICIT))


def test_the_tenth_round_may_be_the_last() -> None:
    conversation = play(CALLED)
    for number in range(1, 11):
        conversation.play(
            wants(FIRST + number - 1, FORM)
            + asked(f"b-{number}", ELICIT)
            + answers(f"b-{number}", ACCEPTED)
            + again(FIRST + number, f'"k":{ACCEPTED}')
        )
    conversation.play(done(FIRST + 10, "1"))


@clause("C-27")
def test_a_call_that_is_asked_nothing_is_made_again_after_a_while() -> None:
    conversation = play(CALLED)
    waits = [0.05, 0.1, 0.2, 0.25, 0.25, 0.25, 0.25, 0.25, 0.25, 0.25]
    for number, wait in enumerate(waits, 1):
        conversation.play(
            wants(FIRST + number - 1, None, f'"{number}"')
            + f"after {wait - 0.01}\nafter 0.01\n"
            + again(FIRST + number, None, f'"{number}"')
        )
    conversation.play(wants(FIRST + 10, "") + TOO_MANY + "after 3600")


def test_the_wait_is_short_again_after_a_question() -> None:
    play(
        CALLED,
        wants(FIRST, None) + "after 0.05\n" + again(FIRST + 1, None),
        wants(FIRST + 1, None) + "after 0.1\n" + again(FIRST + 2, None),
        wants(FIRST + 2, FORM) + asked("b-1", ELICIT),
        "after 500",
        answers("b-1", ACCEPTED) + again(FIRST + 3, f'"k":{ACCEPTED}'),
        wants(FIRST + 3, None) + "after 0.05\n" + again(FIRST + 4, None),
        done(FIRST + 4, "1"),
    )


# URLs -------------------------------------------------------------------------------------------


def test_the_user_is_sent_to_a_url_once_and_the_child_asked_until_it_is_done() -> None:
    conversation = play(
        CALLED,
        wants(FIRST, url("k"), '"0"') + shown(1),
        answers("b-1", GO) + again(FIRST + 1, f'"k":{GO}', '"0"'),
    )
    for number, wait in enumerate([1, 2, 4, 8, 10, 10, 10, 10, 10, 10, 10, 10], 1):
        conversation.play(
            wants(FIRST + number, url("k"), f'"{number}"')
            + f"after {wait - 0.01}\nafter 0.01\n"
            + again(FIRST + number + 1, f'"k":{GO}', f'"{number}"')
        )
    conversation.play(finished(FIRST + 13, 1))


def test_the_child_is_not_asked_for_ever_whether_the_user_is_done() -> None:
    conversation = play(
        CALLED,
        wants(FIRST, url("k")) + shown(1),
        answers("b-1", GO) + again(FIRST + 1, f'"k":{GO}'),
        settings=Settings(answer_timeout=3),
    )
    for number, wait in enumerate([1, 2], 1):
        conversation.play(
            wants(FIRST + number, url("k"))
            + f"after {wait}\n"
            + again(FIRST + number + 1, f'"k":{GO}')
        )
    conversation.play(
        wants(FIRST + 3, url("k"))
        + failed("1", "The interaction behind a URL has not ended in time", "url_timeout")
    )
    conversation.play("after 3600")


@pytest.mark.parametrize("answer", ['{"action":"decline"}', '{"action":"cancel"}'])
def test_a_url_that_the_user_declined_is_put_to_the_user_again(answer: str) -> None:
    play(
        CALLED,
        wants(FIRST, url("k")) + shown(1),
        answers("b-1", answer) + again(FIRST + 1, f'"k":{answer}'),
        wants(FIRST + 1, url("k")) + shown(2),
        answers("b-2", GO) + again(FIRST + 2, f'"k":{GO}'),
        wants(FIRST + 2, url("k")) + "after 1\n" + again(FIRST + 3, f'"k":{GO}'),
        finished(FIRST + 3, 2),
    )


def test_a_url_that_the_host_cannot_show_is_cancelled() -> None:
    play(
        CALLED,
        wants(FIRST, url("k")) + shown(1),
        refuses("b-1") + again(FIRST + 1, '"k":{"action":"cancel"}'),
        done(FIRST + 1, "1"),
    )


@pytest.mark.parametrize(("address", "message"), [("https://b", "m"), ("https://a", "n")])
def test_another_url_is_another_question(address: str, message: str) -> None:
    play(
        CALLED,
        wants(FIRST, url("k")) + shown(1),
        answers("b-1", GO) + again(FIRST + 1, f'"k":{GO}'),
        wants(FIRST + 1, url("k", address, message)) + shown(2, address, message),
        answers("b-2", GO) + again(FIRST + 2, f'"k":{GO}'),
        # The first one was not in the round before.
        wants(FIRST + 2, url("k")) + shown(3),
        answers("b-3", GO) + again(FIRST + 3, f'"k":{GO}'),
        finished(FIRST + 3, 1, 2, 3),
    )


def test_a_url_may_come_again_under_another_key_and_beside_another_question() -> None:
    play(
        CALLED,
        wants(FIRST, url("k")) + shown(1),
        answers("b-1", GO) + again(FIRST + 1, f'"k":{GO}'),
        wants(FIRST + 1, f'{url("l")},"c":{{{CREATE}}}') + asked("b-2", CREATE),
        # The host is asked, so there is nothing to wait for but its answer.
        "after 60",
        answers("b-2", SAMPLED) + again(FIRST + 2, f'"l":{GO},"c":{SAMPLED}'),
        wants(FIRST + 2, url("k")) + "after 1\n" + again(FIRST + 3, f'"k":{GO}'),
        finished(FIRST + 3, 1),
    )


def test_two_urls_at_once_are_shown_apart_and_waited_for_together() -> None:
    both = f"{url('k')},{url('l', 'https://b')}"
    play(
        CALLED,
        wants(FIRST, both) + shown(1) + shown(2, "https://b"),
        answers("b-2", GO),
        answers("b-1", GO) + again(FIRST + 1, f'"l":{GO},"k":{GO}'),
        wants(FIRST + 1, both) + "after 1\n" + again(FIRST + 2, f'"k":{GO},"l":{GO}'),
        wants(FIRST + 2, url("l", "https://b")) + "after 2\n" + again(FIRST + 3, f'"l":{GO}'),
        finished(FIRST + 3, 1, 2),
    )


def test_what_the_user_did_for_one_call_counts_for_no_other() -> None:
    play(
        CALLED,
        wants(FIRST, url("k")) + shown(1),
        answers("b-1", GO) + again(FIRST + 1, f'"k":{GO}'),
        call("2", FIRST + 2),
        wants(FIRST + 2, url("k")) + shown(2),
        answers("b-2", GO) + again(FIRST + 3, f'"k":{GO}'),
        finished(FIRST + 1, 1),
        finished(FIRST + 3, 2).replace('"id":1,', '"id":2,'),
    )


def test_nobody_says_that_an_interaction_is_over_when_the_call_fails() -> None:
    error = '"error":{"code":-32000,"message":"not in time"}'
    play(
        CALLED,
        wants(FIRST, url("k")) + shown(1),
        answers("b-1", GO) + again(FIRST + 1, f'"k":{GO}'),
        f'child > {{"id":{FIRST + 1},{error}}}\nhost < {{"id":1,{error}}}',
    )


def test_answers_of_the_bridge_do_not_use_rounds_up() -> None:
    conversation = play(
        CALLED,
        wants(FIRST, url("k")) + shown(1),
        answers("b-1", GO) + again(FIRST + 1, f'"k":{GO}'),
    )
    for number in range(1, 12):
        conversation.play(
            wants(FIRST + number, url("k")) + "after 10\n" + again(FIRST + number + 1, f'"k":{GO}')
        )
    conversation.play(finished(FIRST + 12, 1))


# Cancellation -----------------------------------------------------------------------------------


@clause("C-20", "C-21", "C-23", "C-25")
def test_a_call_that_is_cancelled_while_the_host_is_asked_is_never_made_again() -> None:
    # The child has no leg that could be cancelled.
    play(
        CALLED,
        wants(FIRST, f'{FORM},"c":{{{CREATE}}}') + asked("b-1", ELICIT) + asked("b-2", CREATE),
        answers("b-1", ACCEPTED),
        cancel("1") + withdrawn("b-2"),
        answers("b-2", SAMPLED),
        answers("b-1", ACCEPTED),
        refuses("b-2"),
        cancel("1"),
        call("1", FIRST + 1),
        done(FIRST + 1, "1"),
    )


@clause("C-20", "C-21")
def test_the_leg_that_is_at_the_child_is_the_one_that_is_cancelled() -> None:
    play(
        ASKED,
        answers("b-1", ACCEPTED) + again(FIRST + 1, f'"k":{ACCEPTED}'),
        cancel("1") + cancelled(FIRST + 1),
        f'child > {{"id":{FIRST + 1},"result":{{"content":[]}}}}',
        wants(FIRST + 1, FORM),
        "after 3600",
    )


@clause("C-22")
def test_a_call_that_is_cancelled_while_it_waits_is_not_made_again() -> None:
    play(CALLED, wants(FIRST, None), cancel("1"), "after 3600", call("1", FIRST + 1))
    play(
        CALLED,
        wants(FIRST, url("k")) + shown(1),
        answers("b-1", GO) + again(FIRST + 1, f'"k":{GO}'),
        wants(FIRST + 1, url("k")) + "after 0.5",
        cancel("1"),
        "after 3600",
    )


def test_one_call_is_cancelled_and_the_questions_of_the_other_stay() -> None:
    play(
        ASKED,
        call("2", FIRST + 1),
        wants(FIRST + 1, FORM) + asked("b-2", ELICIT),
        cancel("1") + withdrawn("b-1"),
        answers("b-1", ACCEPTED),
        answers("b-2", ACCEPTED) + again(FIRST + 2, f'"k":{ACCEPTED}'),
        done(FIRST + 2, "2"),
    )


@clause("C-22", "C-25")
def test_a_cancellation_after_the_answer_is_too_late() -> None:
    play(
        ASKED,
        answers("b-1", ACCEPTED) + again(FIRST + 1, f'"k":{ACCEPTED}'),
        done(FIRST + 1, "1"),
        cancel("1"),
    )


# What goes with the legs ------------------------------------------------------------------------


def with_token(child_id: int, more: str = "") -> str:
    """The envelope of a leg that wants progress."""
    return meta(EVERYTHING, f'"progressToken":{child_id}{more}')


def told(child_id: int, value: str, *, passes: bool = True) -> str:
    """The child says how far a leg is."""
    line = '{"method":"notifications/progress","params":{"progressToken":%s,"progress":%s}}\n'
    child = "child > " + line % (child_id, value)
    return child + ("host < " + line % ('"p"', value) if passes else "")


@clause("C-30")
def test_progress_goes_on_over_the_legs_and_never_falls() -> None:
    play(
        ASKED_JOINED,
        f"""
host  > {{"id":1,"method":"tools/call","params":{{"name":"t","_meta":{{"progressToken":"p"}}}}}}
child < {{"id":{FIRST},"method":"tools/call","params":{{"name":"t",{with_token(FIRST)}}}}}
""",
        told(FIRST, "1") + told(FIRST, "5") + told(FIRST, "4", passes=False),
        wants(FIRST, FORM) + asked("b-1", ELICIT),
        # Of a leg that is over.
        told(FIRST, "9", passes=False),
        answers("b-1", ACCEPTED)
        + again(FIRST + 1, f'"k":{ACCEPTED}', envelope=with_token(FIRST + 1)),
        told(FIRST + 1, "1", passes=False) + told(FIRST + 1, "5", passes=False),
        told(FIRST + 1, "5.5") + told(FIRST, "7", passes=False),
        done(FIRST + 1, "1"),
        told(FIRST + 1, "9", passes=False),
    )


LEVEL = """
host  > {"id":"l","method":"logging/setLevel","params":{"level":"debug"}}
host  < {"id":"l","result":{}}
"""


@clause("C-13")
@pytest.mark.parametrize(
    ("entries", "then"), [(FORM, asked("b-1", ELICIT)), (None, "")], ids=["asked", "waits"]
)
def test_a_leg_carries_the_level_of_its_own_time(entries: str | None, then: str) -> None:
    debug = meta(EVERYTHING, '"io.modelcontextprotocol/logLevel":"debug"')
    play(
        CALLED,
        wants(FIRST, entries) + then,
        LEVEL,
        answers("b-1", ACCEPTED) if entries else "after 0.05\n",
        again(FIRST + 1, f'"k":{ACCEPTED}' if entries else None, envelope=debug),
    )
