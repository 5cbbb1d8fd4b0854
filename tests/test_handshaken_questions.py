"""What a modern child asks a legacy host in the course of a call: translation E.6."""

import pytest
from msgspec import Raw

from asking import ACCEPTED, CREATE, ELICIT, ROOTS, SAMPLED
from conversation import meta, play
from handshakes import (
    ASKABLE,
    ASKED_JOINED,
    FIRST,
    INITIALIZED,
    again,
    answers,
    asked,
    call,
    done,
    failed,
    opening,
    refuses,
    request,
    wants,
    withdrawn,
)
from mcp_era_bridge.settings import Settings

clause = pytest.mark.clause

LIST_ROOTS = '"method":"roots/list","params":{}'
CALLED = ASKED_JOINED + call("1", FIRST)
ASKED = CALLED + wants(FIRST, f'"k":{{{ELICIT}}}') + asked("b-1", ELICIT)
"""A call has asked one thing."""
OTHER = request("2", FIRST + 1, "tools/list", envelope="$FULL")


def entry(key: str, question: str) -> str:
    """One of the `inputRequests`."""
    return f'"{key}":{{{question}}}'


# One question -----------------------------------------------------------------------------------


@clause("C-26", "C-27", "C-28")
@pytest.mark.parametrize(
    ("question", "answer"),
    [
        (ELICIT, ACCEPTED),
        (ELICIT, '{"action":"decline"}'),
        (ELICIT, '{"action":"cancel","_meta":{"k":[1.50]}}'),
        (CREATE, SAMPLED),
        (LIST_ROOTS, ROOTS),
        ('"method":"roots/list"', ROOTS),
    ],
)
@pytest.mark.parametrize("key", ["k", "", "b-1", "é"])
def test_a_question_goes_to_the_host_and_its_answer_into_the_next_leg(
    key: str, question: str, answer: str
) -> None:
    play(
        CALLED,
        wants(FIRST, entry(key, question)) + asked("b-1", question),
        answers("b-1", answer) + again(FIRST + 1, f'"{key}":{answer}'),
        done(FIRST + 1, "1"),
    )


@clause("C-27")
@pytest.mark.parametrize(
    "state", ['"s"', '""', '"\\u0041\\/é{}"', None, '"' + "long" * 3000 + '"', '"{\\"a\\":1}"']
)
def test_the_state_goes_back_as_it_came_or_not_at_all(state: str | None) -> None:
    conversation = play(
        CALLED,
        wants(FIRST, entry("k", ELICIT), state) + asked("b-1", ELICIT),
        answers("b-1", ACCEPTED) + again(FIRST + 1, f'"k":{ACCEPTED}', state),
    )
    # Answers and state are those of the newest round alone.
    conversation.play(
        wants(FIRST + 1, entry("l", ELICIT), None) + asked("b-2", ELICIT),
    )
    conversation.play(
        answers("b-2", ACCEPTED) + again(FIRST + 2, f'"l":{ACCEPTED}', None) + done(FIRST + 2, "1")
    )


@clause("C-27")
@pytest.mark.parametrize("spelling", ['"\\u0041"', '"\\/"', '"\\ud83d\\ude00"'])
def test_not_even_the_spelling_of_the_state_changes(spelling: str) -> None:
    conversation = play(CALLED, wants(FIRST, entry("k", ELICIT), spelling) + asked("b-1", ELICIT))
    line = f'{{"jsonrpc":"2.0","id":"b-1","result":{ACCEPTED}}}'.encode()
    conversation.joint.from_host([line], True, conversation.now)
    assert f'"requestState":{spelling}'.encode() in b"".join(conversation.joint.out.to_child)


@clause("C-27", "C-29")
@pytest.mark.parametrize(
    ("method", "params", "result"),
    [
        ("prompts/get", '"name":"p","arguments":{"a":"b"}', '"messages":[]'),
        ("resources/read", '"uri":"x:y"', '"contents":[]'),
        ("tools/call", '"name":"t","arguments":{"a":[1.50]},"later":{}', '"content":[]'),
    ],
)
def test_prompts_and_resources_may_ask_too_and_are_made_again_as_they_were(
    method: str, params: str, result: str
) -> None:
    play(
        ASKED_JOINED,
        request('"x"', FIRST, method, params, "$FULL"),
        wants(FIRST, entry("k", CREATE)) + asked("b-1", CREATE),
        # What comes between has nothing of it.
        OTHER,
        f"""
host  > {{"id":"b-1","result":{SAMPLED}}}
child < {{"id":{FIRST + 2},"method":"{method}","params":{{{params},
         "inputResponses":{{"k":{SAMPLED}}},"requestState":"s",$FULL}}}}
child > {{"id":{FIRST + 2},"result":{{"resultType":"complete",{result}}}}}
host  < {{"id":"x","result":{{{result}}}}}
""",
    )


@clause("C-04")
@pytest.mark.parametrize(
    ("method", "params"),
    [("tools/list", ""), ("com.example/do", '"a":1'), ("resources/list", '"cursor":"c"')],
)
def test_nothing_else_may_ask(method: str, params: str) -> None:
    play(
        ASKED_JOINED,
        request("1", FIRST, method, params, "$FULL"),
        wants(FIRST, entry("k", ELICIT))
        + failed("1", "The server returned a result of the type input_required", "invalid_result"),
    )


@clause("C-52")
def test_what_the_host_is_asked_is_as_the_child_put_it() -> None:
    form = (
        '"method":"elicitation/create","params":{"mode":"form","message":"é","x":[1.50],'
        '"requestedSchema":{"type":"object","properties":{"a":{"type":"integer"}}}}'
    )
    sample = (
        '"method":"sampling/createMessage","params":{"maxTokens":9,"includeContext":"none",'
        '"messages":[{"role":"user","content":[{"type":"text","text":"a"}]}],"tools":[],'
        '"toolChoice":{"mode":"auto"}}'
    )
    play(
        CALLED,
        wants(FIRST, entry("f", form) + "," + entry("s", sample))
        + asked("b-1", form)
        + asked("b-2", sample),
    )


# Several questions ------------------------------------------------------------------------------

THREE = (
    wants(FIRST, f"{entry('e', ELICIT)},{entry('s', CREATE)},{entry('r', LIST_ROOTS)}")
    + asked("b-1", ELICIT)
    + asked("b-2", CREATE)
    + asked("b-3", LIST_ROOTS)
)


@clause("C-26")
@pytest.mark.parametrize("order", ["123", "321", "213"])
def test_questions_are_put_at_once_and_the_call_waits_for_all_of_them(order: str) -> None:
    given = {"1": ("e", ACCEPTED), "2": ("s", SAMPLED), "3": ("r", ROOTS)}
    responses = ",".join(f'"{given[each][0]}":{given[each][1]}' for each in order)
    first, second, last = (answers(f"b-{each}", given[each][1]) for each in order)
    play(CALLED, THREE, first, second, last + again(FIRST + 1, responses), done(FIRST + 1, "1"))


@clause("C-29")
def test_two_calls_ask_at_once_and_each_gets_its_own_answers() -> None:
    play(
        CALLED,
        call("2", FIRST + 1, "u"),
        wants(FIRST + 1, entry("k", ELICIT), '"two"') + asked("b-1", ELICIT),
        wants(FIRST, entry("k", ELICIT), '"one"') + asked("b-2", ELICIT),
        answers("b-2", '{"action":"decline"}')
        + again(FIRST + 2, '"k":{"action":"decline"}', '"one"'),
        answers("b-1", ACCEPTED) + again(FIRST + 3, f'"k":{ACCEPTED}', '"two"', name="u"),
        done(FIRST + 3, "2"),
        done(FIRST + 2, "1"),
    )


def test_other_requests_are_served_while_the_host_is_asked() -> None:
    play(
        ASKED,
        OTHER,
        f'child > {{"id":{FIRST + 1},"result":{{"tools":[]}}}}\n'
        'host  < {"id":2,"result":{"tools":[]}}',
        answers("b-1", ACCEPTED) + again(FIRST + 2, f'"k":{ACCEPTED}'),
    )


# Odd answers ------------------------------------------------------------------------------------


def test_an_elicitation_that_the_host_cannot_show_is_cancelled() -> None:
    play(
        ASKED,
        refuses("b-1", '{"code":-32602,"message":"no","data":1}')
        + again(FIRST + 1, '"k":{"action":"cancel"}'),
        done(FIRST + 1, "1"),
    )


@pytest.mark.parametrize("question", [CREATE, LIST_ROOTS])
@pytest.mark.parametrize(
    "error",
    [
        '{"code":-1,"message":"User rejected"}',
        '{"code":-32601,"message":"no roots","data":[1.50]}',
        '{"code":0,"message":""}',
    ],
)
def test_a_refusal_of_anything_else_ends_the_call_with_the_hosts_own_error(
    question: str, error: str
) -> None:
    play(
        CALLED,
        wants(FIRST, f"{entry('e', ELICIT)},{entry('k', question)},{entry('f', ELICIT)}")
        + asked("b-1", ELICIT)
        + asked("b-2", question)
        + asked("b-3", ELICIT),
        answers("b-3", ACCEPTED),
        refuses("b-2", error) + withdrawn("b-1") + f'host < {{"id":1,"error":{error}}}\n',
        # It is over, whatever comes: nothing is sent to the child.
        answers("b-1", ACCEPTED),
        answers("b-2", SAMPLED),
        "after 3600",
        call("1", FIRST + 1),
        done(FIRST + 1, "1"),
    )


@pytest.mark.parametrize("answer", ['"result":[]', '"result":null', '"result":"x"'])
def test_an_answer_that_is_no_object_is_none(answer: str) -> None:
    play(
        ASKED,
        f'host > {{"id":"b-1",{answer}}}\n' + again(FIRST + 1, '"k":{"action":"cancel"}'),
    )
    play(
        CALLED,
        wants(FIRST, entry("k", CREATE)) + asked("b-1", CREATE),
        f'host > {{"id":"b-1",{answer}}}\n'
        + failed("1", "The host's answer has no result", "invalid_result"),
    )


def test_an_answer_counts_once_and_under_its_own_id() -> None:
    play(
        ASKED,
        answers("b-2", ACCEPTED),
        'host > {"id":1,"result":{"action":"accept"}}',
        'host > {"id":"1","result":{"action":"accept"}}',
        answers("b-1", '{"action":"decline"}') + again(FIRST + 1, '"k":{"action":"decline"}'),
        answers("b-1", ACCEPTED),
        refuses("b-1"),
        done(FIRST + 1, "1"),
        answers("b-1", ACCEPTED),
    )


def test_an_answer_with_both_members_is_what_is_not_null() -> None:
    play(
        ASKED,
        f'host > {{"id":"b-1","error":null,"result":{ACCEPTED}}}\n'
        + again(FIRST + 1, f'"k":{ACCEPTED}'),
    )


# What the host has not declared -----------------------------------------------------------------


@clause("C-55")
@pytest.mark.parametrize(
    ("declared", "question", "missing"),
    [
        ('{"sampling":{}}', ELICIT, "elicitation.form"),
        ('{"elicitation":{"url":{}}}', ELICIT, "elicitation.form"),
        (
            '{"elicitation":{}}',
            '"method":"elicitation/create","params":{"mode":"url","url":"x:y","message":"m"}',
            "elicitation.url",
        ),
        ('{"elicitation":{}}', CREATE, "sampling"),
        (
            '{"sampling":{}}',
            '"method":"sampling/createMessage","params":{"messages":[],"maxTokens":1,"tools":[]}',
            "sampling.tools",
        ),
        ('{"sampling":{}}', LIST_ROOTS, "roots"),
    ],
)
def test_a_question_that_the_host_did_not_declare_ends_the_call(
    declared: str, question: str, missing: str
) -> None:
    # Nothing is asked, not even what could be.
    possible = CREATE if "sampling" in declared else ELICIT
    play(
        opening(declared),
        request("1", FIRST, "tools/call", '"name":"t"', meta(declared)),
        wants(FIRST, entry("a", possible) + "," + entry("k", question))
        + failed(
            "1", f"The server asked for {missing}, which the host has not declared", "not_declared"
        ),
        request("1", FIRST + 1, "tools/list", envelope=meta(declared)),
    )


def test_roots_of_the_command_line_need_no_host() -> None:
    roots, told = '{"roots":[{"uri":"file:///given"}]}', '{"roots":{}}'
    settings = Settings(roots=Raw(roots.encode()))
    play(
        opening(told="{}") + INITIALIZED,
        request("1", FIRST, "tools/call", '"name":"t"', meta(told)),
        wants(FIRST, entry("k", LIST_ROOTS))
        + again(FIRST + 1, f'"k":{roots}', envelope=meta(told)),
        done(FIRST + 1, "1"),
        settings=settings,
    )
    play(
        opening(ASKABLE) + INITIALIZED,
        call("1", FIRST),
        wants(FIRST, entry("k", LIST_ROOTS) + "," + entry("e", ELICIT)) + asked("b-1", ELICIT),
        answers("b-1", ACCEPTED) + again(FIRST + 1, f'"k":{roots},"e":{ACCEPTED}'),
        settings=settings,
    )


# Junk -------------------------------------------------------------------------------------------


@pytest.mark.parametrize(
    ("members", "message"),
    [
        ("", "The server wants input and says not which"),
        (',"inputRequests":{}', "The server wants input and says not which"),
        (',"requestState":7', "The server's requestState is not a string"),
        (',"requestState":null', "The server's requestState is not a string"),
        (',"requestState":{}', "The server's requestState is not a string"),
        (',"inputRequests":[],"requestState":"s"', "The server's inputRequests are not an object"),
        (',"inputRequests":7', "The server's inputRequests are not an object"),
        (',"inputRequests":{"k":7}', "The server asked for nothing"),
        (',"inputRequests":{"k":{}}', "The server asked for nothing"),
        (',"inputRequests":{"k":{"method":7}}', "The server asked for nothing"),
        (',"inputRequests":{"k":{"method":"ping"}}', "The server asked for ping"),
        (
            ',"inputRequests":{"a":{"method":"roots/list"},"k":{"method":"tools/call"}}',
            "The server asked for tools/call",
        ),
        (
            ',"inputRequests":{"k":{"method":"roots/list","params":[]}}',
            "The server's roots/list has no params",
        ),
    ],
)
def test_input_required_that_makes_no_sense_ends_the_call(members: str, message: str) -> None:
    play(
        CALLED,
        f'child > {{"id":{FIRST},"result":{{"resultType":"input_required"{members}}}}}\n'
        + failed("1", message, "invalid_result"),
        "after 3600",
        call("1", FIRST + 1),
        done(FIRST + 1, "1"),
    )


def test_more_questions_at_once_than_are_allowed_end_the_call() -> None:
    entries = ",".join(entry(f"k{number}", LIST_ROOTS) for number in range(4))
    play(
        CALLED,
        wants(FIRST, entries) + failed("1", "The server asked 4 questions at once", "too_many"),
        settings=Settings(most_questions=3),
    )
