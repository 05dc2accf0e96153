"""Both metadata managers under the same events, restarts and damage: they agree on everything.

Two brokers publish what they like, follow what they like, and lead the metadata partitions in
turn. The manager on the topic is closed, killed or loses power, and finds its files as they are,
older, cut, changed or gone; the one in memory knows nothing of files. What each call raised and
what each look-up answers is the same.
"""

from __future__ import annotations

import itertools
from collections.abc import Sequence
from typing import Any

from hypothesis import HealthCheck, Phase, settings
from hypothesis import strategies as st
from hypothesis.stateful import RuleBasedStateMachine, initialize, rule
from metadata_benches import MemoryBench, MetadataBench
from metadata_contract import published
from remote_events import ORDERS, PAYMENTS, deletion, segment, update
from topic_bench import TopicBench

from reference_impl.tiered.flat_file import COMMITTED_OFFSETS, FOLDER
from reference_impl.tiered.metadata import RemoteLogMetadataManager
from reference_impl.tiered.segments import MetadataEvent, PartitionDeleteState, SegmentState
from reference_impl.tiered.storage import RemoteStorageException

AGAIN = ORDERS._replace(topic_id=PAYMENTS.topic_id)  # the same name, so the same metadata partition
PARTITIONS = (ORDERS, AGAIN, PAYMENTS)
EPOCHS = range(4)

BROKERS = st.sampled_from((1, 2))
WHICH = st.sampled_from(PARTITIONS)
SEGMENTS = st.builds(
    lambda partition, number, first, length, epoch, at: segment(
        number,
        first,
        first + length,
        epoch=epoch,
        epochs=tuple((one, first + one - 3) for one in range(max(0, epoch - 1), epoch + 1)),
        at=at,
        partition=partition,
    ),
    WHICH,
    st.integers(0, 4),
    st.integers(3, 8),
    st.integers(0, 5),
    st.sampled_from(EPOCHS),
    st.integers(0, 3),
)
UPDATES = st.builds(
    lambda partition, number, state, epoch, at: update(
        number, state, epoch=epoch, at=at, partition=partition
    ),
    WHICH,
    st.integers(0, 4),
    st.sampled_from([one for one in SegmentState if one]),
    st.sampled_from(EPOCHS),
    st.integers(0, 3),
)
DELETIONS = st.builds(
    lambda partition, state: deletion(state, partition=partition),
    WHICH,
    st.sampled_from(PartitionDeleteState),
)
EVENTS = st.one_of(SEGMENTS, UPDATES, UPDATES, UPDATES, DELETIONS)
# A copy from its beginning to its deletion, of which no segment tells afterwards.
LIVES = st.builds(
    lambda partition, number, epoch: [
        segment(number, epoch=epoch, partition=partition),
        *(
            update(number, state, epoch=epoch, partition=partition)
            for state in (SegmentState.DELETE_SEGMENT_STARTED, SegmentState.DELETE_SEGMENT_FINISHED)
        ),
    ],
    WHICH,
    st.integers(5, 9),
    st.sampled_from(EPOCHS),
)
DAMAGE = st.one_of(
    st.sampled_from(("flat", "fencing", "committed", "older")),
    st.tuples(st.integers(0, 9), st.integers(0, 400), st.booleans()),
)


class MetadataMachine(RuleBasedStateMachine):
    def __init__(self) -> None:
        super().__init__()
        self.memory = MemoryBench()
        self.topic = TopicBench()
        self.older: dict[str, bytes] = {}

    @initialize()
    def both_follow_everything(self) -> None:
        for broker, partition in itertools.product((1, 2), PARTITIONS):
            self.follow(broker, partition)

    def teardown(self) -> None:
        try:
            self.compare()
        finally:
            self.memory.close()
            self.topic.close()

    def both(self, broker: int, do: Any) -> None:
        """Call both managers of a broker, which answer alike."""
        answers = [_answer(bench, broker, do) for bench in (self.memory, self.topic)]
        assert answers[0] == answers[1]

    # What happens.

    @rule(broker=BROKERS, events=LIVES | st.lists(EVENTS, min_size=1, max_size=6))
    def publish(self, broker: int, events: list[MetadataEvent]) -> None:
        for event in events:

            async def publish(manager: RemoteLogMetadataManager, event: Any = event) -> None:
                await manager.caught_up(getattr(event, "partition", None) or event.segment_id[0])
                await published(manager, event)

            self.both(broker, publish)

    @rule(broker=BROKERS, partition=WHICH)
    def follow(self, broker: int, partition: Any) -> None:
        async def follow(manager: RemoteLogMetadataManager) -> None:
            manager.on_partition_leadership_changes([], [partition])
            await manager.caught_up(partition)

        self.both(broker, follow)

    @rule(broker=BROKERS, partition=WHICH)
    def stop(self, broker: int, partition: Any) -> None:
        async def stop(manager: RemoteLogMetadataManager) -> None:
            manager.on_stop_partitions([partition])

        self.both(broker, stop)

    @rule(broker=st.sampled_from((1, 2, None)))
    def lead(self, broker: int | None) -> None:
        self.memory.lead(broker)
        self.topic.lead(broker)

    @rule(
        broker=BROKERS,
        how=st.sampled_from(("close", "close", "kill", "lose power")),
        damage=st.just([]) | st.lists(DAMAGE, min_size=1, max_size=2),
        told=st.just(PARTITIONS) | st.lists(WHICH, unique=True),
    )
    def restart(self, broker: int, how: str, damage: list[Any], told: Sequence[Any]) -> None:
        self.memory.restart(broker)
        if how == "close":
            self.topic.close_manager(broker)
        elif how == "kill":
            self.topic.sim.kill(f"m{broker}")
        else:
            self.topic.sim.lose_power(f"m{broker}")
        for one in damage:
            self._damage(broker, one)
        self.topic.start(broker)
        for partition in told:
            self.follow(broker, partition)
        self.compare()

    def _damage(self, broker: int, how: Any) -> None:
        bench = self.topic
        paths = [f"{FOLDER}/{name}" for name in bench.names(broker, FOLDER)]
        paths += [name for name in bench.names(broker, "") if name == COMMITTED_OFFSETS]
        files = {path: bench.file(broker, path) or b"" for path in paths}
        if how == "older":
            for path, data in self.older.items():
                bench.overwrite(broker, path, data)
            self.older = files
        elif isinstance(how, str):
            for path in paths:
                kind = "fencing" if path.endswith(".fencing") else "flat"
                if how == ("committed" if path == COMMITTED_OFFSETS else kind):
                    bench.overwrite(broker, path, None)
        elif paths:
            which, at, cut = how
            path = paths[which % len(paths)]
            data, at = files[path], at % (len(files[path]) + 1)
            if cut or at == len(data):
                bench.overwrite(broker, path, data[:at])
            else:
                changed = bytes((data[at] ^ 1 << which % 8,))
                bench.overwrite(broker, path, data[:at] + changed + data[at + 1 :])

    @rule()
    def compare(self) -> None:
        for broker in (1, 2):
            for partition in PARTITIONS:
                self.both(broker, lambda manager, partition=partition: _known(manager, partition))
                self._judge_alike(broker, partition)
            self.both(broker, _partitions)

    def _judge_alike(self, broker: int, partition: Any) -> None:
        """What no look-up shows and later events are judged by."""
        user = self.topic.managers[broker]._state.user(partition)
        if user is None or not self.topic.managers[broker].is_initialised(partition):
            return
        twin = self.memory.managers[broker]._cache(partition)
        assert user.cache.held == twin.held
        assert sorted(user.cache.deleted) == sorted(twin.deleted)


async def _known(manager: RemoteLogMetadataManager, partition: Any) -> Any:
    """Everything there is to know of a partition."""
    await manager.caught_up(partition)
    return (
        manager.list_remote_log_segments(partition),
        manager.deletion_of(partition),
        manager.highest_leader_epoch(partition),
        manager.metadata_leader_epoch(partition),
        [manager.list_remote_log_segments(partition, epoch) for epoch in EPOCHS],
        [manager.highest_offset_for_epoch(partition, epoch) for epoch in EPOCHS],
        [
            manager.remote_log_segment_metadata(partition, epoch, offset)
            for epoch in EPOCHS
            for offset in range(14)
        ],
    )


async def _partitions(manager: RemoteLogMetadataManager) -> Any:
    return manager.known_partitions()


def _answer(bench: MetadataBench, broker: int, do: Any) -> Any:
    try:
        return bench.call(broker, do)
    except RemoteStorageException as error:
        return type(error)


TestMetadataManagersAgree = MetadataMachine.TestCase
TestMetadataManagersAgree.settings = settings(
    max_examples=15,
    stateful_step_count=12,
    deadline=None,
    phases=(Phase.explicit, Phase.generate, Phase.shrink),
    suppress_health_check=list(HealthCheck),
)
