"""Consumers and administrators: fetches, listed offsets, deletions, questions about epochs.

A reader goes on where its last answer ended, seeks now and then, and starts anew at the log start
when its offset is out of range. Members of a group take over from each other at the committed
offset.
"""

from __future__ import annotations

from typing import Any

from spark_checkers.synthetic.brokers import (
    Answer,
    FetchAsked,
    delete_records,
    fetch,
    list_offsets,
    offset_for_leader_epoch,
)
from spark_checkers.synthetic.cluster import FIRST_STAMP_MS, Cluster
from spark_checkers.synthetic.journal import Opened
from spark_checkers.synthetic.loop import MS, Task, at_once
from spark_checkers.synthetic.partition import Partition
from spark_checkers.synthetic.replica import (
    EARLIEST,
    LATEST,
    MAX_TIMESTAMP,
    READ_COMMITTED,
    READ_UNCOMMITTED,
)

ALL = 1_000_000


class Reader:
    """One client that reads."""

    def __init__(self, cluster: Cluster, name: str, isolation: str = READ_UNCOMMITTED) -> None:
        self.cluster = cluster
        self.name = name
        self.isolation = isolation

    def where(self, partition: Partition) -> tuple[int, int | None]:
        """Which node to ask, and the epoch to name."""
        cluster = self.cluster
        node, epoch = cluster.leader_of(partition)
        if cluster.shape.from_followers and not cluster.calm and cluster.chance(0.4):
            node = cluster.random.choice(cluster.nodes)
        named = cluster.shape.names_epochs and cluster.chance(0.8)
        return node, epoch if named else None

    def begin(self, partition: Partition, f: str, node: int, **fields: Any) -> Opened:
        """Write down what is asked of a partition."""
        topic, number = partition.place
        told = {name: value for name, value in fields.items() if value is not None}
        return self.cluster.journal.invoke(
            self.name, f, topic=topic, partition=number, node=node, **told
        )

    def fetch(
        self,
        partition: Partition,
        offset: int,
        *,
        limit: int,
        wait_ms: int,
        request: str | None = None,
    ) -> Task[Answer | None]:
        """Fetch once."""
        cluster = self.cluster
        node, epoch = self.where(partition)
        prefer = None
        if cluster.shape.from_followers and not cluster.calm and cluster.chance(0.2):
            prefer = cluster.random.choice(cluster.nodes)
        asked = FetchAsked(
            offset=offset,
            isolation=self.isolation,
            epoch=epoch,
            limit=limit,
            wait_ns=wait_ms * MS,
            starved=request is not None and cluster.chance(0.4),
            prefer=None if prefer == node else prefer,
        )
        opened = self.begin(
            partition,
            "fetch",
            node,
            offset=offset,
            isolation=self.isolation,
            leader_epoch=epoch,
            request=request,
        )
        answer = yield from cluster.ask(fetch(partition, node, asked))
        cluster.finish(opened, _written(answer), offset=offset)
        return answer

    def listed(self, partition: Partition, timestamp: int) -> Task[Answer | None]:
        """List an offset once."""
        node, epoch = self.where(partition)
        if not self.cluster.calm and node != partition.leader and self.cluster.chance(0.7):
            node = partition.leader
        opened = self.begin(
            partition,
            "list_offsets",
            node,
            timestamp=timestamp,
            isolation=self.isolation,
            leader_epoch=epoch,
        )
        answer = yield from self.cluster.ask(
            at_once(lambda: list_offsets(partition, node, timestamp, self.isolation, epoch))
        )
        self.cluster.finish(opened, answer)
        return answer

    def earliest(self, partition: Partition) -> Task[int]:
        """The log start, asked for until somebody knows."""
        while True:
            answer = yield from self.listed(partition, EARLIEST)
            if answer is not None and "offset" in answer:
                return int(answer["offset"])
            yield self.cluster.pause(3)


def _written(answer: Answer | None) -> Answer | None:
    """An answer with its records as a history has them."""
    if answer is None or "records" not in answer:
        return answer
    records = [
        [at, e.value, e.timestamp, e.epoch, *([] if e.key is None else [e.key])]
        for at, e in answer["records"]
    ]
    return {**answer, "records": records}


def read_on(reader: Reader) -> Task[None]:
    """Follow one partition, or two in shared requests."""
    cluster = reader.cluster
    partition = cluster.random.choice(cluster.partitions)
    offset = yield from reader.earliest(partition)
    for _ in range(cluster.shape.fetches):
        yield cluster.pause(3)
        request = None
        if cluster.shape.shared_requests and cluster.chance(0.4):
            request = cluster.name("r")
            other = cluster.random.choice(cluster.partitions)
            cluster.loop.spawn(_beside(reader, other, request))
        limit, wait = cluster.random.choice([1, 2, 5, ALL]), cluster.random.choice([0, 5, 20])
        answer = yield from reader.fetch(
            partition, offset, limit=limit, wait_ms=wait, request=request
        )
        offset = yield from _next_offset(reader, partition, offset, answer)


def _beside(reader: Reader, partition: Partition, request: str) -> Task[None]:
    offset = partition.leading.start
    yield from reader.fetch(partition, offset, limit=3, wait_ms=0, request=request)


def _next_offset(
    reader: Reader, partition: Partition, offset: int, answer: Answer | None
) -> Task[int]:
    if answer is None:
        return offset
    if answer["error"] == "OFFSET_OUT_OF_RANGE":
        return (yield from reader.earliest(partition))
    if "next_offset" not in answer:
        return offset
    if reader.cluster.chance(0.1):
        low, high = answer["log_start_offset"], answer["high_watermark"]
        return reader.cluster.random.randint(low, max(low, high))
    return int(answer["next_offset"])


def read_as_member(reader: Reader, group: str) -> Task[None]:
    """Start where the group is, fetch, commit; several members may do so at once."""
    cluster = reader.cluster
    partition = cluster.random.choice(cluster.partitions)
    for _ in range(3):
        offset = yield from _committed(reader, partition, group)
        for _ in range(cluster.shape.fetches // 3):
            yield cluster.pause(3)
            answer = yield from reader.fetch(partition, offset, limit=5, wait_ms=5)
            offset = yield from _next_offset(reader, partition, offset, answer)
            yield from _commit(reader, partition, group, offset)


def _committed(reader: Reader, partition: Partition, group: str) -> Task[int]:
    cluster = reader.cluster
    node = cluster.nodes[0]
    opened = reader.begin(partition, "offset_fetch", node, group=group)
    answer = yield from cluster.ask(
        at_once(lambda: cluster.groups.committed(group, partition.place))
    )
    cluster.finish(opened, answer)
    if answer is None or answer["offset"] < 0:
        return (yield from reader.earliest(partition))
    return int(answer["offset"])


def _commit(reader: Reader, partition: Partition, group: str, offset: int) -> Task[None]:
    cluster = reader.cluster
    opened = reader.begin(partition, "offset_commit", cluster.nodes[0], group=group, offset=offset)
    answer = yield from cluster.ask(
        at_once(lambda: cluster.groups.commit(group, partition.place, offset))
    )
    cluster.finish(opened, answer)


def ask_around(reader: Reader) -> Task[None]:
    """List offsets of every kind, and where epochs end."""
    cluster = reader.cluster
    for number in range(max(cluster.shape.listings, cluster.shape.epoch_questions)):
        yield cluster.pause(6)
        partition = cluster.random.choice(cluster.partitions)
        if number < cluster.shape.listings:
            since = cluster.random.randint(FIRST_STAMP_MS, cluster.stamp() + 3)
            kinds = [LATEST, EARLIEST, MAX_TIMESTAMP, since, since]
            yield from reader.listed(partition, cluster.random.choice(kinds))
        if number < cluster.shape.epoch_questions:
            yield from _epoch_question(reader, partition)


def _epoch_question(reader: Reader, partition: Partition) -> Task[None]:
    cluster = reader.cluster
    node, epoch = reader.where(partition)
    asked = cluster.random.randint(max(0, partition.epoch - 3), partition.epoch + 1)
    opened = reader.begin(
        partition, "offset_for_leader_epoch", node, epoch=asked, leader_epoch=epoch
    )
    answer = yield from cluster.ask(
        at_once(lambda: offset_for_leader_epoch(partition, node, asked, epoch))
    )
    cluster.finish(opened, answer)


def delete(reader: Reader) -> Task[None]:
    """Delete records below some offset, now and then up to the high watermark."""
    cluster = reader.cluster
    for _ in range(cluster.shape.deletions):
        yield cluster.pause(12)
        partition = cluster.random.choice(cluster.partitions)
        node, _ = cluster.leader_of(partition)
        leader = partition.leading
        offset = cluster.random.randint(leader.start, max(leader.start, leader.high_watermark) + 1)
        offset = -1 if cluster.chance(0.15) else offset
        opened = reader.begin(partition, "delete_records", node, offset=offset)
        answer = yield from cluster.ask(delete_records(partition, node, offset))
        cluster.finish(opened, answer)


def read_all(reader: Reader) -> Task[None]:
    """Every partition from its log start to its end, when nothing moves any more."""
    for partition in reader.cluster.partitions:
        offset = yield from reader.earliest(partition)
        yield from reader.listed(partition, LATEST)
        while offset < partition.leading.bound(reader.isolation):
            answer = yield from reader.fetch(partition, offset, limit=7, wait_ms=0)
            offset = offset if answer is None else answer.get("next_offset", offset)


def reader_of(cluster: Cluster, kind: str, *, committed: bool = False) -> Reader:
    """A reader with a name of its own."""
    return Reader(cluster, cluster.name(kind), READ_COMMITTED if committed else READ_UNCOMMITTED)
