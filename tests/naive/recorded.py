"""Histories to compare on: the sound reference and its mutants, by programs and by campaigns."""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from pathlib import Path

from conformance.classic.lab import record_classic
from conformance.lab import record
from conformance.mutants import CLUSTER, boundary
from conformance.profiles.profile import Plan
from conformance.programs import record_programs, recorded_programs
from harness.errors import LabBroken
from harness.history import Run
from harness.steps.program import Step
from harness.sut import reference_sut

REFERENCES: Mapping[str, str] = {
    one.name: f"{part.__name__}:{one.name}" for part in CLUSTER for one in part.MUTANTS
}


def record_program(folder: Path, program: Sequence[Step], *mutants: str, seed: int = 1) -> Path:
    """Play a program in a simulation; the run folder."""
    (run,) = record_programs(folder, [program], seed=seed, mutants=mutants)
    return run


def record_campaign(folder: Path, *mutants: str, seed: int, world: str = "sim") -> Path:
    """Play a campaign; one that finds no rest leaves what was recorded until then."""
    run = Run.create(
        folder, run=folder.name, sut="reference", world=world, profiles=["classic"], seed=seed
    )
    try:
        record_classic(run, world=world, seed=seed, sut=reference_sut(mutants=mutants))
    except LabBroken as reason:
        print(f"{folder.name}: {reason}", flush=True)
    finally:
        run.seal()
    return folder


def record_boundary(folder: Path, *mutants: str, seed: int) -> Path:
    """Play the scenarios of the boundary and a round of concurrent calls, in memory."""
    sut = reference_sut(control_plane="memory", mutants=mutants)
    run = Run.create(
        folder, run=folder.name, sut=sut.name, world="sim", profiles=["migration"], seed=seed
    )
    record(run, sut, Plan(world="sim", seed=seed, rounds=1, profiles=("migration",)))
    return folder


def boundaries(folder: Path, seed: int) -> Iterator[Path]:
    """The scenarios on the sound register, and on every mutant of it that is written in Python."""
    yield record_boundary(folder / f"boundary-sound-{seed}", seed=seed)
    for one in boundary.MUTANTS:
        reference = f"{boundary.__name__}:{one.name}"
        yield record_boundary(folder / f"boundary-{one.name}-{seed}", reference, seed=seed)


def programs(folder: Path, seed: int) -> Iterator[Path]:
    """Each program on the mutant that it shows, and on the sound cluster."""
    for name, program in recorded_programs().items():
        yield record_program(folder / f"{name}-{seed}", program, REFERENCES[name], seed=seed)
        yield record_program(folder / f"{name}-sound-{seed}", program, seed=seed)


def campaigns(folder: Path, seed: int, world: str = "sim") -> Iterator[Path]:
    """The campaign on the sound cluster and on every mutant of it."""
    yield record_campaign(folder / f"campaign-sound-{seed}", seed=seed, world=world)
    for name, reference in REFERENCES.items():
        target = folder / f"campaign-{name}-{seed}"
        yield record_campaign(target, reference, seed=seed, world=world)
