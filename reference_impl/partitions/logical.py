"""One partition as handlers see it, on every broker that knows its topic.

The local replica is an optional part of it: a broker without one may still serve what is kept
elsewhere. What participants (tiering, diskless storage, migration) add is an `Extension`. Handlers
ask the logical partition and nothing below it.
"""

from __future__ import annotations

from collections.abc import Awaitable, Callable, Mapping, Sequence
from typing import NamedTuple
from uuid import UUID

from reference_impl.kafka.batches import Batch, Bytes
from reference_impl.kafka.errors import ErrorCode, KafkaError
from reference_impl.log.producers import Producer
from reference_impl.log.transactions import EndMarker
from reference_impl.log.verification import NO_GUARD
from reference_impl.metadata.image import PartitionState
from reference_impl.partitions.appending import Appends
from reference_impl.partitions.bounding import (
    NOWHERE,
    deletion_target,
    without_what_is_elsewhere,
)
from reference_impl.partitions.extensions import Extension
from reference_impl.partitions.routing import Route, Serve, route_read
from reference_impl.partitions.views import (
    NO_EPOCH,
    Bounds,
    FetchReader,
    Refreshed,
    Region,
    RegionKind,
    Role,
    Standing,
)
from reference_impl.partitions.writing import Boundary, Pending
from reference_impl.replication.decisions import (
    EpochEnd,
    Reader,
    check_leader_epoch,
    deletion_is_done,
    readable_upto,
)
from reference_impl.replication.followers import Follower
from reference_impl.replication.partition import Partition
from reference_impl.replication.watching import Watched


class Plan(NamedTuple):
    """Where a read goes, the bounds that its reader is told, and what it would notice.

    ``epoch`` is the leader epoch of the record at the offset, as the replica knew it; −1 where what
    is read is not in its lineage.
    """

    route: Route
    bounds: Bounds
    shown: tuple[object, ...]
    epoch: int = NO_EPOCH


class LogicalPartition(Watched):
    """See the module. Whoever waits for it watches ``watched``."""

    def __init__(
        self,
        *,
        topic: str,
        topic_id: UUID,
        index: int,
        broker_id: int,
        moved: Callable[[LogicalPartition, int], None] = lambda partition, offset: None,
    ) -> None:
        super().__init__()
        self.topic = topic
        self.topic_id = topic_id
        self.index = index
        self.extensions: tuple[Extension, ...] = ()
        self.boundary = Boundary.NONE  # set by who holds ``appends_held``
        self.refused_epoch = -1  # a leader epoch in which a participant refused to lead
        self.broker_id = broker_id
        self._moved = moved
        self._moved_in = (-1, -1)  # the last boundary that was told, and in which leader epoch
        self._state = NOBODY
        self._replica: Partition | None = None
        self._appends = Appends(self)

    def boundary_is(self, offset: int) -> None:
        """It is known in this leader epoch where the WAL begins, and participants hear of it."""
        self.boundary = Boundary.SET
        known = (offset, self.state.leader_epoch)
        if known != self._moved_in:
            self._moved_in = known
            self._moved(self, offset)
        self.wake()

    def __repr__(self) -> str:
        return f"{self.topic}-{self.index}"

    # ── what this broker is to it ────────────────────────────────────────────────────────────────

    @property
    def replica(self) -> Partition | None:
        """This broker's replica, if it has one."""
        return self._replica

    def become(self, state: PartitionState, replica: Partition | None) -> None:
        """Take over what the image says, and the replica that came or went."""
        if state is self._state and replica is self._replica:
            return
        self._state = state
        if replica is not self._replica:
            self._replica = replica
            self._appends = Appends(self)
        self.wake()

    @property
    def state(self) -> PartitionState:
        """As the replica knows it, which may be ahead of the image; else as the image says."""
        return self._state if self._replica is None else self._replica.state

    @property
    def role(self) -> Role:
        """A leader that a participant holds back is none."""
        replica = self._replica
        if replica is None:
            return Role.NON_REPLICA
        leads = replica.leads and replica.state.leader_epoch != self.refused_epoch
        return Role.LEADER if leads else Role.FOLLOWER

    @property
    def leads(self) -> bool:
        """Whether this broker serves it as its leader."""
        return self.role is Role.LEADER

    @property
    def is_here(self) -> bool:
        """Whether this broker keeps or serves anything of it."""
        return self._replica is not None or bool(self.extensions)

    @property
    def watched(self) -> tuple[Watched, ...]:
        """Everything that is woken when something happens to it."""
        return (self,) if self._replica is None else (self, self._replica)

    # ── what there is ────────────────────────────────────────────────────────────────────────────

    def bounds(self, reader: Reader) -> Bounds:
        """The offsets that delimit the log, as this kind of reader may know them."""
        bounds = NOWHERE
        if self._replica is not None:
            log = self._replica.log
            bounds = Bounds(
                log.log_start_offset,
                log.local_log_start_offset,
                log.high_watermark,
                log.last_stable_offset,
                log.log_end_offset,
            )
            if log.older_unreachable:
                bounds = without_what_is_elsewhere(bounds, reader)
        for extension in self.extensions:
            bounds = extension.bounds(bounds, reader)
        return bounds

    def regions(self) -> tuple[Region, ...]:
        """Where its offsets are kept, in the order in which they are preferred."""
        regions: tuple[Region, ...] = ()
        if self._replica is not None:
            regions = (Region(RegionKind.LOCAL, self._replica.log.local_log_start_offset),)
        for extension in self.extensions:
            regions = extension.regions(regions)
        return regions

    def shows(self, reader: Reader) -> tuple[object, ...]:
        """What a reader would notice; as long as it is the same, there is nothing new to read."""
        return self._shown(reader, self.bounds(reader))

    def _shown(self, reader: Reader, bounds: Bounds) -> tuple[object, ...]:
        upto = readable_upto(
            reader, bounds.log_end_offset, bounds.high_watermark, bounds.last_stable_offset
        )
        shown = (self.state, upto, bounds.log_start_offset)
        return (*shown, self.regions()) if self.extensions else shown

    def check(self, asked_epoch: int, *, only_leader: bool) -> None:
        """Refuse whoever asks for another leader epoch, or for a leader that is elsewhere."""
        if not self.is_here:
            raise KafkaError(ErrorCode.not_leader_or_follower)
        error = check_leader_epoch(asked_epoch, self.state.leader_epoch)
        if error is not ErrorCode.none:
            raise KafkaError(error, f"{self} is in leader epoch {self.state.leader_epoch}")
        if only_leader:
            self._must_lead()

    def _must_lead(self) -> None:
        if not self.leads:
            raise KafkaError(
                ErrorCode.not_leader_or_follower,
                f"Leader not local for partition {self} on broker {self.broker_id}",
            )

    @property
    def end_is_known(self) -> bool:
        """Whether clients may hear where the log ends."""
        return self._replica is None or self._replica.end_is_known

    def find_epoch_end(self, epoch: int) -> EpochEnd:
        """The largest epoch up to this one, and the offset behind its last record."""
        ends = EpochEnd(epoch=-1, end_offset=-1)
        if self._replica is not None:
            log = self._replica.log
            known, end_offset = log.epochs.end_offset_for(epoch, log.log_end_offset)
            ends = EpochEnd(epoch=known, end_offset=end_offset)
        for extension in self.extensions:
            ends = extension.epoch_end(ends, epoch)
        return ends

    def epoch_of(self, offset: int, *, newest: bool) -> int:
        """The leader epoch of the record at an offset; of the log's end, the present one."""
        if newest:
            return self.state.leader_epoch
        if offset < 0 or self._replica is None:
            return NO_EPOCH
        epoch = self._replica.log.epochs.epoch_for(offset)
        return NO_EPOCH if epoch is None else epoch

    def last_tiered(self) -> int | None:
        """The highest offset in the remote tier, as its extension tells it."""
        known = [one.last_tiered() for one in self.extensions]
        return next((one for one in known if one is not None), None)

    def producers(self) -> Mapping[int, Producer]:
        """What this broker's replica remembers of its idempotent producers, by their ids."""
        if self._replica is None:
            raise KafkaError(ErrorCode.not_leader_or_follower)
        return self._replica.log.producers.producers

    @property
    def size(self) -> int:
        """The bytes that this broker's replica has on its disk."""
        return 0 if self._replica is None else self._replica.log.size

    # ── followers ────────────────────────────────────────────────────────────────────────────────

    @property
    def followers(self) -> Mapping[int, Follower]:
        """How far each follower is, as the leader knows from its fetches."""
        return {} if self._replica is None else self._replica.followers

    def follower_fetched(
        self, replica_id: int, *, offset: int, log_start_offset: int, leaders_end: int, epoch: int
    ) -> None:
        """Note how far a follower is; a KafkaError if it is none, or lives no more."""
        if self._replica is not None:
            self._replica.follower_fetched(
                replica_id,
                offset=offset,
                log_start_offset=log_start_offset,
                leaders_end=leaders_end,
                epoch=epoch,
            )

    # ── reading ──────────────────────────────────────────────────────────────────────────────────

    def standing(self, reader: Reader, refreshed: Refreshed) -> Standing:
        """What this broker is to it, for a reader that names no epoch and no replica."""
        bounds = self.bounds(reader)
        return Standing(self.role, self.state.leader_epoch, bounds, refreshed=refreshed)

    def plan_read(
        self,
        offset: int,
        reader: FetchReader,
        *,
        preferred: int | None = None,
        refreshed: Refreshed = Refreshed.NOT_ASKED,
    ) -> Plan:
        """Where a read goes, as things are."""
        bounds, replica = self.bounds(reader.kind), self._replica
        follows = reader.kind is Reader.FOLLOWER
        named_epoch = reader.last_fetched_epoch >= 0
        standing = Standing(
            self.role,
            self.state.leader_epoch,
            bounds,
            not follows
            or reader.replica_id < 0
            or (replica is not None and reader.replica_id in replica.followers),
            self.find_epoch_end(reader.last_fetched_epoch) if named_epoch else None,
            preferred,
            refreshed,
        )
        route = route_read(offset, self.regions(), reader, standing)
        epoch = NO_EPOCH
        if isinstance(route, Serve) and route.region.kind in (RegionKind.LOCAL, RegionKind.TIERED):
            epoch = self.epoch_of(offset, newest=False)
        return Plan(route, bounds, self._shown(reader.kind, bounds), epoch)

    # ── appending ────────────────────────────────────────────────────────────────────────────────

    def append(
        self,
        records: Bytes,
        *,
        acks: int,
        guard: int = NO_GUARD,
        sequenced: bool = True,
        leader_epoch: int | None = None,
    ) -> Awaitable[Pending]:
        """Append what a producer sent (`Writer.append`); a KafkaError says why not."""
        return self._appends.append(
            records, acks=acks, guard=guard, sequenced=sequenced, leader_epoch=leader_epoch
        )

    def append_marker(
        self, producer_id: int, producer_epoch: int, marker: EndMarker, *, bumps: bool
    ) -> Awaitable[Pending]:
        """End a producer's transaction in this partition; a KafkaError says why not."""
        return self._appends.append_marker(producer_id, producer_epoch, marker, bumps=bumps)

    def start_verification(self, batch: Batch, *, bumps: bool) -> int:
        """The guard of a batch whose coordinator has to be asked first; NO_GUARD if it need not."""
        if self._replica is None or not self.leads:
            return NO_GUARD
        return self._replica.log.start_verification(batch, bumps=bumps)

    # ── deleting ─────────────────────────────────────────────────────────────────────────────────

    async def delete_records(self, asked: int) -> int:
        """Move the log start up to an offset, or to the high watermark (−1); the offset meant."""
        self.check(-1, only_leader=True)
        replica = self._replica
        if replica is not None and replica.log.config.compact and not replica.log.config.delete:
            raise KafkaError(ErrorCode.policy_violation)
        wanted = deletion_target(asked, self.bounds(Reader.CONSUMER).high_watermark)
        if isinstance(wanted, ErrorCode):
            raise KafkaError(wanted)
        if replica is not None:
            await replica.log.advance_log_start_offset(min(wanted, replica.log.high_watermark))
        for extension in self.extensions:
            await extension.delete_records(wanted)
        return wanted

    def low_watermark(self) -> int:
        """The lowest log start among the replicas that are alive."""
        if self._replica is None or self.boundary is Boundary.SET:
            return self.bounds(Reader.CONSUMER).log_start_offset
        return self._replica.low_watermark()

    def deleted(self, wanted: int) -> ErrorCode | None:
        """Whether every live replica begins behind what was deleted; None: not yet."""
        if not self.leads:
            return ErrorCode.not_leader_or_follower
        return ErrorCode.none if deletion_is_done(self.low_watermark(), wanted) else None


def watched_of(partitions: Sequence[LogicalPartition]) -> list[Watched]:
    """Everything that may happen to any of them."""
    return [thing for one in partitions for thing in one.watched]


NOBODY = PartitionState(replicas=(), isr=(), leader=-1, leader_epoch=-1, partition_epoch=-1)
