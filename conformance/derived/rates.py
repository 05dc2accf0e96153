"""What was measured last: of how many known breakages a plan detects how many.

`detection.json` has a row for each plan that was measured: profile, by what, world, levers. The
certificate of a run quotes the row of its profile and of the levers that were used. Mutants that
are argued away do not count. A row says of how many mutants a sample was drawn, or that all were
tried; the fewer were drawn, the less the rate says, and below `LEAST_DRAWN` it is not recorded.

Rates are held to `BARS`.
"""

from __future__ import annotations

import json
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import asdict, dataclass
from pathlib import Path
from types import MappingProxyType

from harness.history.plan import DetectionRate
from harness.sut.lever_sets import ALL

FILE = Path(__file__).parents[1] / "detection.json"
README = Path(__file__).parent / "README.md"
CAMPAIGN, PROGRAMS = "campaign", "programs"
LEAST_DRAWN = 48
CHANGED = 0.10  # a rate holds as long as no larger share of the mutants is new or gone
BARS: Mapping[tuple[str, str, str], int] = MappingProxyType(
    {
        ("classic", CAMPAIGN, "sim"): 80,
        ("migration", CAMPAIGN, "sim"): 90,
        ("tiered", CAMPAIGN, "sim"): 75,  # 80, once that much was measured
        ("classic", CAMPAIGN, "process"): 75,
        ("migration", CAMPAIGN, "process"): 90,
        ("tiered", CAMPAIGN, "process"): 75,
        ("classic", PROGRAMS, "sim"): 95,
        ("migration", PROGRAMS, "sim"): 95,
        ("tiered", PROGRAMS, "sim"): 95,
    }
)
"""By profile, by what, and world: the percentage that is to be detected with all levers."""
BEGIN, END = "<!-- detection -->", "<!-- end of detection -->"


@dataclass(frozen=True, slots=True, kw_only=True)
class Rate:
    """One plan: how many mutants it was tried on, and how many of them a MUST saw."""

    profile: str
    kind: str  # python, sql
    by: str
    world: str
    levers: str
    mutants: int
    detected: int
    argued_away: int
    population: int  # how many there were, argued away or not
    sample: int = 0  # how many of them were drawn; 0: all

    @property
    def percent(self) -> int:
        """Rounded down: it never says more than was seen."""
        return 100 * self.detected // self.mutants if self.mutants else 0

    @property
    def plan(self) -> tuple[str, ...]:
        """What was measured, apart from what came of it."""
        return (self.profile, self.kind, self.by, self.world, self.levers)

    @property
    def bar(self) -> int | None:
        """What it has to reach, if anything was said."""
        return BARS.get((self.profile, self.by, self.world)) if self.levers == ALL else None

    @property
    def is_under_its_bar(self) -> bool:
        """A rate of nothing is under no bar."""
        bar = self.bar
        return bar is not None and self.mutants > 0 and 100 * self.detected < bar * self.mutants

    @property
    def renewed_by(self) -> str:
        """The command that measures and records it again."""
        drawn = f" --sample {self.sample}" if self.sample else ""
        levers = "" if self.levers == ALL else f" --levers {self.levers}"
        return (
            f"selfcheck --derived --by {self.by} --profile {self.profile} --world {self.world}"
            f"{levers}{drawn} --record"
        )


def is_about_other_mutants(rate: Rate, now: int) -> bool:
    """Whether by now there are more mutants, or fewer, by too large a share."""
    return abs(now - rate.population) > CHANGED * rate.population


def read_rates(path: Path = FILE) -> tuple[Rate, ...]:
    """The recorded rows."""
    if not path.exists():
        return ()
    return tuple(Rate(**one) for one in json.loads(path.read_text("utf-8")))


def known_rates(profiles: Iterable[str], path: Path = FILE) -> tuple[DetectionRate, ...]:
    """What default runs of these profiles detect, all kinds of mutants together."""
    plans: dict[tuple[str, str, str], list[Rate]] = {}
    for one in read_rates(path):
        if one.by == CAMPAIGN and one.profile in profiles:
            plans.setdefault((one.profile, one.world, one.levers), []).append(one)
    return tuple(
        DetectionRate(
            profile=profile,
            world=world,
            levers=levers,
            detected=sum(one.detected for one in rows),
            of=sum(one.mutants for one in rows),
            population=sum(one.population for one in rows),
            sample=_drawn(rows),
        )
        for (profile, world, levers), rows in plans.items()
    )


def _drawn(rows: Sequence[Rate]) -> int:
    """How many were drawn of several kinds together; 0 where all were."""
    drawn = any(one.sample for one in rows)
    return sum(one.sample or one.population for one in rows) if drawn else 0


def write_rates(new: Sequence[Rate], path: Path = FILE, readme: Path = README) -> None:
    """Put these rows in the place of those of the same plans, and renew the table in the docs."""
    rows = {one.plan: one for one in (*read_rates(path), *new)}
    ordered = [rows[plan] for plan in sorted(rows)]
    lines = ",\n".join(f" {json.dumps(asdict(one))}" for one in ordered)
    path.write_text(f"[\n{lines}\n]\n", "utf-8")
    text = readme.read_text("utf-8")
    before, after = text[: text.index(BEGIN)], text[text.index(END) :]
    readme.write_text(f"{before}{BEGIN}\n{table(ordered)}\n{after}", "utf-8")


def table(rates: Iterable[Rate]) -> str:
    """The rows as they stand in the docs."""
    columns = ("profile", "mutants", "by", "world", "levers", "detected", "rate", "bar")
    head = f"| {' | '.join(columns)} |\n{'|---' * len(columns)}|"
    rows = [
        f"| {one.profile} | {_counted(one)} {one.kind} | {one.by} | {one.world} | {one.levers}"
        f" | {one.detected} of {one.mutants} | {one.percent} %"
        f" | {'' if one.bar is None else f'{one.bar} %'} |"
        for one in rates
    ]
    return "\n".join([head, *rows])


def _counted(rate: Rate) -> str:
    """How many mutants there were, and how many of them were drawn."""
    return f"{rate.sample:,} of {rate.population:,}" if rate.sample else f"{rate.population:,}"
