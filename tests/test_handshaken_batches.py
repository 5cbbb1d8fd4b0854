"""Batches of a legacy host of 2025-03-26 with a modern child: translation E.3."""

import pytest

from asking import CREATE, SAMPLED
from conversation import meta, play
from handshakes import FIRST, INITIALIZED, again, asked, cancel, cancelled, opening, wants
from watching import RESOURCES, watched, watching

clause = pytest.mark.clause

OLD = opening(version="2025-03-26") + INITIALIZED
NO_BATCH = 'host < {"error":{"code":-32600,"message":"Batches are not part of this revision"}}'
BAD = '{"error":{"code":-32600,"message":"Invalid request"}}'
OPEN = '"error":{"code":-32600,"message":"A request with this id is still open"}'


def batch(*items: str) -> str:
    """Items as one line, each with what is left out of the lines of a table."""
    return "[" + ",".join('{"jsonrpc":"2.0",' + item[1:] for item in items) + "]"


def host_sends(*items: str) -> str:
    """The host writes a batch."""
    return f"host  > {batch(*items)}\n"


def host_gets(*items: str) -> str:
    """And gets one."""
    return f"host  < {batch(*items)}\n"


def asks(id: str, method: str = "tools/list") -> str:
    """A request, as an item."""
    return f'{{"id":{id},"method":"{method}"}}'


def to_child(child_id: int, method: str = "tools/list", envelope: str = "$META") -> str:
    """What the child gets of it."""
    return f'child < {{"id":{child_id},"method":"{method}","params":{{{envelope}}}}}\n'


def answer(child_id: int) -> str:
    """The child answers."""
    return f'child > {{"id":{child_id},"result":{{"resultType":"complete","tools":[]}}}}\n'


def got(id: str) -> str:
    """The host's answer, as an item."""
    return f'{{"id":{id},"result":{{"tools":[]}}}}'


PONG = '{"id":"p","result":{}}'
TWO = host_sends(asks("1"), asks('"b"')) + to_child(FIRST) + to_child(FIRST + 1)
"""Two requests in one line, at the child one by one."""


@pytest.mark.parametrize("version", ["2024-11-05", "2025-06-18", "2025-11-25"])
def test_other_revisions_have_no_batches(version: str) -> None:
    play(
        opening(version=version) + INITIALIZED,
        host_sends(asks("1"), asks("2")) + NO_BATCH,
        "host > []\n" + NO_BATCH,
    )


def test_a_batch_before_initialize_is_none() -> None:
    play(host_sends(asks("1"), asks("2")) + NO_BATCH, OLD)


@pytest.mark.parametrize("order", [(0, 1), (1, 0)])
def test_answers_come_together_when_the_last_is_there(order: tuple[int, int]) -> None:
    ids = ("1", '"b"')
    play(
        OLD,
        TWO,
        answer(FIRST + order[0]),
        # What belongs to no batch does not wait.
        'host > {"id":"p","method":"ping"}\nhost < {"id":"p","result":{}}',
        answer(FIRST + order[1]) + host_gets(*(got(ids[number]) for number in order)),
        answer(FIRST),
    )


def test_everything_may_be_in_it() -> None:
    junk = '[1,{"id":7},{"jsonrpc":"2.0","id":null,"method":"ping"},"text",null]'
    play(
        OLD,
        host_sends(
            asks('"p"', "ping"),
            '{"method":"notifications/com.example.x"}',
            '{"id":8,"method":"initialize","params":{}}',
            asks("1"),
            '{"id":2,"method":"logging/setLevel","params":{"level":"loud"}}',
            '{"id":"nothing","result":{}}',
            '{"id":3,"method":"tasks/list"}',
            '{"id":4}',
        )
        + 'child < {"method":"notifications/com.example.x"}\n'
        + to_child(FIRST),
        answer(FIRST)
        + host_gets(
            PONG,
            '{"id":8,"error":{"code":-32600,"message":"The session is initialized already"}}',
            '{"id":2,"error":{"code":-32602,"message":"Unknown log level"}}',
            '{"id":3,"error":{"code":-32601,"message":"tasks/list is not in this session",'
            '"data":{"method":"tasks/list"}}}',
            '{"id":4,"error":{"code":-32600,"message":"Invalid request"}}',
            got("1"),
        ),
        f"host > {junk}\n" + host_gets(BAD, BAD.replace("{", '{"id":7,', 1), BAD, BAD, BAD),
    )


@clause("C-08")
def test_notifications_alone_have_no_answer_and_neither_have_answers() -> None:
    play(
        OLD,
        host_sends('{"method":"notifications/com.example.x"}', '{"id":"b-9","result":{}}')
        + 'child < {"method":"notifications/com.example.x"}\n',
    )


def test_an_empty_batch_is_no_request() -> None:
    play(OLD, 'host > []\nhost < {"error":{"code":-32600,"message":"A batch holds something"}}')


def test_what_needs_no_child_is_answered_at_once() -> None:
    play(OLD, host_sends(asks('"p"', "ping")) + host_gets(PONG))


def test_two_batches_are_two() -> None:
    play(
        OLD,
        TWO,
        host_sends(asks("3"), asks('"p"', "ping")) + to_child(FIRST + 2),
        answer(FIRST),
        answer(FIRST + 2) + host_gets(PONG, got("3")),
        answer(FIRST + 1) + host_gets(got("1"), got('"b"')),
    )


def test_what_is_cancelled_is_not_waited_for() -> None:
    play(OLD, TWO, answer(FIRST), cancel('"b"') + cancelled(FIRST + 1) + host_gets(got("1")))
    play(
        OLD,
        TWO,
        cancel('"b"') + cancelled(FIRST + 1),
        answer(FIRST + 1),
        answer(FIRST) + host_gets(got("1")),
    )
    play(OLD, TWO, cancel('"b"') + cancelled(FIRST + 1), cancel("1") + cancelled(FIRST))


def test_a_cancellation_may_be_in_the_batch_itself() -> None:
    cancelled_there = '{"method":"notifications/cancelled","params":{"requestId":1}}'
    play(
        OLD,
        host_sends(asks("1"), cancelled_there, asks('"p"', "ping"))
        + to_child(FIRST)
        + cancelled(FIRST)
        + host_gets(PONG),
    )


def test_errors_are_answers_too() -> None:
    error = '"error":{"code":-32000,"message":"m"}'
    play(
        OLD,
        TWO,
        f'child > {{"id":{FIRST},{error}}}',
        f'child > {{"id":{FIRST + 1},"result":{{"resultType":"task"}}}}\n'
        + host_gets(
            f'{{"id":1,{error}}}',
            '{"id":"b","error":{"code":-32603,'
            '"message":"The server returned a result of the type task",'
            '"data":{"source":"mcp-bridge","reason":"invalid_result"}}}',
        ),
    )


def test_a_subscription_in_a_batch_waits_for_its_acknowledgement() -> None:
    play(
        opening(version="2025-03-26", offers=RESOURCES) + INITIALIZED,
        host_sends(
            '{"id":1,"method":"resources/subscribe","params":{"uri":"x:a"}}', asks('"p"', "ping")
        )
        + watching(FIRST, "x:a"),
        watched(FIRST, "x:a") + host_gets(PONG, '{"id":1,"result":{}}'),
    )


def test_questions_of_a_call_in_a_batch_are_put_at_once_and_answered_in_another() -> None:
    sampling = '{"sampling":{}}'
    play(
        opening(sampling, version="2025-03-26") + INITIALIZED,
        host_sends('{"id":1,"method":"tools/call","params":{"name":"t"}}', asks('"p"', "ping"))
        + f'child < {{"id":{FIRST},"method":"tools/call",'
        + f'"params":{{"name":"t",{meta(sampling)}}}}}',
        wants(FIRST, f'"k":{{{CREATE}}}') + asked("b-1", CREATE),
        host_sends(f'{{"id":"b-1","result":{SAMPLED}}}', asks('"q"', "ping"))
        + again(FIRST + 1, f'"k":{SAMPLED}', envelope=meta(sampling))
        + host_gets(PONG.replace("p", "q")),
        f'child > {{"id":{FIRST + 1},"result":{{"resultType":"complete","content":[]}}}}\n'
        + host_gets(PONG, '{"id":1,"result":{"content":[]}}'),
    )


def test_a_duplicate_in_a_batch_is_refused_there_and_the_first_goes_on() -> None:
    play(
        OLD,
        host_sends(asks("1"), asks("1")) + to_child(FIRST),
        answer(FIRST) + host_gets(f'{{"id":1,{OPEN}}}', got("1")),
    )


def test_a_duplicate_outside_of_it_is_refused_at_once() -> None:
    play(
        OLD,
        TWO,
        f'host > {{"id":1,"method":"ping"}}\nhost < {{"id":1,{OPEN}}}',
        answer(FIRST + 1),
        answer(FIRST) + host_gets(got('"b"'), got("1")),
    )


def test_a_request_outside_is_open_for_a_batch_too() -> None:
    play(
        OLD,
        f'host > {{"id":1,"method":"tools/list"}}\n{to_child(FIRST)}',
        host_sends(asks("1"), asks('"p"', "ping")) + host_gets(f'{{"id":1,{OPEN}}}', PONG),
        answer(FIRST) + 'host < {"id":1,"result":{"tools":[]}}',
    )


def test_an_array_in_an_array_is_no_request() -> None:
    play(OLD, f"host > [[],{batch(asks('1'))}]\n" + host_gets(BAD, BAD))


def test_bytes_that_are_no_text_spoil_one_item_only() -> None:
    play(
        OLD,
        'host ! [{"jsonrpc":"2.0","id":"p","method":"ping"},'
        '{"jsonrpc":"2.0","id":1,"method":"ping","params":{"a":"\\xff"}}]\n'
        + host_gets(PONG, '{"error":{"code":-32700,"message":"Parse error"}}'),
    )
