"""The answer to the probe and what it says of the child: translation G.3, design D2."""

import pytest

from conversation import DISCOVERED, GREETED, OPENED, PROBED, play
from eras import FIRST_CALL, HELLO, MODERN_RESULT, REFUSED, SETTLES_LEGACY, STAYS_MODERN
from mcp_era_bridge.settings import Settings
from mcp_era_wire.versions import Era

clause = pytest.mark.clause


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
        # The next request tries it all again, after a moment.
        """
host  > {"id":"e","method":"server/discover","params":{$META}}
child < {"id":$PROBE2,"method":"server/discover","params":{$META}}
after 0.5
start 3
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
