"""Answers as the negotiated revision has them: translation D.6."""

import pytest

from asking import (
    CREATE,
    ELICIT,
    LIST_ROOTS,
    SHOWN_ROOTS,
    answered,
    asks,
    call,
    done,
    gathered,
    retry,
)
from conversation import opened, play

clause = pytest.mark.clause

VERSIONS = ("2024-11-05", "2025-03-26", "2025-06-18", "2025-11-25")
TEXT = '{"type":"text","text":"hi","annotations":{"priority":0.50}}'


def given(version: str, question: str, answer: str, delivered: str) -> None:
    """The host gives `answer`, and the child of `version` gets the line `delivered`."""
    shown = SHOWN_ROOTS if question == LIST_ROOTS else question
    play(
        opened(version=version),
        call("1", 1),
        asks("7", question),
        gathered("1", 1, ("7", shown)),
        retry("2", 1, f'{{"7":{answer}}}') + delivered,
        done(1, "2"),
    )


def sampled(content: str) -> str:
    return f'{{"role":"assistant","content":{content},"model":"m","stopReason":"endTurn","x":[1]}}'


def error(message: str) -> str:
    return f'child < {{"id":7,"error":{{"code":-32603,"message":"{message}"}}}}\n'


@pytest.mark.parametrize("version", VERSIONS)
def test_a_single_block_passes_as_it_is(version: str) -> None:
    given(version, CREATE, sampled(TEXT), answered("7", sampled(TEXT)))


@pytest.mark.parametrize("version", VERSIONS)
def test_a_list_of_one_block_is_that_block_to_older_revisions(version: str) -> None:
    delivered = sampled(f"[{TEXT}]" if version == "2025-11-25" else TEXT)
    given(version, CREATE, sampled(f"[{TEXT}]"), answered("7", delivered))


@pytest.mark.parametrize("version", VERSIONS)
def test_several_texts_are_one_text_to_older_revisions(version: str) -> None:
    blocks = '[{"type":"text","text":"a"},{"type":"text","text":"b\\"c"}]'
    joined = '{"type":"text","text":"a\\n\\nb\\"c"}'
    delivered = sampled(blocks if version == "2025-11-25" else joined)
    given(version, CREATE, sampled(blocks), answered("7", delivered))


@pytest.mark.parametrize("version", VERSIONS)
@pytest.mark.parametrize(
    "blocks",
    [
        '[{"type":"text","text":"a"},{"type":"image","data":"","mimeType":"image/png"}]',
        '[{"type":"tool_use","id":"1","name":"t","input":{}},{"type":"text","text":"a"}]',
        "[]",
    ],
)
def test_other_lists_have_no_form_in_older_revisions(version: str, blocks: str) -> None:
    fits = version == "2025-11-25"
    unfit = "The client's model answered with more than one block of content"
    given(
        version,
        CREATE,
        sampled(blocks),
        answered("7", sampled(blocks)) if fits else error(unfit),
    )


@pytest.mark.parametrize("version", VERSIONS)
@pytest.mark.parametrize("many", [False, True])
def test_audio_has_no_form_in_the_oldest(version: str, many: bool) -> None:
    audio = '{"type":"audio","data":"","mimeType":"audio/wav"}'
    answer = sampled(f"[{audio}]" if many else audio)
    delivered = answered("7", answer if version == "2025-11-25" else sampled(audio))
    if version == "2024-11-05":
        delivered = error("The client's model answered with audio, which 2024-11-05 does not know")
    given(version, CREATE, answer, delivered)


@pytest.mark.parametrize("version", VERSIONS)
def test_the_meta_of_roots_is_left_out_where_it_is_not_known(version: str) -> None:
    answer = '{"roots":[{"uri":"file:///a","name":"a","_meta":{"k":1}}],"_meta":{"k":2}}'
    known = version >= "2025-06-18"
    delivered = answer if known else answer.replace(',"_meta":{"k":1}', "")
    given(version, LIST_ROOTS, answer, answered("7", delivered))


@clause("S-127")
@pytest.mark.parametrize("version", VERSIONS[2:])
@pytest.mark.parametrize("action", ["accept", "decline", "cancel"])
def test_every_action_is_passed_on(version: str, action: str) -> None:
    answer = f'{{"action":"{action}","_meta":{{"k":1}}}}'
    given(version, ELICIT, answer, answered("7", answer))
