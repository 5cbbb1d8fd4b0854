"""`mcp-bridge probe`: starts a server, looks at it as a host of either era, and says what it saw.

Lives here: the sub-command. Does not: the visits (visit.py), what they mean (probe_facts.py), how
it is printed (probe_print.py). What takes time to import is imported when it is wanted.
"""

import sys

import click

from mcp_era_bridge.click_options import enter, invocation_of, server_parameters, sound

_HELP = """Start a server and say what hosts of either era will see of it.

The server is started twice, once for a host of the handshake era and once for one of 2026-07-28,
and ended again. It is asked what it is and what it has; none of its tools is called.

\b
  mcp-bridge probe -- python my_server.py
  mcp-bridge probe --json -- npx -y some-server
  mcp-bridge probe --env API_KEY=none -C /srv -- ./server --stdio

\b
Exit codes:
  0  works with hosts of either era, with and without the bridge
  3  works; hosts of the other era need the bridge
  4  works with hosts of one era only, even through the bridge
  5  speaks only versions of the protocol that are not known
  6  is no MCP server: it says something else
  7  ends before it has answered
  8  says nothing within the time limits
  9  cannot be started
"""


@click.pass_context
def _probe(context: click.Context, /, as_json: bool, **_: object) -> None:
    import trio

    from mcp_era_bridge.guard import Guard
    from mcp_era_bridge.probe_facts import Facts
    from mcp_era_bridge.run import settings_of
    from mcp_era_bridge.spawn import Command
    from mcp_era_bridge.start import environment
    from mcp_era_bridge.visit import Interrupted, visit_as_both

    environ = environment()
    invocation = invocation_of(context, environ)
    enter(invocation)
    command = Command(invocation.command, invocation.child_environment(environ))
    settings = settings_of(invocation, command)
    try:
        visits = trio.run(visit_as_both, command, Guard(), settings, tell_of_progress)
    except Interrupted as end:
        sys.exit(end.exit_code)
    report = Facts(*visits).report([sound(word) for word in command.argv])
    if as_json:
        import msgspec

        click.echo(msgspec.json.format(msgspec.json.encode(report)))
    else:
        from mcp_era_bridge.probe_print import print_report

        print_report(report)
    sys.exit(report.exit_code)


def tell_of_progress(what: str) -> None:
    """Says to a person what takes its time."""
    if sys.stderr.isatty():
        click.echo(f"{what} ...", err=True)


probe = click.Command(
    "probe",
    callback=_probe,
    params=[
        click.Option(["--json", "as_json"], is_flag=True, help="Write the report as JSON."),
        *server_parameters(required=True),
    ],
    help=_HELP,
    short_help="Say what hosts of either era will see of a server.",
    options_metavar="[OPTIONS] --",
    context_settings={"allow_interspersed_args": False},
)
