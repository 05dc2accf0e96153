"""What a night of campaigns came to: lines for a terminal, JSON, JUnit, and the trend."""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import asdict, dataclass
from typing import Any

from reports.markup import Markup, tag

PAST = 7  # nights that the trend shows
_CALLED = {0: "passed", 1: "found", 2: "no proof", 3: "lab broken"}


@dataclass(frozen=True, slots=True, kw_only=True)
class NightRun:
    """One run of a night."""

    number: int
    campaign: str
    seed: int
    exit_code: int
    headline: str
    findings: list[str]
    events: int
    faults: int
    seconds: float
    folder: str


@dataclass(frozen=True, slots=True, kw_only=True)
class Night:
    """All of them."""

    name: str
    sut: str
    where: str
    began: str
    runs: Sequence[NightRun]
    exit_code: int

    def count(self, code: int) -> int:
        """How many runs ended so."""
        return sum(one.exit_code == code for one in self.runs)

    @property
    def findings(self) -> Counter[str]:
        """In how many runs each rule was broken."""
        return Counter(rule for one in self.runs for rule in one.findings)

    @property
    def first_found_s(self) -> float | None:
        """How long until the end of the first run that found something."""
        spent = 0.0
        for one in self.runs:
            spent += one.seconds
            if one.findings:
                return round(spent, 1)
        return None

    def document(self) -> dict[str, Any]:
        """Everything, as JSON."""
        return {**self.trend(), "findings": self.findings, "all": [asdict(r) for r in self.runs]}

    def trend(self) -> dict[str, Any]:
        """What later nights are compared with."""
        return {
            "name": self.name,
            "sut": self.sut,
            "where": self.where,
            "began": self.began,
            "exit": self.exit_code,
            "runs": len(self.runs),
            **{called: self.count(code) for code, called in _CALLED.items()},
            "events": sum(one.events for one in self.runs),
            "faults": sum(one.faults for one in self.runs),
            "seconds": round(sum(one.seconds for one in self.runs), 1),
            "first_found_s": self.first_found_s,
        }


def summary(night: Night, past: Sequence[Mapping[str, Any]]) -> Iterator[str]:
    """The night by campaign, what it found, and the nights before it."""
    yield ""
    yield f"{'campaign':<24} {'runs':>5} {'passed':>7} {'found':>6} {'no proof':>9} {'broken':>7}"
    for name in dict.fromkeys(one.campaign for one in night.runs):
        codes = Counter(one.exit_code for one in night.runs if one.campaign == name)
        yield (
            f"{name:<24} {codes.total():>5} {codes[0]:>7} {codes[1]:>6} {codes[2]:>9} {codes[3]:>7}"
        )
    for one in night.runs:
        if one.exit_code:
            told = ", ".join(one.findings) or one.headline
            yield f"  run {one.number} seed {one.seed} {one.campaign}: {told}"
            yield f"    {one.folder}"
    yield ""
    yield f"{'night':<24} {'runs':>5} {'found':>6} {'faults':>7} {'events':>9} {'hours':>6}"
    for row in (*past[-PAST:], night.trend()):
        yield (
            f"{row['began']:<24} {row['runs']:>5} {row['found']:>6} {row['faults']:>7}"
            f" {row['events']:>9} {row['seconds'] / 3600:>6.1f}"
        )


def junit(night: Night) -> str:
    """A suite for the night, a case for each run."""
    suite = tag(
        "testsuite",
        [_case(one) for one in night.runs],
        name=f"{night.sut}: {night.where}",
        tests=len(night.runs),
        failures=night.count(1),
        errors=night.count(2) + night.count(3),
    )
    return f'<?xml version="1.0" encoding="UTF-8"?>\n{tag("testsuites", [suite])}\n'


def _case(one: NightRun) -> Markup:
    said: list[Markup] = []
    if one.exit_code == 1:
        message = ", ".join(one.findings) or one.headline
        said = [tag("failure", one.folder, message=message, type="must")]
    elif one.exit_code:
        said = [tag("error", one.folder, message=one.headline, type=_CALLED[one.exit_code])]
    return tag("testcase", said, classname=one.campaign, name=f"seed {one.seed}", time=one.seconds)
