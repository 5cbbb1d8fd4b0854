"""The bridge is known in a command line, however it got there."""

import os
import shlex
import tempfile
from pathlib import Path

import pytest

from mcp_era_bridge.config_bridge import NoBridge, check_options, doubt, find, own_command

# The command line, and what is left of it without the bridge.
WRAPPED = {
    "mcp-bridge -- x y": "x y",
    "mcp-bridge x y": "x y",
    "/opt/bin/mcp-bridge -- x": "x",
    "mcp-bridge.exe -- x": "x",
    "'C:\\Program Files\\b\\MCP-Bridge.EXE' -- x": "x",
    "mcp-bridge --era legacy -- x": "x",
    "mcp-bridge --era=legacy --no-cache -C /tmp -C/tmp --env A=1 -- x --era": "x --era",
    "mcp-bridge -- npx -- x": "npx -- x",
    "mcp-bridge -- mcp-bridge -- x": "mcp-bridge -- x",
    "mcp-bridge -- config": "config",
    "python -m mcp_era_bridge -- x": "x",
    "/opt/python3.12 -I -X dev -W error -m mcp_era_bridge --era modern -- x": "x",
    "python3.13t -mmcp_era_bridge x": "x",
    "py.exe -3 -m mcp_era_bridge -- x": "x",
    "uvx --from mcp-era-bridge mcp-bridge -- x": "x",
    "uv tool run --from mcp-era-bridge mcp-bridge -- x": "x",
    "uv tool run --from=mcp_era_bridge[all]>=1 mcp-bridge -- x": "x",
    "uvx --python 3.12 --from mcp-era-bridge@1.0 mcp-bridge x": "x",
    "uvx --from /home/u/mcp-bridge mcp-bridge x": "x",
    "uvx --from git+https://example.com/b.git mcp-bridge x": "x",
    "uv run --directory /home/u/mcp-bridge mcp-bridge x": "x",
    "pipx run --spec mcp-era-bridge mcp-bridge --era=legacy -- x": "x",
    "pipx run --spec . mcp-bridge x": "x",
    "cmd /c mcp-bridge -- npx x": "cmd /c npx x",
    "cmd.exe /C mcp-bridge -- npx x": "cmd.exe /C npx x",
    "env A=1 B=2 mcp-bridge -- x": "env A=1 B=2 x",
}
PLAIN = [
    "npx -y mcp-bridge-server",
    "npx mcp-bridge",
    "/opt/my-mcp-bridge -- x",
    "python -m other mcp_era_bridge",
    "python server.py -m mcp_era_bridge",
    "python -c 1",
    "python -m",
    "uvx mcp-server-time",
    "uvx mcp-bridge -- x",
    "uvx --with mcp-era-bridge mcp-bridge -- x",
    "uvx --from mcp-bridge mcp-bridge -- x",
    "uvx --from",
    "uv tool run mcp-bridge x",
    "pipx run mcp-bridge x",
    "pipx run --spec=mcp-bridge mcp-bridge x",
    "uvx mcp-server -- mcp-bridge",
    "cmd /c npx x",
    "cmd /c",
    "env A=1",
    "env -i mcp-bridge x",
]
BROKEN = {
    "mcp-bridge": "no server's command follows",
    "mcp-bridge --": "no server's command follows",
    "mcp-bridge --era": "no server's command follows",
    "mcp-bridge --ear x -- y": "no option --ear",
    "mcp-bridge config list": "sub-command 'config'",
    "python -m mcp_era_bridge demo": "sub-command 'demo'",
}


@pytest.mark.parametrize("line", WRAPPED)
def test_the_bridge_is_seen_and_where_the_server_begins(line: str) -> None:
    argv = shlex.split(line)
    found = find(argv)
    assert found is not None
    assert found.problem is None
    assert argv[: found.bridge] + argv[found.server :] == shlex.split(WRAPPED[line])


@pytest.mark.parametrize("line", PLAIN)
def test_what_is_not_the_bridge_is_not_taken_for_it(line: str) -> None:
    assert find(shlex.split(line)) is None


def test_no_command_is_no_bridge() -> None:
    assert find([]) is None


@pytest.mark.parametrize("line", BROKEN)
def test_a_bridge_that_would_not_start_says_why(line: str) -> None:
    found = find(shlex.split(line))
    assert found is not None
    assert BROKEN[line] in (found.problem or "")


@pytest.mark.parametrize(
    ("words", "problem"),
    [
        ([], None),
        (["--era=legacy", "--no-cache"], None),
        (["--era", "legacy"], None),
        (["-C", "/tmp"], None),
        (["--ear=legacy"], "No such option: --ear"),
        (["--era=future"], "'future' is none of"),
        (["legacy"], "'legacy' is no option"),
        (["--no-cache", "legacy"], "'legacy' is no option"),
        (["--"], "'--' is no option"),
        (["--era"], "--era needs a value"),
        (["demo"], "starts no server"),
        (["--version"], "starts no server"),
    ],
)
def test_options_for_servers_are_checked(words: list[str], problem: str | None) -> None:
    found = check_options(words)
    assert (found is None) == (problem is None)
    assert problem is None or problem in str(found)


def program(folder: Path, name: str = "mcp-bridge") -> str:
    folder.mkdir(parents=True, exist_ok=True)
    path = folder / name
    path.write_text("#!/bin/sh\n")
    path.chmod(0o755)
    return str(path)


def test_the_full_path_is_written_and_not_what_it_links_to(tmp_path: Path) -> None:
    real = program(tmp_path / "venv" / "bin")
    link = tmp_path / "bin" / "mcp-bridge"
    link.parent.mkdir()
    link.symlink_to(real)
    assert own_command(str(link)) == [str(link)]


def test_a_name_is_looked_up(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    path = program(tmp_path)
    monkeypatch.setenv("PATH", str(tmp_path))
    assert own_command("mcp-bridge") == [path]


def test_without_a_command_it_is_that_beside_python(tmp_path: Path) -> None:
    python = program(tmp_path, "python")
    module = os.path.join("somewhere", "__main__.py")
    assert own_command(module, python) == [python, "-m", "mcp_era_bridge"]
    path = program(tmp_path)
    assert own_command(module, python) == [path]


@pytest.mark.parametrize("folder", ["uv/archive-v0/x/bin", "pipx/.cache/x/bin"])
def test_a_temporary_installation_is_refused(tmp_path: Path, folder: str) -> None:
    path = program(tmp_path / folder)
    with pytest.raises(NoBridge) as caught:
        own_command(path)
    assert "--bridge" in str(caught.value)


@pytest.fixture
def lasting(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    """A folder that is not temporary."""
    monkeypatch.setattr(tempfile, "tempdir", str(tmp_path / "temporary"))
    return tmp_path


@pytest.mark.parametrize(
    ("project", "said"),
    [
        ('[project]\nname = "mcp-bridge"\n', "is in a checkout"),
        ('[project]\nname = "other"\n', ""),
        (None, ""),
    ],
)
def test_an_environment_in_a_checkout_is_doubted(
    lasting: Path, project: str | None, said: str
) -> None:
    path = program(lasting / ".venv" / "bin")
    (lasting / ".venv" / "pyvenv.cfg").touch()
    if project is not None:
        (lasting / "pyproject.toml").write_text(project)
    assert said in (doubt([path], ()) or "")
    assert bool(said) == (doubt([path], ()) is not None)


def test_a_temporary_folder_is_doubted(lasting: Path) -> None:
    assert "temporary folder" in (doubt([program(lasting / "temporary" / "bin")], ()) or "")
    path = program(lasting / "bin")
    assert doubt([path], ()) is None
    assert "temporary folder" in (doubt([path], (str(lasting),)) or "")


def test_a_command_that_is_not_found_is_doubted(
    lasting: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setenv("PATH", str(lasting))
    assert "no command 'mcp-bridge' here" in (doubt(["mcp-bridge"]) or "")
    program(lasting)
    assert doubt(["mcp-bridge"]) is None


def test_a_command_that_would_not_be_known_again_is_doubted(lasting: Path) -> None:
    path = program(lasting, "my-bridge")
    assert "is not called mcp-bridge" in (doubt([path], ()) or "")
    assert doubt([program(lasting, "python3"), "-m", "mcp_era_bridge"], ()) is None
