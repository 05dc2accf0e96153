"""Defects of Apache Kafka in their shortest form: each is here as long as Kafka has it."""

from __future__ import annotations

import asyncio
import time
from collections.abc import Callable, Coroutine
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


def test_a_deposed_leader_whose_cut_falls_inside_a_batch_is_given_up(tmp_path: Path) -> None:
    """The reference recovers: `tests/simulation/test_classic_cluster_recovers.py`."""
    try:
        kafka = IsolatedKafka(plan_of(), logs=tmp_path / "logs", data=tmp_path / "data")
    except KafkaUnavailable as reason:
        pytest.skip(str(reason))
    with kafka:
        at = Asked(kafka)
        at.ask(1, lambda client: create_topic(client, TP.topic, assignments=[[1, 2, 3]]))
        wait_for(lambda: len(at.seen_by(1).isr) == 3)
        others = [CONTROLLER, broker_name(2), broker_name(3)]
        cut = kafka.links.cut(broker_name(1), others, both=True)
        now_ms = time.time_ns() // 1_000_000
        for _ in range(20):  # of an epoch that nobody else will know
            at.ask(1, lambda client: produce(client, TP, records=[("old", now_ms)], acks=1))
        wait_for(lambda: at.seen_by(2).leader in (2, 3))
        leader = at.seen_by(2).leader
        pair = [("new", now_ms), ("new", now_ms)]
        for _ in range(5):
            sent = at.ask(leader, lambda client: produce(client, TP, records=pair, acks=-1))
            assert sent.fields["error"] == 0
        gone = at.ask(leader, lambda client: delete_records(client, TP, offset=5))
        assert gone.fields["log_start_offset"] == 5  # the second record of the batch 4, 5

        kafka.links.heal(cut)
        log = tmp_path / "logs" / broker_name(1) / "server.log"
        wait_for(lambda: "Partition t-0 marked as failed" in log.read_text(encoding="utf-8"))
        assert "First offset 4 is less than the next offset 5" in log.read_text(encoding="utf-8")
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
