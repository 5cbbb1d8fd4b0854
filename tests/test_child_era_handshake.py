"""The answer to `initialize`, and answers that come late: translation G.3, design D2."""

import pytest

from conversation import DISCOVERED, GREETED, PROBED, meta, play
from eras import HELLO, LATE, MODERN_RESULT, REFUSED, SETTLES_LEGACY, STAYS_MODERN


@pytest.mark.parametrize("id", ['"id":$PROBE,', '"id":null,', ""])
def test_a_late_error_for_the_probe_changes_nothing(id: str) -> None:
    play(
        LATE,
        f'child > {{{id}"error":{{"code":-32601,"message":"late"}}}}',
        SETTLES_LEGACY + DISCOVERED + "keep silent",
        'child > {"id":$PROBE,"error":{"code":-32601,"message":"later"}}',
    )


def test_a_late_discover_result_waits_for_the_answer_to_initialize() -> None:
    late = f'child > {{"id":$PROBE,"result":{MODERN_RESULT}}}'
    relayed = f'\nhost < {{"id":"d","result":{MODERN_RESULT}}}'
    # An InitializeResult: legacy for good.
    play(LATE, late, SETTLES_LEGACY + DISCOVERED + "keep silent")
    # An error, whatever it says: modern.
    play(
        LATE,
        late,
        'child > {"id":$HELLO,"error":{"code":-32600,"message":"no handshake"}}' + relayed,
        STAYS_MODERN,
    )
    # Silence for another 5 s: modern.
    play(LATE, late, "after 4.9", "after 0.2" + relayed, STAYS_MODERN)


def test_a_child_that_exits_on_initialize_after_a_late_discover_result_is_modern() -> None:
    play(
        LATE,
        f'child > {{"id":$PROBE,"result":{MODERN_RESULT}}}',
        """
ended 1
start 2
child < {"id":$PROBE2,"method":"server/discover","params":{$META}}
""",
        f"""
child > {{"id":$PROBE2,"result":{MODERN_RESULT}}}
host  < {{"id":"d","result":{MODERN_RESULT}}}
""",
        STAYS_MODERN,
    )


def test_an_answer_of_ours_that_cannot_be_read_is_a_refusal() -> None:
    play(
        PROBED,
        'child ! {"jsonrpc":"2.0","id":$PROBE,"result":{"ttlMs":NaN}}\n'
        'noise {"jsonrpc":"2.0","id":1000,"result":{"ttlMs":NaN}}' + HELLO,
        'child ! {"jsonrpc":"2.0","id":$HELLO,"result":{"v":NaN}}\n'
        'noise {"jsonrpc":"2.0","id":1001,"result":{"v":NaN}}'
        + REFUSED.replace("not today", "The server's answer could not be read").replace(
            "-32000", "-32603"
        ),
    )


def test_what_a_dead_process_said_is_not_answered_in_the_next_one() -> None:
    play(
        PROBED,
        'child > {"id":5,"method":"roots/list"}',
        "ended 0\nstart 2" + HELLO,
        SETTLES_LEGACY + DISCOVERED + "keep exits",
    )


def test_a_start_that_fails_ends_the_search_and_the_next_request_begins_a_new_one() -> None:
    missing = "The server could not be started: no such file"
    play(
        PROBED,
        f"""
missing no such file
host  < {{"id":"d","error":{{"code":-32603,"message":"{missing}",
         "data":{{"source":"mcp-bridge","reason":"start_failed"}}}}}}
""",
        "after 3600",
        """
host  > {"id":"e","method":"tools/list","params":{$META}}
start 2
child < {"id":$HELLO,"method":"server/discover","params":{$META}}
""",
    )


def test_an_initialize_result_after_all_that_starts_the_child_again_as_a_legacy_one() -> None:
    play(
        LATE,
        f'child > {{"id":$PROBE,"result":{MODERN_RESULT}}}',
        f'after 5\nhost < {{"id":"d","result":{MODERN_RESULT}}}',
        """
host  > {"id":1,"method":"tools/call","params":{"name":"t",$META}}
child < {"id":1,"method":"tools/call","params":{"name":"t",$META}}
child > {"id":$HELLO,"result":{"protocolVersion":"2025-11-25","capabilities":{}}}
host  < {"id":1,"error":{"code":-32603,
         "message":"The server is started again: it turned out to speak the handshake era",
         "data":{"source":"mcp-bridge","reason":"era_changed"}}}
start 2
"""
        + HELLO.replace("$HELLO", "$HELLO2"),
        """
host  > {"id":2,"method":"tools/list","params":{$META}}
child > {"id":$HELLO2,"result":{"protocolVersion":"2025-11-25","capabilities":{"tools":{}},
        "serverInfo":{"name":"old","version":"1"}}}
child < {"method":"notifications/initialized"}
child < {"id":1,"method":"tools/list"}
keep silent
""",
    )


@pytest.mark.parametrize("code", [-32022, -32600])
def test_a_child_that_was_locked_modern_by_the_late_probe_is_found_out(code: int) -> None:
    refusal = f'{{"code":{code},"message":"no","data":{{"supported":["2026-07-28"]}}}}'
    play(
        LATE,
        f"""
child > {{"id":$HELLO,"error":{refusal}}}
child < {{"id":$HELLO2,"method":"server/discover","params":{{$META}}}}
child > {{"id":$HELLO2,"result":{MODERN_RESULT}}}
host  < {{"id":"d","result":{MODERN_RESULT}}}
""",
        STAYS_MODERN,
    )
    # Whatever it says now, it has said that it is modern.
    play(
        LATE,
        f"""
child > {{"id":$HELLO,"error":{refusal}}}
child < {{"id":$HELLO2,"method":"server/discover","params":{{$META}}}}
after 5
child < {{"id":"d","method":"server/discover","params":{{$META}}}}
""",
    )


def test_an_initialize_refused_for_an_unknown_modern_version_is_a_modern_child() -> None:
    play(
        LATE,
        """
child > {"id":$HELLO,"error":{"code":-32022,"message":"no","data":{"supported":["2027-02-10"]}}}
child < {"id":"d","method":"server/discover","params":{$META}}
""",
    )


@pytest.mark.parametrize("code", [-32602, -32022])
def test_a_version_refused_in_the_old_style_is_asked_once_more_at_the_newest_common_one(
    code: int,
) -> None:
    refusal = f'{{"code":{code},"message":"v","data":{{"supported":["2024-11-05","2025-03-26"]}}}}'
    again = HELLO.replace("$HELLO", "$HELLO2").replace("2025-11-25", "2025-03-26")
    play(
        GREETED,
        f'child > {{"id":$HELLO,"error":{refusal}}}' + again,
        SETTLES_LEGACY.replace("$HELLO", "$HELLO2") + DISCOVERED,
    )


def test_an_initialize_that_fails_fails_the_requests_and_the_next_one_asks_again() -> None:
    play(
        GREETED,
        'child > {"id":$HELLO,"error":{"code":-32000,"message":"not today"}}' + REFUSED,
        """
host  > {"id":"e","method":"server/discover","params":{$META}}
child < {"id":$PROBE2,"method":"server/discover","params":{$META}}
""",
    )


@pytest.mark.parametrize(
    ("result", "message"),
    [
        ('{"protocolVersion":"2023-01-01"}', "with the unknown version 2023-01-01"),
        ('{"protocolVersion":"2026-07-28"}', "with the unknown version 2026-07-28"),
        ("{}", "has no protocolVersion"),
        ("null", "has no protocolVersion"),
        ('{"protocolVersion":7}', "has no protocolVersion"),
    ],
)
def test_an_answer_to_initialize_that_is_none_is_named(result: str, message: str) -> None:
    conversation = play(GREETED)
    wire = f'{{"jsonrpc":"2.0","id":1001,"result":{result}}}'.encode()
    conversation.joint.from_child(1, [wire], True, conversation.now)
    assert message in b"".join(conversation.joint.out.to_host).decode()


def test_an_answer_to_initialize_that_lacks_its_result_is_named() -> None:
    play(
        GREETED,
        'child > {"id":$HELLO}'
        + REFUSED.replace("not today", "The server's answer to initialize has no result").replace(
            "-32000", "-32603"
        ),
    )


@pytest.mark.parametrize("version", ["2024-11-05", "2025-03-26", "2025-06-18", "2025-11-25"])
def test_any_of_the_four_versions_will_do(version: str) -> None:
    play(
        GREETED,
        SETTLES_LEGACY.replace("2025-11-25", version) + DISCOVERED,
        """
host  > {"id":1,"method":"completion/complete","params":{"context":{"arguments":{}},
        "ref":{"type":"ref/prompt","name":"p","title":"P"},"argument":{"name":"a","value":""},
        $META}}
"""
        + (
            """
child < {"id":1,"method":"completion/complete","params":{"context":{"arguments":{}},
         "ref":{"type":"ref/prompt","name":"p","title":"P"},"argument":{"name":"a","value":""}}}
"""
            if version >= "2025-06-18"
            else """
child < {"id":1,"method":"completion/complete","params":{
         "ref":{"type":"ref/prompt","name":"p"},"argument":{"name":"a","value":""}}}
"""
        ),
    )


def test_a_batch_around_the_handshake_belongs_to_one_process() -> None:
    play(
        GREETED,
        f"""
host  > {{"id":1,"method":"tools/call","params":{{"name":"t",{meta('{"sampling":{}}')}}}}}
child > [{{"jsonrpc":"2.0","id":$HELLO,"result":{{"protocolVersion":"2025-03-26",
        "capabilities":{{"tools":{{}}}},"serverInfo":{{"name":"old","version":"1"}}}}}},
        {{"jsonrpc":"2.0","id":5,"method":"ping"}}]
start 2
host  < {{"id":"d","result":{{"supportedVersions":["2026-07-28"],"capabilities":{{"tools":{{}}}},
         $LISTED}}}}
child < {{"id":1002,"method":"initialize","params":{{"protocolVersion":"2025-11-25",
         "capabilities":{{"sampling":{{}}}},"clientInfo":{{"name":"host","version":"2"}}}}}}
""",
    )
