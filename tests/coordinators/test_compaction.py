"""Coordinators' logs that got long: they begin with what counts, and say what they said before."""

from __future__ import annotations

import asyncio
from contextlib import suppress
from types import SimpleNamespace
from typing import Any, cast

import pytest

from harness.deployments.plan import broker_name
from harness.simulation.gate import Act
from harness.simulation.simulation import Simulation
from reference_impl.coordinators import compaction
from reference_impl.coordinators.compaction import LEAST_RECORDS, TIMES_LIVE, is_worth_it
from reference_impl.coordinators.placement import (
    CONSUMER_OFFSETS,
    TRANSACTION_STATE,
    coordinated_by,
)
from reference_impl.coordinators.transaction_log import Entry, Led, compact
from reference_impl.coordinators.transactions import Transaction, TransactionState
from reference_impl.kafka import apis
from reference_impl.kafka.errors import ErrorCode, KafkaError
from reference_impl.log.log import Log
from reference_impl.partitions.logical import LogicalPartition
from tests.coordinators.offset_bench import Group
from tests.coordinators.transaction_bench import Cluster, Producer

EARLIEST = -2
PARTITIONS = 3
ENOUGH = 12
SETTINGS = {"offsets.retention.check.interval.ms": "500"}


@pytest.mark.parametrize(
    ("start", "end", "committed", "live", "worth"),
    [
        (0, LEAST_RECORDS, LEAST_RECORDS, 1, True),
        (1, LEAST_RECORDS, LEAST_RECORDS, 1, False),  # short
        (0, LEAST_RECORDS, LEAST_RECORDS - 1, 1, False),  # something is on its way
        (0, LEAST_RECORDS, LEAST_RECORDS, LEAST_RECORDS // TIMES_LIVE + 1, False),  # most counts
    ],
)
def test_a_log_is_compacted_where_it_is_long_committed_and_mostly_out_of_date(
    start: int, end: int, committed: int, live: int, worth: bool
) -> None:
    log = SimpleNamespace(log_start_offset=start, log_end_offset=end, high_watermark=committed)
    assert is_worth_it(cast(Log, log), live) is worth


def first_offset(cluster: Cluster, topic: str, index: int, at: int) -> int:
    asked = apis.LIST_OFFSETS.request
    part = asked.ListOffsetsPartition(
        partition_index=index, current_leader_epoch=-1, timestamp=EARLIEST
    )
    request = asked(replica_id=-1, topics=[asked.ListOffsetsTopic(name=topic, partitions=[part])])
    told = cluster.ask(at, apis.LIST_OFFSETS, 9, request).topics[0].partitions[0]
    assert told.error_code == 0
    return int(told.offset)


def known_of(producer: Producer) -> tuple[Any, ...]:
    at = producer.cluster.coordinator(producer.id)
    request = apis.DESCRIBE_TRANSACTIONS.request(transactional_ids=[producer.id])
    one = producer.cluster.ask(at, apis.DESCRIBE_TRANSACTIONS, 0, request).transaction_states[0]
    return one.error_code, one.producer_id, one.producer_epoch, one.transaction_state


def transactions(producer: Producer, many: int) -> None:
    for _ in range(many):
        assert producer.send(0, "v") == "none"
        assert producer.end(commit=True) == "none"
        producer.cluster.sim.advance(0.3)


@pytest.mark.sim
def test_the_log_of_transactions_begins_with_what_counts_and_followers_hear_of_it(
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    index = coordinated_by("x", PARTITIONS)
    with Simulation(seed=1) as sim:
        cluster = Cluster(sim)
        producer, idle = Producer(cluster, "x"), Producer(cluster, "y")
        for one in (producer, idle):
            one.init()
        transactions(producer, 5)
        first = cluster.coordinator("x")
        assert first_offset(cluster, TRANSACTION_STATE, index, first) == 0
        monkeypatch.setattr(compaction, "LEAST_RECORDS", ENOUGH)
        sim.advance(3)
        before = known_of(producer), known_of(idle)
        begins = first_offset(cluster, TRANSACTION_STATE, index, first)
        assert begins >= ENOUGH

        cluster.kill(first)
        after = cluster.coordinator("x")
        assert after != first
        assert first_offset(cluster, TRANSACTION_STATE, index, after) == begins
        assert (known_of(producer), known_of(idle)) == before
        transactions(producer, 1)
        assert cluster.read(0) == ["v"] * 6


@pytest.mark.sim
@pytest.mark.parametrize("effect", [6, 10, 13, 60])
def test_a_coordinator_that_is_killed_while_it_compacts_leaves_what_was_known(
    effect: int, monkeypatch: pytest.MonkeyPatch
) -> None:
    with Simulation(seed=1) as sim:
        cluster = Cluster(sim)
        producer = Producer(cluster, "x")
        producer.init()
        transactions(producer, 5)
        before, node = known_of(producer), broker_name(cluster.coordinator("x"))
        number = sim.effects.counts[node] + effect
        lever = sim.levers.at_effect(node, number, Act.KILL)
        monkeypatch.setattr(compaction, "LEAST_RECORDS", ENOUGH)
        sim.advance(8)
        assert lever.counts["orders_obeyed"] == 1

        assert known_of(producer) == before
        lever.release()
        sim.advance(5)
        transactions(producer, 1)
        assert cluster.read(0) == ["v"] * 6


@pytest.mark.sim
def test_the_log_of_offsets_begins_with_what_counts_once_nothing_is_pending(
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    index = coordinated_by("g", PARTITIONS)
    with Simulation(seed=1) as sim:
        cluster = Cluster(sim, SETTINGS)
        group, producer = Group(cluster), Producer(cluster, "x")
        for offset in range(ENOUGH):
            assert group.commit(offset) == "none"
        assert group.commit(70, index=1) == "none"
        producer.init()
        assert group.commit_within(producer, 99) == "none"
        monkeypatch.setattr(compaction, "LEAST_RECORDS", ENOUGH)
        sim.advance(3)
        first = group.coordinator()
        assert first_offset(cluster, CONSUMER_OFFSETS, index, first) == 0

        assert producer.end(commit=True) == "none"
        sim.advance(3)
        begins = first_offset(cluster, CONSUMER_OFFSETS, index, first)
        assert begins > ENOUGH
        cluster.kill(first)
        after = group.coordinator()
        assert first_offset(cluster, CONSUMER_OFFSETS, index, after) == begins
        assert (group.fetch(stable=True), group.fetch(index=1)) == (99, 70)


@pytest.mark.parametrize("pending", [None, TransactionState.PREPARE_COMMIT])
def test_nothing_is_appended_again_while_a_transaction_is_on_its_way(
    pending: TransactionState | None,
) -> None:
    end = LEAST_RECORDS
    log = SimpleNamespace(log_start_offset=0, log_end_offset=end, high_watermark=end)
    asked: list[int] = []

    async def append(*_: Any, leader_epoch: int, **__: Any) -> None:
        asked.append(leader_epoch)
        raise KafkaError(ErrorCode.not_enough_replicas)

    async def played() -> None:
        known = Transaction(transactional_id="x", producer_id=1, timeout_ms=1000, epoch=0)
        led = Led(index=0, epoch=7, turn=asyncio.Lock())
        led.entries["x"] = Entry(transaction=known, pending=pending)
        partition = SimpleNamespace(replica=SimpleNamespace(log=log), append=append)
        with suppress(KafkaError):
            await compact(
                cast(LogicalPartition, partition), led, lambda _: True, now_ms=0, timeout_s=1.0
            )

    asyncio.run(played())
    assert asked == ([7] if pending is None else [])
