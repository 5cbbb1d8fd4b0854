"""Subscriptions of a legacy host over the streams of a modern child: translation E.4."""

from collections.abc import Callable

import pytest

from conversation import play
from handshakes import FIRST, INITIALIZED, JOINED, cancelled, failed, opening, request
from mcp_era_bridge.settings import Settings
from watching import (
    ALL,
    BASE,
    FLAGS,
    JOINED_TO_RESOURCES,
    LIVE,
    RESOURCES,
    A,
    acknowledge,
    changed,
    left_out,
    listen,
    ok,
    over,
    over_too,
    refused,
    subscribe,
    told,
    unsubscribe,
    updated,
    watched,
    watching,
)

clause = pytest.mark.clause

# Lists ------------------------------------------------------------------------------------------


@clause("C-08", "C-33")
@pytest.mark.parametrize("id", [FIRST, f'"{FIRST}"'])
def test_lists_are_listened_to_once_the_host_is_ready_and_changes_lose_their_tag(
    id: int | str,
) -> None:
    play(
        BASE,
        acknowledge(id, ALL),
        *(changed(method, id) for method in FLAGS.values()),
        f"""
child > {{"method":"notifications/tools/list_changed","params":{{"x":[1.50],"_meta":{{"a/b":1,
        "io.modelcontextprotocol/subscriptionId":{id}}}}}}}
host  < {{"method":"notifications/tools/list_changed","params":{{"x":[1.50],"_meta":{{"a/b":1}}}}}}
""",
    )


@pytest.mark.parametrize(
    ("offers", "wanted"),
    [
        ('{"tools":{"listChanged":true},"prompts":{"listChanged":false}}', "toolsListChanged"),
        ('{"prompts":{"listChanged":true},"tools":{}}', "promptsListChanged"),
        ('{"resources":{"listChanged":true}}', "resourcesListChanged"),
    ],
)
def test_only_what_the_child_declares_is_listened_to(offers: str, wanted: str) -> None:
    play(opening(offers=offers), INITIALIZED + listen(FIRST, f'"{wanted}":true'))


@pytest.mark.parametrize("offers", ["{}", '{"tools":{},"logging":{}}', RESOURCES])
def test_a_child_that_declares_nothing_is_not_listened_to(offers: str) -> None:
    play(opening(offers=offers), INITIALIZED, "after 3600")


@clause("C-33")
@pytest.mark.parametrize("id", [FIRST + 1, '"s"', "null", "1.5", '"1e3"'])
def test_what_belongs_to_no_stream_of_ours_is_dropped(id: int | str) -> None:
    play(
        BASE,
        acknowledge(FIRST, ALL),
        changed(FLAGS["toolsListChanged"], id, passes=False),
        updated("x:a", id, passes=False),
        acknowledge(id, ALL),
        over(id) if id != "null" else "",
        over_too(id) if id != "null" else "",
        changed(FLAGS["toolsListChanged"], FIRST),
    )


def test_what_has_no_tag_can_only_be_for_this_host() -> None:
    play(BASE, changed(FLAGS["toolsListChanged"], None), updated("x:a", None, passes=False))
    play(LIVE, updated("x:a", None), unsubscribe("2", "x:a") + cancelled(FIRST))


@pytest.mark.parametrize("end", [over, over_too])
def test_a_stream_that_the_child_ends_is_asked_for_again_ever_later(
    end: Callable[[int], str],
) -> None:
    conversation = play(BASE, acknowledge(FIRST, ALL))
    for number, wait in enumerate([1, 2, 4, 8, 16, 32, 60, 60]):
        id = FIRST + number
        conversation.play(
            end(id)
            + changed(FLAGS["toolsListChanged"], id, passes=False)
            + f"after {wait - 0.01}\nafter 0.01\n"
            + listen(id + 1, ALL)
            # Some changes may have been missed.
            + acknowledge(id + 1, ALL)
            + "".join(f'host < {{"method":"{method}"}}\n' for method in FLAGS.values())
        )
    # One that has lived is as good as the first.
    conversation.play("after 10\n" + end(FIRST + 8) + "after 1\n" + listen(FIRST + 9, ALL))


@clause("C-32", "C-34")
def test_after_a_gap_the_host_hears_of_the_lists_that_are_listened_to() -> None:
    play(
        BASE,
        acknowledge(FIRST, '"toolsListChanged":true'),
        over(FIRST),
        "after 1\n" + listen(FIRST + 1, ALL),
        acknowledge(FIRST + 1, '"promptsListChanged":true,"toolsListChanged":false')
        + f'host < {{"method":"{FLAGS["promptsListChanged"]}"}}',
    )


@pytest.mark.parametrize("code", [-32601, -32602, -32603, -32021])
def test_a_child_that_has_no_streams_is_not_asked_again(code: int) -> None:
    play(BASE, refused(FIRST, f'{{"code":{code},"message":"m"}}'), "after 3600")


# Single resources -------------------------------------------------------------------------------


@clause("C-33")
@pytest.mark.parametrize("id", [FIRST, f'"{FIRST}"'])
def test_a_subscription_is_answered_once_it_is_acknowledged(id: int | str) -> None:
    play(
        A,
        watched(id, "x:a") + ok("1"),
        updated("x:a", id),
        subscribe("2", "x:a") + ok("2"),
        unsubscribe("3", "x:a") + cancelled(FIRST),
        updated("x:a", id, passes=False),
        unsubscribe("4", "x:a"),
    )


def test_what_was_never_subscribed_to_is_unsubscribed_from_all_the_same() -> None:
    play(JOINED_TO_RESOURCES, unsubscribe('"u"', "x:a"))


@pytest.mark.parametrize("method", ["resources/subscribe", "resources/unsubscribe"])
@pytest.mark.parametrize("params", ["{}", '{"uri":7}', '{"uri":null}'])
def test_a_uri_that_is_none_is_refused(method: str, params: str) -> None:
    play(
        JOINED,
        f'host > {{"id":1,"method":"{method}","params":{params}}}\n'
        'host < {"id":1,"error":{"code":-32602,"message":"Invalid params: uri",'
        '"data":{"member":"uri"}}}',
    )


@clause("C-32")
def test_a_resource_that_is_not_acknowledged_is_refused() -> None:
    play(A, watched(FIRST) + left_out("1", "x:a") + cancelled(FIRST), "after 3600")
    play(
        LIVE,
        subscribe("2", "x:b") + watching(FIRST + 1, "x:a", "x:b"),
        watched(FIRST + 1, "x:a") + cancelled(FIRST) + left_out("2", "x:b"),
        updated("x:a", FIRST + 1),
    )


@pytest.mark.parametrize(
    "error",
    ['{"code":-32601,"message":"no streams"}', '{"code":-32000,"message":"m","data":[1.50]}'],
)
def test_the_host_gets_the_childs_own_error(error: str) -> None:
    play(
        A,
        subscribe("2", "x:a"),
        refused(FIRST, error)
        + f'host < {{"id":1,"error":{error}}}\nhost < {{"id":2,"error":{error}}}',
        subscribe("3", "x:a") + watching(FIRST + 1, "x:a"),
        watched(FIRST + 1, "x:a") + ok("3"),
    )


SILENT = "The server has not acknowledged the subscription within 10 s"


@clause("C-24")
def test_a_child_that_does_not_acknowledge_is_not_waited_for() -> None:
    play(
        A,
        "after 9.9\nafter 0.1\n" + cancelled(FIRST) + failed("1", SILENT, "subscription_timeout"),
        watched(FIRST, "x:a"),
        updated("x:a", FIRST, passes=False),
        subscribe("1", "x:a") + watching(FIRST + 1, "x:a"),
    )


def test_a_second_resource_opens_a_stream_before_the_first_is_closed() -> None:
    play(
        LIVE,
        subscribe("2", "x:b") + watching(FIRST + 1, "x:a", "x:b"),
        updated("x:a", FIRST),
        watched(FIRST + 1, "x:a", "x:b") + cancelled(FIRST) + ok("2"),
        # What the first one had still to say has been said by the second.
        updated("x:a", FIRST, passes=False) + updated("x:a", FIRST + 1) + updated("x:b", FIRST + 1),
        over(FIRST),
        unsubscribe("3", "x:a") + watching(FIRST + 2, "x:b"),
        updated("x:a", FIRST + 1, passes=False) + updated("x:b", FIRST + 1),
        watched(FIRST + 2, "x:b") + cancelled(FIRST + 1),
        updated("x:b", FIRST + 2),
        unsubscribe("4", "x:b") + cancelled(FIRST + 2),
    )


def test_changes_of_the_set_are_gathered_while_one_is_under_way() -> None:
    play(
        A,
        subscribe("2", "x:b"),
        subscribe("3", "x:c"),
        subscribe("4", "x:b"),
        unsubscribe("5", "x:c").replace(ok("5"), ok("3", "5")),
        watched(FIRST, "x:a") + ok("1") + watching(FIRST + 1, "x:a", "x:b"),
        watched(FIRST + 1, "x:a", "x:b") + cancelled(FIRST) + ok("2", "4"),
    )


def test_a_subscription_that_is_taken_back_before_its_acknowledgement_has_come_about() -> None:
    play(
        A,
        unsubscribe("2", "x:a").replace(ok("2"), ok("1", "2")),
        updated("x:a", FIRST, passes=False),
        watched(FIRST, "x:a") + cancelled(FIRST),
        subscribe("3", "x:a") + watching(FIRST + 1, "x:a"),
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


def test_and_may_be_made_anew_before_that() -> None:
    play(
        A,
        unsubscribe("2", "x:a").replace(ok("2"), ok("1", "2")),
        subscribe("3", "x:a"),
        watched(FIRST, "x:a") + ok("3"),
        updated("x:a", FIRST),
    )


@clause("C-20")
def test_a_cancelled_subscription_is_not_answered() -> None:
    gone = 'host > {"method":"notifications/cancelled","params":{"requestId":%s}}\n'
    play(
        A,
        gone % "1",
        watched(FIRST, "x:a") + cancelled(FIRST),
        subscribe("1", "x:b") + watching(FIRST + 1, "x:b"),
    )
    play(A, subscribe("2", "x:a"), gone % "1", watched(FIRST, "x:a") + ok("2"))


def test_a_resource_that_is_no_more_wanted_when_the_change_is_refused_is_dropped() -> None:
    play(
        LIVE,
        subscribe("2", "x:b") + watching(FIRST + 1, "x:a", "x:b"),
        unsubscribe("3", "x:a"),
        refused(FIRST + 1, '{"code":-32603,"message":"m"}')
        + 'host < {"id":2,"error":{"code":-32603,"message":"m"}}\n'
        + cancelled(FIRST),
        updated("x:a", FIRST, passes=False),
    )


def test_a_change_that_is_refused_leaves_the_rest_as_it_was() -> None:
    play(
        LIVE,
        subscribe("2", "x:b") + watching(FIRST + 1, "x:a", "x:b"),
        refused(FIRST + 1, '{"code":-32602,"message":"m"}')
        + 'host < {"id":2,"error":{"code":-32602,"message":"m"}}',
        updated("x:a", FIRST),
        "after 3600",
    )


@pytest.mark.parametrize("end", [over, over_too])
def test_the_stream_of_resources_is_asked_for_again_and_a_change_may_have_been_missed(
    end: Callable[[int], str],
) -> None:
    conversation = play(LIVE)
    for number, wait in enumerate([1, 2, 4, 8, 16, 32, 60, 60]):
        id = FIRST + number
        conversation.play(
            end(id)
            + f"after {wait - 0.01}\nafter 0.01\n"
            + watching(id + 1, "x:a")
            + watched(id + 1, "x:a")
            + told("x:a")
        )
    conversation.play("after 10\n" + end(FIRST + 8) + "after 1\n" + watching(FIRST + 9, "x:a"))


def test_a_stream_is_not_lost_when_the_child_cannot_open_it_again_at_once() -> None:
    play(
        LIVE,
        over(FIRST),
        "after 1\n" + watching(FIRST + 1, "x:a"),
        refused(FIRST + 1, '{"code":-32603,"message":"not now"}'),
        "after 2\n" + watching(FIRST + 2, "x:a"),
        "after 10\n" + cancelled(FIRST + 2),
        "after 4\n" + watching(FIRST + 3, "x:a"),
        watched(FIRST + 3, "x:a") + told("x:a"),
    )


def test_who_subscribes_in_between_does_not_wait_for_the_back_off() -> None:
    play(
        LIVE,
        over(FIRST),
        subscribe("2", "x:b") + watching(FIRST + 1, "x:a", "x:b"),
        watched(FIRST + 1, "x:a", "x:b") + told("x:a") + ok("2"),
    )
    # Nor is what was there before lost with what is refused.
    play(
        LIVE,
        over(FIRST),
        subscribe("2", "x:b") + watching(FIRST + 1, "x:a", "x:b"),
        refused(FIRST + 1, '{"code":-32602,"message":"m"}')
        + 'host < {"id":2,"error":{"code":-32602,"message":"m"}}\n'
        + watching(FIRST + 2, "x:a"),
        watched(FIRST + 2, "x:a") + told("x:a"),
    )


def test_who_unsubscribes_in_between_is_not_listened_for() -> None:
    play(LIVE, over(FIRST), unsubscribe("2", "x:a"), "after 3600")


@pytest.mark.parametrize("end", [over, over_too])
def test_a_stream_that_ends_before_it_is_acknowledged_is_no_subscription(
    end: Callable[[int], str],
) -> None:
    play(
        A,
        end(FIRST)
        + failed("1", "The server has ended the subscription at once", "subscription_ended"),
        "after 3600",
        subscribe("2", "x:a") + watching(FIRST + 1, "x:a"),
    )


def test_a_stream_that_ends_while_its_successor_is_opened_may_have_missed_something() -> None:
    play(
        LIVE,
        subscribe("2", "x:b") + watching(FIRST + 1, "x:a", "x:b"),
        over(FIRST),
        watched(FIRST + 1, "x:a", "x:b") + told("x:a") + ok("2"),
    )


def test_more_resources_than_are_allowed_are_refused() -> None:
    play(
        LIVE,
        subscribe("2", "x:b")
        + failed(
            "2",
            "Too many resources are subscribed to; the limit is 1",
            "too_many_uris",
            ',"limit":1',
        ),
        unsubscribe("3", "x:a") + cancelled(FIRST),
        subscribe("4", "x:b") + watching(FIRST + 1, "x:b"),
        settings=Settings(most_uris=1),
    )


def test_streams_ask_for_no_log_messages() -> None:
    play(
        JOINED_TO_RESOURCES,
        """
host  > {"id":"l","method":"logging/setLevel","params":{"level":"debug"}}
host  < {"id":"l","result":{}}
""",
        subscribe("1", "x:a") + watching(FIRST, "x:a"),
    )
