"""Finding out the child's era for a host that opens with `initialize`: translation G.4."""

import pytest

from conversation import DISCOVERED, GREETED, play
from eras import MODERN_RESULT
from mcp_era_bridge.settings import Settings
from mcp_era_wire.versions import Era

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
JOINED = """
host  < {"id":0,"result":{"protocolVersion":"2025-06-18","capabilities":{},
         "serverInfo":{"name":"server","version":"unknown"}}}
"""
"""The host's `initialize` is answered with what the child says of itself."""
CALL = f"""
host  > {{"id":1,"method":"tools/list"}}
child < {{"id":$CALL,"method":"tools/list","params":{{{OUR_META}}}}}
"""


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
        f"child ! Starting... {answer}\nnoise Starting...\nhost < {answer}",
        'child ! banner {"jsonrpc":"2.0","method":"x"}\nnoise banner\nhost < {"method":"x"}',
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
         "message":"The client has not declared roots"}}}}
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
def test_a_child_that_is_modern_only_is_found_out_and_joined_to_the_host(refusal: str) -> None:
    play(
        RELAYED,
        f'child > {{"id":0,{refusal}}}' + OUR_PROBE,
        f'child > {{"id":$PROBE,"result":{MODERN_RESULT}}}' + JOINED,
        CALL.replace("$CALL", "1001"),
    )


FUTURE = '"supportedVersions":["2099-01-01"]'
NO_COMMON_VERSION = """
host  < {"id":0,"error":{"code":-32603,
         "message":"The server speaks 2099-01-01; this bridge speaks 2026-07-28",
         "data":{"source":"mcp-bridge","reason":"no_common_version","supported":["2099-01-01"]}}}
"""


def test_versions_that_are_not_known_yet_are_named() -> None:
    play(
        RELAYED,
        'child > {"id":0,"error":{"code":-32601,"message":"no"}}' + OUR_PROBE,
        f'child > {{"id":$PROBE,"result":{{{FUTURE},"capabilities":{{}}}}}}' + NO_COMMON_VERSION,
    )
    play(
        RELAYED,
        """
child > {"id":0,"error":{"code":-32022,"message":"no","data":{"supported":["2099-01-01"]}}}
"""
        + NO_COMMON_VERSION,
        # Nothing is lost: it may try again.
        RELAYED,
    )


@pytest.mark.parametrize(
    "error",
    [
        '{"code":-32022,"message":"no","data":{"supported":["2026-07-28"]}}',
        '{"code":-32021,"message":"no","data":{"requiredCapabilities":{}}}',
    ],
)
def test_a_child_that_says_twice_that_it_is_modern_and_not_what_it_is_has_no_session(
    error: str,
) -> None:
    refusal = '"error":{"code":-32601,"message":"first"}'
    play(
        RELAYED,
        f'child > {{"id":0,{refusal}}}' + OUR_PROBE,
        f'child > {{"id":$PROBE,"error":{error}}}' + OUR_PROBE.replace("$PROBE", "1001"),
        f'child > {{"id":1001,"error":{error}}}\nhost < {{"id":0,{refusal}}}',
    )


def test_a_child_that_exits_on_initialize_is_started_again_and_probed() -> None:
    play(
        RELAYED,
        "ended 1\nstart 2" + OUR_PROBE,
        f'child > {{"id":$PROBE,"result":{MODERN_RESULT}}}' + JOINED,
    )


EXITED = """
host  < {"id":0,"error":{"code":-32603,"message":"The server exited with code 1",
         "data":{"source":"mcp-bridge","reason":"child_exited","exitCode":1,
         "stderr":["last words"]}}}
"""


@pytest.mark.parametrize("waits", ["", "after 4"])
def test_a_child_that_refuses_initialize_and_ends_is_started_again_and_probed(waits: str) -> None:
    play(
        RELAYED,
        'child > {"id":0,"error":{"code":-32601,"message":"first"}}' + OUR_PROBE,
        waits,
        "ended 1\nstart 2" + OUR_PROBE.replace("$PROBE", "1001"),
        f'child > {{"id":1001,"result":{MODERN_RESULT}}}' + JOINED,
    )
    play(
        RELAYED,
        'child > {"id":0,"error":{"code":-32601,"message":"first"}}' + OUR_PROBE,
        "ended 1\nstart 2" + OUR_PROBE.replace("$PROBE", "1001"),
        'ended 1\nhost < {"id":0,"error":{"code":-32601,"message":"first"}}',
    )


MODERN_SAID = f'child > {{"id":$PROBE,"result":{MODERN_RESULT}}}'


def test_a_slow_child_that_refuses_initialize_is_judged_by_its_answer_to_the_probe() -> None:
    play(
        RELAYED,
        "after 5" + OUR_PROBE,
        'child > {"id":0,"error":{"code":-32601,"message":"first"}}',
        MODERN_SAID + JOINED,
    )


def test_a_child_that_exits_on_initialize_has_time_to_start_for_the_probe() -> None:
    play(
        RELAYED,
        "ended 3\nstart 2" + OUR_PROBE,
        "after 50",
        MODERN_SAID + JOINED,
    )


def test_a_child_that_says_it_is_modern_has_time_to_say_what_it_is() -> None:
    play(
        RELAYED,
        """
child > {"id":0,"error":{"code":-32022,"message":"no","data":{"supported":["2026-07-28"]}}}
"""
        + OUR_PROBE,
        "after 50",
        MODERN_SAID + JOINED,
    )


INITIALIZED = """
child > {"id":0,"result":{"protocolVersion":"2025-06-18","capabilities":{}}}
host  < {"id":0,"result":{"protocolVersion":"2025-06-18","capabilities":{}}}
"""


def test_a_child_that_has_not_read_what_it_was_told_is_not_probed() -> None:
    play(RELAYED, "unread", "after 600", INITIALIZED)
    # From when it has, its silence counts.
    play(RELAYED, "unread", "after 60", "read", "after 5.4", "after 0.1" + OUR_PROBE)


@pytest.mark.parametrize("id", ['"0"', "0.0"])
def test_an_id_that_comes_back_in_another_type_is_understood(id: str) -> None:
    play(
        RELAYED,
        INITIALIZED.replace('"id":0', f'"id":{id}'),
        "after 60",
        f"""
host  > {{"id":1,"method":"tools/list"}}
child < {{"id":1,"method":"tools/list"}}
child > {{"id":{id.replace("0", "1", 1)},"result":{{}}}}
host  < {{"id":{id.replace("0", "1", 1)},"result":{{}}}}
eof
finish 0
""",
    )


def test_an_error_without_an_id_is_the_refusal_of_initialize() -> None:
    play(
        RELAYED,
        'child > {"error":{"code":-32600,"message":"first"}}' + OUR_PROBE,
        MODERN_SAID + JOINED,
    )
    play(
        RELAYED,
        'child > {"id":null,"error":{"code":-32600,"message":"first"}}' + OUR_PROBE,
        'child > {"id":null,"error":{"code":-32600,"message":"second"}}\n'
        'host < {"id":null,"error":{"code":-32600,"message":"first"}}',
    )


def test_what_a_child_has_asked_before_its_answer_is_withdrawn_when_it_ends() -> None:
    play(
        RELAYED,
        'child > {"id":7,"method":"roots/list"}\nhost < {"id":7,"method":"roots/list"}',
        INITIALIZED,
        """
ended 3
host  < {"method":"notifications/cancelled","params":{"requestId":7,
         "reason":"The server has ended and is started again"}}
start 2
child < {"id":1000,"method":"initialize","params":{"protocolVersion":"2025-06-18",
         "capabilities":{},"clientInfo":{"name":"h","version":"1"}}}
""",
        'host > {"id":7,"result":{"roots":[]}}',
    )


def test_initialized_is_kept_however_much_the_host_says_before_the_verdict() -> None:
    notes = "".join(f'host  > {{"method":"n/{n}"}}\n' for n in range(10))
    kept = "".join(f'child < {{"method":"n/{n}"}}\n' for n in range(2, 10))
    play(
        RELAYED,
        'host > {"method":"notifications/initialized"}',
        notes,
        INITIALIZED.rstrip("\n") + '\nchild < {"method":"notifications/initialized"}\n' + kept,
    )


def test_a_slow_child_that_exits_on_the_probe_is_not_probed_again_before_initialize() -> None:
    play(
        RELAYED,
        "after 5" + OUR_PROBE,
        f"ended 1\nstart 2\nchild < {INITIALIZE}",
        "after 50",
        """
child > {"id":0,"result":{"protocolVersion":"2025-06-18","capabilities":{}}}
host  < {"id":0,"result":{"protocolVersion":"2025-06-18","capabilities":{}}}
""",
    )


def test_a_child_that_exits_on_both_is_broken() -> None:
    play(RELAYED, "ended 1\nstart 2" + OUR_PROBE, "ended 1" + EXITED)


def test_a_child_that_exits_on_initialize_and_refuses_the_probe_is_broken() -> None:
    play(
        RELAYED,
        "ended 1\nstart 2" + OUR_PROBE,
        'child > {"id":$PROBE,"error":{"code":-32601,"message":"?"}}' + EXITED,
    )


def test_a_silent_child_is_probed_on_the_same_process_and_its_first_answer_decides() -> None:
    silent = (RELAYED, "after 5" + OUR_PROBE)
    initialized = """
child > {"id":0,"result":{"protocolVersion":"2025-06-18","capabilities":{}}}
host  < {"id":0,"result":{"protocolVersion":"2025-06-18","capabilities":{}}}
"""
    play(*silent, initialized, 'child > {"id":$PROBE,"error":{"code":-32601,"message":"late"}}')
    play(*silent, 'child > {"id":$PROBE,"error":{"code":-32601,"message":"?"}}', initialized)
    play(*silent, f'child > {{"id":$PROBE,"result":{MODERN_RESULT}}}', "after 5" + JOINED)


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
        f'child > {{"id":$PROBE,"result":{MODERN_RESULT}}}' + JOINED,
        settings=Settings(era=Era.MODERN),
    )


def test_a_child_pinned_modern_has_time_to_start() -> None:
    play(
        f"host > {INITIALIZE}" + OUR_PROBE,
        "after 59",
        f'child > {{"id":$PROBE,"result":{MODERN_RESULT}}}' + JOINED,
        settings=Settings(era=Era.MODERN),
    )
