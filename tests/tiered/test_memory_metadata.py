"""What the manager in memory adds to the contract: delays and outages for other tests."""

from __future__ import annotations

import asyncio

import pytest
from remote_events import COPIED, ORDERS, segment, update

from harness.simulation.simulation import Simulation
from reference_impl.ports import Ports
from reference_impl.tiered.memory_metadata import (
    MemoryMetadataManager,
    MemoryMetadataRegistry,
    Outage,
)
from reference_impl.tiered.metadata import MetadataUnavailable, NotInitialised


def test_a_view_with_a_delay_learns_later_and_knows_when_it_has_caught_up() -> None:
    registry = MemoryMetadataRegistry()
    seen: list[int] = []

    async def program(ports: Ports) -> None:
        fast = MemoryMetadataManager(registry, broker_id=1)
        slow = MemoryMetadataManager(registry, broker_id=2, clock=ports.clock, delay_s=3.0)
        for manager in (fast, slow):
            manager.on_partition_leadership_changes([ORDERS], [])
        await fast.add_remote_log_segment_metadata(segment(1))
        seen.append(len(slow.list_remote_log_segments(ORDERS)))
        await slow.caught_up(ORDERS)
        seen.append(len(slow.list_remote_log_segments(ORDERS)))
        later = MemoryMetadataManager(registry, broker_id=3, clock=ports.clock, delay_s=3.0)
        later.on_partition_leadership_changes([], [ORDERS])
        with pytest.raises(NotInitialised):
            later.list_remote_log_segments(ORDERS)
        await later.caught_up(ORDERS)
        await later.update_remote_log_segment_metadata(update(1, COPIED))
        seen.append(ports.clock.monotonic_ns() // 10**9)
        for manager in (fast, slow, later):
            await manager.close()
        await asyncio.Event().wait()

    with Simulation(seed=1) as sim:
        sim.add("n1", program)
        sim.advance(60)

    assert seen == [0, 1, 9]


def test_in_an_outage_publishing_fails_before_or_after_the_event() -> None:
    registry = MemoryMetadataRegistry()

    async def outage() -> list[int]:
        manager = MemoryMetadataManager(registry, broker_id=1)
        manager.on_partition_leadership_changes([ORDERS], [])
        known: list[int] = []
        for kind in (Outage.NOT_PUBLISHED, Outage.ANSWER_LOST):
            registry.outage = kind
            with pytest.raises(MetadataUnavailable):
                await manager.add_remote_log_segment_metadata(segment(1))
            known.append(len(manager.list_remote_log_segments(ORDERS)))
        registry.outage = Outage.NONE
        await manager.add_remote_log_segment_metadata(segment(1))
        await manager.close()
        return known

    assert asyncio.run(outage()) == [0, 1]
