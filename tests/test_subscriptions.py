"""`subscriptions/listen` over a legacy child: translation H, design D9."""

import json

import pytest

from asking import call, done
from conversation import EVERYTHING, FIRST_ID, opened, play
from mcp_era_bridge.settings import Settings

clause = pytest.mark.clause

ALL = (
    '{"tools":{"listChanged":true},"prompts":{"listChanged":true},'
    '"resources":{"listChanged":true,"subscribe":true}}'
)
OPENED = opened(offers=ALL)
FLAGS = {
    "toolsListChanged": "notifications/tools/list_changed",
    "promptsListChanged": "notifications/prompts/list_changed",
    "resourcesListChanged": "notifications/resources/list_changed",
}
TOOLS = '{"toolsListChanged":true}'
A, B = '{"resourceSubscriptions":["x:a"]}', '{"resourceSubscriptions":["x:b"]}'


def tag(id: str, more: str = "") -> str:
    """The `_meta` of what belongs to the stream `id`."""
    return f'"_meta":{{"io.modelcontextprotocol/subscriptionId":{id}{more}}}'


def listen(id: str, wanted: str) -> str:
    """The host opens a stream."""
    return (
        f'host  > {{"id":{id},"method":"subscriptions/listen",'
        f'"params":{{"notifications":{wanted},$FULL}}}}\n'
    )


def acknowledged(id: str, honoured: str) -> str:
    """It is open."""
    return (
        'host  < {"method":"notifications/subscriptions/acknowledged",'
        f'"params":{{"notifications":{honoured},{tag(id)}}}}}\n'
    )


def subscribe(child_id: int, uri: str) -> str:
    """The child is to watch a resource."""
    return (
        f'child < {{"id":{child_id},"method":"resources/subscribe","params":{{"uri":"{uri}"}}}}\n'
    )


def unsubscribe(child_id: int, uri: str) -> str:
    """Or not any more."""
    return subscribe(child_id, uri).replace("resources/subscribe", "resources/unsubscribe")


def ok(child_id: int) -> str:
    """The child says yes."""
    return f'child > {{"id":{child_id},"result":{{}}}}\n'


def no(child_id: int) -> str:
    """The child says no."""
    return f'child > {{"id":{child_id},"error":{{"code":-32002,"message":"no such thing"}}}}\n'


def updated(uri: str, *ids: str) -> str:
    """A resource changes, and the streams hear of it."""
    line = 'child > {"method":"notifications/resources/updated","params":{"uri":"' + uri + '"}}\n'
    for id in ids:
        line += (
            'host  < {"method":"notifications/resources/updated",'
            f'"params":{{"uri":"{uri}",{tag(id)}}}}}\n'
        )
    return line


def changed(method: str, *ids: str) -> str:
    """A list changes, and the streams hear of it."""
    line = f'child > {{"method":"{method}"}}\n'
    for id in ids:
        line += f'host  < {{"method":"{method}","params":{{{tag(id)}}}}}\n'
    return line


def cancel(id: str) -> str:
    """The host does not want a stream any more."""
    return f'host  > {{"method":"notifications/cancelled","params":{{"requestId":{id}}}}}\n'


def ended(id: str, why: str) -> str:
    """A stream is ended from our side."""
    identity = ',"io.modelcontextprotocol/serverInfo":{"name":"old","version":"1"}'
    return (
        f'host  < {{"id":{id},"result":{{"resultType":"complete",{tag(id, identity)}}}}}\n'
        f'host  < {{"method":"notifications/cancelled",'
        f'"params":{{"requestId":{id},"reason":"{why}"}}}}\n'
    )


LIVE = OPENED + listen('"s"', A) + subscribe(1, "x:a") + ok(1) + acknowledged('"s"', A)
"""One stream that watches one resource."""


# Opening ----------------------------------------------------------------------------------------


@clause("S-41", "S-76", "S-88", "S-99", "S-105", "S-77")
@pytest.mark.parametrize("flag", FLAGS)
@pytest.mark.parametrize("id", ['"s"', "7", '"7"', "0"])
def test_a_stream_gets_what_it_asked_for_and_nothing_else(flag: str, id: str) -> None:
    asked = f'{{"{flag}":true}}'
    play(
        OPENED,
        listen(id, asked) + acknowledged(id, asked),
        *(changed(method, *([id] if name == flag else [])) for name, method in FLAGS.items()),
        updated("x:a"),
    )


@clause("S-76")
@pytest.mark.parametrize(
    ("offers", "honoured"),
    [
        ("{}", "{}"),
        ('{"tools":{},"prompts":{"listChanged":false},"resources":{}}', "{}"),
        ('{"tools":{"listChanged":true},"resources":{"listChanged":true}}', TOOLS),
        ('{"prompts":{"listChanged":true}}', "{}"),
    ],
)
def test_what_the_child_does_not_offer_is_left_out_of_the_acknowledgement(
    offers: str, honoured: str
) -> None:
    asked = '{"toolsListChanged":true,"promptsListChanged":false,"resourceSubscriptions":["x:a"]}'
    play(opened(offers=offers), listen("1", asked) + acknowledged("1", honoured))


@pytest.mark.parametrize(
    "wanted",
    [
        "[]",
        "null",
        "7",
        '{"toolsListChanged":1}',
        '{"resourceSubscriptions":"x:a"}',
        '{"resourceSubscriptions":[1]}',
        '{"resourceSubscriptions":null}',
    ],
)
def test_a_malformed_filter_is_refused_and_opens_nothing(wanted: str) -> None:
    play(
        OPENED,
        listen("1", wanted)
        + 'host  < {"id":1,"error":{"code":-32602,"message":"Invalid params: notifications",'
        + '"data":{"member":"notifications"}}}',
        changed(FLAGS["toolsListChanged"]),
        listen("1", TOOLS) + acknowledged("1", TOOLS),
    )


def test_so_is_none_at_all() -> None:
    play(
        OPENED,
        'host  > {"id":1,"method":"subscriptions/listen","params":{$FULL}}\n'
        'host  < {"id":1,"error":{"code":-32602,"message":"Invalid params: notifications",'
        '"data":{"member":"notifications"}}}',
    )


def test_what_we_do_not_know_in_a_filter_is_not_honoured() -> None:
    play(OPENED, listen("1", '{"taskIds":["t"],"later":7}') + acknowledged("1", "{}"))


@clause("S-77")
def test_the_acknowledgement_waits_for_every_resource_and_comes_first() -> None:
    both = '{"toolsListChanged":true,"resourceSubscriptions":["x:a","x:b"]}'
    tools = FLAGS["toolsListChanged"]
    play(
        OPENED,
        listen("1", both) + subscribe(1, "x:a") + subscribe(2, "x:b"),
        ok(2),
        # Changes before it wait, each once.
        changed(tools) + changed(tools) + updated("x:b") + updated("x:b"),
        ok(1)
        + acknowledged("1", both)
        + f'host  < {{"method":"{tools}","params":{{{tag("1")}}}}}\n'
        + 'host  < {"method":"notifications/resources/updated",'
        + f'"params":{{"uri":"x:b",{tag("1")}}}}}\n',
        updated("x:a", "1"),
    )


@pytest.mark.parametrize("answer", [no(1), "after 10\n"])
def test_a_resource_that_the_child_does_not_watch_is_left_out(answer: str) -> None:
    both = '{"resourceSubscriptions":["x:a","x:b"]}'
    play(
        OPENED,
        listen("1", both) + subscribe(1, "x:a") + subscribe(2, "x:b"),
        ok(2),
        answer + acknowledged("1", B),
        updated("x:b", "1"),
    )


def test_a_resource_twice_in_a_filter_counts_once() -> None:
    play(
        OPENED,
        listen("1", '{"resourceSubscriptions":["x:a","x:a"]}') + subscribe(1, "x:a"),
        ok(1) + acknowledged("1", A),
        updated("x:a", "1"),
        cancel("1") + unsubscribe(2, "x:a"),
    )


def test_no_more_streams_are_open_than_may_be() -> None:
    conversation = play(OPENED, settings=Settings(most_streams=3))
    for number in range(3):
        conversation.play(listen(str(number), "{}") + acknowledged(str(number), "{}"))
    refused = (
        'host  < {"id":"x","error":{"code":-32603,'
        '"message":"Too many streams are open; the limit is 3",'
        '"data":{"source":"mcp-bridge","reason":"too_many_streams","limit":3}}}'
    )
    conversation.play(listen('"x"', "{}") + refused)
    conversation.play(cancel("2") + listen('"x"', "{}") + acknowledged('"x"', "{}"))


def test_no_more_resources_are_watched_than_may_be() -> None:
    uris = [f"x:{number}" for number in range(3)]
    conversation = play(OPENED, settings=Settings(most_uris=3))
    conversation.play(
        listen("1", json.dumps({"resourceSubscriptions": [*uris, "x:more"]}))
        + "".join(subscribe(number, uri) for number, uri in enumerate(uris, 1))
    )
    conversation.play(listen("2", '{"resourceSubscriptions":["x:more"]}') + acknowledged("2", "{}"))


def test_a_stream_is_a_request_whose_id_is_taken() -> None:
    play(
        LIVE,
        'host  > {"id":"s","method":"tools/list","params":{$FULL}}\n'
        'host  < {"id":"s","error":{"code":-32600,'
        '"message":"A request with this id is still open"}}',
    )


# Changes ----------------------------------------------------------------------------------------


@clause("S-41", "S-19")
def test_everything_in_a_notification_passes_and_the_tag_goes_beside_it() -> None:
    play(
        LIVE,
        'child > {"method":"notifications/resources/updated","params":{"uri":"x:a","n":1.50,'
        '"_meta":{"k":{"a":[1]},"io.modelcontextprotocol/subscriptionId":"other"}}}\n'
        'host  < {"method":"notifications/resources/updated","params":{"uri":"x:a","n":1.50,'
        '"_meta":{"k":{"a":[1]},"io.modelcontextprotocol/subscriptionId":"s"}}}',
        'child > {"method":"notifications/resources/updated"}',
        'child > {"method":"notifications/resources/updated","params":{"uri":7}}',
    )


def test_every_stream_gets_its_own_copy() -> None:
    play(
        LIVE,
        listen("2", A) + acknowledged("2", A),
        listen("3", B) + subscribe(2, "x:b") + ok(2) + acknowledged("3", B),
        updated("x:a", '"s"', "2"),
        updated("x:b", "3"),
    )


@pytest.mark.parametrize(
    ("held", "uri", "hears"),
    [
        ("file:///a", "file:///a/b.txt", True),
        ("file:///a/", "file:///a/b.txt", True),
        ("file:///a", "file:///ab.txt", False),
        ("file:///a/b", "file:///a", False),
    ],
)
def test_a_part_of_a_resource_is_the_business_of_whoever_holds_that(
    held: str, uri: str, hears: bool
) -> None:
    wanted = f'{{"resourceSubscriptions":["{held}"]}}'
    play(
        OPENED,
        listen("1", wanted) + subscribe(1, held) + ok(1) + acknowledged("1", wanted),
        listen("2", B) + subscribe(2, "x:b") + ok(2) + acknowledged("2", B),
        updated(uri, *(["1"] if hears else [])),
    )


def test_what_nobody_holds_goes_to_the_only_one_that_holds_anything() -> None:
    play(
        LIVE,
        listen("2", TOOLS) + acknowledged("2", TOOLS),
        updated("y:z", '"s"'),
        listen("3", A) + acknowledged("3", A),
        updated("y:z"),
    )


def test_a_storm_arrives_whole_and_in_order() -> None:
    conversation = play(OPENED)
    for number in range(100):
        conversation.play(
            listen(str(number), A)
            + (subscribe(1, "x:a") + ok(1) if not number else "")
            + acknowledged(str(number), A)
        )
    out = conversation.joint.out
    line = b'{"jsonrpc":"2.0","method":"notifications/resources/updated","params":{"uri":"x:a"}}'
    conversation.joint.from_child(1, [line] * 1000, True, conversation.now)
    heard = b"".join(out.to_host).splitlines()
    assert len(heard) == 100_000
    ids = [
        json.loads(each)["params"]["_meta"]["io.modelcontextprotocol/subscriptionId"]
        for each in heard[:300]
    ]
    assert ids == list(range(100)) * 3


# Counting ---------------------------------------------------------------------------------------


def test_the_child_hears_of_a_resource_once_and_of_its_end_once() -> None:
    play(
        LIVE,
        listen("2", A) + acknowledged("2", A),
        cancel('"s"'),
        updated("x:a", "2"),
        cancel("2") + unsubscribe(2, "x:a"),
        updated("x:a"),
        ok(2),
        listen("3", A) + subscribe(3, "x:a"),
    )


def test_two_streams_that_open_together_share_a_subscription() -> None:
    play(
        OPENED,
        listen("1", A) + subscribe(1, "x:a"),
        listen("2", A),
        ok(1) + acknowledged("1", A) + acknowledged("2", A),
    )


def test_and_are_both_told_if_it_fails() -> None:
    play(
        OPENED,
        listen("1", A) + subscribe(1, "x:a"),
        listen("2", A),
        no(1) + acknowledged("1", "{}") + acknowledged("2", "{}"),
        # Nothing is left of it.
        listen("3", A) + subscribe(2, "x:a"),
        ok(2) + acknowledged("3", A),
    )


def test_operations_on_one_resource_follow_one_another() -> None:
    play(
        LIVE,
        cancel('"s"') + unsubscribe(2, "x:a"),
        listen("2", A),
        ok(2) + subscribe(3, "x:a"),
        ok(3) + acknowledged("2", A),
    )


@pytest.mark.parametrize("answer", [no(2), "after 10\n"])
def test_an_unsubscribe_that_fails_is_over_all_the_same(answer: str) -> None:
    play(
        LIVE,
        cancel('"s"') + unsubscribe(2, "x:a"),
        listen("2", A),
        answer + subscribe(3, "x:a"),
        ok(3) + acknowledged("2", A),
    )


@clause("S-51")
def test_a_stream_cancelled_while_it_opens_says_nothing_and_is_given_back() -> None:
    play(
        OPENED,
        listen("1", A) + subscribe(1, "x:a"),
        cancel("1"),
        ok(1) + unsubscribe(2, "x:a"),
        ok(2),
        listen("1", A) + subscribe(3, "x:a"),
    )


def test_a_subscription_that_comes_about_too_late_is_taken_back() -> None:
    play(
        OPENED,
        listen("1", A) + subscribe(1, "x:a"),
        "after 10\n" + acknowledged("1", "{}"),
        ok(1) + unsubscribe(2, "x:a"),
        ok(2),
        listen("2", A) + subscribe(3, "x:a"),
    )


def test_unless_somebody_wants_it_by_now() -> None:
    play(
        OPENED,
        listen("1", A) + subscribe(1, "x:a"),
        "after 10\n" + acknowledged("1", "{}"),
        listen("2", A) + subscribe(2, "x:a"),
        ok(1),
        ok(2) + acknowledged("2", A),
    )


# The end ----------------------------------------------------------------------------------------


@clause("S-54", "S-83", "S-51")
def test_a_cancelled_stream_is_silent() -> None:
    play(
        OPENED,
        listen("1", TOOLS) + acknowledged("1", TOOLS),
        cancel("1"),
        changed(FLAGS["toolsListChanged"]),
        cancel("1"),
        call("1", 1),
        done(1, "1"),
    )


@clause("S-48", "S-50", "S-78")
def test_when_the_bridge_ends_so_do_the_streams_in_good_order() -> None:
    play(
        LIVE,
        listen("2", TOOLS) + acknowledged("2", TOOLS),
        "eof\n"
        + ended('"s"', "The server is shut down")
        + ended("2", "The server is shut down")
        + "finish 0",
    )


def test_the_two_lines_of_an_end_are_one_piece() -> None:
    conversation = play(LIVE)
    conversation.joint.finish(0)
    (piece,) = conversation.joint.out.to_host
    assert bytes(piece).count(b"\n") == 2


def test_a_stream_that_opens_when_the_bridge_ends_is_acknowledged_first() -> None:
    play(
        OPENED,
        listen("1", '{"toolsListChanged":true,"resourceSubscriptions":["x:a"]}')
        + subscribe(1, "x:a"),
        "eof\n" + acknowledged("1", TOOLS) + ended("1", "The server is shut down") + "finish 0",
    )


# The end of the child ---------------------------------------------------------------------------


def again(offers: str = ALL, first: int = FIRST_ID + 2) -> str:
    """The child has ended, and is started and asked again though nobody wants anything."""
    declared = EVERYTHING.replace('"roots":{}', '"roots":{"listChanged":true}')
    return f"""
start 2
child < {{"id":{first},"method":"server/discover","params":{{$FULL}}}}
child > {{"id":{first},"error":{{"code":-32601,"message":"?"}}}}
child < {{"id":{first + 1},"method":"initialize","params":{{"protocolVersion":"2025-11-25",
        "capabilities":{declared},"clientInfo":{{"name":"host","version":"2"}}}}}}
child > {{"id":{first + 1},"result":{{"protocolVersion":"2025-11-25","capabilities":{offers},
        "serverInfo":{{"name":"old","version":"1"}}}}}}
child < {{"method":"notifications/initialized"}}
"""


def told(*lines: tuple[str, str]) -> str:
    """The streams hear that something may have changed."""
    return "".join(
        f'host  < {{"method":"{method}","params":{{{params}}}}}\n' for method, params in lines
    )


TOOLS_CHANGED = FLAGS["toolsListChanged"]
UPDATED = "notifications/resources/updated"


@clause("S-24")
def test_a_stream_outlives_its_child_and_is_told_that_all_may_have_changed() -> None:
    both = '{"toolsListChanged":true,"resourceSubscriptions":["x:a"]}'
    play(
        OPENED,
        listen('"s"', both) + subscribe(1, "x:a") + ok(1) + acknowledged('"s"', both),
        "ended 3",
        again().lstrip() + subscribe(1, "x:a"),
        ok(1) + told((TOOLS_CHANGED, tag('"s"')), (UPDATED, '"uri":"x:a",' + tag('"s"'))),
        updated("x:a", '"s"'),
        cancel('"s"') + unsubscribe(2, "x:a"),
    )


def test_one_for_lists_alone_is_there_again_at_once() -> None:
    play(
        OPENED,
        listen("1", TOOLS) + acknowledged("1", TOOLS),
        "ended 3",
        again().lstrip() + told((TOOLS_CHANGED, tag("1"))),
        changed(TOOLS_CHANGED, "1"),
    )


def test_one_that_was_opening_is_acknowledged_by_the_next_child() -> None:
    play(
        OPENED,
        listen("1", A) + subscribe(1, "x:a"),
        "ended 3",
        again().lstrip() + subscribe(1, "x:a"),
        ok(1) + acknowledged("1", A),
    )


@clause("S-48", "S-78")
@pytest.mark.parametrize("offers", ["{}", '{"tools":{},"resources":{"subscribe":true}}'])
def test_one_that_the_next_child_cannot_honour_is_ended(offers: str) -> None:
    why = "The server does not offer the same subscriptions any more"
    play(
        OPENED,
        listen("1", TOOLS) + acknowledged("1", TOOLS),
        "ended 3",
        again(offers).lstrip() + ended("1", why),
        call("1", 1),
    )


def test_so_is_one_whose_resource_it_does_not_watch() -> None:
    why = "The server does not offer the same subscriptions any more"
    play(LIVE, "ended 3", again().lstrip() + subscribe(1, "x:a"), no(1) + ended('"s"', why))


def test_a_stream_can_be_cancelled_while_there_is_no_child() -> None:
    play(
        LIVE,
        "ended 3\nstart 2\n"
        + f'child < {{"id":{FIRST_ID + 2},"method":"server/discover","params":{{$FULL}}}}',
        cancel('"s"'),
        again().split("\n", 3)[3],
    )


def test_one_that_opens_while_there_is_no_child_waits_for_it() -> None:
    play(
        OPENED,
        "ended 3",
        listen("1", TOOLS) + again().lstrip() + acknowledged("1", TOOLS),
    )


@clause("S-48")
def test_streams_are_ended_when_the_server_cannot_be_started_again() -> None:
    play(
        OPENED,
        listen("1", TOOLS) + acknowledged("1", TOOLS),
        "ended 3\nstart 2\n"
        + f'child < {{"id":{FIRST_ID + 2},"method":"server/discover","params":{{$FULL}}}}',
        "missing no such file\n" + ended("1", "The server could not be started: no such file"),
        "after 100",
    )


def test_calls_of_the_old_child_fail_and_streams_go_on() -> None:
    play(
        OPENED,
        listen("1", TOOLS) + acknowledged("1", TOOLS),
        call("2", 1),
        "ended 3\n"
        + 'host < {"id":2,"error":{"code":-32603,"message":"The server exited with code 3",'
        + '"data":{"source":"mcp-bridge","reason":"child_exited","exitCode":3,'
        + '"stderr":["last words"]}}}\n'
        + again().lstrip()
        + told((TOOLS_CHANGED, tag("1"))),
    )


@clause("S-48")
def test_a_filter_does_not_shrink_by_two_restarts_either() -> None:
    both = '{"toolsListChanged":true,"resourceSubscriptions":["x:a"]}'
    why = "The server does not offer the same subscriptions any more"
    less = '{"resources":{"subscribe":true}}'
    conversation = play(
        OPENED,
        listen("1", both) + subscribe(1, "x:a") + ok(1) + acknowledged("1", both),
        "ended 3",
        again(less).lstrip() + subscribe(1, "x:a"),
        f"""
ended 3
child < {{"id":{FIRST_ID + 4},"method":"server/discover","params":{{$FULL}}}}
after 0.5
start 3
""",
    )
    conversation.play(
        again(less, FIRST_ID + 4).split("\n", 3)[3]
        + subscribe(1, "x:a")
        + ok(1)
        + ended("1", why)
        + unsubscribe(2, "x:a")
    )


def test_the_id_of_a_stream_that_was_ended_is_free() -> None:
    play(
        OPENED,
        listen("1", TOOLS) + acknowledged("1", TOOLS),
        "ended 3\nstart 2\n"
        + f'child < {{"id":{FIRST_ID + 2},"method":"server/discover","params":{{$FULL}}}}',
        "missing no such file\n" + ended("1", "The server could not be started: no such file"),
        "eof\nfinish 0",
    )
