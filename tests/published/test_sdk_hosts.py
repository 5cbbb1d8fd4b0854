"""Hosts made with the published SDKs cannot tell the bridge from a server of their own era."""

import pytest

from published.runs import (
    AUTO,
    BRIDGE,
    HOSTS,
    LEGACY,
    MODERN,
    Object,
    Runs,
    as_legacy,
    as_modern,
    differences,
    legacy_server,
    modern_server,
)

pytestmark = pytest.mark.published


def code_of_the_missing_resource(steps: Object) -> object:
    outcome = steps["read_missing"]
    assert isinstance(outcome, dict)
    return outcome["code"]


@pytest.mark.parametrize("mode", [MODERN, AUTO])
@pytest.mark.parametrize("host", HOSTS)
def test_modern_host_gets_from_a_legacy_server_what_a_legacy_host_gets(
    runs: Runs, host: str, mode: str
) -> None:
    server = legacy_server()
    at_once = runs.start(host, LEGACY, server), runs.start(host, mode, BRIDGE + server)
    direct, bridged = (run.result() for run in at_once)
    who = direct.connect["server"]

    assert direct.connect["version"] == "2025-11-25"
    assert bridged.connect["version"] == MODERN
    assert differences(as_modern(direct.steps), as_legacy(bridged.steps, who)) == {}
    assert code_of_the_missing_resource(bridged.steps) == -32602
    if mode == MODERN and bridged.connect["server"] is None:
        return  # a pinned Python SDK does not ask who it is talking to
    assert bridged.connect == {**direct.connect, "version": MODERN}


@pytest.mark.parametrize("host", HOSTS)
def test_legacy_host_gets_from_a_legacy_server_the_very_same(runs: Runs, host: str) -> None:
    server = legacy_server()
    at_once = runs.start(host, LEGACY, server), runs.start(host, LEGACY, BRIDGE + server)
    direct, bridged = (run.result() for run in at_once)

    assert differences(direct.steps, bridged.steps) == {}
    assert direct.connect == bridged.connect
    # The TypeScript SDK makes it -32602 itself.
    assert code_of_the_missing_resource(bridged.steps) == (-32602 if host == "ts" else -32002)


@pytest.mark.parametrize("mode", [MODERN, LEGACY])
def test_host_of_either_era_gets_from_a_server_of_both_the_very_same(runs: Runs, mode: str) -> None:
    server = modern_server()
    at_once = runs.start("py", mode, server), runs.start("py", mode, BRIDGE + server)
    direct, bridged = (run.result() for run in at_once)

    assert direct.connect["version"] == (MODERN if mode == MODERN else "2025-11-25")
    assert differences(direct.steps, bridged.steps) == {}
    assert direct.connect == bridged.connect


@pytest.mark.parametrize("host", HOSTS)
def test_hosts_take_every_step(runs: Runs, host: str) -> None:
    """Equality above means little if the direct run fails: these are no errors."""
    direct = runs.start(host, LEGACY, legacy_server()).result()
    failed = {step for step, outcome in direct.steps.items() if not_ok(outcome)}
    assert failed == {"read_missing"}
    assert direct.steps["parallel"] == {"ok": True, "got": [said("up to 3 at once")] * 3}
    model = "fastmcp-slim" if host == "fastmcp" else "scripted"
    form, answer, roots = "accept {'name': 'Ada'}", f"{model} Hello.", "file:///a file:///b"
    answers = {"form": form, "model": answer, "roots": roots, "twice": f"{form}, {form}"}
    for what, told in {**answers, "all": ", ".join(sorted((form, answer, roots)))}.items():
        assert direct.steps[f"ask_{what}"] == {"ok": True, "got": said(told)}
    ended = "cancelled" if host == "ts" else "CancelledError"
    after = [ended, said("still here"), said("0 asleep, 1 cancelled")]
    assert direct.steps["slow_cancel"] == {"ok": True, "got": after}


def not_ok(outcome: object) -> bool:
    return not (isinstance(outcome, dict) and outcome["ok"])


def said(text: str) -> Object:
    return {"content": [{"type": "text", "text": text}], "isError": False}
