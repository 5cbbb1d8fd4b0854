"""What is built holds everything that is in the tree.

The list of packages in setup.cfg is kept by hand, and an editable install hides what it lacks. So
this builds as a release does, the wheel out of the unpacked sdist, in a copy and without a network.
"""

import shutil
import subprocess
import sys
import zipfile
from collections.abc import Set as AbstractSet
from pathlib import Path

import pytest

ROOT = Path(__file__).resolve().parent.parent
PACKAGES = (
    "bridge/mcp_era_bridge",
    "legacy/mcp_era_legacy",
    "modern/mcp_era_modern",
    "modern/mcp_era_wire",
)
_MADE = shutil.ignore_patterns(
    *(".git", ".venv*", ".published", ".hypothesis", ".*_cache", "node_modules"),
    *("build", "dist", "*.egg-info", "__pycache__"),
)


def not_copied(folder: str, names: list[str]) -> set[str]:
    """Folders that are no part of the project, or are made by working on it."""
    return {n for n in _MADE(folder, names) if n == ".git" or Path(folder, n).is_dir()}


BUILD = "import sys; from setuptools import build_meta as b; getattr(b, sys.argv[1])(sys.argv[2])"


def build(kind: str, tree: Path, into: Path) -> Path:
    """Builds in place with the setuptools that is installed here; nothing is fetched."""
    into.mkdir()
    done = subprocess.run(
        [sys.executable, "-c", BUILD, f"build_{kind}", str(into)],
        cwd=tree,
        capture_output=True,
        text=True,
    )
    assert done.returncode == 0, done.stdout + done.stderr
    (built,) = into.iterdir()
    return built


@pytest.fixture(scope="module")
def sdist(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """The unpacked sdist of this tree."""
    place = tmp_path_factory.mktemp("sdist")
    shutil.copytree(ROOT, place / "tree", ignore=not_copied)
    built = build("sdist", place / "tree", place / "built")
    # Not by tarfile itself: it has its `filter` from 3.11.4 on, and warns without it from 3.12 on.
    unpack = [sys.executable, "-m", "tarfile", "--extract", str(built), str(place / "unpacked")]
    subprocess.run(unpack, check=True, stderr=subprocess.DEVNULL)
    (unpacked,) = (place / "unpacked").iterdir()
    return unpacked


@pytest.fixture(scope="module")
def wheel(sdist: Path, tmp_path_factory: pytest.TempPathFactory) -> AbstractSet[str]:
    """The names of the files in the wheel."""
    built = build("wheel", sdist, tmp_path_factory.mktemp("wheel") / "built")
    with zipfile.ZipFile(built) as archive:
        return set(archive.namelist())


def files_of(folder: Path) -> set[str]:
    found = (file for file in folder.rglob("*") if file.is_file())
    return {str(file.relative_to(folder)) for file in found if "__pycache__" not in file.parts}


def test_the_wheel_holds_every_module_of_the_tree_and_no_other(wheel: AbstractSet[str]) -> None:
    tree = {
        f"{Path(package).name}/{name}"
        for package in PACKAGES
        for name in files_of(ROOT / package)
        if name.endswith((".py", "py.typed"))
    }
    assert {name for name in wheel if ".dist-info/" not in name} == tree


def test_every_package_in_the_wheel_is_marked_as_typed(wheel: AbstractSet[str]) -> None:
    assert {f"{Path(package).name}/py.typed" for package in PACKAGES} <= wheel


def test_there_is_no_other_package_beside_these_in_the_tree() -> None:
    roots = {ROOT / package.partition("/")[0] for package in PACKAGES}
    found = {str(init.parent.relative_to(ROOT)) for r in roots for init in r.glob("*/__init__.py")}
    assert found == set(PACKAGES)


@pytest.mark.parametrize("folder", ["scripts", "tests", "changes"])
def test_the_sdist_holds_the_folder(sdist: Path, folder: str) -> None:
    assert files_of(ROOT / folder) <= files_of(sdist / folder)


@pytest.mark.parametrize(
    "name", ["README.md", "LICENSE", "CHANGELOG.md", "CONTRIBUTING.md", "docs/faults.md"]
)
def test_the_sdist_holds_the_file(sdist: Path, name: str) -> None:
    assert (sdist / name).read_bytes() == (ROOT / name).read_bytes()
