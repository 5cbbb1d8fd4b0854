"""The script that kills children under load finds nothing to complain of."""

import subprocess
import sys
from pathlib import Path

SCRIPT = Path(__file__).parent.parent / "scripts" / "kills"


def test_every_request_is_answered_once_whenever_the_child_is_killed() -> None:
    run = subprocess.run(
        [sys.executable, str(SCRIPT), "--kills", "8"],
        capture_output=True,
        text=True,
        timeout=120,
        check=False,
    )
    assert run.returncode == 0, run.stdout + run.stderr
    assert "8 kills" in run.stdout
