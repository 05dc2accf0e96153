"""What Kafka said of tiered topics, asked of a simulated broker with tiered storage."""

from __future__ import annotations

from collections.abc import Iterator

import pytest

from conformance.tiered.topics import OF_THE_REFERENCE, SETTINGS
from harness.deployments.plan import DeploymentPlan
from harness.deployments.simulated_cluster import SimulatedCluster
from harness.differential.agreement import compare_answers, told
from harness.differential.allowed import read_allowed
from harness.differential.answers import ANSWERS, Recording, read_recordings
from harness.differential.player import PlayContext, play
from harness.simulation.simulation import Simulation

pytestmark = pytest.mark.sim

RECORDINGS = {one.sequence.name: one for one in read_recordings(ANSWERS / "tiered")}
ONE_COPY = {"rlmm.config.remote.log.metadata.topic.replication.factor": "1"}


@pytest.fixture(scope="module")
def broker() -> Iterator[tuple[Simulation, SimulatedCluster]]:
    with Simulation(seed=1) as sim:
        properties = {**SETTINGS, **OF_THE_REFERENCE, **ONE_COPY}
        cluster = SimulatedCluster(sim, DeploymentPlan(brokers=1, properties=properties))
        cluster.settle()
        yield sim, cluster


@pytest.mark.parametrize("name", RECORDINGS)
def test_a_tiered_broker_answers_as_kafka_did(
    name: str, broker: tuple[Simulation, SimulatedCluster]
) -> None:
    sim, cluster = broker
    recording: Recording = RECORDINGS[name]
    context = PlayContext(network=sim.lab, bootstrap=cluster.address(1), now_ms=sim.now_ms)

    answers = sim.run(play(recording.sequence, context))

    agreement = compare_answers(recording, answers, read_allowed())
    differs = "\n".join(told(agreement, strict=False, all_of_it=True))
    assert not differs, differs
