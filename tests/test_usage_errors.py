"""Every command line that cannot be understood: what is wrong, and what to try.

That such a line starts nothing and ends with 2 is shown in test_command_line.py; here is the whole
text that a person sees.
"""

import os
from pathlib import Path

import click
import pytest

from mcp_era_bridge import cli, options, usage_hints
from mcp_era_bridge.options import Option, UsageError
from test_command_line import run

SERVERS = ". Options of the server go behind its command, those of a sub-command behind its name;"


def said_about(*words: str, **environ: str) -> str:
    """What is said about a command line; it is that which is printed."""
    with pytest.raises(UsageError) as caught:
        options.parse(words, environ)
    return str(caught.value)


def said_of_value(option: Option, value: str) -> str:
    """What follows the name and the value, which are the same by flag and by variable."""
    flag = option.flags[-1]
    by_variable = said_about("--", "server", **{option.variable: value})
    assert by_variable.startswith(f"{option.variable}: {value!r} ")
    if not option.is_flag:
        by_flag = said_about(flag, value, "--", "server")
        assert by_flag == by_variable.replace(option.variable, flag, 1)
    return by_variable.removeprefix(f"{option.variable}: {value!r} ")


def test_the_text_is_printed_below_the_usage_and_nothing_else_is() -> None:
    code, stdout, stderr = run("--ear", "legacy", "--", "server")
    assert (code, stdout) == (2, "")
    assert stderr == (
        "Usage: mcp-bridge [OPTIONS] -- COMMAND [ARG]...\n"
        "Try 'mcp-bridge --help' for help.\n"
        "\n"
        "Error: No such option: --ear. Did you mean --era?\n"
    )


# Options ----------------------------------------------------------------------------------------


@pytest.mark.parametrize(
    ("word", "meant"),
    [
        ("--ear", "--era"),
        ("--era_", "--era"),
        ("--Log-Level", "--log-level"),
        ("--loglevel=debug", "--log-level"),
        ("--no_cache", "--no-cache"),
        ("--probe", "--probe-timeout"),
        ("--log", "--log-level or --log-format"),
        ("--versoin", "--version"),
        ("--hlep", "--help"),
        ("-era", "--era"),
        ("-env=K=V", "--env"),
        ("-e", "--env NAME=value"),
        ("-eK=V", "--env NAME=value"),
        ("-v", "--log-level info"),
        ("--verbose", "--log-level info"),
        ("--debug", "--log-level debug"),
        ("--timeout=3", "--init-timeout, --probe-timeout or --answer-timeout"),
        ("--workdir", "--cwd"),
        ("-V", "--version"),
    ],
)
def test_an_option_that_is_nearly_ours_is_recognized(word: str, meant: str) -> None:
    flag = word.partition("=")[0] if word.startswith("--") else word[:2]
    assert said_about(word, "--", "server") == f"No such option: {flag}. Did you mean {meant}?"


@pytest.mark.parametrize("word", ["--transport", "--stdio", "-x"])
def test_an_option_that_is_none_of_ours_is_perhaps_the_servers(word: str) -> None:
    example = f" for example: {options.EXAMPLE} {word}"
    assert said_about(word, "--", "server") == f"No such option: {word}{SERVERS}{example}"


def test_every_option_that_is_proposed_exists() -> None:
    flags = {flag for option in options.OPTIONS for flag in option.flags}
    for proposed in usage_hints.__dict__["_CALLED_SO_ELSEWHERE"].values():
        words = proposed.replace(",", " ").split()
        assert {word for word in words if word.startswith("-")} <= flags | {"--help", "--version"}


@pytest.mark.parametrize(
    ("option", "example"),
    [
        (options.ERA, "legacy"),
        (options.PROBE_TIMEOUT, "5"),
        (options.MAX_LINE, "64"),
        (options.ENV, "API_KEY=secret"),
        (options.ROOT, "file:///home/me/project"),
        (options.CWD, "/home/me/project"),
    ],
    ids=lambda value: value.name if isinstance(value, Option) else "",
)
@pytest.mark.parametrize("rest", [[], ["--", "server"]])
def test_an_option_without_its_value_is_shown_with_one(
    option: Option, example: str, rest: list[str]
) -> None:
    flag = option.flags[-1]
    text = said_about(flag, *rest)
    assert text == f"{flag} needs a value; for example: {flag} {example}"


def test_a_flag_with_a_value_is_shown_without_it() -> None:
    text = said_about("--no-cache=yes", "--", "server")
    assert text == "--no-cache takes no value: write it without =yes"


# Values -----------------------------------------------------------------------------------------


@pytest.mark.parametrize("option", [o for o in options.OPTIONS if o.choices], ids=lambda o: o.name)
def test_a_choice_that_is_misspelt_is_recognized(option: Option) -> None:
    for choice in option.choices:
        for value in (choice.upper(), choice[1] + choice[0] + choice[2:], choice + "x"):
            among = f"is none of {', '.join(option.choices)}"
            assert said_of_value(option, value) == f"{among}; did you mean {choice}?"


def test_a_choice_that_is_nothing_like_ours_is_shown_all_that_there_are() -> None:
    assert said_of_value(options.ERA, "2025-11-25") == "is none of auto, modern, legacy"


@pytest.mark.parametrize("option", [o for o in options.OPTIONS if o.seconds], ids=lambda o: o.name)
@pytest.mark.parametrize(
    ("value", "better"),
    [("5s", "5"), ("500ms", "0.5"), ("1,5", "1.5"), ("2 min", "120"), ("1h", "3600")],
)
def test_a_duration_in_another_unit_is_converted(option: Option, value: str, better: str) -> None:
    assert said_of_value(option, value) == f"is no number of seconds above 0; write {better}"


@pytest.mark.parametrize("value", ["soon", "0", "-1", "nan", "inf", "1e12", "5 parsecs", "0s", "²"])
def test_a_duration_that_is_none_is_shown_one(value: str) -> None:
    text = said_of_value(options.PROBE_TIMEOUT, value)
    assert text == "is no number of seconds above 0; for example: 5"


@pytest.mark.parametrize("option", [o for o in options.OPTIONS if o.whole], ids=lambda o: o.name)
@pytest.mark.parametrize(
    ("value", "what"),
    [
        ("1,024", "write 1024"),
        ("10_000", "write 10000"),
        ("64MiB", "write 64"),
        ("32 MB", "write 32"),
        ("3.0", "write 3"),
        ("1.5", None),
        ("0", None),
        ("many", None),
        ("9" * 12, None),
    ],
)
def test_a_number_that_is_none_is_shown_one(option: Option, value: str, what: str | None) -> None:
    expected = what if what is not None else f"for example: {option.default}"
    assert said_of_value(option, value) == f"is no whole number above 0; {expected}"


@pytest.mark.parametrize(
    ("value", "what"),
    [
        ("API_KEY", "write API_KEY=value"),
        ("=V", "for example: API_KEY=secret"),
        ("two words", "for example: API_KEY=secret"),
    ],
)
def test_a_variable_that_is_none_is_shown_one(value: str, what: str) -> None:
    assert said_of_value(options.ENV, value) == f"is not of the form K=V; {what}"


@pytest.mark.parametrize(
    ("value", "what"),
    [
        ("/srv/my files", "write file:///srv/my%20files"),
        ("here", "write file://{}/here"),
        ("~/x", "write file://{home}/x"),
        ("https://example.org", "for example: file:///home/me/project"),
    ],
)
def test_a_root_that_is_a_path_is_shown_as_a_uri(
    value: str, what: str, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.chdir(tmp_path)
    monkeypatch.setenv("HOME", "/home/me")
    what = what.format(tmp_path, home="/home/me")
    assert said_of_value(options.ROOT, value) == f"is no URI that begins with file://; {what}"


def test_a_flags_variable_is_set_or_left_out() -> None:
    text = said_of_value(options.NO_CACHE, "perhaps")
    assert text == "is neither 1 nor 0; leave the variable out, or write 1"


@pytest.mark.parametrize(
    ("value", "what"),
    [
        ("{}/projcet", "; did you mean {}/project?"),
        ("{}/nothing-like-it", ""),
        ("{}/none/project", "; there is no {}/none either"),
        ("{}/a-file", "; it is a file in {}"),
        ("project/below", " in {}; write the full path"),
        ("~/project", "; there is no shell here that would replace ~ or $: write /home/me/project"),
        ("$HOME/p", "; there is no shell here that would replace ~ or $: write /home/me/p"),
    ],
)
def test_a_folder_that_is_none_is_looked_for(
    value: str, what: str, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    (tmp_path / "project").mkdir()
    (tmp_path / "a-file").touch()
    monkeypatch.chdir(tmp_path)
    monkeypatch.setenv("HOME", "/home/me")
    text = said_of_value(options.CWD, value.format(tmp_path))
    assert text == "is no directory" + what.format(tmp_path)


def test_a_folder_that_may_not_be_entered_is_said_to_be_so(tmp_path: Path) -> None:
    # Root may enter every folder, so this is not tried from outside.
    hint = usage_hints.for_value(options.CWD, str(tmp_path))
    assert hint == f" that may be entered; see who may with: ls -ld {tmp_path}"


def test_a_relative_path_in_a_folder_that_is_gone_is_refused_too(tmp_path: Path) -> None:
    gone = tmp_path / "gone"
    gone.mkdir()
    before = os.getcwd()
    os.chdir(gone)
    try:
        gone.rmdir()
        assert said_of_value(options.CWD, "x").startswith("is no directory in ")
        assert said_of_value(options.ROOT, "x").startswith("is no URI")
    finally:
        os.chdir(before)


# The server's command ---------------------------------------------------------------------------


@pytest.mark.parametrize("words", [[], ["--"], ["--era", "legacy", "--"]])
def test_without_a_command_there_is_an_example(words: list[str]) -> None:
    assert said_about(*words) == f"No server command. Example: {options.EXAMPLE}"


@pytest.mark.parametrize("words", [[""], ["--", ""], ["--", "", "npx"]])
def test_an_empty_command_is_perhaps_a_variable(words: list[str]) -> None:
    assert said_about(*words) == (
        "The server command is an empty word: a variable in front of it may be unset."
        f" Example: {options.EXAMPLE}"
    )


# Sub-commands -----------------------------------------------------------------------------------


def error_of(*words: str) -> str:
    code, stdout, stderr = run(*words)
    assert (code, stdout) == (2, "")
    assert "Usage: mcp-bridge " in stderr
    assert "Try 'mcp-bridge " in stderr
    return " ".join(stderr.partition("Error: ")[2].split())


def test_a_sub_command_without_the_command_it_needs_shows_one() -> None:
    assert error_of("probe") == (
        "Missing argument 'COMMAND [ARG]...'."
        " Put the server's command behind `--`: mcp-bridge probe -- python my_server.py"
    )


def test_a_sub_command_with_a_misspelt_option_names_the_right_one() -> None:
    text = error_of("probe", "--jsno", "--", "server")
    assert "--jsno" in text
    assert "--json" in text.removeprefix("--jsno")


def test_a_value_that_a_sub_command_is_given_is_checked_in_the_same_words() -> None:
    text = error_of("probe", "--probe-timeout", "5s", "--", "server")
    assert text == "--probe-timeout: '5s' is no number of seconds above 0; write 5"


@pytest.mark.parametrize(("word", "what"), [("lst", "'list'"), ("wrpa", "'wrap'"), ("xyz", "wrap")])
def test_a_name_below_a_sub_command_that_is_misspelt_is_recognized(word: str, what: str) -> None:
    text = error_of("config", word)
    assert text.startswith(f"No such command '{word}'")
    assert what in text


@pytest.mark.parametrize("name", options.SUBCOMMANDS)
def test_a_program_that_is_called_like_a_sub_command_is_told_how_it_is_run(
    name: str, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    wrong = [name, "--no-such-option"]
    monkeypatch.setenv("PATH", str(tmp_path))
    assert "the server's program" not in error_of(*wrong)
    program = tmp_path / name
    program.write_text("#!/bin/sh\n")
    program.chmod(0o755)
    hint = f"If {program} is the server's program, write: mcp-bridge -- {name} ..."
    assert error_of(*wrong).endswith(hint)


# Help -------------------------------------------------------------------------------------------


def test_help_begins_with_examples_in_lines_that_fit() -> None:
    text = run("--help")[1]
    examples = text.partition("Examples:\n")[2].partition("\n\n")[0].splitlines()
    assert len(examples) == len(cli.JOBS)
    assert [line for line in examples if len(line) > 79] == []
    assert text.index("Examples:") < text.index("Options:")


@pytest.mark.parametrize("line", [line for line, _ in cli.JOBS])
def test_the_examples_of_help_are_understood(line: str) -> None:
    program, *words = line.split()
    assert program == "mcp-bridge"
    invocation = options.parse(words, {})
    if invocation is None:
        (name,) = [word for word in words if word in options.SUBCOMMANDS]
        command = cli.group().commands[name]
        command.make_context(name, words[words.index(name) + 1 :])
    else:
        assert invocation.command[0] in ("python", "npx", "./server")


def test_every_sub_command_has_an_example_in_its_help() -> None:
    for name, command in cli.group().commands.items():
        with click.Context(command, info_name=f"mcp-bridge {name}") as context:
            assert f"  mcp-bridge {name}" in command.get_help(context).partition("\n")[2]
