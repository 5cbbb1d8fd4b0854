"""`mcp-bridge doctor`: looks for the usual faults and says what to do about them.

Lives here: the sub-command, and the order of the checks. Does not: the checks (doctor_*.py), how
findings are printed (doctor_print.py). What takes time to import is imported when it is wanted.
"""

import sys
from typing import TYPE_CHECKING, Final

import click

from mcp_era_bridge.click_options import enter, invocation_of, server_parameters, sound
from mcp_era_bridge.probe import tell_of_progress

if TYPE_CHECKING:
    from mcp_era_bridge.findings import Finding

_HELP = """Look for the usual faults and say what to do about them.

Without a command only the installation of the bridge is looked at. With one the server is started
a few times and ended again; none of its tools is called.

\b
  mcp-bridge doctor
  mcp-bridge doctor -- npx -y some-server
  mcp-bridge doctor --json --env API_KEY=none -- python my_server.py

\b
Exit codes:
  0  nothing found that needs doing
  3  warnings: it works here, and may not where the host starts it
  4  problems: it cannot work like this
"""
_HOST_PATHS: Final = {
    "darwin": "/usr/bin:/bin:/usr/sbin:/sbin",
    "linux": "/usr/local/sbin:/usr/local/bin:/usr/sbin:/usr/bin:/sbin:/bin",
}
"""What is on the PATH of programs that are not started from a terminal."""


@click.pass_context
def _doctor(context: click.Context, /, as_json: bool, host_path: str, **_: object) -> None:
    from mcp_era_bridge import __version__, findings
    from mcp_era_bridge.doctor_installation import check_installation
    from mcp_era_bridge.start import environment

    environ = environment()
    found = check_installation(environ, host_path)
    invocation = invocation_of(context, environ)
    enter(invocation)
    server: str | None = None
    if invocation.command:
        import trio

        from mcp_era_bridge import options
        from mcp_era_bridge.doctor_command import check_command
        from mcp_era_bridge.doctor_run import Examination
        from mcp_era_bridge.guard import Guard
        from mcp_era_bridge.run import settings_of
        from mcp_era_bridge.spawn import Command
        from mcp_era_bridge.visit import Interrupted

        given = dict(pair.split("=", 1) for pair in invocation.texts(options.ENV))
        command = Command(invocation.command, invocation.child_environment(environ))
        cwd_given = bool(invocation.text(options.CWD))
        at_rest = check_command(command, host_path, cwd_given=cwd_given)
        found += at_rest
        if not any(each.id == "command_not_found" for each in at_rest):
            examination = Examination(
                command,
                settings_of(invocation, command),
                Guard(),
                host_path,
                given,
                tell_of_progress,
            )
            try:
                verdict, running = trio.run(examination.run)
            except Interrupted as end:
                sys.exit(end.exit_code)
            server = verdict.value
            found += running
    verdict_of_all = findings.verdict_of(found)
    report = findings.Report(
        format=findings.FORMAT,
        bridge=__version__,
        command=[sound(word) for word in invocation.command] or None,
        server=server,
        verdict=verdict_of_all,
        exit_code=findings.EXIT_CODES[verdict_of_all],
        findings=[_readable(each) for each in sorted(found, key=findings.heaviness, reverse=True)],
    )
    if as_json:
        import msgspec

        click.echo(msgspec.json.format(msgspec.json.encode(report)))
    else:
        from mcp_era_bridge.doctor_print import print_report

        print_report(report)
    sys.exit(report.exit_code)


def _readable(finding: "Finding") -> "Finding":
    import msgspec

    texts = {"seen": sound(finding.seen), "fix": sound(finding.fix)}
    if finding.copy is not None:
        texts["copy"] = sound(finding.copy)
    return msgspec.structs.replace(finding, **texts)


doctor = click.Command(
    "doctor",
    callback=_doctor,
    params=[
        click.Option(["--json", "as_json"], is_flag=True, help="Write the findings as JSON."),
        click.Option(
            ["--host-path", "host_path"],
            metavar="PATH",
            default=_HOST_PATHS.get(sys.platform, _HOST_PATHS["linux"]),
            show_default=True,
            help="The PATH that your host has.",
        ),
        *server_parameters(required=False),
    ],
    help=_HELP,
    short_help="Look for the usual faults and say what to do about them.",
    options_metavar="[OPTIONS] --",
    context_settings={"allow_interspersed_args": False},
)
