"""A host that speaks both eras to one legacy child: design D15, translation G.2."""

import pytest

from conversation import EVERYTHING, GREETED, OPENED, opened, play

CLIENT = '"clientInfo":{"name":"host","version":"2"}'
INITIALIZE = (
    '{"id":"i","method":"initialize","params":{"protocolVersion":"2025-11-25",'
    '"capabilities":$DECLARED,' + CLIENT + "}}"
)
CALLED = """
host  > {"id":1,"method":"tools/call","params":{"name":"t",$META}}
child < {"id":1,"method":"tools/call","params":{"name":"t"}}
"""
WELCOME = """
host  < {"id":"i","result":{"protocolVersion":"2025-11-25","capabilities":$OFFERS,
         "serverInfo":{"name":"old","version":"1"}}}
host  > {"method":"notifications/initialized"}
"""


def joined(
    capabilities: str = "{}", *, offers: str = '{"tools":{}}', declared: str | None = None
) -> str:
    """A modern host with a call under way, which then sends `initialize` all the same."""
    called = CALLED.replace("$META", "$FULL" if capabilities == EVERYTHING else "$META")
    hello = INITIALIZE.replace("$DECLARED", declared or capabilities)
    return (
        opened(capabilities, offers=offers)
        + called
        + f"host  > {hello}"
        + WELCOME.replace("$OFFERS", offers)
    )


def test_initialize_after_modern_requests_shares_the_session_and_they_go_on() -> None:
    play(
        joined(),
        """
host  > {"id":2,"method":"tools/list"}
child < {"id":2,"method":"tools/list"}
child > {"id":2,"result":{"tools":[]}}
host  < {"id":2,"result":{"tools":[]}}
child > {"id":1,"result":{"content":[]}}
host  < {"id":1,"result":{"content":[],$DONE}}
host  > {"id":3,"method":"ping"}
host  < {"id":3,"result":{}}
""",
    )


def test_initialize_behind_modern_requests_waits_with_them_for_the_session() -> None:
    hello = INITIALIZE.replace("$DECLARED", "{}")
    play(
        GREETED,
        'host  > {"id":1,"method":"tools/list","params":{$META}}',
        f"host  > {hello}",
        """
child > {"id":$HELLO,"result":{"protocolVersion":"2025-11-25","capabilities":{"tools":{}},
        "serverInfo":{"name":"old","version":"1"}}}
child < {"method":"notifications/initialized"}
child < {"id":1,"method":"tools/list"}
host  < {"id":"d","result":{"supportedVersions":["2026-07-28"],"capabilities":{"tools":{}},
         $LISTED}}
host  < {"id":"i","result":{"protocolVersion":"2025-11-25","capabilities":{"tools":{}},
         "serverInfo":{"name":"old","version":"1"}}}
child > {"id":1,"result":{"tools":[]}}
host  < {"id":1,"result":{"tools":[],$LISTED}}
""",
    )


def test_an_id_that_is_open_in_one_era_is_refused_in_the_other() -> None:
    play(
        joined(),
        """
host  > {"id":1,"method":"tools/list"}
host  < {"id":1,"error":{"code":-32600,"message":"A request with this id is still open"}}
host  > {"id":2,"method":"tools/list"}
child < {"id":2,"method":"tools/list"}
host  > {"id":2,"method":"tools/list","params":{$META}}
host  < {"id":2,"error":{"code":-32600,"message":"A request with this id is still open"}}
""",
    )


def test_a_second_initialize_is_refused() -> None:
    play(
        joined(),
        f"host  > {INITIALIZE.replace('$DECLARED', '{}')}",
        """
host  < {"id":"i","error":{"code":-32600,"message":"The session is initialized already"}}
""",
    )


def test_errors_and_progress_are_those_of_the_era_that_asked() -> None:
    play(
        joined(),
        """
host  > {"id":2,"method":"resources/read","params":{"uri":"x:y","_meta":{"progressToken":"p"}}}
child < {"id":2,"method":"resources/read","params":{"uri":"x:y","_meta":{"progressToken":2}}}
child > {"method":"notifications/progress","params":{"progressToken":2,"progress":1}}
host  < {"method":"notifications/progress","params":{"progressToken":"p","progress":1}}
child > {"id":2,"error":{"code":-32002,"message":"none"}}
host  < {"id":2,"error":{"code":-32002,"message":"none"}}
child > {"id":1,"error":{"code":-32002,"message":"none"}}
host  < {"id":1,"error":{"code":-32603,"message":"none","data":{"code":-32002}}}
""",
    )


@pytest.mark.parametrize("first", [1, 2])
def test_a_cancellation_is_for_the_request_that_it_names(first: int) -> None:
    play(
        joined(),
        f"""
host  > {{"id":2,"method":"tools/call","params":{{"name":"t"}}}}
child < {{"id":2,"method":"tools/call","params":{{"name":"t"}}}}
host  > {{"method":"notifications/cancelled","params":{{"requestId":{first}}}}}
child < {{"method":"notifications/cancelled","params":{{"requestId":{first}}}}}
child > {{"id":{first},"result":{{"content":[]}}}}
""",
    )


def test_a_question_goes_to_the_host_in_the_era_of_the_call_that_asked() -> None:
    play(
        joined(EVERYTHING),
        # The modern call is over, so the question is that of the other one.
        """
child > {"id":1,"result":{"content":[]}}
host  < {"id":1,"result":{"content":[],$DONE}}
host  > {"id":2,"method":"tools/call","params":{"name":"t"}}
child < {"id":2,"method":"tools/call","params":{"name":"t"}}
child > {"id":7,"method":"elicitation/create","params":{"message":"m","requestedSchema":{}}}
host  < {"id":"b-1","method":"elicitation/create","params":{"message":"m","requestedSchema":{}}}
host  > {"id":"b-1","result":{"action":"accept","content":{"a":1}}}
child < {"id":7,"result":{"action":"accept","content":{"a":1}}}
child > {"id":8,"method":"sampling/createMessage","params":{"messages":[],"maxTokens":1}}
host  < {"id":"b-2","method":"sampling/createMessage","params":{"messages":[],"maxTokens":1}}
host  > {"id":"b-2","error":{"code":-1,"message":"no","data":[1]}}
child < {"id":8,"error":{"code":-1,"message":"no","data":[1]}}
child > {"id":9,"method":"elicitation/create","params":{"message":"m","mode":"url","url":"x:y",
         "elicitationId":"e"}}
host  < {"id":"b-3","method":"elicitation/create","params":{"message":"m","mode":"url",
         "url":"x:y","elicitationId":"e"}}
child > {"method":"notifications/cancelled","params":{"requestId":9}}
host  < {"method":"notifications/cancelled","params":{"requestId":"b-3"}}
host  > {"id":"b-3","result":{"action":"accept"}}
child > {"method":"notifications/elicitation/complete","params":{"elicitationId":"e"}}
host  < {"method":"notifications/elicitation/complete","params":{"elicitationId":"e"}}
child > {"id":2,"result":{"content":[]}}
host  < {"id":2,"result":{"content":[]}}
""",
    )


def test_what_the_host_has_not_declared_in_the_one_era_it_is_not_asked_in_it() -> None:
    play(
        joined(EVERYTHING, declared="{}"),
        """
child > {"id":1,"result":{"content":[]}}
host  < {"id":1,"result":{"content":[],$DONE}}
host  > {"id":2,"method":"tools/call","params":{"name":"t"}}
child < {"id":2,"method":"tools/call","params":{"name":"t"}}
child > {"id":7,"method":"elicitation/create","params":{"message":"m","requestedSchema":{}}}
child < {"id":7,"error":{"code":-32601,"message":"The client has not declared elicitation.form"}}
""",
    )


LOGGING = '{"tools":{},"logging":{}}'


def test_the_log_level_is_the_most_verbose_of_both_eras_and_a_message_comes_once() -> None:
    debug = '"_meta":{$M,"io.modelcontextprotocol/logLevel":"debug"}'.replace(
        "$M",
        '"io.modelcontextprotocol/protocolVersion":"2026-07-28",'
        '"io.modelcontextprotocol/clientCapabilities":{}',
    )
    play(
        joined(offers=LOGGING),
        f"""
child > {{"method":"notifications/message","params":{{"level":"error","data":0}}}}
host  > {{"id":2,"method":"logging/setLevel","params":{{"level":"error"}}}}
child < {{"id":2,"method":"logging/setLevel","params":{{"level":"error"}}}}
host  < {{"id":2,"result":{{}}}}
child > {{"id":2,"result":{{}}}}
child > {{"method":"notifications/message","params":{{"level":"info","data":1}}}}
child > {{"method":"notifications/message","params":{{"level":"error","data":2}}}}
host  < {{"method":"notifications/message","params":{{"level":"error","data":2}}}}
host  > {{"id":3,"method":"tools/list","params":{{{debug}}}}}
child < {{"id":3,"method":"logging/setLevel","params":{{"level":"debug"}}}}
child > {{"id":3,"result":{{}}}}
child < {{"id":4,"method":"tools/list"}}
child > {{"method":"notifications/message","params":{{"level":"error","data":3}}}}
host  < {{"method":"notifications/message","params":{{"level":"error","data":3}}}}
child > {{"id":4,"result":{{"tools":[]}}}}
host  < {{"id":3,"result":{{"tools":[],$LISTED}}}}
""",
    )


RESOURCES = '{"resources":{"subscribe":true,"listChanged":true},"tools":{}}'


def test_changes_come_once_untagged_and_once_for_each_stream() -> None:
    play(
        joined(offers=RESOURCES),
        """
host  > {"id":"s","method":"subscriptions/listen","params":{"notifications":{
         "resourcesListChanged":true,"resourceSubscriptions":["x:a"]},$META}}
child < {"id":2,"method":"resources/subscribe","params":{"uri":"x:a"}}
child > {"id":2,"result":{}}
host  < {"method":"notifications/subscriptions/acknowledged","params":{"notifications":{
         "resourcesListChanged":true,"resourceSubscriptions":["x:a"]},
         "_meta":{"io.modelcontextprotocol/subscriptionId":"s"}}}
child > {"method":"notifications/resources/list_changed"}
host  < {"method":"notifications/resources/list_changed"}
host  < {"method":"notifications/resources/list_changed",
         "params":{"_meta":{"io.modelcontextprotocol/subscriptionId":"s"}}}
child > {"method":"notifications/resources/updated","params":{"uri":"x:a"}}
host  < {"method":"notifications/resources/updated","params":{"uri":"x:a",
         "_meta":{"io.modelcontextprotocol/subscriptionId":"s"}}}
host  > {"id":5,"method":"resources/subscribe","params":{"uri":"x:a"}}
host  < {"id":5,"result":{}}
child > {"method":"notifications/resources/updated","params":{"uri":"x:a"}}
host  < {"method":"notifications/resources/updated","params":{"uri":"x:a"}}
host  < {"method":"notifications/resources/updated","params":{"uri":"x:a",
         "_meta":{"io.modelcontextprotocol/subscriptionId":"s"}}}
host  > {"method":"notifications/cancelled","params":{"requestId":"s"}}
host  > {"id":6,"method":"resources/unsubscribe","params":{"uri":"x:a"}}
child < {"id":3,"method":"resources/unsubscribe","params":{"uri":"x:a"}}
host  < {"id":6,"result":{}}
child > {"id":3,"result":{}}
""",
    )


def test_a_subscription_that_the_child_refuses_is_refused() -> None:
    play(
        joined(offers=RESOURCES),
        """
host  > {"id":5,"method":"resources/subscribe","params":{"uri":"x:a"}}
child < {"id":2,"method":"resources/subscribe","params":{"uri":"x:a"}}
child > {"id":2,"error":{"code":-32002,"message":"none"}}
host  < {"id":5,"error":{"code":-32602,
         "message":"The server does not tell of changes of this resource","data":{"uri":"x:a"}}}
host  > {"id":6,"method":"resources/subscribe","params":{"uri":"x:b"}}
child < {"id":3,"method":"resources/subscribe","params":{"uri":"x:b"}}
host  > {"method":"notifications/cancelled","params":{"requestId":6}}
child > {"id":3,"result":{}}
child < {"id":4,"method":"resources/unsubscribe","params":{"uri":"x:b"}}
""",
    )


def test_the_end_of_the_child_fails_what_is_open_in_either_era_and_the_next_is_told_of_both() -> (
    None
):
    exited = '"code":-32603,"message":"The server exited with code 1","data":$DATA'.replace(
        "$DATA",
        '{"source":"mcp-bridge","reason":"child_exited","exitCode":1,"stderr":["last words"]}',
    )
    play(
        joined(offers='{"resources":{"subscribe":true},"logging":{},"tools":{}}'),
        f"""
host  > {{"id":5,"method":"resources/subscribe","params":{{"uri":"x:a"}}}}
child < {{"id":2,"method":"resources/subscribe","params":{{"uri":"x:a"}}}}
child > {{"id":2,"result":{{}}}}
host  < {{"id":5,"result":{{}}}}
host  > {{"id":6,"method":"logging/setLevel","params":{{"level":"info"}}}}
child < {{"id":3,"method":"logging/setLevel","params":{{"level":"info"}}}}
host  < {{"id":6,"result":{{}}}}
host  > {{"id":7,"method":"tools/call","params":{{"name":"t"}}}}
child < {{"id":4,"method":"tools/call","params":{{"name":"t"}}}}
host  > {{"id":8,"method":"resources/subscribe","params":{{"uri":"x:b"}}}}
child < {{"id":5,"method":"resources/subscribe","params":{{"uri":"x:b"}}}}
ended 1
host  < {{"id":8,"error":{{{exited}}}}}
host  < {{"id":1,"error":{{{exited}}}}}
host  < {{"id":7,"error":{{{exited}}}}}
host  > {{"id":9,"method":"tools/list"}}
start 2
child < {{"id":1002,"method":"server/discover","params":{{"_meta":{{
         "io.modelcontextprotocol/protocolVersion":"2026-07-28",
         "io.modelcontextprotocol/clientCapabilities":{{}}}}}}}}
child > {{"id":1002,"error":{{"code":-32601,"message":"?"}}}}
child < {{"id":1003,"method":"initialize","params":{{"protocolVersion":"2025-11-25",
         "capabilities":{{}},"clientInfo":{{"name":"bridge","version":"0"}}}}}}
child > {{"id":1003,"result":{{"protocolVersion":"2025-11-25","capabilities":{{"tools":{{}},
         "logging":{{}},"resources":{{"subscribe":true}}}},"serverInfo":{{"name":"old","version":"1"}}}}}}
child < {{"method":"notifications/initialized"}}
child < {{"id":1,"method":"logging/setLevel","params":{{"level":"info"}}}}
child < {{"id":2,"method":"resources/subscribe","params":{{"uri":"x:a"}}}}
child < {{"id":3,"method":"tools/list"}}
""",
    )


def test_a_change_of_roots_reaches_a_child_that_was_told_of_roots() -> None:
    play(
        joined(EVERYTHING, declared='{"roots":{"listChanged":true}}'),
        """
host  > {"method":"notifications/roots/list_changed"}
child < {"method":"notifications/roots/list_changed"}
""",
    )
    play(joined(), 'host > {"method":"notifications/roots/list_changed"}')


def test_an_answer_to_nothing_is_dropped() -> None:
    play(joined(), 'host > {"id":"b-1","result":{}}', 'host > {"id":9,"error":{"code":1}}')


def test_a_request_of_neither_era_is_taken_for_one_of_the_handshake() -> None:
    play(
        OPENED,
        """
host  > {"id":1,"method":"tools/list"}
host  < {"id":1,"error":{"code":-32602,
         "message":"Missing or malformed request metadata: _meta"}}
""",
    )
    play(joined(), 'host > {"id":5,"method":"x/y"}\nchild < {"id":2,"method":"x/y"}')
