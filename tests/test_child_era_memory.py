"""What is remembered of a child saves the probe, until it is wrong: design D2."""

import pytest
from msgspec import Raw

from conversation import DISCOVERED, Conversation
from eras import HELLO, MODERN_RESULT, REFUSED, SETTLES_LEGACY
from mcp_era_bridge.child_era import Memory
from mcp_era_bridge.effects import Remembered

clause = pytest.mark.clause


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
