"""How histories of the classic cluster are judged: by all rules of partitions, many at a time.

What a rule costs is planning its queries, not answering them: a history of a hundred lines takes as
long as one of ten thousand, or as a hundred of them side by side. So a search plays many examples
before it has them judged together, and while a program is made smaller only the rule that it broke
is asked.
"""

from __future__ import annotations

import functools
import shutil
from collections.abc import Callable, Sequence
from dataclasses import replace
from pathlib import Path
from typing import ClassVar

from conformance.catalogue import CATALOGUE
from harness.errors import LabBroken
from harness.history.sources import Source
from harness.rules import Judgement, Rule, Verdict
from harness.scratch import ScratchFolder
from harness.steps.draw import draw
from harness.steps.shrink import Unrepeatable, shrunk, way_of
from harness.steps.step import Step
from harness.steps.trial import Trial, play
from spark_checkers.engine import InlineEngine
from spark_checkers.judge_history import judge_run
from spark_checkers.many import judge_many
from spark_checkers.side_by_side import JudgingProfile

PROFILES = ("classic",)
# Those of a partition and its requests. The others are about transactions, groups and subscribed
# consumers, of which these histories have none.
RULES: tuple[Rule, ...] = tuple(CATALOGUE.of_profiles(PROFILES).played())
GROUND = JudgingProfile(profiles=PROFILES, reference=True)


@functools.cache
def engine() -> InlineEngine:
    """One for the whole process: opening one costs more than a question to it."""
    return InlineEngine()


class JudgedTrial(Trial):
    """A trial whose histories the rules of partitions judge."""

    profiles = PROFILES
    judged_by: ClassVar[Sequence[Rule]] = RULES

    def judge(self, folder: Path) -> Sequence[str]:
        """Every rule that is broken, with the first that shows it."""
        return broken_rules(self.judged(folder))

    def judged(self, folder: Path) -> Judgement:
        """What every rule says."""
        return judge_run(folder, self.judged_by, engine(), reference=True)


def broken_rules(judgement: Judgement) -> list[str]:
    """Each rule that failed, and what shows it."""
    for one in judgement.judged:
        if one.verdict is Verdict.BROKEN:
            raise LabBroken(f"{one.rule.id} could not be judged: {one.reason}")
    if judgement.problems:
        raise LabBroken(f"the history has lines that cannot be judged: {judgement.problems[0]}")
    return [
        f"{one.rule.id}: {one.rule.sentence} ({one.result.findings[0].seen})"
        for one in judgement.judged
        if one.verdict is Verdict.FAIL
    ]


Watch = Callable[[Judgement], None]


def explore_together(
    trial: type[JudgedTrial],
    *,
    examples: int,
    steps: int = 20,
    together: int = 10,
    watch: Watch = lambda judgement: None,
) -> None:
    """`explore`, with so many histories judged at a time; fails with the smallest that fails.

    The trial's seed decides which programs are played, and in which order. `watch` sees every
    judgement.
    """
    with ScratchFolder("together") as scratch:
        search = _Search(trial, scratch, together, watch)
        search.look(examples=examples, steps=steps)
    if search.found is None:
        return
    program, way = search.found
    smallest = shrunk(_only_by(trial, way), program, way=way)
    play(trial, smallest)
    raise Unrepeatable(f"{trial.__name__}, seed {trial.seed}: it failed and then did not")


class _Search:
    """Examples that were played, and what was found in those that were judged."""

    def __init__(
        self, trial: type[JudgedTrial], scratch: Path, together: int, watch: Watch
    ) -> None:
        self.trial = trial
        self.scratch = scratch
        self.together = together
        self._watch = watch
        self._ground = replace(GROUND, profiles=trial.profiles)
        self.found: tuple[list[Step], str] | None = None
        self._waiting: list[tuple[Path, list[Step]]] = []
        self._played = 0

    def look(self, *, examples: int, steps: int) -> None:
        """Play until something is found, or so many have been played."""
        try:
            draw(self._looking(), examples=examples, steps=steps)
        except Exception as problem:
            # Hypothesis plays what failed once more, and wonders why it now fails elsewhere.
            if not self.found:
                raise LabBroken(f"{problem!r} came from no example") from problem
        else:
            self._judge_waiting()

    def _looking(self) -> type[JudgedTrial]:
        search = self

        class Looking(self.trial):  # type: ignore[name-defined, misc]
            def judge(self, folder: Path) -> Sequence[str]:
                search.take(folder, self.program)
                return ["found: among those judged together"] if search.found else []

            def leave(self, problem: BaseException | None) -> str:
                if problem is not None and search.found is None:
                    search.failed(self.program, problem)
                return ""

        Looking.__name__ = self.trial.__name__
        return Looking

    def failed(self, program: Sequence[Step], problem: BaseException) -> None:
        """An example failed by itself; what was played before it was not judged yet."""
        self._judge_waiting()
        if self.found is None:
            self.found = (list(program), way_of(problem))

    def take(self, folder: Path, program: Sequence[Step]) -> None:
        """Keep a history until there are enough of them."""
        if self.found is not None:
            return
        self._played += 1
        kept = self.scratch / f"{self._played}.jsonl"
        shutil.copyfile(folder / "history.jsonl", kept)
        self._waiting.append((kept, list(program)))
        if len(self._waiting) >= self.together:
            self._judge_waiting()

    def _judge_waiting(self) -> None:
        waiting, self._waiting = self._waiting, []
        sources = [Source(name=path.name, address=str(path)) for path, _ in waiting]
        outcomes = judge_many(
            sources,
            lambda _: self._ground,
            lambda _: self.trial.judged_by,
            engine(),
            self.scratch / f"at-{self._played}",
            workers=1,
            kept=1,
        )
        for (path, program), outcome in zip(waiting, outcomes, strict=True):
            if outcome.judgement is None:
                raise LabBroken(f"{path.name} could not be judged: {outcome.unreadable}")
            self._watch(outcome.judgement)
            broken = broken_rules(outcome.judgement)
            if broken and self.found is None:
                self.found = (program, broken[0].partition(":")[0])
            path.unlink()


def _only_by(trial: type[JudgedTrial], way: str) -> type[JudgedTrial]:
    """The trial, judged by one rule: other findings do not count while this one is looked for."""
    rules = tuple(rule for rule in trial.judged_by if rule.id == way)

    class Quick(trial):  # type: ignore[valid-type, misc]
        judged_by = rules

    Quick.__name__ = trial.__name__
    return Quick
