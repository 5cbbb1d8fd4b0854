"""What a modern child answers, and what a legacy host makes of it: translation E.3, E.5, J.5."""

import pytest

from conversation import play
from handshakes import (
    ASKED_JOINED,
    FIRST,
    JOINED,
    again,
    asked,
    call,
    cancel,
    cancelled,
    done,
    failed,
    request,
    wants,
)

clause = pytest.mark.clause

ONE = request("1", FIRST, "tools/call", '"name":"t"')
"""A call under way."""
LIST = request("2", FIRST + 1, "tools/list")
LISTED = f"""
child > {{"id":{FIRST + 1},"result":{{"resultType":"complete","tools":[],"ttlMs":0,
        "cacheScope":"public"}}}}
host  < {{"id":2,"result":{{"tools":[]}}}}
"""


# Results and errors -----------------------------------------------------------------------------


@clause("C-05")
def test_a_result_without_a_type_is_complete() -> None:
    play(
        JOINED,
        ONE,
        f'child > {{"id":{FIRST},"result":{{"content":[]}}}}\n'
        'host  < {"id":1,"result":{"content":[]}}',
    )


@clause("C-04", "C-59")
@pytest.mark.parametrize("method", ["tools/call", "tools/list", "com.example/do"])
@pytest.mark.parametrize(
    ("kind", "message"),
    [
        ('"task"', "The server returned a result of the type task"),
        ('"later"', "The server returned a result of the type later"),
        ('""', "The server returned a result of the type "),
        ("null", "The server returned an invalid result"),
        ("7", "The server returned an invalid result"),
        ("{}", "The server returned an invalid result"),
    ],
)
def test_a_result_of_another_type_is_invalid(method: str, kind: str, message: str) -> None:
    play(
        JOINED,
        request("1", FIRST, method, '"name":"t"'),
        f'child > {{"id":{FIRST},"result":{{"resultType":{kind},"taskId":"a","content":[]}}}}\n'
        + failed("1", message, "invalid_result"),
        LIST,
        LISTED,
    )


@clause("C-04")
@pytest.mark.parametrize("result", ['"result":[]', '"result":null', '"result":"x"', '"x":1'])
def test_an_answer_without_an_object_is_invalid(result: str) -> None:
    play(
        JOINED,
        ONE,
        f'child > {{"id":{FIRST},{result}}}\n'
        + failed("1", "The server returned an invalid result", "invalid_result"),
    )


@clause("C-06")
@pytest.mark.parametrize(
    "error",
    [
        '{"code":-32000,"message":"server says","data":[1.50]}',
        '{"code":-32019,"message":"m"}',
        '{"code":-32601,"message":"m","later":1}',
        '{"code":-32021,"message":"m","data":{"requiredCapabilities":{"elicitation":{"url":{}}}}}',
        '{"code":-32042,"message":"m","data":{"elicitations":[]}}',
        '{"code":7,"message":""}',
    ],
)
def test_an_error_passes_as_it_is(error: str) -> None:
    play(
        JOINED, ONE, f'child > {{"id":{FIRST},"error":{error}}}\nhost < {{"id":1,"error":{error}}}'
    )


@clause("C-07")
@pytest.mark.parametrize("code", [-32602, -32002])
def test_a_resource_that_is_not_found_has_the_code_of_the_old_era(code: int) -> None:
    read = request("1", FIRST, "resources/read", '"uri":"x:y"')
    play(
        JOINED,
        read,
        f"""
child > {{"id":{FIRST},"error":{{"code":{code},"message":"gone","data":{{"uri":"x:y"}}}}}}
host  < {{"id":1,"error":{{"code":-32002,"message":"gone","data":{{"uri":"x:y"}}}}}}
""",
    )


def test_an_error_of_the_other_transport_is_an_internal_one() -> None:
    play(
        JOINED,
        ONE,
        f"""
child > {{"id":{FIRST},"error":{{"code":-32020,"message":"headers"}}}}
host  < {{"id":1,"error":{{"code":-32603,"message":"headers","data":{{"code":-32020}}}}}}
""",
    )


@pytest.mark.parametrize("error", ["null", '"text"', "{}", '{"code":"x","message":"m"}'])
def test_an_error_that_is_none_is_named(error: str) -> None:
    play(
        JOINED,
        ONE,
        f'child > {{"id":{FIRST},"error":{error}}}\n'
        + failed("1", "The server returned an invalid error", "invalid_error", f',"error":{error}'),
    )


REFUSED_VERSION = '{"code":-32022,"message":"m","data":{"supported":["2026-07-28"]}}'


@clause("C-17")
def test_a_version_that_is_refused_is_tried_once_more() -> None:
    play(
        ASKED_JOINED,
        call("1", FIRST),
        f'child > {{"id":{FIRST},"error":{REFUSED_VERSION}}}\n' + again(FIRST + 1, None, None),
        done(FIRST + 1, "1"),
    )


@clause("C-17")
def test_but_not_twice() -> None:
    play(
        ASKED_JOINED,
        call("1", FIRST),
        f'child > {{"id":{FIRST},"error":{REFUSED_VERSION}}}\n' + again(FIRST + 1, None, None),
        f'child > {{"id":{FIRST + 1},"error":{REFUSED_VERSION}}}\n'
        + failed(
            "1",
            "The server refuses 2026-07-28 and names it as supported",
            "no_common_version",
            ',"supported":["2026-07-28"]',
        ),
        # Another call is another matter.
        call("1", FIRST + 2),
        f'child > {{"id":{FIRST + 2},"error":{REFUSED_VERSION}}}\n' + again(FIRST + 3, None, None),
    )


@clause("C-17")
@pytest.mark.parametrize(
    ("supported", "named"),
    [('["2099-01-01"]', "2099-01-01"), ("[]", "no version that it names"), ('["2025-11-25"]', "")],
)
def test_a_child_that_speaks_none_of_our_versions_is_named(supported: str, named: str) -> None:
    named = named or "2025-11-25"
    error = f'{{"code":-32022,"message":"m","data":{{"supported":{supported}}}}}'
    play(
        JOINED,
        ONE,
        f'child > {{"id":{FIRST},"error":{error}}}\n'
        + failed(
            "1",
            f"The server speaks {named}; this bridge speaks 2026-07-28",
            "no_common_version",
            f',"supported":{supported}',
        ),
    )


@clause("C-17")
def test_a_leg_whose_version_is_refused_is_made_again_with_its_answers() -> None:
    play(
        ASKED_JOINED,
        call("1", FIRST),
        wants(FIRST, '"r":{"method":"roots/list","params":{}}')
        + asked("b-1", '"method":"roots/list","params":{}'),
        'host > {"id":"b-1","result":{"roots":[]}}\n' + again(FIRST + 1, '"r":{"roots":[]}'),
        f'child > {{"id":{FIRST + 1},"error":{REFUSED_VERSION}}}\n'
        + again(FIRST + 2, '"r":{"roots":[]}'),
        done(FIRST + 2, "1"),
    )


# Cancellation -----------------------------------------------------------------------------------


@clause("C-20", "C-21", "C-23")
@pytest.mark.parametrize(
    "late",
    [
        '"result":{"resultType":"complete","content":[]}',
        '"error":{"code":1,"message":"m"}',
        '"result":{"resultType":"input_required","requestState":"s"}',
    ],
)
def test_a_cancelled_call_is_never_answered_and_its_id_is_free(late: str) -> None:
    play(
        JOINED,
        ONE,
        f"""
host  > {{"method":"notifications/cancelled","params":{{"requestId":1,"reason":"user"}}}}
child < {{"method":"notifications/cancelled","params":{{"requestId":{FIRST},"reason":"user"}}}}
child > {{"method":"notifications/progress","params":{{"progressToken":{FIRST},"progress":1}}}}
""",
        request("1", FIRST + 1, "tools/list"),
        f'child > {{"id":{FIRST},{late}}}',
        f'child > {{"id":{FIRST},{late}}}',
        f'child > {{"id":{FIRST + 1},"result":{{"tools":[]}}}}\n'
        'host  < {"id":1,"result":{"tools":[]}}',
    )


@clause("C-22", "C-25")
@pytest.mark.parametrize("id", ["1", '"1"', "9", "null", "0", str(FIRST), '"b-1"'])
def test_a_cancellation_that_names_nothing_open_reaches_nobody(id: str) -> None:
    play(JOINED, ONE, done(FIRST, "1"), cancel(id), *([] if id == "1" else [LIST + cancel(id)]))


def test_an_answer_counts_once_and_however_its_id_is_spelt() -> None:
    play(
        JOINED,
        ONE,
        f'child > {{"id":"{FIRST}","result":{{"content":[]}}}}\n'
        'host  < {"id":1,"result":{"content":[]}}',
        f'child > {{"id":{FIRST},"result":{{"content":[]}}}}',
        f'child > {{"id":{FIRST + 9},"result":{{"content":[]}}}}',
        'child > {"id":1,"result":{"content":[]}}',
        'child > {"id":null,"error":{"code":1,"message":"m"}}',
    )


@clause("C-03")
def test_requests_are_served_at_once_and_in_any_order() -> None:
    play(
        JOINED,
        ONE,
        LIST,
        LISTED,
        # The same number is another id as text.
        request('"1"', FIRST + 2, "tools/call", '"name":"u"'),
        cancel('"1"') + cancelled(FIRST + 2),
        done(FIRST, "1"),
    )


@pytest.mark.parametrize("method", ["tools/call", "ping", "logging/setLevel"])
def test_an_id_that_is_open_is_refused_and_the_first_goes_on(method: str) -> None:
    play(
        JOINED,
        ONE,
        f'host > {{"id":1,"method":"{method}","params":{{"level":"info","name":"u"}}}}\n'
        'host < {"id":1,"error":{"code":-32600,"message":"A request with this id is still open"}}',
        done(FIRST, "1"),
    )
