"""A configuration file is read as it is, and replaced whole or not at all."""

import fcntl
import os
from pathlib import Path

import pytest

from mcp_era_bridge.config_files import BACKUP, FileProblem, alone, read, replace


def refused(path: Path) -> str:
    with pytest.raises(FileProblem) as caught:
        read(path)
    return str(caught.value)


def made(folder: Path, data: bytes = b"{}\r\n") -> Path:
    path = folder / "mcp.json"
    path.write_bytes(data)
    return path


@pytest.mark.parametrize("data", [b"", b"{}\r\n", b"\xef\xbb\xbf{}", '{"ä": 1}\n'.encode()])
def test_bytes_stay_as_they_are(tmp_path: Path, data: bytes) -> None:
    content = read(made(tmp_path, data))
    assert content.data == data
    replace(content, content.text, None)
    assert content.path.read_bytes() == data


@pytest.mark.parametrize(
    ("data", "what"),
    [
        (b"\xff\xfe{\0}\0", "UTF-16"),
        (b'{"a": "\xe4"}', "byte 7 (0xe4) is no UTF-8"),
        (b'\xef\xbb\xbf"\xe4"', "byte 4 (0xe4) is no UTF-8"),
    ],
)
def test_what_is_not_utf_8_is_refused(tmp_path: Path, data: bytes, what: str) -> None:
    assert what in refused(made(tmp_path, data))


def test_what_is_no_file_is_refused(tmp_path: Path) -> None:
    assert "No such file" in refused(tmp_path / "nothing")
    assert "no regular file" in refused(tmp_path)
    loop = tmp_path / "loop"
    loop.symlink_to(loop)
    assert "cannot be read" in refused(loop)
    pipe = tmp_path / "pipe"
    os.mkfifo(pipe)
    assert "no regular file" in refused(pipe)


def test_a_huge_file_is_refused(tmp_path: Path) -> None:
    path = made(tmp_path)
    os.truncate(path, 65 << 20)
    assert "65 MiB" in refused(path)


def test_the_backup_holds_what_was_there(tmp_path: Path) -> None:
    path = made(tmp_path, b"old")
    backup = tmp_path / f"mcp.json{BACKUP}"
    replace(read(path), "new", backup)
    assert (path.read_bytes(), backup.read_bytes()) == (b"new", b"old")
    assert sorted(p.name for p in tmp_path.iterdir()) == ["mcp.json", f"mcp.json{BACKUP}"]


@pytest.mark.parametrize("mode", [0o600, 0o644, 0o664])
def test_the_mode_is_kept_by_the_file_and_its_backup(tmp_path: Path, mode: int) -> None:
    path = made(tmp_path)
    path.chmod(mode)
    backup = tmp_path / f"mcp.json{BACKUP}"
    replace(read(path), "new", backup)
    assert [p.stat().st_mode & 0o777 for p in (path, backup)] == [mode, mode]


@pytest.mark.skipif(os.getuid() != 0, reason="only root can give files away")
def test_the_owner_is_kept_by_the_file_and_its_backup(tmp_path: Path) -> None:
    path = made(tmp_path)
    os.chown(path, 1234, 2345)
    backup = tmp_path / f"mcp.json{BACKUP}"
    replace(read(path), "new", backup)
    assert [(p.stat().st_uid, p.stat().st_gid) for p in (path, backup)] == [(1234, 2345)] * 2


def test_a_link_stays_one_and_the_file_behind_it_changes(tmp_path: Path) -> None:
    (tmp_path / "dotfiles").mkdir()
    path = made(tmp_path / "dotfiles", b"old")
    first, link = tmp_path / "first", tmp_path / "link"
    first.symlink_to(path)
    link.symlink_to(first)
    replace(read(link), "new", None)
    assert (link.is_symlink(), path.read_bytes(), path.is_symlink()) == (True, b"new", False)


def test_a_read_only_file_is_left_alone(tmp_path: Path) -> None:
    path = made(tmp_path, b"old")
    path.chmod(0o444)
    with pytest.raises(FileProblem) as caught:
        replace(read(path), "new", None)
    assert "read-only" in str(caught.value)
    assert [p.name for p in tmp_path.iterdir()] == ["mcp.json"]


def test_a_file_that_its_host_has_written_meanwhile_is_left_alone(tmp_path: Path) -> None:
    path = made(tmp_path, b"old")
    content = read(path)
    path.write_bytes(b"newer")
    with pytest.raises(FileProblem) as caught:
        replace(content, "new", None)
    assert "meanwhile" in str(caught.value)
    assert path.read_bytes() == b"newer"


def test_a_file_that_is_gone_meanwhile_is_not_made_anew(tmp_path: Path) -> None:
    path = made(tmp_path)
    content = read(path)
    path.unlink()
    with pytest.raises(FileProblem):
        replace(content, "new", None)
    assert list(tmp_path.iterdir()) == []


class Crash(BaseException):
    """The end of the process."""


def test_a_crash_between_backup_and_rename_loses_nothing(tmp_path: Path) -> None:
    path = made(tmp_path, b"old")
    seen: list[tuple[bytes, bytes, bytes]] = []

    def crash(new: str, old: Path) -> None:
        backup = path.with_name(path.name + BACKUP)
        seen.append((Path(new).read_bytes(), old.read_bytes(), backup.read_bytes()))
        raise Crash

    with pytest.raises(Crash):
        replace(read(path), "new", tmp_path / f"mcp.json{BACKUP}", crash)
    assert seen == [(b"new", b"old", b"old")]
    assert path.read_bytes() == b"old"


def test_a_rename_that_fails_is_said_and_leaves_nothing_behind(tmp_path: Path) -> None:
    path = made(tmp_path, b"old")

    def fail(new: str, old: Path) -> None:
        raise OSError(28, "No space left on device")

    with pytest.raises(FileProblem) as caught:
        replace(read(path), "new", tmp_path / f"mcp.json{BACKUP}", fail)
    assert "No space left on device" in str(caught.value)
    assert sorted(p.name for p in tmp_path.iterdir()) == ["mcp.json", f"mcp.json{BACKUP}"]


def test_a_change_just_before_the_rename_is_not_lost(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    path = made(tmp_path, b"old")
    content = read(path)

    def another_writes(fd: int) -> None:
        path.write_bytes(b"newer")

    monkeypatch.setattr(os, "fsync", another_writes)
    with pytest.raises(FileProblem) as caught:
        replace(content, "new", None)
    assert "meanwhile" in str(caught.value)
    assert path.read_bytes() == b"newer"
    assert list(tmp_path.iterdir()) == [path]


def test_one_run_at_a_time_writes_into_a_folder(tmp_path: Path) -> None:
    path = made(tmp_path)
    other = os.open(tmp_path, os.O_RDONLY)
    with alone(path), pytest.raises(BlockingIOError):
        fcntl.flock(other, fcntl.LOCK_EX | fcntl.LOCK_NB)
    fcntl.flock(other, fcntl.LOCK_EX | fcntl.LOCK_NB)
    os.close(other)


def test_leftovers_of_a_run_that_was_killed_are_removed(tmp_path: Path) -> None:
    path = made(tmp_path)
    old = [".mcp.json.abcd_123.tmp", f".mcp.json{BACKUP}.abcd_123.tmp"]
    old.append(f".mcp.json{BACKUP}.2.abcd_123.tmp")
    others = [".mcp.json.tmp", ".other.json.abcd_123.tmp", "mcp.json.abcd_123.tmp"]
    young = ".mcp.json.abcd_124.tmp"
    for name in (*old, *others, young):
        (tmp_path / name).touch()
        if name != young:
            os.utime(tmp_path / name, (0, 0))
    (tmp_path / ".mcp.json.a_folder.tmp").mkdir()
    os.utime(tmp_path / ".mcp.json.a_folder.tmp", (0, 0))
    replace(read(path), "new", None)
    left = {p.name for p in tmp_path.iterdir()}
    assert left == {"mcp.json", young, ".mcp.json.a_folder.tmp", *others}
