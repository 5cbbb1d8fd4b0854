"""A legacy host and a modern child: what is rare, and has its own rule. Translation E."""

import pytest

from asking import ACCEPTED, ELICIT
from conversation import meta, play
from handshakes import (
    ASKABLE,
    ASKED_JOINED,
    FIRST,
    INITIALIZED,
    again,
    answers,
    asked,
    call,
    failed,
    opening,
)
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


def test_members_that_are_null_are_not_there() -> None:
    ask = f'"inputRequests":{{"k":{{{ELICIT}}}}},"requestState":null'
    play(
        ASKED_JOINED,
        call("1", FIRST),
        f'child > {{"id":{FIRST},"result":{{"resultType":"input_required",{ask}}}}}\n'
        + asked("b-1", ELICIT),
        answers("b-1", ACCEPTED) + again(FIRST + 1, f'"k":{ACCEPTED}', None),
    )
    play(
        ASKED_JOINED,
        call("1", FIRST),
        f'child > {{"id":{FIRST},"result":{{"resultType":"input_required",'
        '"inputRequests":null,"requestState":"s"}}',
        "after 0.05\n" + again(FIRST + 1, None),
    )


@pytest.mark.parametrize("method", ["elicitation/create", "sampling/createMessage"])
def test_a_question_without_params_ends_the_call(method: str) -> None:
    play(
        ASKED_JOINED,
        call("1", FIRST),
        f'child > {{"id":{FIRST},"result":{{"resultType":"input_required","inputRequests":{{'
        f'"k":{{"method":"{method}"}}}}}}}}\n'
        + failed("1", f"The server's {method} has no params", "invalid_result"),
    )


@pytest.mark.parametrize(
    ("version", "content", "heard"),
    [
        (
            "2024-11-05",
            '{"type":"audio","data":"AA==","mimeType":"audio/wav"}',
            '{"type":"text","text":"[audio: audio/wav]"}',
        ),
        ("2025-03-26", '{"type":"text","text":"a","_meta":{"n":1}}', '{"type":"text","text":"a"}'),
    ],
)
def test_a_message_to_sample_is_fitted_to_the_revision_of_the_host(
    version: str, content: str, heard: str
) -> None:
    params = '"params":{"messages":[{"role":"user","content":$C}],"maxTokens":1}'
    asks = f'"method":"sampling/createMessage",{params.replace("$C", content)}'
    told = '{"roots":{},"sampling":{"context":{},"tools":{}},"elicitation":{}}'
    capabilities = ASKABLE.replace('{"form":{},"url":{}}', "{}")
    play(
        opening(capabilities, version=version, told=told) + INITIALIZED,
        'host > {"id":1,"method":"prompts/get","params":{"name":"p"}}\n'
        f'child < {{"id":{FIRST},"method":"prompts/get","params":{{"name":"p",{meta(told)}}}}}',
        f'child > {{"id":{FIRST},"result":{{"resultType":"input_required","inputRequests":{{'
        f'"k":{{{asks}}}}}}}}}\n'
        f'host < {{"id":"b-1","method":"sampling/createMessage",{params.replace("$C", heard)}}}',
    )


def test_an_error_without_an_id_is_for_the_only_call_that_is_open() -> None:
    error = '"error":{"code":-32600,"message":"what?"}'
    one = ASKED_JOINED + call("1", FIRST)
    play(one, f'child > {{{error}}}\nhost < {{"id":1,{error}}}')
    play(one, f'child > {{"id":null,{error}}}\nhost < {{"id":1,{error}}}')
    # Of several it could be any.
    play(one, call("2", FIRST + 1), f"child > {{{error}}}")
