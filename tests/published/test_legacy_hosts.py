"""Legacy hosts made with the published SDKs are served by modern servers made with them.

Through `--era modern` everything is translated, and must be what a modern host of the same SDK gets
directly. On its own the bridge lets a server that speaks both eras serve a legacy host itself.
"""

import re

import pytest

from published.runs import (
    BRIDGE,
    LEGACY,
    LEGACY_HOSTS,
    MODERN,
    SERVERS,
    TRANSLATING,
    Json,
    Object,
    Report,
    Runs,
    as_legacy,
    differences,
    modern_server,
    steps_for,
)

pytestmark = pytest.mark.published

RACK: Json = {"name": "rack", "version": "2.1.0"}
NEWEST_LEGACY = "2025-11-25"
MODERN_COUNTERPART = {"py1": "py", "ts1": "ts"}


def text_of(report: Report, step: str) -> str:
    content = report.got(step)["content"]
    assert isinstance(content, list) and isinstance(content[0], dict)
    return str(content[0]["text"])


def seen_in(report: Report, step: str) -> Json:
    """What came beside the result of a step."""
    outcome = report.steps[step]
    assert isinstance(outcome, dict) and outcome["ok"], outcome
    got = outcome["got"]
    assert isinstance(got, list)
    return got[1]


def comparable(steps: Object) -> Object:
    """Without what the SDKs put around the message of an error, and what is looked at by itself."""
    kept = {**steps}
    for step, outcome in steps.items():
        if isinstance(outcome, dict) and isinstance(error := outcome.get("error"), str):
            plain = re.sub(r"^\w+: (MCP error -?\d+: )?", "", error)
            kept[step] = {**outcome, "error": plain}
    missing = kept["read_missing"]
    assert isinstance(missing, dict)
    kept["read_missing"] = {k: v for k, v in missing.items() if k != "code"}
    for step in ("changes", "era"):
        kept.pop(step, None)
    return kept


@pytest.mark.parametrize("server", SERVERS)
@pytest.mark.parametrize("host", LEGACY_HOSTS)
def test_legacy_host_gets_from_a_modern_server_what_a_modern_host_gets(
    runs: Runs, host: str, server: str
) -> None:
    command, steps = modern_server(server), steps_for(host)
    counterpart = MODERN_COUNTERPART.get(host, host)
    at_once = (
        runs.start(counterpart, MODERN, command, steps_for(counterpart)),
        runs.start(host, LEGACY, TRANSLATING + command, steps),
    )
    direct, bridged = (run.result() for run in at_once)

    assert direct.connect["version"] == MODERN
    assert bridged.connect["version"] == NEWEST_LEGACY
    assert bridged.connect["server"] == RACK
    assert bridged.connect["instructions"] == "Ask for tools/list first."
    expected = comparable(as_legacy({step: direct.steps[step] for step in steps}, RACK))
    assert differences(expected, comparable(as_legacy(bridged.steps, RACK))) == {}


@pytest.mark.parametrize("server", SERVERS)
@pytest.mark.parametrize("host", LEGACY_HOSTS)
def test_legacy_host_is_asked_and_told_everything(runs: Runs, host: str, server: str) -> None:
    """Equality means little if the direct run fails."""
    command = TRANSLATING + modern_server(server)
    bridged = runs.start(host, LEGACY, command, steps_for(host)).result()

    failed = {step for step, outcome in bridged.steps.items() if not_ok(outcome)}
    assert failed == {"read_missing"} | ({"unknown_tool"} if server == "ts" else set[str]())
    missing = bridged.steps["read_missing"]
    # The TypeScript SDK 2.x makes it -32602 itself.
    assert isinstance(missing, dict)
    assert missing["code"] == (-32602 if host == "ts" else -32002)
    model = "fastmcp-slim" if host == "fastmcp" else "scripted"
    assert text_of(bridged, "ask_model") == f"{model} Hello."
    assert text_of(bridged, "ask_roots") == "file:///a file:///b"
    for step, count in (("ask_form", 1), ("ask_twice", 2), ("ask_all", 1)):
        assert text_of(bridged, step).count("Ada") == count
    assert bridged.got("add")["structuredContent"] == {"sum": 42}
    if host == "fastmcp":
        return
    assert text_of(bridged, "ask_url").startswith("accept")
    assert text_of(bridged, "era") == MODERN
    assert seen_in(bridged, "progress") == [[n, 3, f"number {n}"] for n in (1, 2, 3)]
    levels = ("warning", "error")
    assert seen_in(bridged, "logs") == [[level, {"level": level}] for level in levels]
    changes = {"ok": True, "got": [["shelf://top/touched"], ["changed"]]}
    assert bridged.steps["changes"] == changes


@pytest.mark.parametrize("server", SERVERS)
@pytest.mark.parametrize("host", LEGACY_HOSTS)
def test_legacy_host_is_served_by_the_legacy_side_of_a_server_of_both_eras(
    runs: Runs, host: str, server: str
) -> None:
    command = modern_server(server)
    # What the legacy side lacks in these SDKs is waited for in vain.
    steps = tuple(step for step in steps_for(host) if step not in ("logs", "changes"))
    at_once = (
        runs.start(host, LEGACY, command, steps),
        runs.start(host, LEGACY, BRIDGE + command, steps),
    )
    direct, bridged = (run.result() for run in at_once)

    assert differences(direct.steps, bridged.steps) == {}
    assert direct.connect == bridged.connect
    if host != "fastmcp":
        assert text_of(bridged, "era") != MODERN


def not_ok(outcome: object) -> bool:
    return not (isinstance(outcome, dict) and outcome["ok"])
