"""The sub-command `config`: `list`, `check`, `wrap`, `unwrap`.

Lives here: its options, what it prints, its exit codes. Does not: any work (config_find.py,
config_change.py, config_report.py), which is imported when one of them runs.
"""

import json
import os
import sys
from collections.abc import Callable
from typing import TYPE_CHECKING, TypeVar

import click

if TYPE_CHECKING:
    from mcp_era_bridge.config_change import Plan
    from mcp_era_bridge.config_find import ConfigFile

    _Choice = click.Choice[str]
else:
    _Choice = click.Choice  # before 8.2 click's is not generic

HOSTS = (
    *("claude-desktop", "claude-code", "vscode", "cursor", "windsurf", "zed"),
    *("codex", "gemini", "cline", "continue", "lm-studio", "goose"),
)
SCOPES = ("user", "project", "local")

_Function = TypeVar("_Function", bound=Callable[..., None])


def _with(*options: Callable[[_Function], _Function]) -> Callable[[_Function], _Function]:
    def decorate(function: _Function) -> _Function:
        for option in reversed(options):
            function = option(function)
        return function

    return decorate


class _Host(_Choice):
    """A host; one that is nearly spelt so is named in the message."""

    def convert(
        self, value: object, param: click.Parameter | None, ctx: click.Context | None
    ) -> str:
        try:
            return str(super().convert(value, param, ctx))
        except click.BadParameter as error:
            import difflib

            near = difflib.get_close_matches(str(value), HOSTS, 1)
            guess = f" Did you mean {near[0]!r}?" if near else ""
            raise click.BadParameter(error.message + guess, ctx, param) from error


_WHICH = _with(
    click.option(
        "--host",
        "hosts",
        multiple=True,
        metavar="HOST",
        type=_Host(HOSTS),
        help=f"Only this host's files; may be repeated. One of {', '.join(HOSTS)}.",
    ),
    click.option(
        "--scope",
        "scopes",
        multiple=True,
        type=click.Choice(SCOPES),
        help="Only the user's files, only the project's, or only what a user's file of Claude Code"
        " has for a project (local); may be repeated.",
    ),
    click.option(
        "--project",
        metavar="DIR",
        type=click.Path(exists=True, file_okay=False),
        help="The project whose files are looked at. By default the working directory; the user's"
        " file is then read for all projects.",
    ),
    click.option(
        "--file",
        metavar="PATH",
        type=click.Path(),
        help="Only this file, which may be at any place; --host says whose it is.",
    ),
)


def _changing(all_of_them: str) -> Callable[[_Function], _Function]:
    return _with(
        click.argument("servers", nargs=-1),
        click.option("--all", "everything", is_flag=True, help=all_of_them),
        _WHICH,
        click.option("--dry-run", is_flag=True, help="Only show what would change."),
        click.option("-y", "--yes", is_flag=True, help="Do not ask."),
    )


_LIST_HELP = """Show the servers in the files of all hosts, and which are behind the bridge.

\b
  mcp-bridge config list
  mcp-bridge config list --host claude-code --json

States: wrapped (behind the bridge), plain (not), url (nothing to wrap), disabled, other (built into
the host), not readable. Without a terminal each line is host, scope, state, server, command and
file, with a tab between them."""

_CHECK_HELP = """Say what is wrong with the files and with the servers behind the bridge.

\b
  mcp-bridge config check
  mcp-bridge config check --file ~/.cursor/mcp.json

Exit code: 0 if all is well, 1 if something is wrong."""

_WRAP_HELP = """Put the bridge in front of servers.

\b
  mcp-bridge config wrap --all
  mcp-bridge config wrap time git --host claude-desktop
  mcp-bridge config wrap --all --scope user --dry-run
  mcp-bridge config wrap time --bridge-option=--log-level=info

Shows the change and asks before it is made. Only command and args of these servers change;
comments, order and spacing stay. The file as it was before the bridge is kept beside it
(.before-mcp-bridge). Restart the host afterwards.

Exit code: 0 if all that was asked for is done or was so already, 1 if a server that is named cannot
be wrapped, a file cannot be read or written, or you say no, 2 if the command line is wrong."""

_UNWRAP_HELP = """Take the bridge away from servers.

\b
  mcp-bridge config unwrap --all
  mcp-bridge config unwrap time --host codex

Gives the same bytes as before `wrap`, if nobody has written to these servers meanwhile; the
original that was kept is removed once the file equals it.

Exit code: 0 if all that was asked for is done or was so already, 1 if a server that is named cannot
be unwrapped, a file cannot be read or written, or you say no, 2 if the command line is wrong."""


@click.group(
    help="""Put the bridge into the configuration of hosts.

    \b
      mcp-bridge config list
      mcp-bridge config wrap --all
    """,
    short_help="Put the bridge into the configuration of hosts.",
)
def config() -> None:
    """Holds the commands."""


@config.command("list", help=_LIST_HELP)
@_WHICH
@click.option("--json", "as_json", is_flag=True, help="Write JSON.")
def list_(
    hosts: tuple[str, ...],
    scopes: tuple[str, ...],
    project: str | None,
    file: str | None,
    as_json: bool,
) -> None:
    """Shows the servers."""
    from mcp_era_bridge import config_report

    found = config_report.rows(_found(hosts, scopes, project, file), os.environ, False)
    if as_json:
        click.echo(json.dumps(config_report.as_objects(found), indent=2))
    elif sys.stdout.isatty() and found:
        config_report.table(found)
    else:
        config_report.plain(found, click.echo)
    if not found:
        click.echo("No host has a server in a file that is known here.", err=True)


@config.command(help=_CHECK_HELP)
@_WHICH
@click.option("--json", "as_json", is_flag=True, help="Write JSON.")
def check(
    hosts: tuple[str, ...],
    scopes: tuple[str, ...],
    project: str | None,
    file: str | None,
    as_json: bool,
) -> None:
    """Shows what is wrong."""
    from mcp_era_bridge import config_report

    found = config_report.rows(_found(hosts, scopes, project, file), os.environ, True)
    problems = list(config_report.lines_of_problems(found))
    if as_json:
        click.echo(json.dumps(config_report.as_objects(found), indent=2))
    else:
        for line in problems:
            click.echo(line)
        wrapped = _count(sum(row.state == "wrapped" for row in found), "wrapped server")
        files = _count(len({row.file for row in found}), "file")
        click.echo(f"{wrapped} in {files}, {_count(len(problems), 'problem')}", err=True)
    sys.exit(1 if problems else 0)


@config.command(help=_WRAP_HELP)
@_changing("All servers, but for disabled ones.")
@click.option(
    "--bridge-option",
    "options",
    multiple=True,
    metavar="WORD",
    help="An option of mcp-bridge for these servers, as --bridge-option=--era=legacy; may be"
    " repeated.",
)
@click.option(
    "--bridge",
    metavar="COMMAND",
    help="What to write for the bridge. By default its full path, as hosts on a desktop find little"
    " by name; in dev containers the name.",
)
def wrap(
    servers: tuple[str, ...],
    everything: bool,
    hosts: tuple[str, ...],
    scopes: tuple[str, ...],
    project: str | None,
    file: str | None,
    dry_run: bool,
    yes: bool,
    options: tuple[str, ...],
    bridge: str | None,
) -> None:
    """Puts the bridge in front."""
    from mcp_era_bridge.config_bridge import NAME, NoBridge, check_options, doubt, own_command
    from mcp_era_bridge.config_change import Wanted, plan_wrap

    _some(servers, everything, "wrap")
    problem = check_options(options)
    if problem is not None:
        raise click.UsageError(f"--bridge-option: {problem}")
    if bridge is not None and not bridge.strip():
        raise click.UsageError("--bridge: the command is empty")
    try:
        command = own_command(sys.argv[0]) if bridge is None else [bridge]
    except NoBridge as error:
        raise click.ClickException(str(error)) from error
    files = _found(hosts, scopes, project, file)
    elsewhere = [bridge or NAME]
    plan = plan_wrap(files, Wanted(servers, everything), command, options, elsewhere)
    doubts = doubt(command)
    if doubts is not None and any(not change.file.place.elsewhere for change in plan.changes):
        click.echo(f"Warning: {doubts}", err=True)
    _carry_out(plan, dry_run, yes)


@config.command(help=_UNWRAP_HELP)
@_changing("All servers that are behind the bridge, disabled ones too.")
def unwrap(
    servers: tuple[str, ...],
    everything: bool,
    hosts: tuple[str, ...],
    scopes: tuple[str, ...],
    project: str | None,
    file: str | None,
    dry_run: bool,
    yes: bool,
) -> None:
    """Takes the bridge away."""
    from mcp_era_bridge.config_change import Wanted, plan_unwrap

    _some(servers, everything, "unwrap")
    files = _found(hosts, scopes, project, file)
    _carry_out(plan_unwrap(files, Wanted(servers, everything)), dry_run, yes)


def _some(servers: tuple[str, ...], everything: bool, what: str) -> None:
    if bool(servers) == everything:
        raise click.UsageError(
            f"Name servers or give --all: mcp-bridge config {what} time, or"
            f" mcp-bridge config {what} --all"
        )


def _found(
    hosts: tuple[str, ...], scopes: tuple[str, ...], project: str | None, file: str | None
) -> "list[ConfigFile]":
    from mcp_era_bridge.config_find import Choice, UnknownFile, find
    from mcp_era_bridge.config_hosts import here

    folder = os.path.abspath(project or os.curdir)
    try:
        return find(
            here(os.environ, folder), Choice(hosts, scopes, file or "", project is not None)
        )
    except UnknownFile as error:
        raise click.ClickException(str(error)) from error


def _carry_out(plan: "Plan", dry_run: bool, yes: bool) -> None:
    """Shows the plan, asks, and makes the changes."""
    from mcp_era_bridge.config_files import FileProblem

    for note in plan.notes:
        click.echo(note, err=True)
    for error in plan.errors:
        click.echo(f"Error: {error}", err=True)
    for change in plan.changes:
        for line in change.diff().splitlines():
            colour = {"+": "green", "-": "red", "@": "cyan"}.get(line[:1])
            click.secho(line, fg=colour)
    failed = bool(plan.errors)
    restart: list[str] = []
    if not plan.changes:
        click.echo("Nothing to change.", err=True)
    elif not dry_run:
        if not yes:
            _ask(plan)
        for change in plan.changes:
            try:
                original = change.write()
            except FileProblem as error:
                click.echo(f"Error: {change.file.path}: {error}", err=True)
                failed = True
            else:
                names = ", ".join(server.name for server in change.servers)
                more = f"; {original}" if original else ""
                click.echo(f"{change.file.path}: {names}{more}", err=True)
                if change.wraps and change.file.host.title not in restart:
                    restart.append(change.file.host.title)
    if restart:
        *others, last = restart
        hosts = f"{', '.join(others)} and {last}" if others else last
        click.echo(f"Restart {hosts} to use it; `mcp-bridge config check` looks again", err=True)
    sys.exit(1 if failed else 0)


def _ask(plan: "Plan") -> None:
    """Returns if the person agrees."""
    servers = _count(sum(len(change.servers) for change in plan.changes), "server")
    question = f"Change {servers} in {_count(len(plan.changes), 'file')}?"
    if sys.stdin is None:
        raise click.ClickException("not a terminal: add --yes")
    try:
        agreed = click.confirm(question, err=True)
    except click.Abort as error:
        if sys.stdin.isatty():
            raise
        click.echo(err=True)  # the question's line is still open
        raise click.ClickException("not a terminal: add --yes") from error
    if not agreed:
        raise click.Abort


def _count(number: int, what: str) -> str:
    return f"{number} {what}" if number == 1 else f"{number} {what}s"
