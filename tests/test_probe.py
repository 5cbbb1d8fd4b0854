"""`mcp-bridge probe`: servers of every kind, looked at as a user does it.

Lives here: the verdicts, the fields of the report, its lines for people, what is left of a server.
Does not: the bridge's rules themselves.
"""

import os
import signal
import subprocess
from pathlib import Path
from typing import cast

import pytest

from bridge_process import LAUNCH, assert_ends, host_environment, is_left
from children import DISCOVERED, INITIALIZED, NOT_FOUND, PATIENCE, Fifo, Scripted, legacy, modern
from diagnosis import QUICK, Said, say, script
from mcp_era_bridge import __version__
from mcp_era_bridge.prospects import LOST
from mcp_era_bridge.witness import Outcome
from mcp_era_wire.versions import Era
from scripted_child import Acts, Object

README = Path(__file__).parent.parent / "README.md"
TOOLS: Acts = [{"result": {"tools": [{"name": "one"}, {"name": "two"}]}}]
UNSUPPORTED: Object = {
    "code": -32022,
    "message": "Unsupported protocol version",
    "data": {"supported": ["2099-01-01"], "requested": "2026-07-28"},
}
NOT_MODERN: Object = {
    **UNSUPPORTED,
    "data": {"supported": ["2026-07-28"], "requested": "2025-11-25"},
}


def reported(child: Scripted | list[str], *words: str) -> Object:
    """The report on a server; its exit code is the one that the command ends with."""
    said = say("probe", "--json", *words, child=child)
    assert said.code == said.json["exit_code"]
    assert said.stderr == ""
    return said.json


def part(report: Object, *path: str) -> Object:
    """An object inside the report."""
    for name in path:
        report = cast(Object, report[name])
    return report


def methods_of_each(child: Scripted) -> list[list[object]]:
    """What each process was asked first, in the order of their start."""
    return [child.methods(pid)[:2] for pid in child.pids]


def assert_nothing_is_left(child: Scripted) -> None:
    assert [pid for pid in [*child.pids, *child.grandchildren] if is_left(pid)] == []


# Kinds of servers --------------------------------------------------------------------------------


def test_legacy_server_works_for_a_modern_host_through_the_bridge(tmp_path: Path) -> None:
    report = reported(Scripted(tmp_path, legacy(tools_list=TOOLS)))
    assert (report["verdict"], report["exit_code"], report["era"]) == ("bridged", 3, "legacy")
    modern_host, legacy_host = (part(report, "hosts", era) for era in ("modern", "legacy"))
    assert [modern_host[m] for m in ("without_bridge", "with_bridge", "way")] == [
        *(False, True, "translated")
    ]
    assert [legacy_host[m] for m in ("without_bridge", "with_bridge", "way")] == [
        *(True, True, "as it is")
    ]


def test_modern_server_works_for_a_legacy_host_through_the_bridge(tmp_path: Path) -> None:
    refusal: Acts = [{"error": NOT_MODERN}]
    child = Scripted(tmp_path, modern(tools_list=TOOLS, initialize=refusal))
    report = reported(child)
    assert (report["verdict"], report["exit_code"], report["era"]) == ("bridged", 3, "modern")
    assert part(report, "hosts", "legacy")["way"] == "translated"
    assert part(report, "hosts", "modern")["way"] == "as it is"
    assert part(report, "versions") == {
        "handshake": None,
        "modern": ["2026-07-28"],
        "named_in_errors": ["2026-07-28"],
    }


def test_dual_server_works_for_everybody(tmp_path: Path) -> None:
    child = Scripted(tmp_path, {**legacy(), **modern(tools_list=TOOLS)})
    report = reported(child)
    assert (report["verdict"], report["exit_code"], report["era"]) == ("works", 0, "dual")
    for era in ("modern", "legacy"):
        assert part(report, "hosts", era)["without_bridge"] is True
        assert part(report, "hosts", era)["lost"] == []


def test_each_host_has_a_process_of_its_own_and_never_two_at_once(tmp_path: Path) -> None:
    lock: Acts = [{"lock": str(tmp_path / "lock")}]
    child = Scripted(tmp_path, {**legacy(), **modern(tools_list=TOOLS)}, start=lock)
    assert reported(child)["verdict"] == "works"
    assert [entry["granted"] for entry in child.entries("locked")] == [True, True]
    assert [asked[0] for asked in methods_of_each(child)] == ["initialize", "server/discover"]


def test_server_that_is_silent_on_the_probe_is_bridged(tmp_path: Path) -> None:
    child = Scripted(tmp_path, legacy(server_discover=[], tools_list=TOOLS))
    report = reported(child, *QUICK)
    assert report["verdict"] == "bridged"
    assert part(report, "discover") == {
        **dict.fromkeys(("milliseconds", "code", "message", "exit_code", "signal")),
        "outcome": "silence",
        "answered_at_end": False,
    }


def test_server_that_exits_on_the_probe_is_bridged(tmp_path: Path) -> None:
    child = Scripted(tmp_path, legacy(server_discover=[{"exit": 4}], tools_list=TOOLS))
    report = reported(child)
    assert report["verdict"] == "bridged"
    took = part(report, "discover")
    assert (took["outcome"], took["exit_code"], took["signal"]) == ("exit", 4, None)
    assert part(report, "initialize")["outcome"] == "result"


def test_server_that_exits_on_what_follows_the_probe_was_silent(tmp_path: Path) -> None:
    on = legacy(server_discover=[], tools_list=TOOLS)
    second: Acts = [{"exit": 5}]
    child = Scripted(tmp_path, on, later={"on": {**on, "initialize": second}})
    report = reported(child, *QUICK)
    took = part(report, "discover")
    assert (took["outcome"], took["exit_code"], took["milliseconds"]) == ("silence", 5, None)


def test_server_that_is_killed_by_the_probe_is_told_with_the_signal(tmp_path: Path) -> None:
    child = Scripted(tmp_path, legacy(server_discover=[{"kill": "SIGSEGV"}]))
    took = part(reported(child), "discover")
    assert (took["outcome"], took["exit_code"], took["signal"]) == ("exit", None, signal.SIGSEGV)


def test_banner_on_stdout_is_told_and_does_no_harm(tmp_path: Path) -> None:
    child = Scripted(tmp_path, legacy(tools_list=TOOLS), start=[{"line": "Welcome!"}])
    report = reported(child)
    assert report["verdict"] == "bridged"
    assert report["stdout_noise"] == {"count": 1, "lines": ["Welcome!"]}


def test_server_that_starts_slowly_is_waited_for(tmp_path: Path) -> None:
    # It answers initialize only when it has been asked something else meanwhile.
    with Fifo(tmp_path / "bell") as bell:
        late: Acts = [{"aside": [{"wait": bell.path}, {"result": INITIALIZED}]}]
        refused: Acts = [{"ring": bell.path}, {"error": NOT_FOUND}]
        child = Scripted(tmp_path, legacy(initialize=late, server_discover=refused))
        report = reported(child, "--probe-timeout", "0.3")
    assert (report["verdict"], report["era"]) == ("bridged", "legacy")
    assert cast(float, part(report, "initialize")["milliseconds"]) >= 300


def test_server_of_unknown_modern_versions_is_named_as_such(tmp_path: Path) -> None:
    future: Acts = [{"result": {**DISCOVERED, "supportedVersions": ["2099-01-01"]}}]
    report = reported(Scripted(tmp_path, modern(server_discover=future)))
    assert (report["verdict"], report["exit_code"], report["era"]) == ("unknown_version", 5, None)
    assert part(report, "versions")["modern"] == ["2099-01-01"]


def test_server_that_refuses_our_versions_is_named_with_its_own(tmp_path: Path) -> None:
    refusal: Acts = [{"error": UNSUPPORTED}]
    child = Scripted(tmp_path, {"server/discover": refusal, "initialize": refusal})
    report = reported(child)
    assert (report["verdict"], report["exit_code"]) == ("unknown_version", 5)
    assert part(report, "versions")["named_in_errors"] == ["2099-01-01"]
    assert part(report, "discover")["code"] == -32022


def test_server_of_an_unknown_handshake_is_named_as_such(tmp_path: Path) -> None:
    future: Acts = [{"result": {**INITIALIZED, "protocolVersion": "2099-01-01"}}]
    report = reported(Scripted(tmp_path, legacy(initialize=future)))
    assert (report["verdict"], report["era"]) == ("unknown_version", None)
    assert part(report, "versions")["handshake"] == "2099-01-01"


def test_program_that_echoes_is_no_mcp_server() -> None:
    report = reported(["cat"], *QUICK)
    assert (report["verdict"], report["exit_code"], report["server"]) == ("no_mcp", 6, None)


def test_program_that_talks_is_no_mcp_server(tmp_path: Path) -> None:
    talker = script(tmp_path, "talker", "for line in open(0): print('What?', flush=True)\n")
    report = reported([str(talker)], *QUICK)
    assert (report["verdict"], report["exit_code"]) == ("no_mcp", 6)
    assert "What?" in cast(list[str], part(report, "stdout_noise")["lines"])


def test_server_that_refuses_everything_is_no_mcp_server(tmp_path: Path) -> None:
    report = reported(Scripted(tmp_path, {}))
    assert (report["verdict"], report["error"]) == ("no_mcp", "Method not found")


def test_program_that_ends_at_once_is_told_with_its_last_words(tmp_path: Path) -> None:
    child = Scripted(tmp_path, {}, start=[{"stderr": "no API key\n"}, {"exit": 3}])
    report = reported(child)
    assert (report["verdict"], report["exit_code"]) == ("exits", 7)
    assert report["error"] == "The server exited with code 3"
    assert set(cast(list[str], report["stderr"])) == {"no API key"}
    assert part(report, "initialize")["exit_code"] == 3


def test_program_that_says_nothing_is_silent(tmp_path: Path) -> None:
    report = reported(Scripted(tmp_path, {"initialize": [], "server/discover": []}), *QUICK)
    assert (report["verdict"], report["exit_code"]) == ("silent", 8)
    assert part(report, "initialize")["answered_at_end"] is False


def test_server_that_answers_only_at_the_end_of_its_input_is_silent(tmp_path: Path) -> None:
    answer = '{"jsonrpc":"2.0","id":1,"result":{"protocolVersion":"2025-11-25"}}'
    child = Scripted(tmp_path, {"initialize": [], "server/discover": []}, end=[{"line": answer}])
    report = reported(child, *QUICK)
    assert report["verdict"] == "silent"
    assert part(report, "initialize")["answered_at_end"] is True


def test_command_that_is_not_there_cannot_be_started() -> None:
    report = reported(["no-such-command-anywhere"])
    assert (report["verdict"], report["exit_code"]) == ("not_started", 9)
    assert report["error"] == "the command 'no-such-command-anywhere' was not found on the PATH"
    assert report["hosts"] is None


def test_host_that_is_not_served_though_the_other_is_makes_it_partly(tmp_path: Path) -> None:
    # For a modern host the process ends as soon as it has been shaken hands with.
    on = legacy(tools_list=TOOLS)
    once: Acts = [{"exit": 1}]
    child = Scripted(tmp_path, on, later={"on": {"initialize": once, "server/discover": once}})
    report = reported(child)
    assert (report["verdict"], report["exit_code"], report["era"]) == ("partly", 4, "legacy")
    modern_host = part(report, "hosts", "modern")
    assert modern_host["with_bridge"] is False
    assert modern_host["error"] == "The server exited with code 1"


def test_command_that_is_no_utf_8_is_reported_all_the_same(tmp_path: Path) -> None:
    child = Scripted(tmp_path, legacy(tools_list=TOOLS))
    report = reported([*child.command, os.fsdecode(b"caf\xe9")])
    assert (report["verdict"], cast(list[str], report["command"])[-1]) == ("bridged", "caf\ufffd")
    report = reported([os.fsdecode(b"no-caf\xe9")])
    assert report["error"] == "the command 'no-caf\\udce9' was not found on the PATH"


# The report --------------------------------------------------------------------------------------

RICH: Object = {
    "protocolVersion": "2025-06-18",
    "capabilities": {
        "tools": {"listChanged": True},
        "prompts": {},
        "resources": {"subscribe": False},
        "logging": {},
        "tasks": {},
    },
    "serverInfo": {"name": "rich", "version": "7", "title": "The rich \x1b[31mone"},
    "instructions": "Be kind.",
}


def rich(folder: Path) -> Scripted:
    """A legacy server with something of everything."""
    prompts: Acts = [{"error": {"code": -32603, "message": "no prompts today"}}]
    resources: Acts = [{"result": {"resources": [{"uri": "a://b", "name": "b"}]}}]
    templates: Acts = [{"result": {"resourceTemplates": [{"uriTemplate": "a://{x}"}]}}]
    on = legacy(
        initialize=[{"result": RICH}],
        tools_list=TOOLS,
        prompts_list=prompts,
        resources_list=resources,
    )
    on["resources/templates/list"] = templates
    return Scripted(folder, on)


def test_every_field_of_the_report(tmp_path: Path) -> None:
    child = rich(tmp_path)
    report = reported(child)
    times = [report.pop("start_milliseconds")]
    for name in ("discover", "initialize"):
        times.append(part(report, name).pop("milliseconds"))
    assert all(isinstance(time, float) for time in times)
    lost = cast(list[Object], part(report, "hosts", "modern").pop("lost"))
    assert [loss["id"] for loss in lost] == ["caching", "log_origin", "stray_questions", "tasks"]
    assert all(set(loss) == {"id", "what", "why"} for loss in lost)
    nothing = dict.fromkeys(("code", "message", "exit_code", "signal"))
    assert report == {
        "format": 1,
        "bridge": __version__,
        "command": child.command,
        "verdict": "bridged",
        "exit_code": 3,
        "summary": "works; hosts of the other era need the bridge",
        "error": None,
        "era": "legacy",
        "server": {
            "name": "rich",
            "version": "7",
            "title": "The rich \x1b[31mone",
            "instructions": "Be kind.",
            "capabilities": RICH["capabilities"],
        },
        "versions": {"handshake": "2025-06-18", "modern": [], "named_in_errors": []},
        "discover": {
            **nothing,
            "outcome": "error",
            "code": -32601,
            "message": "Method not found",
            "answered_at_end": False,
        },
        "initialize": {**nothing, "outcome": "result", "answered_at_end": False},
        "tools": {"count": 2, "names": ["one", "two"], "error": None},
        "prompts": {"count": 0, "names": [], "error": "no prompts today"},
        "resources": {"count": 1, "names": ["a://b"], "error": None},
        "resource_templates": {"count": 1, "names": ["a://{x}"], "error": None},
        "hosts": {
            "modern": {
                "without_bridge": False,
                "with_bridge": True,
                "way": "translated",
                "error": None,
                "bridged": [
                    "tools",
                    "prompts",
                    "resources",
                    "log messages",
                    "changes and subscriptions",
                    "questions of the server (sampling, elicitation, roots)",
                    "progress",
                    "cancellation",
                ],
                "missing": {},
                "more": {},
            },
            "legacy": {
                "without_bridge": True,
                "with_bridge": True,
                "way": "as it is",
                "error": None,
                "bridged": [],
                "lost": [],
                "missing": {},
                "more": {},
            },
        },
        "stdout_noise": {"count": 0, "lines": []},
        "stderr": [],
    }


def test_all_pages_of_a_list_are_read(tmp_path: Path) -> None:
    pages = [{"tools": [{"name": "one"}], "nextCursor": "more"}] * 2
    child = Scripted(tmp_path, legacy(tools_list=[{"result": pages[0]}]))
    assert part(reported(child), "tools") == {
        "count": 2,
        "names": ["one", "one"],
        "error": "a cursor came twice",
    }


def test_what_one_host_does_not_see_is_told(tmp_path: Path) -> None:
    fewer: Acts = [{"result": {"tools": [{"name": "one"}, {"name": "three"}]}}]
    child = Scripted(tmp_path, legacy(tools_list=TOOLS), later={"on": legacy(tools_list=fewer)})
    modern_host = part(reported(child), "hosts", "modern")
    assert modern_host["missing"] == {"tools": ["two"]}
    assert modern_host["more"] == {"tools": ["three"]}


def test_a_question_for_roots_is_answered_with_those_of_the_command_line(tmp_path: Path) -> None:
    ask: Object = {"id": "r", "method": "roots/list", "then": [{"result": TOOLS[0]["result"]}]}
    child = Scripted(tmp_path, legacy(tools_list=[{"ask": ask}]))
    report = reported(child, "--root", "file:///srv")
    assert part(report, "tools")["count"] == 2
    roots = {"roots": [{"uri": "file:///srv"}]}
    answers = [m["result"] for m in child.received() if m.get("id") == "r"]
    assert answers == [roots, roots]


def test_options_stand_in_front_of_the_sub_command_or_behind_it(tmp_path: Path) -> None:
    child = Scripted(tmp_path, legacy(tools_list=TOOLS))
    words = ["--env", "A=1", "probe", "--json", "--cwd", str(tmp_path)]
    assert say(*words, child=child).json["verdict"] == "bridged"
    for start in child.entries("start"):
        assert start["cwd"] == str(tmp_path.resolve())
        assert cast(Object, start["environment"])["A"] == "1"


@pytest.mark.parametrize("words", [["--env", "NOVALUE"], ["--root", "srv"]])
def test_a_bad_option_is_refused(words: list[str]) -> None:
    said = say("probe", *words, child=["true"])
    assert (said.code, said.stdout) == (2, "")
    assert words[0] in said.stderr


def test_without_a_command_the_usage_is_shown() -> None:
    said = say("probe")
    assert said.code == 2
    assert "Usage: mcp-bridge probe [OPTIONS] -- COMMAND [ARG]..." in said.stderr


def test_help_shows_examples_and_exit_codes() -> None:
    said = say("probe", "--help")
    assert said.code == 0
    assert "mcp-bridge probe --json -- npx -y some-server" in said.lines
    assert "9 cannot be started" in said.lines


# What is left ------------------------------------------------------------------------------------


def test_nothing_of_the_servers_process_groups_is_left(tmp_path: Path) -> None:
    child = Scripted(tmp_path, legacy(tools_list=TOOLS), start=[{"grandchild": False}])
    assert reported(child)["verdict"] == "bridged"
    assert len(child.pids) == len(child.grandchildren) == 2
    for pid in child.grandchildren:
        assert_ends(pid)
    assert_nothing_is_left(child)


def test_an_interrupt_ends_the_server_and_the_probe(tmp_path: Path) -> None:
    with Fifo(tmp_path / "bell") as bell:
        child = Scripted(tmp_path, {"initialize": [{"ring": bell.path}]})
        process = subprocess.Popen(
            [*LAUNCH, "probe", "--", *child.command],
            env=host_environment(),
            stdin=subprocess.DEVNULL,
            stdout=subprocess.PIPE,
            stderr=subprocess.PIPE,
        )
        bell.heard()
        process.send_signal(signal.SIGINT)
        output, errors = process.communicate(timeout=PATIENCE)
    assert (process.returncode, output, errors) == (128 + signal.SIGINT, b"", b"")
    assert_nothing_is_left(child)


# For people --------------------------------------------------------------------------------------


def seen(child: Scripted | list[str], *words: str) -> Said:
    return say("probe", *words, child=child)


def test_a_person_reads_who_the_server_is(tmp_path: Path) -> None:
    said = seen(rich(tmp_path))
    assert said.code == 3
    for line in (
        "verdict works; hosts of the other era need the bridge",
        "era legacy: it opens with the initialize handshake",
        "server rich 7 (The rich one)",
        "capabilities tools (listChanged), prompts, resources, logging, tasks",
        "versions 2025-06-18",
        "tools 2: one, two",
        "prompts none: no prompts today",
        "resources 1: a://b",
        "templates 1: a://{x}",
        "A modern host",
        "without the bridge does not work",
        "with the bridge works: translated",
        "A legacy host",
        "without the bridge works",
        "with the bridge works: lines pass as they are",
    ):
        assert line in said.lines
    assert "\x1b" not in said.stdout
    assert "start-up" in said.text() and "ms to its first answer" in said.text()
    assert "the tasks extension of 2026-07-28: not offered" in said.text()


@pytest.mark.parametrize(
    ("acts", "line"),
    [
        ([], "server/discover no answer"),
        ([{"exit": 4}], "server/discover exited with code 4 after"),
        ([{"error": NOT_FOUND}], "server/discover error -32601 after"),
    ],
)
def test_a_person_reads_how_it_took_the_probe(tmp_path: Path, acts: Acts, line: str) -> None:
    assert line in seen(Scripted(tmp_path, legacy(server_discover=acts)), *QUICK).text()


def test_a_person_reads_what_it_said_and_what_to_do(tmp_path: Path) -> None:
    start: Acts = [{"line": "Hello, [bold]user"}, {"stderr": "KeyError: 'KEY'\n"}, {"exit": 1}]
    child = Scripted(tmp_path, {}, start=start)
    said = seen(child)
    assert said.code == 7
    for line in (
        "verdict ends before it has answered",
        "why The server exited with code 1",
        "Hello, [bold]user",
        "stderr KeyError: 'KEY'",
    ):
        assert line in said.lines
    assert "What to do: mcp-bridge doctor -- " in said.text()


def test_a_terminal_that_knows_few_letters_is_enough(tmp_path: Path) -> None:
    named = {**INITIALIZED, "serverInfo": {"name": "caf\u00e9", "version": "1"}}
    child = Scripted(tmp_path, legacy(initialize=[{"result": named}]))
    said = say("probe", child=child, env=host_environment(PYTHONIOENCODING="ascii"))
    assert "server caf? 1" in said.lines


# What stands elsewhere too -----------------------------------------------------------------------


def test_what_is_said_to_be_lost_stands_in_the_readme() -> None:
    readme = " ".join(README.read_text(encoding="utf-8").replace("`", "").split())
    losses = [loss for era in Era for _, loss in LOST[era]]
    assert [loss.why for loss in losses if loss.why not in readme] == []


def test_the_outcomes_are_those_that_are_documented() -> None:
    text = (README.parent / "docs" / "diagnosis.md").read_text(encoding="utf-8")
    assert [each.value for each in Outcome if f'"{each.value}"' not in text] == []
