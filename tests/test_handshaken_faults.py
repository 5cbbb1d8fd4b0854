"""Dirt, limits and ends between a legacy host and a modern child: translation E, design D10, D11,
D14."""

import pytest

from asking import ACCEPTED, ELICIT
from conversation import play
from handshakes import (
    ASKED_JOINED,
    FIRST,
    JOINED,
    again,
    answers,
    asked,
    call,
    cancel,
    done,
    failed,
    opening,
    request,
    wants,
    withdrawn,
)
from mcp_era_bridge.settings import Settings
from mcp_era_wire.dirty import LongLine
from watching import (
    JOINED_TO_RESOURCES,
    LIVE,
    A,
    ok,
    over,
    subscribe,
    updated,
    watched,
    watching,
)

clause = pytest.mark.clause

ONE = request("1", FIRST, "tools/call", '"name":"t"')
TWO = request("2", FIRST + 1, "tools/list")
TWO_DONE = f"""
child > {{"id":{FIRST + 1},"result":{{"tools":[]}}}}
host  < {{"id":2,"result":{{"tools":[]}}}}
"""
FORM = f'"k":{{{ELICIT}}}'
UNREADABLE = failed("1", "The server's answer could not be read", "invalid_line")
ANSWER = f'{{"jsonrpc":"2.0","id":{FIRST},"result":{{"content":[]}}}}'
GOT = 'host < {"id":1,"result":{"content":[]}}\n'


# The child --------------------------------------------------------------------------------------


@clause("C-36")
@pytest.mark.parametrize(
    "method", ["ping", "roots/list", "sampling/createMessage", "elicitation/create", "x/y"]
)
@pytest.mark.parametrize("id", ["7", '"s"', "0", '"b-1"', str(FIRST)])
def test_a_child_that_asks_is_told_that_it_may_not(id: str, method: str) -> None:
    play(
        ASKED_JOINED,
        call("1", FIRST),
        f'child > {{"id":{id},"method":"{method}","params":{{}}}}\n'
        f'child < {{"id":{id},"error":{{"code":-32601,'
        f'"message":"{method} is not a request that a server may send"}}}}',
        done(FIRST, "1"),
    )


@clause("C-08")
@pytest.mark.parametrize(
    "notification",
    [
        '"method":"notifications/initialized"',
        '"method":"notifications/roots/list_changed"',
        '"method":"notifications/cancelled","params":{"requestId":1}',
        f'"method":"notifications/cancelled","params":{{"requestId":{FIRST}}}',
        '"method":"notifications/cancelled"',
        '"method":"notifications/elicitation/complete","params":{"elicitationId":"e"}',
        '"method":"notifications/subscriptions/acknowledged","params":{"notifications":{}}',
        '"method":"notifications/resources/updated","params":{"uri":7}',
        '"method":"ping"',
        '"method":"tools/list"',
    ],
)
def test_notifications_that_make_no_sense_are_dropped(notification: str) -> None:
    play(JOINED, ONE, f"child > {{{notification}}}", done(FIRST, "1"))


def test_a_notification_that_is_not_known_passes() -> None:
    line = '{"method":"notifications/com.example.x","params":{"a":[1.50]}}'
    play(JOINED, f"child > {line}\nhost < {line}")


@pytest.mark.parametrize(
    ("line", "noise"),
    [
        ("\\xef\\xbb\\xbf" + ANSWER, None),
        (ANSWER + "  \r", None),
        ("Starting... " + ANSWER, "Starting..."),
        (ANSWER.replace('"jsonrpc":"2.0",', ""), None),
        (ANSWER.replace(str(FIRST), f"{FIRST}.0"), None),
        (f"[{ANSWER}]", None),
    ],
)
def test_an_answer_that_can_be_made_out_counts(line: str, noise: str | None) -> None:
    shown = f"noise {noise}\n" if noise else ""
    play(JOINED, ONE, f"child ! {line}\n{shown}{GOT}")


@pytest.mark.parametrize("line", ["banner", "{}", "[]", "7", "null", '{"jsonrpc":"2.0"}', "{[["])
def test_noise_goes_to_stderr_and_harms_nobody(line: str) -> None:
    play(JOINED, ONE, f"child ! {line}\nnoise {line}", "child !", done(FIRST, "1"))


def test_messages_that_are_glued_together_are_taken_apart() -> None:
    log = '{"jsonrpc":"2.0","method":"notifications/message","params":{"level":"info","data":1}}'
    play(JOINED, ONE, f"child ! {log}{ANSWER}\nhost < {log}\n{GOT}")
    play(JOINED, ONE, f"child ! {ANSWER} trailing\nnoise trailing\n{GOT}")


def test_an_answer_that_is_not_utf8_is_mended() -> None:
    play(
        JOINED,
        ONE,
        f'child ! {{"jsonrpc":"2.0","id":{FIRST},"result":{{"content":[],"x":"a\\xffb"}}}}\n'
        'host < {"id":1,"result":{"content":[],"x":"a\\ufffdb"}}',
    )


@pytest.mark.parametrize(
    "line",
    [
        f'{{"jsonrpc":"2.0","id":{FIRST},"result":{{"content":[}}}}',
        f'{{"jsonrpc":"2.0","id":"{FIRST}","result":{{',
        f'{{"result":{{"a":NaN}},"id":{FIRST}}}',
        f'{{"jsonrpc":"1.0","id":{FIRST},"result":{{}}}}',
    ],
)
def test_an_answer_that_cannot_be_read_fails_its_request_alone(line: str) -> None:
    play(JOINED, ONE, TWO, f"child ! {line}\nnoise {line}\n{UNREADABLE}", TWO_DONE)


def test_so_it_does_in_a_later_leg() -> None:
    broken = f'{{"jsonrpc":"2.0","id":{FIRST + 1},"result":[[}}'
    play(
        ASKED_JOINED,
        call("1", FIRST),
        wants(FIRST, FORM) + asked("b-1", ELICIT),
        answers("b-1", ACCEPTED) + again(FIRST + 1, f'"k":{ACCEPTED}'),
        f"child ! {broken}\nnoise {broken}\n{UNREADABLE}",
        "after 3600",
    )


def test_a_broken_answer_that_nobody_waits_for_harms_nobody() -> None:
    for id in ("7", str(FIRST), '"s"', "1"):
        broken = f'{{"jsonrpc":"2.0","id":{id},"result":[[}}'
        play(JOINED, ONE, done(FIRST, "1"), TWO, f"child ! {broken}\nnoise {broken}", TWO_DONE)


def long(text: str) -> str:
    """How a line that is too long is shown."""
    return LongLine.of_ends(text.encode(), text.encode(), 1 << 30).decode()


TOO_LONG = "The server's answer was too long to be read"


def test_an_answer_that_is_too_long_fails_its_request() -> None:
    text = f'{{"jsonrpc":"2.0","id":{FIRST},"result":{{"content":["aaaaaaaaaaaaaaa'
    play(
        JOINED,
        ONE,
        TWO,
        f"child ! LONG {text}\nnoise {long(text)}\n" + failed("1", TOO_LONG, "line_too_long"),
        TWO_DONE,
    )


def test_one_that_does_not_say_whose_it_is_fails_all_that_the_child_has() -> None:
    # A call that waits for the host is not among them.
    play(
        ASKED_JOINED,
        call("1", FIRST),
        wants(FIRST, FORM) + asked("b-1", ELICIT),
        call("2", FIRST + 1),
        call("3", FIRST + 2),
        f"child ! LONG aaaaaaaaaaaaaaaaaaaaa\nnoise {long('aaaaaaaaaaaaaaaaaaaaa')}\n"
        + failed("2", TOO_LONG, "line_too_long")
        + failed("3", TOO_LONG, "line_too_long"),
        answers("b-1", ACCEPTED) + again(FIRST + 3, f'"k":{ACCEPTED}'),
        done(FIRST + 3, "1"),
    )


# The host ---------------------------------------------------------------------------------------


@clause("C-35")
@pytest.mark.parametrize(
    ("line", "error"),
    [
        ("not JSON", '"error":{"code":-32700,"message":"Parse error"}'),
        ('{"jsonrpc":"2.0","id":9,', '"error":{"code":-32700,"message":"Parse error"}'),
        (
            '{"jsonrpc":"2.0","id":9,"method":"x","params":{"a":"\\xff"}}',
            '"error":{"code":-32700,"message":"Parse error"}',
        ),
        ("7", '"error":{"code":-32600,"message":"Invalid request"}'),
        ("{}", '"error":{"code":-32600,"message":"Invalid request"}'),
        (
            '{"jsonrpc":"2.0","id":null,"method":"ping"}',
            '"error":{"code":-32600,"message":"Invalid request"}',
        ),
        (
            '{"jsonrpc":"2.0","id":1.5,"method":"ping"}',
            '"error":{"code":-32600,"message":"Invalid request"}',
        ),
        (
            '{"jsonrpc":"2.0","id":9,"method":7}',
            '"id":9,"error":{"code":-32600,"message":"Invalid request"}',
        ),
        ('{"id":9,"method":"ping"}', '"id":9,"error":{"code":-32600,"message":"Invalid request"}'),
        (
            '{"jsonrpc":"2.0","id":"9"}',
            '"id":"9","error":{"code":-32600,"message":"Invalid request"}',
        ),
        (
            'LONG {"jsonrpc":"2.0","id":9,"method":"tools/call","params":{"name":"aaaaaaaaaa',
            '"id":9,"error":{"code":-32600,"message":"The line is too long"}',
        ),
        ("LONG aaaaaaaaaaaaaaaaaaaaaaaaaa", '"error":{"code":-32700,"message":"Parse error"}'),
    ],
)
@pytest.mark.parametrize("version", ["2024-11-05", "2025-03-26", "2025-11-25"])
def test_a_line_of_the_host_that_is_no_message_is_refused(
    version: str, line: str, error: str
) -> None:
    play(opening(version=version), ONE, f"host ! {line}\nhost < {{{error}}}", done(FIRST, "1"))


@pytest.mark.parametrize("line", ["", "   ", "\t"])
def test_a_blank_line_is_nothing(line: str) -> None:
    play(JOINED, ONE, f"host ! {line}", f"child ! {line}", done(FIRST, "1"))


def test_half_a_surrogate_pair_passes() -> None:
    play(
        JOINED,
        'host ! {"jsonrpc":"2.0","id":1,"method":"tools/call","params":{"name":"\\ud83d"}}\n'
        f'child < {{"id":{FIRST},"method":"tools/call","params":{{"name":"\\ufffd",$META}}}}',
    )


# Limits -----------------------------------------------------------------------------------------


@pytest.mark.parametrize("method", ["tools/list", "resources/subscribe", "ping"])
def test_more_requests_than_are_allowed_are_refused(method: str) -> None:
    play(
        JOINED_TO_RESOURCES,
        ONE,
        subscribe("2", "x:a") + watching(FIRST + 1, "x:a"),
        f'host > {{"id":3,"method":"{method}","params":{{"uri":"x:b"}}}}\n'
        + failed(
            "3",
            "Too many requests are open; the limit is 2",
            "too_many_requests",
            ',"limit":2',
        ),
        # Not so what is no request, and there is room again after an answer.
        cancel("9"),
        watched(FIRST + 1, "x:a") + ok("2"),
        request("3", FIRST + 2, "tools/list"),
        settings=Settings(most_open=2),
    )


def test_a_child_that_takes_nothing_gets_no_requests_but_cancellations() -> None:
    conversation = play(ASKED_JOINED, call("1", FIRST), call("2", FIRST + 1))
    conversation.joint.child_stalled(1, True)
    conversation.play(
        'host > {"id":3,"method":"tools/list"}\n'
        + failed("3", "The server takes nothing of what it is sent", "child_unresponsive")
        + 'host > {"method":"notifications/com.example.x"}\n'
        + cancel("2")
        + f'child < {{"method":"notifications/cancelled","params":{{"requestId":{FIRST + 1}}}}}\n'
        + done(FIRST, "1")
    )
    conversation.joint.child_stalled(1, False)
    conversation.play(request("3", FIRST + 2, "tools/list", envelope="$FULL"))


# The end ----------------------------------------------------------------------------------------

CHILD_GONE = failed(
    "%s",
    "The server exited with code 3",
    "child_exited",
    ',"exitCode":3,"stderr":["last words"]',
)


def test_what_the_host_has_asked_for_is_still_answered_after_its_end() -> None:
    play(JOINED, ONE, TWO, "eof", TWO_DONE, done(FIRST, "1") + "finish 0")
    play(JOINED, "eof\nfinish 0")
    play(LIVE, "eof\nfinish 0")


def test_a_call_that_waits_for_the_host_is_no_work() -> None:
    asked_once = wants(FIRST, FORM) + asked("b-1", ELICIT)
    play(ASKED_JOINED, call("1", FIRST), asked_once, "eof\nfinish 0")
    play(ASKED_JOINED, call("1", FIRST), "eof", asked_once + "finish 0")


def test_a_call_that_waits_for_the_child_is_made_again_after_the_end_of_the_host() -> None:
    play(
        ASKED_JOINED,
        call("1", FIRST),
        wants(FIRST, None),
        "eof",
        "after 0.05\n" + again(FIRST + 1, None),
        done(FIRST + 1, "1") + "finish 0",
    )


def test_nobody_waits_for_ever_after_the_end_of_the_host() -> None:
    play(
        JOINED,
        ONE,
        "eof",
        "after 20\n"
        + failed(
            "1",
            "The host has closed its end and the server has not answered in time",
            "child_unresponsive",
        )
        + "finish 0",
    )


def test_a_subscription_that_waits_is_work() -> None:
    play(A, "eof", watched(FIRST, "x:a") + ok("1") + "finish 0")


def test_all_that_a_child_leaves_behind_fails_with_it() -> None:
    conversation = play(
        ASKED_JOINED,
        call("1", FIRST),
        call("2", FIRST + 1),
        call("3", FIRST + 2),
        wants(FIRST + 1, FORM) + asked("b-1", ELICIT),
        wants(FIRST + 2, None),
        # One of them was answered before.
        call("4", FIRST + 3),
        done(FIRST + 3, "4"),
    )
    conversation.play(
        "ended 3\n"
        + withdrawn("b-1")
        + "".join(CHILD_GONE % id for id in ("1", "2", "3"))
        + "start 2\n"
        + f'child < {{"id":{FIRST + 4},"method":"server/discover","params":{{$FULL}}}}\n'
        # Nothing of it is made again.
        + answers("b-1", ACCEPTED)
        + "after 1\n"
    )


def test_a_stream_that_ends_and_an_update_that_comes_late_cross() -> None:
    play(LIVE, over(FIRST), updated("x:a", FIRST, passes=False))


@clause("C-46", "C-49")
def test_nothing_is_answered_from_memory() -> None:
    page = '"cursor":""'
    play(
        JOINED,
        request("1", FIRST, "tools/list", page),
        f'child > {{"id":{FIRST},"result":{{"resultType":"complete","tools":[],"nextCursor":"",'
        '"ttlMs":3600000,"cacheScope":"public"}}\n'
        'host  < {"id":1,"result":{"tools":[],"nextCursor":""}}',
        request("2", FIRST + 1, "tools/list", page),
    )
