"""What can be played for a mutant: a stage of the default run, or a program.

`campaign` is the default run as `certify` plays it, stage by stage. `programs` are the stages in
which nothing is drawn, and the recorded programs. A profile without stages is played whole; as
programs without its rounds of drawn work.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from pathlib import Path
from types import MappingProxyType

from conformance.derived.rates import CAMPAIGN, PROGRAMS
from conformance.lab import record
from conformance.profiles import find_profile
from conformance.profiles.profile import Plan
from harness.history import Run
from harness.sut import reference_sut
from harness.sut.lever_sets import ALL

BY = (PROGRAMS, CAMPAIGN)
WHOLE = "run"
ROUNDS = 2
SEED = 1


@dataclass(frozen=True, slots=True, kw_only=True)
class Play:
    """Something to play: of which profile, in which world, how far the lab may reach."""

    name: str
    profile: str
    world: str
    program: bool = False
    rounds: int = ROUNDS
    control_plane: str | None = None
    levers: str = ALL
    seed: int = SEED

    def record(
        self, folder: Path, mutants: tuple[str, ...] = (), *, first_is_enough: bool = False
    ) -> Sequence[Path]:
        """Play it on the reference with those mutants; the run folders.

        Where the `first_is_enough`, as of mutants, it may end once a rule is broken for certain.
        """
        if self.program:
            profile = find_profile(self.profile)
            return profile.record_program(self.name, folder, world=self.world, mutants=mutants)
        sut = reference_sut(control_plane=self.control_plane, mutants=mutants, levers=self.levers)
        plan = Plan(
            world=self.world,
            seed=self.seed,
            rounds=self.rounds,
            profiles=(self.profile,),
            first_is_enough=first_is_enough or bool(mutants),
            stages=() if self.name == WHOLE else (self.name,),
        )
        run = Run.create(
            folder / "run", run="derived", sut=sut.name, world=self.world, seed=self.seed
        )
        record(run, sut, plan)
        return [run.folder]


UNHURT = ("wire",)  # stages that pull no lever: what they show does not depend on them

_TIERS = ("tiers", "tier-faults", "tier-transactions", "store-faults", "divergence", "tier-wire")

LIKELY: Mapping[str, tuple[str, ...]] = MappingProxyType(
    {
        "reference_impl.coordinators": ("wire", "transactions"),
        "reference_impl.controller": ("wire", "life-cycle", "races", "edges"),
        "reference_impl.replication": ("wire", "races", "life-cycle", "edges", *_TIERS),
        "reference_impl.partitions": ("wire", *_TIERS),
        "reference_impl.log": ("wire", *_TIERS),
        "reference_impl.metadata": ("wire", *_TIERS),
    }
)
"""Stages in which mutants of a package are likely to be seen; the others come after them."""


def likeliest_first(plays: Sequence[Play], decided_in: str) -> tuple[Play, ...]:
    """In which order plays are tried on mutants of a module: what is seen is seen in any order."""
    first = next((one for area, one in LIKELY.items() if decided_in.startswith(area)), ())
    ranks = {name: rank for rank, name in enumerate(first)}
    return tuple(sorted(plays, key=lambda one: ranks.get(one.name, len(ranks))))


def plays_of(
    profile: str,
    *,
    by: str,
    world: str,
    control_plane: str | None = None,
    levers: str = ALL,
    seed: int = SEED,
) -> tuple[Play, ...]:
    """What is played of a profile, in the order in which it is."""
    known = find_profile(profile)
    stages = known.stages() if by == CAMPAIGN else known.scripted()
    if not known.stages():
        stages = (WHOLE,)
    stages_are_the_same = bool(known.stages())  # they have no rounds; both plans play them alike
    found = [
        Play(
            name=name,
            profile=profile,
            world=world,
            rounds=ROUNDS if by == CAMPAIGN or stages_are_the_same else 0,
            control_plane=control_plane,
            levers=ALL if name in UNHURT else levers,
            seed=seed,
        )
        for name in stages
    ]
    programs = known.programs(world) if by == PROGRAMS else ()
    return (
        *found,
        *(Play(name=name, profile=profile, world=world, program=True) for name in programs),
    )
