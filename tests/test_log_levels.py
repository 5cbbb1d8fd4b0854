"""Log levels of a legacy child: translation I, design D8."""

import pytest

from asking import ACCEPTED, ELICIT, answered, asks, done, gathered, retry
from conversation import EVERYTHING, meta, opened, play
from mcp_era_bridge.settings import Settings
from mcp_era_wire.levels import LOG_LEVELS

clause = pytest.mark.clause

LOGS = opened(offers='{"logging":{},"tools":{}}')
MUTE = opened()


def level(name: str) -> str:
    """The member of `_meta` that asks for messages."""
    return f'"io.modelcontextprotocol/logLevel":"{name}"'


def request(
    id: str, wanted: str | None, method: str = "tools/call", params: str = '"name":"t",'
) -> str:
    """A request of the host that wants messages of the level `wanted`, or none."""
    more = level(wanted) if wanted else ""
    return (
        f'host  > {{"id":{id},"method":"{method}","params":{{{params}{meta(EVERYTHING, more)}}}}}\n'
    )


def sent(child_id: int) -> str:
    """It reaches the child."""
    return f'child < {{"id":{child_id},"method":"tools/call","params":{{"name":"t"}}}}\n'


def set_level(child_id: int, name: str) -> str:
    """The child is told."""
    return (
        f'child < {{"id":{child_id},"method":"logging/setLevel","params":{{"level":"{name}"}}}}\n'
    )


def is_set(child_id: int) -> str:
    """And says that it has heard."""
    return f'child > {{"id":{child_id},"result":{{}}}}\n'


def message(name: str, passes: bool) -> str:
    """The child logs."""
    note = (
        '{"method":"notifications/message","params":{"level":"' + name + '","logger":"db",'
        '"data":{"n":1.50},"_meta":{"k":1}}}'
    )
    return f"child > {note}\n" + (f"host  < {note}\n" if passes else "")


INFO = LOGS + request("1", "info") + set_level(1, "info") + is_set(1) + sent(2)
"""A request that wants messages from `info` on is under way."""


@clause("S-117", "S-118")
@pytest.mark.parametrize("name", LOG_LEVELS)
def test_messages_pass_from_the_level_on_that_was_asked_for(name: str) -> None:
    passes = LOG_LEVELS.index(name) >= LOG_LEVELS.index("info")
    play(INFO, message(name, passes), done(2, "1"))


@clause("S-117")
@pytest.mark.parametrize("opening", [LOGS, MUTE])
def test_no_message_passes_if_nobody_asked(opening: str) -> None:
    play(opening, request("1", None) + sent(1), message("emergency", False), done(1, "1"))


@clause("S-117", "S-118")
def test_no_message_passes_once_the_request_is_over() -> None:
    play(INFO, done(2, "1"), message("emergency", False), request("2", None) + sent(3))


def test_none_passes_for_a_cancelled_request() -> None:
    play(
        INFO,
        'host  > {"method":"notifications/cancelled","params":{"requestId":1}}\n'
        'child < {"method":"notifications/cancelled","params":{"requestId":2}}\n',
        message("emergency", False),
    )


@pytest.mark.parametrize(
    "params", ["", ',"params":{}', ',"params":{"level":"loud","data":1}', ',"params":[]']
)
def test_a_message_without_a_level_of_ours_is_dropped(params: str) -> None:
    play(INFO, f'child > {{"method":"notifications/message"{params}}}', done(2, "1"))


@clause("S-116")
def test_a_child_that_has_not_declared_logging_is_told_no_level_and_heard_all_the_same() -> None:
    play(
        MUTE,
        request("1", "warning") + sent(1),
        message("warning", True),
        message("info", False),
        done(1, "1"),
    )


# What the child is told -------------------------------------------------------------------------


def test_a_request_waits_until_the_child_has_heard() -> None:
    play(
        LOGS,
        request("1", "info") + set_level(1, "info"),
        # Others do not wait, whether they want messages or not.
        request("2", None) + sent(2),
        request("3", "error") + sent(3),
        is_set(1) + sent(4),
    )


@pytest.mark.parametrize("answer", ['"error":{"code":-32601,"message":"?"}', '"result":{}'])
@pytest.mark.parametrize("id", ["1", '"1"'])
def test_an_error_is_an_answer_too(id: str, answer: str) -> None:
    play(
        LOGS,
        request("1", "info") + set_level(1, "info"),
        f'child > {{"id":{id},{answer}}}\n' + sent(2),
        request("2", "info") + sent(3),
    )


def test_a_child_that_does_not_answer_is_waited_for_twice_and_a_second() -> None:
    play(
        LOGS,
        request("1", "info") + set_level(1, "info") + "after 0.99",
        "after 0.01\n" + sent(2),
        # An answer that comes late is nobody's.
        is_set(1),
        request("2", "debug") + set_level(3, "debug"),
        "after 1\n" + sent(4),
        done(2, "1") + done(4, "2"),
        "after 31",
        request("3", "error") + set_level(5, "error") + sent(6),
        request("4", "info") + set_level(7, "info") + sent(8),
    )


def test_an_answer_in_time_makes_good_for_a_silence() -> None:
    play(
        LOGS,
        request("1", "error") + set_level(1, "error") + "after 1\n" + sent(2),
        request("2", "warning") + set_level(3, "warning"),
        is_set(3) + sent(4),
        request("3", "info") + set_level(5, "info") + "after 1\n" + sent(6),
        request("4", "debug") + set_level(7, "debug") + "after 1\n" + sent(8),
    )


def test_what_needs_no_change_is_not_told_again() -> None:
    play(INFO, request("2", "info") + sent(3), request("3", "error") + sent(4))


def test_a_more_verbose_level_is_told_at_once() -> None:
    play(
        INFO,
        request("2", "debug") + set_level(3, "debug"),
        is_set(3) + sent(4),
        message("debug", True),
        done(4, "2"),
        message("debug", False),
        message("info", True),
    )


def test_a_less_verbose_one_when_nobody_has_wanted_the_present_one_for_a_while() -> None:
    play(
        INFO,
        done(2, "1"),
        "after 29",
        request("2", "error") + sent(3),
        "after 1",
        # It is not waited for.
        request("3", "error") + set_level(4, "error") + sent(5),
        request("4", "info") + set_level(6, "info"),
        is_set(6) + sent(7),
    )


def test_not_while_somebody_wants_the_present_one() -> None:
    play(INFO, "after 100", request("2", "error") + sent(3), message("info", True))


def test_nobody_is_told_a_less_verbose_level_because_time_goes_by() -> None:
    play(INFO, done(2, "1"), "after 1000")


def test_a_request_cancelled_while_it_waits_for_its_level_is_never_sent() -> None:
    play(
        LOGS,
        request("1", "info") + set_level(1, "info"),
        'host  > {"method":"notifications/cancelled","params":{"requestId":1}}',
        is_set(1),
        request("2", "info") + sent(2),
    )


@pytest.mark.parametrize(
    ("method", "params"),
    [("tools/list", ""), ("resources/read", '"uri":"x:y",'), ("com.example/do", '"a":1,')],
)
def test_every_request_may_want_messages(method: str, params: str) -> None:
    given = f',"params":{{{params.rstrip(",")}}}' if params else ""
    play(
        LOGS,
        request("1", "info", method, params) + set_level(1, "info"),
        is_set(1) + f'child < {{"id":2,"method":"{method}"{given}}}\n',
        message("info", True),
    )


# Calls that ask ---------------------------------------------------------------------------------


@clause("S-117")
def test_a_parked_call_hears_nothing_and_the_new_leg_what_it_wants() -> None:
    play(
        INFO,
        asks('"q"') + gathered("1", 1, ("q", ELICIT)),
        message("emergency", False),
        retry("2", 1, f'{{"q":{ACCEPTED}}}', more=level("debug"))
        + set_level(3, "debug")
        + answered('"q"', ACCEPTED),
        message("debug", True),
        is_set(3),
        asks('"r"') + gathered("2", 2, ("r", ELICIT)),
        retry("3", 2, f'{{"r":{ACCEPTED}}}') + answered('"r"', ACCEPTED),
        message("emergency", False),
        done(2, "3"),
        request("4", "info") + sent(4),
    )


def test_the_levels_of_calls_that_end_in_any_way_are_forgotten() -> None:
    play(
        INFO,
        asks('"q"') + gathered("1", 1, ("q", ELICIT)),
        "after 600\n"
        + answered('"q"', '{"action":"cancel"}')
        + 'child < {"method":"notifications/cancelled","params":{"requestId":2,'
        + '"reason":"The host has not answered the questions in time"}}',
        message("emergency", False),
    )


# --strict-logs ----------------------------------------------------------------------------------

STRICT = Settings(strict_logs=True)


@clause("S-117")
def test_strictly_every_request_under_way_must_have_asked() -> None:
    play(
        INFO,
        message("info", True),
        request("2", None) + sent(3),
        message("emergency", False),
        done(3, "2"),
        request("3", "error") + sent(4),
        message("warning", False),
        message("error", True),
        settings=STRICT,
    )


def test_a_parked_call_is_not_under_way() -> None:
    play(
        LOGS,
        request("1", None) + sent(1),
        asks('"q"') + gathered("1", 1, ("q", ELICIT)),
        request("2", "info") + set_level(2, "info") + is_set(2) + sent(3),
        message("info", True),
        settings=STRICT,
    )


def test_otherwise_one_that_asked_is_enough() -> None:
    play(INFO, request("2", None) + sent(3), message("info", True))
