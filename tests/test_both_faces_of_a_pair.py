"""A host that speaks both eras to one modern child: design D15, translation G.2."""

import pytest

from conversation import PROBED, play
from mcp_era_bridge.settings import Settings
from mcp_era_wire.versions import Era

MODERN_RESULT = (
    '{"resultType":"complete","supportedVersions":["2026-07-28"],'
    '"capabilities":{"tools":{"listChanged":true}}}'
)
PAIR = (
    PROBED
    + f'child > {{"id":$PROBE,"result":{MODERN_RESULT}}}\n'
    + f'host < {{"id":"d","result":{MODERN_RESULT}}}'
)
PARAMS = (
    '{"protocolVersion":"2025-11-25","capabilities":{},"clientInfo":{"name":"host","version":"2"}}'
)
INITIALIZE = f'{{"id":"i","method":"initialize","params":{PARAMS}}}'
WELCOME = """
host  < {"id":"i","result":{"protocolVersion":"2025-11-25",
         "capabilities":{"tools":{"listChanged":true}},
         "serverInfo":{"name":"server","version":"unknown"}}}
"""
BOTH = PAIR + f"\nhost > {INITIALIZE}" + WELCOME
INITIALIZED = """
host  > {"method":"notifications/initialized"}
child < {"id":1001,"method":"subscriptions/listen",
         "params":{"notifications":{"toolsListChanged":true},$META}}
"""
LISTENED = """
child > {"method":"notifications/subscriptions/acknowledged","params":{
         "notifications":{"toolsListChanged":true},
         "_meta":{"io.modelcontextprotocol/subscriptionId":1001}}}
"""


@pytest.mark.parametrize(
    "between",
    ["", 'host > {"method":"notifications/roots/list_changed"}\n'],
)
def test_initialize_after_a_probe_is_answered_by_the_same_process(between: str) -> None:
    noted = between and between.replace("host >", "child <")
    play(
        PAIR,
        between + noted,
        f"host > {INITIALIZE}" + WELCOME,
        """
host  > {"id":1,"method":"tools/call","params":{"name":"t"}}
child < {"id":1001,"method":"tools/call","params":{"name":"t",$META}}
child > {"id":1001,"result":{"resultType":"complete","content":[]}}
host  < {"id":1,"result":{"content":[]}}
host  > {"id":2,"method":"ping"}
host  < {"id":2,"result":{}}
""",
    )


def test_modern_requests_go_on_beside_the_session() -> None:
    play(
        PAIR,
        """
host  > {"id":1,"method":"x/slow","params":{$META,"n":1.50}}
child < {"id":1,"method":"x/slow","params":{$META,"n":1.50}}
""",
        f"host > {INITIALIZE}" + WELCOME,
        """
host  > {"id":2,"method":"tools/list"}
child < {"id":1001,"method":"tools/list","params":{$META}}
host  > {"id":3,"method":"tools/list","params":{$META}}
child < {"id":3,"method":"tools/list","params":{$META}}
host  > {"id":1,"method":"tools/list"}
host  < {"id":1,"error":{"code":-32600,"message":"A request with this id is still open"}}
host  > {"id":2,"method":"tools/list","params":{$META}}
host  < {"id":2,"error":{"code":-32600,"message":"A request with this id is still open"}}
child > {"id":1,"result":{"resultType":"x/odd","n":1.50}}
host  < {"id":1,"result":{"resultType":"x/odd","n":1.50}}
child > {"id":1001,"result":{"resultType":"complete","tools":[]}}
host  < {"id":2,"result":{"tools":[]}}
child > {"id":3,"result":{"resultType":"complete","tools":[]}}
host  < {"id":3,"result":{"resultType":"complete","tools":[]}}
""",
    )


def test_initialize_behind_modern_requests_waits_with_them_for_the_verdict() -> None:
    play(
        'host > {"id":1,"method":"x/y","params":{$META}}\n'
        'child < {"id":$PROBE,"method":"server/discover","params":{$META}}',
        f"host > {INITIALIZE}",
        f'child > {{"id":$PROBE,"result":{MODERN_RESULT}}}\n'
        'child < {"id":1,"method":"x/y","params":{$META}}' + WELCOME,
    )


LISTEN = (
    '{"id":"s","method":"subscriptions/listen",'
    '"params":{"notifications":{"toolsListChanged":true},$META}}'
)
TAGGED = '"_meta":{"io.modelcontextprotocol/subscriptionId":"s"}'
ACKNOWLEDGED = (
    '{"method":"notifications/subscriptions/acknowledged",'
    f'"params":{{"notifications":{{"toolsListChanged":true}},{TAGGED}}}}}'
)
LISTENING = f"\nhost > {LISTEN}\nchild < {LISTEN}\nchild > {ACKNOWLEDGED}\nhost < {ACKNOWLEDGED}\n"


def test_streams_that_are_open_go_on_beside_the_session() -> None:
    change = f'{{"method":"notifications/tools/list_changed","params":{{{TAGGED}}}}}'
    play(
        PAIR + LISTENING,
        f"host > {INITIALIZE}" + WELCOME,
        f"child > {change}\nhost < {change}",
    )


def test_a_stream_that_is_cancelled_while_there_is_no_child_is_not_opened_again() -> None:
    play(
        PAIR + LISTENING,
        f"host > {INITIALIZE}" + WELCOME,
        'ended 3\nstart 2\nchild < {"id":1001,"method":"server/discover","params":{$META}}',
        'host > {"method":"notifications/cancelled","params":{"requestId":"s"}}',
        f'child > {{"id":1001,"result":{MODERN_RESULT}}}',
    )


def test_what_comes_late_for_us_does_not_reach_the_host() -> None:
    play(
        BOTH,
        INITIALIZED,
        LISTENED,
        """
host  > {"id":1,"method":"tools/call","params":{"name":"t"}}
child < {"id":1002,"method":"tools/call","params":{"name":"t",$META}}
host  > {"method":"notifications/cancelled","params":{"requestId":1}}
child < {"method":"notifications/cancelled","params":{"requestId":1002}}
child > {"method":"notifications/progress","params":{"progressToken":1002,"progress":1}}
child > {"id":1002,"result":{"resultType":"complete","content":[]}}
child > {"id":1001,"result":{"resultType":"complete"}}
child > {"method":"notifications/cancelled","params":{"requestId":1001}}
child > {"method":"notifications/tools/list_changed","params":{
         "_meta":{"io.modelcontextprotocol/subscriptionId":1001}}}
child > {"method":"notifications/subscriptions/acknowledged","params":{"notifications":{},
         "_meta":{"io.modelcontextprotocol/subscriptionId":1001}}}
child > {"id":77,"result":{}}
host  < {"id":77,"result":{}}
""",
    )


def test_a_child_that_takes_the_session_up_after_all_is_no_answer_for_the_host() -> None:
    agreed = (
        '{"protocolVersion":"2025-11-25","capabilities":{"tools":{"listChanged":true}},'
        '"serverInfo":{"name":"server","version":"unknown"}}'
    )
    play(
        f"host > {INITIALIZE}\nchild < {INITIALIZE}\nafter 5\n"
        'child < {"id":$PROBE,"method":"server/discover","params":{$META}}',
        f'child > {{"id":$PROBE,"result":{MODERN_RESULT}}}',
        "after 5" + WELCOME,
        'host > {"id":3,"method":"x/y","params":{$META}}\n'
        'child < {"id":3,"method":"x/y","params":{$META}}',
        f"""
child > {{"id":"i","result":{agreed}}}
host  < {{"id":3,"error":{{"code":-32603,"message":"$WHY",
         "data":{{"source":"mcp-bridge","reason":"era_changed"}}}}}}
start 2
child < {{"id":1001,"method":"initialize","params":{PARAMS}}}
""".replace("$WHY", "The server is started again: it turned out to speak the handshake era"),
    )


def test_cancellations_and_progress_are_for_whom_they_name() -> None:
    play(
        BOTH,
        """
host  > {"id":1,"method":"tools/call","params":{"name":"t","_meta":{"progressToken":"p"}}}
child < {"id":1001,"method":"tools/call","params":{"name":"t","_meta":{
         "io.modelcontextprotocol/protocolVersion":"2026-07-28",
         "io.modelcontextprotocol/clientInfo":{"name":"host","version":"2"},
         "io.modelcontextprotocol/clientCapabilities":{},"progressToken":1001}}}
host  > {"id":2,"method":"x/y","params":{$META}}
child < {"id":2,"method":"x/y","params":{$META}}
child > {"method":"notifications/progress","params":{"progressToken":1001,"progress":1}}
host  < {"method":"notifications/progress","params":{"progressToken":"p","progress":1}}
child > {"method":"notifications/progress","params":{"progressToken":"q","progress":1}}
host  < {"method":"notifications/progress","params":{"progressToken":"q","progress":1}}
child > {"method":"notifications/message","params":{"level":"info","data":1}}
host  < {"method":"notifications/message","params":{"level":"info","data":1}}
host  > {"method":"notifications/cancelled","params":{"requestId":2}}
child < {"method":"notifications/cancelled","params":{"requestId":2}}
host  > {"method":"notifications/cancelled","params":{"requestId":1,"reason":"r"}}
child < {"method":"notifications/cancelled","params":{"requestId":1001,"reason":"r"}}
""",
    )


def test_each_half_has_its_own_streams() -> None:
    tagged = '"_meta":{"io.modelcontextprotocol/subscriptionId":"s"}'
    play(
        BOTH,
        INITIALIZED,
        LISTENED,
        f"""
host  > {{"id":"s","method":"subscriptions/listen","params":{{"notifications":{{}},$META}}}}
child < {{"id":"s","method":"subscriptions/listen","params":{{"notifications":{{}},$META}}}}
child > {{"method":"notifications/subscriptions/acknowledged","params":{{"notifications":{{}},
         {tagged}}}}}
host  < {{"method":"notifications/subscriptions/acknowledged","params":{{"notifications":{{}},
         {tagged}}}}}
child > {{"method":"notifications/tools/list_changed","params":{{{tagged}}}}}
host  < {{"method":"notifications/tools/list_changed","params":{{{tagged}}}}}
child > {{"method":"notifications/tools/list_changed","params":{{
         "_meta":{{"io.modelcontextprotocol/subscriptionId":1001}}}}}}
host  < {{"method":"notifications/tools/list_changed"}}
""",
    )


def test_a_legacy_host_may_use_the_era_of_its_child_beside_the_session() -> None:
    play(
        f"host > {INITIALIZE}\nchild < {INITIALIZE}",
        'child > {"id":"i","error":{"code":-32601,"message":"?"}}\n'
        'child < {"id":$PROBE,"method":"server/discover","params":{$META}}',
        f'child > {{"id":$PROBE,"result":{MODERN_RESULT}}}' + WELCOME,
        """
host  > {"id":3,"method":"tools/list","params":{$META}}
child < {"id":3,"method":"tools/list","params":{$META}}
child > {"id":3,"result":{"resultType":"complete","tools":[]}}
host  < {"id":3,"result":{"resultType":"complete","tools":[]}}
host  > {"id":4,"method":"server/discover"}
host  < {"id":4,"error":{"code":-32601,"message":"server/discover is not in this session",
         "data":{"method":"server/discover"}}}
""",
    )


def test_a_child_that_has_not_been_asked_what_it_is_is_asked_then() -> None:
    pinned = 'host > {"id":1,"method":"x/y","params":{$META}}\n' + (
        'child < {"id":1,"method":"x/y","params":{$META}}\n'
    )
    asked = f"host > {INITIALIZE}\n" + (
        'child < {"id":$PROBE,"method":"server/discover","params":{$META}}\n'
    )
    settings = Settings(era=Era.MODERN)
    play(
        pinned,
        asked,
        f'child > {{"id":$PROBE,"result":{MODERN_RESULT}}}' + WELCOME,
        'child > {"id":1,"result":{"resultType":"complete"}}\n'
        'host < {"id":1,"result":{"resultType":"complete"}}',
        settings=settings,
    )
    play(
        pinned,
        asked,
        """
child > {"id":$PROBE,"error":{"code":-32601,"message":"?"}}
host  < {"id":"i","error":{"code":-32603,
         "message":"The server did not answer server/discover as a modern one does",
         "data":{"source":"mcp-bridge","reason":"discover_failed"}}}
child > {"id":1,"result":{"resultType":"complete"}}
host  < {"id":1,"result":{"resultType":"complete"}}
""",
        settings=settings,
    )


def test_the_end_of_the_child_fails_both_halves_and_both_go_on() -> None:
    exited = (
        '"error":{"code":-32603,"message":"The server exited with code 3","data":{'
        '"source":"mcp-bridge","reason":"child_exited","exitCode":3,"stderr":["last words"]}}'
    )
    listen = (
        '{"id":"s","method":"subscriptions/listen",'
        '"params":{"notifications":{"toolsListChanged":true},$META}}'
    )
    tagged = '"_meta":{"io.modelcontextprotocol/subscriptionId":"s"}'
    acknowledged = (
        '{"method":"notifications/subscriptions/acknowledged",'
        f'"params":{{"notifications":{{"toolsListChanged":true}},{tagged}}}}}'
    )
    play(
        BOTH,
        f"host > {listen}\nchild < {listen}\nchild > {acknowledged}\nhost < {acknowledged}",
        """
host  > {"id":1,"method":"tools/list"}
child < {"id":1001,"method":"tools/list","params":{$META}}
host  > {"id":2,"method":"x/y","params":{$META}}
child < {"id":2,"method":"x/y","params":{$META}}
""",
        f"""
ended 3
host  < {{"id":1,{exited}}}
host  < {{"id":2,{exited}}}
start 2
child < {{"id":1002,"method":"server/discover","params":{{$META}}}}
""",
        'host > {"id":3,"method":"x/y","params":{$META}}\nhost > {"id":4,"method":"tools/list"}',
        f"""
child > {{"id":1002,"result":{MODERN_RESULT}}}
child < {listen}
child < {{"id":3,"method":"x/y","params":{{$META}}}}
child < {{"id":1003,"method":"tools/list","params":{{$META}}}}
child > {acknowledged}
host  < {{"method":"notifications/tools/list_changed","params":{{{tagged}}}}}
""",
    )


BUSY = """
host  > {"id":1,"method":"tools/list"}
child < {"id":1001,"method":"tools/list","params":{$META}}
host  > {"id":2,"method":"x/y","params":{$META}}
child < {"id":2,"method":"x/y","params":{$META}}
"""
TOO_LONG = (
    '"error":{"code":-32603,"message":"The server\'s answer was too long to be read",'
    '"data":{"source":"mcp-bridge","reason":"line_too_long"}}'
)


@pytest.mark.parametrize(
    ("line", "lost"),
    [('{"jsonrpc":"2.0","id":2,', "2"), ('{"jsonrpc":"2.0","id":1001,', "1"), ("{", "12")],
)
def test_a_line_that_is_too_long_fails_whom_it_concerns_in_either_half(
    line: str, lost: str
) -> None:
    conversation = play(BOTH, BUSY)
    joint = conversation.joint
    conversation.play(
        f"child ! LONG {line}\nnoise {line}\x00{line}\n"
        + "".join(f'host < {{"id":{id},{TOO_LONG}}}\n' for id in lost)
    )
    assert joint.process == 1
