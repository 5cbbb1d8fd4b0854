"""`requestState`: what a host hands back with a retry, sealed against everybody but us.

Lives here: the token's text, its seal, and whether two requests are the same call. Does not: the
calls that tokens stand for (exchanges.py). Spec 2026-07-28, basic/patterns/mrtr (Server
Requirements, Security Considerations).
"""

import hmac
import json
from base64 import urlsafe_b64encode
from typing import Final

import msgspec
from msgspec import Raw

from mcp_era_wire import methods
from mcp_era_wire.envelope import encode
from mcp_era_wire.members import Members

_FORMAT: Final = "1"
_MOST_TEXT: Final = 1024
"""No token of ours is longer."""


class Claim(msgspec.Struct, frozen=True):
    """What a token says: the call `handle` of the child process number `child`, as it was when its
    question `round` was put to the host. It holds until `expires`, in ms of the bridge's clock."""

    child: int
    handle: int
    round: int
    expires: int
    digest: str


class Seal:
    """Makes and reads tokens. `key` is secret; `run` is a readable name of this run of the bridge,
    by which the tokens of another one are told apart."""

    def __init__(self, key: bytes, run: str) -> None:
        assert "." not in run
        self._key = key
        self._run = run

    def seal(self, claim: Claim) -> str:
        """The token for a claim."""
        text = (
            f"{_FORMAT}.{self._run}.{claim.child}.{claim.handle}.{claim.round}"
            f".{claim.expires}.{claim.digest}"
        )
        return f"{text}.{self._mac(text)}"

    def read(self, token: str) -> Claim | str:
        """The claim, or one word that says why there is none: invalid, restarted."""
        if len(token) > _MOST_TEXT or not token.isascii():
            return "invalid"
        text, _, mac = token.rpartition(".")
        parts = text.split(".")
        if len(parts) != 7 or parts[0] != _FORMAT:
            return "invalid"
        if parts[1] != self._run:
            return "restarted"
        if not hmac.compare_digest(mac, self._mac(text)):
            return "invalid"
        child, handle, round, expires = map(int, parts[2:6])
        return Claim(child, handle, round, expires, parts[6])

    def _mac(self, text: str) -> str:
        return _text(hmac.digest(self._key, text.encode(), "sha256"))

    def digest(self, method: str, params: Members) -> str:
        """What binds a token to the request that it was made for."""
        salient = encode([method, salient_params(method, params)])
        return _text(hmac.digest(self._key, salient, "sha256"))


def _text(digest: bytes) -> str:
    return urlsafe_b64encode(digest).rstrip(b"=").decode()


_NO_ARGUMENTS: Final = Raw(b"{}")


def salient_params(method: str, params: Members) -> Members:
    """The params that make a call what it is. `_meta` is not among them: real hosts send a new
    progress token with every retry."""
    if method == methods.RESOURCES_READ:
        return {"uri": params["uri"]}
    return {"name": params["name"], "arguments": params.get("arguments", _NO_ARGUMENTS)}


def same_call(method: str, params: Members, retried: Members) -> bool:
    """Whether two requests of `method` are one call: byte for byte, else by what they say."""
    ours, theirs = salient_params(method, params), salient_params(method, retried)
    if all(bytes(ours[name]) == bytes(theirs[name]) for name in ours):
        return True
    try:
        return all(_said(ours[name]) == _said(theirs[name]) for name in ours)
    except (ValueError, RecursionError):
        return False


def _said(value: Raw) -> object:
    """A JSON value in a form in which equal ones are equal: 1.0 is 1, and `true` is not."""
    said: object = json.loads(bytes(value), parse_int=_number, parse_float=_number)
    return said


def _number(text: str) -> tuple[str, str, int]:
    """Sign, digits and exponent, without zeros that say nothing; exact for any length."""
    mantissa, _, exponent = text.lower().partition("e")
    whole, _, fraction = mantissa.removeprefix("-").partition(".")
    digits = (whole + fraction).lstrip("0")
    significant = digits.rstrip("0")
    if not significant:
        return "", "0", 0
    power = int(exponent or 0) - len(fraction) + len(digits) - len(significant)
    return "-" if text.startswith("-") else "", significant, power
