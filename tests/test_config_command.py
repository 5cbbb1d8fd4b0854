"""`mcp-bridge config` as a person uses it: list, wrap, unwrap."""

import json
import os
import subprocess
from dataclasses import replace
from pathlib import Path

import pytest

from bridge_process import LAUNCH
from children import PATIENCE
from config_home import (
    CODEX,
    CURSOR,
    DESKTOP,
    FOUND,
    PROJECT,
    USER,
    Home,
    Run,
    home,
    rows,
    run,
)
from mcp_era_bridge import config_report
from mcp_era_bridge.config_command import HOSTS
from mcp_era_bridge.config_files import BACKUP

__all__ = ["home", "run"]

# list -------------------------------------------------------------------------------------------


def test_list_finds_the_servers_of_every_host(home: Home, run: Run) -> None:
    home.fill()
    result = run("list", "--json")
    assert result.exit_code == 0
    found = [
        f"{row['host']} {row['scope']} {str(row['server']).replace(' ', '_')} {row['state']}"
        for row in rows(result)
    ]
    assert sorted(found) == sorted(FOUND.strip().splitlines())
    assert {row["host"] for row in rows(result)} == set(HOSTS)


def test_list_without_a_terminal_is_lines_with_tabs(home: Home, run: Run) -> None:
    path = home.put(CURSOR, '{"mcpServers": {"a\\tb": {"command": "x y", "args": ["z"]}}}')
    result = run("list")
    assert result.stdout == f"cursor\tuser\tplain\ta\\tb\t'x y' z\t{path}\n"


def test_list_masks_what_looks_like_a_secret(home: Home, run: Run) -> None:
    home.put(
        CURSOR,
        '{"mcpServers": {"a": {"command": "x", "args": ["--api-key", "0123456789", "s3cretvalue"],'
        ' "env": {"MY_TOKEN": "s3cretvalue"}}}}',
    )
    for result in (run("list"), run("list", "--json")):
        assert "0123456789" not in result.stdout
        assert "s3cretvalue" not in result.stdout


def test_list_shows_a_wrapped_server_by_its_own_command(home: Home, run: Run) -> None:
    home.put(CURSOR, '{"mcpServers": {"a": {"command": "mcp-bridge", "args": ["--", "x", "y"]}}}')
    (row,) = rows(run("list", "--json"))
    assert (row["state"], row["command"]) == ("wrapped", "x y")


def test_list_says_that_there_is_nothing(run: Run) -> None:
    result = run("list")
    assert (result.exit_code, result.stdout) == (0, "")
    assert "No host" in result.stderr


@pytest.mark.parametrize(
    ("words", "servers"),
    [
        (["--host", "cursor"], {"cur"}),
        (["--host", "cursor", "--host", "lm-studio"], {"cur", "lm"}),
        (["--host", "claude-code", "--scope", "project"], {"shared"}),
        (["--host", "claude-code", "--scope", "local"], {"local", "off"}),
        (["--host", "claude-code", "--scope", "user"], {"everywhere", "remote"}),
    ],
)
def test_list_shows_what_is_chosen(
    home: Home, run: Run, words: list[str], servers: set[str]
) -> None:
    home.fill()
    assert {row["server"] for row in rows(run("list", "--json", *words))} == servers


def test_a_project_that_is_named_is_the_only_one(home: Home, run: Run, tmp_path: Path) -> None:
    one = tmp_path / "one"
    one.mkdir()
    text = {"projects": {str(one): {"mcpServers": {"a": {"command": "x"}}}, "/two": {}}}
    text["projects"]["/two"] = {"mcpServers": {"b": {"command": "x"}}}
    home.put(".claude.json", json.dumps(text))
    home.put(".mcp.json", '{"mcpServers": {"c": {"command": "x"}}}', one)
    found = rows(run("list", "--json", "--project", str(one)))
    assert [row["server"] for row in found] == ["a", "c"]
    assert {row["server"] for row in rows(run("list", "--json"))} == {"a", "b"}


def test_a_file_of_the_user_and_of_the_project_is_shown_once(home: Home, run: Run) -> None:
    home.put(CURSOR, USER[CURSOR])
    found = rows(run("list", "--json", "--project", str(home.home)))
    assert [row["scope"] for row in found] == ["user"]


def test_list_in_a_terminal_has_a_heading_for_each_file(
    capsys: pytest.CaptureFixture[str],
) -> None:
    row = config_report.Row("cursor", "user", "/f", "a", "wrapped", False, "x y", "", ())
    bad = config_report.Row("zed", "user", "/g", "", "not readable", True, "", "", ("why",))
    config_report.table([row, replace(row, server="b", state="url"), bad])
    lines = [line.split() for line in capsys.readouterr().out.splitlines()]
    assert lines == [
        ["cursor", "/f"],
        ["a", "wrapped,", "disabled", "user", "x", "y"],
        ["b", "url", "user", "x", "y"],
        ["zed", "/g"],
        ["not", "readable", "user", "why"],
    ]


# wrap and unwrap --------------------------------------------------------------------------------


def test_all_is_wrapped_and_unwrapped_again(home: Home, run: Run) -> None:
    home.fill()
    before = home.contents()
    assert run("wrap", "--all", "--yes").exit_code == 0
    states = {row["server"]: row["state"] for row in rows(run("list", "--json"))}
    for line in FOUND.strip().splitlines():
        _, _, name, state = line.split()
        expected = "wrapped" if state == "plain" else state
        assert states[name.replace("_", " ")] == expected or name == "away"
    wrapped = home.contents()
    assert set(wrapped) == set(before)
    again = run("wrap", "--all", "--yes")
    assert (again.exit_code, home.contents()) == (0, wrapped)
    assert "Nothing to change." in again.stderr
    assert run("unwrap", "--all", "--yes").exit_code == 0
    assert home.contents() == before


def test_wrap_writes_the_full_path_and_options(home: Home, run: Run) -> None:
    path = home.put(CURSOR, '{"mcpServers": {"a": {"command": "x", "args": ["y"]}}}')
    assert run("wrap", "a", "-y", "--bridge-option=--era=legacy").exit_code == 0
    server = json.loads(path.read_text())["mcpServers"]["a"]
    assert server == {"command": str(home.bridge), "args": ["--era=legacy", "--", "x", "y"]}


def test_wrap_writes_another_command_if_it_is_told_to(home: Home, run: Run) -> None:
    path = home.put(CURSOR, '{"mcpServers": {"a": {"command": "x"}}}')
    assert run("wrap", "a", "-y", "--bridge", "mcp-bridge").exit_code == 0
    assert json.loads(path.read_text())["mcpServers"]["a"]["command"] == "mcp-bridge"


def test_an_empty_command_for_the_bridge_is_refused(home: Home, run: Run) -> None:
    home.put(CURSOR, USER[CURSOR])
    result = run("wrap", "--all", "-y", "--bridge", " ")
    assert result.exit_code == 2
    assert "--bridge: the command is empty" in result.stderr


def test_a_command_that_is_not_there_is_a_warning(home: Home, run: Run) -> None:
    path = home.put(CURSOR, USER[CURSOR])
    result = run("wrap", "--all", "-y", "--bridge", "no-such-bridge")
    assert result.exit_code == 0
    assert "Warning: there is no command 'no-such-bridge' here" in result.stderr
    assert "no-such-bridge" in path.read_text()


@pytest.mark.parametrize("where", [".devcontainer/devcontainer.json", ".mcp.json"])
def test_there_is_no_warning_of_what_is_not_written(home: Home, run: Run, where: str) -> None:
    wrapped = '{"mcpServers": {"a": {"command": "mcp-bridge", "args": ["--", "x"]}}}'
    home.put(where, PROJECT[where] if "dev" in where else wrapped, home.project)
    result = run("wrap", "--all", "-y", "--bridge", "no-such-bridge")
    assert (result.exit_code, "Warning" in result.stderr) == (0, False)


def test_a_dev_container_gets_the_name_only(home: Home, run: Run) -> None:
    name = ".devcontainer/devcontainer.json"
    path = home.put(name, PROJECT[name], home.project)
    assert run("wrap", "inside", "-y").exit_code == 0
    assert '"command": "mcp-bridge", "args": [ "--", "npx" ]' in path.read_text()


def test_wrap_shows_the_change_and_asks(home: Home, run: Run) -> None:
    path = home.put(CURSOR, '{"mcpServers": {"a": {\n"command": "x"\n}}}')
    before = path.read_bytes()
    refused = run("wrap", "a", input="n\n")
    assert refused.exit_code == 1
    assert '-"command": "x"' in refused.stdout
    assert f'+"command": "{home.bridge}",' in refused.stdout
    assert "Change 1 server in 1 file?" in refused.stderr
    assert "terminal" not in refused.stderr
    assert path.read_bytes() == before
    assert run("wrap", "a", input="").exit_code == 1
    assert list(path.parent.iterdir()) == [path]
    agreed = run("wrap", "a", input="y\n")
    assert agreed.exit_code == 0
    assert path.read_bytes() != before
    assert (path.parent / f"mcp.json{BACKUP}").read_bytes() == before


def test_a_dry_run_shows_the_same_and_writes_nothing(home: Home, run: Run) -> None:
    path = home.put(CURSOR, USER[CURSOR])
    result = run("wrap", "--all", "--dry-run")
    assert result.exit_code == 0
    assert result.stdout.startswith(f"--- {path}")
    assert list(path.parent.iterdir()) == [path]
    assert path.read_bytes() == USER[CURSOR].encode()


def test_only_named_servers_are_wrapped(home: Home, run: Run) -> None:
    path = home.put(DESKTOP, USER[DESKTOP])
    assert run("wrap", "time", "-y").exit_code == 0
    assert path.read_text() == USER[DESKTOP].replace('"uvx"', f'"{home.bridge}"').replace(
        '["mcp-server-time"', '["--", "uvx", "mcp-server-time"'
    )


def test_a_disabled_server_is_wrapped_if_it_is_named(home: Home, run: Run) -> None:
    path = home.put(CODEX, USER[CODEX])
    result = run("wrap", "--all", "-y")
    assert "away is disabled" in result.stderr
    assert run("wrap", "away", "-y").exit_code == 0
    assert f'command = "{home.bridge}"\nargs = [ "--", "x" ]\n' in path.read_text()


def test_a_server_with_a_url_is_left_alone(home: Home, run: Run) -> None:
    path = home.put(CODEX, USER[CODEX])
    result = run("wrap", "figma", "-y")
    assert "figma has a URL" in result.stderr
    assert path.read_text() == USER[CODEX]


@pytest.mark.parametrize(
    ("there", "wanted", "same"),
    [
        (["--era=legacy"], [], True),
        (["--era=legacy"], ["--era=legacy"], True),
        (["--era", "legacy"], ["--era=legacy"], True),
        (["--era=legacy"], ["--era=modern"], False),
        (["--era=legacy"], ["--era=legacy", "--no-cache"], False),
        ([], ["--era=legacy"], False),
        (["--ear=x"], ["--era=legacy"], False),
    ],
)
def test_other_options_of_a_wrapped_server_are_an_error(
    home: Home, run: Run, there: list[str], wanted: list[str], same: bool
) -> None:
    server = {"command": "mcp-bridge", "args": [*there, "--", "x"]}
    path = home.put(CURSOR, json.dumps({"mcpServers": {"a": server}}))
    before = path.read_bytes()
    options = [f"--bridge-option={word}" for word in wanted]
    result = run("wrap", "a", "-y", *options)
    what = "a is already behind the bridge, with other options: unwrap it first"
    assert (result.exit_code, what in result.stderr) == ((0, False) if same else (1, True))
    everything = run("wrap", "--all", "-y", *options)
    assert (everything.exit_code, what in everything.stderr) == (0, not same)
    assert path.read_bytes() == before


@pytest.mark.parametrize("command", ["wrap", "unwrap"])
def test_the_help_says_the_exit_codes(run: Run, command: str) -> None:
    assert "Exit code: 0 if" in run(command, "--help").stdout


@pytest.mark.parametrize("command", ["wrap", "unwrap"])
def test_a_server_that_is_not_there_is_said(home: Home, run: Run, command: str) -> None:
    home.put(CURSOR, USER[CURSOR])
    result = run(command, "nobody", "-y")
    assert result.exit_code == 1
    assert "no server is called 'nobody'" in result.stderr


@pytest.mark.parametrize("command", ["wrap", "unwrap"])
def test_a_name_that_is_nearly_right_is_guessed(home: Home, run: Run, command: str) -> None:
    home.put(DESKTOP, USER[DESKTOP])
    assert "Did you mean 'time'?" in run(command, "tiem", "-y").stderr
    assert "Did you mean" not in run(command, "nobody", "-y").stderr
    result = run(command, "time", "--host", "claud-desktop")
    assert result.exit_code == 2
    assert "Did you mean 'claude-desktop'?" in result.stderr
    assert "Did you mean" not in run(command, "time", "--host", "nobody").stderr


def test_wrap_says_which_hosts_to_restart(home: Home, run: Run) -> None:
    for name in (DESKTOP, CURSOR, CODEX, ".config/Code/User/mcp.json"):
        home.put(name, USER[name])
    more = "to use it; `mcp-bridge config check` looks again\n"
    assert run("wrap", "cur", "-y").stderr.endswith(f"Restart Cursor {more}")
    assert "Restart" not in run("wrap", "cur", "-y").stderr
    assert "Restart" not in run("wrap", "--all", "--dry-run").stderr
    result = run("wrap", "--all", "-y")
    assert result.stderr.endswith(f"Restart Claude Desktop, VS Code and Codex {more}")
    assert "Restart" not in run("unwrap", "--all", "-y").stderr


def test_unwrap_takes_disabled_servers_too_and_says_so(home: Home, run: Run) -> None:
    assert "disabled ones too" in " ".join(run("unwrap", "--help").stdout.split())
    path = home.put(CODEX, USER[CODEX])
    run("wrap", "away", "-y")
    assert run("unwrap", "--all", "-y").exit_code == 0
    assert path.read_text() == USER[CODEX]


@pytest.mark.parametrize("words", [["wrap"], ["unwrap"], ["wrap", "a", "--all"]])
def test_names_or_all_have_to_be_given(run: Run, words: list[str]) -> None:
    result = run(*words)
    assert result.exit_code == 2
    assert "Name servers or give --all" in result.stderr


def test_a_bad_option_for_the_bridge_is_refused(home: Home, run: Run) -> None:
    result = run("wrap", "--all", "--bridge-option=--ear=x")
    assert result.exit_code == 2
    assert "--bridge-option: No such option: --ear" in result.stderr


def test_an_option_of_the_bridge_needs_a_value(home: Home, run: Run) -> None:
    assert run("wrap", "--all", "--bridge-option=--era").exit_code == 2


def test_a_file_that_two_hosts_share_by_a_link_is_changed_once(home: Home, run: Run) -> None:
    path = home.put(CURSOR, USER[CURSOR])
    link = home.home / ".lmstudio" / "mcp.json"
    link.parent.mkdir()
    link.symlink_to(path)
    assert len(rows(run("list", "--json"))) == 2
    assert run("wrap", "--all", "-y").exit_code == 0
    assert link.is_symlink()
    assert [row["state"] for row in rows(run("list", "--json"))] == ["wrapped", "wrapped"]
    assert run("unwrap", "--all", "-y").exit_code == 0
    assert path.read_bytes() == USER[CURSOR].encode()


# --file -----------------------------------------------------------------------------------------


@pytest.mark.parametrize(
    ("name", "words", "host"),
    [
        ("claude_desktop_config.json", [], "claude-desktop"),
        ("x/.vscode/mcp.json", [], "vscode"),
        ("x/.cursor/mcp.json", [], "cursor"),
        ("x/.mcp.json", [], "claude-code"),
        ("x/.gemini/settings.json", [], "gemini"),
        ("anything.json", ["--host", "cursor"], "cursor"),
        ("mcp.json", ["--host", "lm-studio"], "lm-studio"),
    ],
)
def test_a_file_at_another_place_is_known(
    run: Run, tmp_path: Path, name: str, words: list[str], host: str
) -> None:
    path = tmp_path / name
    path.parent.mkdir(parents=True, exist_ok=True)
    key = "servers" if host == "vscode" else "mcpServers"
    path.write_text(json.dumps({key: {"a": {"command": "x"}}}))
    (row,) = rows(run("list", "--json", "--file", str(path), *words))
    assert (row["host"], row["server"]) == (host, "a")
    assert run("wrap", "a", "-y", "--file", str(path), *words).exit_code == 0


@pytest.mark.parametrize(
    ("name", "words"),
    [
        ("mcp.json", []),
        ("foo.json", []),
        ("foo.toml", ["--host", "cursor"]),
        ("x.txt", ["--host", "cursor", "--host", "zed"]),
    ],
)
def test_a_file_of_nobody_is_said(run: Run, tmp_path: Path, name: str, words: list[str]) -> None:
    path = tmp_path / name
    path.write_text("{}")
    result = run("wrap", "--all", "--file", str(path), *words)
    assert result.exit_code == 1
    assert "whose file it is" in result.stderr


def test_a_file_that_is_not_there_is_said(run: Run, tmp_path: Path) -> None:
    for words in (["--host", "cursor"], []):
        result = run("list", *words, "--file", str(tmp_path / "nope.json"))
        assert result.exit_code == 1
        assert "there is no such file" in result.stderr


# From outside -----------------------------------------------------------------------------------


@pytest.mark.parametrize("command", ["list", "check", "wrap", "unwrap"])
def test_each_command_shows_examples(run: Run, command: str) -> None:
    result = run(command, "--help")
    assert result.exit_code == 0
    assert f"mcp-bridge config {command}" in result.stdout


def started(home: Path, *words: str) -> subprocess.CompletedProcess[str]:
    return subprocess.run(
        [*LAUNCH, "config", *words],
        env={"HOME": str(home), "PATH": os.environ["PATH"]},
        cwd=home,
        stdin=subprocess.DEVNULL,
        capture_output=True,
        text=True,
        timeout=PATIENCE,
    )


def test_the_command_itself_wraps_with_its_own_full_path(tmp_path: Path) -> None:
    path = tmp_path / ".cursor" / "mcp.json"
    path.parent.mkdir()
    path.write_text('{"mcpServers": {"a": {"command": "x"}}}')
    done = started(tmp_path, "wrap", "a", "--yes")
    assert done.returncode == 0, done.stderr
    assert os.path.isabs(json.loads(path.read_text())["mcpServers"]["a"]["command"])


def test_without_a_terminal_it_is_said_that_nobody_can_be_asked(tmp_path: Path) -> None:
    path = tmp_path / ".cursor" / "mcp.json"
    path.parent.mkdir()
    path.write_text('{"mcpServers": {"a": {"command": "x"}}}')
    done = started(tmp_path, "wrap", "a")
    assert done.returncode == 1
    assert done.stderr.endswith("Error: not a terminal: add --yes\n")
    assert list(path.parent.iterdir()) == [path]
