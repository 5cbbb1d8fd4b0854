"""Tables that wait for a change elsewhere; pytest does not collect them by itself."""

import pytest

from asking import ACCEPTED, ELICIT
from conversation import EVERYTHING, meta, play
from handshakes import ASKED_JOINED, FIRST, again, answers, asked, call, cancelled, request, wants
from test_handshaken_batches import BAD, OLD, asks, batch, host_gets
from watching import A, ok, unsubscribe, watched

CALLED = ASKED_JOINED + call("1", FIRST)
FORM = f'"k":{{{ELICIT}}}'

LEVEL = """
host  > {"id":"l","method":"logging/setLevel","params":{"level":"debug"}}
host  < {"id":"l","result":{}}
"""


@pytest.mark.parametrize(
    ("entries", "then"), [(FORM, asked("b-1", ELICIT)), (None, "")], ids=["asked", "waits"]
)
def test_a_leg_carries_the_level_of_its_own_time(entries: str | None, then: str) -> None:
    debug = meta(EVERYTHING, '"io.modelcontextprotocol/logLevel":"debug"')
    play(
        CALLED,
        wants(FIRST, entries) + then,
        LEVEL,
        answers("b-1", ACCEPTED) if entries else "after 0.05\n",
        again(FIRST + 1, f'"k":{ACCEPTED}' if entries else None, envelope=debug),
    )


def test_the_id_of_a_subscription_that_was_taken_back_is_free() -> None:
    # Neither does it count as work at the end.
    play(
        A,
        unsubscribe("2", "x:a").replace(ok("2"), ok("1", "2")),
        watched(FIRST, "x:a") + cancelled(FIRST),
        request("1", FIRST + 1, "tools/list"),
        f'child > {{"id":{FIRST + 1},"result":{{"tools":[]}}}}\n'
        'host  < {"id":1,"result":{"tools":[]}}',
        "eof\nfinish 0",
    )


def test_an_array_in_an_array_is_no_request() -> None:
    play(OLD, f"host > [[],{batch(asks('1'))}]\n" + host_gets(BAD, BAD))
