"""A child that keeps ending is started again, later and later: design D10."""

import pytest
from msgspec import Raw

from conversation import FIRST_ID, MACROS, OPENED, SEAL, play
from mcp_era_bridge.child_life import BACK_OFF, HEALTHY, MOST_WAIT, ChildLife, Presence
from mcp_era_bridge.effects import Ending, Outbox, StartChild
from mcp_era_bridge.joint import Joint
from mcp_era_bridge.settings import Settings

clause = pytest.mark.clause


def starts(out: Outbox) -> list[int]:
    """The processes wanted since this was last asked."""
    numbers = [action.number for action in out.actions if isinstance(action, StartChild)]
    out.actions.clear()
    return numbers


def test_the_first_start_is_at_once_and_then_each_is_later() -> None:
    out = Outbox()
    life = ChildLife(out)
    now = 100.0
    life.started(now)
    for number, delay in enumerate([*BACK_OFF, BACK_OFF[-1]], start=2):
        life.failed(now)
        life.gone()
        assert life.is_hopeless(now) is (delay > MOST_WAIT)
        life.restart(now)
        if delay:
            assert starts(out) == []
            assert life.deadline == now + delay
            life.passed(now + delay - 0.01)
            assert starts(out) == []
            life.passed(now + delay)
        assert starts(out) == [number]
        assert life.deadline is None
        now += delay
        life.started(now)


def test_ten_seconds_of_life_make_it_as_if_nothing_had_been() -> None:
    life = ChildLife(Outbox())
    life.started(0)
    for now in (1.0, 2.0, 3.0):
        life.failed(now)
        life.started(now)
    life.failed(3.0 + HEALTHY)
    assert not life.is_hopeless(3.0 + HEALTHY)
    life.restart(3.0 + HEALTHY)
    assert life.deadline is None


def test_a_restart_of_our_own_making_is_no_failure() -> None:
    life = ChildLife(Outbox())
    for now in range(10):
        life.started(now)
        life.restart(now)
        assert life.deadline is None
    assert life.presence is Presence.STARTING


HELLO_AGAIN = """
child > {"id":1002,"error":{"code":-32601,"message":"?"}}
child < {"id":1003,"method":"initialize","params":{"protocolVersion":"2025-11-25",
         "capabilities":{},"clientInfo":{"name":"host","version":"2"}}}
"""


@clause("C-39")
def test_a_request_waits_through_a_start_and_a_short_back_off() -> None:
    ask = 'host > {"id":%d,"method":"tools/list","params":{$META}}\n'
    probe = 'child < {"id":%d,"method":"server/discover","params":{$META}}\n'
    play(
        OPENED,
        "ended 1",
        ask % 1 + "start 2\n" + probe % 1002,
        "child > " + '{"id":1002,"result":{"supportedVersions":["2026-07-28"]}}\n'
        "child < " + '{"id":1,"method":"tools/list","params":{$META}}',
        """
ended 1
host  < {"id":1,"error":{"code":-32603,"message":"The server exited with code 1",
         "data":{"source":"mcp-bridge","reason":"child_exited","exitCode":1,
         "stderr":["last words"]}}}
""",
        ask % 2 + probe % 1003,
        "after 0.4",
        "after 0.1\nstart 3",
        # What it is asked counts from its start on.
        "after 4.9",
        """
after 0.1
child < {"id":1004,"method":"initialize","params":{"protocolVersion":"2025-11-25",
         "capabilities":{},"clientInfo":{"name":"host","version":"2"}}}
""",
    )


def test_nobody_waits_for_a_search_whose_next_start_is_far_off() -> None:
    joint = Joint(Settings(), FIRST_ID, Raw(b'{"name":"b","version":"0"}'), SEAL)
    now = 0.0
    joint.child_started(1, now)
    request = f'{{"jsonrpc":"2.0","id":1,"method":"x/y","params":{{{MACROS["$META"]}}}}}'
    for _ in BACK_OFF:
        joint.from_host([request.encode()], True, now)
        while b'"id":1,"error"' not in b"".join(joint.out.to_host):
            if not starts(joint.out) and joint.deadline is not None:
                assert joint.deadline - now <= MOST_WAIT, "the host waits for more than it should"
                now = joint.deadline
                joint.passed(now)
            joint.child_started(joint.process, now)
            joint.child_ended(joint.process, Ending("exited with code 7", code=7), now)
        joint.out.to_host.clear()


@clause("C-39")
def test_in_a_long_back_off_a_request_fails_at_once_with_the_last_reason() -> None:
    joint = Joint(Settings(), FIRST_ID, Raw(b'{"name":"b","version":"0"}'), SEAL)
    now = 0.0
    joint.child_started(1, now)

    def ask(id: int) -> bytes:
        request = f'{{"jsonrpc":"2.0","id":{id},"method":"x/y","params":{{{MACROS["$META"]}}}}}'
        joint.from_host([request.encode()], True, now)
        answer = b"".join(joint.out.to_host)
        joint.out.to_host.clear()
        return answer

    answers: list[bytes] = []
    for id in range(1, 12):
        answers.append(ask(id))
        while joint.deadline is not None and joint.process and not starts(joint.out):
            now = joint.deadline
            joint.passed(now)
        joint.child_started(joint.process, now)
        joint.child_ended(joint.process, Ending("exited with code 7", code=7), now)
        joint.child_started(joint.process, now)
        joint.child_ended(joint.process, Ending("exited with code 7", code=7), now)
        joint.out.to_host.clear()
    assert answers[0] == b""
    assert b"exited with code 7" in answers[-1], "it says why, and does not let the host wait"
    now += BACK_OFF[-1]
    assert ask(99) == b"", "after the back-off it is tried once more"
