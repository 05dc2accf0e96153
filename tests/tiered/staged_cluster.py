"""The document's scenarios on real brokers: A is broker 1, B is broker 2, segments end as told.

A record is `<offset>@<epoch>` with the document's epochs (C-20). The cluster's own epochs may have
gaps, where a partition had no leader for a while: ``epochs_of`` numbers those with records.
"""

from __future__ import annotations

from collections.abc import Callable
from typing import NamedTuple

from harness.clients.operations import NO_PRODUCER, offset_for_leader_epoch, produce
from harness.deployments.plan import broker_name
from harness.simulation.lever import LinkLever
from harness.simulation.simulation import Simulation
from reference_impl.kafka.apis import FETCH
from reference_impl.kafka.batches import batches
from reference_impl.kafka.client import Peer
from reference_impl.kafka.records import records
from reference_impl.log.decisions import EpochEntry
from reference_impl.log.log import Log
from reference_impl.replication.partition import Partition
from tests.tiered.tiered_cluster import TOPIC, TP, TieredCluster

A, B = 1, 2
PRODUCER = 4
WHOLE = 10 * 1024 * 1024
Epochs = tuple[tuple[int, int], ...]


class Answer(NamedTuple):
    """What a consumer got: an error, the values, and where its log parts from the broker's."""

    error: int
    values: list[str]
    diverging: tuple[int, int] | None = None


class StagedCluster(TieredCluster):
    """Two replicas of one partition; nothing leaves a disk before ``drop_local``."""

    def __init__(self, sim: Simulation, *, leader: int = A) -> None:
        super().__init__(sim)
        other = B if leader == A else A
        self.create(
            (leader, other),
            segment_index_bytes=str(WHOLE),
            local_retention_bytes="-1",
            unclean_leader_election_enable="true",
            min_insync_replicas="1",
        )
        self.idempotent = False  # whether one producer writes everything, in turn
        self.labels: dict[int, int] = {}  # the document's epoch of an epoch of the cluster

    # Writing.

    def write(self, *values: str, acks: int = -1) -> None:
        """Append records to the leader's log, a batch each."""
        for value in values:
            leader = self.leader()
            with self.client(leader) as client:
                offset, epoch = value.split("@")
                told = self.sim.run(
                    produce(
                        client,
                        TP,
                        records=[(value, self.sim.now_ms)],
                        acks=acks,
                        producer=(PRODUCER, 0, int(offset)) if self.idempotent else NO_PRODUCER,
                    )
                )
            assert told.fields["error"] == 0, told
            assert told.fields["offset"] == int(offset), (told, value)
            self.labels[self.replica(leader).state.leader_epoch] = int(epoch)
            self.sent += 1

    def roll(self, *brokers: int) -> None:
        """End the active segment here."""
        for broker in brokers:
            self.sim.run(self.log(broker).roll())

    def replica(self, broker: int) -> Partition:
        replica = self.extension(broker).partition.replica
        assert replica is not None
        return replica

    # Roles.

    def hand_over(self, *, to: int) -> None:
        """The leader stops in good order, another leads, it comes back."""
        leader = self.leader()
        self.stop(leader)
        self.until(lambda: self.led_by(to))
        self.sim.start(broker_name(leader))
        self.until(lambda: self.in_sync() == [A, B])

    def stop(self, broker: int) -> None:
        """It stops in good order."""
        self.cluster.stop(broker_name(broker))
        self.sim.run_until(lambda: not self.sim.nodes[broker_name(broker)].up, within_s=60)

    def lead_again(self, broker: int) -> None:
        """It leads in another epoch, alone for the time being."""
        self.stop(broker)
        self.sim.start(broker_name(broker))
        self.until(lambda: self.led_by(broker))

    def led_by(self, broker: int) -> bool:
        return self.leader() == broker and self.extension(broker).partition.leads

    def apart(self) -> LinkLever:
        """The two brokers do not reach each other; the controller reaches both."""
        return self.levers.cut(broker_name(A), broker_name(B))

    def in_sync(self) -> list[int]:
        leader = self.leader()
        return sorted(self.replica(leader).state.isr) if leader > 0 else []

    def until(self, reached: Callable[[], bool], *, within_s: float = 60.0) -> None:
        """Let time pass until it is so."""
        for _ in range(int(within_s * 10)):
            if reached():
                return
            self.sim.advance(0.1)
        raise AssertionError("it did not come to that")

    # The tier.

    def remote(self) -> list[tuple[int, int, Epochs]]:
        """The finished segments: first and last offset, epochs as the document has them."""
        return [
            (one.start_offset, one.end_offset, self._labelled(one.segment_leader_epochs))
            for one in self.segments()
            if one.finished
        ]

    def copied(self, *segments: tuple[int, int]) -> None:
        """Wait until exactly these are in the remote tier."""
        self.until(lambda: sorted(one[:2] for one in self.remote()) == sorted(segments))

    def drop_local(self, first: int, *brokers: int) -> None:
        """Let local retention take everything below an offset from the disks of these brokers."""
        sizes = [
            sum(one.size for one in self.log(broker).segments if one.base_offset >= first)
            for broker in brokers
        ]
        self.configure(local_retention_bytes=str(max(1, *sizes)))
        self.until(lambda: all(self.elo(broker) == first for broker in brokers))

    def elo(self, broker: int) -> int:
        return self.log(broker).local_log_start_offset

    def epochs_of(self, broker: int) -> Epochs:
        """The leader epochs of a broker's log that have records, as the document has them."""
        log = self.log(broker)
        return self._labelled(_with_records(log))

    def _labelled(self, entries: tuple[EpochEntry, ...]) -> Epochs:
        return tuple((self.labels[one.epoch], one.start_offset) for one in entries)

    def epoch(self, label: int) -> int:
        """The cluster's epoch of one of the document's."""
        return next(epoch for epoch, known in self.labels.items() if known == label)

    # Reading.

    def consume(self, offset: int, *, at: int, epoch: int = -1) -> Answer:
        """Fetch from a broker; ``epoch`` is the document's of the position (KIP-320, G-01)."""
        last = -1 if epoch < 0 else self.epoch(epoch)
        of = FETCH.request
        one = of.FetchPartition(
            partition=0, fetch_offset=offset, last_fetched_epoch=last, partition_max_bytes=1 << 20
        )
        request = of(
            replica_id=-1,
            max_wait_ms=100,
            min_bytes=1,
            max_bytes=1 << 20,
            session_epoch=-1,
            topics=[of.FetchTopic(topic=TOPIC, partitions=[one])],
        )
        peer = Peer(self.sim.lab, self.cluster.address(at), "lab")
        answer = self.sim.run(peer.ask(FETCH, 12, request, timeout_s=30))
        peer.abort()
        (topic,) = answer.responses
        (part,) = topic.partitions
        data = bytes(part.records or b"")
        values = [
            (record.value or b"").decode()
            for place, _ in batches(data)
            for record in records(data, place)
            if record.offset >= offset
        ]
        parted = part.diverging_epoch
        diverging = (parted.epoch, parted.end_offset) if parted.epoch >= 0 else None
        return Answer(int(part.error_code), values, diverging)

    def all_of(self, *, at: int) -> list[str]:
        """Everything from the log start to the end of the log."""
        found: list[str] = []
        start, end = self.listed(-2), self.listed(-1)  # leaders alone say so
        while start + len(found) < end:
            error, values, _ = self.consume(start + len(found), at=at)
            assert error == 0, (error, start + len(found))
            assert values, start + len(found)
            found += values
        return found

    def end_of_epoch(self, label: int, *, at: int) -> tuple[int, int]:
        """OffsetForLeaderEpoch: the largest epoch up to this one, and where it ends."""
        with self.client(at) as client:
            told = self.sim.run(
                offset_for_leader_epoch(client, TP, epoch=self.epoch(label), current=-1)
            )
        return self.labels[told.fields["leader_epoch"]], told.fields["offset"]


def _with_records(log: Log) -> tuple[EpochEntry, ...]:
    return tuple(one for one in log.epochs.entries if one.start_offset < log.log_end_offset)
