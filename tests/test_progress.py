"""Progress of a legacy child's calls to a modern host: translation C, L-17."""

import json

import pytest

from asking import ACCEPTED, ELICIT, answered, asks, done, gathered, input_required, retry
from conversation import EVERYTHING, MACROS, OPENED, meta, opened, play

clause = pytest.mark.clause


def call(id: str, token: str, child_id: int = 1) -> str:
    """A call that wants progress under `token`."""
    meta = MACROS["$META"].removesuffix("}") + f',"progressToken":{token}}}'
    return f"""
host  > {{"id":{id},"method":"tools/call","params":{{"name":"t",{meta}}}}}
child < {{"id":{child_id},"method":"tools/call",
         "params":{{"name":"t","_meta":{{"progressToken":{child_id}}}}}}}
"""


def passed_on(token: str, value: str, more: str = "") -> str:
    """The child reports progress of the call 1, and the host gets it under `token`."""
    return f"child > {progress('1', value, more)}\nhost < {progress(token, value, more)}"


def progress(token: str, value: str, more: str = "") -> str:
    """The line of a progress notification, without who says it."""
    return (
        '{"method":"notifications/progress",'
        f'"params":{{"progressToken":{token},"progress":{value}{more}}}}}'
    )


ANSWERED = """
child > {"id":1,"result":{"content":[]}}
host  < {"id":"c","result":{"content":[],$DONE}}
"""


@clause("S-73")
@pytest.mark.parametrize("token", ['"t"', "0", "7", '""', "123456789012345678901234567890"])
def test_progress_comes_under_the_hosts_own_token(token: str) -> None:
    more = ',"total":3,"message":"step","later":[1.50],"_meta":{"k":1}'
    play(
        OPENED,
        call('"c"', token),
        passed_on(token, "1", more),
        passed_on(token, "2.5"),
        ANSWERED,
    )


def test_a_token_goes_beside_what_else_is_in_the_meta() -> None:
    meta = MACROS["$META"].removesuffix("}") + ',"progressToken":"t","traceparent":"00-a-b-01"}'
    play(
        OPENED,
        f"""
host  > {{"id":1,"method":"com.example/do","params":{{{meta}}}}}
child < {{"id":1,"method":"com.example/do",
         "params":{{"_meta":{{"traceparent":"00-a-b-01","progressToken":1}}}}}}
""",
    )


@clause("S-72")
@pytest.mark.parametrize("value", ["5", "5.0", "4.9", "-1", '"6"', "null", "true"])
def test_progress_that_does_not_rise_is_dropped(value: str) -> None:
    play(
        OPENED,
        call('"c"', '"t"'),
        passed_on('"t"', "5"),
        f"child > {progress('1', value)}",
        passed_on('"t"', "6"),
    )


@clause("S-73", "S-76")
@pytest.mark.parametrize("token", ["2", "0", '"1"', '"t"', "null", "1.5", "[]"])
def test_progress_for_a_token_that_is_not_active_is_dropped(token: str) -> None:
    play(OPENED, call('"c"', '"t"'), f"child > {progress(token, '1')}", ANSWERED)


@clause("S-73")
def test_progress_that_nobody_asked_for_is_dropped() -> None:
    play(
        OPENED,
        """
host  > {"id":"c","method":"tools/call","params":{"name":"t",$META}}
child < {"id":1,"method":"tools/call","params":{"name":"t"}}
""",
        f"child > {progress('1', '1')}",
        'child > {"method":"notifications/progress"}',
        ANSWERED,
    )


@clause("S-74", "S-83")
@pytest.mark.parametrize(
    "ending",
    [
        ANSWERED,
        """
host  > {"method":"notifications/cancelled","params":{"requestId":"c"}}
child < {"method":"notifications/cancelled","params":{"requestId":1}}
""",
    ],
)
def test_no_progress_follows_the_answer_or_the_cancellation(ending: str) -> None:
    play(OPENED, call('"c"', '"t"'), ending, f"child > {progress('1', '1')}")


def test_each_call_has_its_own_progress() -> None:
    play(
        OPENED,
        call('"a"', "1", 1),
        call('"b"', '"1"', 2),
        "child > " + progress("2", "5") + "\nhost < " + progress('"1"', "5"),
        passed_on("1", "3"),
    )


def test_a_flood_arrives_whole_in_order_and_before_the_answer_in_another_write() -> None:
    conversation = play(OPENED, call('"c"', '"t"'))
    out = conversation.joint.out
    lines = [f'{{"jsonrpc":"2.0",{progress("1", str(n))[1:]}'.encode() for n in range(1, 10_001)]
    answer = b'{"jsonrpc":"2.0","id":1,"result":{"content":[]}}'
    conversation.joint.from_child(1, [*lines, answer], True, conversation.now)
    (start,) = out.host_breaks
    first, second = b"".join(out.to_host[:start]), b"".join(out.to_host[start:])
    expected = [line.replace(b'"progressToken":1', b'"progressToken":"t"') for line in lines]
    assert first.splitlines() == expected
    assert b'"id":"c","result"' in second and second.count(b"\n") == 1


def test_an_answer_without_progress_begins_no_write_of_its_own() -> None:
    conversation = play(OPENED, call('"c"', '"t"'))
    answer = b'{"jsonrpc":"2.0","id":1,"result":{"content":[]}}'
    conversation.joint.from_child(1, [answer], True, conversation.now)
    assert conversation.joint.out.host_breaks == []


@pytest.mark.parametrize(
    "params",
    [
        '{"progressToken":1,"progress":1,"total":3}',
        '{"progress":1,"total":3,"progressToken":1}',
        '{"progress":1,"progressToken":1,"total":3}',
        '{ "progressToken" : 1 , "progress" : 1 }',
        '{"\\u0070rogressToken":1,"progress":1}',
        '{"progressToken":1,"progress":1,"_meta":{"progressToken":1}}',
        '{"_meta":{"progressToken":1},"progress":1,"progressToken":1}',
        '{"progressToken":1,"progress":1,"message":"{\\"progressToken\\":1,"}',
        '{"progress":1,"message":"","progressToken":1 }',
    ],
)
def test_the_token_is_put_back_wherever_it_stands(params: str) -> None:
    conversation = play(OPENED, call('"c"', '"t"'))
    line = f'{{"jsonrpc":"2.0","method":"notifications/progress","params":{params}}}'
    conversation.joint.from_child(1, [line.encode()], True, conversation.now)
    (heard,) = b"".join(conversation.joint.out.to_host).splitlines()
    expected = {**json.loads(params), "progressToken": "t"}
    assert json.loads(heard)["params"] == expected


# Calls that ask ---------------------------------------------------------------------------------

PARKED = (
    opened()
    + call('"c"', '"t"').replace(MACROS["$META"].removesuffix("}"), meta(EVERYTHING)[:-1])
    + asks('"q"')
    + gathered('"c"', 1, ("q", ELICIT))
)


@clause("S-73", "S-74")
def test_progress_of_a_parked_call_is_kept_for_the_next_leg_the_newest_alone() -> None:
    play(
        PARKED,
        f"child > {progress('1', '1')}",
        f"child > {progress('1', '2')}",
        retry('"r"', 1, f'{{"q":{ACCEPTED}}}', more='"progressToken":"u"')
        + answered('"q"', ACCEPTED)
        + f"host < {progress(chr(34) + 'u' + chr(34), '2')}",
        f"child > {progress('1', '2')}",
        passed_on('"u"', "3"),
        done(1, '"r"'),
    )


def test_it_is_dropped_if_the_next_leg_wants_none() -> None:
    play(
        PARKED,
        f"child > {progress('1', '1')}",
        retry('"r"', 1, f'{{"q":{ACCEPTED}}}') + answered('"q"', ACCEPTED),
        f"child > {progress('1', '5')}",
        done(1, '"r"'),
    )


def test_it_stands_before_an_answer_that_was_kept_too() -> None:
    play(
        PARKED,
        f"child > {progress('1', '4')}",
        'child > {"id":1,"result":{"content":[]}}',
        retry('"r"', 1, f'{{"q":{ACCEPTED}}}', more='"progressToken":7')
        + answered('"q"', ACCEPTED)
        + f"host < {progress('7', '4')}\n"
        + 'host  < {"id":"r","result":{"content":[],$DONE}}',
    )


def test_a_leg_that_is_asked_again_has_heard_of_progress_before() -> None:
    conversation = play(PARKED, f"child > {progress('1', '4')}")
    conversation.play(
        retry('"r"', 1, "{}", more='"progressToken":7') + input_required('"r"', 2, ("q", ELICIT))
    )
    conversation.play(
        retry('"s"', 2, f'{{"q":{ACCEPTED}}}', more='"progressToken":8')
        + answered('"q"', ACCEPTED)
        + f"host < {progress('8', '4')}\n"
    )


def test_an_input_required_behind_progress_begins_a_write_of_its_own() -> None:
    conversation = play(
        opened(),
        call('"c"', '"t"').replace(MACROS["$META"].removesuffix("}"), meta(EVERYTHING)[:-1]),
    )
    joint = conversation.joint
    question = f'{{"jsonrpc":"2.0","id":"q",{ELICIT}}}'.encode()
    line = f'{{"jsonrpc":"2.0",{progress("1", "1")[1:]}'.encode()
    joint.from_child(1, [line, question], True, conversation.now)
    joint.passed(conversation.now + 0.02)
    assert len(joint.out.host_breaks) == 1
