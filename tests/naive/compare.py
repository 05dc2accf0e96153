"""Rule by rule: what the views say of a history, and what the naive checker says of it.

python -m tests.naive.compare --seeds 3         the sound reference and all mutants, simulated
python -m tests.naive.compare --world process   the campaigns alone, on real processes
"""

from __future__ import annotations

import argparse
import tempfile
from collections import Counter
from collections.abc import Iterable, Iterator, Sequence
from dataclasses import dataclass, replace
from itertools import chain
from pathlib import Path

from conformance.catalogue import CATALOGUE
from conformance.trials.judging import GROUND
from harness.history import read_history
from harness.history.sources import Source
from harness.rules import Rule
from spark_checkers.engine import Engine, InlineEngine
from spark_checkers.many import judge_many
from tests.naive.recorded import boundaries, campaigns, programs
from tests.naive.rules import CHECKS, naive_verdicts

RULES = tuple(rule for rule in CATALOGUE if rule.id in CHECKS)
CLASSIC, MIGRATION = (
    tuple(rule for rule in RULES if rule.profile == profile) for profile in ("classic", "migration")
)
TOGETHER = 20


@dataclass(frozen=True, slots=True, kw_only=True)
class Difference:
    """A rule on which the two disagree about a history."""

    rule: str
    history: str
    views: tuple[int, int]  # violations, cases
    naive: tuple[int, int]

    @property
    def grave(self) -> bool:
        """Whether one says fail and the other does not; else only one of them found a case."""
        return bool(self.views[0]) != bool(self.naive[0])

    def __str__(self) -> str:
        kind = "FAIL" if self.grave else "exercised"
        views, naive = ("/".join(map(str, one)) for one in (self.views, self.naive))
        return f"{kind} {self.rule} {self.history}: views {views}, naive {naive}"


def compare(
    histories: Sequence[Path], engine: Engine, rules: Sequence[Rule] = CLASSIC
) -> Iterator[Difference]:
    """Judge sealed histories both ways, by rules of one profile."""
    ground = replace(GROUND, profiles=(rules[0].profile,))
    sources = [Source(name=one.name, address=str(one)) for one in histories]
    with tempfile.TemporaryDirectory(prefix="tidemark-naive-") as scratch:
        outcomes = judge_many(
            sources, lambda _: ground, lambda _: rules, engine, Path(scratch), workers=1, kept=1
        )
        for path, outcome in zip(histories, outcomes, strict=True):
            assert outcome.judgement is not None, outcome.unreadable
            naive = naive_verdicts(read_history(path), rules)
            for one in outcome.judgement.judged:
                assert not one.result.broken, f"{one.rule.id}: {one.result.broken}"
                plain = naive[one.rule.id]
                views = (one.result.violations, one.result.exercised)
                counted = (len(plain.violating), plain.exercised)
                if tuple(map(bool, views)) != tuple(map(bool, counted)):
                    name = path.parent.name if path.name == "history.jsonl" else path.stem
                    yield Difference(rule=one.rule.id, history=name, views=views, naive=counted)


def recorded(folder: Path, seeds: int, world: str) -> Iterator[Path]:
    """Everything there is to compare on in a world, recorded one after the other."""
    for seed in range(1, seeds + 1):
        if world != "sim":
            yield from (run / "history.jsonl" for run in campaigns(folder, seed, world))
            continue
        for run in chain(boundaries(folder, seed), programs(folder, seed), campaigns(folder, seed)):
            yield run / "history.jsonl"


def kept(folder: Path) -> list[Path]:
    """Sealed histories below a folder."""
    return [one for one in sorted(folder.rglob("*.jsonl")) if one.parent.name != "shards"]


def rules_for(history: Path) -> Sequence[Rule]:
    """The rules of the profile that was played."""
    return MIGRATION if "migration" in read_history(history).header.get("profiles", ()) else CLASSIC


def batches(paths: Iterable[Path]) -> Iterator[tuple[Sequence[Rule], list[Path]]]:
    """So many at a time as are judged together, all by the same rules."""
    waiting: dict[Sequence[Rule], list[Path]] = {CLASSIC: [], MIGRATION: []}
    for path in paths:
        rules = rules_for(path)
        waiting[rules].append(path)
        if len(waiting[rules]) == TOGETHER:
            yield rules, waiting[rules]
            waiting[rules] = []
    yield from ((rules, batch) for rules, batch in waiting.items() if batch)


def main() -> int:
    """Compare everything, print what differs; 1 if a verdict does."""
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--seeds", type=int, default=1)
    parser.add_argument("--world", choices=("sim", "process"), default="sim")
    parser.add_argument("--histories", type=Path, help="a folder of runs recorded before")
    asked = parser.parse_args()
    engine, count, verdicts, kinds = InlineEngine(), 0, 0, Counter[bool]()
    with tempfile.TemporaryDirectory(prefix="tidemark-naive-") as scratch:
        fresh = recorded(Path(scratch), asked.seeds, asked.world)
        paths = kept(asked.histories) if asked.histories else fresh
        for rules, batch in batches(paths):
            count, verdicts = count + len(batch), verdicts + len(batch) * len(rules)
            for difference in compare(batch, engine, rules):
                kinds[difference.grave] += 1
                print(difference, flush=True)
    engine.close()
    print(
        f"{count} histories, {verdicts} verdicts: {kinds[True]} disagree,"
        f" {kinds[False]} were exercised for one of both only"
    )
    return int(kinds[True] > 0)


if __name__ == "__main__":
    raise SystemExit(main())
