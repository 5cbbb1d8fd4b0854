"""Imports run downhill: bridge -> legacy, modern -> wire, and the cores stay free of I/O.

Read from the source, so that an import inside a function counts too.
"""

import ast
import sys
from collections.abc import Iterator
from pathlib import Path

import pytest

ROOT = Path(__file__).resolve().parent.parent

# Where each package lies, and which of ours it may import beside itself.
MAY_IMPORT = {
    "bridge/mcp_era_bridge": {"mcp_era_legacy", "mcp_era_modern", "mcp_era_wire"},
    "legacy/mcp_era_legacy": {"mcp_era_wire"},
    "modern/mcp_era_modern": {"mcp_era_wire"},
    "modern/mcp_era_wire": set[str](),
}
OURS = {place.partition("/")[2] for place in MAY_IMPORT}
SANS_IO = OURS - {"mcp_era_bridge"}
# What the sans-IO packages may import that is neither ours nor in the standard library.
THIRD_PARTY_OF_SANS_IO = {"msgspec"}
# What they may not import even though it is in the standard library: whatever reads a clock, rolls
# dice, waits, logs or touches the system. Time, ids and randomness are passed in.
IMPURE = {
    *("os", "subprocess", "time", "random", "secrets", "uuid"),
    *("asyncio", "concurrent", "logging", "multiprocessing", "threading"),
    *("select", "selectors", "signal", "socket"),
    "importlib",  # else it would be a way round this test
}

Import = tuple[int, str]


def package_of(module: Path) -> str:
    """The dotted name of the package that a file's relative imports start from."""
    inside = module.relative_to(ROOT).parts[1:-1]
    return ".".join(inside)


def imports(body: ast.AST, package: str) -> Iterator[Import]:
    """Line and absolute name of everything imported, however deep inside."""
    for node in ast.walk(body):
        if isinstance(node, ast.Import):
            yield from ((node.lineno, alias.name) for alias in node.names)
        elif isinstance(node, ast.ImportFrom):
            above = package.split(".")[: len(package.split(".")) - node.level + 1]
            origin = [*above, node.module or ""] if node.level else [node.module or ""]
            yield node.lineno, ".".join(part for part in origin if part)
        elif isinstance(node, ast.Name) and node.id == "__import__":
            yield node.lineno, "importlib"


def faults(module: Path, source: str, *, sans_io: bool = False) -> list[str]:
    """What a module imports and should not; sans_io holds it to the rules of the cores."""
    package = package_of(module)
    own = package.partition(".")[0]
    allowed = MAY_IMPORT["/".join(module.relative_to(ROOT).parts[:2])] | {own}
    found: list[str] = []
    for line, name in imports(ast.parse(source), package):
        top = name.partition(".")[0]
        if top in OURS:
            fault = top not in allowed
        elif sans_io or own in SANS_IO:
            in_library = top in sys.stdlib_module_names and top not in IMPURE
            fault = not in_library and top not in THIRD_PARTY_OF_SANS_IO
        else:
            fault = False
        if fault:
            found.append(f"{module.relative_to(ROOT)}:{line} imports {name}")
    return found


def modules() -> list[Path]:
    return sorted(file for place in MAY_IMPORT for file in (ROOT / place).rglob("*.py"))


def test_every_package_has_modules() -> None:
    found = {module.relative_to(ROOT).parts[1] for module in modules()}
    assert found == OURS


def test_imports_run_downhill_and_the_cores_do_no_io() -> None:
    assert [fault for module in modules() for fault in faults(module, module.read_text())] == []


def with_all_that_it_imports(module: Path) -> set[Path]:
    """A module of one package and those of the same package that it needs, however far away."""
    seen: set[Path] = set()
    ahead = [module]
    while ahead:
        seen.add(module := ahead.pop())
        package = package_of(module)
        for node in ast.walk(ast.parse(module.read_text())):
            if not isinstance(node, (ast.Import, ast.ImportFrom)):
                continue
            names = [name for _, name in imports(node, package)]
            if isinstance(node, ast.ImportFrom):
                names += [f"{names[0]}.{alias.name}" for alias in node.names]
            near = (module.parent / f"{name.removeprefix(package + '.')}.py" for name in names)
            ahead += [file for file in near if file.exists() and file not in seen]
    return seen


def test_the_joint_does_no_io_though_it_lies_in_the_bridge() -> None:
    joint = with_all_that_it_imports(ROOT / "bridge/mcp_era_bridge/joint.py")
    assert [fault for m in sorted(joint) for fault in faults(m, m.read_text(), sans_io=True)] == []


@pytest.mark.parametrize(
    ("place", "source"),
    [
        ("legacy/mcp_era_legacy", "import mcp_era_modern.face"),
        ("legacy/mcp_era_legacy", "from mcp_era_bridge import joint"),
        ("modern/mcp_era_modern", "def late():\n    from mcp_era_legacy import peer"),
        ("modern/mcp_era_wire", "import mcp_era_modern"),
        ("modern/mcp_era_wire", "from time import monotonic"),
        ("modern/mcp_era_modern", "import os.path"),
        ("modern/mcp_era_modern", "import trio"),
        ("legacy/mcp_era_legacy", "if True:\n    import structlog"),
        ("legacy/mcp_era_legacy", "__import__('trio')"),
    ],
)
def test_a_wrong_import_is_seen(place: str, source: str) -> None:
    assert len(faults(ROOT / place / "imagined.py", source)) == 1


@pytest.mark.parametrize(
    ("place", "source"),
    [
        ("bridge/mcp_era_bridge", "import os, trio, mcp_era_legacy, mcp_era_wire"),
        ("legacy/mcp_era_legacy", "from . import face\nfrom .face import Face"),
        ("modern/mcp_era_modern", "import hmac, enum, msgspec\nfrom mcp_era_wire import frames"),
    ],
)
def test_a_right_import_is_let_through(place: str, source: str) -> None:
    assert faults(ROOT / place / "imagined.py", source) == []


def test_the_entry_module_imports_only_sys_at_its_top_level() -> None:
    # Until it has cleared sys.path, a file of the wrapped server (its trio.py, its selectors.py)
    # would be taken for the module of that name. This holds for `__future__` as well.
    entry = ROOT / "bridge/mcp_era_bridge/entry.py"
    at_import = top_level(ast.parse(entry.read_text()))
    found = {name for node in at_import for _, name in imports(node, "mcp_era_bridge")}
    assert found == {"sys"}


def test_no_package_imports_anything_by_being_imported() -> None:
    # Importing the entry module runs its package's __init__ first.
    for place in MAY_IMPORT:
        body = ast.parse((ROOT / place / "__init__.py").read_text())
        assert list(imports(body, "")) == [], f"{place}/__init__.py"


def top_level(node: ast.AST) -> Iterator[ast.AST]:
    """The statements that importing a module runs: not the insides of its functions."""
    for child in ast.iter_child_nodes(node):
        if isinstance(child, (ast.Import, ast.ImportFrom)):
            yield child
        elif not isinstance(child, (ast.FunctionDef, ast.AsyncFunctionDef, ast.Lambda)):
            yield from top_level(child)
