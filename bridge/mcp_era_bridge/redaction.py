"""Takes secrets out of what a child wrote to stderr, before it goes into an error message.

Lives here: what looks like a secret. Does not: the stderr that is passed through, which is the
host's to keep. A host may show an error message to a person, a model, or a log.
"""

import re
from collections.abc import Mapping

MASK = "[redacted]"

_SECRET_NAME = re.compile(
    r"KEY|TOKEN|SECRET|PASS|_PAT$|CREDENTIAL|PRIVATE|COOKIE|AUTH(?!OR)", re.IGNORECASE
)
_SHORTEST = 6
"""Characters below which a variable's value is too common a word to be taken for a secret."""
_WORD = (
    r"(?:(?:api|access|private)[-_]?key|token|secret|pass(?:w(?:or)?d)?|credential|cookie"
    r"|authorization)"
)
_VALUE = r"(?!\d{1,9}\b)([^\s\"',;]{4,4096})"
# Every repetition is bounded: a child's stderr must not be able to keep us busy.
_ASSIGNED = re.compile(
    rf"(?i)({_WORD}[\w-]{{0,32}}[\"']?\s{{0,4}}[:=]\s{{0,4}}(?:(?:bearer|basic)\s{{1,4}})?[\"']?)"
    + _VALUE
)
_OPTION = re.compile(rf"(?i)(--[\w-]{{0,32}}{_WORD}\s{{1,4}})" + _VALUE)
_BEARER = re.compile(r"(?i)(\bbearer\s{1,4})([^\s\"',;]{4,4096})")
_IN_URL = re.compile(r"(\w{1,20}://[^\s/:@]{0,256}:)([^\s/]{1,256})(?=@)")


class Redactor:
    """Knows the secrets of one environment: the values of variables that are called like one."""

    def __init__(self, environment: Mapping[str, str]) -> None:
        self._secrets = sorted(
            (
                line
                for name, value in environment.items()
                if _SECRET_NAME.search(name)
                for line in value.splitlines()
                if len(line) >= _SHORTEST
            ),
            key=len,
            reverse=True,
        )

    def redact(self, text: str) -> str:
        """The text with a mask in the place of everything that looks like a secret."""
        for secret in self._secrets:
            text = text.replace(secret, MASK)
        for pattern in (_ASSIGNED, _OPTION, _BEARER, _IN_URL):
            text = pattern.sub(lambda match: match[1] + MASK, text)
        return text
