"""A trial: steps played on a simulated deployment of their own, recorded, and judged.

A subclass says what is deployed (`build`), what its actors can do (`vocabularies`, and `drawn`, the
verbs that may be drawn), what is read at the end (`finish`), and who judges. A trial executes
nothing itself: `submit` hands a step to the player and pumps until the player is idle.

The seed of the simulation is a class attribute and no part of what is drawn: while steps are taken
away, delays and orders still come from the same streams. To look at other seeds, play the trial
once per seed (`with_seed`).

What fails is kept as a run folder whose history holds the steps; ``./tidemark replay`` plays them
again.
"""

from __future__ import annotations

import shutil
from collections.abc import Sequence
from contextlib import ExitStack
from pathlib import Path
from typing import Any, ClassVar

from harness.deployments.plan import DeploymentPlan
from harness.deployments.sim import SimDeployment, open_sim
from harness.history import Run
from harness.scratch import ScratchFolder
from harness.steps.player import Player
from harness.steps.program import program_of, source_of
from harness.steps.step import Step
from harness.steps.vocabulary import Drawn, Speaks
from reference_impl.decisions import Mutant, mutated

RUNS = Path("runs")


class Violated(AssertionError):
    """The judge found something in the history of a trial."""


class Trial:
    """One example from its deployment to its verdict; see the module."""

    seed: ClassVar[int] = 0
    mutants: ClassVar[tuple[Mutant, ...]] = ()

    # For subclasses.

    sut: ClassVar[str] = "reference"
    profiles: ClassVar[tuple[str, ...]] = ()
    plan: ClassVar[DeploymentPlan] = DeploymentPlan(brokers=0)
    drawn: ClassVar[tuple[Drawn, ...]] = ()
    forgiving: ClassVar[bool] = False  # a node may end by itself: the history says so
    records_effects: ClassVar[bool] = True  # most lines of a history, and most of what it costs

    async def build(self) -> None:
        """Get the deployment ready for the first step."""

    def vocabularies(self) -> Sequence[Speaks]:
        """What the actors can do."""
        raise NotImplementedError

    async def finish(self) -> None:
        """Heal, let everything come to rest, do the last reads."""

    def judge(self, folder: Path) -> Sequence[str]:
        """What is wrong with the sealed history in this run folder: a kind, a colon, the rest."""
        raise NotImplementedError

    # The life of a trial.

    def __init__(self) -> None:
        self.findings: Sequence[str] = ()
        self._problem: BaseException | None = None
        with ExitStack() as closing:
            scratch = closing.enter_context(ScratchFolder("trial"))
            self.run = Run.create(scratch / "run", **self._header())
            closing.enter_context(mutated(*self.mutants))
            self._open = ExitStack()
            closing.push(self._open)
            opened = open_sim(
                self.run,
                self.plan,
                seed=self.seed,
                records_effects=self.records_effects,
                forgiving=self.forgiving,
            )
            self.system: SimDeployment = self._open.enter_context(opened)
            self.recorder = self.system.recorder
            self.system.run(self.build())
            self.player = Player(self.recorder, self.vocabularies())
            self._closing = closing.pop_all()

    @classmethod
    def with_seed(cls, seed: int, *mutants: Mutant) -> type[Trial]:
        """The same trial in another simulation, with decisions made wrong if one likes."""
        kept = {"__doc__": cls.__doc__, "__module__": cls.__module__}
        return type(cls.__name__, (cls,), {**kept, "seed": seed, "mutants": mutants})

    @property
    def program(self) -> Sequence[Step]:
        """What was played so far."""
        return self.player.played

    def submit(self, step: Step) -> None:
        """Let the player carry out a step, and pump until it is idle."""
        try:
            self.system.run(self.player.carry_out(step))
        except BaseException as problem:
            self._problem = problem
            raise

    def conclude(self) -> None:
        """Finish, seal, judge; keep the run if something is wrong with it."""
        with self._closing:
            try:
                if self._problem is None:
                    self._finish()
            except BaseException as problem:
                self._problem = problem
                raise
            finally:
                self._seal()
                note = self.leave(self._problem)
                if self._problem is not None and note:
                    self._problem.add_note(note)

    def give_up(self) -> None:
        """End it without a verdict."""
        self._closing.close()

    def leave(self, problem: BaseException | None) -> str:
        """Copy a run with a problem to where a later command finds it; what to say about it."""
        if problem is None:
            return ""
        folder = RUNS / str(self.run.header["run"])
        shutil.rmtree(folder, ignore_errors=True)
        folder.parent.mkdir(parents=True, exist_ok=True)
        shutil.copytree(self.run.folder, folder)
        return "\n".join(
            [
                f"seed {self.seed}, with these steps:",
                *(f"    {line}" for line in program_of(folder)),
                f"run     {folder}",
                f"replay  ./tidemark replay {folder}",
            ]
        )

    def _finish(self) -> None:
        self.system.run(self.finish())
        self._open.close()
        self._seal()
        self.findings = self.judge(self.run.folder)
        if self.findings:
            raise Violated("\n".join(self.findings))

    def _header(self) -> dict[str, Any]:
        name = type(self).__name__
        return {
            "run": f"{name}-{self.seed}",
            "sut": self.sut,
            "world": "sim",
            "profiles": list(self.profiles),
            "seed": self.seed,
            "machine": f"{source_of(type(self))}:{name}",
            "mutants": [f"{source_of(one.replace)}:{one.name}" for one in self.mutants],
        }

    def _seal(self) -> None:
        """What a step broke off has no end line, and is sealed as incomplete."""
        if self._problem is not None:
            self._open.__exit__(type(self._problem), self._problem, None)
        if not self.run.history.exists():
            self.run.seal()


def play(trial: type[Trial], program: Sequence[Step]) -> None:
    """Play a program; raises what a step or the judge raises."""
    played = trial()
    try:
        for step in program:
            played.submit(step)
    finally:
        played.conclude()
