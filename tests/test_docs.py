"""What the documents say is there: tests, options, files."""

import ast
import re
from collections.abc import Iterator
from pathlib import Path

import click
import pytest

from mcp_era_bridge import cli, options

ROOT = Path(__file__).resolve().parent.parent
DOCS = sorted((ROOT / "docs").glob("*.md"))
WITH_LINKS = [ROOT / "README.md", ROOT / "CONTRIBUTING.md", *DOCS]
WITH_OPTIONS = [ROOT / "README.md", *DOCS]

TEST = re.compile(r"\b(?:(test_\w+)::)?(test_\w+)")
FLAG = re.compile(r"(?<![\w-])(?:--[a-z][a-z-]*|-[A-Z])(?![\w-])")
LINK = re.compile(r"\]\(([^)\s]+)\)")
NOT_OURS = {"--help", "--version", "--from", "--spec", "--upgrade"}
"""Flags that click makes, and those of programs that install the command."""


def flags_of(command: click.Command) -> set[str]:
    """The flags of the sub-commands below a command."""
    flags: set[str] = set()
    for below in command.commands.values() if isinstance(command, click.Group) else ():
        flags |= flags_of(below).union(
            *(p.opts for p in below.params if p.param_type_name == "option")
        )
    return flags


def name_of(file: Path) -> str:
    return str(file.relative_to(ROOT))


def functions_by_module() -> dict[str, set[str]]:
    """The names of all test functions, by the module that they are in."""
    found: dict[str, set[str]] = {}
    for file in (ROOT / "tests").rglob("test_*.py"):
        nodes = ast.walk(ast.parse(file.read_text(encoding="utf-8")))
        names = {n.name for n in nodes if isinstance(n, ast.FunctionDef | ast.AsyncFunctionDef)}
        found[file.stem] = {name for name in names if name.startswith("test_")}
    return found


def rows(file: Path) -> Iterator[tuple[int, list[str]]]:
    """The rows of the tables that say by what they are shown: line number and cells."""
    shown = False
    for number, line in enumerate(file.read_text(encoding="utf-8").splitlines(), 1):
        if not line.startswith("|"):
            shown = False
            continue
        cells = [cell.strip() for cell in line.strip().strip("|").split("|")]
        if cells[-1] == "shown by":
            shown = True
        elif shown and set(line) > set("|-"):
            yield number, cells


@pytest.mark.parametrize("file", DOCS, ids=name_of)
def test_every_test_that_is_named_exists(file: Path) -> None:
    known = functions_by_module()
    anywhere = set[str]().union(*known.values())
    missing = [
        match[0]
        for match in TEST.finditer(file.read_text(encoding="utf-8"))
        if match[2] not in (known.get(match[1], set()) if match[1] else anywhere)
    ]
    assert missing == []


def test_every_fault_is_shown_by_a_test() -> None:
    file = ROOT / "docs" / "faults.md"
    found = list(rows(file))
    assert found
    assert [number for number, cells in found if len(cells) != 4 or not all(cells)] == []
    assert [number for number, cells in found if not TEST.search(cells[-1])] == []


@pytest.mark.parametrize("file", WITH_OPTIONS, ids=name_of)
def test_every_option_that_is_named_exists(file: Path) -> None:
    known = {flag for option in options.OPTIONS for flag in option.flags} | NOT_OURS
    known |= flags_of(cli.group())
    assert set(FLAG.findall(file.read_text(encoding="utf-8"))) - known == set()


@pytest.mark.parametrize("option", options.OPTIONS, ids=lambda option: option.flags[-1])
def test_every_option_is_in_the_readme(option: options.Option) -> None:
    named = set(FLAG.findall((ROOT / "README.md").read_text(encoding="utf-8")))
    assert set(option.flags) <= named


@pytest.mark.parametrize("file", WITH_LINKS, ids=name_of)
def test_every_relative_link_leads_to_a_file(file: Path) -> None:
    targets = LINK.findall(file.read_text(encoding="utf-8"))
    ours = [target.partition("#")[0] for target in targets if "://" not in target]
    assert [target for target in ours if target and not (file.parent / target).is_file()] == []


def test_the_readme_installs_what_the_project_is_called() -> None:
    text = (ROOT / "README.md").read_text(encoding="utf-8")
    for line in ("pipx install .", "uv tool install .", "uvx --from . mcp-bridge -- "):
        assert f"    {line}" in text
