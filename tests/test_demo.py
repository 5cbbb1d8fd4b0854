"""The demo as a user sees it: played through a real bridge to a real old server.

Lives here: that every step goes well, and what is printed. Does not: the bridge's rules themselves.
"""

import re

import pytest

from mcp_era_bridge.demo import run_demo
from mcp_era_bridge.demo_steps import STEPS


@pytest.fixture(scope="module")
def played() -> tuple[int, str]:
    printed: list[str] = []
    code = run_demo(printed.append, colour=False)
    return code, "".join(printed)


def test_every_step_of_the_demo_goes_as_it_should(played: tuple[int, str]) -> None:
    code, output = played
    assert code == 0, output
    assert output.count("as it should be") == len(STEPS)
    assert "NOT as it should be" not in output
    summary = output.splitlines()[-1]
    assert summary == f"{len(STEPS)} of {len(STEPS)} steps went as they should; " + (
        "the bridge ended cleanly."
    )


@pytest.mark.parametrize(
    "line",
    [
        r"host -> bridge +#1 server/discover \{_meta\{2026-07-28, \.\.\.\}\}",
        r'io\.modelcontextprotocol/protocolVersion: "2026-07-28"',
        r"bridge -> server +#\d+ initialize \{.*2025-11-25",
        r"bridge -> server +notifications/initialized",
        r"host <- bridge +#1 result \{.*supportedVersions: \[\"2026-07-28\"\]",
        r"host <- bridge +#2 result \{.*ttlMs: 0.*tools: \[price, brew",
        r"bridge -> server +#\d+ tools/call \{name: \"price\", arguments: \{[^_]*\}\}",
        r"bridge <- server +#\d+ error -32002 Resource not found",
        r"host <- bridge +#\d+ error -32602 Resource not found",
        r"bridge -> server +notifications/cancelled \{.*requestId: \d+",
    ],
)
def test_the_demo_shows_both_ends_of_the_bridge(played: tuple[int, str], line: str) -> None:
    _, output = played
    assert re.search(line, output), output


def test_initialize_is_never_among_what_the_host_sees(played: tuple[int, str]) -> None:
    _, output = played
    of_the_host = [line for line in output.splitlines() if line.startswith("   host")]
    assert of_the_host
    assert not any("initialize" in line for line in of_the_host)


def test_the_fast_call_is_answered_before_the_slow_one(played: tuple[int, str]) -> None:
    _, output = played
    slow, fast = re.findall(
        r"host -> bridge +#(\d+) tools/call \{name: \"(?:brew|price)\"", output
    )[1:3]
    assert output.index(f"host <- bridge             #{fast} ") < output.index(
        f"host <- bridge             #{slow} "
    )
