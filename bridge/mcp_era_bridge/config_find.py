"""Finds the configuration files that are there, and reads the servers out of them.

Lives here: which files and servers a person means. Does not: where hosts keep theirs
(config_hosts.py), what is then done (config_change.py, config_report.py).
"""

import os
from collections.abc import Iterable, Iterator, Sequence
from dataclasses import dataclass, field, replace
from fnmatch import fnmatchcase
from pathlib import Path
from types import ModuleType

from mcp_era_bridge import config_json, config_toml, config_yaml
from mcp_era_bridge.config_files import Content, FileProblem, read
from mcp_era_bridge.config_hosts import HOSTS, LOCAL, PROJECT, USER, Host, Place, Surroundings
from mcp_era_bridge.config_servers import Server, misplaced, repeated, servers
from mcp_era_bridge.config_servers import read as read_tree
from mcp_era_bridge.config_text import BadText, Node

FORMATS: dict[str, ModuleType] = {
    "json": config_json,
    "toml": config_toml,
    "yaml": config_yaml,
}


class UnknownFile(Exception):
    """A file is of no host that is known; the text says what to do."""


@dataclass(frozen=True)
class Choice:
    """What a person wants to see; empty is everything.

    `one_project` leaves out what a user's file has for other projects.
    """

    hosts: tuple[str, ...] = ()
    scopes: tuple[str, ...] = ()
    file: str = ""
    one_project: bool = False


@dataclass
class ConfigFile:
    """One file: its servers, or why it cannot be read.

    `pristine` says that no server of it is behind the bridge, whichever are chosen.
    """

    host: Host
    place: Place
    path: Path
    problem: str = ""
    content: Content | None = None
    top: Node | None = None
    servers: list[Server] = field(default_factory=list[Server])
    repeated: list[str] = field(default_factory=list[str])
    misplaced: list[str] = field(default_factory=list[str])
    pristine: bool = True

    @property
    def format(self) -> ModuleType:
        """The reader of the file's format."""
        return FORMATS[self.place.format]


def find(at: Surroundings, choice: Choice) -> list[ConfigFile]:
    """All files that are there, with the servers that are chosen. Raises UnknownFile."""
    if choice.file:
        if not os.path.lexists(choice.file):
            raise UnknownFile(f"{choice.file}: there is no such file.")
        host, place = _place_of(choice, at)
        found = [_read(host, place, Path(choice.file))]
    else:
        found = [_read(host, place, path) for host, place, path in _there(at, choice.hosts)]
    scopes = choice.scopes or (USER, PROJECT, LOCAL)
    kept: list[ConfigFile] = []
    for file in found:
        file.servers = [
            server
            for server in file.servers
            if server.scope in scopes
            and not (choice.one_project and server.project and not _same(server.project, at))
        ]
        if file.servers or file.place.scope in scopes:
            kept.append(file)
    return kept


def _same(project: str, at: Surroundings) -> bool:
    return os.path.realpath(project) == os.path.realpath(at.project)


def _there(at: Surroundings, keys: Sequence[str]) -> Iterator[tuple[Host, Place, Path]]:
    """The files of the hosts that exist, each once."""
    seen: set[str] = set()
    for host in HOSTS:
        if keys and host.key not in keys:
            continue
        for place in host.places(at):
            for path in _files(place):
                real = os.path.realpath(path)
                if (mark := f"{host.key} {real}") not in seen:
                    seen.add(mark)
                    yield host, place, path


def _files(place: Place) -> Iterable[Path]:
    folder = Path(place.folder)
    try:
        if "*" in place.name:
            return sorted(path for path in folder.glob(place.name) if os.path.lexists(path))
        path = folder / place.name
        return [path] if os.path.lexists(path) else []
    except OSError:
        return []  # a folder that may not be looked into is one of another user


def _read(host: Host, place: Place, path: Path) -> ConfigFile:
    file = ConfigFile(host, place, path)
    try:
        file.content = read(path)
        file.top = read_tree(file.content.text, file.format)
    except FileProblem as error:
        file.problem = str(error)
    except BadText as error:
        file.problem = f"it is no valid {place.format.upper()}: {error}"
    else:
        file.servers = servers(file.top, place.where, place.scope, path.stem)
        file.repeated = repeated(file.top, place.where)
        file.misplaced = misplaced(file.top, place.where)
        file.pristine = all(server.wrapping is None for server in file.servers)
    return file


def _place_of(choice: Choice, at: Surroundings) -> tuple[Host, Place]:
    """Whose file is at a place that no host knows, by its name and the folder that it is in."""
    path = Path(choice.file).absolute()
    known = [
        (_alike(place, path), host, place)
        for host in HOSTS
        if not choice.hosts or host.key in choice.hosts
        for place in host.places(at)
    ]
    best = max(alike for alike, _, _ in known)
    matches = [(host, place) for alike, host, place in known if alike == best]
    if best == 0 and len(choice.hosts) == 1:
        matches = [(host, place) for host, place in matches if place.format == _format(path)]
    elif best == 0:
        matches = []
    if not matches or len({host.key for host, _ in matches}) > 1:
        names = ", ".join(host.key for host in HOSTS)
        raise UnknownFile(
            f"{choice.file}: its name does not tell whose file it is. Say so with one --host that"
            f" has such files; there are {names}."
        )
    host, place = matches[0]
    everywhere = tuple(dict.fromkeys(where for _, p in matches for where in p.where))
    return host, replace(place, where=everywhere)


def _format(path: Path) -> str:
    return {"toml": "toml", "yaml": "yaml", "yml": "yaml"}.get(path.suffix[1:].lower(), "json")


def _alike(place: Place, path: Path) -> int:
    """How many names at the end of the path are those of the place; a `*` says nothing."""
    ours = (*place.folder.parts, *place.name.split("/"))
    count = 0
    for pattern, name in zip(reversed(ours), reversed(path.parts), strict=False):
        if not fnmatchcase(name, pattern):
            break
        count += "*" not in pattern
    return count
