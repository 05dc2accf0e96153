"""What once kept a replica out of the ISR, or a partition without a leader, for ever."""

from __future__ import annotations

from collections.abc import Callable, Coroutine, Iterator
from contextlib import contextmanager
from typing import Any, TypeVar
from uuid import UUID

import pytest

from harness.clients.admin import create_topic, leadership
from harness.clients.operations import TopicPartition, delete_records, fetch, produce
from harness.clients.raw import RawClient
from harness.deployments.plan import DeploymentPlan, broker_name
from harness.deployments.simulated_cluster import CONTROLLER_PORT, SimulatedCluster
from harness.simulation.simulation import Simulation
from reference_impl.kafka.apis import BROKER_REGISTRATION
from reference_impl.kafka.client import Peer
from reference_impl.kafka.errors import ErrorCode
from reference_impl.ports import Address

pytestmark = pytest.mark.sim

Result = TypeVar("Result")
TP = TopicPartition("t", 0)
PLAN = DeploymentPlan(
    brokers=3,
    properties={"broker.session.timeout.ms": "1000", "broker.heartbeat.interval.ms": "300"},
)


class Cluster:
    """Three brokers in a simulation, and a topic on all of them that broker 1 leads."""

    def __init__(self, sim: Simulation) -> None:
        self.sim = sim
        self.nodes = SimulatedCluster(sim, PLAN)
        self.nodes.settle()
        self.ask(lambda client: create_topic(client, TP.topic, assignments=[[1, 2, 3]]))

    def ask(
        self, work: Callable[[RawClient], Coroutine[Any, Any, Result]], broker: int = 1
    ) -> Result:
        """Ask a broker something."""
        client = RawClient(self.sim.lab, self.nodes.address(broker))
        try:
            return self.sim.run(work(client))
        finally:
            client.abort()

    def isr(self) -> list[int]:
        return sorted(self.ask(lambda client: leadership(client, TP, timeout_s=1.0)).isr)


@contextmanager
def cluster() -> Iterator[Cluster]:
    with Simulation(seed=5) as sim:
        yield Cluster(sim)


def test_a_follower_joins_whose_leaders_log_starts_inside_a_batch() -> None:
    with cluster() as made:
        down = made.sim.levers.kill(broker_name(3))
        made.sim.advance(3.0)
        records = [("a", 1), ("b", 2)]
        made.ask(lambda client: produce(client, TP, records=records, acks=-1))
        deleted = made.ask(lambda client: delete_records(client, TP, offset=1))
        assert deleted.fields["log_start_offset"] == 1
        assert made.isr() == [1, 2]

        down.release()
        made.sim.advance(5.0)
        assert made.isr() == [1, 2, 3]


def test_a_deposed_leader_joins_again_whose_cut_falls_inside_a_batch() -> None:
    """Apache Kafka 4.3.1 gives such a replica up (docs/track-record.md)."""
    with cluster() as made:
        ends = [broker_name(one) for one in (2, 3)]
        cut = made.sim.levers.cut(broker_name(1), [*ends, "controller"])
        for number in range(20):  # of an epoch that nobody else will know
            one = [(f"old-{number}", number)]
            made.ask(lambda client, one=one: produce(client, TP, records=one, acks=1))  # type: ignore[misc]
        made.sim.advance(3.0)
        leader = made.ask(lambda client: leadership(client, TP, timeout_s=1.0), 2).leader
        assert leader in (2, 3)
        for number in range(5):
            two = [(f"new-{number}", number), (f"new-{number}-b", number)]
            sent = made.ask(
                lambda client, two=two: produce(client, TP, records=two, acks=-1),  # type: ignore[misc]
                leader,
            )
            assert sent.fields["error"] == 0
        deleted = made.ask(lambda client: delete_records(client, TP, offset=5), leader)
        assert deleted.fields["log_start_offset"] == 5  # the second record of the batch 4, 5

        cut.release()
        made.sim.advance(10.0)
        assert made.isr() == [1, 2, 3]
        seen = made.ask(lambda client: fetch(client, TP, offset=5))
        assert [row[1] for row in seen.fields["records"]] == [
            "new-2-b",
            *(name for number in (3, 4) for name in (f"new-{number}", f"new-{number}-b")),
        ]


def test_a_broker_registers_again_when_an_earlier_life_was_taken_for_the_latest() -> None:
    with cluster() as made:
        cut = made.sim.levers.cut(broker_name(2), "controller")
        made.sim.advance(3.0)
        assert made.isr() == [1, 3]
        made.sim.run(_register_an_earlier_life(made, 2))

        cut.release()
        made.sim.advance(5.0)
        assert made.isr() == [1, 2, 3]


def test_a_leader_whose_disk_failed_hands_over_until_it_is_started_again() -> None:
    with cluster() as made:
        failing = made.sim.levers.disk_failing(broker_name(1))
        sent = made.ask(lambda client: produce(client, TP, records=[("a", 1)], acks=-1))
        assert sent.fields["error"] == int(ErrorCode.kafka_storage_error)
        failing.release()
        made.sim.advance(2.0)
        leader = made.ask(lambda client: leadership(client, TP, timeout_s=1.0), 2).leader
        assert leader in (2, 3)
        sent = made.ask(lambda client: produce(client, TP, records=[("b", 1)], acks=-1), leader)
        assert sent.fields["error"] == 0
        made.sim.kill(broker_name(1))
        made.sim.start(broker_name(1))
        made.sim.advance(5.0)
        assert made.isr() == [1, 2, 3]


async def _register_an_earlier_life(made: Cluster, broker: int) -> None:
    at = made.nodes.address(broker)
    listener = BROKER_REGISTRATION.request.Listener(
        name="PLAINTEXT", host=at.host, port=at.port, security_protocol=0
    )
    request = BROKER_REGISTRATION.request(
        broker_id=broker,
        cluster_id=PLAN.cluster_id,
        incarnation_id=UUID(int=77),
        listeners=[listener],
        log_dirs=[UUID(int=77)],
        previous_broker_epoch=-1,
    )
    peer = Peer(made.sim.lab, Address("controller", CONTROLLER_PORT), "an earlier life")
    answer = await peer.ask(BROKER_REGISTRATION, 4, request, timeout_s=5.0)
    assert not answer.error_code
    await peer.close()
