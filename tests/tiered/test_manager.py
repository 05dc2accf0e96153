"""The remote log manager as a participant."""

from __future__ import annotations

from uuid import UUID

import pytest

from reference_impl.partitions.logical import LogicalPartition
from reference_impl.partitions.participants import Started
from reference_impl.tiered.manager import RemoteLogManager
from tests.tiered.tier_bench import tier_bench

pytestmark = pytest.mark.sim


def test_a_manager_is_configured_by_event_after_event_until_that_succeeds() -> None:
    outcomes = iter([OSError("no address yet"), None])

    def configure() -> None:
        error = next(outcomes)
        if error is not None:
            raise error

    with tier_bench() as bench:

        async def work() -> None:
            manager = RemoteLogManager(bench.tier, stores={}, configure=configure)
            one = LogicalPartition(topic="orders", topic_id=UUID(int=1), index=0, broker_id=1)
            with pytest.raises(OSError, match="no address yet"):
                await manager.hear(one, Started())
            for _ in range(2):
                await manager.hear(one, Started())

        bench.node.run(work)
    assert list(outcomes) == []
