"""The player of conversations notices what it is there to notice."""

import pytest

from conversation import DISCOVERED, OPENED, play
from wire_models import check_legacy_request, check_modern_result


def test_a_missing_effect_fails_the_script() -> None:
    with pytest.raises(AssertionError, match="expected"):
        play(OPENED.replace(DISCOVERED, ""))


def test_an_effect_that_does_not_come_fails_the_script() -> None:
    with pytest.raises(AssertionError, match="nobody sent this"):
        play(OPENED, 'host > {"id":1,"result":{}}\nhost < {"id":9,"method":"nobody sent this"}')


def test_effects_of_one_destination_must_come_in_order() -> None:
    both = """
host  > {"id":1,"method":"tools/list","params":{$META}}
child < {"id":1,"method":"tools/list"}
child > [{"jsonrpc":"2.0","id":1,"result":{"tools":[]}},{"jsonrpc":"2.0","method":"x/y"}]
"""
    first = 'host  < {"id":1,"result":{"tools":[],$LISTED}}\n'
    second = 'host  < {"method":"x/y"}\n'
    play(OPENED, both + first + second)
    with pytest.raises(AssertionError):
        play(OPENED, both + second + first)


def test_types_of_ids_are_told_apart() -> None:
    with pytest.raises(AssertionError):
        play(OPENED.replace('host  < {"id":"d"', 'host  < {"id":1'))


@pytest.mark.parametrize(
    "result",
    [
        {"tools": []},
        {"tools": [], "resultType": "complete"},
        {"tools": [{"name": "t"}], "resultType": "complete", "ttlMs": 0, "cacheScope": "private"},
        {"tools": [], "resultType": "complete", "ttlMs": -1, "cacheScope": "private"},
        {"resultType": "complete", "ttlMs": 0, "cacheScope": "private"},
    ],
)
def test_a_result_that_is_not_complete_is_noticed(result: dict[str, object]) -> None:
    with pytest.raises((AssertionError, ValueError, KeyError)):
        check_modern_result("tools/list", result)  # type: ignore[arg-type]


def test_a_request_with_something_modern_in_it_is_noticed() -> None:
    meta = {"io.modelcontextprotocol/protocolVersion": "2026-07-28"}
    with pytest.raises(AssertionError):
        check_legacy_request(
            {"id": 1, "method": "tools/list", "params": {"_meta": meta}},  # type: ignore[dict-item]
            "2025-11-25",
        )
