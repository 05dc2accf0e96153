"""The profile `tiered`: KIP-405 on a cluster of three brokers and a remote store."""

from __future__ import annotations

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


PROFILE = Tiered()
