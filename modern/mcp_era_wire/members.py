"""JSON objects opened one level deep, their values left as they came.

Spec 2026-07-28, basic/index: unknown members must survive, so nothing is decoded further than a
rule has to look.
"""

from collections.abc import Callable
from typing import Final, TypeAlias

import msgspec
from msgspec import Raw

from mcp_era_wire.envelope import UNREADABLE

Members: TypeAlias = dict[str, Raw]
"""An object's members by name, in their order, each value the bytes that came."""

open_object: Final[Callable[[Raw | bytes], Members]] = msgspec.json.Decoder(Members).decode
"""Opens an object; raises one of UNREADABLE if the value is not one."""

_QUOTE, _BRACE = b'"{'


def is_object(value: Raw) -> bool:
    """Whether a value that was decoded around is an object."""
    return memoryview(value)[0] == _BRACE


def is_string(value: Raw) -> bool:
    """Whether a value that was decoded around is a string."""
    return memoryview(value)[0] == _QUOTE


def members_of(value: Raw | None) -> Members | None:
    """The members if `value` is there and an object, else None."""
    if value is None:
        return None
    try:
        return open_object(value)
    except UNREADABLE:
        return None


_read_string: Final[Callable[[Raw], str]] = msgspec.json.Decoder(str).decode
_read_strings: Final[Callable[[Raw], list[str]]] = msgspec.json.Decoder(list[str]).decode


def string_of(value: Raw | None) -> str | None:
    """The text if `value` is there and a string, else None."""
    if value is None:
        return None
    try:
        return _read_string(value)
    except UNREADABLE:
        return None


def strings_of(value: Raw | None) -> list[str] | None:
    """The texts if `value` is there and a list of strings, else None."""
    if value is None:
        return None
    try:
        return _read_strings(value)
    except UNREADABLE:
        return None


def is_implementation(info: Raw | None) -> bool:
    """Whether this is an Implementation: an object with a name and a version, both strings."""
    members = members_of(info) or {}
    return None not in (string_of(members.get("name")), string_of(members.get("version")))


_read_any: Final[Callable[[Raw], object]] = msgspec.json.Decoder().decode


def same_json(one: Raw, other: Raw) -> bool:
    """Whether two values are the same but for the order of members and the way they are written."""
    if bytes(one) == bytes(other):
        return True
    try:
        return _read_any(one) == _read_any(other)
    except UNREADABLE:
        return False
