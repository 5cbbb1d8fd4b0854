"""What is remembered of a server from one start of the bridge to the next.

Only what saves a wait: that a child leaves the probe unanswered, or exits on it. That something is
remembered shows in the child's journal: it is not probed. Spec 2026-07-28, basic/versioning
(Backward Compatibility with Legacy Versions); design of the bridge: era of the child.
"""

import json
import os
import stat
from collections.abc import Iterator
from pathlib import Path
from typing import cast

import platformdirs
import pytest
from msgspec import Raw

from bridge_process import BridgeProcess, host_environment, modern_call
from children import INFO, INITIALIZED, NOT_FOUND, Scripted, legacy, modern
from mcp_era_bridge import child_era
from mcp_era_bridge.effects import Remembered
from mcp_era_bridge.spawn import Command
from mcp_era_bridge.verdicts import Cache, key_of
from scripted_child import Acts, Object

SILENT: dict[str, Acts] = legacy(server_discover=[])
EXITS: dict[str, Acts] = legacy(server_discover=[{"exit": 1}])
NOT_PROBED = ["initialize", "notifications/initialized", "tools/call"]
PROBED = ["server/discover", *NOT_PROBED]
DAY = 24 * 3600.0


class Memory:
    """A folder for the bridge's caches, and a server that is run through the bridge with it."""

    def __init__(self, folder: Path) -> None:
        self.caches = folder / "caches"
        self.folder = folder / "server"
        self.folder.mkdir()
        self.child = Scripted(self.folder, SILENT)

    def run(self, *options: str, cache: bool = True, cwd: Path | None = None) -> list[object]:
        """Serves one call through a bridge of its own; the methods that the child got."""
        before = len(self.child.methods())
        env = host_environment(XDG_CACHE_HOME=str(self.caches))
        with BridgeProcess(self.child, *options, cache=cache, env=env, cwd=cwd) as bridge:
            bridge.result(modern_call(1))
            bridge.end()
        return self.child.methods()[before:]

    def learn(self, on: dict[str, Acts] | None = None) -> Path:
        """Runs a server that is worth remembering; the file in which it is."""
        if on is not None:
            self.child.change(on)
        assert self.run("--probe-timeout", "0.3")[0] == "server/discover"
        (file,) = self.files()
        return file

    def files(self) -> list[Path]:
        return [path for path in self.caches.rglob("*") if not path.is_dir()]


@pytest.fixture
def memory(tmp_path: Path) -> Iterator[Memory]:
    before = os.umask(0)  # what is private is so by itself
    try:
        yield Memory(tmp_path)
    finally:
        os.umask(before)


def changed(file: Path, **members: object) -> None:
    """Changes the file's text in place."""
    entry = cast(Object, json.loads(file.read_text()))
    assert members.keys() <= entry.keys()
    file.write_text(json.dumps({**entry, **members}))


# What is remembered -----------------------------------------------------------------------------


@pytest.mark.parametrize("on", [SILENT, EXITS], ids=["silent", "exits"])
def test_a_child_that_made_us_wait_is_not_probed_at_the_next_start(
    memory: Memory, on: dict[str, Acts]
) -> None:
    memory.learn(on)
    assert memory.run() == NOT_PROBED
    assert memory.run() == NOT_PROBED


def test_a_child_that_answers_the_probe_is_not_remembered(memory: Memory) -> None:
    memory.child.change(legacy())
    assert memory.run() == memory.run() == PROBED
    assert memory.files() == []


def test_a_modern_child_is_always_asked(memory: Memory) -> None:
    memory.child.change(modern())
    assert memory.run() == memory.run() == ["server/discover", "tools/call"]
    assert memory.files() == []


def test_a_legacy_host_leaves_nothing_to_be_remembered(memory: Memory) -> None:
    env = host_environment(XDG_CACHE_HOME=str(memory.caches))
    with BridgeProcess(memory.child, cache=True, env=env) as bridge:
        info: Object = {"name": "test", "version": "0"}
        params: Object = {"protocolVersion": "2025-11-25", "capabilities": {}, "clientInfo": info}
        bridge.result({"jsonrpc": "2.0", "id": 1, "method": "initialize", "params": params})
        bridge.end()
    assert memory.files() == []


def test_no_cache_neither_reads_nor_writes(memory: Memory) -> None:
    quick = ("--probe-timeout", "0.3")
    assert memory.run(*quick, cache=False) == PROBED
    assert memory.files() == []
    file = memory.learn()
    before = (file.read_bytes(), file.stat().st_mtime_ns)
    assert memory.run(*quick, cache=False) == PROBED
    assert (file.read_bytes(), file.stat().st_mtime_ns) == before


# When it is dropped -----------------------------------------------------------------------------


@pytest.mark.parametrize(
    ("age", "expected"), [(6.9 * DAY, NOT_PROBED), (7.1 * DAY, PROBED), (-1 * DAY, PROBED)]
)
def test_what_is_older_than_seven_days_or_from_the_future_is_not_believed(
    memory: Memory, age: float, expected: list[str]
) -> None:
    file = memory.learn()
    date = cast(float, json.loads(file.read_text())["date"])
    changed(file, date=date - age)
    assert memory.run("--probe-timeout", "0.3") == expected


def test_another_server_info_drops_it(memory: Memory) -> None:
    memory.learn()
    other = {**INITIALIZED, "serverInfo": {**INFO, "version": "2"}}
    memory.child.change(legacy(server_discover=[], initialize=[{"result": other}]))
    assert memory.run() == NOT_PROBED
    assert memory.files() == []
    assert memory.run("--probe-timeout", "0.3") == PROBED


def test_a_child_that_has_become_modern_is_served_and_the_memory_dropped(memory: Memory) -> None:
    memory.learn()
    memory.child.change(modern(initialize=[{"error": NOT_FOUND}]))
    assert memory.run() == ["initialize", "server/discover", "tools/call"]
    assert memory.files() == []


def test_a_child_that_now_exits_on_initialize_is_probed_and_the_memory_dropped(
    memory: Memory,
) -> None:
    memory.learn()
    memory.child.change(modern(initialize=[{"exit": 1}]))
    assert memory.run() == ["initialize", "server/discover", "tools/call"]
    assert memory.files() == []


# The file ---------------------------------------------------------------------------------------


def test_the_file_and_its_folder_are_private(memory: Memory) -> None:
    file = memory.learn()
    assert stat.S_IMODE(file.stat().st_mode) == 0o600
    assert stat.S_IMODE(file.parent.stat().st_mode) == 0o700


def test_the_file_does_not_tell_the_command_line(memory: Memory) -> None:
    memory.child.arguments = ["--token", "secret"]
    file = memory.learn()
    assert b"secret" not in file.read_bytes()
    assert "secret" not in file.name
    assert json.loads(file.read_text()).keys() == {"verdict", "date", "server_info"}


@pytest.mark.parametrize("mode", [0o620, 0o602, 0o666])
def test_a_file_that_others_may_write_is_ignored(memory: Memory, mode: int) -> None:
    memory.learn().chmod(mode)
    assert memory.run("--probe-timeout", "0.3") == PROBED


@pytest.mark.skipif(os.geteuid() != 0, reason="only root can give files away")
def test_a_file_of_another_owner_is_ignored(memory: Memory) -> None:
    os.chown(memory.learn(), 65534, -1)
    assert memory.run("--probe-timeout", "0.3") == PROBED


def test_a_link_in_place_of_the_file_is_ignored(memory: Memory, tmp_path: Path) -> None:
    file = memory.learn()
    file.rename(tmp_path / "elsewhere")
    file.symlink_to(tmp_path / "elsewhere")
    assert memory.run("--probe-timeout", "0.3") == PROBED
    # It was learnt anew, and the link replaced, not followed.
    assert not file.is_symlink()
    assert memory.run() == NOT_PROBED


@pytest.mark.parametrize(
    "text", [b"", b"{", b"null", b"[]", b'{"verdict":"modern","date":0,"server_info":{}}', b"\xff"]
)
def test_a_file_that_makes_no_sense_is_ignored_and_replaced(memory: Memory, text: bytes) -> None:
    file = memory.learn()
    file.write_bytes(text)
    assert memory.run("--probe-timeout", "0.3") == PROBED
    assert memory.run() == NOT_PROBED


def test_a_folder_in_place_of_the_file_is_ignored(memory: Memory) -> None:
    file = memory.learn()
    file.unlink()
    file.mkdir()
    assert memory.run("--probe-timeout", "0.3") == PROBED


def test_a_cache_that_cannot_be_written_disturbs_nobody(memory: Memory) -> None:
    memory.caches.write_text("not a folder")
    assert memory.run("--probe-timeout", "0.3") == PROBED


# The key ----------------------------------------------------------------------------------------


@pytest.fixture
def server(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    """An executable, run from a folder of its own, with a file for an argument."""
    monkeypatch.chdir(tmp_path)
    server = tmp_path / "server"
    server.write_text("#!/bin/sh\n")
    server.chmod(0o755)
    (tmp_path / "main.js").write_text("")
    return server


def key(*argv: str, path: str = "") -> str:
    return key_of(Command(list(argv), {"PATH": path}))


def touch(file: Path) -> None:
    """As if the file had been written a nanosecond later."""
    now = file.stat()
    os.utime(file, ns=(now.st_atime_ns, now.st_mtime_ns + 1_000_000))


def test_the_key_stays_while_nothing_changes(server: Path) -> None:
    assert key(str(server), "main.js") == key(str(server), "main.js")


def test_the_key_depends_on_every_argument(server: Path) -> None:
    name = str(server)
    keys = [key(name), key(name, ""), key(name, "a"), key(name, "a b"), key(name, "a", "b")]
    assert len({*keys, key(name, "b", "a"), key(name, "ab")}) == 7


def test_the_key_depends_on_the_working_directory(
    server: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    before = key(str(server))
    monkeypatch.chdir(os.sep)
    assert key(str(server)) != before


def test_the_key_depends_on_the_age_of_the_executable(server: Path) -> None:
    before = key("server", path=str(server.parent))
    touch(server)
    assert key("server", path=str(server.parent)) != before


def test_the_key_depends_on_which_executable_is_found(server: Path) -> None:
    other = server.parent / "other"
    other.mkdir()
    (other / "server").write_text("#!/bin/sh\n")
    (other / "server").chmod(0o755)
    now = server.stat()
    os.utime(other / "server", ns=(now.st_atime_ns, now.st_mtime_ns))
    assert key("server", path=str(server.parent)) != key("server", path=str(other))


def test_the_key_depends_on_the_age_of_arguments_that_are_files(server: Path) -> None:
    before = key(str(server), "main.js")
    touch(server.parent / "main.js")
    assert key(str(server), "main.js") != before


def test_the_key_does_not_depend_on_folders_or_on_other_variables(server: Path) -> None:
    before = key(str(server), "folder")
    (server.parent / "folder").mkdir()
    assert key(str(server), "folder") == before
    assert key_of(Command([str(server), "folder"], {"PATH": "", "TOKEN": "1"})) == before


def test_a_server_that_is_not_there_has_a_key(server: Path) -> None:
    assert key("missing") != key("missing-too")


def test_a_server_whose_script_was_written_again_is_probed_again(memory: Memory) -> None:
    memory.learn()
    touch(memory.child.script)
    assert memory.run("--probe-timeout", "0.3") == PROBED
    assert memory.run() == NOT_PROBED


def test_the_same_command_in_another_folder_is_probed(memory: Memory, tmp_path: Path) -> None:
    memory.learn()
    assert memory.run("--probe-timeout", "0.3", cwd=tmp_path) == PROBED


def test_the_folder_given_by_option_is_that_of_the_key(memory: Memory, tmp_path: Path) -> None:
    memory.learn()
    option = ("--probe-timeout", "0.3", "-C", str(tmp_path))
    assert memory.run(*option) == PROBED
    assert memory.run(*option) == NOT_PROBED


def test_a_user_without_a_home_remembers_nothing(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    def nowhere(*_: object, **__: object) -> str:
        raise RuntimeError("no home")

    monkeypatch.setattr(platformdirs, "user_cache_dir", nowhere)
    cache = Cache(Command(["server"], {}))
    cache.store(Remembered(child_era.Memory.SILENT, Raw(b"null")))
    assert cache.load() is None


def test_a_folder_that_is_not_absolute_is_not_written_to(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.chdir(tmp_path)
    Cache(Command(["server"], {}), "here").store(Remembered(child_era.Memory.SILENT, Raw(b"null")))
    assert list(tmp_path.iterdir()) == []
