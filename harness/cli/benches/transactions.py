"""Transactions a second, against Apache Kafka: one broker, and three that have all partitions.

The same client (confluent-kafka) does the same with both, in turn, after rounds that do not count:
each transaction writes a message to each of two partitions and is committed. Several producers work
side by side, each with an id of its own; one alone shows what a client waits for. The median round
counts.
"""

from __future__ import annotations

import statistics
import threading
import time
from collections.abc import Iterator
from dataclasses import dataclass
from pathlib import Path

from confluent_kafka import KafkaException, Producer
from confluent_kafka.admin import AdminClient
from confluent_kafka.cimpl import NewTopic

from harness.cli.benches.kafka import JAVA_OPTIONS, PLAIN
from harness.cli.benches.measured import Measured, timed
from harness.cli.benches.traffic import MESSAGE, PATIENCE_S
from harness.deployments.apache_kafka import VERSION, ApacheKafka
from harness.deployments.plan import DeploymentPlan
from harness.deployments.process_cluster import ProcessCluster

TOPIC = "transactions"
PARTITIONS = 2
BROKERS = (1, 3)
PRODUCERS = (1, 8)


@dataclass(frozen=True, slots=True, kw_only=True)
class Rounds:
    """How many transactions of each producer are a round, and how many rounds there are."""

    transactions: int = 40
    rounds: int = 3
    warm_up: int = 1


def measure(folder: Path, load: Rounds | None = None) -> Iterator[Measured]:
    """Transactions a second of one producer, and of several."""
    for nodes in BROKERS:
        yield from _measured(folder / str(nodes), nodes, load or Rounds())


def _measured(folder: Path, nodes: int, load: Rounds) -> Iterator[Measured]:
    internal = {
        "transaction.state.log.replication.factor": str(nodes),
        "transaction.state.log.min.isr": str(min(nodes, 2)),
        "transaction.state.log.num.partitions": "5",
    }
    kafka = ApacheKafka(
        folder=folder / "kafka",
        nodes=nodes,
        settings={**PLAIN, **internal},
        java_options=JAVA_OPTIONS,
    )
    ours = ProcessCluster(folder / "ours", DeploymentPlan(brokers=nodes, properties=internal))
    with kafka, ours:
        for count in PRODUCERS:
            working = [_Producers(one, nodes, count) for one in (kafka.bootstrap, ours.bootstrap)]
            seconds: tuple[list[float], list[float]] = ([], [])
            for number in range(load.warm_up + load.rounds):
                for one, took in zip(working, seconds, strict=True):
                    spent = timed(lambda one=one: one.commit(load.transactions))  # type: ignore[misc]
                    if number >= load.warm_up:
                        took.append(spent)
            theirs, mine = (count * load.transactions / statistics.median(took) for took in seconds)
            yield Measured(
                row=f"{nodes} broker{'s' * (nodes > 1)}, {count} producer{'s' * (count > 1)}",
                unit="txn/s",
                rate=mine,
                baseline=f"Apache Kafka {VERSION}",
                baseline_rate=theirs,
            )


class _Producers:
    """Producers that have begun, and have committed a transaction each."""

    def __init__(self, bootstrap: str, nodes: int, count: int) -> None:
        self._topic = f"{TOPIC}-{count}"
        admin = AdminClient({"bootstrap.servers": bootstrap, "log_level": 2})
        for made in admin.create_topics([NewTopic(self._topic, PARTITIONS, nodes)]).values():
            made.result(PATIENCE_S)
        self._producers = [
            Producer(
                {
                    "bootstrap.servers": bootstrap,
                    "transactional.id": f"bench-{count}-{number}",
                    "linger.ms": 0,
                    "log_level": 2,
                }
            )
            for number in range(count)
        ]
        for one in self._producers:
            _begin(one)
        self.commit(1)

    def commit(self, transactions: int) -> None:
        """Return when each of them has committed so many."""
        failed: list[BaseException] = []

        def work(producer: Producer) -> None:
            try:
                for _ in range(transactions):
                    self._one(producer)
            except KafkaException as error:
                failed.append(error)

        threads = [threading.Thread(target=work, args=(one,)) for one in self._producers]
        for thread in threads:
            thread.start()
        for thread in threads:
            thread.join()
        if failed:
            raise RuntimeError(f"a transaction was not committed: {failed[0]}")

    def _one(self, producer: Producer) -> None:
        producer.begin_transaction()
        for index in range(PARTITIONS):
            producer.produce(self._topic, MESSAGE, partition=index)
        producer.commit_transaction(PATIENCE_S)


def _begin(producer: Producer) -> None:
    """The first one waits for the coordinators' topic, and is told to try again."""
    deadline = time.monotonic() + PATIENCE_S
    while True:
        try:
            producer.init_transactions(PATIENCE_S)
            return
        except KafkaException as error:
            if not error.args[0].retriable() or time.monotonic() > deadline:
                raise
            time.sleep(0.2)
