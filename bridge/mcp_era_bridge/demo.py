"""A modern host talks to the bundled old server, through a real bridge, step by step.

Lives here: the start, the order, the end. Does not: the steps (demo_steps.py), the host
(demo_talk.py), how it looks (demo_print.py), the old server (old_server.py). Both ends are shown:
the host's lines as they go over the pipe, the old server's from the journal that it keeps.
"""

import sys
import tempfile
from collections.abc import Callable
from pathlib import Path
from typing import IO

import anyio

from mcp_era_bridge.demo_print import Printer
from mcp_era_bridge.demo_steps import STEPS
from mcp_era_bridge.demo_talk import PATIENCE, BridgeLost, Conversation, StepFailed


def run_demo(write: Callable[[str], None], colour: bool) -> int:
    """Plays all steps and gives the exit code. `write` gets whole lines with their line end."""
    printer = Printer(write, colour)
    with tempfile.TemporaryDirectory(prefix="mcp-bridge-demo-") as folder:
        journal, errors = Path(folder, "journal.jsonl"), Path(folder, "stderr.txt")
        journal.touch()
        with errors.open("wb") as stderr:
            all_well = anyio.run(converse, journal, stderr, printer, backend="trio")
        tail = errors.read_text(errors="replace").splitlines()[-20:]
        if tail and not all_well:
            printer.bad("\n".join(["The bridge's stderr ended with:", *tail]))
        return 0 if all_well else 1


async def converse(journal: Path, stderr: IO[bytes], printer: Printer) -> bool:
    server = [sys.executable, "-m", "mcp_era_bridge.old_server", "--journal", str(journal)]
    command = [sys.executable, "-m", "mcp_era_bridge", "--no-cache", "--", *server]
    async with await anyio.open_process(command, stderr=stderr) as bridge:
        try:
            return await play(Conversation(bridge, journal, printer), printer)
        finally:
            bridge.kill()  # does nothing to one that has ended


async def play(talk: Conversation, printer: Printer) -> bool:
    done = 0
    for number, (headline, step) in enumerate(STEPS, start=1):
        printer.headline(number, headline)
        try:
            await step(talk)
        except StepFailed as failure:
            printer.bad(f"NOT as it should be: {failure}")
            talk.give_up()
        except BridgeLost as why:
            talk.show_journal()
            printer.bad(f"NOT as it should be: {why}")
            break
        else:
            printer.good("as it should be")
            done += 1
    ended_well = await end(talk, printer)
    all_well = done == len(STEPS) and ended_well
    ending = "ended cleanly" if ended_well else "did not end cleanly"
    printer.summary(
        f"{done} of {len(STEPS)} steps went as they should; the bridge {ending}.", all_well
    )
    return all_well


async def end(talk: Conversation, printer: Printer) -> bool:
    try:
        status = await talk.close()
    except StepFailed as failure:
        printer.bad(f"NOT as it should be: {failure}")
        return False
    except TimeoutError:
        printer.bad(f"The bridge did not end within {PATIENCE:g} s of the end of its input.")
        return False
    if status != 0:
        printer.bad(f"The bridge ended with status {status}.")
    return status == 0
