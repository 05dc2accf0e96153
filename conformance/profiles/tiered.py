"""The profile `tiered`: KIP-405 on a cluster of three brokers and a remote store."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from pathlib import Path

from conformance.profiles.profile import AnyMutant
from conformance.profiles.staged import Staged
from conformance.tiered.faults import PROMISED
from conformance.tiered.stages import STAGES
from conformance.tiered.topics import plan_of
from harness.deployments.plan import DeploymentPlan
from harness.sut import Sut
from harness.sut.adapter import BROKERS


class Tiered(Staged):
    """Brokers that tier to a store, and their clients."""

    name = "tiered"
    needs = (BROKERS,)
    promised = PROMISED
    all_stages = STAGES
    decided_in = ("reference_impl.tiered",)

    def deployment(self, sut: Sut, world: str) -> DeploymentPlan:
        """Three brokers in racks, tiered storage on."""
        return plan_of(sut, world)

    def mutants(self, world: str) -> Mapping[str, AnyMutant]:
        """Those that one of its stages shows."""
        from conformance.mutants import of_tiered_storage

        return of_tiered_storage(world)

    def shown(self, mutant: str | None, world: str, folder: Path) -> Sequence[Path] | None:
        """By the stage of a mutant; the sound reference plays all of them."""
        from conformance.derived.plays import Play
        from conformance.mutants import stage_of

        stages = self.stages() if mutant is None else (stage_of(mutant),)
        if not all(stages):
            return None
        plays = [Play(name=one, profile=self.name, world=world) for one in stages]
        mutants = () if mutant is None else (mutant,)
        return [run for one in plays for run in one.record(folder / one.name, mutants)]


PROFILE = Tiered()
