"""The run path behind the slow imports: what the user asked for becomes a running shell.

Lives here: the settings made of the options, the parts put together, the last net. Does not: the
start before the imports (start.py), what runs (shell.py).
"""

import gc
import os
import random

import msgspec
import trio

from mcp_era_bridge import __version__, options, verdicts
from mcp_era_bridge.effects import Remembered
from mcp_era_bridge.guard import Guard
from mcp_era_bridge.joint import Joint
from mcp_era_bridge.logs import Log
from mcp_era_bridge.options import Invocation
from mcp_era_bridge.own_requests import HIGHEST_FIRST_ID, LOWEST_FIRST_ID
from mcp_era_bridge.settings import Settings
from mcp_era_bridge.shell import Shell
from mcp_era_bridge.spawn import Command, Spawned
from mcp_era_bridge.stderr import StderrSink
from mcp_era_modern.request_state import Seal
from mcp_era_wire.envelope import encode
from mcp_era_wire.events import Severity
from mcp_era_wire.versions import Era

BRIDGE_INFO = msgspec.Raw(encode({"name": "mcp-bridge", "version": __version__}))
_INTERNAL_ERROR = 70
"""The exit code for a fault of the bridge itself."""


def _roots(uris: list[str]) -> msgspec.Raw | None:
    """A ListRootsResult with the roots of the command line."""
    return msgspec.Raw(encode({"roots": [{"uri": uri} for uri in uris]})) if uris else None


_ERAS = {"auto": None, "modern": Era.MODERN, "legacy": Era.LEGACY}


def settings_of(invocation: Invocation, command: Command) -> Settings:
    """What the user has set, for the joint and the shell."""
    return Settings(
        era=_ERAS[invocation.text(options.ERA)],
        server_name=os.path.basename(command.argv[0]) or "server",
        probe_timeout=invocation.seconds(options.PROBE_TIMEOUT),
        initialize_timeout=invocation.seconds(options.INIT_TIMEOUT),
        most_open=invocation.whole(options.MAX_REQUESTS),
        most_line=invocation.whole(options.MAX_LINE) << 20,
        tells_stderr=not invocation.flag(options.NO_STDERR_IN_ERRORS),
        roots=_roots(invocation.texts(options.ROOT)),
        answer_timeout=invocation.seconds(options.ANSWER_TIMEOUT),
        max_sessions=invocation.whole(options.MAX_SESSIONS),
        one_process=invocation.flag(options.ONE_PROCESS),
        strict_logs=invocation.flag(options.STRICT_LOGS),
        most_parked=invocation.whole(options.MAX_PARKED),
        most_questions=invocation.whole(options.MAX_QUESTIONS),
        most_streams=invocation.whole(options.MAX_STREAMS),
        most_uris=invocation.whole(options.MAX_URIS),
    )


def joint_of(settings: Settings, remembered: Remembered | None = None) -> Joint:
    """A joint with ids and a key of its own."""
    first_id = random.randint(LOWEST_FIRST_ID, HIGHEST_FIRST_ID)
    # Whoever has the key could make tokens of his own; it does not outlive this run.
    seal = Seal(os.urandom(32), os.urandom(6).hex())
    return Joint(settings, first_id, BRIDGE_INFO, seal, remembered)


def run(invocation: Invocation, command: Command, guard: Guard, first: Spawned | str) -> int:
    """Runs the bridge for a child that has been started (or not, for the reason given)."""
    settings = settings_of(invocation, command)
    sink = StderrSink()
    log = Log(
        sink,
        Severity[invocation.text(options.LOG_LEVEL).upper()],
        invocation.text(options.LOG_FORMAT) == "json",
    )
    cache = verdicts.Cache(None if invocation.flag(options.NO_CACHE) else command)
    joint = joint_of(settings, cache.load())
    blocking = os.get_blocking(1)
    os.set_blocking(1, False)
    shell = Shell(joint, settings, command, guard, log, cache)
    # What is there now stays: collections need not look at it again.
    gc.collect()
    gc.freeze()
    try:
        return trio.run(shell.run, first, strict_exception_groups=True)
    except Exception as error:  # ours, whatever it is: said in one line, nothing left behind
        if log.level <= Severity.DEBUG:
            raise
        sink.write(f"mcp-bridge: internal error: {error!r}\n".encode())
        return _INTERNAL_ERROR
    finally:
        os.set_blocking(shell.host_fd, blocking)
