"""What surrounds the two processes: modules, variables, folders, descriptors, signals, stderr.

The host configures the server, not the bridge in front of it: what it sets must reach the child as
it is and must not disturb the bridge. Design of the bridge: child process; dirty input.
"""

import os
import re
import shutil
import signal
import subprocess
import sys
import sysconfig
import venv
from pathlib import Path
from typing import cast

import pytest

from bridge_process import LAUNCH, BridgeProcess, host_environment, modern_call, modern_request
from children import PATIENCE, Fifo, Scripted, legacy
from scripted_child import Acts, Object

ROOT = Path(__file__).resolve().parent.parent
on_linux = pytest.mark.skipif(sys.platform != "linux", reason="reads /proc")

HOSTILE = ("trio", "selectors", "msgspec", "click", "structlog", "re", "platformdirs", "signal")
HOSTILE_PACKAGES = ("mcp_era_wire", "mcp_era_legacy", "json")


def hostile_folder(folder: Path) -> Path:
    """A folder like that of a server which names its modules as ours and the library's."""
    folder.mkdir()
    says = "raise SystemExit('the wrong module was imported: ' + __file__)\n"
    for name in HOSTILE:
        (folder / f"{name}.py").write_text(says)
    for name in HOSTILE_PACKAGES:
        (folder / name).mkdir()
        (folder / name / "__init__.py").write_text(says)
    return folder


def start_of(child: Scripted) -> Object:
    """How the child's only process was started."""
    (start,) = child.entries("start")
    return start


def environment_of(child: Scripted) -> dict[str, str]:
    return cast(dict[str, str], start_of(child)["environment"])


def serve_one(bridge: BridgeProcess) -> None:
    """The whole of the bridge is used: a call, a note on stderr, the end."""
    assert bridge.result(modern_call(1, a=1))["structuredContent"] == {"a": 1}
    bridge.end()


# Modules ----------------------------------------------------------------------------------------

LAUNCHES = pytest.mark.parametrize("launched", ["as command", "by python -m"])


@pytest.fixture(scope="module")
def installed(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """A Python with the bridge installed as a wheel would be.

    What makes a checkout importable runs code of its own while Python starts, before any of ours.
    """
    folder = tmp_path_factory.mktemp("installed")
    venv.create(folder, symlinks=True, with_pip=False)
    library = Path(sysconfig.get_path("purelib", "venv", {"base": str(folder)}))
    for place in ("bridge/mcp_era_bridge", "legacy/mcp_era_legacy", "modern/mcp_era_modern"):
        shutil.copytree(ROOT / place, library / Path(place).name)
    shutil.copytree(ROOT / "modern/mcp_era_wire", library / "mcp_era_wire")
    ours = {sysconfig.get_path("purelib"), sysconfig.get_path("platlib")}
    (library / "dependencies.pth").write_text("".join(f"{path}\n" for path in sorted(ours)))
    command = folder / "bin" / "mcp-bridge"
    command.write_text(
        f"#!{folder}/bin/python\n"
        "import sys\nfrom mcp_era_bridge.entry import main\nsys.exit(main())\n"
    )
    command.chmod(0o755)
    return folder / "bin"


def launch(installed: Path, launched: str) -> list[str]:
    if launched == "as command":
        return [str(installed / "mcp-bridge")]
    return [str(installed / "python"), "-m", "mcp_era_bridge"]


@LAUNCHES
@pytest.mark.parametrize("via", ["{}", ":{}:relative/folder"])
def test_modules_on_the_hosts_pythonpath_are_not_taken_for_ours(
    tmp_path: Path, installed: Path, launched: str, via: str
) -> None:
    pythonpath = via.format(hostile_folder(tmp_path / "hostile"))
    child = Scripted(tmp_path, legacy())
    env = host_environment(PYTHONPATH=pythonpath)
    command = launch(installed, launched)
    with BridgeProcess(child, "--log-level", "info", env=env, launch=command) as bridge:
        serve_one(bridge)
        assert "eras settled" in bridge.stderr
    assert environment_of(child)["PYTHONPATH"] == pythonpath


@LAUNCHES
@pytest.mark.parametrize("pythonpath", ["", ".", "hostile"])
def test_modules_in_the_hosts_folder_are_not_taken_for_ours(
    tmp_path: Path, installed: Path, launched: str, pythonpath: str
) -> None:
    hostile = hostile_folder(tmp_path / "hostile")
    child = Scripted(tmp_path, legacy())
    env = host_environment(PYTHONPATH=pythonpath)
    command = launch(installed, launched)
    with BridgeProcess(
        child, "--log-level", "info", cwd=hostile, env=env, launch=command
    ) as bridge:
        serve_one(bridge)
        assert "eras settled" in bridge.stderr
    assert start_of(child)["cwd"] == str(hostile)


def test_modules_in_the_servers_folder_are_not_taken_for_ours(tmp_path: Path) -> None:
    hostile = hostile_folder(tmp_path / "hostile")
    child = Scripted(tmp_path, legacy())
    with BridgeProcess(child, "--log-level", "info", "-C", str(hostile)) as bridge:
        serve_one(bridge)
        assert "eras settled" in bridge.stderr
    assert start_of(child)["cwd"] == str(hostile)


@LAUNCHES
def test_help_is_not_disturbed_by_modules_of_the_host(
    tmp_path: Path, installed: Path, launched: str
) -> None:
    hostile = hostile_folder(tmp_path / "hostile")
    done = subprocess.run(
        [*launch(installed, launched), "--help"],
        env=host_environment(PYTHONPATH=str(hostile)),
        cwd=hostile,
        capture_output=True,
        text=True,
        timeout=PATIENCE,
    )
    assert (done.returncode, done.stderr) == (0, "")


# Variables, folders, arguments ------------------------------------------------------------------


def test_the_childs_environment_is_the_hosts_without_our_variables(tmp_path: Path) -> None:
    env = {
        "PATH": os.environ["PATH"],
        "LC_ALL": "C.UTF-8",
        "HOME": "/nowhere at all",
        "PYTHONPATH": "lib:/opt/server",
        "PYTHONSTARTUP": "x",
        "EMPTY": "",
        "UMLAUT": "größe",
        "NOT_UTF8": os.fsdecode(b"\xff\xfe"),
        "MULTILINE": "a\nb=c",
        "lower case": "odd name",
        "MCP_SERVER_KEY": "kept",
        "MY_MCP_BRIDGE_X": "kept",
    }
    ours = {"MCP_BRIDGE_LOG_LEVEL": "info", "MCP_BRIDGE_UNKNOWN": "1", "MCP_BRIDGE_ERA": "auto"}
    child = Scripted(tmp_path, legacy())
    with BridgeProcess(child, env={**env, **ours}) as bridge:
        serve_one(bridge)
        assert "eras settled" in bridge.stderr
    assert environment_of(child) == env


@on_linux
def test_a_host_without_a_locale_gets_none_from_us(tmp_path: Path) -> None:
    # Python sets LC_CTYPE for itself and what it starts when it finds the C locale.
    env = {"PATH": os.environ["PATH"]}
    child = Scripted(tmp_path, legacy())
    with BridgeProcess(child, env=env) as bridge:
        serve_one(bridge)
    assert environment_of(child) == env


def test_env_adds_to_the_childs_environment_and_wins(tmp_path: Path) -> None:
    env = host_environment(KEPT="1", CHANGED="old")
    options = ["--env", "CHANGED=new", "--env=ADDED=a=b c", "--env", "EMPTY="]
    child = Scripted(tmp_path, legacy())
    with BridgeProcess(child, *options, env=env) as bridge:
        serve_one(bridge)
    seen = environment_of(child)
    assert [seen[name] for name in ("KEPT", "CHANGED", "ADDED", "EMPTY")] == [
        *("1", "new", "a=b c", "")
    ]


def test_the_path_in_env_is_where_the_command_is_looked_for(tmp_path: Path) -> None:
    child = Scripted(tmp_path, legacy())
    server = tmp_path / "only-here"
    server.write_text('#!/bin/sh\nexec "$@"\n')
    server.chmod(0o755)
    path = f"PATH={tmp_path}{os.pathsep}{os.environ['PATH']}"
    with BridgeProcess(["only-here", *child.command], "--env", path) as bridge:
        serve_one(bridge)
    assert len(child.pids) == 1


def test_arguments_reach_the_child_as_they_are(tmp_path: Path) -> None:
    child = Scripted(tmp_path, legacy())
    child.arguments = [
        *("", " ", "a b", "*", "$HOME", "`id`", '"quoted"', "back\\slash", "new\nline", "größe"),
        *(os.fsdecode(b"\xff"), "--", "--help", "--era", "-C", "demo", "=", "-", "--no-cache"),
    ]
    with BridgeProcess(child) as bridge:
        serve_one(bridge)
    assert cast(list[str], start_of(child)["argv"])[2:] == child.arguments


def test_the_childs_working_directory_is_the_hosts(tmp_path: Path) -> None:
    folder = tmp_path / "a folder"
    folder.mkdir()
    child = Scripted(tmp_path, legacy())
    with BridgeProcess(child, cwd=folder) as bridge:
        serve_one(bridge)
    assert start_of(child)["cwd"] == str(folder)


@pytest.mark.parametrize("option", [["-C"], ["--cwd"]])
def test_cwd_is_relative_to_the_hosts_and_holds_for_a_relative_command(
    tmp_path: Path, option: list[str]
) -> None:
    (tmp_path / "inner").mkdir()
    server = tmp_path / "inner" / "server"
    server.write_text('#!/bin/sh\nexec "$@"\n')
    server.chmod(0o755)
    child = Scripted(tmp_path, legacy(tools_list=[{"exit": 1}]))
    command = ["./server", *child.command]
    with BridgeProcess(command, *option, "inner", cwd=tmp_path) as bridge:
        bridge.error(modern_request(1, "tools/list"))
        bridge.result(modern_call(2))
        bridge.end()
    assert [start["cwd"] for start in child.entries("start")] == [str(tmp_path / "inner")] * 2


# Descriptors and signals ------------------------------------------------------------------------


@on_linux
def test_the_child_has_no_descriptors_but_its_three(tmp_path: Path) -> None:
    child = Scripted(tmp_path, legacy(tools_list=[{"exit": 1}]))
    with BridgeProcess(child) as bridge:
        bridge.error(modern_request(1, "tools/list"))
        bridge.result(modern_call(2))
        bridge.end()
    assert [start["descriptors"] for start in child.entries("start")] == [[0, 1, 2]] * 2


@pytest.mark.parametrize("closed", ["0<&-", "2>&-"])
def test_a_descriptor_that_the_host_closed_is_not_mistaken_for_a_pipe(
    tmp_path: Path, closed: str
) -> None:
    child = Scripted(tmp_path, legacy())
    line = b'{"jsonrpc": "2.0", "id": 1, "method": "ping"}\n' if "2" in closed else b""
    command = [sys.executable, "-m", "mcp_era_bridge", "--no-cache", "--", *child.command]
    done = subprocess.run(
        ["sh", "-c", f'exec "$@" {closed}', "sh", *command],
        input=line,
        capture_output=True,
        timeout=PATIENCE,
    )
    assert (done.returncode, done.stderr) == (0, b"")
    assert done.stdout.startswith(b'{"jsonrpc":"2.0","id":1,"result"' if line else b"")
    assert start_of(child)["descriptors"] == [0, 1, 2]


@on_linux
def test_the_childs_signals_have_their_default_action(tmp_path: Path) -> None:
    # Not with the scripted child: Python itself ignores SIGPIPE.
    found = tmp_path / "signals"
    server = ["sh", "-c", f'grep -E "^Sig(Ign|Blk)" /proc/self/status >>"{found}"']
    subprocess.run(server, check=True, timeout=PATIENCE)
    with BridgeProcess(server) as bridge:
        bridge.error(modern_call(1))
        bridge.end()
    # Signals 32 and above: posix_spawn leaves two that are the C library's own ignored.
    told = [int(mask, 16) & 0x7FFF_FFFF for mask in re.findall(r":\s*(\S+)", found.read_text())]
    # Without us, in the first process, and in a later one, which is not started in the same way.
    assert len(told) >= 6
    assert told == told[:2] * (len(told) // 2)
    assert told[1] & 1 << (signal.SIGPIPE - 1) == 0


@on_linux
def test_the_child_leads_a_process_group_of_its_own(tmp_path: Path) -> None:
    with Fifo(tmp_path / "gate") as gate:
        waits: Acts = [{"aside": [{"wait": gate.path}, {"result": {}}]}]
        child = Scripted(tmp_path, legacy(tools_list=waits))
        with BridgeProcess(child) as bridge:
            bridge.result(modern_call(1))
            (pid,) = child.pids
            assert os.getpgid(pid) == pid
            gate.open()
            bridge.result(modern_request(2, "tools/list"))
            bridge.end()


# stderr and stray output -------------------------------------------------------------------------


@pytest.mark.clause("C-37")
def test_the_childs_stderr_passes_through_as_it_is(tmp_path: Path) -> None:
    says = "\x1b[31mred\x1b[0m größe\n\ttab\r\n"
    child = Scripted(tmp_path, legacy(), start=[{"stderr": says}], end=[{"stderr": "bye"}])
    with BridgeProcess(child) as bridge:
        serve_one(bridge)
        assert bridge.stderr == says + "bye"


def test_a_flood_on_stderr_that_nobody_reads_does_not_block_calls(tmp_path: Path) -> None:
    flood: Acts = [{"flood stderr": 4 << 20}, {"result": {"content": []}}]
    child = Scripted(tmp_path, legacy(tools_call=flood))
    with BridgeProcess(child, read_stderr=False) as bridge:
        for id in range(3):
            bridge.result(modern_call(id))
        bridge.end()


def test_what_is_dropped_of_stderr_is_counted(tmp_path: Path) -> None:
    more: Acts = [{"flood stderr": 1 << 16}, {"result": {"content": []}}]
    flood: Acts = [{"flood stderr": 4 << 20}, {"result": {"content": []}}]
    child = Scripted(tmp_path, legacy(tools_call=flood, tools_list=more), end=[{"stderr": "bye"}])
    with BridgeProcess(child, read_stderr=False) as bridge:
        bridge.result(modern_call(1))
        bridge.start_reading_stderr()
        bridge.result(modern_request(2, "tools/list"))
        bridge.end()
        said = bridge.stderr
    note = r"mcp-bridge: (\d+) bytes of stderr were dropped\n"
    dropped = [int(count) for count in re.findall(note, said)]
    assert dropped
    passed = re.sub(note, "", said)
    assert passed.endswith("bye")
    assert len(passed) + sum(dropped) == (4 << 20) + (1 << 16) + len("bye")


@pytest.mark.parametrize("era", ["modern", "legacy"])
def test_lines_that_are_no_message_go_to_stderr_marked(tmp_path: Path, era: str) -> None:
    noise = ["Starting server on stdio...", '{"level": "info"}', "42", "{broken", "größe"]
    acts: Acts = [{"line": line} for line in noise]
    answer: Acts = [*acts, {"result": {"content": []}}]
    child = Scripted(tmp_path, legacy(tools_call=answer), start=acts)
    with BridgeProcess(child, "--era", era) as bridge:
        bridge.result(modern_call(1))
        bridge.end()
        for line in noise:
            assert bridge.stderr.count(f"mcp-bridge: not a message: {line}\n") == 2
        assert [message["id"] for message in bridge.messages] == [1]


def test_many_lines_that_are_no_message_are_counted(tmp_path: Path) -> None:
    acts: Acts = [{"line": f"chatter {number}"} for number in range(1000)]
    child = Scripted(tmp_path, legacy(), start=acts)
    with BridgeProcess(child) as bridge:
        serve_one(bridge)
        assert bridge.stderr.count("not a message: chatter") == 20
        assert "980 more" in bridge.stderr


def test_bytes_that_are_no_message_at_the_end_of_output_do_not_reach_the_host(
    tmp_path: Path,
) -> None:
    acts: Acts = [{"bytes": "half a line\xff"}, {"exit": 0}]
    child = Scripted(tmp_path, legacy(tools_list=acts))
    with BridgeProcess(child) as bridge:
        bridge.error(modern_request(1, "tools/list"))
        bridge.said("half a line")
        bridge.end()


def test_an_answer_in_a_batch_is_unwrapped_for_a_modern_host(tmp_path: Path) -> None:
    child = Scripted(tmp_path, legacy(tools_call=[{"batch": {"content": []}}]))
    with BridgeProcess(child) as bridge:
        assert bridge.result(modern_call(1))["content"] == []
        bridge.end()


def test_an_answer_without_a_line_feed_at_the_end_of_output_arrives(tmp_path: Path) -> None:
    line = '{"jsonrpc": "2.0", "id": 1, "result": {"content": [], "resultType": "complete"}}'
    child = Scripted(tmp_path, {"tools/call": [{"bytes": line}, {"exit": 0}]})
    with BridgeProcess(child, "--era", "modern") as bridge:
        assert bridge.result(modern_call(1))["content"] == []
        bridge.end()


def test_a_working_directory_that_is_gone_keeps_nobody_from_starting(tmp_path: Path) -> None:
    gone = tmp_path / "gone"
    gone.mkdir()
    leave = ["sh", "-c", 'cd "$0" && rmdir "$0" && exec "$@"', str(gone)]
    with BridgeProcess(Scripted(tmp_path, legacy()), launch=[*leave, *LAUNCH]) as bridge:
        bridge.result(modern_call(1))
        bridge.end()
