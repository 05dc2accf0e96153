"""The profile `classic`: a campaign of load and faults on one partition with three replicas.

What plays it is imported when it is played: it needs the Kafka protocol, which commands that only
look at rules do not load.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from pathlib import Path

from conformance.classic.campaign import OPTIONAL, PROMISED, plan_of
from conformance.classic.stages import STAGES
from conformance.classic.wire import WIRE, families_of
from conformance.profiles.profile import AnyMutant
from conformance.profiles.staged import Staged
from harness.deployments.plan import DeploymentPlan
from harness.sut import Sut
from harness.sut.adapter import BROKERS
from reference_impl.decisions import load_mutant


class Classic(Staged):
    """Brokers and their clients."""

    name = "classic"
    needs = (BROKERS,)
    model = "log"
    operations = frozenset(
        {"produce", "fetch", "list_offsets", "delete_records", "sequence_request"}
    )
    promised = PROMISED
    optional = OPTIONAL
    all_stages = STAGES
    decided_in = ("reference_impl",)

    def deployment(self, sut: Sut, world: str) -> DeploymentPlan:
        """Three brokers in three racks."""
        return plan_of(sut.mutants)

    def programs(self, world: str) -> tuple[str, ...]:
        """Those of its mutants."""
        from conformance.programs import recorded_programs

        unseen = self.left_out(world)
        return tuple(name for name in recorded_programs() if name not in unseen)

    def record_program(
        self, name: str, folder: Path, *, world: str, mutants: tuple[str, ...]
    ) -> Sequence[Path]:
        """On a cluster of its own."""
        from conformance.programs import record_programs, recorded_programs

        return record_programs(folder, [recorded_programs()[name]], world=world, mutants=mutants)

    def mutants(self, world: str) -> Mapping[str, AnyMutant]:
        """Those of the cluster for which a program is recorded."""
        from conformance.mutants import of_the_cluster

        return of_the_cluster(world)

    def left_out(self, world: str) -> Mapping[str, str]:
        """Those that only a simulation can show."""
        from conformance.mutants import ONLY_SIMULATED

        return {} if world == "sim" else ONLY_SIMULATED

    def shown(self, mutant: str | None, world: str, folder: Path) -> Sequence[Path] | None:
        """By the program of a mutant or the sequences of its rules; a sound cluster plays all."""
        from conformance.classic.wire_lab import record_sequences
        from conformance.programs import record_programs, recorded_programs

        programs = recorded_programs()
        if mutant is None:
            unseen = self.left_out(world)
            sound = [program for name, program in programs.items() if name not in unseen]
            asked = record_sequences(folder / WIRE, families_of(), world=world)
            return [*record_programs(folder, sound, world=world), asked]
        loaded = load_mutant(mutant)
        name = loaded.name
        if name in programs:
            return record_programs(folder, [programs[name]], world=world, mutants=(mutant,))
        if families := families_of(loaded.rules):
            return [record_sequences(folder, families, world=world, mutants=(mutant,))]
        return None


PROFILE = Classic()
