"""The repository is in order: scripts run, news are named right, the version is said once."""

import ast
import configparser
import os
import re
import subprocess
import sys
import tomllib
from pathlib import Path

import pytest

ROOT = Path(__file__).resolve().parent.parent
SOURCES = ("bridge", "legacy", "modern")
FRAGMENT = re.compile(r"[1-9][0-9]*\.(added|changed|fixed|removed)(\.[1-9])?\.md")
# Folders that working on the project makes. Hidden folders are left out too, but for these.
MADE = {"build", "dist", "htmlcov", "node_modules", "__pycache__"}
HIDDEN_BUT_OURS = {".ci"}


def our_files() -> list[Path]:
    found: list[Path] = []
    for folder, below, names in os.walk(ROOT):
        below[:] = [
            name
            for name in below
            if name not in MADE
            and not name.endswith(".egg-info")
            and (not name.startswith(".") or name in HIDDEN_BUT_OURS)
        ]
        found += [Path(folder, name) for name in names if not name.endswith((".pyc", ".orig"))]
    return sorted(found)


def text_of(file: Path) -> str | None:
    try:
        return file.read_text(encoding="utf-8")
    except UnicodeDecodeError:
        return None


def scripts() -> list[Path]:
    """Every file that says itself what runs it."""
    return [file for file in our_files() if (text_of(file) or "").startswith("#!")]


def name_of(file: Path) -> str:
    return str(file.relative_to(ROOT))


@pytest.mark.parametrize("script", scripts(), ids=name_of)
def test_script_is_executable_and_has_no_syntax_error(script: Path) -> None:
    assert os.access(script, os.X_OK), "chmod +x it"
    first = script.read_text().splitlines()[0]
    if first.endswith(("bash", "/sh")):
        done = subprocess.run(["bash", "-n", str(script)], capture_output=True, text=True)
        assert (done.returncode, done.stderr) == (0, "")
    elif "python" in first:
        ast.parse(script.read_text(), name_of(script))


def test_the_documented_commands_are_scripts() -> None:
    documented = {"scripts/test", "scripts/check", "scripts/demo", "scripts/published", ".ci/run"}
    assert documented <= {name_of(script) for script in scripts()}


def test_news_are_named_by_issue_and_kind() -> None:
    names = {file.name for file in (ROOT / "changes").iterdir()} - {"README.md"}
    assert {name for name in names if not FRAGMENT.fullmatch(name)} == set()


def test_the_kinds_of_news_are_those_of_the_configuration() -> None:
    configured = tomllib.loads((ROOT / "pyproject.toml").read_text())["tool"]["towncrier"]
    kinds = [kind["directory"] for kind in configured["type"]]
    assert kinds == ["added", "changed", "fixed", "removed"]
    assert all(FRAGMENT.fullmatch(f"1.{kind}.md") for kind in kinds)
    assert configured["start_string"].strip() in (ROOT / "CHANGELOG.md").read_text()


def test_the_version_is_said_once() -> None:
    setup = configparser.ConfigParser()
    setup.read(ROOT / "setup.cfg")
    assert setup["metadata"]["version"] == "attr: mcp_era_bridge.__version__"
    assert "project" not in tomllib.loads((ROOT / "pyproject.toml").read_text())

    init = (ROOT / "bridge/mcp_era_bridge/__init__.py").read_text()
    (version,) = re.findall(r'^__version__(?:: .*)? = "([^"]+)"$', init, re.MULTILINE)
    modules = [file for source in SOURCES for file in (ROOT / source).rglob("*.py")]
    said = {name_of(file): file.read_text().count(f'"{version}"') for file in modules}
    assert {name: n for name, n in said.items() if n} == {"bridge/mcp_era_bridge/__init__.py": 1}


def test_lower_bounds_are_those_that_are_tested() -> None:
    setup = configparser.ConfigParser()
    setup.read(ROOT / "setup.cfg")
    promised = dict(line.split(">=") for line in setup["options"]["install_requires"].split())
    pins = (ROOT / "scripts/constraints-lowest.txt").read_text().splitlines()
    tested = dict(line.split("==") for line in pins if line and not line.startswith("#"))
    assert promised == tested


# Put together here, so that this file does not hold them itself.
FORBIDDEN = {
    "a folder beside the repository": "/".join(("..", "shared")),
    "a folder of one machine": "/".join(("", "work", "")),
    "somebody's home": "/".join(("", "root", "")),
    "a host of packages": "pypi" + ".org",
    "a host of package files": "python" + "hosted.org",
    "a host of Node packages": "npmjs" + ".",
}


def test_no_file_names_what_only_one_machine_has() -> None:
    found = [
        f"{name_of(file)}:{number} names {what}"
        for file in our_files()
        for number, line in enumerate((text_of(file) or "").splitlines(), 1)
        for what, word in FORBIDDEN.items()
        if word in line
    ]
    assert found == []


def test_python_is_one_that_the_package_promises() -> None:
    setup = configparser.ConfigParser()
    setup.read(ROOT / "setup.cfg")
    oldest = setup["options"]["python_requires"].removeprefix(">=")
    assert sys.version_info >= tuple(map(int, oldest.split(".")))
