"""The run path up to the first slow import: options, then the child, then the bridge.

Lives here: the order of the start. Does not: what runs afterwards (shell.py), help and sub-commands
(cli.py).
"""

import os
import signal
import sys

from mcp_era_bridge import options
from mcp_era_bridge.guard import Guard
from mcp_era_bridge.spawn import Command, NotStarted, Spawned, spawn

USAGE_ERROR = 2
"""The exit code for a command line that cannot be understood, as click has it."""
NOT_STARTED = 1
"""The exit code for a server that cannot be started, at a terminal. A host gets an error for each
of its requests instead, and the command may be mended meanwhile."""

_WAITING = (
    "mcp-bridge: waiting for a host's messages on stdin. `mcp-bridge probe -- COMMAND` looks at a"
    " server, `mcp-bridge demo` shows a conversation; ^C ends."
)
"""What a person sees who starts at a terminal what a host should start."""


def start() -> int:
    """Runs `sys.argv` and returns the exit code."""
    if signal.getsignal(signal.SIGINT) is signal.default_int_handler:
        # Until the shell heeds it: an interrupt while things are imported is no traceback.
        signal.signal(signal.SIGINT, signal.SIG_DFL)
    _occupy_standard_descriptors()
    try:
        invocation = options.parse(sys.argv[1:], os.environ)
    except options.UsageError as error:
        return _usage_error(str(error))
    if invocation is None:
        from mcp_era_bridge.cli import main

        return main(sys.argv[1:])
    cwd = invocation.text(options.CWD)
    if cwd:
        try:
            os.chdir(cwd)
        except OSError as error:
            return _usage_error(f"{options.CWD.flags[-1]}: {cwd!r}: {error.strerror}")
    command = Command(invocation.command, invocation.child_environment(environment()))
    guard = Guard()
    first: Spawned | str
    try:
        first = spawn(command)
        guard.watch(first.pid)
    except NotStarted as error:
        from mcp_era_bridge.start_hints import explained

        first = explained(str(error), command)
        if os.isatty(0):
            # Nobody would ever ask for another start.
            print(f"Error: the server could not be started: {first}", file=sys.stderr)
            return NOT_STARTED
    if os.isatty(0):
        print(_WAITING, file=sys.stderr)
    # The child boots while this is imported.
    from mcp_era_bridge.run import run

    return run(invocation, command, guard, first)


def _usage_error(what: str) -> int:
    print("Usage: mcp-bridge [OPTIONS] -- COMMAND [ARG]...", file=sys.stderr)
    print("Try 'mcp-bridge --help' for help.\n", file=sys.stderr)
    print(f"Error: {what}", file=sys.stderr)
    return USAGE_ERROR


def _occupy_standard_descriptors() -> None:
    """A host that closed 0, 1 or 2 must not have our pipes there, where the child's would go."""
    while True:
        fd = os.open(os.devnull, os.O_RDWR)
        if fd > 2:
            os.close(fd)
            return


def environment() -> dict[str, str]:
    """The environment as the host gave it: Python itself sets LC_CTYPE where there is no locale."""
    environ = dict(os.environ)
    try:
        with open("/proc/self/environ", "rb") as file:
            given = file.read().split(b"\0")
    except OSError:
        return environ
    if not any(pair.startswith(b"LC_CTYPE=") for pair in given):
        environ.pop("LC_CTYPE", None)
    return environ
