"""Completion in a shell: what Tab puts on the line, in the shells themselves.

bash and zsh run on a terminal and are typed at; fish says by itself what it would offer. A shell
that is not installed is left out, but for bash.
"""

import os
import pty
import re
import select
import shutil
import subprocess
from collections.abc import Callable
from pathlib import Path

import pytest

from bridge_process import LAUNCH, host_environment
from children import PATIENCE
from mcp_era_bridge import options
from mcp_era_bridge.completion import SHELLS

RC = {
    "bash": """
eval "$(mcp-bridge completion bash)"
bind 'set enable-bracketed-paste off'
show() { printf '\\nLINE<%s>\\n' "$READLINE_LINE"; }
bind -x '"\\C-t": show'
PS1='READY>'
""",
    "zsh": """
autoload -Uz compinit && compinit -u -D
eval "$(mcp-bridge completion zsh)"
show() { zle -I; printf '\\nLINE<%s>\\n' "$BUFFER" }
zle -N show
bindkey '^T' show
unset zle_bracketed_paste
PS1='READY>'
""",
}
OFFERED = re.compile(rb"LINE<([^>]*)>")


@pytest.fixture
def folder(tmp_path: Path) -> Path:
    """Where the shell is: with a script of a server's, and a folder."""
    here = tmp_path / "here"
    (here / "servers").mkdir(parents=True)
    (here / "my_server.py").touch()
    return here


@pytest.fixture
def environment(tmp_path: Path) -> dict[str, str]:
    """What the shell runs with: the command on its PATH, and a program for a server."""
    programs = tmp_path / "bin"
    programs.mkdir()
    scripts = {
        "mcp-bridge": "#!/bin/sh\nexec " + " ".join(LAUNCH) + ' "$@"\n',
        "zygote-server": "#!/bin/sh\n",
    }
    for name, text in scripts.items():
        (programs / name).write_text(text)
        (programs / name).chmod(0o755)
    (programs / "zygote-notes").touch()
    home = tmp_path / "home"
    home.mkdir()
    path = f"{programs}{os.pathsep}{os.environ['PATH']}"
    return host_environment(
        PATH=path, HOME=str(home), ZDOTDIR=str(home), XDG_CONFIG_HOME=str(home), TERM="vt100"
    )


def typed(shell: str, keys: str, environment: dict[str, str], folder: Path) -> str:
    """The line that a shell has on a terminal when somebody has typed `keys` and Tab."""
    name = {"bash": "bashrc", "zsh": ".zshrc"}[shell]
    (Path(environment["HOME"]) / name).write_text(RC[shell])
    command = {
        "bash": ["bash", "--noprofile", "--rcfile", str(Path(environment["HOME"], name)), "-i"],
        "zsh": ["zsh", "--no-globalrcs", "-i"],
    }[shell]
    ours, theirs = pty.openpty()
    with subprocess.Popen(
        command,
        env=environment,
        cwd=folder,
        stdin=theirs,
        stdout=theirs,
        stderr=theirs,
        start_new_session=True,
    ) as process:
        os.close(theirs)
        try:
            read_until(ours, re.compile(b"READY>"))
            # Ctrl-T, bound in the files above, has the line shown.
            os.write(ours, f"{keys}\t\x14".encode())
            return read_until(ours, OFFERED)[1].decode()
        finally:
            process.kill()
            os.close(ours)


def read_until(fd: int, pattern: re.Pattern[bytes]) -> re.Match[bytes]:
    seen = b""
    while (match := pattern.search(seen)) is None:
        assert select.select([fd], [], [], PATIENCE)[0], seen
        seen += os.read(fd, 4096)
    return match


def offered_by_fish(line: str, environment: dict[str, str], folder: Path) -> list[str]:
    """What fish offers for the last word of a line."""
    script = "mcp-bridge completion fish | source; complete --do-complete $argv"
    done = subprocess.run(
        ["fish", "--no-config", "-c", script, line],
        env=environment,
        cwd=folder,
        capture_output=True,
        text=True,
        timeout=PATIENCE,
    )
    assert (done.returncode, done.stderr) == (0, "")
    return [text.partition("\t")[0] for text in done.stdout.splitlines()]


Complete = Callable[[str], str]


@pytest.fixture(params=SHELLS)
def complete(request: pytest.FixtureRequest, environment: dict[str, str], folder: Path) -> Complete:
    """Completes a line that goes on in one way only."""
    shell: str = request.param
    if shutil.which(shell) is None:
        assert shell != "bash"
        pytest.skip(f"{shell} is not installed")
    if shell == "bash":
        new_enough = "(( BASH_VERSINFO[0] * 100 + BASH_VERSINFO[1] >= 404 ))"
        if subprocess.run(["bash", "-c", new_enough]).returncode:
            pytest.skip("click's script needs bash 4.4")

    def by_fish(line: str) -> str:
        (only,) = offered_by_fish(line, environment, folder)
        return line[: line.rindex(" ") + 1] + only

    def by_typing(line: str) -> str:
        return typed(shell, line, environment, folder).rstrip()

    return by_fish if shell == "fish" else by_typing


# What is offered --------------------------------------------------------------------------------


@pytest.mark.parametrize(
    ("line", "whole"),
    [
        ("mcp-bridge --prob", "mcp-bridge --probe-timeout"),
        ("mcp-bridge --era modern --log-f", "mcp-bridge --era modern --log-format"),
        ("mcp-bridge --era leg", "mcp-bridge --era legacy"),
        ("mcp-bridge --era=leg", "mcp-bridge --era=legacy"),
        ("mcp-bridge dem", "mcp-bridge demo"),
        ("mcp-bridge --no-cache prob", "mcp-bridge --no-cache probe"),
        ("mcp-bridge completion zs", "mcp-bridge completion zsh"),
        ("mcp-bridge probe --js", "mcp-bridge probe --json"),
    ],
)
def test_our_own_words_are_completed(complete: Complete, line: str, whole: str) -> None:
    assert complete(line) == whole


@pytest.mark.parametrize(
    ("line", "whole"),
    [
        ("mcp-bridge -- zyg", "mcp-bridge -- zygote-server"),
        ("mcp-bridge zyg", "mcp-bridge zygote-server"),
        ("mcp-bridge probe -- zyg", "mcp-bridge probe -- zygote-server"),
        ("mcp-bridge -- ./my_s", "mcp-bridge -- ./my_server.py"),
        ("mcp-bridge -- my_s", "mcp-bridge -- my_server.py"),
        ("mcp-bridge -- python my_s", "mcp-bridge -- python my_server.py"),
        ("mcp-bridge -- demo my_s", "mcp-bridge -- demo my_server.py"),
        ("mcp-bridge python my_s", "mcp-bridge python my_server.py"),
        (
            "mcp-bridge --env A=1 -- python -u my_s",
            "mcp-bridge --env A=1 -- python -u my_server.py",
        ),
        ("mcp-bridge probe -- python my_s", "mcp-bridge probe -- python my_server.py"),
        ("mcp-bridge doctor python my_s", "mcp-bridge doctor python my_server.py"),
    ],
)
def test_a_servers_command_is_completed_with_programs_and_files(
    complete: Complete, line: str, whole: str
) -> None:
    assert complete(line) == whole


def test_the_servers_folder_is_completed_with_folders(complete: Complete) -> None:
    assert complete("mcp-bridge --cwd s").rstrip("/") == "mcp-bridge --cwd servers"


# What the shells ask ----------------------------------------------------------------------------


def asked(*words: str) -> list[str]:
    """What the command answers when bash wants the last of these words completed."""
    done = subprocess.run(
        LAUNCH,
        env=host_environment(
            COMP_WORDS="\n".join(("mcp-bridge", *words)),
            COMP_CWORD=str(len(words)),
            **{options.COMPLETE: "bash_complete"},
        ),
        capture_output=True,
        text=True,
        timeout=PATIENCE,
    )
    assert (done.returncode, done.stderr) == (0, "")
    return done.stdout.splitlines()


def test_every_sub_command_is_offered_where_a_command_may_begin() -> None:
    assert asked("") == [f"plain,{name}" for name in sorted(options.SUBCOMMANDS)]


def test_every_option_is_offered() -> None:
    flags = {flag for option in options.OPTIONS for flag in option.flags}
    assert {f"plain,{flag}" for flag in flags | {"--help", "--version"}} <= set(asked("-"))


@pytest.mark.parametrize("option", [o for o in options.OPTIONS if o.choices], ids=lambda o: o.name)
def test_every_choice_is_offered(option: options.Option) -> None:
    choices = [f"plain,{choice}" for choice in option.choices]
    assert asked(option.flags[-1], "") == choices
    assert asked(option.flags[-1], "=") == choices
    assert asked(option.flags[-1], "=", option.choices[-1]) == choices[-1:]
    assert asked(f"{option.flags[-1]}=") == [
        f"plain,{option.flags[-1]}={choice}" for choice in option.choices
    ]


@pytest.mark.parametrize("before", [["--"], ["server"], ["--era", "legacy", "--", "npx"]])
def test_options_of_a_server_are_not_ours_to_complete(before: list[str]) -> None:
    assert asked(*before, "--era", "leg") == ["file,leg"]
    assert "plain,--era" not in asked(*before, "--er")


def test_a_variable_that_is_not_an_option_does_not_stand_in_the_way() -> None:
    bad = dict.fromkeys((option.variable for option in options.OPTIONS), "nonsense")
    env = host_environment(
        COMP_WORDS="mcp-bridge --er", COMP_CWORD="1", **{options.COMPLETE: "zsh_complete"}, **bad
    )
    done = subprocess.run(LAUNCH, env=env, capture_output=True, text=True, timeout=PATIENCE)
    assert (done.returncode, done.stderr) == (0, "")
    assert done.stdout.splitlines()[:2] == ["plain", "--era"]


def test_the_variable_is_heeded_only_where_there_are_no_arguments() -> None:
    environ = {options.COMPLETE: "bash_complete"}
    assert options.parse([], environ) is None
    invocation = options.parse(["--", "server"], environ)
    assert invocation is not None and invocation.command == ["server"]
    # It may have been meant for the server.
    assert invocation.child_environment(environ) == environ


# The sub-command --------------------------------------------------------------------------------


def run_completion(*words: str) -> "subprocess.CompletedProcess[str]":
    return subprocess.run(
        [*LAUNCH, "completion", *words],
        env=host_environment(),
        capture_output=True,
        text=True,
        timeout=PATIENCE,
    )


@pytest.mark.parametrize("shell", SHELLS)
def test_the_script_is_printed_and_the_shell_reads_it(shell: str, tmp_path: Path) -> None:
    done = run_completion(shell)
    assert (done.returncode, done.stderr) == (0, "")
    assert f"{options.COMPLETE}={shell}_complete" in done.stdout
    if shutil.which(shell) is not None:
        script = tmp_path / "script"
        script.write_text(done.stdout)
        checked = subprocess.run([shell, "-n", str(script)], capture_output=True, text=True)
        assert (checked.returncode, checked.stderr) == (0, "")


def test_help_says_for_every_shell_where_to_put_it() -> None:
    text = run_completion("--help").stdout
    for shell, place in zip(
        SHELLS,
        ("~/.local/share/bash-completion/completions", "~/.zshrc", "~/.config/fish/completions"),
        strict=True,
    ):
        assert f"mcp-bridge completion {shell}" in text
        assert place in text


def test_another_shell_is_refused_with_those_that_are_known() -> None:
    done = run_completion("tcsh")
    assert (done.returncode, done.stdout) == (2, "")
    for shell in SHELLS:
        assert f"'{shell}'" in done.stderr
