"""What is released: the same bytes whoever builds them, whole metadata, one version, its notes.

`scripts/build` runs in a repository made of this tree, in a clone of it and in the unpacked sdist,
with everything different that a build could pick up. What is in the archives: test_wheel.py.
"""

import calendar
import email.message
import email.parser
import hashlib
import importlib.util
import os
import re
import shutil
import subprocess
import sys
import tarfile
import zipfile
from collections.abc import Sequence
from pathlib import Path

import pytest

from bridge_process import LAUNCH, host_environment
from children import PATIENCE
from mcp_era_bridge import __version__
from test_wheel import ROOT, not_copied

WHEN = 1_700_000_000
"""When the commit of the repository was made."""
NAMES = (f"mcp_era_bridge-{__version__}.tar.gz", f"mcp_era_bridge-{__version__}-py3-none-any.whl")

Digests = dict[str, str]


def git(*words: str | Path, cwd: Path) -> None:
    me = {"NAME": "test", "EMAIL": "test@example.org", "DATE": f"{WHEN} +0000"}
    env = {f"GIT_{who}_{what}": me[what] for who in ("AUTHOR", "COMMITTER") for what in me}
    options = ("-c", "init.defaultBranch=main", "-c", "commit.gpgsign=false")
    subprocess.run(
        ["git", *options, *map(str, words)],
        cwd=cwd,
        env={**os.environ, **env},
        check=True,
        capture_output=True,
    )


def run_script(
    tree: Path, *words: str | Path, umask: int = 0o022, **env: str
) -> "subprocess.CompletedProcess[str]":
    environ = {k: v for k, v in os.environ.items() if k != "SOURCE_DATE_EPOCH"}
    return subprocess.run(
        [sys.executable, *map(str, words)],
        cwd=tree,
        env={**environ, **env},
        umask=umask,
        capture_output=True,
        text=True,
    )


def built(tree: Path, into: Path, *, umask: int = 0o022, **env: str) -> Digests:
    """Builds both archives; their names and digests as they are, which are those that are said."""
    done = run_script(tree, tree / "scripts" / "build", into, umask=umask, **env)
    assert done.returncode == 0, done.stderr
    digests = {file.name: hashlib.sha256(file.read_bytes()).hexdigest() for file in into.iterdir()}
    said = [line.split("  ") for line in done.stdout.splitlines()]
    assert {Path(name).name: digest for digest, name in said} == digests
    assert sorted(digests) == sorted(NAMES)
    return digests


def unpacked(sdist: Path, into: Path) -> Path:
    # Not by tarfile itself: it has its `filter` from 3.11.4 on, and warns without it from 3.12 on.
    unpack = [sys.executable, "-m", "tarfile", "--extract", str(sdist), str(into)]
    subprocess.run(unpack, check=True, stderr=subprocess.DEVNULL)
    (folder,) = into.iterdir()
    return folder


@pytest.fixture(scope="module")
def place(tmp_path_factory: pytest.TempPathFactory) -> Path:
    return tmp_path_factory.mktemp("build")


@pytest.fixture(scope="module")
def repository(place: Path) -> Path:
    """A repository that holds this tree in one commit."""
    if shutil.which("git") is None:
        pytest.skip("git is not installed")
    tree = place / "repository"
    shutil.copytree(ROOT, tree, ignore=not_copied)
    (tree / "PKG-INFO").unlink(missing_ok=True)
    git("init", "-q", cwd=tree)
    git("add", "-A", cwd=tree)
    git("commit", "-q", "-m", "All", cwd=tree)
    return tree


@pytest.fixture(scope="module")
def digests(place: Path, repository: Path) -> Digests:
    """Of the archives in `place / "built"`."""
    return built(repository, place / "built")


# The same bytes ---------------------------------------------------------------------------------


def test_a_clone_makes_the_same_bytes_whoever_builds_it(
    place: Path, repository: Path, digests: Digests
) -> None:
    clone = place / "a clone elsewhere"
    git("clone", "-q", repository, clone, cwd=place)
    (clone / "tests" / "left_over.py").write_text("# not in the repository\n")
    (clone / "dist").mkdir()
    (clone / "README.md").chmod(0o600)
    again = built(
        clone,
        place / "of-the-clone",
        umask=0o077,
        TZ="Asia/Kolkata",
        PYTHONHASHSEED="7",
        LC_ALL="C",
        USER="somebody",
    )
    assert again == digests


def test_the_unpacked_sdist_makes_the_same_bytes(place: Path, digests: Digests) -> None:
    tree = unpacked(place / "built" / NAMES[0], place / "unpacked")
    assert not (tree / ".git").exists()
    assert built(tree, place / "of-the-sdist", umask=0o027) == digests
    # And it left nothing behind that a second build would take.
    assert built(tree, place / "of-the-sdist-again") == digests


def test_every_time_is_that_of_the_commit(place: Path, digests: Digests) -> None:
    assert times_in(place / "built") == {WHEN}


def test_source_date_epoch_is_heeded(place: Path, repository: Path, digests: Digests) -> None:
    later = built(repository, place / "later", SOURCE_DATE_EPOCH="1800000000")
    assert times_in(place / "later") == {1_800_000_000}
    assert not set(later.values()) & set(digests.values())
    # It holds for the unpacked sdist too, and wins over the time that this was built with.
    tree = unpacked(place / "later" / NAMES[0], place / "unpacked-later")
    assert built(tree, place / "same-later") == later
    assert built(tree, place / "earlier", SOURCE_DATE_EPOCH=str(WHEN)) == digests


def times_in(folder: Path) -> set[int]:
    """Every time that is said in the archives, in seconds since 1970."""
    with tarfile.open(folder / NAMES[0]) as tar:
        times = {int(member.mtime) for member in tar.getmembers()}
    zipped = (folder / NAMES[0]).read_bytes()
    times.add(int.from_bytes(zipped[4:8], "little"))
    with zipfile.ZipFile(folder / NAMES[1]) as wheel:
        said = {info.date_time for info in wheel.infolist()}
    return times | {calendar.timegm((*date_time, 0, 0, 0)) for date_time in said}


def test_nobody_is_named_in_the_sdist(place: Path, digests: Digests) -> None:
    with tarfile.open(place / "built" / NAMES[0]) as tar:
        members = tar.getmembers()
    assert {(m.uid, m.gid, m.uname, m.gname) for m in members} == {(0, 0, "", "")}
    assert {oct(m.mode) for m in members} == {"0o755", "0o644"}
    executable = {m.name.partition("/")[2] for m in members if m.mode & 1}
    assert {"scripts/build", "scripts/test", ".ci/run"} <= executable


def test_the_sdist_holds_every_file_of_the_repository_as_it_is(
    place: Path, repository: Path, digests: Digests
) -> None:
    listed = subprocess.run(["git", "ls-files", "-z"], cwd=repository, capture_output=True)
    names = [os.fsdecode(name) for name in listed.stdout.split(b"\0") if name]
    assert "setup.cfg" in names
    with tarfile.open(place / "built" / NAMES[0]) as tar:
        held = {m.name.partition("/")[2]: tar.extractfile(m) for m in tar.getmembers()}
        for name in names:
            content = held[name]
            assert content is not None and content.read() == (repository / name).read_bytes(), name
    made = {name for name in held if name not in names}
    assert {name for name in made if not name.startswith("mcp_era_bridge.egg-info/")} == {
        "PKG-INFO"
    }


# What is refused --------------------------------------------------------------------------------


def test_changes_that_are_not_committed_are_built_and_said(place: Path, repository: Path) -> None:
    clone = place / "changed"
    git("clone", "-q", repository, clone, cwd=place)
    (clone / "CHANGELOG.md").write_text("# Changed\n")
    done = run_script(clone, clone / "scripts" / "build", place / "of-changes")
    assert done.returncode == 0
    assert "not committed, but built as it is:\n M CHANGELOG.md\n" in done.stderr
    with tarfile.open(place / "of-changes" / NAMES[0]) as tar:
        content = tar.extractfile(f"mcp_era_bridge-{__version__}/CHANGELOG.md")
        assert content is not None and content.read() == b"# Changed\n"


@pytest.mark.parametrize("epoch", ["yesterday", "-1", "1.5", str(2**32)])
def test_a_time_that_is_none_is_refused(place: Path, repository: Path, epoch: str) -> None:
    into = place / "nothing"
    done = run_script(repository, "scripts/build", into, SOURCE_DATE_EPOCH=epoch)
    assert (done.returncode, done.stdout) == (1, "")
    assert f"SOURCE_DATE_EPOCH: {epoch!r} is no number of seconds since 1970" in done.stderr
    assert not into.exists()


def test_a_folder_that_is_neither_clone_nor_sdist_is_refused(place: Path, tmp_path: Path) -> None:
    (tmp_path / "scripts").mkdir()
    script = shutil.copy(ROOT / "scripts" / "build", tmp_path / "scripts" / "build")
    done = run_script(tmp_path, script, tmp_path / "dist", SOURCE_DATE_EPOCH="1")
    assert (done.returncode, done.stdout) == (1, "")
    assert "is neither a clone nor an unpacked sdist" in done.stderr


# Metadata ---------------------------------------------------------------------------------------


@pytest.fixture(scope="module")
def metadata(place: Path, digests: Digests) -> email.message.Message:
    with zipfile.ZipFile(place / "built" / NAMES[1]) as wheel:
        name = f"mcp_era_bridge-{__version__}.dist-info/METADATA"
        return email.parser.BytesParser().parsebytes(wheel.read(name))


def test_the_metadata_says_what_an_installer_and_a_reader_need(
    metadata: email.message.Message,
) -> None:
    for field, value in {
        "Name": "mcp-era-bridge",
        "Version": __version__,
        "License-Expression": "MIT",
        "License-File": "LICENSE",
        "Requires-Python": ">=3.11",
        "Description-Content-Type": "text/markdown",
    }.items():
        assert metadata[field] == value, field
    assert metadata["Summary"] and metadata["Keywords"] and metadata["Author"]
    assert metadata.get_payload() == (ROOT / "README.md").read_text(encoding="utf-8")


def test_the_classifiers_are_complete(metadata: email.message.Message) -> None:
    classifiers = metadata.get_all("Classifier", [])
    assert len(set(classifiers)) == len(classifiers)
    begin = {classifier.partition(" :: ")[0] for classifier in classifiers}
    assert begin == {
        *("Development Status", "Environment", "Framework", "Intended Audience"),
        *("Operating System", "Programming Language", "Topic", "Typing"),
    }
    pythons = [c for c in classifiers if re.fullmatch(r"Programming Language :: .* :: 3\.\d+", c)]
    oldest = metadata["Requires-Python"].removeprefix(">=")
    assert pythons[0].endswith(f" :: {oldest}")


def test_the_sdist_has_the_same_metadata(place: Path, metadata: email.message.Message) -> None:
    with tarfile.open(place / "built" / NAMES[0]) as tar:
        content = tar.extractfile(f"mcp_era_bridge-{__version__}/PKG-INFO")
        assert content is not None
        assert email.parser.BytesParser().parsebytes(content.read()).items() == metadata.items()


def test_the_wheel_installs_one_command(place: Path, digests: Digests) -> None:
    with zipfile.ZipFile(place / "built" / NAMES[1]) as wheel:
        name = f"mcp_era_bridge-{__version__}.dist-info/entry_points.txt"
        lines = wheel.read(name).decode().split("\n")
    assert [line for line in lines if line] == [
        "[console_scripts]",
        "mcp-bridge = mcp_era_bridge.entry:main",
    ]


# The command ------------------------------------------------------------------------------------


@pytest.mark.parametrize(
    "words",
    [
        ["--version"],
        ["--help"],
        ["probe", "--help"],
        ["completion", "bash"],
        [],
        ["--ear", "x"],
        ["probe"],
        ["--", "no-such-server"],
    ],
    ids=" ".join,
)
def test_python_m_is_the_same_as_the_command(words: Sequence[str]) -> None:
    command = Path(sys.executable).with_name("mcp-bridge")
    if not command.exists():
        pytest.skip("the project is not installed here")

    def outcome(launch: Sequence[str]) -> tuple[int, str, str]:
        done = subprocess.run(
            [*launch, *words],
            env=host_environment(),
            stdin=subprocess.DEVNULL,
            capture_output=True,
            text=True,
            timeout=PATIENCE,
        )
        return done.returncode, done.stdout, re.sub(r"(?m)^\S+Z ", "", done.stderr)

    assert outcome([str(command)]) == outcome(LAUNCH)


# Release notes ----------------------------------------------------------------------------------

NEWS = "<!-- towncrier release notes start -->\n"


@pytest.fixture
def released(tmp_path: Path) -> Path:
    """A tree with two news, and with a release that is out."""
    for folder in ("scripts", "changes", "bridge/mcp_era_bridge"):
        (tmp_path / folder).mkdir(parents=True)
    for name in (
        "scripts/release-notes",
        "pyproject.toml",
        "CHANGELOG.md",
        "changes/README.md",
        "bridge/mcp_era_bridge/__init__.py",
    ):
        shutil.copy(ROOT / name, tmp_path / name)
    (tmp_path / "changes" / "17.fixed.md").write_text("A banner does no harm.\n")
    (tmp_path / "changes" / "18.added.1.md").write_text("There is `--banner`.\n")
    old = "## 0.0.2 (2026-08-02)\n\n### Fixed\n\n- This. (#2)\n\n## 0.0.1 (2026-08-01)\n\n- That.\n"
    log = tmp_path / "CHANGELOG.md"
    log.write_text(log.read_text().partition(NEWS)[0] + NEWS + "\n" + old)
    return tmp_path


def notes(tree: Path, version: str) -> "subprocess.CompletedProcess[str]":
    return run_script(tree, tree / "scripts" / "release-notes", version)


def contents(tree: Path) -> dict[Path, bytes]:
    return {file: file.read_bytes() for file in tree.rglob("*") if file.is_file()}


@pytest.mark.skipif(importlib.util.find_spec("towncrier") is None, reason="towncrier is missing")
def test_the_notes_of_the_next_release_are_made_of_the_news_and_nothing_is_changed(
    released: Path,
) -> None:
    before = contents(released)
    done = notes(released, __version__)
    assert (done.returncode, done.stderr) == (0, "")
    assert re.sub(r"\d{4}-\d\d-\d\d", "DATE", done.stdout) == (
        f"## {__version__} (DATE)\n"
        "\n### Added\n\n- There is `--banner`. (#18)\n"
        "\n### Fixed\n\n- A banner does no harm. (#17)\n"
    )
    assert contents(released) == before


@pytest.mark.skipif(importlib.util.find_spec("towncrier") is None, reason="towncrier is missing")
def test_a_version_that_the_code_does_not_say_is_pointed_out(released: Path) -> None:
    done = notes(released, "99.0.0rc1")
    assert done.returncode == 0
    assert done.stdout.startswith("## 99.0.0rc1 (")
    assert done.stderr == f"bridge/mcp_era_bridge/__init__.py still says {__version__}\n"
    assert notes(released, "next").stderr == ""


def test_the_notes_of_a_release_that_is_out_are_those_of_the_changelog(released: Path) -> None:
    done = notes(released, "0.0.2")
    assert (done.returncode, done.stderr) == (0, "")
    assert done.stdout == "## 0.0.2 (2026-08-02)\n\n### Fixed\n\n- This. (#2)\n"
    assert notes(released, "0.0.1").stdout == "## 0.0.1 (2026-08-01)\n\n- That.\n"


def test_without_news_there_are_no_notes(released: Path) -> None:
    for news in (released / "changes").glob("1*.md"):
        news.unlink()
    done = notes(released, "next")
    assert (done.returncode, done.stdout) == (1, "")
    assert done.stderr == "there are no news in changes/\n"


@pytest.mark.parametrize("version", ["", "one", "1.2", "v1.2.3", "1.2.3 "])
def test_a_version_that_is_none_is_refused(released: Path, version: str) -> None:
    done = notes(released, version)
    assert (done.returncode, done.stdout) == (2, "")
    assert f"{version!r} is no version: write 1.2.3, 1.2.3rc1 or next" in done.stderr
