"""What was measured last: of how many known breakages a plan detects how many.

`detection.json` has a row for each plan that was measured: profile, by what, world, levers. The
certificate of a run quotes the row of its profile and of the levers that were used. Mutants that
are argued away do not count.
"""

from __future__ import annotations

import json
from collections.abc import Iterable, Sequence
from dataclasses import asdict, dataclass
from pathlib import Path

from harness.history.plan import DetectionRate

FILE = Path(__file__).parents[1] / "detection.json"
README = Path(__file__).parent / "README.md"
CAMPAIGN, PROGRAMS = "campaign", "programs"
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
    sample: int = 0  # 0: all of them

    @property
    def percent(self) -> int:
        """Rounded down: it never says more than was seen."""
        return 100 * self.detected // self.mutants if self.mutants else 0

    @property
    def plan(self) -> tuple[str, ...]:
        """What was measured, apart from what came of it."""
        return (self.profile, self.kind, self.by, self.world, self.levers)


def read_rates(path: Path = FILE) -> tuple[Rate, ...]:
    """The recorded rows."""
    if not path.exists():
        return ()
    return tuple(Rate(**one) for one in json.loads(path.read_text("utf-8")))


def known_rates(profiles: Iterable[str], path: Path = FILE) -> tuple[DetectionRate, ...]:
    """What default runs of these profiles detect, all kinds of mutants together."""
    counts: dict[tuple[str, str, str], list[int]] = {}
    for one in read_rates(path):
        if one.by == CAMPAIGN and one.profile in profiles:
            sums = counts.setdefault((one.profile, one.world, one.levers), [0, 0])
            sums[0] += one.detected
            sums[1] += one.mutants
    return tuple(
        DetectionRate(profile=profile, world=world, levers=levers, detected=detected, of=of)
        for (profile, world, levers), (detected, of) in counts.items()
    )


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
    columns = ("profile", "mutants", "by", "world", "levers", "detected", "rate")
    head = f"| {' | '.join(columns)} |\n{'|---' * len(columns)}|"
    rows = [
        f"| {one.profile} | {one.kind}{f', {one.sample} drawn' if one.sample else ''} | {one.by}"
        f" | {one.world} | {one.levers} | {one.detected} of {one.mutants} | {one.percent} % |"
        for one in rates
    ]
    return "\n".join([head, *rows])
