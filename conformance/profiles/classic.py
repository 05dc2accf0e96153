"""The profile `classic`: a campaign of load and faults on one partition with three replicas.

What plays it is imported when it is played: it needs the Kafka protocol, which commands that only
look at rules do not load.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from pathlib import Path

from conformance.classic.campaign import OPTIONAL, PROMISED, plan_of
from conformance.classic.stages import STAGES, Stage, StageRun
from conformance.classic.wire import WIRE, families_of
from conformance.profiles.profile import AnyMutant, Plan, Played, Profile, Progress
from harness.at_once import at_the_same_time
from harness.deployments.deploy import deploy
from harness.deployments.plan import DeploymentPlan
from harness.history import Run
from harness.history.plan import Part
from harness.sut import Sut
from harness.sut.adapter import BROKERS
from harness.workloads.look_steps import look_around
from reference_impl.decisions import load_mutant


class Classic(Profile):
    """Brokers and their clients."""

    name = "classic"
    needs = (BROKERS,)
    model = "log"
    operations = frozenset(
        {"produce", "fetch", "list_offsets", "delete_records", "sequence_request"}
    )
    promised = PROMISED
    optional = OPTIONAL
    decided_in = ("reference_impl",)

    def deployment(self, sut: Sut, world: str) -> DeploymentPlan:
        """Three brokers in three racks."""
        return plan_of(sut.mutants)

    def parts(self, plan: Plan) -> tuple[Part, ...]:
        """Those of its stages."""
        return tuple(part for stage in self._stages(plan) for part in stage.parts())

    def smoke(self, run: Run, sut: Sut, plan: Plan) -> int:
        """Five requests that any cluster answers."""
        from conformance.classic.smoke import smoke

        roles, at = self.deployment(sut, plan.world), self.smoke_shard
        with deploy(sut, roles, run=run, world=plan.world, seed=plan.seed, shard=at) as on:
            return on.run(smoke(on, sut.name)) + look_around(on, self.probes)

    def record(self, run: Run, sut: Sut, plan: Plan, progress: Progress) -> Played:
        """Every stage on a deployment of its own.

        Processes wait more than they work: there two stages are played at a time.
        """

        given = StageRun(
            run=run,
            world=plan.world,
            seed=plan.seed,
            sut=sut,
            probes=self.probes,
            first_is_enough=plan.first_is_enough,
            progress=progress,
        )
        at_once = 2 if plan.world == "process" and sut.adapter.started else 1
        played = Played()
        for done in at_the_same_time(lambda one: one.record(given), self._stages(plan), at_once):
            counted, skipped = dict(done.counted), dict(done.skipped)
            levers = {self.name: done.levers} if done.levers else {}
            played.add(
                Played(counted=counted, skipped=skipped, brokers=done.brokers, levers=levers)
            )
        return played

    def _stages(self, plan: Plan) -> tuple[Stage, ...]:
        return tuple(one for one in STAGES if not plan.stages or one.name in plan.stages)

    def stages(self) -> tuple[str, ...]:
        """In the order in which they are played."""
        return tuple(one.name for one in STAGES)

    def scripted(self) -> tuple[str, ...]:
        """Those that are lists of requests or steps."""
        return tuple(one.name for one in STAGES if one.scripted)

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
