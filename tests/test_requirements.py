"""Every requirement that is met has a test that names it, and the other way round."""

import ast
from collections.abc import Iterator
from pathlib import Path

from requirements import CLIENT_REQUIREMENTS, MET, NOT_OURS, SERVER_REQUIREMENTS

TESTS = Path(__file__).parent


def named_by(path: Path) -> Iterator[str]:
    """The ids in the `clause` marks of a test module."""
    for node in ast.walk(ast.parse(path.read_text(encoding="utf-8"))):
        if isinstance(node, ast.Call) and _name(node.func) == "clause":
            for argument in node.args:
                assert isinstance(argument, ast.Constant), f"{path.name}: {ast.dump(argument)}"
                yield str(argument.value)


def _name(node: ast.expr) -> str:
    if isinstance(node, ast.Attribute):
        return node.attr
    return node.id if isinstance(node, ast.Name) else ""


def test_requirements_and_tests_name_each_other() -> None:
    named = {id for path in TESTS.rglob("test_*.py") for id in named_by(path)}
    assert named - MET.keys() == set(), "tests name requirements that are not in the table"
    assert MET.keys() - named == set(), "requirements of the table have no test"


def test_every_requirement_is_met_or_says_why_it_is_not_ours() -> None:
    on_a_server = {f"S-{number:02}" for number in range(1, SERVER_REQUIREMENTS + 1)}
    on_a_client = {f"C-{number:02}" for number in range(1, CLIENT_REQUIREMENTS + 1)}
    assert NOT_OURS.keys() | MET.keys() == on_a_server | on_a_client
    assert NOT_OURS.keys().isdisjoint(MET)
