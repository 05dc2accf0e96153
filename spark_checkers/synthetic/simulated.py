"""Good histories: what clients of a correct cluster might have seen, by seed and shape.

Clients work, trouble comes and goes, then everything is healed, producers are done and fenced, all
replicas have caught up, and everything is read from log start to end. The simulated partitions keep
Kafka's promises by construction, so whatever a rule finds here is a mistake of the rule, or of the
simulation.
"""

from __future__ import annotations

from dataclasses import dataclass
from functools import cached_property
from pathlib import Path
from typing import Any

from harness.history import History, Run, history_of
from spark_checkers.synthetic import trouble
from spark_checkers.synthetic.cluster import Cluster
from spark_checkers.synthetic.journal import Event, Line
from spark_checkers.synthetic.loop import MS, Task, Until
from spark_checkers.synthetic.partition import Place
from spark_checkers.synthetic.producers import (
    FIRST_PRODUCER_ID,
    Producer,
    work,
    work_in_transactions,
)
from spark_checkers.synthetic.readers import (
    ask_around,
    delete,
    read_all,
    read_as_member,
    read_on,
    reader_of,
)
from spark_checkers.synthetic.replica import Entry
from spark_checkers.synthetic.shape import Shape

PATIENCE_NS = 60_000 * MS


@dataclass(frozen=True)
class Simulated:
    """A history as its writers wrote it, and the logs as they were in the end."""

    seed: int
    world: str
    lines: tuple[Line, ...]
    logs: dict[Place, tuple[int, tuple[Entry, ...]]]
    """By partition: the offset of the first entry, and all entries of the last leader."""

    @cached_property
    def header(self) -> dict[str, Any]:
        """The header line."""
        fields = {"run": f"synthetic-{self.seed}", "sut": "synthetic", "world": self.world}
        return {"kind": "header", "format": 1, **fields, "seed": self.seed}

    @cached_property
    def events(self) -> list[Event]:
        """The events in the order in which sealing puts them."""
        ordered = sorted(self.lines, key=lambda line: (line.event["time"], line.writer))
        return [{**line.event, "index": at} for at, line in enumerate(ordered)]

    def history(self) -> History:
        """The history in memory."""
        return history_of(self.events, header=self.header)

    def write(self, folder: Path) -> Path:
        """Record it shard by shard as a run in a folder, sealed; where the history is."""
        fields = {
            name: value for name, value in self.header.items() if name not in ("kind", "format")
        }
        run = Run.create(folder, **fields)
        for writer in dict.fromkeys(line.writer for line in self.lines):
            lines = [line.event for line in self.lines if line.writer == writer]
            with run.shard(writer, lines[0]["clock"]) as shard:
                for event in lines:
                    shard.write(event)
        run.seal()
        return run.history


def simulate(seed: int, shape: Shape, *, world: str = "process") -> Simulated:
    """The history of one run."""
    cluster = Cluster(seed, shape)
    for partition in cluster.partitions:
        for node in cluster.nodes:
            cluster.loop.spawn(trouble.replicate(cluster, partition, node))
    tasks = [*_clients(cluster), *_troubles(cluster)]
    for task in tasks:
        cluster.loop.spawn(_counted(cluster, task))
    cluster.loop.spawn(_end(cluster))
    cluster.loop.run()
    return Simulated(
        seed,
        world,
        tuple(cluster.journal.lines),
        {
            partition.place: (partition.leading.origin, tuple(partition.leading.log))
            for partition in cluster.partitions
        },
    )


def _clients(cluster: Cluster) -> list[Task[None]]:
    shape = cluster.shape
    found: list[Task[None]] = []
    for number in range(shape.idempotent + shape.transactional):
        producer = Producer(
            cluster=cluster, name=cluster.name("p"), producer_id=FIRST_PRODUCER_ID + number
        )
        ordinary = number < shape.idempotent
        found.append(work(producer) if ordinary else work_in_transactions(producer))
    for _ in range(shape.plain):
        found.append(work(Producer(cluster=cluster, name=cluster.name("p"))))
    for number in range(shape.readers):
        committed = shape.committed_readers and number % 2 == 0
        found.append(read_on(reader_of(cluster, "c", committed=committed)))
    for _ in range(shape.group_members):
        found.append(read_as_member(reader_of(cluster, "c"), "g"))
    found.append(ask_around(reader_of(cluster, "a")))
    found.append(delete(reader_of(cluster, "a")))
    return found


def _troubles(cluster: Cluster) -> list[Task[None]]:
    return [
        trouble.elections(cluster),
        trouble.kills(cluster),
        trouble.cut_offs(cluster),
        trouble.unclean(cluster),
        trouble.retention(cluster),
    ]


def _counted(cluster: Cluster, task: Task[None]) -> Task[None]:
    cluster.busy += 1
    yield from task
    cluster.busy -= 1


def _end(cluster: Cluster) -> Task[None]:
    """When all are done: let what is on its way arrive, then read everything."""
    yield cluster.pause(1)
    yield Until(lambda: cluster.busy == 0, PATIENCE_NS)
    cluster.calm = True
    yield Until(lambda: _quiet(cluster), PATIENCE_NS)
    yield from read_all(reader_of(cluster, "final"))
    if cluster.shape.transactional:
        yield from read_all(reader_of(cluster, "final", committed=True))
    cluster.stopped = True


def _quiet(cluster: Cluster) -> bool:
    """Whether nothing is under way and all replicas are alike. Their log starts may differ: a
    deletion that the old leader began counts for nobody else until it is done everywhere."""
    return (
        cluster.travelling == 0
        and cluster.transactions.all_over
        and all(
            replica.log == partition.leading.log and replica.high_watermark == replica.end
            for partition in cluster.partitions
            for replica in partition.replicas.values()
        )
    )
