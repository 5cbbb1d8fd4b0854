"""A host's answers to a legacy child's questions, as the negotiated revision has them.

Lives here: what an older revision does not know yet, and the answer in the name of a host that will
not answer. Does not: whether the host's answer has the right shape (modern/). Spec 2025-11-25,
schema.ts (ElicitResult, CreateMessageResult, ListRootsResult); client/sampling (Error Handling).
"""

from collections.abc import Callable
from typing import Final

import msgspec
from msgspec import Raw

from mcp_era_wire import codes, methods
from mcp_era_wire.envelope import UNREADABLE, Id, encode, error_line, result_line
from mcp_era_wire.events import Question
from mcp_era_wire.members import Members, is_object, members_of, open_object, string_of
from mcp_era_wire.versions import RELATED_TASK_KEY

_ARRAYS_SINCE: Final = "2025-11-25"
_AUDIO_SINCE: Final = "2025-03-26"
_META_ON_ROOTS_SINCE: Final = "2025-06-18"

_read_values: Final[Callable[[Raw], list[Raw]]] = msgspec.json.Decoder(list[Raw]).decode


class _Unfit(Exception):
    """An answer that the revision has no form for; the text says why."""


def answer_line(question: Question, answer: Raw, version: str) -> bytes:
    """The line that answers `question` with what the host gave; `version` is the negotiated one."""
    try:
        fitted = _FITTED[question.method](open_object(answer), version)
    except _Unfit as why:
        return error_line(question.id, codes.INTERNAL_ERROR, str(why))
    return result_line(question.id, _related(question, fitted))


def related_task(question: Question) -> str | None:
    """The task that a question belongs to, if it says so (basic/utilities/tasks, Associating
    Task-Related Messages)."""
    meta = members_of((members_of(question.params) or {}).get("_meta")) or {}
    return string_of((members_of(meta.get(RELATED_TASK_KEY)) or {}).get("taskId"))


def _related(question: Question, answer: Members) -> bytes:
    """The answer as JSON; that to a question of a task belongs to the task too."""
    task_id = related_task(question)
    if task_id is not None:
        meta = members_of(answer.get("_meta")) or {}
        meta[RELATED_TASK_KEY] = Raw(encode({"taskId": task_id}))
        answer["_meta"] = Raw(encode(meta))
    return encode(answer)


def unanswered_line(question: Question) -> bytes:
    """The line that answers `question` when nobody will (client/elicitation, Response Actions;
    client/sampling, Error Handling)."""
    id: Id = question.id
    if question.method == methods.ELICIT:
        return result_line(id, _related(question, {"action": Raw(b'"cancel"')}))
    if question.method == methods.CREATE_MESSAGE:
        return error_line(id, codes.SAMPLING_REJECTED, "The sampling request was not answered")
    return error_line(id, codes.INTERNAL_ERROR, "The roots are not available")


def _elicited(answer: Members, version: str) -> Members:
    if string_of(answer.get("action")) != "accept":
        answer.pop("content", None)
    return answer


def _sampled(answer: Members, version: str) -> Members:
    if version < _ARRAYS_SINCE and not is_object(answer["content"]):
        answer["content"] = _one_block(_read_values(answer["content"]))
    if version < _AUDIO_SINCE and _kind(answer["content"]) == "audio":
        raise _Unfit(f"The client's model answered with audio, which {version} does not know")
    return answer


def _one_block(blocks: list[Raw]) -> Raw:
    if len(blocks) == 1:
        return blocks[0]
    texts = [string_of((members_of(block) or {}).get("text")) for block in blocks]
    if not texts or any(
        text is None or _kind(block) != "text" for text, block in zip(texts, blocks, strict=True)
    ):
        raise _Unfit("The client's model answered with more than one block of content")
    return Raw(encode({"type": "text", "text": "\n\n".join(filter(None, texts))}))


def _kind(block: Raw) -> str | None:
    return string_of((members_of(block) or {}).get("type"))


def _listed(answer: Members, version: str) -> Members:
    if version < _META_ON_ROOTS_SINCE:
        roots: list[object] = []
        for root in _read_values(answer["roots"]):
            try:
                members = open_object(root)
            except UNREADABLE:
                roots.append(root)
                continue
            members.pop("_meta", None)
            roots.append(members)
        answer["roots"] = Raw(encode(roots))
    return answer


_FITTED: Final[dict[str, Callable[[Members, str], Members]]] = {
    methods.ELICIT: _elicited,
    methods.CREATE_MESSAGE: _sampled,
    methods.ROOTS_LIST: _listed,
}
