"""Calls of a legacy host on a modern child: translation E.1 to E.3, E.5, J.5."""

import pytest

from conversation import EVERYTHING, meta, play
from handshakes import (
    ASKABLE,
    FIRST,
    JOINED,
    done,
    opening,
    request,
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
NO_METHOD = '"error":{"code":-32601,"message":"%s is not in this session","data":{"method":"%s"}}'


# The session ------------------------------------------------------------------------------------


def test_ping_is_answered_here_before_and_after_initialize() -> None:
    ping = 'host > {"id":"p","method":"ping"}\nhost < {"id":"p","result":{}}\n'
    play(ping, opening(), ping, 'host > {"method":"notifications/initialized"}', ping)


def test_requests_before_initialize_are_refused() -> None:
    play(
        """
host  > {"id":1,"method":"tools/list"}
host  < {"id":1,"error":{"code":-32602,
         "message":"Send the _meta of 2026-07-28 with every request, or initialize first"}}
""",
        JOINED,
    )


def test_a_second_initialize_is_refused_and_changes_nothing() -> None:
    play(
        JOINED,
        """
host  > {"id":9,"method":"initialize","params":{"protocolVersion":"2024-11-05","capabilities":{},
        "clientInfo":{"name":"other","version":"3"}}}
host  < {"id":9,"error":{"code":-32600,"message":"The session is initialized already"}}
""",
        ONE,
        done(FIRST, "1"),
    )


def test_a_second_initialized_and_what_a_modern_child_has_no_use_for_is_dropped() -> None:
    play(
        JOINED,
        """
host  > {"method":"notifications/initialized"}
host  > {"method":"notifications/roots/list_changed"}
host  > {"method":"notifications/progress","params":{"progressToken":1,"progress":1}}
host  > {"method":"notifications/tasks/status","params":{"taskId":"t","status":"working"}}
host  > {"method":"notifications/com.example.thing","params":{"a":[1.50]}}
child < {"method":"notifications/com.example.thing","params":{"a":[1.50]}}
host  > {"id":"nothing","result":{}}
host  > {"id":"nothing","error":{"code":1,"message":"m"}}
""",
    )


@pytest.mark.parametrize(
    "method",
    [
        "tasks/get",
        "tasks/result",
        "tasks/list",
        "tasks/cancel",
        "tasks/update",
        "server/discover",
        "subscriptions/listen",
        "sampling/createMessage",
        "elicitation/create",
        "roots/list",
    ],
)
def test_what_is_not_declared_or_goes_the_wrong_way_is_not_found(method: str) -> None:
    play(
        JOINED,
        f'host > {{"id":1,"method":"{method}","params":{{}}}}\n'
        f'host < {{"id":1,{NO_METHOD % (method, method)}}}',
    )


@pytest.mark.parametrize("params", ["[]", "7", '"text"', "true"])
def test_params_that_are_no_object_are_refused(params: str) -> None:
    play(
        JOINED,
        f'host > {{"id":1,"method":"tools/list","params":{params}}}\n'
        'host < {"id":1,"error":{"code":-32602,"message":"Invalid params: not an object"}}',
    )


# The envelope -----------------------------------------------------------------------------------


@clause("C-01", "C-02", "C-13", "C-14", "C-35")
@pytest.mark.parametrize(
    ("method", "params", "result"),
    [
        ("tools/list", "", '"tools":[]'),
        ("tools/list", '"cursor":""', '"tools":[],"nextCursor":""'),
        ("tools/call", '"name":"t","arguments":{"a":[1.50],"é":null}', '"content":[]'),
        ("prompts/list", "", '"prompts":[]'),
        ("prompts/get", '"name":"p","arguments":{"a":"b"}', '"messages":[]'),
        ("resources/list", '"cursor":"c"', '"resources":[],"nextCursor":"d"'),
        ("resources/templates/list", "", '"resourceTemplates":[]'),
        ("resources/read", '"uri":"x:y"', '"contents":[]'),
        (
            "completion/complete",
            '"ref":{"type":"ref/prompt","name":"p"},"argument":{"name":"a","value":""}',
            '"completion":{"values":[]}',
        ),
        ("com.example/do", '"a":1', '"b":[1.50]'),
    ],
)
@pytest.mark.parametrize("id", ["1", '"1"', "0", '"é"', "12345678901234567890"])
def test_a_request_gets_its_envelope_and_its_answer_the_id_of_the_host(
    id: str, method: str, params: str, result: str
) -> None:
    play(
        JOINED,
        request(id, FIRST, method, params),
        f"""
child > {{"id":{FIRST},"result":{{"resultType":"complete",{result},"ttlMs":5,"cacheScope":"public",
        "_meta":{{"io.modelcontextprotocol/serverInfo":{{"name":"old","version":"1"}}}}}}}}
host  < {{"id":{id},"result":{{{result}}}}}
""",
    )


@clause("C-12", "C-13")
def test_keys_of_others_stay_and_an_envelope_of_the_hosts_own_is_replaced() -> None:
    # Without protocolVersion it is no request of the other era.
    play(
        JOINED,
        f"""
host  > {{"id":1,"method":"tools/call","params":{{"name":"t","_meta":{{"com.example/a":[1.50],
        "traceparent":"0-1","progressToken":"p",
        "io.modelcontextprotocol/clientInfo":{{"name":"x","version":"9"}},
        "io.modelcontextprotocol/clientCapabilities":{{"sampling":{{}}}},
        "io.modelcontextprotocol/logLevel":"debug",
        "io.modelcontextprotocol/related-task":{{"taskId":"t"}}}}}}}}
child < {{"id":{FIRST},"method":"tools/call","params":{{"name":"t",
         {meta("{}", f'"progressToken":{FIRST},"com.example/a":[1.50],"traceparent":"0-1"')}}}}}
""",
        done(FIRST, "1"),
    )


@pytest.mark.parametrize("bad", ["7", "[]", "null", '"text"'])
def test_a_meta_that_is_no_object_is_replaced(bad: str) -> None:
    play(
        JOINED,
        f'host > {{"id":1,"method":"tools/list","params":{{"_meta":{bad}}}}}\n'
        f'child < {{"id":{FIRST},"method":"tools/list","params":{{$META}}}}',
    )


@clause("C-29")
def test_what_means_something_else_to_a_modern_child_is_taken_out() -> None:
    # J.5: a receiver without tasks processes a task-augmented request as any other.
    play(
        JOINED,
        f"""
host  > {{"id":1,"method":"tools/call","params":{{"name":"t","task":{{"ttl":1}},
        "inputResponses":{{"k":{{}}}},"requestState":"s"}}}}
child < {{"id":{FIRST},"method":"tools/call","params":{{"name":"t",$META}}}}
""",
        done(FIRST, "1"),
    )


@clause("C-18", "C-51", "C-55", "C-57")
@pytest.mark.parametrize(
    ("declared", "told"),
    [
        ('{"roots":{"listChanged":true}}', '{"roots":{}}'),
        ('{"sampling":{"tools":{},"context":{}}}', '{"sampling":{"tools":{},"context":{}}}'),
        ('{"elicitation":{"form":{},"url":{}}}', '{"elicitation":{"form":{},"url":{}}}'),
        ('{"elicitation":{}}', '{"elicitation":{}}'),
        (
            '{"experimental":{"x":{}},"tasks":{"list":{}},"later":7,'
            '"extensions":{"a/b":{},"io.modelcontextprotocol/tasks":{}}}',
            '{"experimental":{"x":{}},"later":7,"extensions":{"a/b":{}}}',
        ),
    ],
)
def test_the_child_is_told_what_the_host_can_do_in_its_own_words(declared: str, told: str) -> None:
    play(
        opening(declared, told=told),
        request("1", FIRST, "tools/call", '"name":"t"', meta(told)),
        done(FIRST, "1"),
    )


@clause("C-14")
@pytest.mark.parametrize("info", ["null", '{"name":"x"}', '{"name":1,"version":"1"}', "[]"])
def test_a_host_that_does_not_say_who_it_is_is_not_named(info: str) -> None:
    initialize = (
        '{"id":0,"method":"initialize","params":{"protocolVersion":"2025-11-25",'
        f'"capabilities":{{}},"clientInfo":{info}}}}}'
    )
    nameless = (
        '"_meta":{"io.modelcontextprotocol/protocolVersion":"2026-07-28",'
        '"io.modelcontextprotocol/clientCapabilities":{}}'
    )
    _, refused, rest = opening().partition("child > ")
    play(
        f"host > {initialize}\nchild < {initialize}\n",
        refused + rest.replace(meta("{}"), nameless),
        request("1", FIRST, "tools/list", envelope=nameless),
    )


# Log levels -------------------------------------------------------------------------------------


def level(id: str, name: str) -> str:
    """The host sets a level."""
    return (
        f'host  > {{"id":{id},"method":"logging/setLevel","params":{{"level":"{name}"}}}}\n'
        f'host  < {{"id":{id},"result":{{}}}}\n'
    )


def at(name: str, capabilities: str = "{}") -> str:
    """The envelope with a level."""
    return meta(capabilities, f'"io.modelcontextprotocol/logLevel":"{name}"')


def test_requests_carry_the_level_that_was_set_last() -> None:
    play(
        JOINED,
        request("1", FIRST, "tools/list"),
        level("2", "debug"),
        request("3", FIRST + 1, "tools/list", envelope=at("debug")),
        level("4", "emergency"),
        request("5", FIRST + 2, "tools/list", envelope=at("emergency")),
    )


@pytest.mark.parametrize("params", ["{}", '{"level":"loud"}', '{"level":7}', '{"level":null}'])
def test_a_level_that_is_none_is_refused(params: str) -> None:
    play(
        JOINED,
        f'host > {{"id":1,"method":"logging/setLevel","params":{params}}}\n'
        'host < {"id":1,"error":{"code":-32602,"message":"Unknown log level"}}',
        request("2", FIRST, "tools/list"),
    )


def test_log_messages_pass_as_they_are() -> None:
    message = (
        '{"method":"notifications/message","params":{"level":"info","data":[1.50],"logger":"l"}}'
    )
    play(JOINED, ONE, f"child > {message}\nhost < {message}", done(FIRST, "1"))


# Progress ---------------------------------------------------------------------------------------


def progress(token: str, value: str, more: str = "") -> str:
    """Params of a progress notification, as a line's end."""
    return (
        '{"method":"notifications/progress",'
        f'"params":{{"progressToken":{token},"progress":{value}{more}}}}}'
    )


@clause("C-30", "C-31")
@pytest.mark.parametrize("token", ['"tok"', "7", "0", '"7"', str(FIRST)])
def test_progress_comes_back_under_the_token_of_the_host(token: str) -> None:
    play(
        JOINED,
        f"""
host  > {{"id":1,"method":"tools/call","params":{{"name":"t","_meta":{{"progressToken":{token}}}}}}}
child < {{"id":{FIRST},"method":"tools/call",
         "params":{{"name":"t",{meta("{}", f'"progressToken":{FIRST}')}}}}}
""",
        *(
            f"child > {progress(str(FIRST), *values)}\nhost < {progress(token, *values)}"
            for values in [("0.5", ""), ("1.50", ',"total":3,"message":"é","x":1'), ("2", "")]
        ),
        # Not further, of nobody, malformed, in another spelling.
        f"child > {progress(str(FIRST), '2')}",
        f"child > {progress(str(FIRST), '1')}",
        f"child > {progress(str(FIRST + 1), '9')}",
        f"child > {progress(str(FIRST), 'null')}",
        'child > {"method":"notifications/progress"}',
        done(FIRST, "1"),
        f"child > {progress(str(FIRST), '3')}",
    )


@pytest.mark.parametrize("token", ["null", "true", "1.5", "[]"])
def test_a_progress_token_that_is_none_asks_for_nothing(token: str) -> None:
    play(
        JOINED,
        f'host > {{"id":1,"method":"tools/call",'
        f'"params":{{"name":"t","_meta":{{"progressToken":{token}}}}}}}\n'
        f'child < {{"id":{FIRST},"method":"tools/call","params":{{"name":"t",$META}}}}',
        f"child > {progress(str(FIRST), '1')}",
        done(FIRST, "1"),
    )


def test_a_host_that_can_be_asked_anything_says_so_with_every_request() -> None:
    envelope = meta(EVERYTHING)
    play(opening(ASKABLE), request("1", FIRST, "tools/list", envelope=envelope))
