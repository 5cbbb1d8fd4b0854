"""Blocks of content and the contents of resources, as an older revision has them.

Lives here: which kinds and members of a block a revision does not know, and what stands for them.
Does not: where the blocks are (results.py). Text and data are never opened. Spec 2025-11-25,
schema.ts (ContentBlock, ResourceContents, Annotations) and the same of each revision before it.
"""

from typing import Final

from msgspec import Raw

from mcp_era_wire.envelope import encode
from mcp_era_wire.members import Members, members_of, string_of

_AUDIO_SINCE: Final = "2025-03-26"
_LINKS_SINCE: Final = "2025-06-18"
_LAST_MODIFIED_SINCE: Final = "2025-06-18"
_META_SINCE: Final = "2025-06-18"
_ICONS_SINCE: Final = "2025-11-25"
_KINDS: Final = frozenset({"text", "image", "audio", "resource", "resource_link"})


def fitted_block(block: Raw, version: str) -> Raw:
    """A block as a host of `version` knows it. One of a kind that no revision knows passes."""
    members = members_of(block) or {}
    kind = string_of(members.get("type"))
    if kind not in _KINDS:
        return block
    if kind == "audio" and version < _AUDIO_SINCE:
        members = _text_for(members, f"[audio: {string_of(members.get('mimeType')) or 'unknown'}]")
    elif kind == "resource_link" and version < _LINKS_SINCE:
        label = string_of(members.get("title")) or string_of(members.get("name"))
        uri = string_of(members.get("uri"))
        members = _text_for(members, ": ".join(filter(None, (label, uri))))
    elif kind == "resource_link" and version < _ICONS_SINCE:
        members.pop("icons", None)
    elif kind == "resource" and "resource" in members:
        members["resource"] = fitted_contents(members["resource"], version)
    if version < _META_SINCE:
        members.pop("_meta", None)
    fit_annotations(members, version)
    return Raw(encode(members))


def _text_for(members: Members, text: str) -> Members:
    """A text in the place of a block; whom that was meant for, the text is."""
    block = {"type": Raw(b'"text"'), "text": Raw(encode(text))}
    if "annotations" in members:
        block["annotations"] = members["annotations"]
    return block


def fitted_contents(contents: Raw, version: str) -> Raw:
    """One of the contents of a resource as a host of `version` knows it."""
    if version >= _META_SINCE:
        return contents
    members = members_of(contents)
    if members is None or members.pop("_meta", None) is None:
        return contents
    return Raw(encode(members))


def fit_annotations(members: Members, version: str) -> None:
    """Takes out of the `annotations` of a block or a resource what `version` does not know."""
    if version >= _LAST_MODIFIED_SINCE:
        return
    annotations = members_of(members.get("annotations"))
    if annotations is not None and annotations.pop("lastModified", None) is not None:
        members["annotations"] = Raw(encode(annotations))
