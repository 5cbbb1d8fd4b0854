"""Runs of the scripted hosts against servers, direct or through the bridge, and their comparison.

Lives here: where scripts/published put things, how a host is started and bounded, what the eras
differ in. Does not: which host meets which server (the tests).
"""

import json
import os
import signal
import subprocess
import sys
import tempfile
from concurrent.futures import Future, ThreadPoolExecutor
from pathlib import Path
from typing import NamedTuple, TypeAlias

import pytest

Json: TypeAlias = "dict[str, Json] | list[Json] | str | float | bool | None"
Object: TypeAlias = "dict[str, Json]"

HERE = Path(__file__).resolve().parent
CHECKOUT = HERE.parent.parent
PLACE = Path(os.environ.get("MCP_BRIDGE_PUBLISHED") or CHECKOUT / ".published").absolute()
PATIENCE = 60.0  # of one run of a host: a bound for what hangs

HOSTS = ("py", "fastmcp", "ts")
LEGACY_HOSTS = (*HOSTS, "py1", "ts1")
SERVERS = ("py", "ts")
LEGACY, AUTO, MODERN = "legacy", "auto", "2026-07-28"
BRIDGE = (sys.executable, "-m", "mcp_era_bridge", "--no-cache", "--")
TRANSLATING = (*BRIDGE[:-1], "--era", "modern", "--")

STEPS = (
    *("list_tools", "list_resources", "list_prompts", "echo", "add"),
    *("read_resource", "read_missing", "prompt", "complete"),
    *("ask_form", "ask_model", "ask_roots", "ask_twice", "ask_all"),
    *("parallel", "fail", "unknown_tool", "slow_cancel"),
)
LIVE_STEPS = ("ask_url", "progress", "logs", "changes", "era")
"""What only a modern_server has, and what FastMCP's client does not show."""

# What each result of 2026-07-28 has and none before; the bridge fills it in so.
SERVER_INFO = "io.modelcontextprotocol/serverInfo"
FILLED_IN = {"resultType": "complete", "ttlMs": 0, "cacheScope": "private"}

Command = tuple[str, ...]


def installed(group: str, *below: str) -> str:
    """The path of a file of that group of scripts/published."""
    if not (PLACE / group / ".stamp").is_file():
        pytest.fail(f"{group} is not installed in {PLACE}: run scripts/published", pytrace=False)
    return str(PLACE.joinpath(group, *below))


def python_of(group: str) -> str:
    return installed(group, "bin", "python")


def node() -> str:
    found = PLACE / "node" / "bin" / "node"
    if not os.access(found, os.X_OK):
        pytest.fail(f"there is no Node at {found}: run scripts/published", pytrace=False)
    return str(found)


def legacy_server() -> Command:
    return (python_of("sdk-py1"), str(HERE / "legacy_server.py"))


def modern_server(sdk: str = "py") -> Command:
    if sdk == "ts":
        return (node(), str(HERE / "modern_server.mjs"), installed("sdk-ts2"))
    return (python_of("sdk-py2"), str(HERE / "modern_server.py"))


def host_command(host: str) -> Command:
    if host == "py":
        return (python_of("sdk-py2"), str(HERE / "py_host.py"))
    if host == "fastmcp":
        return (python_of("fastmcp4"), str(HERE / "fastmcp_host.py"))
    if host == "py1":
        return (python_of("sdk-py1"), str(HERE / "py1_host.py"))
    if host == "ts1":
        return (node(), str(HERE / "ts1_host.mjs"), installed("sdk-ts1"))
    assert host == "ts"
    return (node(), str(HERE / "ts_host.mjs"), installed("sdk-ts2"))


def steps_for(host: str) -> Command:
    """What a legacy host can do at a modern_server."""
    if host == "fastmcp":
        return STEPS
    # The Python SDK 1.x has no way to cancel a request.
    return tuple(step for step in (*STEPS, *LIVE_STEPS) if (host, step) != ("py1", "slow_cancel"))


class Report(NamedTuple):
    """What a host printed."""

    connect: Object
    steps: Object

    def got(self, step: str) -> Object:
        outcome = self.steps[step]
        assert isinstance(outcome, dict) and outcome["ok"], outcome
        assert isinstance(outcome["got"], dict)
        return outcome["got"]


class Runs:
    """Each run of a host is made once in a test session, two at a time."""

    def __init__(self, pool: ThreadPoolExecutor) -> None:
        self._pool = pool
        self._runs: dict[Command, Future[Report]] = {}

    def start(
        self, host: str, mode: str, server: Command, steps: Command = STEPS
    ) -> Future[Report]:
        command = (*host_command(host), mode, *steps, "--", *server)
        if command not in self._runs:
            self._runs[command] = self._pool.submit(run_host, command)
        return self._runs[command]


def run_host(command: Command) -> Report:
    # A file, since whoever outlives the host would keep a pipe open.
    with tempfile.TemporaryFile("w+", encoding="utf-8", errors="replace") as stderr:
        host = subprocess.Popen(
            command,
            stdin=subprocess.DEVNULL,
            stdout=subprocess.PIPE,
            stderr=stderr,
            text=True,
            start_new_session=True,
        )
        try:
            said, _ = host.communicate(timeout=PATIENCE)
        except subprocess.TimeoutExpired:
            said = f"(no end within {PATIENCE} s)"
            os.killpg(host.pid, signal.SIGKILL)
            host.communicate()
        stderr.seek(0)
        complaints = stderr.read()[-4000:]
    try:
        told: dict[str, Object] = json.loads(said)
        connect, steps = told["connect"], told["steps"]
    except (ValueError, KeyError):
        raise AssertionError(
            f"{command} ended with {host.returncode}\n{said}\n{complaints}"
        ) from None
    assert connect.get("ok") is not False, f"{command} did not connect: {connect}\n{complaints}"
    return Report(connect, steps)


def differences(expected: Object, actual: Object) -> dict[str, tuple[Json, Json]]:
    """By step, what was expected and what came; a step that is missing on one side counts too."""
    return {
        step: (expected.get(step), actual.get(step))
        for step in {**expected, **actual}
        if step not in expected or step not in actual or expected[step] != actual[step]
    }


def as_modern(steps: Object) -> Object:
    """A direct legacy run, as the bridge must show it: less what 2026-07-28 has no place for."""
    expected = {**steps}
    listed = expected.get("list_tools")
    if isinstance(listed, dict) and isinstance(result := listed.get("got"), dict):
        tools = result["tools"]
        assert isinstance(tools, list)
        kept: list[Json] = [without(tool, "execution") for tool in tools]
        expected["list_tools"] = {**listed, "got": {**result, "tools": kept}}
    missing = expected.get("read_missing")
    if isinstance(missing, dict) and "code" in missing:
        expected["read_missing"] = {**missing, "code": -32602}
    return expected


def as_legacy(steps: Object, server: Json) -> Object:
    """A modern run, less what the bridge had to fill in."""
    return {step: outcome_less_filled_in(outcome, server) for step, outcome in steps.items()}


def outcome_less_filled_in(outcome: Json, server: Json) -> Json:
    if not isinstance(outcome, dict) or "got" not in outcome:
        return outcome
    got = outcome["got"]
    if isinstance(got, list):  # of several calls
        kept: list[Json] = [result_less_filled_in(result, server) for result in got]
        return {**outcome, "got": kept}
    return {**outcome, "got": result_less_filled_in(got, server)}


def result_less_filled_in(result: Json, server: Json) -> Json:
    if not isinstance(result, dict):
        return result
    kept = {k: v for k, v in result.items() if k not in FILLED_IN or v != FILLED_IN[k]}
    if kept.get("_meta") == {SERVER_INFO: server}:
        del kept["_meta"]
    return kept


def without(value: Json, member: str) -> Json:
    return {k: v for k, v in value.items() if k != member} if isinstance(value, dict) else value
