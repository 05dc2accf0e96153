"""The coordinators: how transactions end, and what groups have committed.

The end of a transaction is decided at one moment and answered at once; control records that tell it
to the partitions follow, each as soon as its leader takes it. A transaction that nobody ends is
aborted after a while. Records of a transaction that is over are refused.
"""

from __future__ import annotations

from dataclasses import dataclass, field

from spark_checkers.synthetic.brokers import Answer, refused
from spark_checkers.synthetic.loop import MS, Loop, Sleep, Task, Until
from spark_checkers.synthetic.partition import Partition, Place
from spark_checkers.synthetic.replica import NOTHING, Entry

PATIENCE_NS = 120 * MS


@dataclass(slots=True)
class Transaction:
    """A transaction: the partitions it wrote to, what was decided, how many were told."""

    name: str
    partitions: list[Partition] = field(default_factory=list)
    commits: bool | None = None
    told: int = 0

    @property
    def over(self) -> bool:
        """Whether it was decided and all partitions know."""
        return self.commits is not None and self.told == len(self.partitions)


class TransactionCoordinator:
    """Begins and ends transactions."""

    def __init__(self, loop: Loop) -> None:
        self._loop = loop
        self._all: dict[str, Transaction] = {}

    def begin(self, name: str) -> Transaction:
        """A new one, aborted in the end if nobody ends it."""
        transaction = self._all[name] = Transaction(name)
        self._loop.spawn(self._lose_patience(transaction))
        return transaction

    def is_open(self, name: str | None) -> bool:
        """Whether records may still be added; what belongs to no transaction always may."""
        return name is None or self._all[name].commits is None

    @property
    def all_over(self) -> bool:
        """Whether nothing is left to be decided or told."""
        return all(transaction.over for transaction in self._all.values())

    def add(self, name: str, partition: Partition) -> None:
        """The transaction writes to a partition."""
        transaction = self._all[name]
        if transaction.commits is None and partition not in transaction.partitions:
            transaction.partitions.append(partition)

    def end(self, name: str, commits: bool) -> Answer:
        """Decide; asked again for the same, agree."""
        transaction = self._all[name]
        if transaction.commits is None:
            self._decide(transaction, commits)
        if transaction.commits != commits:
            return refused("INVALID_TXN_STATE")
        return {"error": "NONE"}

    def _lose_patience(self, transaction: Transaction) -> Task[None]:
        yield Until(lambda: transaction.commits is not None, PATIENCE_NS)
        if transaction.commits is None:
            self._decide(transaction, False)

    def _decide(self, transaction: Transaction, commits: bool) -> None:
        transaction.commits = commits
        for at, partition in enumerate(transaction.partitions):
            self._loop.spawn(self._tell(transaction, partition, commits), (at + 1) * MS)

    def _tell(self, transaction: Transaction, partition: Partition, commits: bool) -> Task[None]:
        """Append the control record, again if a new leader does not have it, until it is safe."""
        safe = False
        while not safe:
            leader = partition.leading
            if leader.up and leader.leads:
                safe = yield from _safe_end(partition, transaction.name, commits)
            yield Sleep(MS)
        transaction.told += 1


def _safe_end(partition: Partition, name: str, commits: bool) -> Task[bool]:
    leader, epoch = partition.leading, partition.epoch
    at = _marker(partition, name)
    if at is None:
        at = partition.append(leader.node, [_end(partition, name, commits)])
    yield Until(lambda: partition.epoch != epoch or leader.high_watermark > at, 50 * MS)
    return partition.epoch == epoch and leader.high_watermark > at


def _marker(partition: Partition, name: str) -> int | None:
    leader = partition.leading
    for at, entry in enumerate(leader.log):
        if entry.transaction == name and entry.commits is not None:
            return leader.origin + at
    return None


def _end(partition: Partition, name: str, commits: bool) -> Entry:
    leader = partition.leading
    stamp = max((entry.timestamp for entry in leader.log), default=0)
    return Entry(
        value=None,
        key=None,
        timestamp=stamp,
        epoch=leader.epoch,
        batch=partition.next_batch(),
        transaction=name,
        commits=commits,
    )


class GroupCoordinator:
    """What consumer groups have committed."""

    def __init__(self) -> None:
        self._committed: dict[tuple[str, Place], int] = {}

    def commit(self, group: str, place: Place, offset: int) -> Answer:
        """The group goes on from there."""
        self._committed[group, place] = offset
        return {"error": "NONE"}

    def committed(self, group: str, place: Place) -> Answer:
        """Where the group goes on; -1 if it never committed."""
        return {"error": "NONE", "offset": self._committed.get((group, place), NOTHING)}
