"""What a profile is: one object that says everything the lab has to know of it.

The lab, the self-check and the command line ask this object and know no profile by name.
"""

from __future__ import annotations

import datetime
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass, field
from pathlib import Path
from typing import NamedTuple

from conformance.catalogue import CATALOGUE
from conformance.scenario import Scenario
from harness.deployments.plan import DeploymentPlan
from harness.errors import LabBroken
from harness.history import Run
from harness.history.plan import Part
from harness.rules import Rule
from harness.sut import Sut
from reference_impl.decisions import Mutant, SqlMutant

AnyMutant = Mutant | SqlMutant
Progress = Callable[[str], None]


@dataclass(frozen=True, slots=True, kw_only=True)
class Plan:
    """What a run does: which profiles, and how many rounds of seeded concurrent work.

    It is judged by `rules`, by default all that its profiles have. Its `scenarios` are played
    instead of those of its profiles; of a profile in stages those in `stages` are played, or all.
    `whole` says that nothing of what the profiles ask is left out; `day` is the day by which
    waivers are judged. Where the `first_is_enough`, a stage may end once it has recorded what
    breaks a rule for certain: what follows could not take that back.
    """

    world: str
    seed: int
    profiles: tuple[str, ...]
    scenarios: tuple[Scenario, ...] | None = None
    stages: tuple[str, ...] = ()
    first_is_enough: bool = False
    rules: tuple[str, ...] = ()
    whole: bool = False
    day: datetime.date | None = None
    rounds: int = 2


@dataclass(slots=True, kw_only=True)
class Played:
    """How many campaigns, scenarios, rounds were played, which parts could not be, and why.

    `levers` says by profile how far the lab could reach into the system, `lacks` which requests it
    does not offer, and why.
    """

    counted: dict[str, int] = field(default_factory=dict)
    skipped: dict[str, str] = field(default_factory=dict)
    brokers: tuple[int, ...] = ()
    levers: dict[str, str] = field(default_factory=dict)
    lacks: dict[str, str] = field(default_factory=dict)

    def count(self, what: str, number: int = 1) -> None:
        """So many more were played."""
        self.counted[what] = self.counted.get(what, 0) + number

    def add(self, other: Played) -> None:
        """Another profile was played in the same run."""
        for what, number in other.counted.items():
            self.count(what, number)
        self.skipped |= other.skipped
        self.brokers = self.brokers or other.brokers
        self.levers |= other.levers
        self.lacks |= other.lacks


class Piece(NamedTuple):
    """A part of a run with deployments and shards of its own; on processes it takes about so long.

    It may be recorded beside others.
    """

    record: Callable[[], Played]
    takes_s: float = 0.0


class Profile:
    """A named set of rules, what exercises and breaks them, and what that needs of a system.

    It `needs` roles of a system (`harness.sut.adapter`). `promised` faults must have landed before
    there is a certificate; an `optional` one that does not land voids nothing. The `probes` that
    there are look when its smoke test and its run are over. A history with one of the `operations`
    calls for this profile, and `check` knows it as `model`. Mutants of decisions below the modules
    `decided_in` break it; and of those that it `decides`, which are made elsewhere and which no
    other profile exercises.
    """

    name: str
    needs: tuple[str, ...] = ()
    model: str | None = None
    operations: frozenset[str] = frozenset()
    scenarios: tuple[Scenario, ...] = ()
    promised: frozenset[str] = frozenset()
    optional: frozenset[str] = frozenset()
    probes: frozenset[str] = frozenset({"objects", "metrics", "trace"})
    decided_in: tuple[str, ...] = ()
    decides: frozenset[str] = frozenset()

    @property
    def rules(self) -> tuple[Rule, ...]:
        """The rules that the lab can exercise on a running system."""
        return tuple(CATALOGUE.of_profiles((self.name,)).played())

    @property
    def smoke_shard(self) -> str:
        """Where its smoke test is recorded."""
        return f"smoke-{self.name}"

    # ── runs ─────────────────────────────────────────────────────────────────────────────────────

    def unplayable(self, sut: Sut) -> str | None:
        """Why the lab cannot play it on a system, if it cannot."""
        reasons = (sut.adapter.lacking(sut, role) for role in self.needs)
        return next((reason for reason in reasons if reason), None)

    def deployment(self, sut: Sut, world: str) -> DeploymentPlan:
        """The roles it needs: brokers, a control plane, an object store."""
        raise NotImplementedError

    def smoke(self, run: Run, sut: Sut, plan: Plan) -> int:
        """Ask what any system of this kind answers; how much that was.

        `LabBroken` if it is not answered: then no rule can be judged.
        """
        raise NotImplementedError

    def pieces(self, run: Run, sut: Sut, plan: Plan, progress: Progress) -> Sequence[Piece]:
        """What the plan asks of this profile, in pieces of which none needs another."""
        raise NotImplementedError

    def parts(self, plan: Plan) -> tuple[Part, ...]:
        """What of this profile stands in the plan of a run."""
        return tuple(self.scenario_part(scenario) for scenario in self.chosen(plan))

    def chosen(self, plan: Plan) -> tuple[Scenario, ...]:
        """The scenarios that exercise a rule of the plan."""
        if plan.scenarios is not None:
            return plan.scenarios
        wanted = set(plan.rules)
        return tuple(s for s in self.scenarios if not wanted or wanted & set(s.rules))

    def scenario_part(self, scenario: Scenario) -> Part:
        """A scenario as a part of a plan: the rules it exercises, the faults that must land."""
        faults = self.faults_of(scenario)
        return Part(
            name=scenario.slug,
            profile=self.name,
            rules=scenario.rules,
            faults=faults,
            promised=bool(faults) and self.promised.issuperset(faults),
        )

    def faults_of(self, scenario: Scenario) -> tuple[str, ...]:
        """The names of the faults that a scenario injects."""
        return ()

    # ── what it detects ──────────────────────────────────────────────────────────────────────────

    def stages(self) -> tuple[str, ...]:
        """The stages of its default run, if it has several; each can be played alone."""
        return ()

    def scripted(self) -> tuple[str, ...]:
        """Those of them in which nothing is drawn."""
        return ()

    def simulates(self, stage: str) -> bool:
        """Whether all of a stage is inside of the simulation, in a world that is one."""
        return True

    def programs(self, world: str) -> tuple[str, ...]:
        """Short programs that are no part of the default run."""
        return ()

    def record_program(
        self, name: str, folder: Path, *, world: str, mutants: tuple[str, ...]
    ) -> Sequence[Path]:
        """Play one of them."""
        raise NotImplementedError

    # ── self-check ───────────────────────────────────────────────────────────────────────────────

    def mutants(self, world: str) -> Mapping[str, AnyMutant]:
        """The built-in mutants that can show in a world, by reference."""
        return {}

    def shows(self, mutant: AnyMutant, world: str) -> bool:
        """Whether the decision of a mutant is made at all in a world."""
        return True

    def left_out(self, world: str) -> Mapping[str, str]:
        """Mutants that cannot show in a world, by name, and why not."""
        return {}

    def control_plane(self, mutant: AnyMutant | None, world: str) -> str | None:
        """The control plane with which a mutant shows, if it matters."""
        return None

    def shown(self, mutant: str | None, world: str, folder: Path) -> Sequence[Path] | None:
        """Runs that show a mutant, or the sound system, quicker than a whole one, if there are."""
        return None


def broken(sut: Sut, unanswered: int, asked: int) -> LabBroken:
    """What is said of a system that does not pass a smoke test."""
    return LabBroken(
        f"{sut.name} left {unanswered} of {asked} plain calls without a definite answer;"
        " no rule can be judged"
    )
