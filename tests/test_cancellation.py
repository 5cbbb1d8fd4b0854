"""`notifications/cancelled` from a modern host to a legacy child: translation B.9."""

import pytest

from conversation import GREETED, OPENED, PROBED, play

clause = pytest.mark.clause

CALL = """
host  > {"id":"c","method":"tools/call","params":{"name":"t",$META}}
child < {"id":1,"method":"tools/call","params":{"name":"t"}}
"""


@clause("S-51", "S-82", "S-83")
@pytest.mark.parametrize("late", ['"result":{"content":[]}', '"error":{"code":0,"message":"m"}'])
def test_a_cancelled_call_is_cancelled_under_the_childs_id_and_never_answered(late: str) -> None:
    play(
        OPENED,
        CALL,
        f"""
host  > {{"method":"notifications/cancelled","params":{{"requestId":"c","reason":"user"}}}}
child < {{"method":"notifications/cancelled","params":{{"requestId":1,"reason":"user"}}}}
child > {{"method":"notifications/progress","params":{{"progressToken":1,"progress":1}}}}
child > {{"id":1,{late}}}
host  > {{"id":"c","method":"tools/list","params":{{$META}}}}
child < {{"id":2,"method":"tools/list"}}
child > {{"id":2,"result":{{"tools":[]}}}}
host  < {{"id":"c","result":{{"tools":[],$LISTED}}}}
""",
    )


@clause("S-52", "S-54")
def test_a_cancellation_that_comes_after_the_answer_is_ignored() -> None:
    play(
        OPENED,
        CALL,
        """
child > {"id":1,"result":{"content":[]}}
host  < {"id":"c","result":{"content":[],$DONE}}
host  > {"method":"notifications/cancelled","params":{"requestId":"c"}}
""",
    )


@clause("S-54")
@pytest.mark.parametrize(
    "params",
    [
        "",
        ',"params":{}',
        ',"params":{"requestId":null}',
        ',"params":{"requestId":["c"]}',
        ',"params":{"requestId":"unknown"}',
        ',"params":{"requestId":1}',
        ',"params":[]',
    ],
)
def test_a_cancellation_that_names_nothing_open_is_ignored(params: str) -> None:
    play(
        OPENED,
        CALL,
        f"""
host  > {{"method":"notifications/cancelled"{params}}}
child > {{"id":1,"result":{{"content":[]}}}}
host  < {{"id":"c","result":{{"content":[],$DONE}}}}
""",
    )


def test_the_envelope_of_a_cancellation_and_an_odd_reason_do_not_matter() -> None:
    play(
        OPENED,
        CALL,
        """
host  > {"method":"notifications/cancelled","params":{"requestId":"c","later":1,$META}}
child < {"method":"notifications/cancelled","params":{"requestId":1}}
""",
    )


def test_one_call_is_cancelled_and_the_other_goes_on() -> None:
    play(
        OPENED,
        CALL,
        """
host  > {"id":1,"method":"tools/call","params":{"name":"t",$META}}
child < {"id":2,"method":"tools/call","params":{"name":"t"}}
host  > {"method":"notifications/cancelled","params":{"requestId":1}}
child < {"method":"notifications/cancelled","params":{"requestId":2}}
child > {"id":1,"result":{"content":[]}}
host  < {"id":"c","result":{"content":[],$DONE}}
""",
    )


@clause("S-51")
def test_a_request_that_waits_for_the_session_is_forgotten_and_reaches_nobody() -> None:
    play(
        GREETED,
        """
host  > {"id":1,"method":"tools/call","params":{"name":"t",$META}}
host  > {"id":2,"method":"tools/list","params":{$META}}
host  > {"method":"notifications/cancelled","params":{"requestId":1}}
child > {"id":$HELLO,"result":{"protocolVersion":"2025-11-25","capabilities":{"tools":{}},
        "serverInfo":{"name":"old","version":"1"}}}
child < {"method":"notifications/initialized"}
child < {"id":1,"method":"tools/list"}
host  < {"id":"d","result":{"supportedVersions":["2026-07-28"],"capabilities":{"tools":{}},$LISTED}}
""",
    )


def test_a_cancelled_discover_is_not_answered_and_the_search_goes_on() -> None:
    play(
        PROBED,
        """
host  > {"method":"notifications/cancelled","params":{"requestId":"d"}}
child > {"id":$PROBE,"error":{"code":-32601,"message":"?"}}
child < {"id":$HELLO,"method":"initialize","params":{"protocolVersion":"2025-11-25",
         "capabilities":{},"clientInfo":{"name":"host","version":"2"}}}
child > {"id":$HELLO,"result":{"protocolVersion":"2025-11-25","capabilities":{}}}
child < {"method":"notifications/initialized"}
""",
    )


def test_a_cancelled_discover_is_not_answered_by_a_modern_child_either() -> None:
    play(
        PROBED,
        """
host  > {"method":"notifications/cancelled","params":{"requestId":"d"}}
host  > {"id":"e","method":"tools/list","params":{$META}}
child > {"id":$PROBE,"result":{"resultType":"complete","supportedVersions":["2026-07-28"]}}
child < {"id":"e","method":"tools/list","params":{$META}}
""",
    )
