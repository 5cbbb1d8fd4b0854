"""Published servers of 2025 show a modern host behind the bridge all that they show directly.

The bridge must not lose a word of a tool's definition: models read it.
"""

import json
import shutil
import sqlite3
import subprocess
from contextlib import closing
from pathlib import Path

import pytest

from published.runs import (
    BRIDGE,
    LEGACY,
    MODERN,
    Command,
    Object,
    Report,
    Runs,
    as_legacy,
    as_modern,
    differences,
    installed,
    node,
)

pytestmark = pytest.mark.published

LISTS = ("list_tools", "list_resources")


def server_everything() -> Command:
    package = ("node_modules", "@modelcontextprotocol", "server-everything", "dist", "index.js")
    return (node(), installed("everything", *package))


def server_time() -> Command:
    return (installed("server-time", "bin", "mcp-server-time"),)


def server_git(folder: Path) -> Command:
    server = installed("server-git", "bin", "mcp-server-git")
    if shutil.which("git") is None:
        pytest.fail("mcp-server-git needs git, which is not on PATH: install it", pytrace=False)
    repository = folder / "repository"
    subprocess.run(["git", "init", "--quiet", repository], check=True, timeout=30)
    return (server, "--repository", str(repository))


def server_sqlite(folder: Path) -> Command:
    server = installed("server-sqlite", "bin", "mcp-server-sqlite")
    file = folder / "tea.db"
    with closing(sqlite3.connect(file)) as database, database:
        database.execute("CREATE TABLE tea (name TEXT, grams INTEGER)")
    return (server, "--db-path", str(file))


def direct_and_bridged(runs: Runs, server: Command, *calls: str) -> tuple[Report, Report]:
    """Both runs, after making sure that both show the same lists, and at least one tool."""
    steps = LISTS + calls
    direct_run = runs.start("py", LEGACY, server, steps)
    bridged_run = runs.start("py", MODERN, BRIDGE + server, steps)
    direct, bridged = direct_run.result(), bridged_run.result()
    bridged = Report(bridged.connect, as_legacy(bridged.steps, direct.connect["server"]))

    assert bridged.connect["version"] == MODERN
    tools = direct.got("list_tools")["tools"]
    assert isinstance(tools, list) and tools
    assert differences(only_lists(as_modern(direct.steps)), only_lists(bridged.steps)) == {}
    return direct, bridged


def only_lists(steps: Object) -> Object:
    return {step: steps[step] for step in LISTS}


def text_of(result: Object) -> str:
    content = result["content"]
    assert isinstance(content, list) and len(content) == 1, result
    assert isinstance(content[0], dict) and content[0]["type"] == "text", result
    text = content[0]["text"]
    assert isinstance(text, str)
    return text


def test_everything_shows_all_and_echoes(runs: Runs) -> None:
    call = 'echo={"message": "héllo"}'
    direct, bridged = direct_and_bridged(runs, server_everything(), call)
    assert text_of(bridged.got(call)) == "Echo: héllo"
    assert bridged.got(call) == direct.got(call)
    resources = bridged.got("list_resources")["resources"]
    assert isinstance(resources, list) and resources


def test_time_shows_all_and_tells_the_time(runs: Runs) -> None:
    call = 'get_current_time={"timezone": "UTC"}'
    told: list[dict[str, object]] = [
        json.loads(text_of(run.got(call))) for run in direct_and_bridged(runs, server_time(), call)
    ]
    direct, bridged = ({**clock, "datetime": type(clock["datetime"])} for clock in told)
    assert bridged == direct
    assert bridged["timezone"] == "UTC"


def test_git_shows_all(runs: Runs, tmp_path: Path) -> None:
    direct_and_bridged(runs, server_git(tmp_path))


def test_sqlite_shows_all_and_lists_its_tables(runs: Runs, tmp_path: Path) -> None:
    call = "list_tables={}"
    direct, bridged = direct_and_bridged(runs, server_sqlite(tmp_path), call)
    assert "tea" in text_of(bridged.got(call))
    assert bridged.got(call) == direct.got(call)
    resources = bridged.got("list_resources")["resources"]
    assert isinstance(resources, list) and resources
