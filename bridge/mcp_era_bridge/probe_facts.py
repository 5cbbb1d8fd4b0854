"""What two visits say about a server: era, versions, verdict, and what either host gets.

Lives here: the reading of what was seen. Does not: the visits (visit.py), the words for people
(probe_print.py). Spec 2026-07-28, basic/versioning (Backward Compatibility).
"""

from typing import Final

from msgspec import Raw

from mcp_era_bridge import __version__, prospects
from mcp_era_bridge import probe_report as report
from mcp_era_bridge.click_options import sound
from mcp_era_bridge.probe_report import EXIT_CODES, SUMMARIES, HostView, Items, Report, Verdict
from mcp_era_bridge.visit import LISTS, Visit
from mcp_era_bridge.visiting_host import Listing
from mcp_era_bridge.witness import Outcome, Took
from mcp_era_wire import methods
from mcp_era_wire.envelope import read_error_head
from mcp_era_wire.members import Members, members_of, string_of, strings_of
from mcp_era_wire.versions import LEGACY_VERSIONS, MODERN_VERSIONS, SERVER_INFO_KEY, Era

_NO_CAPABILITIES: Final = Raw(b"{}")


class Facts:
    """Both visits, read together. `modern` is None if there was only the first."""

    def __init__(self, legacy: Visit, modern: Visit | None) -> None:
        self._legacy = legacy
        self._modern = modern
        self._visits = [legacy] if modern is None else [legacy, modern]
        self.discover = self._first(methods.DISCOVER)
        self.initialize = self._first(methods.INITIALIZE)
        self._discovered = self._result_of(self.discover)
        self._initialized = self._result_of(self.initialize)
        self._supported = strings_of(self._discovered.get("supportedVersions")) or []
        self._handshake = string_of(self._initialized.get("protocolVersion"))

    def _first(self, method: str) -> Took | None:
        """How the server took the request, as the first that a process was asked if it was."""
        took = [each for visit in self._visits for each in visit.witness.took(method)]
        return next((each for each in took if each.first), took[0] if took else None)

    @staticmethod
    def _result_of(took: Took | None) -> Members:
        if took is None or took.at_end:
            return {}
        return members_of(took.result) or {}

    # The era -------------------------------------------------------------------------------------

    @property
    def is_modern(self) -> bool:
        """Whether a host of the modern era gets along with it alone."""
        return any(version in MODERN_VERSIONS for version in self._supported)

    @property
    def is_legacy(self) -> bool:
        """Whether a host of the handshake era does."""
        return self._handshake in LEGACY_VERSIONS

    @property
    def era(self) -> str | None:
        """What it speaks."""
        if self.is_modern and self.is_legacy:
            return "dual"
        eras = {"modern": self.is_modern, "legacy": self.is_legacy}
        return next((name for name, speaks in eras.items() if speaks), None)

    def _serves(self, era: Era) -> bool:
        """Whether the host of that era was served, through the bridge."""
        if era is Era.LEGACY:
            opened = members_of(self._legacy.opened) or {}
            return string_of(opened.get("protocolVersion")) in LEGACY_VERSIONS
        opened = members_of(self._modern.opened) or {} if self._modern is not None else {}
        offered = strings_of(opened.get("supportedVersions")) or []
        return any(version in MODERN_VERSIONS for version in offered)

    @property
    def verdict(self) -> Verdict:
        """What comes of it."""
        if self._legacy.not_started is not None:
            return Verdict.NOT_STARTED
        if self.is_modern and self.is_legacy:
            return Verdict.WORKS
        served = [self._serves(era) for era in Era]
        if all(served):
            return Verdict.BRIDGED
        if any(served):
            return Verdict.PARTLY
        if self.versions.modern or self.versions.named_in_errors or self.versions.handshake:
            return Verdict.UNKNOWN_VERSION
        if any(visit.witness.endings for visit in self._visits):
            return Verdict.EXITS
        if self.answers_at_end or not any(visit.witness.wrote for visit in self._visits):
            return Verdict.SILENT
        return Verdict.NO_MCP

    @property
    def answers_at_end(self) -> bool:
        """Whether it answers only once its stdin has been closed."""
        return any(took is not None and took.at_end for took in (self.discover, self.initialize))

    @property
    def error(self) -> str | None:
        """Why there is no conversation, in the words that a host gets to see."""
        if self._legacy.not_started is not None:
            return sound(self._legacy.not_started)
        if any(self._serves(era) for era in Era):
            return None
        return self._complaint(self._legacy)

    @staticmethod
    def _complaint(visit: Visit) -> str:
        if visit.opening is not None and visit.opening.error is not None:
            return visit.opening.complaint
        if visit.opening is not None:
            return "The server's answer names no version that is known here"
        if visit.witness.endings:
            return f"The server {visit.witness.endings[-1].how}"
        return "The server has not answered"

    # What it says of itself ----------------------------------------------------------------------

    @property
    def versions(self) -> report.Versions:
        """Every version that it names."""
        named: list[str] = []
        for took in (self.discover, self.initialize):
            if took is not None and took.error is not None:
                data = members_of(read_error_head(took.error).data) or {}
                named += strings_of(data.get("supported")) or []
        return report.Versions(self._handshake, self._supported, list(dict.fromkeys(named)))

    @property
    def capabilities(self) -> Raw:
        """What it declares, in the era that it speaks; the modern one, if it speaks both."""
        answer = self._discovered if self.is_modern else self._initialized
        declared = answer.get("capabilities")
        if declared is None or members_of(declared) is None:
            return _NO_CAPABILITIES
        return declared

    @property
    def server(self) -> report.Server | None:
        """Who it is."""
        if self.era is None:
            return None
        answer = self._discovered if self.is_modern else self._initialized
        meta = members_of(answer.get("_meta")) or {}
        info = members_of(answer.get("serverInfo")) or members_of(meta.get(SERVER_INFO_KEY)) or {}
        name, version, title = (string_of(info.get(m)) for m in ("name", "version", "title"))
        instructions = string_of(answer.get("instructions"))
        return report.Server(name, version, title, instructions, self.capabilities)

    def listing(self, name: str) -> Listing | None:
        """One of the server's lists, as a host of its own era sees it."""
        return self._own_visit.listings.get(name)

    @property
    def _own_visit(self) -> Visit:
        served = self._modern if self.is_modern else None
        return served if served is not None else self._legacy

    # What hosts get ------------------------------------------------------------------------------

    def view(self, era: Era) -> HostView:
        """What a host of that era gets."""
        alone = self.is_modern if era is Era.MODERN else self.is_legacy
        visit = self._modern if era is Era.MODERN else self._legacy
        served = self._serves(era)
        crossed = served and not alone
        declared = members_of(self.capabilities) or {}
        server = Era.LEGACY if era is Era.MODERN else Era.MODERN
        missing, more = self._differences(visit) if served else ({}, {})
        return HostView(
            without_bridge=alone,
            with_bridge=served,
            way=None if not served else "translated" if crossed else "as it is",
            error=None if served else self._complaint(visit) if visit is not None else self.error,
            bridged=prospects.bridged_features(declared) if crossed else [],
            lost=prospects.losses(server, declared) if crossed else [],
            missing=missing,
            more=more,
        )

    def _differences(
        self, visit: Visit | None
    ) -> tuple[dict[str, list[str]], dict[str, list[str]]]:
        """What this visit saw less and more of than one of the server's own era."""
        missing: dict[str, list[str]] = {}
        more: dict[str, list[str]] = {}
        for name, *_ in LISTS:
            own, seen = self._own_visit.listings.get(name), None
            if visit is not None:
                seen = visit.listings.get(name)
            of_own, of_seen = own.names if own else [], seen.names if seen else []
            if less := [each for each in of_own if each not in of_seen]:
                missing[name] = less
            if added := [each for each in of_seen if each not in of_own]:
                more[name] = added
        return missing, more

    @property
    def stderr(self) -> list[str]:
        """The last lines that it wrote there, in the last visit in which it did."""
        return self._visits[-1].stderr or self._visits[0].stderr

    # Together ------------------------------------------------------------------------------------

    def report(self, command: list[str]) -> Report:
        """All of it."""
        verdict = self.verdict
        started = self._legacy.not_started is None
        lists = {name: _items(self.listing(name)) for name, *_ in LISTS}
        noisy = max(self._visits, key=lambda visit: visit.noise_count)
        return Report(
            format=report.FORMAT,
            bridge=__version__,
            command=command,
            verdict=verdict,
            exit_code=EXIT_CODES[verdict],
            summary=SUMMARIES[verdict],
            error=self.error,
            era=self.era,
            server=self.server,
            versions=self.versions,
            start_milliseconds=_milliseconds(self._legacy.witness.first_answer_after),
            discover=_took(self.discover),
            initialize=_took(self.initialize),
            **lists,
            hosts=report.Hosts(self.view(Era.MODERN), self.view(Era.LEGACY)) if started else None,
            stdout_noise=report.Noise(noisy.noise_count, noisy.noise),
            stderr=self.stderr[-_STDERR:],
        )


_STDERR: Final = 10
"""Lines of stderr that are told."""


def _milliseconds(seconds: float | None) -> float | None:
    return round(seconds * 1000, 1) if seconds is not None else None


def _items(listing: Listing | None) -> Items | None:
    return Items(len(listing.names), listing.names, listing.error) if listing is not None else None


def _took(took: Took | None) -> report.Took | None:
    if took is None:
        return None
    if took.at_end:
        return report.Took(Outcome.SILENCE.value, answered_at_end=True)
    return report.Took(
        took.outcome.value,
        _milliseconds(took.seconds),
        took.code,
        took.message,
        took.ending.code if took.ending is not None else None,
        took.ending.signal if took.ending is not None else None,
    )
