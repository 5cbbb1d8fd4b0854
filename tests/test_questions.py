"""Questions of a legacy child inside a call: translation D.1, D.2, D.4 to D.7, design D6."""

import json

import pytest

from asking import (
    ACCEPTED,
    CREATE,
    ELICIT,
    LIST_ROOTS,
    ROOTS,
    SAMPLED,
    SHOWN_ROOTS,
    answered,
    asks,
    call,
    done,
    gathered,
    input_required,
    retry,
)
from conversation import EVERYTHING, opened, play
from mcp_era_bridge.settings import Settings
from mcp_era_wire.dirty import LongLine

clause = pytest.mark.clause

ASKED = opened() + call("1", 1) + asks('"q"') + gathered("1", 1, ("q", ELICIT))
"""A call has asked one thing, and is parked."""

FREE = (
    """
host  > {"id":"free","method":"tools/list","params":{$FULL}}
child < {"id":2,"method":"tools/list"}
"""
    + 'child > {"id":2,"result":{"tools":[]}}\nhost  < {"id":"free","result":{"tools":[],$LISTED}}'
)
"""Another request is served meanwhile."""


@clause("S-55", "S-56", "S-65")
@pytest.mark.parametrize(
    ("question", "shown", "answer"),
    [
        (ELICIT, ELICIT, ACCEPTED),
        (ELICIT, ELICIT, '{"action":"decline"}'),
        (ELICIT, ELICIT, '{"action":"cancel","_meta":{"k":1}}'),
        (CREATE, CREATE, SAMPLED),
        (LIST_ROOTS, SHOWN_ROOTS, ROOTS),
        ('"method":"roots/list","params":{"_meta":{"progressToken":1}}', SHOWN_ROOTS, ROOTS),
    ],
)
@pytest.mark.parametrize("id", ['"q"', "7", '"7"', "0"])
def test_a_question_goes_to_the_host_and_its_answer_to_the_child(
    id: str, question: str, shown: str, answer: str
) -> None:
    key = id.strip('"')
    play(
        opened(),
        call("1", 1),
        asks(id, question),
        gathered("1", 1, (key, shown)),
        retry('"r"', 1, f'{{"{key}":{answer}}}') + answered(id, answer),
        done(1, '"r"'),
    )


@clause("S-57", "S-59")
@pytest.mark.parametrize(
    ("method", "params"),
    [
        ("prompts/get", '"name":"p"'),
        ("prompts/get", '"name":"p","arguments":{"a":"b"}'),
        ("resources/read", '"uri":"x:y"'),
        ("tools/call", '"name":"t","arguments":{"a":[1.50]}'),
    ],
)
def test_prompts_and_resources_may_ask_too(method: str, params: str) -> None:
    cached = '"ttlMs":0,"cacheScope":"private",' if method == "resources/read" else ""
    content = {"prompts/get": '"messages":[]', "resources/read": '"contents":[]'}
    result = content.get(method, '"content":[]')
    play(
        opened(),
        f"""
host  > {{"id":1,"method":"{method}","params":{{{params},$FULL}}}}
child < {{"id":1,"method":"{method}","params":{{{params}}}}}
""",
        asks('"q"'),
        gathered("1", 1, ("q", ELICIT)),
        f"""
host  > {{"id":2,"method":"{method}","params":{{{params},"requestState":"$S1",
        "inputResponses":{{"q":{ACCEPTED}}},$FULL}}}}
child < {{"id":"q","result":{ACCEPTED}}}
child > {{"id":1,"result":{{{result}}}}}
host  < {{"id":2,"result":{{{result},{cached}$DONE}}}}
""",
    )


@clause("S-55", "S-57")
@pytest.mark.parametrize(
    ("method", "params"),
    [
        ("tools/list", ""),
        ("resources/list", ""),
        (
            "completion/complete",
            '"ref":{"type":"ref/prompt","name":"p"},"argument":{"name":"a","value":""},',
        ),
        ("com.example/do", ""),
    ],
)
@pytest.mark.parametrize("question", [ELICIT, CREATE])
def test_nothing_else_is_ever_answered_input_required(
    method: str, params: str, question: str
) -> None:
    given = f',"params":{{{params.rstrip(",")}}}' if params else ""
    play(
        opened(),
        f"""
host  > {{"id":1,"method":"{method}","params":{{{params}$FULL}}}}
child < {{"id":1,"method":"{method}"{given}}}
child > {{"id":"q",{question}}}
child < {{"id":"q","error":{{"code":-32602,"message":"No request is being processed"}}}}
""",
    )


@clause("S-58")
def test_questions_that_come_together_are_put_together() -> None:
    play(
        opened(),
        call("1", 1),
        asks('"q"') + asks("7", CREATE) + "after 0.01\n" + asks('"7"', LIST_ROOTS),
        "after 0.01\n" + input_required("1", 1, ("q", ELICIT), ("7", CREATE), ("7'", SHOWN_ROOTS)),
        retry("2", 1, f'{{"q":{ACCEPTED},"7":{SAMPLED},"7\'":{ROOTS}}}'),
        answered('"q"', ACCEPTED) + answered("7", SAMPLED) + answered('"7"', ROOTS),
        done(1, "2"),
    )


def test_of_very_many_questions_some_wait_for_the_next_round() -> None:
    ids = [f"q{number}" for number in range(70)]
    answers = {id: json.loads(ACCEPTED) for id in ids}
    play(
        opened(),
        call("1", 1),
        "".join(asks(f'"{id}"') for id in ids),
        gathered("1", 1, *((id, ELICIT) for id in ids[:64])),
        retry("2", 1, json.dumps(answers)),
        "".join(answered(f'"{id}"', ACCEPTED) for id in ids[:64]),
        gathered("2", 2, *((id, ELICIT) for id in ids[64:])),
    )


@clause("S-24")
def test_every_round_has_a_state_of_its_own() -> None:
    conversation = play(
        ASKED,
        retry("2", 1, f'{{"q":{ACCEPTED}}}') + answered('"q"', ACCEPTED),
        asks("8", CREATE),
        gathered("2", 2, ("8", CREATE)),
        retry("3", 2, f'{{"8":{SAMPLED}}}') + answered("8", SAMPLED),
        done(1, "3"),
    )
    assert len(set(conversation.states)) == 2


def test_questions_are_gathered_longer_when_few_rounds_are_left() -> None:
    # Real hosts stop at ten.
    conversation = play(opened(), call("0", 1))
    for number in range(7):
        conversation.play(
            asks(f'"q{number}"')
            + gathered(str(number), number + 1, (f"q{number}", ELICIT))
            + retry(str(number + 1), number + 1, f'{{"q{number}":{ACCEPTED}}}')
            + answered(f'"q{number}"', ACCEPTED)
        )
    conversation.play(
        asks('"a"')
        + "after 0.2\n"
        + asks('"b"')
        + "after 0.05\n"
        + input_required("7", 8, ("a", ELICIT), ("b", ELICIT))
    )


# What is taken out of a question ----------------------------------------------------------------


@pytest.mark.parametrize(
    ("asked", "shown"),
    [
        ('"mode":"form",', '"mode":"form",'),
        ('"task":{"ttl":1},"_meta":{"progressToken":3},"x":[1.50],', '"x":[1.50],'),
    ],
)
def test_a_form_passes_without_what_belongs_to_the_old_era(asked: str, shown: str) -> None:
    rest = '"message":"m","requestedSchema":{"type":"object","enumNames":["A"]}}'
    method = '"method":"elicitation/create","params":{'
    play(
        opened(),
        call("1", 1),
        asks('"q"', method + asked + rest),
        gathered("1", 1, ("q", method + shown + rest)),
    )


def test_a_url_elicitation_passes_without_its_id() -> None:
    method = '"method":"elicitation/create","params":{"mode":"url","message":"m","url":"https://x"'
    play(
        opened(),
        call("1", 1),
        asks('"q"', method + ',"elicitationId":"e"}'),
        gathered("1", 1, ("q", method + "}")),
        retry("2", 1, '{"q":{"action":"accept","content":{}}}'),
        answered('"q"', '{"action":"accept","content":{}}'),
    )


@clause("S-131")
@pytest.mark.parametrize("context", ["thisServer", "allServers", "none"])
@pytest.mark.parametrize("declared", ["{}", '{"context":{}}'])
def test_sampling_passes_without_context_that_the_host_does_not_give(
    context: str, declared: str
) -> None:
    kept = context == "none" or declared != "{}"
    given = f'"includeContext":"{context}",'
    capabilities = f'{{"sampling":{declared}}}'
    method = '"method":"sampling/createMessage","params":{'
    rest = '"messages":[],"maxTokens":9,"temperature":0.50}'
    play(
        opened(capabilities),
        call("1", 1, capabilities=capabilities),
        asks('"q"', method + given + '"task":{},"_meta":{},' + rest),
        gathered("1", 1, ("q", method + (given if kept else "") + rest)),
    )


def test_the_tools_of_a_sampling_request_are_mended() -> None:
    method = '"method":"sampling/createMessage","params":{"messages":[],"maxTokens":9,"tools":['
    play(
        opened(),
        call("1", 1),
        asks('"q"', method + '{"name":"a","execution":{}},{"name":"b","inputSchema":{}}]}'),
        gathered(
            "1",
            1,
            (
                "q",
                method
                + '{"name":"a","inputSchema":{"type":"object"}},'
                + '{"name":"b","inputSchema":{"type":"object"}}]}',
            ),
        ),
    )


@clause("S-124")
@pytest.mark.parametrize(
    ("question", "wrong"),
    [
        ('"method":"elicitation/create"', "not an object"),
        ('"method":"elicitation/create","params":[]', "not an object"),
        ('"method":"elicitation/create","params":{"requestedSchema":{}}', "message"),
        ('"method":"elicitation/create","params":{"message":"m"}', "requestedSchema"),
        ('"method":"elicitation/create","params":{"message":"m","mode":"url"}', "url"),
        ('"method":"sampling/createMessage","params":{}', "messages"),
    ],
)
def test_a_question_that_no_host_could_read_is_refused(question: str, wrong: str) -> None:
    play(
        opened(),
        call("1", 1),
        asks('"q"', question)
        + f'child < {{"id":"q","error":{{"code":-32602,"message":"Invalid params: {wrong}"}}}}',
        done(1, "1"),
    )


# Capabilities -----------------------------------------------------------------------------------

SAMPLE_TOOLS = '"method":"sampling/createMessage","params":{"messages":[],"tools":[]}'
URL = '"method":"elicitation/create","params":{"mode":"url","message":"m","url":"https://x"}'


@clause("S-123", "S-66", "S-37", "S-130")
@pytest.mark.parametrize(
    ("question", "declared", "code", "what"),
    [
        (ELICIT, '{"roots":{}}', -32601, "elicitation.form"),
        (ELICIT, '{"elicitation":{"url":{}}}', -32602, "elicitation.form"),
        (URL, '{"elicitation":{}}', -32602, "elicitation.url"),
        (URL, '{"elicitation":{"form":{}}}', -32602, "elicitation.url"),
        (URL, "{}", -32601, "elicitation.url"),
        (CREATE, "{}", -32601, "sampling"),
        (SAMPLE_TOOLS, '{"sampling":{}}', -32601, "sampling.tools"),
        (LIST_ROOTS, "{}", -32601, "roots"),
    ],
)
@pytest.mark.parametrize(
    "end",
    [
        '"result":{"content":[{"type":"text","text":"degraded"}]}',
        '"result":{"content":[],"isError":false}',
    ],
)
def test_a_question_that_the_leg_does_not_cover_is_refused_and_the_call_goes_on(
    question: str, declared: str, code: int, what: str, end: str
) -> None:
    play(
        opened(),
        call("1", 1, capabilities=declared),
        asks('"q"', question),
        f'child < {{"id":"q","error":{{"code":{code},'
        f'"message":"The client has not declared {what}"}}}}',
        f'child > {{"id":1,{end}}}\nhost  < {{"id":1,{end.removesuffix("}")},$DONE}}}}',
    )


@clause("S-38")
@pytest.mark.parametrize(
    ("end", "detail"),
    [
        ('"result":{"content":[{"type":"text","text":"no luck"}],"isError":true}', "no luck"),
        ('"error":{"code":-32603,"message":"no luck"}', "no luck"),
        ('"error":{"code":1}', ""),
        ('"result":{"isError":true}', ""),
    ],
)
def test_only_when_such_a_call_fails_the_host_is_told_which_capability_it_needs(
    end: str, detail: str
) -> None:
    play(
        opened(),
        call("1", 1, capabilities="{}"),
        asks('"q"', ELICIT)
        + 'child < {"id":"q","error":{"code":-32601,'
        + '"message":"The client has not declared elicitation.form"}}',
        asks('"r"', SAMPLE_TOOLS)
        + 'child < {"id":"r","error":{"code":-32601,'
        + '"message":"The client has not declared sampling.tools"}}',
        f"""
child > {{"id":1,{end}}}
host  < {{"id":1,"error":{{"code":-32021,
         "message":"The server asked for a capability that this request did not declare",
         "data":{{"requiredCapabilities":{{"elicitation":{{"form":{{}}}},
         "sampling":{{"tools":{{}}}}}},"detail":"{detail}"}}}}}}
""",
    )


@clause("S-38")
@pytest.mark.parametrize(
    ("said", "required"),
    [
        ("Client does not support sampling (required for sampling/createMessage)", "sampling"),
        ("Error: Client does not support form elicitation.", "elicitation.form"),
        ("Client does not support url elicitation.", "elicitation.url"),
        (
            "Client does not support elicitation (required for elicitation/create)",
            "elicitation.form",
        ),
        ("client did not declare the sampling capability", "sampling"),
        ("Client does not support sampling tools capability.", "sampling.tools"),
        ("Client does not support listing roots (required for roots/list)", "roots"),
    ],
)
@pytest.mark.parametrize("is_error", [True, False])
def test_a_server_that_says_itself_what_its_client_lacks_is_understood(
    said: str, required: str, is_error: bool
) -> None:
    name, _, part = required.partition(".")
    wanted = f'{{"{name}":{{"{part}":{{}}}}}}' if part else f'{{"{name}":{{}}}}'
    end = f'"result":{{"content":[{{"type":"text","text":"{said}"}}],"isError":true}}'
    if not is_error:
        end = f'"error":{{"code":-32603,"message":"{said}"}}'
    play(
        opened("{}"),
        call("1", 1, capabilities="{}"),
        f"""
child > {{"id":1,{end}}}
host  < {{"id":1,"error":{{"code":-32021,
         "message":"The server asked for a capability that this request did not declare",
         "data":{{"requiredCapabilities":{wanted},"detail":"{said}"}}}}}}
""",
    )


@pytest.mark.parametrize(
    ("said", "capabilities"),
    [
        ("Client does not support sampling", EVERYTHING),
        ("The client does not support PNG", "{}"),
        ("Sampling is not supported", "{}"),
        ("roots", "{}"),
    ],
)
def test_any_other_failure_passes_as_it_is(said: str, capabilities: str) -> None:
    end = f'"content":[{{"type":"text","text":"{said}"}}],"isError":true'
    play(
        opened(capabilities),
        call("1", 1, capabilities=capabilities),
        f'child > {{"id":1,"result":{{{end}}}}}\nhost  < {{"id":1,"result":{{{end},$DONE}}}}',
    )


@clause("S-20", "S-21")
def test_what_counts_is_what_the_new_leg_declares() -> None:
    play(
        ASKED,
        asks('"r"', CREATE),
        retry("2", 1, f'{{"q":{ACCEPTED}}}', capabilities='{"elicitation":{}}')
        + answered('"q"', ACCEPTED)
        + 'child < {"id":"r","error":{"code":-32601,'
        + '"message":"The client has not declared sampling"}}',
        asks('"s"'),
        gathered("2", 2, ("s", ELICIT)),
        retry("3", 2, "{}", capabilities='{"sampling":{}}')
        + 'child < {"id":"s","error":{"code":-32601,'
        + '"message":"The client has not declared elicitation.form"}}',
        done(1, "3"),
    )


# The retry --------------------------------------------------------------------------------------


@clause("S-71")
@pytest.mark.parametrize("given", [None, "{}", '{"other":{"action":"accept"}}'])
def test_what_is_not_answered_is_asked_again(given: str | None) -> None:
    play(
        ASKED,
        retry("2", 1, given) + input_required("2", 2, ("q", ELICIT)),
        retry("3", 2, f'{{"q":{ACCEPTED}}}') + answered('"q"', ACCEPTED),
        done(1, "3"),
    )


@clause("S-71", "S-70")
def test_answers_that_are_there_go_to_the_child_before_the_rest_is_asked_again() -> None:
    play(
        opened(),
        call("1", 1),
        asks('"a"') + asks('"b"', CREATE),
        gathered("1", 1, ("a", ELICIT), ("b", CREATE)),
        retry("2", 1, f'{{"b":{SAMPLED},"x":7,"y":null}}')
        + answered('"b"', SAMPLED)
        + input_required("2", 2, ("a", ELICIT)),
        # One that has been answered already is ignored.
        retry("3", 2, f'{{"a":{ACCEPTED},"b":{SAMPLED}}}') + answered('"a"', ACCEPTED),
        done(1, "3"),
    )


@clause("S-68", "S-69")
@pytest.mark.parametrize(
    ("question", "answer"),
    [
        (ELICIT, f'{{"result":{ACCEPTED}}}'),
        (ELICIT, '{"jsonrpc":"2.0","id":1,"result":{}}'),
        (ELICIT, '{"action":"maybe"}'),
        (ELICIT, '{"action":"accept","content":[]}'),
        (ELICIT, '{"action":"accept","content":{"a":{"b":1}}}'),
        (ELICIT, '{"action":"accept","content":{"a":[1]}}'),
        (ELICIT, "null"),
        (ELICIT, '"accept"'),
        (CREATE, '{"role":"assistant","content":{"type":"text","text":"hi"}}'),
        (CREATE, '{"role":"assistant","content":"hi","model":"m"}'),
        (CREATE, '{"content":{"type":"text","text":"hi"},"model":"m"}'),
        (LIST_ROOTS, "{}"),
        (LIST_ROOTS, '{"roots":{}}'),
        (LIST_ROOTS, '{"roots":[{"name":"a"}]}'),
    ],
)
def test_a_malformed_answer_is_refused_and_the_call_is_not_lost(question: str, answer: str) -> None:
    shown = SHOWN_ROOTS if question == LIST_ROOTS else question
    good = {ELICIT: ACCEPTED, CREATE: SAMPLED, LIST_ROOTS: ROOTS}[question]
    play(
        opened(),
        call("1", 1),
        asks('"q"', question),
        gathered("1", 1, ("q", shown)),
        retry("2", 1, f'{{"q":{answer}}}')
        + 'host  < {"id":2,"error":{"code":-32602,"message":"Malformed inputResponses: q",'
        + '"data":{"key":"q"}}}',
        retry("3", 1, f'{{"q":{good}}}') + answered('"q"', good),
        done(1, "3"),
    )


@clause("S-68")
@pytest.mark.parametrize("responses", ["[]", "null", '"q"', "7"])
def test_responses_that_are_no_object_are_refused(responses: str) -> None:
    play(
        ASKED,
        retry("2", 1, responses)
        + 'host  < {"id":2,"error":{"code":-32602,"message":"Malformed inputResponses: '
        + 'inputResponses","data":{"key":"inputResponses"}}}',
        retry("3", 1, f'{{"q":{ACCEPTED}}}') + answered('"q"', ACCEPTED),
    )


def test_responses_without_a_state_are_those_of_a_new_call() -> None:
    play(
        ASKED,
        f"""
host  > {{"id":2,"method":"tools/call","params":{{"name":"t",
        "inputResponses":{{"q":{ACCEPTED}}},$FULL}}}}
child < {{"id":2,"method":"tools/call","params":{{"name":"t"}}}}
""",
    )


@pytest.mark.parametrize(
    ("answer", "delivered"),
    [
        (ACCEPTED, ACCEPTED),
        (
            '{"action":"accept","content":{"a":"s","b":1.50,"c":true,"d":["x"]},"later":[1]}',
            '{"action":"accept","content":{"a":"s","b":1.50,"c":true,"d":["x"]},"later":[1]}',
        ),
        ('{"action":"decline","content":{"a":1}}', '{"action":"decline"}'),
        ('{"action":"cancel","content":{}}', '{"action":"cancel"}'),
    ],
)
def test_an_elicited_answer_goes_on_as_given_and_content_only_if_accepted(
    answer: str, delivered: str
) -> None:
    play(ASKED, retry("2", 1, f'{{"q":{answer}}}') + answered('"q"', delivered))


# While a call is parked -------------------------------------------------------------------------


@clause("S-67", "S-22")
def test_a_parked_call_holds_up_nothing() -> None:
    play(
        ASKED,
        FREE,
        call('"other"', 3, name="u"),
        done(3, '"other"'),
        "after 500",
        call('"third"', 4),
        done(4, '"third"'),
    )


def test_several_calls_are_parked_at_once_and_go_on_in_any_order() -> None:
    play(
        ASKED,
        call("2", 2, name="u"),
        asks('"r"'),
        gathered("2", 2, ("r", ELICIT)),
        call("3", 3, name="v"),
        asks('"s"', CREATE),
        gathered("3", 3, ("s", CREATE)),
        retry("4", 2, f'{{"r":{ACCEPTED}}}', name="u") + answered('"r"', ACCEPTED),
        done(2, "4"),
        retry("5", 1, f'{{"q":{ACCEPTED}}}') + answered('"q"', ACCEPTED),
        retry("6", 3, f'{{"s":{SAMPLED}}}', name="v") + answered('"s"', SAMPLED),
        done(3, "6"),
        done(1, "5"),
    )


def test_a_question_of_a_parked_call_waits_for_its_next_round() -> None:
    play(
        ASKED,
        asks("8", CREATE) + "after 5",
        retry("2", 1, f'{{"q":{ACCEPTED}}}') + answered('"q"', ACCEPTED),
        gathered("2", 2, ("8", CREATE)),
        retry("3", 2, f'{{"8":{SAMPLED}}}') + answered("8", SAMPLED),
        done(1, "3"),
    )


@pytest.mark.parametrize(
    ("end", "given"),
    [
        ('"result":{"content":[]}', '"result":{"content":[],$DONE}'),
        ('"error":{"code":7,"message":"m"}', '"error":{"code":7,"message":"m"}'),
    ],
)
def test_an_answer_that_comes_while_the_call_is_parked_waits_for_the_retry(
    end: str, given: str
) -> None:
    play(
        ASKED,
        f'child > {{"id":1,{end}}}',
        # Whoever asked may still be waiting for it.
        retry("2", 1, f'{{"q":{ACCEPTED}}}')
        + answered('"q"', ACCEPTED)
        + f'host  < {{"id":2,{given}}}',
    )


def test_such_a_retry_without_answers_gets_the_answer_all_the_same() -> None:
    play(
        ASKED,
        'child > {"id":1,"result":{"content":[]}}',
        retry("2", 1, None)
        + answered('"q"', '{"action":"cancel"}')
        + 'host  < {"id":2,"result":{"content":[],$DONE}}',
    )


def test_the_same_call_without_a_state_is_another_call() -> None:
    play(
        ASKED,
        call("2", 2),
        done(2, "2"),
        retry("3", 1, f'{{"q":{ACCEPTED}}}') + answered('"q"', ACCEPTED),
        done(1, "3"),
    )


# Withdrawn --------------------------------------------------------------------------------------

WITHDRAWN = 'child > {"method":"notifications/cancelled","params":{"requestId":"q"}}\n'


@clause("S-49")
def test_a_question_withdrawn_in_time_is_never_put() -> None:
    play(opened(), call("1", 1), asks('"q"') + WITHDRAWN, "after 1", done(1, "1"))


def test_of_two_questions_the_one_that_is_withdrawn_is_not_put() -> None:
    play(
        opened(),
        call("1", 1),
        asks('"q"') + asks('"r"') + WITHDRAWN,
        gathered("1", 1, ("r", ELICIT)),
    )


def test_the_answer_to_a_withdrawn_question_is_ignored() -> None:
    play(
        ASKED,
        WITHDRAWN,
        retry("2", 1, f'{{"q":{ACCEPTED}}}'),
        done(1, "2"),
    )


def test_a_question_that_is_answered_cannot_be_withdrawn() -> None:
    play(
        ASKED,
        retry("2", 1, f'{{"q":{ACCEPTED}}}') + answered('"q"', ACCEPTED),
        WITHDRAWN,
        done(1, "2"),
    )


def test_an_id_that_is_open_is_not_asked_twice() -> None:
    play(
        ASKED,
        asks('"q"', CREATE)
        + 'child < {"id":"q","error":{"code":-32600,'
        + '"message":"A request with this id is still open"}}',
        retry("2", 1, f'{{"q":{ACCEPTED}}}') + answered('"q"', ACCEPTED),
        # Once answered it may come again.
        asks('"q"', CREATE),
        gathered("2", 2, ("q", CREATE)),
    )


# The end of a parked call -----------------------------------------------------------------------

CANCEL = 'host  > {"method":"notifications/cancelled","params":{"requestId":1,"reason":"bored"}}\n'
CANCELLED = (
    'child < {"method":"notifications/cancelled","params":{"requestId":1,"reason":"bored"}}\n'
)


@clause("S-51", "S-127")
@pytest.mark.parametrize(
    ("question", "answer"),
    [
        (ELICIT, '"result":{"action":"cancel"}'),
        (CREATE, '"error":{"code":-1,"message":"The sampling request was not answered"}'),
        (LIST_ROOTS, '"error":{"code":-32603,"message":"The roots are not available"}'),
    ],
)
def test_cancelling_the_answered_leg_abandons_the_parked_call(question: str, answer: str) -> None:
    shown = SHOWN_ROOTS if question == LIST_ROOTS else question
    play(
        opened(),
        call("1", 1),
        asks('"q"', question),
        gathered("1", 1, ("q", shown)),
        CANCEL + f'child < {{"id":"q",{answer}}}\n' + CANCELLED,
        # SDK servers answer a cancelled request all the same.
        'child > {"id":1,"error":{"code":0,"message":"Request cancelled"}}',
        retry("2", 1, "{}")
        + 'host  < {"id":2,"error":{"code":-32602,"message":"requestState was not accepted",'
        + '"data":{"reason":"used"}}}',
    )


def test_an_answered_leg_whose_id_is_in_use_again_is_not_what_is_cancelled() -> None:
    play(
        ASKED,
        call("1", 2, name="u"),
        CANCEL + CANCELLED.replace('"requestId":1', '"requestId":2'),
        retry("2", 1, f'{{"q":{ACCEPTED}}}') + answered('"q"', ACCEPTED),
        done(1, "2"),
    )


@clause("S-54", "S-82")
def test_an_old_leg_cannot_be_cancelled_and_the_new_one_can_with_the_id_that_the_child_knows() -> (
    None
):
    play(
        ASKED,
        retry("2", 1, f'{{"q":{ACCEPTED}}}') + answered('"q"', ACCEPTED),
        CANCEL,
        CANCEL.replace('"requestId":1', '"requestId":2') + CANCELLED,
        'child > {"id":1,"result":{"content":[]}}',
        "after 700",
    )


@clause("S-51", "S-83")
def test_a_call_cancelled_while_its_questions_are_gathered_asks_nothing() -> None:
    play(
        opened(),
        call("1", 1),
        asks('"q"') + CANCEL + answered('"q"', '{"action":"cancel"}') + CANCELLED,
        "after 700",
    )


@clause("S-67", "S-127", "S-63")
def test_a_call_that_nobody_retries_expires() -> None:
    play(
        ASKED,
        "after 599",
        "after 1\n"
        + answered('"q"', '{"action":"cancel"}')
        + 'child < {"method":"notifications/cancelled","params":{"requestId":1,'
        + '"reason":"The host has not answered the questions in time"}}',
        retry("2", 1, f'{{"q":{ACCEPTED}}}')
        + 'host  < {"id":2,"error":{"code":-32602,"message":"requestState was not accepted",'
        + '"data":{"reason":"expired"}}}',
    )


def test_the_time_counts_from_the_newest_round() -> None:
    play(
        opened(),
        call("1", 1),
        asks('"q"') + gathered("1", 1, ("q", ELICIT)),
        "after 500\n",
        retry("2", 1, "{}") + input_required("2", 2, ("q", ELICIT)),
        "after 500\n",
        retry("3", 2, f'{{"q":{ACCEPTED}}}') + answered('"q"', ACCEPTED),
        done(1, "3"),
    )


@clause("S-23")
def test_parked_calls_die_with_the_child() -> None:
    conversation = play(ASKED, "ended 3")
    conversation.play(
        call('"again"', None)
        + """
start 2
child < {"id":1002,"method":"server/discover","params":{$FULL}}
"""
        + 'child > {"id":1002,"error":{"code":-32601,"message":"?"}}\n'
        + 'child < {"id":1003,"method":"initialize","params":{"protocolVersion":"2025-11-25",'
        + '"capabilities":'
        + EVERYTHING.replace('"roots":{}', '"roots":{"listChanged":true}')
        + ',"clientInfo":{"name":"host","version":"2"}}}\n'
        + 'child > {"id":1003,"result":{"protocolVersion":"2025-11-25","capabilities":{},'
        + '"serverInfo":{"name":"old","version":"1"}}}\n'
        + 'child < {"method":"notifications/initialized"}\n'
        + 'child < {"id":1,"method":"tools/call","params":{"name":"t"}}\n'
        + retry("2", 1, f'{{"q":{ACCEPTED}}}')
        + 'host  < {"id":2,"error":{"code":-32602,"message":"requestState was not accepted",'
        + '"data":{"reason":"restarted"}}}\n'
    )


def test_no_more_calls_are_parked_than_may_be_and_none_is_dropped_for_another() -> None:
    play(
        opened(),
        call("1", 1),
        asks('"q"') + gathered("1", 1, ("q", ELICIT)),
        call("2", 2, name="u"),
        asks('"r"')
        + 'child < {"id":"r","error":{"code":-32603,"message":"Too many calls wait for the user"}}',
        done(2, "2"),
        retry("3", 1, f'{{"q":{ACCEPTED}}}') + answered('"q"', ACCEPTED),
        settings=Settings(most_parked=1),
    )


def test_no_more_questions_are_open_than_may_be() -> None:
    play(
        ASKED,
        asks('"r"')
        + 'child < {"id":"r","error":{"code":-32603,'
        + '"message":"Too many questions are open; the limit is 1"}}',
        settings=Settings(most_questions=1),
    )


@clause("S-84")
def test_a_parked_call_does_not_keep_the_bridge_from_ending() -> None:
    play(ASKED, "eof\nfinish 0")


def test_a_call_whose_questions_are_gathered_when_the_host_ends_is_answered_first() -> None:
    play(
        opened(),
        call("1", 1),
        asks('"q"') + "eof\n" + gathered("1", 1, ("q", ELICIT)) + "finish 0",
    )


@pytest.mark.parametrize("responses", ["", f'"inputResponses":{{"q":{ACCEPTED}}},'])
def test_what_belongs_to_a_retry_reaches_no_legacy_child(responses: str) -> None:
    play(
        ASKED,
        f"""
host  > {{"id":2,"method":"tools/list","params":{{"requestState":"$S1",{responses}"task":{{}},
        $FULL}}}}
child < {{"id":2,"method":"tools/list"}}
""",
    )


def test_nothing_is_left_of_calls_that_are_over() -> None:
    conversation = play(
        ASKED,
        retry("2", 1, f'{{"q":{ACCEPTED}}}') + answered('"q"', ACCEPTED),
        done(1, "2"),
    )
    assert conversation.joint.deadline is None


# Unlucky orders --------------------------------------------------------------------------------


@clause("S-03")
def test_a_batch_with_a_question_and_the_answer_of_its_call_answers_it_once() -> None:
    play(
        opened(version="2025-03-26"),
        call("1", 1),
        f"""
child > [{{"jsonrpc":"2.0","id":"q",{CREATE}}},{{"jsonrpc":"2.0","id":1,"result":{{"content":[]}}}}]
child < {{"id":"q","error":{{"code":-1,"message":"The sampling request was not answered"}}}}
host  < {{"id":1,"result":{{"content":[],$DONE}}}}
""",
        "after 1",
    )


BROKEN = '{"jsonrpc":"2.0","id":1,"result":{'
NAMELESS = '{"jsonrpc":"2.0","result":{'
LONG = LongLine.of_ends(NAMELESS.encode(), NAMELESS.encode(), 1 << 30).decode()


@pytest.mark.parametrize(
    ("line", "noise", "reason", "message"),
    [
        (BROKEN, BROKEN, "invalid_line", "could not be read"),
        ("LONG " + NAMELESS, LONG, "line_too_long", "was too long to be read"),
    ],
)
def test_an_unreadable_answer_of_a_parked_call_is_told_to_its_next_leg(
    line: str, noise: str, reason: str, message: str
) -> None:
    play(
        ASKED,
        f"child ! {line}\nnoise {noise}",
        retry("2", 1, f'{{"q":{ACCEPTED}}}')
        + answered('"q"', ACCEPTED)
        + f'host  < {{"id":2,"error":{{"code":-32603,"message":"The server\'s answer {message}",'
        + f'"data":{{"source":"mcp-bridge","reason":"{reason}"}}}}}}',
    )


@clause("S-38", "S-21")
def test_a_capability_that_the_last_leg_declares_is_not_what_it_failed_for() -> None:
    failed = '"content":[{"type":"text","text":"disk full"}],"isError":true'
    form = '{"elicitation":{}}'
    play(
        opened(),
        call("1", 1, capabilities=form),
        asks('"s"', CREATE)
        + 'child < {"id":"s","error":{"code":-32601,'
        + '"message":"The client has not declared sampling"}}',
        asks('"q"'),
        gathered("1", 1, ("q", ELICIT)),
        retry("2", 1, f'{{"q":{ACCEPTED}}}') + answered('"q"', ACCEPTED),
        f'child > {{"id":1,"result":{{{failed}}}}}\nhost  < {{"id":2,"result":{{{failed},$DONE}}}}',
    )
