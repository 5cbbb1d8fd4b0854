"""What is wrong in files and with servers: `config check` says it, `config wrap` heeds it."""

import json

import pytest

from config_home import CODEX, CURSOR, GOOSE, USER, Home, Run, home, rows, run

__all__ = ["home", "run"]

# Files that are not as they should be -----------------------------------------------------------

BAD: dict[str, tuple[str, str | bytes, str]] = {
    "no JSON": (CURSOR, '{"mcpServers": {"a": }}', "no valid JSON: line 1, column 22"),
    "no map": (CURSOR, "[]", "expected a map at the top"),
    "no end": (CURSOR, '{"mcpServers": {', "no valid JSON"),
    "two documents": (CURSOR, "{} {}", "expected the end of the file"),
    "single quotes": (CURSOR, "{'mcpServers': {}}", "double quotes"),
    "not UTF-8": (CURSOR, b'{"a": "\xe4"}', "is no UTF-8"),
    "no TOML": (CODEX, "[mcp_servers\n", "no valid TOML: line 1"),
    "a key twice": (CODEX, "a = 1\na = 2\n", "no valid TOML: line 2"),
    "no YAML": (GOOSE, "a: [\n", "no valid YAML: line 2"),
    "two YAML documents": (GOOSE, "a: 1\n---\nb: 1\n", "no valid YAML"),
    "tabs in YAML": (GOOSE, "a:\n\tb: 1\n", "no valid YAML"),
    "deep JSON": (CURSOR, "[" * 100_000, "nested too deep"),
    "deep YAML": (GOOSE, "[" * 5_000, "no valid YAML"),
    "deep TOML": (CODEX, "a = " + "[" * 50_000, "no valid TOML"),
    "YAML in a circle": (GOOSE, "a: &a [*a]\n", "nested too deep"),
}


@pytest.mark.parametrize("name", BAD)
def test_a_bad_file_is_said_and_nothing_is_written(home: Home, run: Run, name: str) -> None:
    where, data, what = BAD[name]
    path = home.put(where, data)
    before = path.read_bytes()
    (row,) = rows(run("list", "--json"))
    assert row["state"] == "not readable"
    for words in (["check"], ["wrap", "--all", "-y"], ["unwrap", "--all", "-y"]):
        result = run(*words)
        assert result.exit_code == 1
        assert what in result.stdout + result.stderr
        assert str(path) in result.stdout + result.stderr
    assert path.read_bytes() == before
    assert list(path.parent.iterdir()) == [path]


@pytest.mark.parametrize(
    ("where", "text", "what"),
    [
        (CURSOR, '{"mcpServers": []}', "mcpServers is a list, a map is expected"),
        (CURSOR, '{"mcpServers": null}', "mcpServers is null, a map is expected"),
        (CURSOR, '{"mcpServers": "x"}', "mcpServers is a string, a map is expected"),
        (CURSOR, '{"mcpServers": 1}', "mcpServers is a single value, a map is expected"),
        (CODEX, "mcp_servers = []\n", "mcp_servers is a list, a map is expected"),
        (GOOSE, "extensions:\n- a\n", "extensions is a list, a map is expected"),
        (
            ".claude.json",
            '{"projects": {"/one": {"mcpServers": []}, "/two": {"mcpServers": {}}}}',
            "mcpServers is a list, a map is expected (in '/one')",
        ),
    ],
)
def test_what_is_no_map_of_servers_is_said(
    home: Home, run: Run, where: str, text: str, what: str
) -> None:
    path = home.put(where, text)
    checked = run("check")
    assert (checked.exit_code, checked.stdout) == (1, f"{path}: {what}\n")
    wrapped = run("wrap", "--all", "-y")
    assert wrapped.exit_code == 1
    assert f"Error: {path}: {what}" in wrapped.stderr
    assert path.read_text() == text


def test_what_is_no_map_does_not_hide_the_other_servers_of_a_file(home: Home, run: Run) -> None:
    text = '{"projects": {"/one": {"mcpServers": []}}, "mcpServers": {"a": {"command": "x"}}}'
    path = home.put(".claude.json", text)
    assert [row["server"] for row in rows(run("list", "--json"))] == ["", "a"]
    assert run("wrap", "a", "-y").exit_code == 1
    assert str(home.bridge) in path.read_text()


@pytest.mark.parametrize("text", ["", "\n", "\ufeff"])
@pytest.mark.parametrize("where", [CURSOR, CODEX, GOOSE])
def test_an_empty_file_has_no_servers(home: Home, run: Run, where: str, text: str) -> None:
    path = home.put(where, text)
    assert run("check").exit_code == 0
    assert run("wrap", "--all", "-y").exit_code == 0
    assert path.read_text() == text


def test_a_bad_file_does_not_keep_others_from_being_wrapped(home: Home, run: Run) -> None:
    home.put(CURSOR, "{")
    path = home.put(CODEX, USER[CODEX])
    result = run("wrap", "docs", "-y")
    assert result.exit_code == 1
    assert str(home.bridge) in path.read_text()


def test_a_read_only_file_is_said(home: Home, run: Run) -> None:
    path = home.put(CURSOR, USER[CURSOR])
    path.chmod(0o444)
    result = run("wrap", "--all", "-y")
    assert result.exit_code == 1
    assert "read-only" in result.stderr
    assert path.read_bytes() == USER[CURSOR].encode()


def test_a_huge_file_of_a_host_is_read(home: Home, run: Run) -> None:
    projects = {f"/p{n}": {"history": [{"display": "x" * 200}] * 20} for n in range(1000)}
    text = json.dumps({"projects": projects, "mcpServers": {"a": {"command": "x"}}}, indent=2)
    path = home.put(".claude.json", text)
    assert run("wrap", "a", "-y").exit_code == 0
    assert run("unwrap", "a", "-y").exit_code == 0
    assert path.read_text() == text


ODD = """{"mcpServers": {
  "line": {"command": "npx -y server"},
  "fine": {"command": "npx", "args": [true, null, 1]}}}"""


def test_a_server_that_cannot_be_wrapped_does_not_keep_the_others_from_it(
    home: Home, run: Run
) -> None:
    path = home.put(CURSOR, ODD)
    result = run("wrap", "--all", "-y")
    assert result.exit_code == 0
    assert "whole command line" in result.stderr
    assert '["--", "npx", true, null, 1]' in path.read_text()
    assert run("unwrap", "--all", "-y").exit_code == 0
    assert path.read_text() == ODD


def test_a_server_that_cannot_be_wrapped_is_an_error_if_it_is_named(home: Home, run: Run) -> None:
    path = home.put(CURSOR, ODD)
    result = run("wrap", "line", "-y")
    assert result.exit_code == 1
    assert "Error" in result.stderr
    assert path.read_text() == ODD


UNFIT = {
    "a command line": (CURSOR, '{"mcpServers": {"a": {"command": "npx x"}}}', "whole command line"),
    "args": (CURSOR, '{"mcpServers": {"a": {"command": "x", "args": "y"}}}', "no list of words"),
    "no string": (CURSOR, '{"mcpServers": {"a": {"command": ["x"]}}}', "its command is no string"),
    "empty": (CURSOR, '{"mcpServers": {"a": {"command": ""}}}', "the command of 'a' is empty"),
    "no command": (CURSOR, '{"mcpServers": {"a": {}}}', "no command of its own"),
    "a URL": (CURSOR, '{"mcpServers": {"a": {"url": "https://example.com"}}}', "has a URL"),
    "an anchor": (
        GOOSE,
        "extensions:\n  a: {cmd: &c x, args: []}\nd: *c\n",
        "a way that cannot be moved",
    ),
}


@pytest.mark.parametrize("name", UNFIT)
def test_whatever_cannot_be_wrapped_is_an_error_only_if_it_is_named(
    home: Home, run: Run, name: str
) -> None:
    where, text, what = UNFIT[name]
    path = home.put(where, text)
    named = run("wrap", "a", "-y")
    assert named.exit_code == 1
    assert what in named.stderr
    assert "Error" in named.stderr
    everything = run("wrap", "--all", "-y")
    assert everything.exit_code == 0
    assert what in everything.stderr
    assert path.read_text() == text


def test_a_bridge_that_would_not_start_is_not_taken_away(home: Home, run: Run) -> None:
    text = '{"mcpServers": {"a": {"command": "mcp-bridge", "args": ["--ear", "x"]}}}'
    path = home.put(CURSOR, text)
    result = run("unwrap", "a", "-y")
    assert result.exit_code == 1
    assert "has no option --ear" in result.stderr
    assert path.read_text() == text


# check ------------------------------------------------------------------------------------------


def checked(home: Home, run: Run, server: str) -> tuple[int, str]:
    home.put(CURSOR, f'{{"mcpServers": {{"a": {server}}}}}')
    result = run("check")
    return result.exit_code, result.stdout


def test_check_is_content_with_what_wrap_has_written(home: Home, run: Run) -> None:
    home.put(CURSOR, '{"mcpServers": {"a": {"command": "sh"}}}')
    run("wrap", "--all", "-y")
    result = run("check")
    assert (result.exit_code, result.stdout) == (0, "")
    assert "1 wrapped server in 1 file, 0 problems" in result.stderr


@pytest.mark.parametrize(
    ("server", "what"),
    [
        ('{"command": "/gone/mcp-bridge", "args": ["--", "sh"]}', "the bridge is not there"),
        ('{"command": "BRIDGE", "args": ["--", "/gone/server"]}', "command is not there"),
        ('{"command": "BRIDGE", "args": ["--", "no-such-command"]}', "command is not there"),
        ('{"command": "BRIDGE", "args": []}', "no server's command follows"),
        ('{"command": "BRIDGE", "args": ["--ear", "x", "--", "sh"]}', "no option --ear"),
        ('{"command": "x", "args": "y"}', "no list of words"),
        ('{"command": ["x"]}', "no string"),
        ('{"command": "sh"}, "a": {"command": "sh"}', "more than once"),
    ],
)
def test_check_says_what_is_wrong(home: Home, run: Run, server: str, what: str) -> None:
    code, said = checked(home, run, server.replace("BRIDGE", str(home.bridge)))
    assert code == 1
    assert what in said


@pytest.mark.parametrize(
    "server",
    [
        '{"command": "BRIDGE", "args": ["--", "${workspaceFolder}/server"]}',
        '{"command": "BRIDGE", "args": ["--", "./server"]}',
        '{"command": "BRIDGE", "args": ["--", "server"], "env": {"PATH": "BIN"}}',
        '{"command": "no-such-command"}',
        '{"url": "https://example.com"}',
    ],
)
def test_check_leaves_alone_what_it_cannot_know(home: Home, run: Run, server: str) -> None:
    (home.bridge.parent / "server").symlink_to(home.bridge)
    text = server.replace("BRIDGE", str(home.bridge)).replace("BIN", str(home.bridge.parent))
    assert checked(home, run, text) == (0, "")


def test_check_says_the_same_as_json(home: Home, run: Run) -> None:
    home.put(CURSOR, '{"mcpServers": {"a": {"command": "/gone/mcp-bridge", "args": ["sh"]}}}')
    result = run("check", "--json")
    (row,) = rows(result)
    assert result.exit_code == 1
    assert "the bridge is not there" in str(row["problems"])
