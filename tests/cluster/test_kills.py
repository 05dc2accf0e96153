"""Brokers die, freeze and lose their disks under load: what was acknowledged stays, once."""

from __future__ import annotations

import asyncio
import shutil
import threading
import time
from collections import Counter
from collections.abc import Callable, Iterator
from typing import Any

import pytest
from confluent_kafka import Consumer, Producer, TopicPartition
from confluent_kafka.admin import AdminClient, NewTopic

from harness.clients import operations
from harness.clients.admin import Leadership, leadership
from harness.clients.operations import fetch, produce
from harness.clients.raw import RawClient
from harness.deployments.plan import CONTROLLER, broker_name
from harness.deployments.process_cluster import ProcessCluster
from harness.proxies.links import LinkProxy
from reference_impl.live.network import StreamNetwork
from reference_impl.ports import Address

pytestmark = pytest.mark.process

PATIENCE_S = 60.0


class Load:
    """An idempotent producer that sends until it is told to stop, and knows what arrived."""

    def __init__(self, bootstrap: str, topic: str) -> None:
        self.acknowledged: list[str] = []
        self.refused: list[str] = []
        self._topic = topic
        self._stop = threading.Event()
        self._producer = Producer(
            {
                "bootstrap.servers": bootstrap,
                "enable.idempotence": True,
                "linger.ms": 1,
                "message.timeout.ms": 60_000,
                "socket.timeout.ms": 3_000,
                "log_level": 0,
            }
        )
        self._thread = threading.Thread(target=self._send, daemon=True)

    def __enter__(self) -> Load:
        self._thread.start()
        self.more(100)
        return self

    def __exit__(self, *_: object) -> None:
        self._stop.set()
        self._thread.join()
        assert self._producer.flush(PATIENCE_S) == 0

    def more(self, count: int) -> None:
        """Return when so many more were acknowledged."""
        wanted = len(self.acknowledged) + count
        wait_for(lambda: len(self.acknowledged) >= wanted)

    def _send(self) -> None:
        number = 0
        while not self._stop.is_set():
            number += 1
            self._producer.produce(
                self._topic, f"v{number}", partition=0, on_delivery=self._delivered
            )
            self._producer.poll(0.002)

    def _delivered(self, error: Any, message: Any) -> None:
        value = message.value().decode()
        (self.refused if error else self.acknowledged).append(value)


def wait_for(reached: Callable[[], bool]) -> None:
    deadline = time.monotonic() + PATIENCE_S
    while not reached():
        assert time.monotonic() < deadline, "it did not come to pass"
        time.sleep(0.01)


def everything(cluster: ProcessCluster, topic: str) -> list[str]:
    """What a consumer reads from the start to the end."""
    consumer = Consumer(
        {
            "bootstrap.servers": cluster.bootstrap,
            "group.id": "nobody",
            "enable.auto.commit": False,  # there is no coordinator to commit to
            "log_level": 0,
        }
    )
    where = TopicPartition(topic, 0, 0)
    consumer.assign([where])
    found: list[str] = []
    try:
        _, end = consumer.get_watermark_offsets(where, timeout=PATIENCE_S)
        while not found or len(found) < end:
            message = consumer.poll(PATIENCE_S)
            assert message is not None, f"{len(found)} of {end} records came"
            assert message.error() is None
            found.append(message.value().decode())
    finally:
        consumer.close()
    return found


def assert_nothing_lost_nothing_twice(load: Load, found: list[str]) -> None:
    there = Counter(found)
    assert [value for value in load.acknowledged if value not in there] == []
    assert [value for value, times in there.items() if times > 1] == []
    assert load.refused == []


def raw(cluster: ProcessCluster, broker: int) -> RawClient:
    host, _, port = cluster.address(broker_name(broker)).rpartition(":")
    return RawClient(StreamNetwork(), Address(host, int(port)))


def seen_by(cluster: ProcessCluster, broker: int, topic: str) -> Leadership:
    asked = leadership(raw(cluster, broker), operations.TopicPartition(topic, 0), timeout_s=5.0)
    return asyncio.run(asked)


def leader(cluster: ProcessCluster, topic: str, *, other_than: int = -1, ask: int = 1) -> int:
    """Who leads, once somebody does who is not the one excluded."""
    found = -1

    def elected() -> bool:
        nonlocal found
        try:
            found = seen_by(cluster, ask, topic).leader
        except (OSError, TimeoutError):
            return False
        return found > 0 and found != other_than

    wait_for(elected)
    return found


def in_sync(cluster: ProcessCluster, topic: str, count: int) -> None:
    wait_for(lambda: len(seen_by(cluster, 1, topic).isr) == count)


@pytest.fixture
def topic(linked: ProcessCluster, request: pytest.FixtureRequest) -> Iterator[str]:
    """A topic of the test's own; whatever the test did to brokers is mended afterwards."""
    name = request.node.name[:100]
    admin = AdminClient({"bootstrap.servers": linked.bootstrap, "log_level": 0})
    new = NewTopic(
        name, num_partitions=1, replication_factor=3, config={"min.insync.replicas": "2"}
    )
    admin.create_topics([new])[name].result(PATIENCE_S)
    for number in (1, 2, 3):
        leader(linked, name, ask=number)
    yield name
    for down in [one for one in linked.plan.names if not linked.runs(one)]:
        linked.start(down)
        linked.wait(down)
    in_sync(linked, name, 3)


def test_killed_leaders_lose_nothing_and_repeat_nothing(linked: ProcessCluster, topic: str) -> None:
    with Load(linked.bootstrap, topic) as load:
        for _ in range(2):
            killed = leader(linked, topic)
            name = broker_name(killed)
            linked.kill(name)
            others = [one for one in (1, 2, 3) if one != killed]
            leader(linked, topic, other_than=killed, ask=others[0])
            load.more(100)
            linked.start(name)
            linked.wait(name)
            in_sync(linked, topic, 3)
            load.more(100)
    assert_nothing_lost_nothing_twice(load, everything(linked, topic))


def test_a_leader_that_slept_through_an_election_acknowledges_nothing(
    linked: ProcessCluster, topic: str
) -> None:
    old = leader(linked, topic)
    asleep = broker_name(old)
    others = [one for one in (1, 2, 3) if one != old]

    async def ask_the_sleeper() -> Any:
        client = raw(linked, old)
        sleeper = asyncio.ensure_future(
            produce(
                client,
                operations.TopicPartition(topic, 0),
                records=[("from the past", 1)],
                acks=-1,
                timeout_ms=5000,
                timeout_s=PATIENCE_S,
            )
        )
        await asyncio.to_thread(leader, linked, topic, other_than=old, ask=others[0])
        linked.resume(asleep)
        return await sleeper

    linked.pause(asleep)
    outcome = asyncio.run(ask_the_sleeper())
    assert outcome.type != "ok", outcome
    with Load(linked.bootstrap, topic) as load:
        in_sync(linked, topic, 3)
        load.more(50)
    found = everything(linked, topic)
    assert "from the past" not in found
    assert_nothing_lost_nothing_twice(load, found)


def test_a_leader_cut_off_from_its_followers_commits_nothing(
    linked: ProcessCluster, topic: str, links: LinkProxy
) -> None:
    old = leader(linked, topic)
    others = [one for one in (1, 2, 3) if one != old]
    cut = links.cut(
        broker_name(old), [CONTROLLER, *(broker_name(one) for one in others)], both=True
    )
    leader(linked, topic, other_than=old, ask=others[0])
    alone = asyncio.run(
        produce(
            raw(linked, old),
            operations.TopicPartition(topic, 0),
            records=[("alone", 1)],
            acks=-1,
            timeout_ms=1000,
            timeout_s=PATIENCE_S,
        )
    )
    assert alone.type == "info", alone
    there = asyncio.run(
        fetch(raw(linked, old), operations.TopicPartition(topic, 0), offset=0, timeout_s=PATIENCE_S)
    )
    assert there.fields["records"] == []
    assert cut.evidence["deliveries_held"] > 0
    links.heal(cut)
    with Load(linked.bootstrap, topic) as load:
        in_sync(linked, topic, 3)
    found = everything(linked, topic)
    assert "alone" not in found
    assert_nothing_lost_nothing_twice(load, found)


def test_a_broker_with_an_empty_disk_is_filled_again(linked: ProcessCluster, topic: str) -> None:
    with Load(linked.bootstrap, topic) as load:
        wiped = next(one for one in (1, 2, 3) if one != leader(linked, topic))
        name = broker_name(wiped)
        linked.kill(name)
        shutil.rmtree(linked.folder / name)
        linked.start(name)
        linked.wait(name)
        in_sync(linked, topic, 3)
    here = asyncio.run(
        fetch(
            raw(linked, wiped),
            operations.TopicPartition(topic, 0),
            offset=0,
            max_wait_ms=0,
            timeout_s=PATIENCE_S,
        )
    )
    assert [row[1] for row in here.fields["records"]][:3] == load.acknowledged[:3]
    assert_nothing_lost_nothing_twice(load, everything(linked, topic))


def test_a_restarted_controller_knows_everything(linked: ProcessCluster, topic: str) -> None:
    before = [seen_by(linked, one, topic) for one in (1, 2, 3)]
    linked.kill(CONTROLLER)
    linked.start(CONTROLLER)
    linked.wait(CONTROLLER)
    admin = AdminClient({"bootstrap.servers": linked.bootstrap, "log_level": 0})
    admin.create_topics([NewTopic("later", 1, 3)])["later"].result(PATIENCE_S)
    # Whoever is asked may hear of it a moment after the controller has decided, as with Kafka.
    wait_for(lambda: {"later", topic} <= set(admin.list_topics(timeout=PATIENCE_S).topics))
    assert [seen_by(linked, one, topic) for one in (1, 2, 3)] == before


def test_a_broker_told_to_stop_hands_its_leadership_over_first(
    linked: ProcessCluster, topic: str
) -> None:
    with Load(linked.bootstrap, topic) as load:
        old = leader(linked, topic)
        linked.terminate(broker_name(old))
        others = [one for one in (1, 2, 3) if one != old]
        assert seen_by(linked, others[0], topic).leader in others
        load.more(50)
    assert_nothing_lost_nothing_twice(load, everything(linked, topic))
