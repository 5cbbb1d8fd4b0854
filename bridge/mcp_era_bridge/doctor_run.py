"""Checks of `mcp-bridge doctor` on a server that runs: it is started, looked at, and ended again.

Lives here: what two visits show, and what a few more show if those went wrong: without a buffer,
without PYTHONPATH, with the environment of a desktop host. Does not: the visits (visit.py), what
can be seen without a start (doctor_command.py).
"""

import re
import shlex
from collections.abc import Callable, Iterator
from typing import Final

import msgspec

from mcp_era_bridge import programs, verdicts
from mcp_era_bridge.child_era import Memory
from mcp_era_bridge.doctor_command import script_shadows
from mcp_era_bridge.findings import Finding, Weight
from mcp_era_bridge.guard import Guard
from mcp_era_bridge.missing_variables import missing_variables
from mcp_era_bridge.probe_facts import Facts
from mcp_era_bridge.probe_report import Verdict
from mcp_era_bridge.settings import Settings
from mcp_era_bridge.spawn import Command
from mcp_era_bridge.visit import Visit, visit, visit_as_both
from mcp_era_bridge.witness import Outcome
from mcp_era_wire.versions import Era

_OF_DESKTOP: Final = ("HOME", "LOGNAME", "USER", "SHELL", "TERM", "LANG", "TMPDIR")
"""What hosts hand on of their environment, beside the PATH."""
_HURRY: Final = 10.0
"""Seconds for a server that has been started before."""
_USAGE: Final = re.compile(r"\busage:|unrecognized argument|unknown option", re.IGNORECASE)
_ADDRESS: Final = re.compile(r"https?://|\blistening on\b|\bport \d+", re.IGNORECASE)
_WORKS: Final = (Verdict.WORKS, Verdict.BRIDGED, Verdict.PARTLY)


class Examination:
    """One server, examined. `given` are the variables that the user has set for it by hand."""

    def __init__(
        self,
        command: Command,
        settings: Settings,
        guard: Guard,
        host_path: str,
        given: dict[str, str],
        tell: Callable[[str], None],
    ) -> None:
        self._command = command
        self._settings = settings
        self._guard = guard
        self._host_path = host_path
        self._given = given
        self._tell = tell

    async def run(self) -> tuple[Verdict, list[Finding]]:
        """Starts the server as often as it takes. Raises Interrupted."""
        visits = await visit_as_both(self._command, self._guard, self._settings, self._tell)
        facts = Facts(*visits)
        findings = [*self._stdout_noise(visits), *self._start(visits)]
        verdict = facts.verdict
        if verdict in _WORKS:
            findings += [*self._probe(facts), *self._memory(facts)]
            findings += await self._as_on_a_desktop(facts)
        else:
            findings += await self._trouble(facts, visits)
        return verdict, findings

    @property
    def _words(self) -> str:
        return shlex.join(self._command.argv)

    # What shows though it works ------------------------------------------------------------------

    def _stdout_noise(self, visits: tuple[Visit, Visit | None]) -> Iterator[Finding]:
        noisy = next((each for each in visits if each is not None and each.noise), None)
        if noisy is None:
            return
        fix = "write it to stderr: print(..., file=sys.stderr), console.error(...)"
        copy = None
        if programs.name_of(self._command.argv) in ("npm", "yarn", "pnpm"):
            fix = "let the package manager be silent, or run the server's own command"
            copy = shlex.join([self._command.argv[0], "--silent", *self._command.argv[1:]])
        yield Finding(
            "stdout_noise",
            Weight.WARNING,
            f"on stdout there is a line that is no message: {noisy.noise[0]!r}",
            "stdout is for messages only; the bridge takes such lines out, many hosts give up",
            fix,
            copy,
        )

    def _start(self, visits: tuple[Visit, Visit | None]) -> Iterator[Finding]:
        first, second = visits
        took = first.witness.first_answer_after
        later = second.witness.first_answer_after if second is not None else None
        again = f", started again {later:.1f} s" if later is not None else ""
        said = f"its first answer took {took:.1f} s{again}" if took is not None else "no answer yet"
        slow = took is not None and took >= self._settings.probe_timeout
        if programs.is_launcher(self._command.argv):
            yield Finding(
                "cold_start",
                Weight.WARNING if slow else Weight.NOTE,
                f"{programs.name_of(self._command.argv)} fetches the server when it is not there,"
                f" or too old; {said}",
                "some hosts give up after a few seconds, before a first start is done",
                "run it once by hand, or install the server and write its own command",
                self._words,
            )
        elif slow:
            yield Finding(
                "slow_start",
                Weight.WARNING,
                said,
                "some hosts give up after a few seconds",
                "find out what it waits for; a host may have a setting for the time-out",
            )

    def _probe(self, facts: Facts) -> Iterator[Finding]:
        took = facts.discover
        if took is None or facts.is_modern or took.outcome is Outcome.ERROR:
            return
        if took.outcome is Outcome.EXIT or took.ending is not None:
            how = took.ending.how if took.ending is not None else "ended"
            seen = f"asked server/discover first, the server {how}"
            if took.outcome is Outcome.SILENCE:
                seen = f"the server leaves server/discover unanswered, and {how} on what came next"
            yield Finding(
                "exits_on_probe",
                Weight.WARNING,
                seen,
                "hosts of 2026-07-28 ask that first, and find it gone; through the bridge it works",
                "put the bridge in front of it; --era legacy spares it the question",
                f"mcp-bridge --era legacy -- {self._words}",
            )
        elif took.outcome is Outcome.SILENCE:
            yield Finding(
                "silent_on_probe",
                Weight.WARNING,
                "the server leaves server/discover unanswered",
                "hosts of 2026-07-28 ask that first, and wait in vain; through the bridge it works,"
                f" after {self._settings.probe_timeout:g} s",
                "put the bridge in front of it; --era legacy spares it the question, and you the"
                " wait",
                f"mcp-bridge --era legacy -- {self._words}",
            )

    def _memory(self, facts: Facts) -> Iterator[Finding]:
        cache = verdicts.Cache(self._command)
        remembered, took = cache.load(), facts.discover
        if remembered is None or took is None:
            return
        answers = took.outcome in (Outcome.RESULT, Outcome.ERROR)
        if answers:
            what = "silent on" if remembered.memory is Memory.SILENT else "one that exits on"
            yield Finding(
                "stale_cache",
                Weight.WARNING,
                f"the server is remembered as {what} server/discover, and answers it now",
                "the bridge does not ask it again for a week, even if it is a modern one by now",
                "forget it",
                f"rm {cache.path}",
            )

    async def _as_on_a_desktop(self, facts: Facts) -> list[Finding]:
        """Whether it still works with what a desktop host gives it."""
        path = programs.find(self._command)
        assert path is not None  # it has been started
        environ = {n: v for n, v in self._command.env.items() if n in _OF_DESKTOP}
        environ.update(self._given)
        environ.setdefault("PATH", self._host_path)
        # Whether the program itself is found there is another question.
        bare = Command([path, *self._command.argv[1:]], environ)
        self._tell("asking with the environment of a desktop host")
        era = Era.MODERN if facts.is_modern else Era.LEGACY
        seen = await visit(era, bare, self._guard, self._in_a_hurry, lists=False)
        if seen.opened is not None:
            return []
        names = missing_variables(seen.stderr, environ)
        if names:
            return [self._missing(names, seen, Weight.WARNING)]
        return [
            Finding(
                "host_environment",
                Weight.WARNING,
                "it works with your environment, and not with what a desktop host gives it:"
                f" {_last_words(seen)}",
                "desktop hosts hand on a few variables only, and a bare PATH",
                "give it the variables that it needs in the host's configuration (env)",
            )
        ]

    @property
    def _in_a_hurry(self) -> Settings:
        """For a server that has been started before."""
        limit = min(self._settings.initialize_timeout, _HURRY)
        return msgspec.structs.replace(self._settings, initialize_timeout=limit)

    def _missing(self, names: list[str], seen: Visit, weight: Weight) -> Finding:
        where = "" if weight is Weight.PROBLEM else "with the environment of a desktop host "
        return Finding(
            "missing_environment",
            weight,
            f"{where}the server {_how(seen)} and names {', '.join(names)}: {_last_line(seen)}",
            "hosts hand on a few variables only; those that are set in your shell do not reach it",
            "set it in the host's configuration (env), or in front of the server",
            " ".join(["mcp-bridge", *(f"--env {name}=..." for name in names), "--", self._words]),
        )

    # What shows when it does not work ------------------------------------------------------------

    async def _trouble(self, facts: Facts, visits: tuple[Visit, Visit | None]) -> list[Finding]:
        first, second = visits
        if first.not_started is not None:
            return [_not_started(first.not_started)]
        last = second if second is not None else first
        findings = await self._shadows(last)
        match facts.verdict:
            case Verdict.EXITS:
                names = missing_variables(last.stderr, self._command.env)
                if names:
                    findings.append(self._missing(names, last, Weight.PROBLEM))
                elif not findings:
                    findings.append(self._exits(last))
            case Verdict.SILENT:
                findings.append(await self._silent(facts, last))
            case Verdict.UNKNOWN_VERSION:
                findings.append(self._unknown_version(facts))
            case _:
                findings.append(self._no_mcp(facts, last))
        return findings

    async def _shadows(self, last: Visit) -> list[Finding]:
        """Whether it works without PYTHONPATH; what lies beside the script."""
        beside = script_shadows(self._command.argv)
        findings = [beside] if beside is not None else []
        if self._command.env.get("PYTHONPATH"):
            environ = {n: v for n, v in self._command.env.items() if n != "PYTHONPATH"}
            self._tell("asking without PYTHONPATH")
            if await self._opens(environ):
                findings.append(
                    Finding(
                        "pythonpath_breaks",
                        Weight.PROBLEM,
                        f"the server {_how(last)}, and works without PYTHONPATH: "
                        f"{_last_words(last)}",
                        "the variable leads Python to modules that are not the server's",
                        "start the server without the variable",
                        f"mcp-bridge --env PYTHONPATH= -- {self._words}",
                    )
                )
        return findings

    async def _opens(self, environ: dict[str, str]) -> bool:
        command = Command(self._command.argv, environ)
        seen = await visit(Era.LEGACY, command, self._guard, self._in_a_hurry, lists=False)
        return seen.opened is not None

    def _exits(self, last: Visit) -> Finding:
        if any(_USAGE.search(line) for line in [*last.stderr, *last.noise]):
            return Finding(
                "wrong_arguments",
                Weight.PROBLEM,
                f"the server {_how(last)} and explains its arguments: {_last_words(last)}",
                "it has not understood its command line",
                "run it by hand and see what it wants",
                f"{self._words} --help",
            )
        return Finding(
            "exits_at_once",
            Weight.PROBLEM,
            f"the server {_how(last)} before it has answered: {_last_words(last)}",
            "hosts find it gone",
            "run it by hand and see what it says",
            self._words,
        )

    async def _silent(self, facts: Facts, last: Visit) -> Finding:
        self._tell("asking with PYTHONUNBUFFERED=1")
        if await self._opens({**self._command.env, "PYTHONUNBUFFERED": "1"}):
            fix, copy = "let Python write at once", "mcp-bridge --env PYTHONUNBUFFERED=1 --"
            seen = "the server answers nothing, and does with PYTHONUNBUFFERED=1"
        elif facts.answers_at_end:
            fix, copy = "let the server flush its stdout after each message", "stdbuf -oL"
            seen = "the server answers only once its stdin has been closed"
        else:
            return Finding(
                "silent",
                Weight.PROBLEM,
                f"the server runs and answers nothing: {_last_words(last)}",
                "hosts wait in vain",
                "see whether it wants an argument for stdio, such as --stdio or --transport stdio",
                self._words,
            )
        why = "what it writes stays in a buffer, because stdout is no terminal; hosts wait in vain"
        return Finding("buffered_stdout", Weight.PROBLEM, seen, why, fix, f"{copy} {self._words}")

    def _unknown_version(self, facts: Facts) -> Finding:
        versions = facts.versions
        names = [*versions.modern, *versions.named_in_errors]
        names += [versions.handshake] if versions.handshake else []
        return Finding(
            "unknown_version",
            Weight.PROBLEM,
            f"the server speaks {', '.join(dict.fromkeys(names))}",
            "that is no revision of the protocol that this bridge knows",
            "take a newer mcp-bridge, or an older version of the server",
        )

    def _no_mcp(self, facts: Facts, last: Visit) -> Finding:
        said = [*last.noise, *last.stderr]
        if any(_ADDRESS.search(line) for line in said):
            return Finding(
                "no_stdio",
                Weight.PROBLEM,
                f"the server speaks of an address: {next(filter(_ADDRESS.search, said))!r}",
                "it seems to serve HTTP; the bridge, like hosts that start servers, speaks stdio",
                "see whether it wants an argument for stdio, such as --stdio or --transport stdio",
                f"{self._words} --help",
            )
        return Finding(
            "no_mcp_server",
            Weight.PROBLEM,
            f"the program does not answer as an MCP server: {facts.error}",
            "hosts cannot use it",
            "see whether this is the right command, and whether it wants an argument for stdio",
            f"{self._words} --help",
        )


def _not_started(why: str) -> Finding:
    return Finding(
        "cannot_be_started",
        Weight.PROBLEM,
        why,
        "nothing runs",
        "see whether the file is a program, and one for this system",
    )


def _how(seen: Visit) -> str:
    endings = seen.witness.endings
    return endings[-1].how if endings else "does not answer"


def _last_line(seen: Visit) -> str:
    return seen.stderr[-1] if seen.stderr else "it says nothing on stderr"


def _last_words(seen: Visit) -> str:
    if seen.not_started is not None:
        return seen.not_started
    if seen.stderr or not seen.noise:
        return _last_line(seen)
    return seen.noise[-1]
