"""Offsets that are kept no longer: too old, or of a topic that was deleted."""

from __future__ import annotations

from collections.abc import Callable, Iterator
from uuid import UUID

import pytest

from harness.simulation.simulation import Simulation
from reference_impl.coordinators.offset_records import NO_TOPIC_ID, OffsetKey, OffsetValue
from reference_impl.coordinators.offset_retention import (
    DeletedTopic,
    expired,
    gone_with_its_topic,
    of_deleted,
    offset_expired,
)
from reference_impl.coordinators.offset_state import OffsetState
from reference_impl.kafka import apis
from reference_impl.kafka.errors import ErrorCode
from tests.coordinators.offset_bench import Group
from tests.coordinators.transaction_bench import TOPIC, Cluster, Producer

ONE, TWO = UUID(int=1), UUID(int=2)
KEY, OTHER, ELSEWHERE = OffsetKey("g", "t", 0), OffsetKey("g", "t", 1), OffsetKey("g", "u", 0)
SHORT = {"offsets.retention.minutes": "1", "offsets.retention.check.interval.ms": "1000"}


@pytest.mark.parametrize(
    ("committed", "expires", "now", "gone"),
    [
        (100, -1, 109, False),
        (100, -1, 110, True),
        (100, 105, 104, False),
        (100, 105, 105, True),
        (100, 500, 499, False),
    ],
)
def test_an_offset_expires_by_its_age_or_when_its_client_said(
    committed: int, expires: int, now: int, gone: bool
) -> None:
    value = OffsetValue(1, commit_ms=committed, expire_ms=expires)
    assert offset_expired(value, now, keep_ms=10) is gone


@pytest.mark.parametrize(
    ("stored", "deleted", "gone"), [(ONE, ONE, True), (TWO, ONE, False), (NO_TOPIC_ID, ONE, True)]
)
def test_an_offset_goes_with_its_topic_and_not_with_another_of_its_name(
    stored: UUID, deleted: UUID, gone: bool
) -> None:
    assert gone_with_its_topic(stored, deleted) is gone


def test_what_an_open_transaction_replaces_does_not_expire_but_goes_with_its_topic() -> None:
    state = OffsetState()
    for at, key in enumerate((KEY, OTHER, ELSEWHERE)):
        state.replay(at, -1, key, OffsetValue(1, commit_ms=0, topic_id=ONE))
    state.replay(3, 7, OTHER, OffsetValue(2, commit_ms=0))

    assert expired(state, now_ms=10, keep_ms=10) == [KEY, ELSEWHERE]
    assert of_deleted(state, [DeletedTopic("t", ONE)]) == [KEY, OTHER]
    assert of_deleted(state, [DeletedTopic("t", TWO)]) == [OTHER]


def test_a_group_is_forgotten_once_it_has_no_offsets() -> None:
    state = OffsetState()
    state.begin("idle")
    state.replay(0, -1, KEY, OffsetValue(1))
    state.replay(1, 7, OffsetKey("pending", "t", 0), OffsetValue(1))
    state.forget_groups()

    assert [one for one in ("idle", "g", "pending") if state.knows(one)] == ["g", "pending"]


@pytest.fixture
def made() -> Iterator[Callable[..., Cluster]]:
    with Simulation(seed=1) as sim:
        yield lambda settings=None: Cluster(sim, settings)


def test_old_offsets_are_gone_also_for_the_next_coordinator(made: Callable[..., Cluster]) -> None:
    cluster = made(SHORT)
    group = Group(cluster)
    group.commit(5)
    cluster.sim.advance(40)
    group.commit(6, index=1)
    cluster.sim.advance(25)
    assert (group.fetch(), group.fetch(index=1)) == (-1, 6)
    cluster.kill(group.coordinator())
    assert (group.fetch(), group.fetch(index=1)) == (-1, 6)


def test_offsets_of_transactions_go_with_their_topic(made: Callable[..., Cluster]) -> None:
    cluster = made()
    group, producer = Group(cluster), Producer(cluster, "x", protocol=2)
    producer.init()
    assert group.commit_within(producer, 5) == "none"
    producer.end(commit=True)
    cluster.sim.advance(1)
    assert group.fetch() == 5
    assert group.commit_within(producer, 6, index=1) == "none"
    asked = apis.DELETE_TOPICS.request
    topics = [asked.DeleteTopicState(name=TOPIC, topic_id=NO_TOPIC_ID)]
    answer = cluster.ask(1, apis.DELETE_TOPICS, 6, asked(topics=topics, timeout_ms=5000))
    assert ErrorCode(answer.responses[0].error_code) is ErrorCode.none
    cluster.sim.advance(2)
    producer.end(commit=True)
    cluster.sim.advance(1)

    assert (group.fetch(), group.fetch(index=1, stable=True)) == (-1, -1)
