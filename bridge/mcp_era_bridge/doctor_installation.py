"""Checks of `mcp-bridge doctor` on the bridge itself: is it found, is it the right one, its memory.

Lives here: the installation. Does not: the server's command (doctor_command.py).
"""

import os
import sys
from collections.abc import Mapping
from typing import Final

from mcp_era_bridge import __version__, verdicts
from mcp_era_bridge.findings import Finding, Weight
from mcp_era_bridge.programs import said_by, where

_NAME: Final = "mcp-bridge"
_SAYS: Final = f"{_NAME}, version "


def check_installation(environ: Mapping[str, str], host_path: str) -> list[Finding]:
    """Everything about the installation. `host_path` is the PATH that hosts are taken to have."""
    return [*_check_path(environ, host_path), *_check_memory()]


def own_command() -> str:
    """How this very installation is started, whatever the PATH is."""
    for place in (sys.argv[0], os.path.join(os.path.dirname(sys.executable), _NAME)):
        if os.path.basename(place) == _NAME and os.path.isfile(place):
            return os.path.abspath(place)
    return f"{sys.executable} -m mcp_era_bridge"


def _check_path(environ: Mapping[str, str], host_path: str) -> list[Finding]:
    found: list[Finding] = []
    own = own_command()
    first = where(_NAME, environ.get("PATH", os.defpath))
    if first is None:
        return [
            Finding(
                "bridge_not_on_path",
                Weight.NOTE,
                f"there is no {_NAME} on the PATH",
                "a configuration that says just that name does not find it",
                "write the full path into the host's configuration; mcp-bridge config wrap does",
                own,
            )
        ]
    if not _is_same(first, own):
        found += _check_other(first, own, environ)
    on_host = where(_NAME, host_path)
    if on_host is None and not found:
        found.append(
            Finding(
                "bridge_not_on_host_path",
                Weight.NOTE,
                f"{first} is not on the bare PATH of a desktop host ({host_path})",
                "hosts that are not started from a terminal do not read your shell's settings",
                "write the full path into the host's configuration; mcp-bridge config wrap does",
                own,
            )
        )
    return found


def _is_same(one: str, other: str) -> bool:
    return os.path.realpath(one) == os.path.realpath(other)


def _check_other(first: str, own: str, environ: Mapping[str, str]) -> list[Finding]:
    said = (said_by([first, "--version"], environ) or "").strip()
    if said == _SAYS + __version__:
        return []
    if said.startswith(_SAYS):
        return [
            Finding(
                "another_version",
                Weight.WARNING,
                f"{first} is first on the PATH, of version {said.removeprefix(_SAYS)}; this one is"
                f" {__version__}",
                "hosts may run another version than the one that you look at",
                "remove one of them, or write the full path into the host's configuration",
                own,
            )
        ]
    return [
        Finding(
            "another_mcp_bridge",
            Weight.PROBLEM,
            f"{first} is first on the PATH and is another program",
            f"an unrelated distribution named {_NAME} installs a command of the same name; this"
            " one's distribution is mcp-era-bridge",
            "uninstall the other one, or write the full path into the host's configuration",
            own,
        )
    ]


def _check_memory() -> list[Finding]:
    folder = verdicts.default_folder()
    if folder is None:
        return []
    found: list[Finding] = []
    old, untrusted = verdicts.unused(folder)
    if untrusted:
        found.append(
            Finding(
                "cache_not_trusted",
                Weight.WARNING,
                f"{untrusted[0]} belongs to somebody else, can be written by others, or cannot be"
                " read",
                "it is not heeded, so the bridge waits for a silent server at every start",
                "remove what is remembered; it is found out again",
                f"rm -rf {folder}",
            )
        )
    if old:
        found.append(
            Finding(
                "stale_cache",
                Weight.NOTE,
                f"{len(old)} of the servers remembered in {folder} have not been seen for a week",
                "it does no harm: nothing of it is heeded any more",
                "remove what is remembered; it is found out again",
                f"rm -rf {folder}",
            )
        )
    return found
