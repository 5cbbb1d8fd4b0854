"""Who the host is, from its first decisive message: translation G.1, G.2, design D1."""

import pytest

from conversation import GREETED, MACROS, OPENED, PROBED, opened, play
from mcp_era_bridge.settings import Settings

clause = pytest.mark.clause

INITIALIZE = (
    '{"id":"i","method":"initialize","params":{"protocolVersion":"2025-06-18","capabilities":{},'
    '"clientInfo":{"name":"h","version":"1"}}}'
)
INITIALIZED = """
child > {"id":"i","result":{"protocolVersion":"2025-06-18","capabilities":{}}}
host  < {"id":"i","result":{"protocolVersion":"2025-06-18","capabilities":{}}}
"""
NO_ERA = (
    '"error":{"code":-32602,'
    '"message":"Send the _meta of 2026-07-28 with every request, or initialize first"}'
)
OPENS_MODERN = PROBED
OPENS_LEGACY = f"host  > {INITIALIZE}\nchild < {INITIALIZE}\n{INITIALIZED}"


def test_initialize_without_an_envelope_is_a_legacy_host_and_goes_on_as_it_is() -> None:
    play(OPENS_LEGACY)


@clause("S-47")
def test_initialize_with_an_envelope_is_a_modern_host_and_a_removed_method() -> None:
    play(
        """
host  > {"id":1,"method":"initialize","params":{$META}}
child < {"id":$PROBE,"method":"server/discover","params":{$META}}
child > {"id":$PROBE,"error":{"code":-32601,"message":"?"}}
child < {"id":$HELLO,"method":"initialize","params":{"protocolVersion":"2025-11-25",
         "capabilities":{},"clientInfo":{"name":"host","version":"2"}}}
child > {"id":$HELLO,"result":{"protocolVersion":"2025-11-25","capabilities":{}}}
child < {"method":"notifications/initialized"}
host  < {"id":1,"error":{"code":-32601,"message":"initialize is not in 2026-07-28",
         "data":{"method":"initialize"}}}
"""
    )


@pytest.mark.parametrize("version", ['"2026-07-28"', '"1900-01-01"', "7"])
def test_a_request_that_names_a_version_is_a_modern_host_whatever_the_version(
    version: str,
) -> None:
    meta = MACROS["$META"].replace('"2026-07-28"', version)
    conversation = play()
    conversation.joint.from_host(
        [f'{{"jsonrpc":"2.0","id":1,"method":"tools/list","params":{{{meta}}}}}'.encode()], True, 0
    )
    assert b"server/discover" in b"".join(conversation.joint.out.to_child)


def test_discover_without_an_envelope_is_refused_and_decides_nothing() -> None:
    play(
        """
host  > {"id":1,"method":"server/discover"}
host  < {"id":1,"error":{"code":-32602,"message":"Missing or malformed request metadata: _meta"}}
""",
        OPENS_LEGACY,
    )


@pytest.mark.parametrize(
    ("lines"),
    [
        'host > {"id":1,"method":"ping"}\nhost < {"id":1,"result":{}}',
        'host > {"id":1,"method":"tools/list"}\nhost < {"id":1,' + NO_ERA + "}",
        'host > {"id":1,"method":"tools/list","params":{}}\nhost < {"id":1,' + NO_ERA + "}",
        'host > {"method":"notifications/cancelled","params":{"requestId":1}}',
        'host > {"id":1,"result":{}}',
        'host > {"id":1,"error":{"code":1,"message":"m"}}',
        'host ! not JSON\nhost < {"error":{"code":-32700,"message":"Parse error"}}',
        "host ! []\nhost < "
        '{"error":{"code":-32600,"message":"Batches are not part of this revision"}}',
        "host !  ",
    ],
)
def test_what_decides_nothing_is_answered_and_either_era_may_follow(lines: str) -> None:
    play(lines, OPENS_MODERN)
    play(lines, OPENS_LEGACY)


def test_a_notification_before_anything_else_decides_nothing() -> None:
    note = '{"method":"notifications/roots/list_changed"}'
    play(f"host > {note}", OPENS_MODERN)
    play(f"host > {note}", OPENS_LEGACY + f"child < {note}")


def test_nothing_is_said_to_the_child_before_the_host_has_decided() -> None:
    play('host > {"id":1,"method":"ping"}\nhost < {"id":1,"result":{}}', "after 3600")


def test_the_end_of_the_host_before_anything_is_the_end() -> None:
    play("eof\nfinish 0")


def test_notifications_before_the_verdict_are_kept_for_a_host_and_child_of_one_era() -> None:
    notes = "".join(f'host  > {{"method":"n/{n}"}}\n' for n in range(10))
    kept = "".join(f'child < {{"method":"n/{n}"}}\n' for n in range(2, 10))
    play(
        f"""
host  > {INITIALIZE}
child < {INITIALIZE}
{notes}
child > {{"id":"i","result":{{"protocolVersion":"2025-06-18","capabilities":{{}}}}}}
host  < {{"id":"i","result":{{"protocolVersion":"2025-06-18","capabilities":{{}}}}}}
{kept}
"""
    )


# A host that changes its mind -------------------------------------------------------------------


BEHIND = PROBED + f"host > {INITIALIZE}\nchild < {INITIALIZE}\n"
"""A host that has given its probe up opens with a handshake, which follows it to the child."""
NO_DISCOVER = """
host  < {"id":"d","error":{"code":-32601,
         "message":"server/discover is over: the host has sent initialize"}}
"""
BOTH_ANSWERED = INITIALIZED.replace("host ", NO_DISCOVER + "host ", 1)
SAYS_WHAT_IT_IS = (
    'child > {"id":$PROBE,"result":{"resultType":"complete","supportedVersions":["2026-07-28"],'
    '"capabilities":{"tools":{}}}}\n'
)


@pytest.mark.parametrize(
    "probe", ["", 'child > {"id":$PROBE,"error":{"code":-32601,"message":"?"}}', SAYS_WHAT_IT_IS]
)
def test_initialize_behind_a_probe_goes_to_the_same_process_and_its_answer_decides(
    probe: str,
) -> None:
    play(
        BEHIND,
        probe,
        BOTH_ANSWERED,
        'host > {"id":1,"method":"x"}\nchild < {"id":1,"method":"x"}',
    )


WELCOME = """
host  < {"id":"i","result":{"protocolVersion":"2025-06-18","capabilities":{"tools":{}},
         "serverInfo":{"name":"server","version":"unknown"}}}
child < {"id":"d","method":"server/discover","params":{$META}}
"""


def test_a_child_that_the_probe_has_made_modern_says_so_to_initialize_and_is_joined() -> None:
    locked = (
        'child > {"id":"i","error":{"code":-32022,"message":"?",'
        '"data":{"supported":["2026-07-28"]}}}\n'
    )
    play(BEHIND, SAYS_WHAT_IT_IS, locked + WELCOME)


def test_a_probe_that_is_answered_after_a_refusal_of_initialize_decides() -> None:
    refusal = '"error":{"code":-32601,"message":"first"}'
    refused = (BEHIND, f'child > {{"id":"i",{refusal}}}')
    play(*refused, SAYS_WHAT_IT_IS + WELCOME)
    nobody = f'host < {{"id":"i",{refusal}}}\n'
    other = """
host  < {"id":"d","error":{"code":-32603,"message":"The server refused initialize: first",
         "data":{"source":"mcp-bridge","reason":"initialize_failed",
         "error":{"code":-32601,"message":"first"}}}}
"""
    play(
        *refused,
        'child > {"id":$PROBE,"error":{"code":-32601,"message":"?"}}' + "\n" + nobody + other,
    )
    play(*refused, "after 5\n" + nobody + other)


def test_a_child_that_exits_on_the_probe_gets_initialize_first_after_that() -> None:
    play(BEHIND, f"ended 1\nstart 2\nchild < {INITIALIZE}", BOTH_ANSWERED)


def test_initialize_behind_a_handshake_of_our_own_starts_the_child_afresh() -> None:
    play(
        GREETED,
        f"host > {INITIALIZE}" + NO_DISCOVER + f"start 2\nchild < {INITIALIZE}",
        INITIALIZED,
    )


def test_initialize_after_a_discover_that_was_answered_starts_the_child_afresh() -> None:
    play(OPENED, f"host  > {INITIALIZE}\nstart 2\nchild < {INITIALIZE}", INITIALIZED)


SAME = INITIALIZE.replace("2025-06-18", "2025-11-25")
STORED = """
host  < {"id":"i","result":{"protocolVersion":"2025-11-25","capabilities":{"tools":{}},
         "serverInfo":{"name":"old","version":"1"}}}
"""


def test_initialize_that_says_nothing_new_has_its_answer_and_the_pair_is_relayed() -> None:
    play(
        OPENED,
        f"host > {SAME}" + STORED,
        # The child has been told already; another one it sees.
        'host > {"method":"notifications/initialized"}',
        """
host  > {"id":1,"method":"tools/list","params":{"n":1.50}}
child < {"id":1,"method":"tools/list","params":{"n":1.50}}
child > {"id":1,"result":{"n":1.50}}
host  < {"id":1,"result":{"n":1.50}}
child > {"id":7,"method":"roots/list"}
host  < {"id":7,"method":"roots/list"}
host  > {"method":"notifications/initialized"}
child < {"method":"notifications/initialized"}
""",
        # And the session outlives the child.
        """
ended 3
host  < {"method":"notifications/cancelled","params":{"requestId":7,
         "reason":"The server has ended and is started again"}}
start 2
child < {"id":1002,"method":"initialize","params":{"protocolVersion":"2025-11-25",
         "capabilities":{},"clientInfo":{"name":"h","version":"1"}}}
""",
    )


@pytest.mark.parametrize(
    "initialize",
    [
        SAME.replace('"capabilities":{}', '"capabilities":{"roots":{}}'),
        SAME.replace("2025-11-25", "2024-11-05"),
    ],
)
def test_initialize_that_says_something_new_starts_the_child_afresh(initialize: str) -> None:
    play(OPENED, f"host > {initialize}\nstart 2\nchild < {initialize}")


def test_a_child_that_waits_for_an_answer_is_started_afresh() -> None:
    roots = '{"roots":{"listChanged":true}}'
    initialize = SAME.replace('"capabilities":{}', f'"capabilities":{roots}')
    play(
        opened('{"roots":{}}'),
        'child > {"id":7,"method":"roots/list"}',
        f"""
host  > {initialize}
start 2
child < {initialize}
""",
    )


def test_a_notification_between_probe_and_initialize_does_not_matter() -> None:
    play(
        OPENED,
        'host  > {"method":"notifications/roots/list_changed"}',
        f"host  > {INITIALIZE}\nstart 2\nchild < {INITIALIZE}",
        INITIALIZED,
    )


def test_a_legacy_host_may_still_send_a_modern_request_and_the_child_judges_it() -> None:
    play(
        OPENS_LEGACY,
        """
host  > {"id":1,"method":"tools/list","params":{$META}}
child < {"id":1,"method":"tools/list","params":{$META}}
""",
    )


# Waiting ----------------------------------------------------------------------------------------


def test_requests_that_wait_are_served_in_their_order() -> None:
    play(
        GREETED,
        """
host  > {"id":1,"method":"tools/list","params":{$META}}
host  > {"id":2,"method":"no/such","params":{}}
host  > {"method":"com.example/poke"}
host  > {"id":3,"method":"tools/call","params":{"name":"t",$META}}
child > {"id":$HELLO,"result":{"protocolVersion":"2025-11-25","capabilities":{"tools":{}},
        "serverInfo":{"name":"old","version":"1"}}}
child < {"method":"notifications/initialized"}
host  < {"id":"d","result":{"supportedVersions":["2026-07-28"],"capabilities":{"tools":{}},$LISTED}}
child < {"id":1,"method":"tools/list"}
host  < {"id":2,"error":{"code":-32602,"message":"Missing or malformed request metadata: _meta"}}
child < {"method":"com.example/poke"}
child < {"id":2,"method":"tools/call","params":{"name":"t"}}
""",
    )


def test_an_id_that_waits_already_is_refused() -> None:
    play(
        PROBED,
        """
host  > {"id":"d","method":"tools/list","params":{$META}}
host  < {"id":"d","error":{"code":-32600,"message":"A request with this id is still open"}}
""",
    )


def test_more_requests_than_may_wait_are_refused() -> None:
    play(
        PROBED,
        """
host  > {"id":1,"method":"tools/list","params":{$META}}
host  < {"id":1,"error":{"code":-32603,"message":"Too many requests are open; the limit is 1",
         "data":{"source":"mcp-bridge","reason":"too_many_requests","limit":1}}}
""",
        settings=Settings(most_open=1),
    )
