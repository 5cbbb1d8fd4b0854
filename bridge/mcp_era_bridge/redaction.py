"""Takes secrets out of what a child wrote to stderr, before it goes into an error message.

Lives here: what looks like a secret. Does not: the stderr that is passed through, which is the
host's to keep. A host may show an error message to a person, a model, or a log.
"""

import re
from collections.abc import Mapping

MASK = "[redacted]"

_SECRET_NAME = re.compile(r"KEY|TOKEN|SECRET|PASSW|CREDENTIAL|AUTH", re.IGNORECASE)
_SHORTEST = 6
"""Characters below which a variable's value is too common a word to be taken for a secret."""
_ASSIGNED = re.compile(
    r"(?i)(\b(?:[\w-]*(?:api[-_]?key|token|secret|passw(?:or)?d|credential)[\w-]*|authorization)"
    r"[\"']?\s*[:=]\s*(?:(?:bearer|basic)\s+)?[\"']?)([^\s\"',;]+)"
)
_BEARER = re.compile(r"(?i)(\bbearer\s+)([^\s\"',;]+)")
_IN_URL = re.compile(r"(\w://[^\s/:@]*:)([^\s/@]+)(?=@)")


class Redactor:
    """Knows the secrets of one environment: the values of variables that are called like one."""

    def __init__(self, environment: Mapping[str, str]) -> None:
        self._secrets = sorted(
            (
                value
                for name, value in environment.items()
                if len(value) >= _SHORTEST and _SECRET_NAME.search(name)
            ),
            key=len,
            reverse=True,
        )

    def redact(self, text: str) -> str:
        """The text with a mask in the place of everything that looks like a secret."""
        for secret in self._secrets:
            text = text.replace(secret, MASK)
        for pattern in (_ASSIGNED, _BEARER, _IN_URL):
            text = pattern.sub(lambda match: match[1] + MASK, text)
        return text
