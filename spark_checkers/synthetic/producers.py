"""Producers: plain, idempotent, transactional.

A plain producer may ask for fewer acknowledgements, and its retries may append a batch twice or
after a later one. An idempotent one numbers its records per partition; having given up on a batch
it goes on under its next epoch, with sequences from 0. A transactional one is idempotent and ends
what it wrote to several partitions at once.
"""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass, field

from spark_checkers.synthetic.brokers import Batch, produce
from spark_checkers.synthetic.cluster import Cluster
from spark_checkers.synthetic.journal import Opened
from spark_checkers.synthetic.loop import MS, Task, Until, at_once
from spark_checkers.synthetic.partition import Partition, Place

IDEMPOTENT_ATTEMPTS = 8
FIRST_PRODUCER_ID = 7001


@dataclass(slots=True, kw_only=True)
class Producer:
    """One client that sends. `producer_id` is none for a plain one."""

    cluster: Cluster
    name: str
    producer_id: int | None = None
    epoch: int = 0
    sequences: dict[Place, int] = field(default_factory=dict)
    under_way: int = 0
    gave_up: bool = False

    def batch(self, partition: Partition, transaction: str | None = None) -> Batch:
        """New records for a partition, numbered if the producer numbers them."""
        random, shape = self.cluster.random, self.cluster.shape
        records = tuple(self._records(random.randint(1, shape.batch)))
        if self.producer_id is None:
            return Batch(records=records, too_large=self.cluster.chance(shape.loss))
        first = self.sequences.get(partition.place, 0)
        self.sequences[partition.place] = first + len(records)
        return Batch(
            records=records,
            producer=(self.producer_id, self.epoch, first),
            transaction=transaction,
        )

    def _records(self, count: int) -> Iterator[tuple[str | None, int, str | None]]:
        for _ in range(count):
            value = self.cluster.name(f"{self.name}-")
            key = f"k{value}" if self.cluster.chance(0.3) else None
            gone = self.cluster.shape.tombstones and key is not None and self.cluster.chance(0.3)
            yield (None if gone else value), self.cluster.stamp(), key

    def send(self, partition: Partition, batch: Batch, acks: int) -> Task[str]:
        """Attempt after attempt until it is known to be there, or not worth another one."""
        attempts = 1 + (
            IDEMPOTENT_ATTEMPTS if self.producer_id is not None else self.cluster.shape.retries
        )
        send, outcome = self.cluster.name("s"), "fail"
        for attempt in range(1, (attempts if acks else 1) + 1):
            last = attempt == attempts
            found = yield from self._attempt(partition, batch, acks, send, attempt, last)
            if found == "ok" or acks == 0:
                return "ok"
            outcome = "info" if "info" in (found, outcome) else found
            yield self.cluster.pause(2)
        return outcome

    def _attempt(
        self, partition: Partition, batch: Batch, acks: int, send: str, attempt: int, last: bool
    ) -> Task[str]:
        cluster = self.cluster
        opened, node = self._invoke(partition, batch, acks, send, attempt)
        work = produce(
            partition,
            node,
            batch,
            acks,
            is_open=cluster.transactions.is_open,
            stamp=cluster.stamp if cluster.shape.broker_stamps else None,
        )
        told: dict[str, object] = {"send": send, "attempt": attempt}
        if last:
            told["last"] = True
        if acks == 0:
            cluster.loop.spawn(_forget(cluster.ask(work)))
            cluster.journal.complete(opened, "ok", **told)
            return "ok"
        answer = yield from cluster.ask(work)
        return cluster.finish(opened, answer, **told)

    def _invoke(
        self, partition: Partition, batch: Batch, acks: int, send: str, attempt: int
    ) -> tuple[Opened, int]:
        """Write down what is asked, and whom: the node that the client believes to lead."""
        node, epoch = self.cluster.leader_of(partition)
        stamps = self.cluster.shape.broker_stamps
        records = [
            [value, None if stamps else timestamp, *([] if key is None else [key])]
            for value, timestamp, key in batch.records
        ]
        told: dict[str, object] = {
            "producer": batch.producer and list(batch.producer),
            "transaction": batch.transaction,
            "leader_epoch": epoch if self.cluster.shape.names_epochs else None,
        }
        opened = self.cluster.journal.invoke(
            self.name,
            "produce",
            topic=partition.place[0],
            partition=partition.place[1],
            node=node,
            acks=acks,
            send=send,
            attempt=attempt,
            records=records,
            **{name: value for name, value in told.items() if value is not None},
        )
        return opened, node

    def next_epoch(self) -> None:
        """Go on as somebody new."""
        self.epoch += 1
        self.sequences.clear()
        self.gave_up = False


def _forget(task: Task[object]) -> Task[None]:
    yield from task


def work(producer: Producer) -> Task[None]:
    """Send batch after batch, several at once, to any partition."""
    cluster = producer.cluster
    acks = cluster.shape.acks
    for number in range(cluster.shape.sends):
        yield cluster.pause(3)
        yield Until(lambda: producer.under_way < cluster.shape.in_flight, 10_000 * MS)
        if producer.gave_up:
            yield Until(lambda: producer.under_way == 0, 10_000 * MS)
            producer.next_epoch()
        partition = cluster.random.choice(cluster.partitions)
        asked = -1 if producer.producer_id is not None else acks[number % len(acks)]
        producer.under_way += 1
        cluster.loop.spawn(_one(producer, partition, producer.batch(partition), asked))
    yield Until(lambda: producer.under_way == 0, 10_000 * MS)


def _one(producer: Producer, partition: Partition, batch: Batch, acks: int) -> Task[None]:
    outcome = yield from producer.send(partition, batch, acks)
    producer.gave_up = producer.gave_up or outcome != "ok"
    producer.under_way -= 1


def work_in_transactions(producer: Producer) -> Task[None]:
    """Write to a few partitions, then commit or abort; what did not arrive cannot be committed."""
    cluster = producer.cluster
    for _ in range(cluster.shape.sends // 2):
        yield cluster.pause(4)
        if producer.gave_up:
            producer.next_epoch()
        yield from _transaction(producer, cluster.name(f"{producer.name}-tx"))


def _transaction(producer: Producer, name: str) -> Task[None]:
    cluster = producer.cluster
    transaction = cluster.transactions.begin(name)
    count = cluster.random.randint(1, len(cluster.partitions))
    for partition in cluster.random.sample(cluster.partitions, count):
        cluster.transactions.add(name, partition)
        outcome = yield from producer.send(partition, producer.batch(partition, name), -1)
        producer.gave_up = producer.gave_up or outcome != "ok"
        yield cluster.pause(1)
    commits = not producer.gave_up and cluster.chance(0.7)
    opened = cluster.journal.invoke(producer.name, "end_txn", transaction=name, committed=commits)
    answer = yield from cluster.ask(at_once(lambda: cluster.transactions.end(name, commits)))
    cluster.finish(opened, answer, transaction=name)
    producer.gave_up = producer.gave_up or answer is None
    yield Until(lambda: transaction.over, 10_000 * MS)
