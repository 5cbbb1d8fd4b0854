"""Calls that a legacy server fails by itself because its client cannot be asked something.

Lives here: the words in which servers say so, and the capability that they mean. Does not: what a
host gets for it (errors.py). Spec 2026-07-28, basic/index (Per-request protocol fields): such a
call is to fail with -32021, and a legacy server, which was told once what the client can do, never
comes to ask. The official SDKs say it in their own words, "Client does not support sampling
(required for sampling/createMessage)", and most servers leave it at that.
"""

import re
from typing import Final

from mcp_era_wire.capabilities import Required

MOST_TEXT: Final = 2048
"""No such message is longer, in bytes."""

_SAYS_SO: Final = re.compile(
    r"client (?:does not|doesn't|did not|didn't|has not) (?:support|declared?) "
    r"(?:the |a |listing )?(?P<what>[a-z -]{0,24})",
    re.IGNORECASE,
)
_MEANT: Final[tuple[tuple[re.Pattern[str], Required], ...]] = (
    (re.compile(r"\burl\b.*\belicit", re.IGNORECASE), {"elicitation": {"url": {}}}),
    (re.compile(r"\belicit", re.IGNORECASE), {"elicitation": {"form": {}}}),
    (re.compile(r"\bsampling tools", re.IGNORECASE), {"sampling": {"tools": {}}}),
    (re.compile(r"\bsampling", re.IGNORECASE), {"sampling": {}}),
    (re.compile(r"\broots", re.IGNORECASE), {"roots": {}}),
)


def capability_missed(text: str) -> Required | None:
    """The capability that a failed call's message says its client lacks, or None if it says no such
    thing."""
    said = _SAYS_SO.search(text)
    if said is None:
        return None
    for pattern, required in _MEANT:
        if pattern.search(said["what"]):
            return required
    return None
