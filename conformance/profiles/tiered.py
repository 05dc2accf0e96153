"""The profile `tiered`: KIP-405 on a cluster of three brokers and a remote store."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from pathlib import Path

from conformance.classic.stages import StageRun
from conformance.profiles.profile import AnyMutant
from conformance.profiles.staged import Staged
from conformance.tiered import faults, store_faults
from conformance.tiered.stages import STAGES
from conformance.tiered.topics import plan_of
from harness.deployments.plan import DeploymentPlan
from harness.history import Run
from harness.sut import Sut, reference_sut
from harness.sut.adapter import BROKERS

SEED = 1


class Tiered(Staged):
    """Brokers that tier to a store, and their clients."""

    name = "tiered"
    needs = (BROKERS,)
    promised = faults.STAGE.promised | store_faults.STAGE.promised
    all_stages = STAGES
    decided_in = ("reference_impl.tiered",)
    decides = frozenset(
        {
            "after-tiered-read",
            "brokers-have-stopped",
            "follower-elsewhere",
            "local-log-start",
            "local-retention-fits",
            "local-segment-may-go",
            "policy-of-tiered",
            "without-what-is-elsewhere",
        }
    )

    def deployment(self, sut: Sut, world: str) -> DeploymentPlan:
        """Three brokers in racks, tiered storage on."""
        return plan_of(sut, world)

    def mutants(self, world: str) -> Mapping[str, AnyMutant]:
        """Those that one of its stages shows."""
        from conformance.mutants import of_tiered_storage

        return of_tiered_storage(world)

    def shown(self, mutant: str | None, world: str, folder: Path) -> Sequence[Path] | None:
        """By a situation of a stage; the sound reference plays all of them."""
        from conformance.mutants import stage_of
        from conformance.tiered.lab import record_situation

        found = [(one, "") for one in self.stages()] if mutant is None else [stage_of(mutant)]
        runs = []
        for number, one in enumerate(found):
            if one is None:
                return None
            sut = reference_sut(mutants=() if mutant is None else (mutant,))
            run = Run.create(
                folder / str(number), run="shown", sut=sut.name, world=world, seed=SEED
            )
            record_situation(StageRun(run=run, world=world, seed=SEED, sut=sut), *one)
            run.seal()
            runs.append(run.folder)
        return runs


PROFILE = Tiered()
