"""What one broker carries, against Apache Kafka.

The same client sends and reads the same to both, in turn, after rounds that do not count: Java
compiles what it runs often, and so does our broker. The median round counts, because other work on
the machine hits one round and not the next. Rows "CPU" say how much a broker's processes move in a
second of CPU, all threads together (our controller, too: Kafka's node has its own inside); on a
busy machine they say more than the clock does.

Kafka has the heap that its own start script gives it, and Java's defaults otherwise. What a lab
turns on for other reasons (tiering, retention every second) is off.
"""

from __future__ import annotations

import statistics
from collections.abc import Iterator
from pathlib import Path

from harness.cli.benches.measured import Measured
from harness.cli.benches.traffic import (
    BATCHES,
    Cost,
    Load,
    Served,
    There,
    create_topic,
    processes_cpu_s,
    there_and_back,
)
from harness.deployments.apache_kafka import VERSION, ApacheKafka
from harness.deployments.plan import CONTROLLER, DeploymentPlan
from harness.deployments.process_cluster import ProcessCluster

JAVA_OPTIONS = ("-Xms1g", "-Xmx1g")
PLAIN = {
    "remote.log.storage.system.enable": "false",
    "log.retention.check.interval.ms": "300000",
}
LOAD = Load(messages=40_000, rounds=5, warm_up=3)


def measure(folder: Path, load: Load = LOAD) -> Iterator[Measured]:
    """MiB a second, acks=1 and acks=all."""
    yield from measure_nodes(folder, nodes=1, acks=("1", "all"), load=load)


def measure_nodes(
    folder: Path, *, nodes: int, acks: tuple[str, ...], load: Load
) -> Iterator[Measured]:
    """The same for clusters whose brokers all have the partition."""
    kafka = ApacheKafka(
        folder=folder / "kafka", nodes=nodes, settings=PLAIN, java_options=JAVA_OPTIONS
    )
    with kafka, ProcessCluster(folder / "ours", DeploymentPlan(brokers=nodes)) as cluster:
        java = [node.pid for node in kafka.nodes.values() if node.pid is not None]
        python = [cluster.pid(name) for name in (CONTROLLER, *cluster.plan.names)]
        both = (
            Served(bootstrap=kafka.bootstrap, cpu_s=lambda: processes_cpu_s(java)),
            Served(bootstrap=cluster.bootstrap, cpu_s=lambda: processes_cpu_s(python)),
        )
        for size, batch_bytes in BATCHES.items():
            for wanted in acks:
                rounds = _rounds(both, nodes, batch_bytes, wanted, load)
                yield from _measured(f"{size}, {nodes} × acks={wanted}", rounds, load.mib)


def _rounds(
    both: tuple[Served, Served], nodes: int, batch_bytes: int, acks: str, load: Load
) -> list[tuple[There, There]]:
    """Those that count: what each cost Kafka, and us."""
    rounds = []
    for number in range(load.warm_up + load.rounds):
        topic = f"round-{batch_bytes}-{acks}-{number}"
        costs = []
        for one in both:
            create_topic(one.bootstrap, topic, nodes)
            costs.append(
                there_and_back(
                    one, topic, messages=load.messages, batch_bytes=batch_bytes, acks=acks
                )
            )
        rounds.append((costs[0], costs[1]))
    return rounds[load.warm_up :]


def _measured(name: str, rounds: list[tuple[There, There]], mib: float) -> Iterator[Measured]:
    halves = {
        "produce": [(kafka.produce, ours.produce) for kafka, ours in rounds],
        "consume": [(kafka.consume, ours.consume) for kafka, ours in rounds],
    }
    for half, costs in halves.items():
        kafka, ours = ([cost[at] for cost in costs] for at in (0, 1))
        yield _row(f"{half} {name}", "MiB/s", mib, _median_s(kafka), _median_s(ours))
        yield _row(f"{half} {name}, CPU", "MiB/CPU-s", mib, _median_cpu(kafka), _median_cpu(ours))


def _median_s(costs: list[Cost]) -> float:
    return statistics.median(cost.seconds for cost in costs)


def _median_cpu(costs: list[Cost]) -> float:
    return statistics.median(cost.cpu_s for cost in costs)


def _row(name: str, unit: str, mib: float, kafka: float, ours: float) -> Measured:
    return Measured(
        row=name,
        unit=unit,
        rate=mib / ours,
        baseline=f"Apache Kafka {VERSION}",
        baseline_rate=mib / kafka,
    )
