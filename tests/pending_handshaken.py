"""Tables that wait for a change elsewhere; pytest does not collect them by itself."""

from conversation import play
from handshakes import FIRST
from test_handshaken_batches import OLD, answer, asks, got, host_gets, host_sends, to_child
from watching import LIVE, watching


def test_a_modern_request_with_an_id_that_is_open_in_a_batch_is_refused_at_once() -> None:
    play(
        OLD,
        host_sends(asks("1")) + to_child(FIRST),
        'host > {"id":1,"method":"tools/list","params":{$META}}\n'
        'host < {"id":1,"error":{"code":-32600,"message":"A request with this id is still open"}}',
        answer(FIRST) + host_gets(got("1")),
    )


def test_a_broken_answer_to_a_stream_ends_it() -> None:
    broken = f'{{"jsonrpc":"2.0","id":{FIRST},"result":[[}}'
    play(LIVE, f"child ! {broken}\nnoise {broken}", "after 1\n" + watching(FIRST + 1, "x:a"))
