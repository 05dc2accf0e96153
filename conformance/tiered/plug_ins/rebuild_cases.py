"""What a follower builds of a log whose beginning is in the remote tier alone (C-18).

A copy is (number, first, last, lineage); every offset is a batch of one record, by a producer of
its own: 10 more than the offset, or 90 more where its epoch is not of the leader's lineage. Told
are the epochs as `epoch@offset` and the producers.
"""

from __future__ import annotations

import asyncio
from collections.abc import Mapping, Sequence
from random import Random
from types import MappingProxyType, SimpleNamespace
from typing import Any, cast

from conformance.tiered.plug_ins.bench import Bench, Case
from conformance.tiered.plug_ins.managers import ORDERS
from reference_impl.kafka.batches import header
from reference_impl.kafka.errors import KafkaError
from reference_impl.kafka.records import build_batch
from reference_impl.log.decisions import EpochEntry
from reference_impl.log.producers import ProducerStates
from reference_impl.ports import Ports
from reference_impl.replication.copying import RestartPoint
from reference_impl.replication.decisions import EpochEnd
from reference_impl.replication.leaders_log import LeadersLog, LeadersStart
from reference_impl.replication.partition import Partition
from reference_impl.tiered.aux_state import AuxiliaryState
from reference_impl.tiered.copying import checkpoint_of
from reference_impl.tiered.meters import TieredMeters
from reference_impl.tiered.reader_pool import ReaderPool
from reference_impl.tiered.settings import TieredSettings, TopicSettings
from reference_impl.tiered.storage import LogSegmentData
from reference_impl.tiered.tier import Tier

Lineage = tuple[tuple[int, int], ...]
Copied = tuple[int, int, int, Lineage]
FOUR: Lineage = ((0, 0), (1, 3), (2, 5), (3, 7))  # of the document's tables
_END = 12


def epoch_at(lineage: Lineage, offset: int) -> int:
    """The epoch of an offset."""
    return max(epoch for epoch, first in lineage if first <= offset)


class _Leader:
    """What a follower asks its leader."""

    def __init__(self, lineage: Lineage, elo: int) -> None:
        self._lineage = lineage
        self.elo = elo

    async def start(self, log_start_offset: int) -> LeadersStart:
        return LeadersStart(
            log_start_offset=log_start_offset,
            local_log_start_offset=self.elo,
            local_log_start_epoch=epoch_at(self._lineage, self.elo),
        )

    async def epoch_end(self, epoch: int) -> EpochEnd:
        """The largest epoch up to that one, and where the next begins."""
        known = [one for one, _ in self._lineage if one <= epoch]
        if not known:
            return EpochEnd(epoch=-1, end_offset=-1)
        ends = [first for one, first in self._lineage if one > known[-1]]
        return EpochEnd(epoch=known[-1], end_offset=ends[0] if ends else _END)


def _batch(offset: int, epoch: int, *, known: bool) -> bytes:
    return build_batch(
        [(1000 + offset, None, b"x")],
        base_offset=offset,
        leader_epoch=epoch,
        producer_id=offset + (10 if known else 90),
        producer_epoch=0,
        base_sequence=0,
    )


async def _copy(bench: Bench, copied: Copied, leaders: Lineage, *, finished: bool) -> None:
    number, first, last, lineage = copied
    states = ProducerStates("orders-0", expiration_ms=0)
    written = []
    for offset in range(last + 1):
        epoch = epoch_at(lineage, offset)
        batch = _batch(offset, epoch, known=epoch == epoch_at(leaders, offset))
        states.add(header(batch), None)
        written.append(batch)
    inside = [entry for entry in lineage if entry[1] <= last]
    first_epoch = epoch_at(lineage, first)
    data = LogSegmentData(
        segment=b"".join(written[first:]),
        offset_index=b"",
        time_index=b"",
        producer_snapshot=states.snapshot(),
        leader_epochs=checkpoint_of(tuple(EpochEntry(*one) for one in inside)),
    )
    about: dict[str, Any] = {
        "first": first,
        "last": last,
        "epoch": epoch_at(lineage, last),
        "epochs": tuple(one for one in inside if one[0] >= first_epoch),
        "size": len(data.segment),
        "at": 1000 + number,
    }
    await bench.begins(number, **about)
    listed = (await bench.manager()).list_remote_log_segments(ORDERS)
    metadata = next(one for one in listed if one.segment_id.id.int == number)
    await bench.storage.copy_log_segment_data(metadata, data)
    if finished:
        await bench.becomes(number, 1, epoch=about["epoch"], at=2000 + number)


async def _aux(bench: Bench) -> AuxiliaryState:
    clock = SimpleNamespace(monotonic_ns=lambda: 0, now_ms=lambda: 0, sleep=asyncio.sleep)
    ports = SimpleNamespace(clock=clock, rng=Random(1), log=lambda *_, **__: None)

    async def written() -> None:
        """Nothing is checkpointed."""

    tier = Tier(
        ports=cast(Ports, ports),
        storage=bench.storage,
        metadata=await bench.manager(),
        meters=cast(TieredMeters, SimpleNamespace(gauge=lambda *_: None)),
        settings=TieredSettings,
        topics=lambda: cast(TopicSettings, None),
        checkpoint=written,
    )
    return AuxiliaryState(tier, ReaderPool(lambda: 2, lambda: 2, lambda: 0))


def _told(point: RestartPoint) -> str:
    epochs = " ".join(f"{one.epoch}@{one.start_offset}" for one in point.epochs)
    producers = " ".join(map(str, sorted(one.producer_id for one in point.producers)))
    return f"from {point.offset}: {epochs}; {producers}".rstrip("; ")


def rebuilt(
    copies: Sequence[Copied],
    elo: int,
    *,
    lineage: Lineage = FOUR,
    log_start: int = 0,
    unfinished: Sequence[int] = (),
    own: int | None = None,
) -> Case:
    """What is built before an earliest local offset; with `own` by a log that has no leader to ask,
    which knows the epoch of that offset."""

    async def case(bench: Bench) -> str:
        for one in copies:
            await _copy(bench, one, lineage, finished=one[0] not in unfinished)
        leader = _Leader(lineage, elo)
        aux, start = await _aux(bench), await leader.start(log_start)
        try:
            if own is not None:
                known = LeadersStart(
                    log_start_offset=log_start,
                    local_log_start_offset=elo,
                    local_log_start_epoch=own,
                )
                return _told(await aux.before(ORDERS, known))
            followed = SimpleNamespace(
                topic_id=ORDERS.topic_id, topic=ORDERS.topic, index=ORDERS.partition
            )
            point = await aux.build(
                cast(Partition, followed), leader=start, ask=cast(LeadersLog, leader)
            )
            return _told(point)
        except KafkaError as error:
            return error.code.name

    return case


_THREE: tuple[Copied, ...] = ((1, 0, 2, FOUR), (2, 3, 5, FOUR), (3, 6, 8, FOUR))
_UNCLEAN: Lineage = ((0, 0), (2, 5))
_LOST: Lineage = ((0, 0), (1, 2))
_TWO: Lineage = ((0, 0), (2, 3))

REBUILD_CASES: Mapping[str, Case] = MappingProxyType(
    {
        "rebuild/new-follower": rebuilt(_THREE[:2], 3),
        "rebuild/out-of-sync-follower": rebuilt(_THREE, 9),
        "rebuild/after-unclean-elections": rebuilt(
            ((1, 0, 3, ((0, 0),)), (2, 0, 3, _LOST), (3, 4, 5, _UNCLEAN)), 6, lineage=_UNCLEAN
        ),
        "rebuild/first-epoch": rebuilt(((1, 0, 2, ((0, 0),)),), 3, lineage=((0, 0),)),
        "rebuild/inside-an-epoch": rebuilt(_THREE, 6),
        "rebuild/inside-a-segment": rebuilt(_THREE[:2], 4),
        "rebuild/inside-the-first-segment": rebuilt(_THREE[:1], 2),
        "rebuild/from-a-log-start": rebuilt(_THREE, 6, log_start=2),
        "rebuild/log-start-at-an-epoch": rebuilt(_THREE, 9, log_start=3),
        "rebuild/snapshot-below-the-start": rebuilt(
            ((1, 0, 2, FOUR), (2, 3, 8, FOUR)), 6, log_start=4
        ),
        "rebuild/snapshot-of-others": rebuilt(
            ((1, 0, 1, _TWO), (2, 0, 2, _LOST), (3, 2, 5, _TWO)), 4, lineage=_TWO
        ),
        "rebuild/nearest-snapshot": rebuilt(((1, 0, 1, FOUR), (2, 2, 3, FOUR), (3, 3, 8, FOUR)), 6),
        "rebuild/ends-first-of-two": rebuilt(
            ((2, 0, 2, FOUR), (3, 2, 4, FOUR), (1, 0, 5, FOUR)), 3
        ),
        "rebuild/unfinished-is-nothing": rebuilt(_THREE[:1], 3, unfinished=(1,)),
        "rebuild/unfinished-snapshot": rebuilt(
            ((1, 0, 1, FOUR), (2, 2, 3, FOUR), (3, 2, 8, FOUR)), 6, unfinished=(2,)
        ),
        "rebuild/not-copied": rebuilt(_THREE[:1], 6),
        "rebuild/other-lineage-alone": rebuilt(((1, 0, 2, _LOST),), 3, lineage=_TWO),
        "rebuild/nothing-before": rebuilt(_THREE, 3, log_start=3),
        "rebuild/own-epoch": rebuilt(_THREE, 6, own=2),
        "rebuild/own-earlier-epoch": rebuilt(_THREE[:1], 3, own=1),
        "rebuild/own-not-later": rebuilt(
            ((1, 0, 2, ((0, 0),)), (2, 0, 2, ((0, 0), (5, 2)))), 3, lineage=((0, 0), (1, 3)), own=1
        ),
        "rebuild/own-not-copied": rebuilt(_THREE[:1], 6, own=2),
        "rebuild/own-unfinished": rebuilt(_THREE[:1], 3, own=1, unfinished=(1,)),
        "rebuild/own-inside": rebuilt(_THREE[:2], 4, own=1),
    }
)
