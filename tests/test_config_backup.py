"""The original of a file is what it was before the bridge, and goes when the file is that again."""

import os
from contextlib import AbstractContextManager
from pathlib import Path

import pytest

from config_home import CURSOR, Home, Run, home, run
from mcp_era_bridge import config_files
from mcp_era_bridge.config_files import BACKUP

__all__ = ["home", "run"]

TWO = '{"mcpServers": {"a": {"command": "x"}, "b": {"command": "y"}}}'


def beside(path: Path, number: str = "") -> Path:
    return path.with_name(path.name + BACKUP + number)


def test_the_original_is_not_replaced_by_a_file_with_the_bridge_in_it(home: Home, run: Run) -> None:
    path = home.put(CURSOR, TWO)
    first = run("wrap", "a", "-y")
    assert f"the original is kept as {beside(path)}" in first.stderr
    second = run("wrap", "b", "-y")
    assert f"the original is kept as {beside(path)}" in second.stderr
    assert beside(path).read_text() == TWO


def test_a_file_without_the_bridge_is_the_new_original(home: Home, run: Run) -> None:
    path = home.put(CURSOR, TWO)
    beside(path).write_text("{}")
    run("wrap", "a", "-y")
    assert beside(path).read_text() == TWO


def test_a_file_with_the_bridge_is_kept_if_there_is_nothing_better(home: Home, run: Run) -> None:
    text = TWO.replace('"x"', '"mcp-bridge", "args": ["--", "x"]')
    path = home.put(CURSOR, text)
    run("wrap", "b", "-y")
    assert beside(path).read_text() == text


def test_what_is_chosen_does_not_hide_a_wrapped_server(home: Home, run: Run) -> None:
    text = """{"mcpServers": {"a": {"command": "mcp-bridge", "args": ["--", "x"]}},
        "projects": {"/one": {"mcpServers": {"b": {"command": "y"}}}}}"""
    path = home.put(".claude.json", text)
    beside(path).write_text("{}")
    assert run("wrap", "b", "-y", "--scope", "local").exit_code == 0
    assert beside(path).read_text() == "{}"


def test_unwrap_keeps_nothing_and_removes_an_original_that_the_file_equals(
    home: Home, run: Run
) -> None:
    path = home.put(CURSOR, TWO)
    run("wrap", "--all", "-y")
    half = run("unwrap", "a", "-y")
    assert f"the original is kept as {beside(path)}" in half.stderr
    assert beside(path).read_text() == TWO
    whole = run("unwrap", "b", "-y")
    assert f"{beside(path)} is removed" in whole.stderr
    assert list(path.parent.iterdir()) == [path]


def test_unwrap_makes_no_original(home: Home, run: Run) -> None:
    path = home.put(CURSOR, TWO.replace('"x"', '"mcp-bridge", "args": ["--", "x"]'))
    result = run("unwrap", "a", "-y")
    assert (result.exit_code, list(path.parent.iterdir())) == (0, [path])
    assert "the original" not in result.stderr


def test_an_original_that_the_file_does_not_equal_stays(home: Home, run: Run) -> None:
    path = home.put(CURSOR, TWO)
    run("wrap", "--all", "-y")
    path.write_text(path.read_text() + "\n")
    assert "the original is kept as" in run("unwrap", "--all", "-y").stderr
    assert beside(path).read_text() == TWO


@pytest.mark.parametrize("kind", ["text", "link", "folder"])
def test_what_is_somebody_elses_is_left_alone(home: Home, run: Run, kind: str) -> None:
    path = home.put(CURSOR, TWO)
    if kind == "text":
        beside(path).write_text("my own notes")
    elif kind == "link":
        beside(path).symlink_to(path)
    else:
        beside(path).mkdir()
    was = os.lstat(beside(path))
    result = run("wrap", "--all", "-y")
    assert f"the original is kept as {beside(path, '.2')}" in result.stderr
    assert beside(path, ".2").read_text() == TWO
    run("unwrap", "--all", "-y")
    now = os.lstat(beside(path))
    assert (was.st_ino, was.st_mtime_ns) == (now.st_ino, now.st_mtime_ns)
    assert not beside(path, ".2").exists()


def test_an_original_that_cannot_be_removed_is_said(
    home: Home, run: Run, monkeypatch: pytest.MonkeyPatch
) -> None:
    path = home.put(CURSOR, TWO)
    run("wrap", "--all", "-y")

    def fail(path: Path) -> None:
        raise PermissionError(1, "Operation not permitted")

    monkeypatch.setattr(Path, "unlink", fail)
    result = run("unwrap", "--all", "-y")
    assert result.exit_code == 1
    assert "cannot be removed: Operation not permitted" in result.stderr
    assert path.read_text() == TWO


def test_the_second_of_two_runs_at_once_loses_nothing(
    home: Home, run: Run, monkeypatch: pytest.MonkeyPatch
) -> None:
    path = home.put(CURSOR, TWO)
    alone = config_files.alone

    def after_another(held: Path) -> AbstractContextManager[None]:
        monkeypatch.setattr(config_files, "alone", alone)
        assert run("wrap", "b", "-y").exit_code == 0
        return alone(held)

    monkeypatch.setattr(config_files, "alone", after_another)
    result = run("wrap", "a", "-y")
    assert result.exit_code == 1
    assert "meanwhile. Try again" in result.stderr
    assert path.read_text().count(str(home.bridge)) == 1
    assert beside(path).read_text() == TWO
    assert run("wrap", "a", "-y").exit_code == 0
    assert path.read_text().count(str(home.bridge)) == 2
