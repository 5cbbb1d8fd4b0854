"""Every server that cannot be started: what is wrong, what was looked for and what to try."""

import os
import pty
import subprocess
from collections.abc import Sequence
from pathlib import Path

import pytest

from bridge_process import LAUNCH, BridgeProcess, host_environment, modern_call
from children import PATIENCE
from mcp_era_bridge import options, start_hints
from mcp_era_bridge.spawn import Command, NotStarted, spawn

SCRIPT = "#!/bin/sh\n"


@pytest.fixture(autouse=True)
def here(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    """The folder that the server is started in; the user's home is beside it."""
    folder = tmp_path / "here"
    folder.mkdir()
    monkeypatch.chdir(folder)
    monkeypatch.setenv("HOME", str(tmp_path / "home"))
    # Programs of this machine are not there.
    monkeypatch.setattr(
        start_hints, "_USUAL_PLACES", ("~/.local/bin", "~/.nvm/versions/node/*/bin")
    )
    return folder


def program(path: Path, text: str = SCRIPT, mode: int = 0o755) -> Path:
    path.parent.mkdir(parents=True, exist_ok=True)
    path.write_text(text)
    path.chmod(mode)
    return path


def said_about(argv: Sequence[str], path: str = "/no/where:/else/where") -> str:
    """What is said about a command that cannot be started."""
    command = Command(list(argv), {"PATH": path})
    with pytest.raises(NotStarted) as caught:
        spawn(command)
    return start_hints.explained(str(caught.value), command)


def not_found(name: str, path: str = "/no/where:/else/where") -> str:
    return f"the command {name!r} was not found on the PATH ({path}); "


FULL_PATH = (
    "write its full path, which `command -v {}` says in a terminal, where the PATH is often longer"
    " than that of a host"
)

# Names ------------------------------------------------------------------------------------------


def test_a_name_that_is_nowhere_is_said_with_the_path_that_was_searched() -> None:
    expected = not_found("my-server") + "install it, or " + FULL_PATH.format("my-server")
    assert said_about(["my-server", "--stdio"]) == expected


@pytest.mark.parametrize(
    ("name", "source"), [("npx", "Node.js"), ("node", "Node.js"), ("uvx", "uv"), ("deno", "Deno")]
)
def test_a_well_known_program_is_said_with_what_it_comes_with(name: str, source: str) -> None:
    expected = f"it comes with {source}: install that, or " + FULL_PATH.format(name)
    assert said_about([name, "server"]) == not_found(name) + expected


@pytest.mark.parametrize(
    ("folder", "name"), [(".local/bin", "uvx"), (".nvm/versions/node/v22.1.0/bin", "npx")]
)
def test_a_program_that_a_terminal_would_find_is_found(
    tmp_path: Path, folder: str, name: str
) -> None:
    there = program(tmp_path / "home" / folder / name)
    expected = f"it is at {there}: write mcp-bridge -- {there} ..."
    assert said_about([name, "--key", "secret"]) == not_found(name) + expected


def test_a_program_that_may_not_be_executed_is_found(tmp_path: Path) -> None:
    there = program(tmp_path / "bin" / "my-server", mode=0o644)
    path = f"/no/where:{there.parent}"
    expected = f"{there} is there, but not executable: chmod +x {there}"
    assert said_about(["my-server"], path) == not_found("my-server", path) + expected


def test_python_is_python3_where_there_is_no_other(tmp_path: Path) -> None:
    path = str(program(tmp_path / "bin" / "python3").parent)
    expected = "python3 is there: write mcp-bridge -- python3 ..."
    assert said_about(["python", "server.py"], path) == not_found("python", path) + expected


def test_a_script_in_the_folder_is_run_by_its_interpreter_or_path(here: Path) -> None:
    script = program(here / "server.py", mode=0o644)
    expected = f"write mcp-bridge -- python3 {script} ..., or chmod +x {script}"
    found = "a file of this name is here: "
    assert said_about(["server.py", "x"]) == not_found("server.py") + found + expected
    script.chmod(0o755)
    expected = f"write mcp-bridge -- {script}"
    assert said_about(["server.py"]) == not_found("server.py") + found + expected


@pytest.mark.parametrize("name", options.SUBCOMMANDS)
def test_a_sub_command_behind_two_dashes_is_a_program_that_is_not_there(name: str) -> None:
    expected = f"behind `--` it is a program; the sub-command is: mcp-bridge {name}"
    assert said_about([name]) == not_found(name) + expected


@pytest.mark.parametrize(
    ("word", "name"), [("prob", "probe"), ("doktor", "doctor"), ("Demo", "demo")]
)
def test_a_misspelt_sub_command_is_recognized(word: str, name: str) -> None:
    expected = f"did you mean the sub-command {name!r}? If not: install it, or "
    assert said_about([word]) == not_found(word) + expected + FULL_PATH.format(word)


@pytest.mark.parametrize(
    ("word", "meant"), [("wrap", "config wrap"), ("list", "config list"), ("help", "--help")]
)
def test_a_word_that_belongs_behind_another_is_recognized(word: str, meant: str) -> None:
    expected = f"did you mean `mcp-bridge {meant}`? If not: install it, or "
    assert said_about([word]) == not_found(word) + expected + FULL_PATH.format(word)


def at_a_terminal(*words: str, typed: bytes = b"") -> "subprocess.CompletedProcess[str]":
    """Runs the command as a person does; `typed` is what is typed, and ^D ends it."""
    person, terminal = pty.openpty()
    os.write(person, typed + b"\x04")
    try:
        return subprocess.run(
            [*LAUNCH, "--no-cache", *words],
            stdin=terminal,
            capture_output=True,
            text=True,
            timeout=PATIENCE,
            env=host_environment(),
            check=False,
        )
    finally:
        os.close(terminal)
        os.close(person)


def test_at_a_terminal_a_server_that_cannot_be_started_is_the_end() -> None:
    ran = at_a_terminal("wrap", "--all")
    assert ran.returncode == 1
    assert ran.stderr.startswith("Error: the server could not be started: ")
    assert "mcp-bridge config wrap" in ran.stderr


def test_at_a_terminal_it_is_said_what_is_waited_for() -> None:
    ran = at_a_terminal("--", "cat")
    assert ran.returncode == 0
    assert ran.stderr.startswith("mcp-bridge: waiting for a host's messages on stdin. ")


def test_an_empty_path_is_said_to_be_so() -> None:
    assert "on the PATH (which is empty); " in said_about(["my-server"], "")


def test_a_path_that_is_very_long_is_cut() -> None:
    path = os.pathsep.join(["/no/where"] * 1000)
    assert f" ({path[:1000]}...); " in said_about(["my-server"], path)


# Words that a shell would have changed ----------------------------------------------------------


def test_a_command_in_one_word_is_taken_apart() -> None:
    text = said_about(["npx -y some-server", "--flag"])
    assert text == (
        "the command 'npx -y some-server' was not found on the PATH; each word of the command must"
        " be one of its own: mcp-bridge -- npx -y some-server ..."
    )


@pytest.mark.parametrize("word", ["~/server", "$HOME/server", "${HOME}/server"])
def test_a_home_that_no_shell_replaces_is_replaced(word: str, tmp_path: Path) -> None:
    text = said_about([word])
    assert text == (
        f"there is no file {word!r}; there is no shell here that would replace ~ or $:"
        f" write {tmp_path}/home/server"
    )


@pytest.mark.parametrize("word", ["\N{EM DASH}", "\N{EN DASH}", "\N{EM DASH}era"])
def test_a_long_dash_is_recognized(word: str) -> None:
    assert said_about([word, "npx"]) == (
        f"the command {word!r} was not found on the PATH;"
        " it begins with a long dash where two hyphens belong (--)"
    )


# Paths ------------------------------------------------------------------------------------------


def test_a_relative_path_is_said_with_the_folder_that_it_was_looked_for_in(here: Path) -> None:
    assert said_about(["./server"]) == (
        f"there is no file './server' in {here};"
        " write the full path, or say with -C where the server is to run"
    )


def test_a_relative_path_in_a_folder_that_is_gone_is_said_to_be_missing(here: Path) -> None:
    here.rmdir()
    assert said_about(["./server"]).startswith("there is no file './server' in ")


def test_a_misspelt_path_is_recognized(here: Path) -> None:
    program(here / "server.py")
    text = said_about([f"{here}/sever.py"])
    assert text == f"there is no file '{here}/sever.py'; did you mean '{here}/server.py'?"
    assert said_about([f"{here}/xyz"]) == f"there is no file '{here}/xyz'"


def test_a_folder_of_a_path_that_is_not_there_is_named(here: Path) -> None:
    text = said_about([f"{here}/none/server"])
    assert text == f"there is no file '{here}/none/server'; there is no folder '{here}/none' either"


def test_a_folder_is_no_program(here: Path) -> None:
    text = said_about([str(here)])
    assert text == f"'{here}' is not executable: it is a folder; write the path of the program"


@pytest.mark.parametrize(
    ("name", "what"),
    [
        ("server.py", "write mcp-bridge -- python3 {}, or chmod +x {}"),
        ("server.mjs", "write mcp-bridge -- node {}, or chmod +x {}"),
        ("server.ts", "write mcp-bridge -- npx tsx {}, or chmod +x {}"),
        ("server.jar", "write mcp-bridge -- java -jar {}, or chmod +x {}"),
        ("server", "if it is a program: chmod +x {}"),
    ],
)
def test_a_file_that_is_not_executable_is_run_by_its_interpreter(
    here: Path, name: str, what: str
) -> None:
    script = program(here / name, mode=0o644)
    expected = f"'{script}' is not executable; {what.format(script, script)}"
    assert said_about([str(script)]) == expected


@pytest.mark.parametrize(
    ("first", "what"),
    [
        (
            "#!/no/such/interpreter -u\n",
            "; its first line says that it is run by '/no/such/interpreter', which is not there",
        ),
        (
            "#! /bin/sh\r\n",
            "; its lines end as on Windows, and so does the name of its interpreter: convert it",
        ),
    ],
)
def test_a_script_whose_interpreter_is_missing_names_it(here: Path, first: str, what: str) -> None:
    script = program(here / "server", first)
    assert said_about([str(script)]) == f"'{script}': No such file or directory{what}"


def test_a_binary_of_another_system_is_said_to_be_none_of_ours(here: Path) -> None:
    binary = here / "server"
    binary.write_bytes(b"\x7fELF\0\0\0\0")
    binary.chmod(0o755)
    text = said_about([str(binary)])
    assert text.startswith(f"'{binary}': ")
    assert text.endswith("; is it a program for this system and this processor?")


def test_names_of_any_bytes_can_be_said(here: Path) -> None:
    name = os.fsdecode(b"caf\xe9")
    text = said_about([name], path=os.fsdecode(b"/b\xe9"))
    assert r"command -v 'caf\udce9'" in text
    text.encode()


# Seen from outside ------------------------------------------------------------------------------


def test_host_and_stderr_are_told_what_to_try_at_every_start(tmp_path: Path) -> None:
    env = host_environment(PATH="/no/where")
    with BridgeProcess(["prob", "--key", "secret"], env=env) as bridge:
        for id in (1, 2):
            message = str(bridge.error(modern_call(id))["message"])
            assert "was not found on the PATH (/no/where); did you mean the sub-command" in message
            assert "secret" not in message
        bridge.said("was not found on the PATH (/no/where); did you mean the sub-command")
        bridge.end()


def test_the_path_that_was_searched_is_the_servers(tmp_path: Path) -> None:
    with BridgeProcess(["my-server"], "--env", "PATH=/of/the/server") as bridge:
        assert "on the PATH (/of/the/server); " in str(bridge.error(modern_call(1))["message"])
        bridge.end()
