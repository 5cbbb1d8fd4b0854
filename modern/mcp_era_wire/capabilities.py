"""What a client has to declare before it may be asked something.

Lives here: the capability that each kind of question needs, and whether it is among the declared.
Does not: what follows if it is not (modern/). Spec 2026-07-28, client/elicitation, client/sampling,
client/roots (Capabilities); the same in 2025-11-25.
"""

from typing import Final, TypeAlias

from msgspec import Raw

from mcp_era_wire import methods
from mcp_era_wire.envelope import encode
from mcp_era_wire.members import Members, members_of, string_of

Required: TypeAlias = dict[str, dict[str, dict[str, object]]]
"""Capabilities as they are declared, at most two levels deep: {"elicitation": {"form": {}}}."""

_ROOTS: Final[Required] = {"roots": {}}
_SAMPLING: Final[Required] = {"sampling": {}}
_SAMPLING_TOOLS: Final[Required] = {"sampling": {"tools": {}}}
_FORM: Final[Required] = {"elicitation": {"form": {}}}
_URL: Final[Required] = {"elicitation": {"url": {}}}


def required_for(method: str, params: Raw) -> Required:
    """What a client must have declared to be asked this."""
    if method == methods.ROOTS_LIST:
        return _ROOTS
    members = members_of(params) or {}
    if method == methods.CREATE_MESSAGE:
        return _SAMPLING_TOOLS if {"tools", "toolChoice"} & members.keys() else _SAMPLING
    # No mode means the form: there was nothing else before 2025-11-25.
    return _URL if string_of(members.get("mode")) == "url" else _FORM


def covers(declared: Raw, required: Required) -> bool:
    """Whether `declared`, capabilities as JSON, holds everything in `required`."""
    members = members_of(declared) or {}
    return all(
        _has(members, name, part) for name, parts in required.items() for part in parts or (None,)
    )


def _has(members: Members, name: str, part: str | None) -> bool:
    value = members.get(name)
    parts = members_of(value)
    if parts is None:
        return False
    if part is None or part in parts:
        return True
    # An empty object means the form alone (client/elicitation, Capabilities).
    return name == "elicitation" and part == "form" and "url" not in parts


def flattened(declared: Raw) -> frozenset[str]:
    """The declared capabilities as names, of two levels: {"sampling", "sampling.tools"}."""
    names: set[str] = set()
    for name, value in (members_of(declared) or {}).items():
        parts = members_of(value)
        if parts is None:
            continue
        names.add(name)
        names |= {f"{name}.{part}" for part in parts if part != "listChanged"}
        if name == "elicitation" and "url" not in parts:
            names.add("elicitation.form")
    return frozenset(names)


def united(one: Raw, other: Raw) -> dict[str, object]:
    """Both sets of capabilities as one, two levels deep."""
    first, second = members_of(one) or {}, members_of(other) or {}
    union: dict[str, object] = dict(first)
    for name, value in second.items():
        here, there = members_of(first.get(name)), members_of(value)
        if here is None or there is None:
            union[name] = value
            continue
        parts: dict[str, object] = {**here, **there}
        if name == "elicitation" and "url" in parts and "form" not in parts:
            # One of the two meant the form, without a word for it.
            if covers(one, _FORM) or covers(other, _FORM):
                parts["form"] = {}
        union[name] = parts
    return union


def reduced(declared: Raw, names: frozenset[str]) -> Raw:
    """The declared capabilities without those that are named (see `flattened`)."""
    members = members_of(declared)
    if members is None or not names:
        return declared
    for name in list(members):
        parts = members_of(members[name]) or {}
        left = {part: value for part, value in parts.items() if f"{name}.{part}" not in names}
        if name in names:
            del members[name]
        elif len(left) < len(parts):
            members[name] = Raw(encode(left))
    return Raw(encode(members))
