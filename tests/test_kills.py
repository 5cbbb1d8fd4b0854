"""The script that kills children under load counts what it says, and fails where it cannot."""

import subprocess
import sys
from pathlib import Path

KILLS = Path(__file__).parent.parent / "scripts" / "kills"


def run(*interpreter: str, kills: int) -> subprocess.CompletedProcess[str]:
    command = [*interpreter, str(KILLS), "--kills", str(kills)]
    return subprocess.run(command, capture_output=True, text=True, timeout=120, check=False)


def test_every_request_is_answered_once_whenever_the_child_is_killed() -> None:
    ran = run(sys.executable, kills=8)
    assert ran.returncode == 0, ran.stdout + ran.stderr
    assert ": 8 kills, 2 bridges; answers: " in ran.stdout
    assert " result" in ran.stdout and "child_exited" in ran.stdout


def test_without_the_project_it_says_so_and_shows_nothing() -> None:
    ran = run(sys.executable, "-I", "-S", kills=4)
    assert ran.returncode == 2
    assert "mcp_era_bridge is not installed" in ran.stderr
    assert not ran.stdout
