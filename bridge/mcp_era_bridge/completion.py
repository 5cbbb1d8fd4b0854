"""What a shell offers when somebody presses Tab behind `mcp-bridge`, and the sub-command for it.

Lives here: where on our command line the word stands, names of programs and of files for a server's
command. Does not: the scripts for the shells and what is offered for our own options and
sub-commands, which are click's.

The script calls the command without arguments and with a variable (options.COMPLETE).
"""

import enum
import os

import click
from click import shell_completion
from click.shell_completion import CompletionItem, ShellComplete

from mcp_era_bridge import options

SHELLS = ("bash", "zsh", "fish")

_HELP = """Print the script that makes a shell complete our options and sub-commands.

Behind `--` programs and files are offered. Put it where your shell looks for such:

\b
bash 4.4 or newer, with the package bash-completion:
  mkdir -p ~/.local/share/bash-completion/completions
  mcp-bridge completion bash \\
    > ~/.local/share/bash-completion/completions/mcp-bridge
or in ~/.bashrc:
  eval "$(mcp-bridge completion bash)"

\b
zsh, in ~/.zshrc behind compinit:
  eval "$(mcp-bridge completion zsh)"

\b
fish:
  mcp-bridge completion fish \\
    > ~/.config/fish/completions/mcp-bridge.fish
"""


class _Place(enum.Enum):
    """Where the word stands that is to be completed."""

    OURS = enum.auto()
    """A value of an option, or something of a sub-command."""
    FIRST = enum.auto()
    """An option of ours, a sub-command or the server's program."""
    PROGRAM = enum.auto()
    """The server's program and nothing else."""
    SERVER = enum.auto()
    """An argument of the server."""


def _place(args: list[str]) -> _Place:
    """Where the word behind `args` stands, by the rules of options.parse."""
    words = list(args)
    while words:
        word = words.pop(0)
        if word == "--":
            return _Place.SERVER if words else _Place.PROGRAM
        if not word.startswith("-"):
            if word not in options.SUBCOMMANDS:
                return _Place.SERVER
            if "--" not in words:
                return _Place.OURS
            return _Place.PROGRAM if words[-1] == "--" else _Place.SERVER
        if options.takes_next_word(word):
            if not words:
                return _Place.OURS
            words.pop(0)
    return _Place.FIRST


def _files(incomplete: str) -> list[CompletionItem]:
    """Has the shell offer the names of files."""
    return [CompletionItem(incomplete, type="file")]


def _programs(incomplete: str) -> list[CompletionItem]:
    """What a server's command may begin with: a program on the PATH, or a file."""
    if not incomplete or os.sep in incomplete or incomplete.startswith("~"):
        return _files(incomplete)
    names: set[str] = set()
    for folder in os.get_exec_path():
        try:
            found = os.listdir(folder)
        except OSError:
            continue
        names.update(
            name
            for name in found
            if name.startswith(incomplete) and os.access(os.path.join(folder, name), os.X_OK)
        )
    # The file comes first: click's script for bash forgets what came before it.
    return [*_files(incomplete), *map(CompletionItem, sorted(names))]


def complete_command(
    context: click.Context, parameter: click.Parameter, incomplete: str
) -> list[CompletionItem]:
    """For an argument of click's that holds the words of a server's command."""
    given = context.params.get(parameter.name or "")
    return _files(incomplete) if given else _programs(incomplete)


class _OfOurWords(ShellComplete):
    """Completion that knows where a server's command begins."""

    def source(self) -> str:
        # Not click's for bash, which runs bash to complain of old ones.
        return self.source_template % self.source_vars()

    def get_completions(self, args: list[str], incomplete: str) -> list[CompletionItem]:
        if args[-1:] == ["="] and args[-2:-1]:
            args = args[:-1]  # bash takes --option=value for three words
        place = _place(args)
        if place is _Place.SERVER:
            return _files(incomplete)
        if place is _Place.PROGRAM:
            return _programs(incomplete)
        flag, equals, value = incomplete.partition("=")
        if equals and flag.startswith("--"):
            # Other shells take it for one, and would put the value in its place.
            return [
                CompletionItem(f"{flag}={item.value}", type=item.type, help=item.help)
                for item in super().get_completions([*args, flag], value)
            ]
        found = super().get_completions(args, incomplete)
        if not found and place is _Place.FIRST and not incomplete.startswith("-"):
            return _programs(incomplete)
        return found


class _Bash(_OfOurWords, shell_completion.BashComplete):
    pass


class _Zsh(_OfOurWords, shell_completion.ZshComplete):
    pass


class _Fish(_OfOurWords, shell_completion.FishComplete):
    pass


_CLASSES: dict[str, type[_OfOurWords]] = {"bash": _Bash, "zsh": _Zsh, "fish": _Fish}


def register() -> None:
    """Has click use what is here when a shell asks."""
    for name, each in _CLASSES.items():
        shell_completion.add_completion_class(each, name)


@click.command(help=_HELP, short_help="Print the script that completes words in a shell.")
@click.argument("shell", type=click.Choice(SHELLS))
@click.pass_context
def completion(context: click.Context, /, shell: str) -> None:
    """Prints the script."""
    root = context.find_root().command
    click.echo(_CLASSES[shell](root, {}, "mcp-bridge", options.COMPLETE).source(), nl=False)
