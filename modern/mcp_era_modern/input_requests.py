"""A legacy child's questions as entries of `inputRequests`, and the shapes of the host's answers.

Lives here: what 2026-07-28 took out of the params of sampling and elicitation, which error a child
gets for a question that the host cannot be asked, which answers are none. Does not: which call
carries a question (legacy/), the rounds (exchanges.py). Spec 2026-07-28, basic/patterns/mrtr,
client/elicitation, client/sampling, client/roots; schema.ts (InputRequest, InputResponses).
"""

from collections.abc import Callable
from typing import Final, Literal

import msgspec
from msgspec import UNSET, Raw, UnsetType

from mcp_era_modern.results import mended_tool
from mcp_era_wire import codes, methods
from mcp_era_wire.capabilities import Required, covers
from mcp_era_wire.envelope import ABSENT, UNREADABLE, encode
from mcp_era_wire.events import Question
from mcp_era_wire.members import Members, members_of, string_of

_CONTEXT: Final[Required] = {"sampling": {"context": {}}}
_ELICITATION: Final[Required] = {"elicitation": {}}


def input_request(question: Question, capabilities: Raw) -> Raw:
    """The entry for a question, as JSON: `method` and `params`, without what is not in this
    revision or what the host, which declared `capabilities`, cannot use."""
    members = members_of(question.params) if question.params is not ABSENT else None
    if question.method == methods.ROOTS_LIST or members is None:
        return Raw(encode({"method": question.method, "params": {}}))
    members.pop("task", None)
    members.pop("_meta", None)
    if question.method == methods.CREATE_MESSAGE:
        _fit_sampling(members, capabilities)
    elif string_of(members.get("mode")) == "url":
        members.pop("elicitationId", None)
    return Raw(encode({"method": question.method, "params": members}))


def _fit_sampling(members: Members, capabilities: Raw) -> None:
    tools = members.get("tools")
    if tools is not None:
        try:
            members["tools"] = Raw(encode([mended_tool(tool) for tool in _read_list(tools)]))
        except UNREADABLE:
            pass  # not a list: the host is the judge of that
    if "includeContext" in members and not covers(capabilities, _CONTEXT):
        # A host without sampling.context may ignore it, so it is no capability that is missing.
        if string_of(members["includeContext"]) != "none":
            del members["includeContext"]


def refusal_code(question: Question, required: Required, capabilities: Raw) -> tuple[int, str]:
    """Code and message for the child whose question the host, which declared `capabilities`, cannot
    be asked (2025-11-25, client/elicitation, client/roots: Error Handling)."""
    what = ".".join([*required, *next(iter(required.values()))])
    message = f"The client has not declared {what}"
    if question.method == methods.ELICIT and covers(capabilities, _ELICITATION):
        return codes.INVALID_PARAMS, message
    return codes.METHOD_NOT_FOUND, message


class _Elicited(msgspec.Struct, frozen=True):
    action: Literal["accept", "decline", "cancel"]
    content: dict[str, str | int | float | bool | list[str]] | UnsetType = UNSET


class _Sampled(msgspec.Struct, frozen=True):
    role: str
    content: list[dict[str, Raw]] | dict[str, Raw]
    model: str


class _Root(msgspec.Struct, frozen=True):
    uri: str


class _Listed(msgspec.Struct, frozen=True):
    roots: list[_Root]


_read_list: Final = msgspec.json.Decoder(list[Raw]).decode
_READ: Final[dict[str, Callable[[Raw], object]]] = {
    methods.ELICIT: msgspec.json.Decoder(_Elicited).decode,
    methods.CREATE_MESSAGE: msgspec.json.Decoder(_Sampled).decode,
    methods.ROOTS_LIST: msgspec.json.Decoder(_Listed).decode,
}


def is_answer(method: str, value: Raw) -> bool:
    """Whether a host's value for an entry of `method` has the shape of an answer."""
    try:
        _READ[method](value)
    except UNREADABLE:
        return False
    return True


def accepts(value: Raw) -> bool:
    """Whether an answer to an elicitation accepts."""
    return string_of((members_of(value) or {}).get("action")) == "accept"
