"""Help, the version and the sub-commands, with click.

Lives here: what a person at a terminal asks for. Does not: the run path, which never comes here
(start.py); the options themselves (options.py).
"""

import os
import shutil
import sys
from collections.abc import Sequence

import click

from mcp_era_bridge import __version__, options
from mcp_era_bridge.click_options import parameter
from mcp_era_bridge.completion import completion, register
from mcp_era_bridge.config_command import config
from mcp_era_bridge.doctor import doctor
from mcp_era_bridge.probe import probe

JOBS = (
    ("mcp-bridge -- python my_server.py", "run a server through the bridge"),
    ("mcp-bridge -- npx -y some-server", "the same for a package"),
    ("mcp-bridge config wrap --all", "put it in front of every server"),
    ("mcp-bridge probe -- uvx some-server", "what will my host see of it?"),
    ("mcp-bridge doctor -- uvx some-server", "it does not work: why?"),
    ("mcp-bridge --log-level info -- ./server", "say on stderr who speaks what"),
    ("mcp-bridge completion bash", "complete words in a shell"),
    ("mcp-bridge demo", "see it at work"),
)
"""What people come for, with a line to copy."""

_ABOUT = """Join a Model Context Protocol host and a server of different eras.

Put `mcp-bridge --` in front of a server's command in the host's configuration. The server is
started and its era found out. A host and a server of different eras then understand each other;
where both are of one era, lines pass as they are.

\b
Examples:
""" + "".join(f"  {line:<39}  {what}\n" for line, what in JOBS)

_EPILOG = """Every option can be set in the environment too, for example MCP_BRIDGE_LOG_LEVEL=info;
none of these variables is handed to the server. Behind `--` any word is the server's command;
without it, the sub-commands above come first."""


class _Group(click.Group):
    def format_usage(self, ctx: click.Context, formatter: click.HelpFormatter) -> None:
        formatter.write_usage("mcp-bridge", "[OPTIONS] -- COMMAND [ARG]...")
        formatter.write_usage("mcp-bridge", f"[OPTIONS] {'|'.join(options.SUBCOMMANDS)}")

    def invoke(self, ctx: click.Context) -> object:
        try:
            return super().invoke(ctx)
        except click.UsageError as error:
            hint = _hint(error, ctx.invoked_subcommand)
            if not hint:
                raise
            raise click.UsageError(f"{error.format_message()} {hint}", error.ctx) from error


def _hint(error: click.UsageError, name: str | None) -> str:
    """What to try where a sub-command was not understood."""
    if isinstance(error, click.MissingParameter) and getattr(error.param, "name", "") == "command":
        return f"Put the server's command behind `--`: mcp-bridge {name} -- python my_server.py"
    if isinstance(error, getattr(click.exceptions, "NoArgsIsHelpError", ())):
        return ""  # help in disguise, in newer versions of click
    group_of = error.ctx.command if error.ctx is not None else None
    text = error.format_message()
    if isinstance(group_of, click.Group) and text.startswith("No such command "):
        from mcp_era_bridge.usage_hints import for_unknown_name

        # Newer versions of click propose a close match themselves.
        return "" if "Did you mean" in text else for_unknown_name(text, group_of.commands)
    program = shutil.which(name) if name is not None else None
    if program is not None:
        return f"If {program} is the server's program, write: mcp-bridge -- {name} ..."
    return ""


@click.command(
    help="""Show a conversation between a modern host and an old server.

    \b
      mcp-bridge demo
    """,
    short_help="Show a conversation between a modern host and an old server.",
)
def demo() -> None:
    """Runs the bundled demonstration."""
    from mcp_era_bridge.demo import run_demo

    sys.exit(run_demo(lambda text: click.echo(text, nl=False), sys.stdout.isatty()))


def group() -> click.Group:
    """The command as click knows it."""
    command = _Group(
        name="mcp-bridge",
        help=_ABOUT,
        epilog=_EPILOG,
        params=[parameter(option) for option in options.OPTIONS],
        commands={
            "demo": demo,
            "probe": probe,
            "doctor": doctor,
            "config": config,
            "completion": completion,
        },
        context_settings={"help_option_names": ["-h", "--help"]},
        no_args_is_help=False,
    )
    return click.version_option(__version__, prog_name="mcp-bridge")(command)


def main(argv: Sequence[str]) -> int:
    """Runs click on `argv` and returns the exit code."""
    if options.COMPLETE in os.environ:
        register()
    try:
        group().main(list(argv), prog_name="mcp-bridge", complete_var=options.COMPLETE)
    except SystemExit as end:
        return end.code if isinstance(end.code, int) else 1
    return 0
