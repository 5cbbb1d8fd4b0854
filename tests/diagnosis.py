"""The sub-commands that look at a server, run as a user runs them.

Lives here: the run and its outcome. Does not: the servers (children.py), what is expected.
"""

import json
import subprocess
import sys
from collections.abc import Mapping, Sequence
from pathlib import Path
from typing import cast

from bridge_process import LAUNCH, host_environment
from children import PATIENCE, Scripted
from scripted_child import Object

QUICK = ("--probe-timeout", "0.3", "--init-timeout", "2")
"""For servers that leave something unanswered."""


class Said:
    """What a command has said: its exit code, stdout and stderr."""

    def __init__(self, code: int, stdout: str, stderr: str) -> None:
        self.code = code
        self.stdout = stdout
        self.stderr = stderr

    @property
    def json(self) -> Object:
        return cast(Object, json.loads(self.stdout))

    @property
    def lines(self) -> list[str]:
        """The lines for people, their columns one space apart."""
        return [" ".join(line.split()) for line in self.stdout.splitlines()]

    def text(self) -> str:
        """All of it as if there were no line breaks."""
        return " ".join(self.stdout.split())


def say(
    *words: str,
    child: Scripted | Sequence[str] | None = None,
    env: Mapping[str, str] | None = None,
    cwd: Path | None = None,
    launch: Sequence[str] = LAUNCH,
) -> Said:
    """Runs a sub-command, with a server behind it if there is one."""
    server = child.command if isinstance(child, Scripted) else child
    done = subprocess.run(
        [*launch, *words, *(["--", *server] if server is not None else [])],
        env=host_environment() if env is None else env,
        cwd=cwd,
        stdin=subprocess.DEVNULL,
        capture_output=True,
        text=True,
        timeout=2 * PATIENCE,
    )
    assert "Traceback" not in done.stderr, done.stderr
    return Said(done.returncode, done.stdout, done.stderr)


def script(folder: Path, name: str, text: str) -> Path:
    """A small program of Python, executable."""
    file = folder / name
    file.write_text(f"#!{sys.executable} -IS\n{text}")
    file.chmod(0o755)
    return file
