"""The command line: one declaration of the options, read by the quick parser and by click alike.

The run path is parsed without click; help, version and sub-commands are click's.
"""

import os
import re
import subprocess
import sys
from collections.abc import Mapping
from pathlib import Path

import click
import pytest

from bridge_process import (
    LAUNCH,
    BridgeProcess,
    host_environment,
    legacy_opening,
    modern_call,
    modern_request,
)
from children import PATIENCE, Scripted, legacy, modern
from mcp_era_bridge import __version__, cli, options
from mcp_era_bridge.options import Invocation, Option, UsageError

# A legal value of each option that is not its default.
VALUES: dict[Option, str] = {
    options.ERA: "modern",
    options.PROBE_TIMEOUT: "0.5",
    options.INIT_TIMEOUT: "7",
    options.ROOT: "file:///srv",
    options.ANSWER_TIMEOUT: "9",
    options.MAX_SESSIONS: "3",
    options.ONE_PROCESS: "1",
    options.STRICT_LOGS: "1",
    options.MAX_PARKED: "5",
    options.MAX_QUESTIONS: "6",
    options.MAX_STREAMS: "7",
    options.MAX_URIS: "8",
    options.NO_CACHE: "1",
    options.MAX_REQUESTS: "2",
    options.MAX_LINE: "1",
    options.NO_STDERR_IN_ERRORS: "1",
    options.LOG_LEVEL: "debug",
    options.LOG_FORMAT: "json",
    options.CWD: os.sep,
    options.ENV: "K=V",
}
each_option = pytest.mark.parametrize("option", options.OPTIONS, ids=lambda o: o.name)


def run(*arguments: str, env: Mapping[str, str] | None = None) -> tuple[int, str, str]:
    """Exit code, stdout and stderr of the command."""
    done = subprocess.run(
        [*LAUNCH, *arguments],
        env=host_environment() if env is None else env,
        stdin=subprocess.DEVNULL,
        capture_output=True,
        text=True,
        timeout=PATIENCE,
    )
    return done.returncode, done.stdout, done.stderr


def parsed(*words: str, **environ: str) -> Invocation:
    invocation = options.parse([*words, "--", "server"], environ)
    assert invocation is not None
    return invocation


def refused(*words: str, **environ: str) -> str:
    """What is said about a command line that cannot be understood."""
    with pytest.raises(UsageError) as caught:
        options.parse(words, environ)
    return str(caught.value)


def unwrapped(text: str) -> str:
    """Help without line breaks, those that click puts into words at hyphens too."""
    return " ".join(text.split()).replace("- ", "-")


def setting(option: Option) -> list[str]:
    """The words that give an option its value of VALUES."""
    flag = option.flags[-1]
    return [flag] if option.is_flag else [flag, VALUES[option]]


# Two readers, one declaration -------------------------------------------------------------------


@pytest.fixture(scope="module")
def help_text() -> str:
    code, text, stderr = run("--help")
    assert (code, stderr) == (0, "")
    return text


@each_option
def test_help_shows_every_option_with_what_it_is_for(help_text: str, option: Option) -> None:
    text = unwrapped(help_text)
    assert ", ".join(option.flags) in text
    assert unwrapped(option.help) in text
    for choice in option.choices:
        assert choice in text


def test_help_shows_how_a_server_is_run_and_the_sub_commands(help_text: str) -> None:
    assert help_text.startswith("Usage: mcp-bridge [OPTIONS] -- COMMAND [ARG]...")
    assert options.EXAMPLE in help_text
    for name in options.SUBCOMMANDS:
        assert re.search(rf"^  {name} ", help_text, re.MULTILINE)


def test_the_short_flag_for_help_shows_the_same(help_text: str) -> None:
    assert run("-h") == (0, help_text, "")


@each_option
def test_click_and_the_quick_parser_know_the_same_of_an_option(option: Option) -> None:
    (parameter,) = [p for p in cli.group().params if p.name == option.name]
    assert isinstance(parameter, click.Option)
    assert parameter.opts == list(option.flags)
    assert parameter.envvar == option.variable
    assert parameter.is_flag == option.is_flag
    assert parameter.multiple == option.repeatable
    choices = parameter.type.choices if isinstance(parameter.type, click.Choice) else ()
    assert tuple(choices) == option.choices


def test_click_has_no_options_but_these() -> None:
    shown = {p.name for p in cli.group().params}
    assert shown == {option.name for option in options.OPTIONS} | {"version"}


def test_the_sub_commands_of_click_are_those_that_the_quick_parser_leaves_to_it() -> None:
    assert tuple(cli.group().commands) == options.SUBCOMMANDS


def test_version_is_shown() -> None:
    code, text, stderr = run("--version")
    assert (code, stderr) == (0, "")
    assert text == f"mcp-bridge, version {__version__}\n"


@pytest.mark.parametrize("word", ["--help", "-h", "--version", *options.SUBCOMMANDS])
@pytest.mark.parametrize("before", [[], ["--era", "legacy"]])
def test_help_version_and_sub_commands_are_left_to_click(word: str, before: list[str]) -> None:
    assert options.parse([*before, word], {}) is None


# What is read -----------------------------------------------------------------------------------


@each_option
def test_an_option_can_be_given_by_flag_or_by_variable(option: Option) -> None:
    value = VALUES[option]
    assert option.variable == "MCP_BRIDGE_" + option.name.upper()
    by_variable = parsed(**{option.variable: value})
    assert parsed(*setting(option)).values == {option.name: [value]} == by_variable.values
    if not option.is_flag:
        assert parsed(f"{option.flags[-1]}={value}").values == by_variable.values


@each_option
def test_an_option_that_is_not_given_has_its_default(option: Option) -> None:
    assert parsed().text(option) == option.default != VALUES[option]


@each_option
def test_the_command_line_wins_over_the_variable(option: Option) -> None:
    other = {"--cwd": "/tmp", "--env": "OTHER=1", "--no-cache": "0"}
    choices = [choice for choice in option.choices if choice != VALUES[option]]
    variable = other.get(option.flags[-1], next(iter(choices), "9"))
    assert parsed(*setting(option), **{option.variable: variable}).texts(option) == [VALUES[option]]


def test_the_last_of_several_values_counts() -> None:
    assert parsed("--era", "modern", "--era=legacy").text(options.ERA) == "legacy"


def test_env_may_be_repeated_by_flag_and_by_lines() -> None:
    assert parsed("--env", "A=1", "--env", "B=2=3").texts(options.ENV) == ["A=1", "B=2=3"]
    assert parsed(MCP_BRIDGE_ENV="A=1\nB=2=3").texts(options.ENV) == ["A=1", "B=2=3"]
    environment = parsed("--env", "A=1", "--env", "A=2").child_environment({"A": "0", "C": "3"})
    assert environment == {"A": "2", "C": "3"}


@pytest.mark.parametrize("value", ["1", "true", "yes", "on", "TRUE", "Yes"])
def test_a_flag_is_set_by_a_variable_that_says_so(value: str) -> None:
    assert parsed(MCP_BRIDGE_NO_CACHE=value).flag(options.NO_CACHE)


@pytest.mark.parametrize("value", ["", "0", "false", "no", "off", "OFF"])
def test_a_flag_is_not_set_by_a_variable_that_denies_it(value: str) -> None:
    assert not parsed(MCP_BRIDGE_NO_CACHE=value).flag(options.NO_CACHE)


def test_an_empty_variable_is_as_none() -> None:
    empty = {option.variable: "" for option in options.OPTIONS if not option.is_flag}
    assert parsed(**empty).values == {}


@pytest.mark.parametrize(
    "words",
    [
        ["server", "--era", "-x"],
        ["--", "server", "--era", "-x"],
        ["--era", "legacy", "server", "--era", "-x"],
        ["-C", "/", "--", "server", "--era", "-x"],
        ["-C/", "--", "server", "--era", "-x"],
    ],
)
def test_the_command_begins_at_the_first_word_or_after_two_dashes(words: list[str]) -> None:
    invocation = options.parse(words, {})
    assert invocation is not None
    assert invocation.command == ["server", "--era", "-x"]


def test_two_dashes_of_the_server_are_its_own() -> None:
    invocation = options.parse(["--", "npx", "--", "server"], {})
    assert invocation is not None
    assert invocation.command == ["npx", "--", "server"]


# What is refused --------------------------------------------------------------------------------


@pytest.mark.parametrize(
    ("words", "what"),
    [
        (["--ear", "x", "--", "s"], "No such option: --ear"),
        (["-x", "--", "s"], "No such option: -x"),
        (["--era", "future", "--", "s"], "--era: 'future' is none of auto, modern, legacy"),
        (["--era"], "--era needs a value"),
        (["--no-cache=1", "--", "s"], "--no-cache takes no value"),
        (["--probe-timeout", "soon", "--", "s"], "--probe-timeout: 'soon' is no number"),
        (["--probe-timeout", "0", "--", "s"], "--probe-timeout: '0' is no number"),
        (["--init-timeout", "-1", "--", "s"], "--init-timeout: '-1' is no number"),
        (["--init-timeout", "nan", "--", "s"], "--init-timeout: 'nan' is no number"),
        (["--init-timeout", "inf", "--", "s"], "--init-timeout: 'inf' is no number"),
        (["--env", "NOVALUE", "--", "s"], "--env: 'NOVALUE' is not of the form K=V"),
        (["--env", "=V", "--", "s"], "--env: '=V' is not of the form K=V"),
        (["--cwd", "/no/such/folder", "--", "s"], "--cwd: '/no/such/folder' is no directory"),
    ],
)
def test_a_bad_command_line_is_refused_with_what_is_wrong(words: list[str], what: str) -> None:
    assert refused(*words).startswith(what)
    code, stdout, stderr = run(*words)
    assert (code, stdout) == (2, "")
    assert what in stderr
    assert "Traceback" not in stderr


@pytest.mark.parametrize(
    ("variable", "value"),
    [
        ("MCP_BRIDGE_ERA", "future"),
        ("MCP_BRIDGE_PROBE_TIMEOUT", "soon"),
        ("MCP_BRIDGE_NO_CACHE", "perhaps"),
        ("MCP_BRIDGE_MAX_REQUESTS", "0"),
        ("MCP_BRIDGE_MAX_LINE", "1.5"),
        ("MCP_BRIDGE_ENV", "A=1\nNOVALUE"),
    ],
)
def test_a_bad_variable_is_refused(variable: str, value: str) -> None:
    assert repr(value.splitlines()[-1]) in refused("--", "server", **{variable: value})


@pytest.mark.parametrize("words", [[], ["--"], ["--era", "legacy"], ["--no-cache", "--"]])
def test_without_a_command_one_example_is_shown(words: list[str]) -> None:
    code, stdout, stderr = run(*words)
    assert (code, stdout) == (2, "")
    assert stderr.count(options.EXAMPLE) == 1
    assert "Usage: mcp-bridge [OPTIONS] -- COMMAND [ARG]..." in stderr


def test_a_bad_command_line_starts_no_server(tmp_path: Path) -> None:
    child = Scripted(tmp_path, legacy())
    assert run("--era", "future", "--", *child.command)[0] == 2
    assert child.pids == []


# Seen from outside ------------------------------------------------------------------------------


def test_a_command_without_two_dashes_is_run(tmp_path: Path) -> None:
    child = Scripted(tmp_path, legacy())
    child.arguments = ["--era", "--help"]
    with BridgeProcess(child, dashes=False) as bridge:
        bridge.result(modern_call(1))
        bridge.end()
    assert len(child.pids) == 1


def test_demo_is_a_sub_command_without_two_dashes() -> None:
    code, stdout, stderr = run("demo", "--help")
    assert (code, stderr) == (0, "")
    assert stdout.startswith("Usage: mcp-bridge demo")


def test_behind_two_dashes_demo_is_a_program(tmp_path: Path) -> None:
    child = Scripted(tmp_path, legacy())
    program = tmp_path / "demo"
    program.write_text('#!/bin/sh\nexec "$@"\n')
    program.chmod(0o755)
    env = host_environment(PATH=f"{tmp_path}{os.pathsep}{os.environ['PATH']}")
    with BridgeProcess(["demo", *child.command], env=env) as bridge:
        bridge.result(modern_call(1))
        bridge.end()
    assert len(child.pids) == 1


def test_variables_are_heeded_by_the_running_bridge(tmp_path: Path) -> None:
    child = Scripted(tmp_path, legacy(server_discover=[]))
    env = host_environment(
        MCP_BRIDGE_PROBE_TIMEOUT="0.3",
        MCP_BRIDGE_LOG_LEVEL="info",
        MCP_BRIDGE_LOG_FORMAT="json",
        MCP_BRIDGE_ENV="A=1\nB=2",
    )
    with BridgeProcess(child, "--env", "A=3", env=env) as bridge:
        bridge.result(modern_call(1))
        bridge.end()
        assert '"event": "eras settled"' in bridge.stderr
    assert child.methods()[:2] == ["server/discover", "initialize"]
    (start,) = child.entries("start")
    assert "'A': '3'" in str(start["environment"])
    assert "'B'" not in str(start["environment"])


@pytest.mark.parametrize("pair", ["legacy-legacy", "modern-modern", "modern-legacy"])
def test_the_run_path_imports_nothing_that_only_people_need(tmp_path: Path, pair: str) -> None:
    host, _, era = pair.partition("-")
    child = Scripted(tmp_path, modern() if era == "modern" else legacy())
    launch = [sys.executable, "-X", "importtime", "-m", "mcp_era_bridge"]
    with BridgeProcess(child, launch=launch) as bridge:
        bridge.result(modern_call(1) if host == "modern" else legacy_opening(1))
        bridge.end()
        imported = set(re.findall(r"^import time:.*\| +(\S+)$", bridge.stderr, re.MULTILINE))
    assert {"trio", "msgspec", "mcp_era_bridge.shell"} <= imported
    needless = {
        "click",
        "structlog",
        "anyio",
        "asyncio",
        "rich",
        "ruamel.yaml",
        "difflib",
        *(f"mcp_era_bridge.{name}" for name in ("cli", "completion", "usage_hints", "start_hints")),
    }
    assert imported & needless == set()


def test_limits_given_on_the_command_line_are_those_that_hold(tmp_path: Path) -> None:
    child = Scripted(tmp_path, legacy(tools_list=[]))
    with BridgeProcess(child, "--max-requests", "1", "--max-line", "1") as bridge:
        bridge.result(modern_call(1))
        bridge.send(modern_request(2, "tools/list"))
        assert "the limit is 1" in str(bridge.error(modern_call(3))["message"])
        bridge.send(
            {"jsonrpc": "2.0", "method": "notifications/cancelled", "params": {"requestId": 2}}
        )
        too_long = bridge.error(modern_call(4, text="x" * (1 << 20)))
        assert too_long["message"] == "The line is too long"
        bridge.result(modern_call(5))
