"""Producers whose epochs are used up go on under another id, whatever ends their transactions.

Epochs are few here, so that every second transaction or so comes to the last of them.
"""

from __future__ import annotations

from collections.abc import Callable

import pytest

from harness.deployments.plan import broker_name
from harness.simulation.simulation import Simulation
from reference_impl.coordinators import ending, transactions
from reference_impl.log import transactions as transactions_of_logs
from tests.coordinators.transaction_bench import Cluster, Producer

LAST = 4
ROUNDS = 6
LATEST = -1

Ends = Callable[[Cluster, Producer], Producer]


@pytest.fixture
def few_epochs(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(transactions, "MAX_EPOCH", LAST)
    monkeypatch.setattr(ending, "MAX_EPOCH", LAST)
    monkeypatch.setattr(transactions_of_logs, "_LAST_EPOCH", LAST)


def sent(producer: Producer, value: str) -> str:
    """Tried again while its leader does not reach the coordinator, which is told as Kafka does."""
    for _ in range(20):
        told = producer.send(0, value)
        if told != "not_enough_replicas":
            break
        producer.cluster.sim.advance(0.2)
    return told


def fenced(cluster: Cluster, producer: Producer) -> Producer:
    successor = Producer(cluster, producer.id, protocol=producer.protocol)
    successor.init()
    assert producer.send(0, "late") != "none"
    assert producer.end(commit=True) in ("producer_fenced", "invalid_producer_id_mapping")
    return successor


def timed_out(cluster: Cluster, producer: Producer) -> Producer:
    cluster.sim.advance(3)
    assert producer.send(0, "late") != "none"
    assert producer.end(commit=True) != "none"
    producer.init(timeout_ms=1000)
    return producer


def killed(cluster: Cluster, producer: Producer) -> Producer:
    name = broker_name(cluster.coordinator(producer.id))
    cluster.sim.kill(name)
    cluster.sim.advance(8)
    assert producer.end(commit=False) == "none"
    cluster.sim.start(name)
    cluster.sim.advance(5)
    return producer


@pytest.mark.sim
@pytest.mark.usefixtures("few_epochs")
@pytest.mark.parametrize("protocol", [1, 2])
@pytest.mark.parametrize("ended", [fenced, timed_out, killed])
def test_a_producer_goes_on_when_its_epochs_are_used_up(ended: Ends, protocol: int) -> None:
    with Simulation(seed=1) as sim:
        cluster = Cluster(sim)
        producer = Producer(cluster, "x", protocol=protocol)
        told: dict[tuple[int, int], None] = {}
        for number in range(ROUNDS):
            producer.init(timeout_ms=1000 if ended is timed_out else 60_000)
            for value, commits in ((f"kept {number}", True), (f"lost {number}", False)):
                told[producer.producer_id, producer.epoch] = None
                assert protocol == 2 or producer.add(0) == "none"
                assert sent(producer, value) == "none"
                if commits:
                    assert producer.end(commit=True) == "none"
                    sim.advance(0.5)
            producer = ended(cluster, producer)
        sim.advance(2)

        assert cluster.read(0) == [f"kept {number}" for number in range(ROUNDS)]
        assert cluster.listed(0, LATEST) == len(cluster.read(0, committed=False)) + 2 * ROUNDS
        assert len({producer_id for producer_id, _ in told}) > 1
        assert all(0 <= epoch < LAST for _, epoch in told)
