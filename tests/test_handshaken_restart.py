"""A legacy host outlives its modern child: translation E.4, F, G; design D2, D10."""

import pytest

from conversation import play

CAPABILITIES = '{"tools":{"listChanged":true},"resources":{"subscribe":true},"logging":{}}'
DISCOVERED = (
    '"resultType":"complete","supportedVersions":["2026-07-28"],"capabilities":'
    + CAPABILITIES
    + ',"ttlMs":0,"cacheScope":"private"'
)
PARAMS = (
    '{"protocolVersion":"2025-11-25","capabilities":{"elicitation":{}},'
    '"clientInfo":{"name":"h","version":"1"}}'
)
INITIALIZE = f'{{"id":"i","method":"initialize","params":{PARAMS}}}'
ENVELOPE = (
    '"io.modelcontextprotocol/protocolVersion":"2026-07-28",'
    '"io.modelcontextprotocol/clientInfo":{"name":"h","version":"1"},'
    '"io.modelcontextprotocol/clientCapabilities":{"elicitation":{}}'
)
META = f'"_meta":{{{ENVELOPE}}}'
LEVELLED = f'"_meta":{{{ENVELOPE},"io.modelcontextprotocol/logLevel":"error"}}'
AGREED = (
    f'{{"protocolVersion":"2025-11-25","capabilities":{CAPABILITIES},'
    '"serverInfo":{"name":"server","version":"unknown"}}'
)


def probe(id: int) -> str:
    """We ask the child for its modern era."""
    return f'child < {{"id":{id},"method":"server/discover","params":{{{META}}}}}\n'


def listens(id: int, *, uris: str | None = None) -> str:
    """We listen for changes."""
    wanted = '"toolsListChanged":true' if uris is None else f'"resourceSubscriptions":{uris}'
    return (
        f'child < {{"id":{id},"method":"subscriptions/listen",'
        f'"params":{{"notifications":{{{wanted}}},{META}}}}}\n'
    )


def acknowledged(id: int, honoured: str) -> str:
    """The child will tell of changes."""
    return (
        'child > {"method":"notifications/subscriptions/acknowledged","params":{"_meta":'
        f'{{"io.modelcontextprotocol/subscriptionId":{id}}},"notifications":{{{honoured}}}}}}}\n'
    )


JOINED = (
    f"host > {INITIALIZE}\nchild < {INITIALIZE}\n"
    + 'child > {"id":"i","error":{"code":-32601,"message":"?"}}\n'
    + probe(1000)
    + f'child > {{"id":1000,"result":{{{DISCOVERED}}}}}\nhost < {{"id":"i","result":{AGREED}}}\n'
    + 'host > {"method":"notifications/initialized"}\n'
    + listens(1001)
    + acknowledged(1001, '"toolsListChanged":true')
)
"""A legacy host joined to a modern child, which tells of changes of its tools."""

CALLED = f"""
host  > {{"id":1,"method":"tools/call","params":{{"name":"t"}}}}
child < {{"id":1002,"method":"tools/call","params":{{"name":"t",{META}}}}}
"""


def failed(id: int = 1, code: int = 3) -> str:
    """A request fails with the end of the child."""
    return (
        f'host < {{"id":{id},"error":{{"code":-32603,'
        f'"message":"The server exited with code {code}",'
        f'"data":{{"source":"mcp-bridge","reason":"child_exited","exitCode":{code},'
        '"stderr":["last words"]}}}\n'
    )


INITIALIZED = 'child < {"method":"notifications/initialized"}\n'
NEWS = 'host < {"method":"notifications/tools/list_changed"}\n'


@pytest.mark.clause("C-34", "C-39")
def test_a_child_that_ends_is_started_again_and_the_session_goes_on() -> None:
    play(
        JOINED,
        CALLED,
        "ended 3\n" + failed() + "start 2\n" + probe(1003),
        'host > {"id":2,"method":"tools/list"}',
        f'child > {{"id":1003,"result":{{{DISCOVERED}}}}}\n' + listens(1004),
        f'child < {{"id":1005,"method":"tools/list","params":{{{META}}}}}',
        acknowledged(1004, '"toolsListChanged":true') + NEWS,
        """
child > {"id":1005,"result":{"resultType":"complete","tools":[],"ttlMs":0,"cacheScope":"public"}}
host  < {"id":2,"result":{"tools":[]}}
""",
    )


def test_the_log_level_and_the_subscriptions_outlive_the_child() -> None:
    play(
        JOINED,
        """
host  > {"id":1,"method":"logging/setLevel","params":{"level":"error"}}
host  < {"id":1,"result":{}}
host  > {"id":2,"method":"resources/subscribe","params":{"uri":"x:a"}}
""",
        listens(1002, uris='["x:a"]'),
        acknowledged(1002, '"resourceSubscriptions":["x:a"]') + 'host < {"id":2,"result":{}}',
        "ended 3\nstart 2\n" + probe(1003),
        f'child > {{"id":1003,"result":{{{DISCOVERED}}}}}\n'
        + listens(1004)
        + listens(1005, uris='["x:a"]'),
        acknowledged(1005, '"resourceSubscriptions":["x:a"]')
        + 'host < {"method":"notifications/resources/updated","params":{"uri":"x:a"}}',
        f"""
host  > {{"id":3,"method":"tools/list"}}
child < {{"id":1006,"method":"tools/list","params":{{{LEVELLED}}}}}
""",
    )


def test_the_questions_of_a_child_that_ends_are_withdrawn_and_late_answers_dropped() -> None:
    asks = (
        '{"resultType":"input_required","inputRequests":{"q":{"method":"elicitation/create",'
        '"params":{"message":"m","mode":"form","requestedSchema":{"type":"object",'
        '"properties":{}}}}}}'
    )
    play(
        JOINED,
        CALLED,
        f"""
child > {{"id":1002,"result":{asks}}}
host  < {{"id":"b-1","method":"elicitation/create","params":{{"message":"m","mode":"form",
         "requestedSchema":{{"type":"object","properties":{{}}}}}}}}
ended 3
host  < {{"method":"notifications/cancelled","params":{{"requestId":"b-1"}}}}
"""
        + failed()
        + "start 2\n"
        + probe(1003),
        'host > {"id":"b-1","result":{"action":"accept"}}',
        f'child > {{"id":1003,"result":{{{DISCOVERED}}}}}\n' + listens(1004),
    )


def test_a_subscription_that_waits_fails_with_the_child() -> None:
    play(
        JOINED,
        'host > {"id":2,"method":"resources/subscribe","params":{"uri":"x:a"}}\n'
        + listens(1002, uris='["x:a"]'),
        "ended 3\n" + failed(2) + "start 2\n" + probe(1003),
        f'child > {{"id":1003,"result":{{{DISCOVERED}}}}}\n' + listens(1004),
    )


def test_a_child_that_is_of_the_handshake_era_now_goes_on_with_the_session() -> None:
    play(
        JOINED,
        'host > {"id":1,"method":"logging/setLevel","params":{"level":"error"}}\n'
        'host < {"id":1,"result":{}}',
        "ended 3\nstart 2\n" + probe(1002),
        'host > {"id":2,"method":"tools/list"}',
        'child > {"id":1002,"error":{"code":-32601,"message":"?"}}\n'
        f'child < {{"id":1003,"method":"initialize","params":{PARAMS}}}',
        f"""
child > {{"id":1003,"result":{AGREED}}}
child < {{"method":"notifications/initialized"}}
child < {{"id":1004,"method":"logging/setLevel","params":{{"level":"error"}}}}
child < {{"id":2,"method":"tools/list"}}
"""
        + NEWS,
        """
child > {"id":1004,"result":{}}
child > {"id":2,"result":{"tools":[],"x":1.50}}
host  < {"id":2,"result":{"tools":[],"x":1.50}}
""",
        # And back again, for the last one was the legacy one.
        f'ended 3\nchild < {{"id":1005,"method":"initialize","params":{PARAMS}}}',
        "after 0.5\nstart 3",
        'child > {"id":1005,"error":{"code":-32601,"message":"?"}}\n' + probe(1006),
        f'child > {{"id":1006,"result":{{{DISCOVERED}}}}}\n' + listens(1007),
    )


def test_a_child_that_exits_on_the_probe_is_asked_for_the_handshake_next() -> None:
    play(
        JOINED,
        "ended 3\nstart 2\n" + probe(1002),
        f'ended 3\nchild < {{"id":1003,"method":"initialize","params":{PARAMS}}}',
        "after 0.5\nstart 3",
        f'child > {{"id":1003,"result":{AGREED}}}\n' + INITIALIZED + NEWS,
    )


def test_a_child_that_is_silent_on_the_probe_is_asked_for_the_handshake_too() -> None:
    silent = (
        JOINED,
        "ended 3\nstart 2\n" + probe(1002),
        f'after 5\nchild < {{"id":1003,"method":"initialize","params":{PARAMS}}}',
    )
    late = f'child > {{"id":1002,"result":{{{DISCOVERED}}}}}\n'
    refusal = 'child > {"id":1003,"error":{"code":-32022,"message":"?"}}\n'
    # What it says to `initialize` decides.
    play(*silent, late, refusal + listens(1004))
    play(
        *silent,
        late,
        f'child > {{"id":1003,"result":{AGREED}}}\n' + INITIALIZED + NEWS,
    )


def test_a_slow_child_that_ends_on_the_handshake_is_given_time_for_the_probe() -> None:
    play(
        JOINED,
        "ended 3\nstart 2\n" + probe(1002),
        f'after 5\nchild < {{"id":1003,"method":"initialize","params":{PARAMS}}}',
        f'child > {{"id":1002,"result":{{{DISCOVERED}}}}}',
        "ended 3\n" + probe(1004),
        "after 0.5\nstart 3",
        "after 50",
        f'child > {{"id":1004,"result":{{{DISCOVERED}}}}}\n' + listens(1005),
    )


def test_a_child_that_offers_less_than_the_host_was_told_ends_the_session() -> None:
    less = DISCOVERED.replace('"logging":{}', '"prompts":{}')
    play(
        JOINED,
        "ended 3\nstart 2\n" + probe(1002),
        'host > {"id":2,"method":"tools/list"}',
        f"""
child > {{"id":1002,"result":{{{less}}}}}
host  < {{"id":2,"error":{{"code":-32603,"message":"The server was started again and does not offer
 any more what the session was opened with",
         "data":{{"source":"mcp-bridge","reason":"session_changed"}}}}}}
finish 1
""".replace("\n any", " any"),
    )


def test_a_child_that_takes_up_a_session_after_all_is_started_again_for_it() -> None:
    """It was slow: both were answered, `initialize` last (design D2)."""
    slow = f"host > {INITIALIZE}\nchild < {INITIALIZE}\nafter 5\n" + probe(1000)
    play(
        slow,
        f'child > {{"id":1000,"result":{{{DISCOVERED}}}}}',
        f'after 5\nhost < {{"id":"i","result":{AGREED}}}',
        CALLED.replace("1002", "1001"),
        f"""
child > {{"id":"i","result":{AGREED}}}
host  < {{"id":1,"error":{{"code":-32603,"message":"The server is started again: it turned out to
 speak the handshake era","data":{{"source":"mcp-bridge","reason":"era_changed"}}}}}}
start 2
child < {{"id":1002,"method":"initialize","params":{PARAMS}}}
""".replace("\n speak", " speak"),
        f'child > {{"id":1002,"result":{AGREED}}}',
    )


def test_after_the_end_of_the_host_nothing_is_started_again() -> None:
    play(JOINED, CALLED, "eof", "ended 3\n" + failed() + "finish 3")


def test_a_child_that_keeps_ending_is_started_again_with_a_request_only() -> None:
    conversation = play(JOINED, "ended 3\nstart 2\n" + probe(1002))
    conversation.play(f'ended 3\nchild < {{"id":1003,"method":"initialize","params":{PARAMS}}}')
    conversation.play("after 0.5\nstart 3\nended 3\n" + probe(1004))
    conversation.play(
        f'after 1\nstart 4\nended 3\nchild < {{"id":1005,"method":"initialize","params":{PARAMS}}}'
    )
    conversation.play("after 2\nstart 5\nended 3\n" + probe(1006))
    conversation.play("after 4\nstart 6\nended 3")
    conversation.play('host > {"id":9,"method":"ping"}\n' + failed(9))
    conversation.play("after 60")
