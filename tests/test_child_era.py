"""Finding out the child's era: every row of translation G.3 and G.4, and design D2."""

import pytest
from msgspec import Raw

from conversation import DISCOVERED, GREETED, OPENED, PROBED, Conversation, play
from mcp_era_bridge.child_era import Memory
from mcp_era_bridge.effects import Remembered
from mcp_era_bridge.settings import Settings
from mcp_era_wire.versions import Era

clause = pytest.mark.clause

SETTLES_LEGACY = """
child > {"id":$HELLO,"result":{"protocolVersion":"2025-11-25","capabilities":{"tools":{}},
        "serverInfo":{"name":"old","version":"1"}}}
child < {"method":"notifications/initialized"}
"""
HELLO = """
child < {"id":$HELLO,"method":"initialize","params":{"protocolVersion":"2025-11-25",
         "capabilities":{},"clientInfo":{"name":"host","version":"2"}}}
"""
MODERN_RESULT = '{"resultType":"complete","supportedVersions":["2026-07-28"],"capabilities":{}}'
STAYS_MODERN = """
host  > {"id":7,"method":"x/y","params":{$META}}
child < {"id":7,"method":"x/y","params":{$META}}
child > {"id":7,"result":{"resultType":"x/odd"}}
host  < {"id":7,"result":{"resultType":"x/odd"}}
"""
FIRST_CALL = """
host  > {"id":1,"method":"tools/list","params":{$META}}
child < {"id":$PROBE,"method":"server/discover","params":{$META}}
"""
"""A host that never sends `server/discover`: the probe is ours, in its name."""

# G.3: the host is modern -------------------------------------------------------------------------


@clause("C-13", "C-40")
@pytest.mark.parametrize(
    "meta",
    [
        '{"io.modelcontextprotocol/protocolVersion":"2026-07-28"}',
        '{"io.modelcontextprotocol/protocolVersion":"2027-02-10",'
        '"io.modelcontextprotocol/clientCapabilities":{}}',
    ],
)
@pytest.mark.parametrize("method", ["server/discover", "tools/list"])
def test_a_host_with_a_bad_envelope_does_not_spoil_the_probe(meta: str, method: str) -> None:
    play(
        f"""
host  > {{"id":1,"method":"{method}","params":{{"_meta":{meta}}}}}
child < {{"id":$PROBE,"method":"server/discover","params":{{"_meta":{{
         "io.modelcontextprotocol/protocolVersion":"2026-07-28",
         "io.modelcontextprotocol/clientCapabilities":{{}}}}}}}}
child > {{"id":$PROBE,"result":{MODERN_RESULT}}}
child < {{"id":1,"method":"{method}","params":{{"_meta":{meta}}}}}
"""
    )


@clause("C-13", "C-14", "C-40")
def test_the_first_thing_a_child_hears_is_a_probe_with_the_hosts_own_envelope() -> None:
    play(FIRST_CALL)
    play(PROBED)


@pytest.mark.parametrize(
    "result",
    [
        MODERN_RESULT,
        '{"supportedVersions":["2026-07-28"]}',
        '{"supportedVersions":["2025-11-25","2026-07-28","2027-02-10"]}',
        '{"supportedVersions":["2027-02-10"]}',
    ],
)
def test_a_discover_result_with_a_modern_version_is_a_modern_child(result: str) -> None:
    play(
        PROBED,
        f'child > {{"id":$PROBE,"result":{result}}}\nhost < {{"id":"d","result":{result}}}',
        STAYS_MODERN,
    )


def test_our_own_probe_is_not_shown_to_the_host() -> None:
    play(
        FIRST_CALL,
        f"""
child > {{"id":$PROBE,"result":{MODERN_RESULT}}}
child < {{"id":1,"method":"tools/list","params":{{$META}}}}
""",
        STAYS_MODERN,
    )


@pytest.mark.parametrize(
    ("result", "version"),
    [
        ('{"supportedVersions":["2025-06-18","2024-11-05"]}', "2025-06-18"),
        ('{"supportedVersions":["2025-11-25"]}', "2025-11-25"),
        ('{"supportedVersions":["2027-02-10","2025-03-26"]}', "2025-03-26"),
    ],
)
def test_a_discover_result_with_legacy_versions_only_is_shaken_hands_with_at_the_newest(
    result: str, version: str
) -> None:
    play(
        PROBED,
        f'child > {{"id":$PROBE,"result":{result}}}' + HELLO.replace("2025-11-25", version),
        SETTLES_LEGACY + DISCOVERED,
    )


@pytest.mark.parametrize(
    "answer",
    [
        '"result":{}',
        '"result":null',
        '"result":[]',
        '"result":{"supportedVersions":[]}',
        '"result":{"supportedVersions":[7]}',
        '"result":{"supportedVersions":"2026-07-28"}',
        '"result":{"protocolVersion":"2025-11-25","capabilities":{}}',
        '"result":{"_meta":{}}',
    ],
)
def test_a_result_that_is_no_discover_result_is_no_evidence(answer: str) -> None:
    play(PROBED, f'child > {{"id":$PROBE,{answer}}}' + HELLO, SETTLES_LEGACY + DISCOVERED)


@clause("C-41")
@pytest.mark.parametrize(
    "error",
    [
        *(
            f'{{"code":{code},"message":"no"}}'
            for code in (-32601, -32602, -32600, -32603, -32000, -32001, -32020, -32700, 0, 1, 404)
        ),
        '{"code":-32022,"message":"no data"}',
        '{"code":-32022,"message":"no list","data":{"supported":"2025-11-25"}}',
        '{"code":-32022,"message":"empty","data":{"supported":[]}}',
        '{"message":"no code"}',
        '"not even an object"',
    ],
)
def test_any_error_but_the_recognised_ones_is_no_evidence_whatever_its_code(error: str) -> None:
    play(PROBED, f'child > {{"id":$PROBE,"error":{error}}}' + HELLO, SETTLES_LEGACY + DISCOVERED)


@clause("C-42")
def test_a_child_that_speaks_only_another_modern_version_is_never_shaken_hands_with() -> None:
    refusal = '{"code":-32022,"message":"no","data":{"supported":["2027-02-10"]}}'
    play(
        FIRST_CALL,
        f"""
child > {{"id":$PROBE,"error":{refusal}}}
child < {{"id":1,"method":"tools/list","params":{{$META}}}}
child > {{"id":1,"error":{refusal}}}
host  < {{"id":1,"error":{refusal}}}
""",
    )


def test_a_refusal_that_names_legacy_versions_only_is_shaken_hands_with() -> None:
    refusal = '{"code":-32022,"message":"no","data":{"supported":["2025-03-26","2024-11-05"]}}'
    play(
        PROBED,
        f'child > {{"id":$PROBE,"error":{refusal}}}' + HELLO.replace("2025-11-25", "2025-03-26"),
        SETTLES_LEGACY + DISCOVERED,
    )


def test_a_refusal_that_names_our_version_is_asked_once_more_and_then_believed_modern() -> None:
    refusal = '{"code":-32022,"message":"no","data":{"supported":["2026-07-28"]}}'
    play(
        FIRST_CALL,
        f"""
child > {{"id":$PROBE,"error":{refusal}}}
child < {{"id":$HELLO,"method":"server/discover","params":{{$META}}}}
child > {{"id":$HELLO,"error":{refusal}}}
child < {{"id":1,"method":"tools/list","params":{{$META}}}}
""",
    )


def test_a_child_that_needs_a_capability_is_asked_once_more_with_it() -> None:
    refusal = (
        '{"code":-32021,"message":"no","data":{"requiredCapabilities":{"elicitation":{"form":{}}}}}'
    )
    more = "$META"
    script = f"""
child > {{"id":$PROBE,"error":{refusal}}}
child < {{"id":$HELLO,"method":"server/discover","params":{{"_meta":{{
         "io.modelcontextprotocol/protocolVersion":"2026-07-28",
         "io.modelcontextprotocol/clientInfo":{{"name":"host","version":"2"}},
         "io.modelcontextprotocol/clientCapabilities":{{"elicitation":{{"form":{{}}}}}}}}}}}}
"""
    play(
        FIRST_CALL,
        script,
        f"""
child > {{"id":$HELLO,"result":{MODERN_RESULT}}}
child < {{"id":1,"method":"tools/list","params":{{{more}}}}}
""",
    )
    # The host's own discover is then the child's to refuse: we have no right to add to it.
    play(
        PROBED,
        script,
        f"""
child > {{"id":$HELLO,"error":{refusal}}}
child < {{"id":"d","method":"server/discover","params":{{$META}}}}
child > {{"id":"d","error":{refusal}}}
host  < {{"id":"d","error":{refusal}}}
""",
    )


@pytest.mark.parametrize("id", ['"id":null,', "", '"id":0,'])
def test_an_error_without_a_proper_id_is_taken_as_the_probes_answer(id: str) -> None:
    play(
        PROBED,
        f'child > {{{id}"error":{{"code":-32600,"message":"?"}}}}' + HELLO,
        SETTLES_LEGACY + DISCOVERED,
    )


@pytest.mark.parametrize("id", ['"$PROBE"', "$PROBE.0"])
def test_an_answer_whose_id_differs_only_in_type_is_the_probes_answer(id: str) -> None:
    play(
        PROBED,
        f'child > {{"id":{id},"result":{MODERN_RESULT}}}\n'
        f'host < {{"id":"d","result":{MODERN_RESULT}}}',
    )


def test_an_answer_with_a_foreign_id_is_waited_past() -> None:
    play(
        PROBED,
        f'child > {{"id":7,"result":{MODERN_RESULT}}}',
        'child > {"id":"x","error":{"code":-32601,"message":"?"}}',
        f'child > {{"id":$PROBE,"result":{MODERN_RESULT}}}\n'
        f'host < {{"id":"d","result":{MODERN_RESULT}}}',
    )


def test_an_answer_in_a_batch_is_unwrapped() -> None:
    play(
        PROBED,
        'child > [{"jsonrpc":"2.0","id":$PROBE,"error":{"code":-32601,"message":"?"}}]' + HELLO,
        SETTLES_LEGACY + DISCOVERED,
    )


def test_a_request_of_the_child_before_its_answer_proves_nothing() -> None:
    play(
        PROBED,
        'child > {"id":1,"method":"ping"}\nchild < {"id":1,"result":{}}',
        'child > {"id":2,"method":"roots/list"}',
        f"""
child > {{"id":$PROBE,"result":{MODERN_RESULT}}}
host  < {{"id":2,"method":"roots/list"}}
host  < {{"id":"d","result":{MODERN_RESULT}}}
""",
    )


def test_notifications_and_banners_before_the_answer_prove_nothing() -> None:
    play(
        PROBED,
        'child > {"method":"notifications/message","params":{"level":"info","data":"up"}}',
        "child ! Server listening\nnoise Server listening",
        'child > {"id":$PROBE,"error":{"code":-32601,"message":"?"}}' + HELLO,
        SETTLES_LEGACY + DISCOVERED,
    )


def test_silence_is_legacy_after_the_probe_timeout_and_remembered() -> None:
    play(
        PROBED,
        "after 4.9",
        "after 0.2" + HELLO,
        SETTLES_LEGACY + DISCOVERED + "keep silent",
    )


def test_the_probe_timeout_can_be_set() -> None:
    play(PROBED, "after 1.9", "after 0.2" + HELLO, settings=Settings(probe_timeout=2))


def test_a_child_that_exits_on_the_probe_is_started_again_and_shaken_hands_with_first() -> None:
    play(
        PROBED,
        "ended 0\nstart 2" + HELLO,
        SETTLES_LEGACY + DISCOVERED + "keep exits",
    )


def test_a_child_that_exits_after_its_answer_to_the_probe_is_started_again() -> None:
    play(
        GREETED,
        "ended 1\nstart 2" + HELLO.replace("$HELLO", "$HELLO2"),
        SETTLES_LEGACY.replace("$HELLO", "$HELLO2") + DISCOVERED + "keep exits",
    )


def test_a_silent_child_that_exits_on_initialize_is_started_again() -> None:
    play(
        PROBED,
        "after 5" + HELLO,
        "ended 1\nstart 2" + HELLO.replace("$HELLO", "$HELLO2"),
        SETTLES_LEGACY.replace("$HELLO", "$HELLO2") + DISCOVERED + "keep exits",
    )


def test_a_child_that_exits_on_initialize_too_is_broken_and_says_why() -> None:
    play(
        PROBED,
        "ended 0\nstart 2" + HELLO,
        """
ended 3
host  < {"id":"d","error":{"code":-32603,"message":"The server exited with code 3",
         "data":{"source":"mcp-bridge","reason":"child_exited","exitCode":3,
         "stderr":["last words"]}}}
""",
        # The next request tries it all again.
        """
host  > {"id":"e","method":"server/discover","params":{$META}}
start 3
child < {"id":$PROBE2,"method":"server/discover","params":{$META}}
""",
    )


def test_a_child_that_is_killed_is_reported_with_the_signal() -> None:
    play(
        PROBED,
        "ended SIGKILL\nstart 2" + HELLO,
        """
ended SIGKILL
host  < {"id":"d","error":{"code":-32603,"message":"The server was ended by SIGKILL",
         "data":{"source":"mcp-bridge","reason":"child_exited","signal":9}}}
""",
    )


TIMEOUT = """
host  < {"id":"d","error":{"code":-32603,
         "message":"The server has not answered initialize within 60 s",
         "data":{"source":"mcp-bridge","reason":"initialize_timeout"}}}
"""


def test_a_child_that_answered_the_probe_and_hangs_on_initialize_is_started_again() -> None:
    play(
        GREETED,
        "after 60" + TIMEOUT,
        """
host  > {"id":"e","method":"server/discover","params":{$META}}
start 2
child < {"id":$HELLO2,"method":"initialize","params":{"protocolVersion":"2025-11-25",
         "capabilities":{},"clientInfo":{"name":"host","version":"2"}}}
""",
    )


def test_a_child_that_never_wrote_is_left_alone_and_the_next_request_finds_it() -> None:
    later = """
child > {"id":$HELLO,"result":{"protocolVersion":"2025-11-25","capabilities":{"tools":{}},
        "serverInfo":{"name":"old","version":"1"}}}
child < {"method":"notifications/initialized"}
keep silent
"""
    ask = 'host > {"id":"e","method":"server/discover","params":{$META}}'
    answered = DISCOVERED.replace('"d"', '"e"')
    silent = (PROBED, "after 5" + HELLO, "after 60" + TIMEOUT)
    play(*silent, later, ask + answered)
    play(*silent, ask, "after 59", later + answered)
    play(*silent, ask, "after 60" + TIMEOUT.replace('"d"', '"e"'), ask, later + answered)


# Late answers, after `initialize` was sent ------------------------------------------------------

LATE = PROBED + "after 5" + HELLO


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


# What becomes of initialize ---------------------------------------------------------------------


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


REFUSED = """
host  < {"id":"d","error":{"code":-32603,"message":"The server refused initialize: not today",
         "data":{"source":"mcp-bridge","reason":"initialize_failed",
         "error":{"code":-32000,"message":"not today"}}}}
"""


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


# What is remembered -----------------------------------------------------------------------------

INFO = Raw(b'{"name":"old","version":"1"}')


def remembering(memory: Memory, info: Raw = INFO) -> Conversation:
    """A bridge that remembers something of this server."""
    return Conversation(None, Remembered(memory, info))


@clause("C-19")
@pytest.mark.parametrize("memory", list(Memory))
def test_what_is_remembered_saves_the_probe(memory: Memory) -> None:
    hello = HELLO.replace("$HELLO", "$PROBE")
    conversation = remembering(memory)
    conversation.play('host > {"id":"d","method":"server/discover","params":{$META}}' + hello)
    conversation.play(SETTLES_LEGACY.replace("$HELLO", "$PROBE") + DISCOVERED)


def test_a_server_that_is_another_one_now_is_forgotten() -> None:
    conversation = remembering(Memory.SILENT, Raw(b'{"name":"older","version":"1"}'))
    conversation.play(
        'host > {"id":"d","method":"server/discover","params":{$META}}'
        + HELLO.replace("$HELLO", "$PROBE")
    )
    conversation.play(SETTLES_LEGACY.replace("$HELLO", "$PROBE") + DISCOVERED + "forget")


@pytest.mark.parametrize(
    "failure", ['child > {"id":$PROBE,"error":{"code":-32601,"message":"no handshake"}}', "ended 1"]
)
def test_a_memory_that_fails_is_forgotten_and_the_server_probed(failure: str) -> None:
    conversation = remembering(Memory.EXITS)
    conversation.play(
        'host > {"id":"d","method":"server/discover","params":{$META}}'
        + HELLO.replace("$HELLO", "$PROBE")
    )
    conversation.play(
        failure
        + "\nforget\n"
        + ("start 2\n" if failure == "ended 1" else "")
        + 'child < {"id":$HELLO,"method":"server/discover","params":{$META}}'
    )
    conversation.play(
        f'child > {{"id":$HELLO,"result":{MODERN_RESULT}}}\n'
        f'host < {{"id":"d","result":{MODERN_RESULT}}}'
    )


def test_a_child_of_which_nothing_is_right_fails_with_its_own_error() -> None:
    conversation = remembering(Memory.SILENT)
    conversation.play(
        'host > {"id":"d","method":"server/discover","params":{$META}}'
        + HELLO.replace("$HELLO", "$PROBE")
    )
    conversation.play(
        'child > {"id":$PROBE,"error":{"code":-32000,"message":"not today"}}\nforget\n'
        'child < {"id":$HELLO,"method":"server/discover","params":{$META}}'
    )
    conversation.play('child > {"id":$HELLO,"error":{"code":-32601,"message":"?"}}' + REFUSED)


# The user's word --------------------------------------------------------------------------------


def test_a_child_pinned_legacy_is_not_probed() -> None:
    play(
        'host > {"id":"d","method":"server/discover","params":{$META}}'
        + HELLO.replace("$HELLO", "$PROBE"),
        SETTLES_LEGACY.replace("$HELLO", "$PROBE") + DISCOVERED,
        settings=Settings(era=Era.LEGACY),
    )


def test_a_child_pinned_legacy_that_refuses_is_not_asked_otherwise() -> None:
    play(
        'host > {"id":"d","method":"server/discover","params":{$META}}'
        + HELLO.replace("$HELLO", "$PROBE"),
        'child > {"id":$PROBE,"error":{"code":-32000,"message":"not today"}}' + REFUSED,
        settings=Settings(era=Era.LEGACY),
    )


def test_a_child_pinned_modern_is_neither_probed_nor_shaken_hands_with() -> None:
    play(
        """
host  > {"id":"d","method":"server/discover","params":{$META}}
child < {"id":"d","method":"server/discover","params":{$META}}
""",
        settings=Settings(era=Era.MODERN),
    )


# G.4: the host is legacy ------------------------------------------------------------------------

INITIALIZE = (
    '{"id":0,"method":"initialize","params":{"protocolVersion":"2025-06-18","capabilities":{},'
    '"clientInfo":{"name":"h","version":"1"}}}'
)
RELAYED = f"host > {INITIALIZE}\nchild < {INITIALIZE}\n"
OUR_META = (
    '"_meta":{"io.modelcontextprotocol/protocolVersion":"2026-07-28",'
    '"io.modelcontextprotocol/clientInfo":{"name":"h","version":"1"},'
    '"io.modelcontextprotocol/clientCapabilities":{}}'
)
OUR_PROBE = f'\nchild < {{"id":$PROBE,"method":"server/discover","params":{{{OUR_META}}}}}'
NOT_BRIDGED = """
host  < {"id":0,"error":{"code":-32603,
         "message":"This server speaks only 2026-07-28 and $NOT_YET",
         "data":{"source":"mcp-bridge","reason":"not_bridged"}}}
""".replace(
    "$NOT_YET",
    "this host opens with initialize; this version of mcp-bridge does not join the two",
)


def test_a_legacy_host_is_relayed_to_a_child_that_answers_its_initialize() -> None:
    play(
        RELAYED,
        """
child > {"id":0,"result":{"protocolVersion":"2025-06-18","capabilities":{}}}
host  < {"id":0,"result":{"protocolVersion":"2025-06-18","capabilities":{}}}
host  > {"method":"notifications/initialized"}
child < {"method":"notifications/initialized"}
""",
    )


def test_what_the_child_of_a_legacy_host_says_before_its_answer_is_relayed_at_once() -> None:
    play(
        RELAYED,
        """
child > {"method":"notifications/message","params":{"level":"info","data":"up"}}
host  < {"method":"notifications/message","params":{"level":"info","data":"up"}}
child > {"id":7,"method":"roots/list"}
host  < {"id":7,"method":"roots/list"}
host  > {"id":7,"result":{"roots":[]}}
child < {"id":7,"result":{"roots":[]}}
child > {"id":0,"result":{"protocolVersion":"2025-06-18","capabilities":{}}}
host  < {"id":0,"result":{"protocolVersion":"2025-06-18","capabilities":{}}}
""",
    )


@pytest.mark.parametrize("version", ["2024-10-07", "2026-07-28", "later"])
def test_a_version_that_is_none_of_ours_is_between_the_two(version: str) -> None:
    play(
        RELAYED,
        f"""
child > {{"id":0,"result":{{"protocolVersion":"{version}","capabilities":{{}}}}}}
host  < {{"id":0,"result":{{"protocolVersion":"{version}","capabilities":{{}}}}}}
host  > {{"id":1,"method":"tools/list"}}
child < {{"id":1,"method":"tools/list"}}
""",
    )


def test_a_banner_before_the_answer_to_initialize_does_not_hide_it() -> None:
    answer = '{"jsonrpc":"2.0","id":0,"result":{"protocolVersion":"2025-06-18"}}'
    play(
        RELAYED,
        f"child ! Starting... {answer}\nhost < {answer}",
        'child ! banner {"jsonrpc":"2.0","method":"x"}\nhost < {"method":"x"}',
    )


def test_a_batch_around_the_answer_to_initialize_is_taken_apart() -> None:
    item = '"jsonrpc":"2.0",'
    play(
        RELAYED,
        f"""
child > [{{{item}"method":"a"}},{{{item}"id":0,"result":{{"protocolVersion":"2025-03-26"}}}},
        {{{item}"method":"b"}}]
host  < {{"method":"a"}}
host  < {{"id":0,"result":{{"protocolVersion":"2025-03-26"}}}}
host  < {{"method":"b"}}
""",
    )
    play(
        GREETED,
        f"""
child > [{{{item}"id":"p","method":"ping"}},{{{item}"id":$HELLO,"result":{{
        "protocolVersion":"2025-11-25","capabilities":{{"tools":{{}}}},
        "serverInfo":{{"name":"old","version":"1"}}}}}},{{{item}"id":"q","method":"roots/list"}}]
child < {{"id":"p","result":{{}}}}
child < {{"method":"notifications/initialized"}}
child < {{"id":"q","error":{{"code":-32601,
         "message":"roots/list is not supported by this client"}}}}
"""
        + DISCOVERED,
    )


@pytest.mark.parametrize("code", [-32601, -32602, -32022, -32000])
def test_a_refusal_is_probed_and_given_to_the_host_if_the_probe_is_refused_too(code: int) -> None:
    refusal = f'"error":{{"code":{code},"message":"first"}}'
    play(
        RELAYED,
        f'child > {{"id":0,{refusal}}}' + OUR_PROBE,
        f"""
child > {{"id":$PROBE,"error":{{"code":-32601,"message":"second"}}}}
host  < {{"id":0,{refusal}}}
""",
        # It may try again, and then everything is as at the beginning.
        RELAYED,
    )


def test_a_refusal_is_given_to_the_host_if_the_probe_is_not_answered() -> None:
    refusal = '"error":{"code":-32601,"message":"first"}'
    play(
        RELAYED,
        f'child > {{"id":0,{refusal}}}' + OUR_PROBE,
        f'after 5\nhost < {{"id":0,{refusal}}}',
    )


@pytest.mark.parametrize(
    "refusal",
    [
        '"error":{"code":-32601,"message":"no"}',
        '"error":{"code":-32022,"message":"no","data":{"supported":["2026-07-28"]}}',
    ],
)
def test_a_child_that_is_modern_only_is_found_out_and_the_host_told(refusal: str) -> None:
    play(
        RELAYED,
        f'child > {{"id":0,{refusal}}}' + OUR_PROBE,
        f'child > {{"id":$PROBE,"result":{MODERN_RESULT}}}' + NOT_BRIDGED,
        'host > {"id":1,"method":"ping"}' + NOT_BRIDGED.replace('"id":0', '"id":1'),
    )


def test_a_child_that_exits_on_initialize_is_started_again_and_probed() -> None:
    play(
        RELAYED,
        "ended 1\nstart 2" + OUR_PROBE,
        f'child > {{"id":$PROBE,"result":{MODERN_RESULT}}}' + NOT_BRIDGED,
    )


EXITED = """
host  < {"id":0,"error":{"code":-32603,"message":"The server exited with code 1",
         "data":{"source":"mcp-bridge","reason":"child_exited","exitCode":1,
         "stderr":["last words"]}}}
"""


def test_a_child_that_exits_on_both_is_broken() -> None:
    play(RELAYED, "ended 1\nstart 2" + OUR_PROBE, "ended 1" + EXITED)


def test_a_child_that_exits_on_initialize_and_refuses_the_probe_is_broken() -> None:
    play(
        RELAYED,
        "ended 1\nstart 2" + OUR_PROBE,
        'child > {"id":$PROBE,"error":{"code":-32601,"message":"?"}}' + EXITED,
    )


def test_a_silent_child_is_probed_on_the_same_process_and_its_first_answer_decides() -> None:
    silent = (RELAYED, "after 60" + OUR_PROBE)
    initialized = """
child > {"id":0,"result":{"protocolVersion":"2025-06-18","capabilities":{}}}
host  < {"id":0,"result":{"protocolVersion":"2025-06-18","capabilities":{}}}
"""
    play(*silent, initialized, 'child > {"id":$PROBE,"error":{"code":-32601,"message":"late"}}')
    play(*silent, 'child > {"id":$PROBE,"error":{"code":-32601,"message":"?"}}', initialized)
    play(*silent, f'child > {{"id":$PROBE,"result":{MODERN_RESULT}}}', "after 5" + NOT_BRIDGED)


def test_a_dual_era_child_is_never_locked_into_the_other_era_by_a_probe() -> None:
    conversation = play(RELAYED)
    assert b"discover" not in b"".join(conversation.joint.out.to_child)


def test_a_child_pinned_legacy_is_not_probed_for_a_legacy_host() -> None:
    refusal = '"error":{"code":-32601,"message":"first"}'
    play(
        RELAYED,
        f'child > {{"id":0,{refusal}}}\nhost < {{"id":0,{refusal}}}',
        settings=Settings(era=Era.LEGACY),
    )
    play(RELAYED, "after 3600", settings=Settings(era=Era.LEGACY))


def test_a_child_pinned_modern_that_does_not_know_discover_is_named() -> None:
    play(
        f"host > {INITIALIZE}" + OUR_PROBE,
        """
child > {"id":$PROBE,"error":{"code":-32601,"message":"?"}}
host  < {"id":0,"error":{"code":-32603,
         "message":"The server did not answer server/discover as a modern one does",
         "data":{"source":"mcp-bridge","reason":"discover_failed"}}}
""",
        settings=Settings(era=Era.MODERN),
    )


def test_a_child_pinned_modern_is_asked_who_it_is_for_a_legacy_host() -> None:
    play(
        f"host > {INITIALIZE}" + OUR_PROBE,
        f'child > {{"id":$PROBE,"result":{MODERN_RESULT}}}' + NOT_BRIDGED,
        settings=Settings(era=Era.MODERN),
    )


# The verdict stands for one process -------------------------------------------------------------


@clause("C-39")
def test_after_the_end_of_the_child_its_era_is_asked_again() -> None:
    play(
        OPENED,
        "ended 0",
        """
host  > {"id":1,"method":"tools/list","params":{$META}}
start 2
child < {"id":$PROBE2,"method":"server/discover","params":{$META}}
""",
        f"""
child > {{"id":$PROBE2,"result":{MODERN_RESULT}}}
child < {{"id":1,"method":"tools/list","params":{{$META}}}}
""",
        STAYS_MODERN,
    )
