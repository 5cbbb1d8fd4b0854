"""`requestState`: translation D.5, design D6."""

import pytest
from hypothesis import given
from hypothesis import strategies as st
from msgspec import Raw

from asking import ACCEPTED, ELICIT, answered, asks, call, done, gathered, retry
from conversation import opened, play
from mcp_era_modern.request_state import Claim, Seal, same_call
from mcp_era_wire.members import open_object

clause = pytest.mark.clause

ASKED = opened() + call("1", 1) + asks('"q"') + gathered("1", 1, ("q", ELICIT))
CLAIM = Claim(child=1, handle=2, round=3, expires=4, digest="d")
SEAL = Seal(b"key", "run")


def refused(id: str, reason: str) -> str:
    """The one wording of every refusal."""
    return (
        f'host  < {{"id":{id},"error":{{"code":-32602,"message":"requestState was not accepted",'
        f'"data":{{"reason":"{reason}"}}}}}}\n'
    )


def with_state(id: str, state: str, params: str = '"name":"t"', method: str = "tools/call") -> str:
    return (
        f'host  > {{"id":{id},"method":"{method}","params":{{{params},"requestState":{state},'
        f'"inputResponses":{{"q":{ACCEPTED}}},$FULL}}}}\n'
    )


GOES_ON = retry("9", 1, f'{{"q":{ACCEPTED}}}') + answered('"q"', ACCEPTED) + done(1, "9")


@clause("S-60", "S-62")
@pytest.mark.parametrize("state", ["7", "null", "{}", '["$S1"]', "true"])
def test_a_state_that_is_no_text_is_refused(state: str) -> None:
    play(ASKED, with_state("2", state) + refused("2", "malformed"), GOES_ON)


@clause("S-60", "S-61", "S-62")
@pytest.mark.parametrize(
    ("state", "reason"),
    [
        ('""', "invalid"),
        ('"made up"', "invalid"),
        ('"$S1x"', "invalid"),
        ('"x$S1"', "invalid"),
        ('"1.other.1.1.1.700020.d.m"', "restarted"),
        ('"2.run.1.1.1.700020.d.m"', "invalid"),
        ('"1.run.1.1.1.700020.d.m"', "invalid"),
        ('"1.run.x.1.1.700020.d.m"', "invalid"),
        ('"\\u00e9.run.1.1.1.700020.d.m"', "invalid"),
        ('"' + "1." * 4096 + '"', "invalid"),
    ],
)
def test_a_state_that_is_not_ours_is_refused_and_frees_nothing(state: str, reason: str) -> None:
    play(ASKED, with_state("2", state) + refused("2", reason), GOES_ON)


@clause("S-62")
@given(position=st.integers(0, 500), to=st.sampled_from("0aZ-_."))
def test_no_letter_of_a_token_can_be_changed(position: int, to: str) -> None:
    token = SEAL.seal(CLAIM)
    position %= len(token)
    changed = token[:position] + to + token[position + 1 :]
    assert SEAL.read(token) == CLAIM
    assert changed == token or SEAL.read(changed) in ("invalid", "restarted")


@clause("S-61")
def test_a_token_of_another_key_is_worth_nothing() -> None:
    assert Seal(b"other", "run").read(SEAL.seal(CLAIM)) == "invalid"
    assert Seal(b"other", "other").read(SEAL.seal(CLAIM)) == "restarted"


@clause("S-64")
def test_a_state_can_be_used_once() -> None:
    play(
        ASKED,
        retry("2", 1, f'{{"q":{ACCEPTED}}}') + answered('"q"', ACCEPTED),
        retry("3", 1, f'{{"q":{ACCEPTED}}}') + refused("3", "used"),
        done(1, "2"),
        retry("4", 1, f'{{"q":{ACCEPTED}}}') + refused("4", "used"),
    )


@clause("S-64")
def test_the_state_of_an_earlier_round_is_used_up() -> None:
    play(
        ASKED,
        retry("2", 1, f'{{"q":{ACCEPTED}}}') + answered('"q"', ACCEPTED),
        asks('"r"') + gathered("2", 2, ("r", ELICIT)),
        retry("3", 1, f'{{"q":{ACCEPTED}}}') + refused("3", "used"),
        retry("4", 2, f'{{"r":{ACCEPTED}}}') + answered('"r"', ACCEPTED),
    )


@clause("S-63")
@pytest.mark.parametrize(
    ("method", "params"),
    [
        ("tools/call", '"name":"u"'),
        ("tools/call", '"name":"t","arguments":{"a":1}'),
        ("prompts/get", '"name":"t"'),
        ("resources/read", '"uri":"t"'),
    ],
)
def test_a_state_is_good_for_its_own_call_alone(method: str, params: str) -> None:
    play(ASKED, with_state("2", '"$S1"', params, method) + refused("2", "mismatch"), GOES_ON)


def test_what_may_differ_is_what_says_nothing_about_the_call() -> None:
    play(
        ASKED,
        f"""
host  > {{"id":2,"method":"tools/call","params":{{"arguments":{{}},"requestState":"$S1",
        "inputResponses":{{"q":{ACCEPTED}}},"name":"\\u0074","later":[1],$FULL}}}}
""",
        answered('"q"', ACCEPTED),
    )


@pytest.mark.parametrize(
    ("one", "other", "same"),
    [
        ('{"a":1,"b":2}', '{"b":2,"a":1}', True),
        ('{"a":1}', '{"a":1.0}', True),
        ('{"a":100}', '{"a":1e2}', True),
        ('{"a":0.5}', '{"a":5E-1}', True),
        ('{"a":-0}', '{"a":0.0}', True),
        ('{"a":1}', '{"a":true}', False),
        ('{"a":0}', '{"a":false}', False),
        ('{"a":1}', '{"a":"1"}', False),
        ('{"a":1}', '{"a":-1}', False),
        ('{"a":null}', "{}", False),
        ('{"a":[1,2]}', '{"a":[2,1]}', False),
        ('{"a":12345678901234567890123}', '{"a":12345678901234567890124}', False),
        ('{"a":0.1}', '{"a":0.10000000000000000001}', False),
        ('{"a":1e999999999999}', '{"a":10e999999999998}', True),
        ('{"a":"\\u00e9"}', '{"a":"é"}', True),
        ('{"a":["1","",0]}', '{"a":[1,"",0]}', False),
    ],
)
def test_arguments_are_the_same_if_they_say_the_same(one: str, other: str, same: bool) -> None:
    def params(arguments: str) -> dict[str, Raw]:
        return open_object(f'{{"name":"t","arguments":{arguments}}}'.encode())

    assert same_call("tools/call", params(one), params(other)) is same
    assert same_call("tools/call", params(other), params(one)) is same


def test_numbers_that_are_too_long_for_anybody_are_compared_as_they_stand() -> None:
    huge = "1e" + "9" * 5000
    one = open_object(f'{{"name":"t","arguments":{{"a":{huge}}}}}'.encode())
    other = open_object(f'{{"name":"t","arguments":{{"a": {huge}}}}}'.encode())
    assert same_call("tools/call", one, one)
    assert not same_call("tools/call", one, other)
