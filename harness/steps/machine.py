"""A state machine that owns a simulated cluster: what it does is recorded, judged, and shrunk.

A subclass builds a cluster, says with ``@step`` what clients and the nemesis may do, and names a
judge. Hypothesis draws programs of steps (``explore``). Every example plays in a simulation of its
own and records a history of its own; at its end all faults are healed, ``finish`` does the last
reads, and the history goes to the judge. If it finds something, the smallest program is looked for
with which that still happens.

The seed of the simulation is a class attribute and no part of what is drawn: while steps are taken
away, delays and orders still come from the same streams, and what is left is a schedule of steps
and not a lucky number. To look at other seeds, run the machine once per seed (``with_seed``).

The smallest failing example is kept as a run folder whose history holds the steps; ``./tidemark
replay`` plays them again.
"""

from __future__ import annotations

import asyncio
import functools
import math
import shutil
import sys
from collections.abc import Awaitable, Callable, Mapping, Sequence
from contextlib import ExitStack
from pathlib import Path
from typing import Any, ClassVar

from hypothesis import strategies as st
from hypothesis.errors import StopTest
from hypothesis.stateful import RuleBasedStateMachine, rule
from hypothesis.strategies import SearchStrategy

from harness.history import Run
from harness.history.outcome import Outcome, unknown
from harness.history.recorder import Operation, Recorder
from harness.history.run_slot import take_slot
from harness.scratch import ScratchFolder
from harness.simulation.observer import FaultsOnly, Observer
from harness.simulation.simulation import Simulation
from harness.steps.machine_program import STEP, Step, program_of, source_of
from reference_impl.decisions import Mutant, mutated

RUNS = Path("runs")
Finding = str


class Violated(AssertionError):
    """The judge found something in the history of an example."""


def step(**lists: Any) -> Callable[[Callable[..., None]], Callable[..., None]]:
    """A rule of Hypothesis whose call is written down, so that it can be played again.

    An argument is given by a list of what it may be, simplest first, or by a function that makes
    such a list for a machine. A step that is out of place when it is called, because others were
    taken away, does nothing.
    """

    def decorate(function: Callable[..., None]) -> Callable[..., None]:
        @functools.wraps(function)
        def noted(
            self: SimulatedMachine, *, drawn: Mapping[str, Any] | None = None, **given: Any
        ) -> None:
            arguments = {**(drawn or {}), **given}
            self.note_step(Step(function.__name__, arguments, _lists_for(self, lists)))
            try:
                function(self, **arguments)
            except BaseException as problem:
                self.failed(problem)
                raise

        as_rule: Any = rule(drawn=_one_of_each(lists))
        made: Callable[..., None] = as_rule(noted)
        return made

    return decorate


def _lists_for(machine: SimulatedMachine, lists: Mapping[str, Any]) -> Mapping[str, Sequence[Any]]:
    return {name: how(machine) if callable(how) else how for name, how in lists.items()}


def _one_of_each(lists: Mapping[str, Any]) -> SearchStrategy[dict[str, Any]]:
    """A choice from each list, drawn as one number: draws are what takes Hypothesis' time."""

    def numbers(machine: Any) -> SearchStrategy[dict[str, Any]]:
        values_of = _lists_for(machine, lists)

        def chosen(number: int) -> dict[str, Any]:
            found = {}
            for name, values in reversed([*values_of.items()]):
                number, place = divmod(number, len(values))
                found[name] = values[place]
            return {name: found[name] for name in values_of}

        return st.integers(0, math.prod(map(len, values_of.values())) - 1).map(chosen)

    return st.runner().flatmap(numbers)


class SimulatedMachine(RuleBasedStateMachine):
    """Base of machines; see the module. Subclasses override what is below ``For subclasses``."""

    seed: ClassVar[int] = 0
    mutants: ClassVar[tuple[Mutant, ...]] = ()
    sut: ClassVar[str] = "reference"
    profiles: ClassVar[tuple[str, ...]] = ()

    def __init__(self) -> None:
        super().__init__()
        self.findings: Sequence[Finding] = ()
        self.program: list[Step] = []
        self.open: dict[str, Operation] = {}
        self._problem: BaseException | None = None
        with ExitStack() as closing:
            scratch = closing.enter_context(ScratchFolder("example"))
            self.run = Run.create(scratch / "run", **self._header())
            slot = take_slot(self.run, world="sim", clock="sim", part=0, shard=None)
            self.writer = slot.writer
            closing.callback(self.writer.abandon)
            closing.enter_context(mutated(*self.mutants))
            self.recorder = Recorder(slot, now=lambda: self.sim.now_ns)
            observer = self.recorder if self.records_effects else FaultsOnly(self.recorder)
            self.sim = closing.enter_context(self._simulation(observer))
            self.build()
            self._closing = closing.pop_all()

    # For subclasses.

    forgiving: ClassVar[bool] = False  # a node may end by itself: the history says so
    records_effects: ClassVar[bool] = True  # most lines of a history, and most of what it costs
    settle_s: ClassVar[float] = 30.0  # of simulated time, between healing and the last reads

    def build(self) -> None:
        """Add the nodes."""
        raise NotImplementedError

    def finish(self) -> None:
        """Everything is healed and has settled: do the last reads."""

    def judge(self, folder: Path) -> Sequence[Finding]:
        """What is wrong with the sealed history in this run folder: a kind, a colon, the rest."""
        raise NotImplementedError

    # For their steps.

    def begin(
        self, client: str, f: str, work: Callable[[], Awaitable[Outcome]], **arguments: Any
    ) -> asyncio.Task[None]:
        """Start an operation of a client; it goes on while time passes. One at a time each."""
        operation = self.open[client] = self.recorder.invoke(client, f, arguments)

        async def carried_out() -> None:
            try:
                outcome = await work()
            except (OSError, TimeoutError) as problem:
                outcome = unknown(error=type(problem).__name__)
            self.recorder.finish(operation, outcome.type, outcome.fields)
            del self.open[client]

        return self.sim.spawn(carried_out())

    def idle(self, client: str) -> bool:
        """Whether a client has nothing under way."""
        return client not in self.open

    # The life of an example.

    @classmethod
    def with_seed(cls, seed: int, *mutants: Mutant) -> type[SimulatedMachine]:
        """The same machine in another simulation, with decisions made wrong if one likes."""
        kept = {"__doc__": cls.__doc__, "__module__": cls.__module__}
        return type(cls.__name__, (cls,), {**kept, "seed": seed, "mutants": mutants})

    def note_step(self, step: Step) -> None:
        """Write a step down before it is carried out."""
        self.program.append(step)
        self.recorder.probe(STEP, [{"step": step.name, "arguments": dict(step.arguments)}])

    def failed(self, problem: BaseException) -> None:
        """A step raised; what was recorded up to here is kept."""
        self._problem = problem

    def teardown(self) -> None:
        """Heal, settle, read, seal, judge; keep the run if something is wrong with it."""
        with self._closing:
            if isinstance(sys.exc_info()[1], StopTest):
                return  # Hypothesis gave the example up half-way: nobody asks for a verdict
            try:
                if self._problem is None:
                    self._conclude()
            except BaseException as problem:
                self._problem = problem
                raise
            finally:
                self._seal()
                note = self.leave(self._problem)
                if self._problem is not None and note:
                    self._problem.add_note(note)

    def _simulation(self, observer: Observer) -> Simulation:
        return Simulation(self.seed, observer=observer, forgiving=self.forgiving)

    def _conclude(self) -> None:
        self.sim.faults.heal_all()
        self.sim.advance(self.settle_s)
        self.finish()
        self.sim.close()
        self.writer.close()
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
        """What a step or a judge broke off has no end line, and is sealed as incomplete."""
        if not self.run.history.exists():
            self.writer.abandon()
            self.run.seal()

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
