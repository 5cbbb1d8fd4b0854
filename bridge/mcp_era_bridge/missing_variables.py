"""Which variables a server misses, from what it said before it ended.

Lives here: the ways in which servers say so. Does not: what is done about it (doctor_run.py).
"""

import re
from collections.abc import Container, Iterable
from typing import Final

_KEY_ERROR: Final = re.compile(r"\bKeyError: ['\"]([A-Z][A-Z0-9_]{1,63})['\"]")
_NAME: Final = re.compile(r"(?<![\w$.])\$?\{?([A-Z][A-Z0-9]{0,31}(?:_[A-Z0-9]{1,31}){1,8})\b")
_COMPLAINT: Final = re.compile(
    r"environment|\benv\b|variable|not (?:set|defined|found|configured|provided)|missing|required"
    r"|must (?:be )?(?:set|provide)|please (?:set|provide|export)|undefined|is unset|unbound",
    re.IGNORECASE,
)
_NO_VARIABLES: Final = re.compile(r"ERR_|E[A-Z]+_|MODULE_NOT_FOUND$|[A-Z]+_ERROR$|SIG_")
"""Codes of errors are written like variables."""


def missing_variables(lines: Iterable[str], environment: Container[str]) -> list[str]:
    """The names of variables that are complained of and are not set, in order."""
    found: dict[str, None] = {}
    for line in lines:
        names = _KEY_ERROR.findall(line)
        if not names and _COMPLAINT.search(line):
            names = [name for name in _NAME.findall(line) if not _NO_VARIABLES.match(name)]
        found.update(dict.fromkeys(name for name in names if name not in environment))
    return list(found)
