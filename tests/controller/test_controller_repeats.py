"""The same seed gives the same cluster, event by event."""

from __future__ import annotations

from brokers_and_controller import Client, with_brokers
from one_controller import Lab, add_controller, silence

from harness.simulation.simulation import Simulation
from harness.simulation.twice import twice
from reference_impl.kafka import apis


def test_a_controller_and_its_brokers_do_the_same_again() -> None:
    def scenario(sim: Simulation) -> None:
        async def whole(lab: Lab) -> None:
            await lab.up(1, 2, 3)
            topic = apis.CREATE_TOPICS.request.CreatableTopic(
                name="t", num_partitions=12, replication_factor=2
            )
            await lab.ask(apis.CREATE_TOPICS, topics=[topic], timeout_ms=1000)
            await silence(lab, 2, 3)
            await lab.peer.close()

        add_controller(sim)
        sim.run(whole(Lab(sim)))

    twice(scenario, seed=4)


def test_topic_ids_come_from_the_nodes_own_chance() -> None:
    seen = []

    async def scenario(client: Client) -> None:
        topic = apis.CREATE_TOPICS.request.CreatableTopic(
            name="t", num_partitions=1, replication_factor=1
        )
        answer = await client.ask(apis.CREATE_TOPICS, topics=[topic], timeout_ms=1000)
        seen.append(answer.topics[0].topic_id)

    for _ in range(2):
        with_brokers(1, scenario)
    assert seen[0] == seen[1]
