"""What was said before the end still reaches a child that reads late: design D10."""

import json
import subprocess
import sys
from pathlib import Path

SLOW_READER = """
import json, sys, time
request = json.loads(sys.stdin.buffer.readline())
info = {"name": "s", "version": "1"}
result = {"protocolVersion": "2025-11-25", "capabilities": {}, "serverInfo": info}
print(json.dumps({"jsonrpc": "2.0", "id": request["id"], "result": result}), flush=True)
time.sleep(0.5)
sizes = [len(line) for line in sys.stdin.buffer]
open(sys.argv[1], "w").write(json.dumps(sizes))
"""


def test_what_the_host_said_before_its_end_reaches_a_child_that_reads_late(tmp_path: Path) -> None:
    child, heard = tmp_path / "slow.py", tmp_path / "heard"
    child.write_text(SLOW_READER)
    command = ["--era", "legacy", "--no-cache", "--", sys.executable, str(child), str(heard)]
    initialize = {
        "protocolVersion": "2025-11-25",
        "capabilities": {},
        "clientInfo": {"name": "h", "version": "1"},
    }
    opening = {"jsonrpc": "2.0", "id": 1, "method": "initialize", "params": initialize}
    last = {"jsonrpc": "2.0", "method": "x/last", "params": {"text": "x" * (4 << 20)}}
    line = json.dumps(last).encode() + b"\n"
    with subprocess.Popen(
        [sys.executable, "-m", "mcp_era_bridge", *command],
        stdin=subprocess.PIPE,
        stdout=subprocess.PIPE,
    ) as bridge:
        assert bridge.stdin is not None and bridge.stdout is not None
        bridge.stdin.write(json.dumps(opening).encode() + b"\n")
        bridge.stdin.flush()
        assert json.loads(bridge.stdout.readline())["id"] == 1
        bridge.stdin.write(line)
        bridge.stdin.close()
        assert bridge.wait(60) == 0
    assert json.loads(heard.read_text())[-1] == len(line)
