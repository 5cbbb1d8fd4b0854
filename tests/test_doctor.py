"""`mcp-bridge doctor`: every finding, provoked by a real server or a real installation.

Lives here: the findings, the verdicts, the report, its lines for people. Does not: how servers are
looked at (test_probe.py).
"""

import json
import os
import re
import shlex
import sys
import time
from pathlib import Path
from typing import cast

import pytest

from bridge_process import BridgeProcess, host_environment, is_left, modern_call
from children import DISCOVERED, INITIALIZED, NOT_FOUND, PROGRAM, Fifo, Scripted, legacy, modern
from diagnosis import QUICK, Said, say
from mcp_era_bridge import __version__
from mcp_era_bridge.missing_variables import missing_variables
from scripted_child import Acts

ROOT = Path(__file__).parent.parent
OWN = Path(sys.executable).parent
BARE = os.pathsep.join([str(OWN), "/usr/bin", "/bin"])
"""A PATH on which the bridge is found, and hardly anything else."""


class Place:
    """A folder with programs, caches, and the environment of somebody who uses them."""

    def __init__(self, folder: Path) -> None:
        self.folder = folder
        self.bin = folder / "bin"
        self.bin.mkdir()
        self.caches = folder / "caches"
        self.env = host_environment(PATH=BARE, XDG_CACHE_HOME=str(self.caches))
        for name in ("PYTHONPATH", "PYTHONUNBUFFERED"):
            self.env.pop(name, None)

    def with_programs(self) -> "Place":
        """The programs of the folder come first on the PATH."""
        self.env["PATH"] = f"{self.bin}{os.pathsep}{BARE}"
        return self

    def program(self, name: str, text: str) -> Path:
        file = self.bin / name
        file.write_text(text)
        file.chmod(0o755)
        return file

    def server(self, name: str, child: Scripted, *lines: str) -> Path:
        """A program that says `lines` of shell first, and is a scripted server."""
        command = shlex.join(child.command)
        return self.program(name, "\n".join(["#!/bin/sh", *lines, f"exec {command}", ""]))

    def python(self, text: str, name: str = "server.py") -> list[str]:
        """A server in Python, and the command that runs it."""
        file = self.folder / name
        file.write_text(text)
        return [sys.executable, str(file)]

    def examine(
        self,
        child: Scripted | list[str] | None = None,
        *words: str,
        host_path: str | None = None,
        cwd: Path | None = None,
    ) -> "Findings":
        path = host_path if host_path is not None else self.env["PATH"]
        said = say(
            *("doctor", "--json", "--host-path", path, *words), child=child, env=self.env, cwd=cwd
        )
        assert said.stderr == ""
        return Findings(said)


class Findings:
    """What a doctor has found."""

    def __init__(self, said: Said) -> None:
        self.report = said.json
        assert said.code == self.report["exit_code"]
        self.all = cast(list[dict[str, str]], self.report["findings"])

    @property
    def ids(self) -> list[str]:
        return [finding["id"] for finding in self.all]

    def __getitem__(self, id: str) -> dict[str, str]:
        found = [finding for finding in self.all if finding["id"] == id]
        assert len(found) == 1, self.all
        assert all(found[0][name] for name in ("seen", "why", "fix"))
        return found[0]


@pytest.fixture
def place(tmp_path: Path) -> Place:
    return Place(tmp_path)


# The installation --------------------------------------------------------------------------------


def test_a_good_installation_has_no_findings(place: Place) -> None:
    found = place.examine()
    assert found.report == {
        "format": 1,
        "bridge": __version__,
        "command": None,
        "server": None,
        "verdict": "healthy",
        "exit_code": 0,
        "findings": [],
    }


def test_bridge_that_is_not_on_the_path(place: Place) -> None:
    place.env["PATH"] = str(place.bin)
    found = place.examine()
    assert found["bridge_not_on_path"]["copy"] == str(OWN / "mcp-bridge")
    # It works all the same where the full path is written.
    assert (found.report["verdict"], found.report["exit_code"]) == ("healthy", 0)


def test_bridge_that_is_not_on_the_path_of_hosts(place: Place) -> None:
    found = place.examine(host_path=str(place.bin))
    assert found["bridge_not_on_host_path"]["copy"] == str(OWN / "mcp-bridge")


def test_another_distributions_bridge_that_is_first_on_the_path(place: Place) -> None:
    other = place.program("mcp-bridge", "#!/bin/sh\necho MCP to REST, 3.1\n")
    found = place.with_programs().examine()
    assert str(other) in found["another_mcp_bridge"]["seen"]
    assert found["another_mcp_bridge"]["weight"] == "problem"
    assert (found.report["verdict"], found.report["exit_code"]) == ("problems", 4)


def test_another_version_that_is_first_on_the_path(place: Place) -> None:
    place.program("mcp-bridge", "#!/bin/sh\necho mcp-bridge, version 0.0.1\n")
    found = place.with_programs().examine()
    assert "0.0.1" in found["another_version"]["seen"]


def test_the_same_version_elsewhere_is_no_finding(place: Place) -> None:
    place.program("mcp-bridge", f"#!/bin/sh\necho mcp-bridge, version {__version__}\n")
    assert place.with_programs().examine().ids == []


def remembered(place: Place, age: float = 0.0) -> Path:
    folder = place.caches / "mcp-bridge" / "eras"
    folder.mkdir(parents=True, exist_ok=True)
    file = folder / "a.json"
    file.write_text(
        json.dumps({"verdict": "silent", "date": time.time() - age, "server_info": None})
    )
    file.chmod(0o600)
    return file


def test_what_was_remembered_long_ago(place: Place) -> None:
    file = remembered(place, age=30 * 24 * 3600)
    found = place.examine()
    assert found["stale_cache"]["copy"] == f"rm -rf {file.parent}"
    assert (found["stale_cache"]["weight"], found.report["exit_code"]) == ("note", 0)


def test_what_others_can_write_is_not_trusted(place: Place) -> None:
    file = remembered(place)
    assert place.examine().ids == []
    file.chmod(0o666)
    assert str(file) in place.examine()["cache_not_trusted"]["seen"]


# The command -------------------------------------------------------------------------------------


@pytest.mark.parametrize(
    ("word", "fix"),
    [
        ("no-such-command", "write the full path of the program"),
        ("npx", "install Node.js, which brings it"),
        ("npx -y some-server", "write each word of the command as one of its own"),
        ("~/server", "write the path out: there is no shell that would replace ~ or $"),
    ],
)
def test_command_that_is_not_found(place: Place, word: str, fix: str) -> None:
    place.env["PATH"] = f"{OWN}{os.pathsep}{place.bin}"
    found = place.examine([word])
    assert found["command_not_found"]["fix"] == fix
    assert (found.report["exit_code"], found.report["server"]) == (4, None)


def test_command_that_a_host_with_a_bare_path_does_not_find(place: Place) -> None:
    child = Scripted(place.folder, legacy())
    program = place.server("weather", child)
    found = place.with_programs().examine(["weather", "--stdio"], host_path=BARE)
    assert found.ids == ["command_not_on_host_path"]
    assert found.all[0]["copy"] == f"{program} --stdio"
    assert found.report["exit_code"] == 3
    assert place.examine(["weather"], host_path=place.env["PATH"]).ids == []


def test_interpreter_that_a_host_with_a_bare_path_does_not_find(place: Place) -> None:
    child = Scripted(place.folder, legacy())
    place.server("somelang", child)
    program = place.program("weather", "#!/usr/bin/env somelang\n")
    found = place.with_programs().examine([str(program)], host_path=BARE)
    assert found["interpreter_not_on_host_path"]["copy"] == (
        f"mcp-bridge --env PATH={place.bin}{os.pathsep}{BARE} -- {program}"
    )
    assert found.report["server"] == "bridged"


def test_interpreter_that_is_not_there(place: Place) -> None:
    program = place.program("weather", "#!/usr/bin/env node-that-is-not-there\n")
    found = place.examine([str(program)])
    assert found["interpreter_not_found"]["fix"] == "install node-that-is-not-there"


def test_path_that_holds_only_here(place: Place) -> None:
    child = Scripted(place.folder, legacy())
    command = [sys.executable, "-IS", "server.py"]
    (place.folder / "server.py").write_text(
        f"import os\nos.execv({sys.executable!r}, {child.command!r})\n"
    )
    found = place.examine(command, cwd=place.folder)
    assert found.ids == ["relative_path"]
    assert found.all[0]["copy"] == f"{sys.executable} -IS {place.folder.resolve() / 'server.py'}"
    assert place.examine(command, "-C", str(place.folder)).ids == []


def test_script_that_is_not_there(place: Place) -> None:
    found = place.examine([sys.executable, "server.py"], cwd=place.folder)
    assert str(place.folder) in found["no_such_script"]["seen"]
    assert found.report["server"] == "exits"


@pytest.mark.parametrize(
    ("name", "says", "id"),
    [("node", "v16.20.2", "old_node"), ("python3", "Python 3.8.1", "old_python")],
)
def test_interpreter_that_is_too_old(place: Place, name: str, says: str, id: str) -> None:
    child = Scripted(place.folder, legacy())
    place.server(name, child, f'if [ "$1" = --version ]; then echo {says}; exit; fi')
    found = place.with_programs().examine([name, str(PROGRAM)])
    assert says.split()[-1].removeprefix("v").rpartition(".")[0] in found[id]["seen"]


def test_interpreter_that_is_new_enough_is_no_finding(place: Place) -> None:
    child = Scripted(place.folder, legacy())
    place.server("node", child, 'if [ "$1" = --version ]; then echo v22.1.0; exit; fi')
    assert place.with_programs().examine(["node", str(PROGRAM)]).ids == []


def shadow(place: Place, name: str) -> Path:
    folder = place.folder / "modules"
    folder.mkdir(exist_ok=True)
    file = folder / name
    file.write_text("raise ImportError('not this one')\n")
    place.env["PYTHONPATH"] = str(folder)
    return file


def test_pythonpath_that_shadows_modules_of_servers(place: Place) -> None:
    child = Scripted(place.folder, legacy())
    file = shadow(place, "mcp.py")
    command = [sys.executable, *child.command[3:]]
    found = place.examine(command)
    assert found.ids == ["pythonpath_shadows"]
    assert str(file) in found.all[0]["seen"]
    assert found.all[0]["copy"] == f"mcp-bridge --env PYTHONPATH= -- {shlex.join(command)}"
    assert place.examine(child).ids == [], "python -I heeds no variables"


def test_pythonpath_that_breaks_the_server(place: Place) -> None:
    child = Scripted(place.folder, legacy())
    shadow(place, "json.py")
    found = place.examine([sys.executable, *child.command[3:]])
    assert found.ids == ["pythonpath_breaks", "pythonpath_shadows"]
    assert "not this one" in found["pythonpath_breaks"]["seen"]
    assert found.report["exit_code"] == 4


def test_module_beside_the_script_that_stands_in_the_way(place: Place) -> None:
    (place.folder / "mcp.py").write_text("raise ImportError('not this one')\n")
    found = place.examine(place.python("import mcp\n"))
    assert str(place.folder / "mcp.py") in found["script_shadows"]["seen"]


def test_package_that_is_fetched_first(place: Place) -> None:
    child = Scripted(place.folder, legacy())
    place.server("npx", child)
    found = place.with_programs().examine(["npx", "-y", "some-server"])
    assert found.ids == ["cold_start"]
    assert "started again" in found.all[0]["seen"]
    assert found.all[0]["copy"] == "npx -y some-server"
    assert found.report["exit_code"] == 0


# The running server ------------------------------------------------------------------------------


def test_a_good_server_has_no_findings(place: Place) -> None:
    child = Scripted(place.folder, {**legacy(), **modern()})
    found = place.examine(child)
    assert (found.ids, found.report["server"], found.report["exit_code"]) == ([], "works", 0)
    assert len(child.pids) == 3
    assert [pid for pid in child.pids if is_left(pid)] == []


def test_banner_on_stdout(place: Place) -> None:
    child = Scripted(place.folder, legacy(), start=[{"line": "Welcome!"}])
    found = place.examine(child)
    assert found.ids == ["stdout_noise"]
    assert "'Welcome!'" in found.all[0]["seen"]
    assert (found.report["server"], found.report["exit_code"]) == ("bridged", 3)


def test_banner_of_a_package_manager(place: Place) -> None:
    child = Scripted(place.folder, legacy(), start=[{"line": "> server@1.0.0 start"}])
    place.server("npm", child)
    found = place.with_programs().examine(["npm", "start"])
    assert found["stdout_noise"]["copy"] == "npm --silent start"


BUFFERED = f"""
import json, sys
for line in sys.stdin:
    request = json.loads(line)
    if request.get("method") == "initialize":
        print(json.dumps({{"jsonrpc": "2.0", "id": request["id"], "result": {INITIALIZED!r}}}))
    elif "id" in request:
        error = {{"code": -32601, "message": "Method not found"}}
        print(json.dumps({{"jsonrpc": "2.0", "id": request["id"], "error": error}}))
"""


def test_python_that_does_not_flush_its_stdout(place: Place) -> None:
    command = place.python(BUFFERED)
    found = place.examine(command, *QUICK)
    assert found.ids == ["buffered_stdout"]
    assert found.all[0]["copy"] == (f"mcp-bridge --env PYTHONUNBUFFERED=1 -- {shlex.join(command)}")
    assert (found.report["server"], found.report["exit_code"]) == ("silent", 4)
    assert place.examine(command, *QUICK, "--env", "PYTHONUNBUFFERED=1").ids == []


def test_program_that_does_not_flush_its_stdout(place: Place) -> None:
    python, file = place.python(BUFFERED)
    found = place.examine([python, "-I", file], *QUICK)
    assert found.ids == ["buffered_stdout"]
    assert "once its stdin has been closed" in found.all[0]["seen"]
    assert found.all[0]["copy"].startswith("stdbuf -oL ")


def test_server_that_exits_on_the_probe(place: Place) -> None:
    child = Scripted(place.folder, legacy(server_discover=[{"exit": 4}]))
    found = place.examine(child)
    assert found.ids == ["exits_on_probe"]
    assert "exited with code 4" in found.all[0]["seen"]
    assert found.all[0]["copy"] == f"mcp-bridge --era legacy -- {shlex.join(child.command)}"


LOCKED = f"""
import json, sys
probed = False
for line in sys.stdin:
    request = json.loads(line)
    if request.get("method") == "server/discover":
        probed = True
    elif probed:
        sys.exit(5)
    elif request.get("method") == "initialize":
        answer = {{"jsonrpc": "2.0", "id": request["id"], "result": {INITIALIZED!r}}}
        print(json.dumps(answer), flush=True)
    elif "id" in request:
        error = {{"code": -32601, "message": "Method not found"}}
        print(json.dumps({{"jsonrpc": "2.0", "id": request["id"], "error": error}}), flush=True)
"""


def test_server_that_exits_on_what_follows_the_probe(place: Place) -> None:
    found = place.examine(place.python(LOCKED), *QUICK)
    assert found.ids == ["exits_on_probe"]
    assert "unanswered, and exited with code 5" in found.all[0]["seen"]


def test_server_that_is_silent_on_the_probe(place: Place) -> None:
    child = Scripted(place.folder, legacy(server_discover=[]))
    assert place.examine(child, *QUICK).ids == ["silent_on_probe"]


@pytest.mark.parametrize(
    "text",
    [
        "import os\nos.environ['WEATHER_KEY']\n",
        "import sys\nsys.exit('Error: WEATHER_KEY environment variable is required')\n",
        "import sys\nsys.exit('Please set $WEATHER_KEY, see the manual')\n",
    ],
)
def test_server_that_misses_a_variable(place: Place, text: str) -> None:
    command = place.python(text)
    found = place.examine(command)
    assert found.ids == ["missing_environment"]
    assert "WEATHER_KEY" in found.all[0]["seen"]
    assert found.all[0]["copy"] == f"mcp-bridge --env WEATHER_KEY=... -- {shlex.join(command)}"
    assert (found.report["server"], found.report["exit_code"]) == ("exits", 4)


def test_server_that_misses_a_variable_only_where_the_host_starts_it(place: Place) -> None:
    child = Scripted(place.folder, legacy())
    program = place.server("weather", child, ': "${WEATHER_KEY:?is not set}"')
    place.env["WEATHER_KEY"] = "12345678"
    found = place.examine([str(program)])
    assert found.ids == ["missing_environment"]
    assert (found.all[0]["weight"], found.report["server"]) == ("warning", "bridged")
    assert place.examine([str(program)], "--env", "WEATHER_KEY=1").ids == []


def test_server_that_does_not_work_where_the_host_starts_it(place: Place) -> None:
    child = Scripted(place.folder, legacy())
    refusal = '[ -n "$WEATHER" ] || { echo not like this >&2; exit 1; }'
    program = place.server("weather", child, refusal)
    place.env["WEATHER"] = "fine"
    found = place.examine([str(program)])
    assert found.ids == ["host_environment"]
    assert "not like this" in found.all[0]["seen"]


def test_server_that_is_remembered_as_what_it_was(place: Place) -> None:
    child = Scripted(place.folder, legacy(server_discover=[]))
    place.examine(child, *QUICK)
    assert not place.caches.exists(), "nothing is remembered by looking"
    with BridgeProcess(child, "--probe-timeout", "0.3", cache=True, env=place.env) as bridge:
        bridge.result(modern_call(1))
        bridge.end()
    (file,) = (place.caches / "mcp-bridge" / "eras").iterdir()
    child.change(legacy())
    found = place.examine(child)
    assert found.ids == ["stale_cache"]
    assert found.all[0]["copy"] == f"rm {file}"


def test_server_that_exits_at_once(place: Place) -> None:
    child = Scripted(place.folder, {}, start=[{"stderr": "no licence\n"}, {"exit": 3}])
    found = place.examine(child)
    assert found.ids == ["exits_at_once"]
    assert "exited with code 3" in found.all[0]["seen"]
    assert "no licence" in found.all[0]["seen"]


def test_server_that_does_not_understand_its_arguments(place: Place) -> None:
    start: Acts = [{"stderr": "usage: server [--port N]\n"}, {"exit": 2}]
    found = place.examine(Scripted(place.folder, {}, start=start))
    assert found.ids == ["wrong_arguments"]


def test_server_of_http(place: Place) -> None:
    start: Acts = [{"line": "Serving on http://127.0.0.1:8000"}]
    child = Scripted(place.folder, {}, start=start)
    found = place.examine(child)
    assert found.ids == ["no_stdio", "stdout_noise"]


def test_program_that_is_no_server(place: Place) -> None:
    found = place.examine(["cat"], *QUICK)
    assert found.ids == ["no_mcp_server"]
    assert found.report["server"] == "no_mcp"


def test_program_that_says_nothing(place: Place) -> None:
    child = Scripted(place.folder, {"initialize": [], "server/discover": []})
    assert place.examine(child, *QUICK).ids == ["silent"]


def test_server_of_a_version_that_is_not_known(place: Place) -> None:
    future: Acts = [{"result": {**DISCOVERED, "supportedVersions": ["2099-01-01"]}}]
    found = place.examine(Scripted(place.folder, modern(server_discover=future)))
    assert found.ids == ["unknown_version"]
    assert "2099-01-01" in found.all[0]["seen"]


def test_program_that_cannot_be_run(place: Place) -> None:
    program = place.folder / "server"
    program.write_bytes(b"\x7fELF\0\0\0")
    program.chmod(0o755)
    found = place.examine([str(program)])
    assert found.ids == ["cannot_be_started"]
    assert found.report["server"] == "not_started"


def test_server_that_starts_slowly(place: Place) -> None:
    # It answers initialize only when it has been asked something else meanwhile.
    with Fifo(place.folder / "bell") as bell:
        late: Acts = [{"aside": [{"wait": bell.path}, {"result": INITIALIZED}]}]
        refused: Acts = [{"ring": bell.path}, {"error": NOT_FOUND}]
        child = Scripted(place.folder, legacy(initialize=late, server_discover=refused))
        found = place.examine(child, "--probe-timeout", "0.3")
        assert (found.ids, found.report["server"]) == (["slow_start"], "bridged")
        place.server("uvx", child)
        found = place.with_programs().examine(["uvx", "server"], "--probe-timeout", "0.3")
    assert (found.ids, found.all[0]["weight"]) == (["cold_start"], "warning")


# Names of variables ------------------------------------------------------------------------------


@pytest.mark.parametrize(
    ("line", "names"),
    [
        ("KeyError: 'HOME_TOWN'", ["HOME_TOWN"]),
        ("KeyError: 'name'", []),
        ("Missing required environment variables: A_KEY, B_KEY", ["A_KEY", "B_KEY"]),
        ("sh: 1: A_KEY: is not set", ["A_KEY"]),
        ("Error: ${A_KEY} must be set", ["A_KEY"]),
        ("code: 'ERR_MODULE_NOT_FOUND', required by", []),
        ("SET_ALREADY is required", []),
        ("connected to A_KEY", []),
    ],
)
def test_a_variable_is_known_by_the_complaint(line: str, names: list[str]) -> None:
    assert missing_variables([line], {"SET_ALREADY": ""}) == names


# The report --------------------------------------------------------------------------------------


def test_every_field_of_a_finding(place: Place) -> None:
    found = place.examine(Scripted(place.folder, legacy(), start=[{"line": "Welcome!"}]))
    assert found.all == [
        {
            "id": "stdout_noise",
            "weight": "warning",
            "seen": "on stdout there is a line that is no message: 'Welcome!'",
            "why": "stdout is for messages only; the bridge takes such lines out, many hosts give"
            " up",
            "fix": "write it to stderr: print(..., file=sys.stderr), console.error(...)",
            "copy": None,
        }
    ]


def test_a_person_reads_what_to_do(place: Place) -> None:
    child = Scripted(place.folder, legacy(server_discover=[{"exit": 4}]))
    said = say("doctor", "--host-path", BARE, child=child, env=place.env)
    command = shlex.join(child.command)
    assert said.code == 3
    for line in (
        "warning: exits_on_probe",
        "seen asked server/discover first, the server exited with code 4",
        "do put the bridge in front of it; --era legacy spares it the question",
    ):
        assert line in said.lines
    assert f"copy mcp-bridge --era legacy -- {command}" in said.lines, "in one piece"
    assert said.text().endswith(f"{command}: 1 warning; the server: bridged")


def test_a_person_reads_that_nothing_was_found(place: Place) -> None:
    said = say("doctor", "--host-path", BARE, env=place.env)
    assert (said.code, said.lines) == (0, ["the installation: nothing found"])


def test_help_shows_examples_and_exit_codes() -> None:
    said = say("doctor", "--help")
    assert said.code == 0
    assert "mcp-bridge doctor -- npx -y some-server" in said.lines
    assert "4 problems: it cannot work like this" in said.lines


def test_every_finding_is_documented_and_provoked_here() -> None:
    sources = (ROOT / "bridge" / "mcp_era_bridge").glob("doctor_*.py")
    text = "".join(file.read_text(encoding="utf-8") for file in sources)
    ids = {*re.findall(r'Finding\(\s*"([a-z_]+)"', text), "old_node", "old_python"}
    documented = (ROOT / "docs" / "diagnosis.md").read_text(encoding="utf-8")
    here = Path(__file__).read_text(encoding="utf-8")
    assert len(ids) > 25
    assert [id for id in sorted(ids) if f"| `{id}` |" not in documented] == []
    assert [id for id in sorted(ids) if f'"{id}"' not in here] == []
