"""Defects of Apache Kafka in their shortest form: each is here as long as Kafka has it."""

from __future__ import annotations

import asyncio
import time
from collections.abc import Callable, Coroutine, Iterator, Mapping
from dataclasses import replace
from pathlib import Path
from typing import Any, TypeVar

import pytest

from conformance.classic.campaign import plan_of
from harness.clients.admin import Leadership, create_topic, leadership
from harness.clients.operations import TopicPartition, delete_records, produce
from harness.clients.raw import RawClient
from harness.deployments.apache_kafka import ApacheKafka, KafkaUnavailable
from harness.deployments.apache_kafka.isolated import IsolatedKafka
from harness.deployments.plan import CONTROLLER, broker_name
from harness.differential.live import here_and_now
from harness.differential.player import Play
from harness.differential.sequence import RequestSequence, lookup
from harness.differential.sequences.building import made
from harness.differential.sequences.transacting import begun, sent, within
from reference_impl.live.network import StreamNetwork
from reference_impl.ports import Address

pytestmark = pytest.mark.foreign

TP = TopicPartition("t", 0)
PATIENCE_S = 60.0
Result = TypeVar("Result")


class Asked:
    """A cluster, and a way to ask one of its brokers."""

    def __init__(self, kafka: IsolatedKafka) -> None:
        self.kafka = kafka

    def ask(self, broker: int, work: Callable[[RawClient], Coroutine[Any, Any, Result]]) -> Result:
        host, _, port = self.kafka.address(broker_name(broker)).rpartition(":")

        async def asked() -> Result:
            client = RawClient(StreamNetwork(), Address(host, int(port)))
            try:
                return await work(client)
            finally:
                client.abort()

        return asyncio.run(asked())

    def seen_by(self, broker: int) -> Leadership:
        return self.ask(broker, lambda client: leadership(client, TP, timeout_s=5.0))


def wait_for(reached: Callable[[], bool]) -> None:
    deadline = time.monotonic() + PATIENCE_S
    while not reached():
        assert time.monotonic() < deadline, "it did not come to pass"
        time.sleep(0.1)


class Deposed(Asked):
    """Broker 1 led, and cannot be reached by the others; what it appends now they will not know."""

    def __init__(self, kafka: IsolatedKafka, configs: Mapping[str, str] | None = None) -> None:
        super().__init__(kafka)
        self._now_ms = time.time_ns() // 1_000_000
        self.ask(
            1,
            lambda client: create_topic(
                client, TP.topic, assignments=[[1, 2, 3]], configs=configs or {}
            ),
        )
        wait_for(lambda: len(self.seen_by(1).isr) == 3)

    def cut_off(self) -> None:
        others = [CONTROLLER, broker_name(2), broker_name(3)]
        self._cut = self.kafka.links.cut(broker_name(1), others, both=True)

    def succeeded(self) -> int:
        """Who leads in its place."""
        wait_for(lambda: self.seen_by(2).leader in (2, 3))
        return self.seen_by(2).leader

    def send(self, broker: int, *values: str, acks: int = -1) -> None:
        """One batch, later than those before it."""
        self._now_ms += 1
        records = [(value, self._now_ms) for value in values]
        sent = self.ask(broker, lambda client: produce(client, TP, records=records, acks=acks))
        assert sent.fields["error"] == 0

    def is_given_up(self, logs: Path) -> str:
        """It comes back, and stays out of sync; what it says of that."""
        self.kafka.links.heal(self._cut)
        log = logs / broker_name(1) / "server.log"
        wait_for(lambda: "Partition t-0 marked as failed" in log.read_text(encoding="utf-8"))
        return log.read_text(encoding="utf-8")


@pytest.fixture
def isolated(tmp_path: Path) -> Iterator[IsolatedKafka]:
    try:
        cluster = IsolatedKafka(plan_of(), logs=tmp_path / "logs", data=tmp_path / "data")
    except KafkaUnavailable as reason:
        pytest.skip(str(reason))
    with cluster:
        yield cluster


def test_a_deposed_leader_whose_cut_falls_inside_a_batch_is_given_up(
    isolated: IsolatedKafka, tmp_path: Path
) -> None:
    """The reference recovers: `tests/simulation/test_classic_cluster_recovers.py`."""
    at = Deposed(isolated)
    at.cut_off()
    for _ in range(20):
        at.send(1, "old", acks=1)
    leader = at.succeeded()
    for _ in range(5):
        at.send(leader, "new", "new")
    gone = at.ask(leader, lambda client: delete_records(client, TP, offset=5))
    assert gone.fields["log_start_offset"] == 5  # the second record of the batch 4, 5

    assert "First offset 4 is less than the next offset 5" in at.is_given_up(tmp_path / "logs")
    assert sorted(at.seen_by(leader).isr) == [2, 3]


def test_a_replica_whose_segments_begin_elsewhere_overfills_an_index_and_is_given_up(
    isolated: IsolatedKafka, tmp_path: Path
) -> None:
    """Before it appends what it has fetched it looks whether an index is full, and not between
    batches. Of the leader's segments, of two batches each, the cut has moved the first."""
    at = Deposed(isolated, {"segment.index.bytes": "24", "index.interval.bytes": "1"})
    at.send(1, "both")
    at.cut_off()
    at.send(1, "old", acks=1)
    leader = at.succeeded()
    for _ in range(3):
        at.send(leader, "new")

    assert "Attempt to append to a full time index" in at.is_given_up(tmp_path / "logs")
    assert sorted(at.seen_by(leader).isr) == [2, 3]


def test_a_producer_is_told_what_may_be_told_to_others_of_other_versions(
    kafka: ApacheKafka,
) -> None:
    """The reference tells each by its own version; recorded sequences are therefore played one by
    one where a coordinator is asked about producers."""
    told = asyncio.run(_refusals_of_version_11(kafka))

    assert set(told) == {"TRANSACTION_ABORTABLE", "INVALID_TXN_STATE"}


async def _refusals_of_version_11(kafka: ApacheKafka) -> list[str]:
    """Of batches to a partition that was not added, beside others of version 10."""
    nothing = RequestSequence(name="versions", steps=())
    error = "responses.0.partition_responses.0.error_code"
    told: list[str] = []
    async with Play(here_and_now(kafka.address()), nothing) as play:
        for step in (made("a"), *begun(), *begun("u", "other")):
            await play.take(step)
        deadline = time.monotonic() + PATIENCE_S
        while len(set(told)) < 2 and time.monotonic() < deadline:
            old = sent(within(0, "x"), version=10)
            new = sent(within(0, "x", pid="$ref:other"), tid="u", version=11)
            _, answer = await asyncio.gather(
                play.take(replace(old, on="one")), play.take(replace(new, on="two"))
            )
            told.append(str(lookup(answer, error)))
    return told
