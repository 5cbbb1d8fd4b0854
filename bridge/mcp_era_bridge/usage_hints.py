"""What to try when a command line cannot be understood.

Lives here: close matches, the form that a value has. Does not: the reading of the command line and
what is wrong with it (options.py), a server that cannot be started (start_hints.py). Imported only
once something is wrong.
"""

import os
import re
from collections.abc import Iterable
from difflib import get_close_matches
from pathlib import Path
from typing import Final

from mcp_era_bridge import options
from mcp_era_bridge.options import Option

_CALLED_SO_ELSEWHERE: Final = {
    "-e": "--env NAME=value",
    "-v": "--log-level info",
    "-d": "--log-level debug",
    "-q": "--log-level error",
    "-V": "--version",
    "-?": "--help",
    "--verbose": "--log-level info",
    "--debug": "--log-level debug",
    "--quiet": "--log-level error",
    "--dir": "--cwd",
    "--directory": "--cwd",
    "--workdir": "--cwd",
    "--working-directory": "--cwd",
    "--timeout": "--init-timeout, --probe-timeout or --answer-timeout",
}
"""What options for the same are called by other programs."""
_UNITS: Final = {
    **{"ms": 0.001, "msec": 0.001},
    **{"s": 1, "sec": 1, "secs": 1, "second": 1, "seconds": 1},
    **{"m": 60, "min": 60, "mins": 60, "minute": 60, "minutes": 60},
    **{"h": 3600, "hour": 3600, "hours": 3600},
}
_LONGEST = 1e9


def closest(word: str, known: Iterable[str]) -> str | None:
    """The word that may have been meant."""
    names = {name.lower(): name for name in known}
    found = get_close_matches(word.lower(), names, n=1, cutoff=0.65)
    return names[found[0]] if found else None


def for_unknown_option(word: str) -> str:
    """What to try instead of an option that there is not."""
    flags = [flag for option in options.OPTIONS for flag in option.flags]
    flags += ["--help", "--version"]
    name = word.partition("=")[0]
    meant = _CALLED_SO_ELSEWHERE.get(name)
    if not name.startswith("--"):
        # -era, or -eK=V.
        meant = f"-{name}" if f"-{name}" in flags else meant or _CALLED_SO_ELSEWHERE.get(name[:2])
    begins_so = [flag for flag in flags if len(name) > 3 and flag.startswith(name)]
    meant = meant or " or ".join(begins_so) or closest(name, flags)
    if meant is not None:
        return f". Did you mean {meant}?"
    return (
        ". Options of the server go behind its command, those of a sub-command behind its name;"
        f" for example: {options.EXAMPLE} {word}"
    )


def for_unknown_name(text: str, known: Iterable[str]) -> str:
    """What to try instead of a sub-command that there is not; `text` has it in quotes."""
    meant = closest(text.split("'")[1], known)
    return f"Did you mean {meant!r}?" if meant is not None else f"There are: {', '.join(known)}."


def for_missing_value(option: Option) -> str:
    """What an option without a value is to be given."""
    return f"; for example: {option.flags[-1]} {_example(option)}"


def for_value(option: Option, value: str) -> str:
    """What to write instead of a value that is none for its option."""
    if option.choices:
        meant = closest(value, option.choices)
        return f"; did you mean {meant}?" if meant is not None else ""
    if option.is_flag:
        return "; leave the variable out, or write 1"
    if option is options.CWD:
        return _for_folder(value)
    better = _better(option, value)
    return f"; write {better}" if better is not None else f"; for example: {_example(option)}"


def _example(option: Option) -> str:
    if option is options.ENV:
        return "API_KEY=secret"
    if option is options.ROOT:
        return "file:///home/me/project"
    if option is options.CWD:
        return "/home/me/project"
    return option.choices[-1] if option.choices else option.default


def _better(option: Option, value: str) -> str | None:
    """The value in the form that is wanted, if it can be seen what was meant."""
    value = value.strip()
    if option.seconds:
        return _seconds(value)
    if option.whole:
        digits = re.sub(r"[,_' ]", "", value)
        match = re.fullmatch(r"0*([1-9][0-9]{0,8})(?:\.0*)?(?: ?Mi?B?)?", digits, re.ASCII)
        return match[1] if match is not None else None
    if option is options.ENV and re.fullmatch(r"\w+", value):
        return f"{value}=value"
    if option is options.ROOT and "://" not in value and value:
        full = os.path.join(here(), os.path.expanduser(value))
        return Path(os.path.normpath(full)).as_uri()
    return None


def _seconds(value: str) -> str | None:
    match = re.fullmatch(r"(\d+(?:[.,]\d+)?) ?([a-z]*)", value.lower(), re.ASCII)
    if match is None or (match[2] and match[2] not in _UNITS):
        return None
    seconds = float(match[1].replace(",", ".")) * _UNITS.get(match[2], 1)
    return f"{seconds:g}" if 0 < seconds < _LONGEST else None


def here() -> str:
    """The working directory."""
    try:
        return os.getcwd()
    except OSError:
        return "/a folder that is gone"


def _for_folder(value: str) -> str:
    if value.startswith("~") or "$" in value:
        full = os.path.expandvars(os.path.expanduser(value))
        return f"; there is no shell here that would replace ~ or $: write {full}"
    if os.path.isdir(value):
        return " that may be entered; see who may with: ls -ld " + value
    if os.path.exists(value):
        return f"; it is a file in {os.path.dirname(os.path.abspath(value))}"
    if not os.path.isabs(value):
        return f" in {here()}; write the full path"
    folder, name = os.path.split(value.rstrip(os.sep))
    if not os.path.isdir(folder):
        return f"; there is no {folder} either"
    try:
        meant = closest(name, os.listdir(folder))
    except OSError:
        meant = None
    return f"; did you mean {os.path.join(folder, meant)}?" if meant is not None else ""
