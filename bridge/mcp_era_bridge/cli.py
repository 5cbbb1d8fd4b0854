"""Help, the version and the sub-commands, with click.

Lives here: what a person at a terminal asks for. Does not: the run path, which never comes here
(start.py); the options themselves (options.py).
"""

import sys
from collections.abc import Sequence

import click

from mcp_era_bridge import __version__, options
from mcp_era_bridge.click_options import parameter
from mcp_era_bridge.config_command import config
from mcp_era_bridge.doctor import doctor
from mcp_era_bridge.probe import probe

_ABOUT = """Join a Model Context Protocol host and a server of different eras.

Put `mcp-bridge --` in front of a server's command in the host's configuration. The server is
started and its era found out. A host of 2026-07-28 can then use a server that opens with the
initialize handshake; a host and a server of one era are connected as they are.

\b
  mcp-bridge -- python my_server.py
  mcp-bridge -- npx -y some-server
"""

_EPILOG = """Every option can be set in the environment too, for example MCP_BRIDGE_LOG_LEVEL=info;
none of these variables is handed to the server. Behind `--` any word is the server's command;
without it, the sub-commands above come first."""


class _Group(click.Group):
    def format_usage(self, ctx: click.Context, formatter: click.HelpFormatter) -> None:
        formatter.write_usage("mcp-bridge", "[OPTIONS] -- COMMAND [ARG]...")
        formatter.write_usage("mcp-bridge", f"[OPTIONS] {'|'.join(options.SUBCOMMANDS)}")


@click.command(help="Show a conversation between a modern host and an old server.")
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
        commands={"demo": demo, "probe": probe, "doctor": doctor, "config": config},
        context_settings={"help_option_names": ["-h", "--help"]},
        no_args_is_help=False,
    )
    return click.version_option(__version__, prog_name="mcp-bridge")(command)


def main(argv: Sequence[str]) -> int:
    """Runs click on `argv` and returns the exit code."""
    try:
        group().main(list(argv), prog_name="mcp-bridge", standalone_mode=True)
    except SystemExit as end:
        return end.code if isinstance(end.code, int) else 1
    return 0
