"""A defect of Apache Kafka that needs two producers at once: it is here as long as Kafka has it."""

from __future__ import annotations

import asyncio
import time
from dataclasses import replace

import pytest

from harness.deployments.apache_kafka import ApacheKafka
from harness.differential.live import here_and_now
from harness.differential.player import Play
from harness.differential.sequence import RequestSequence, lookup
from harness.differential.sequences.building import made
from harness.differential.sequences.transacting import begun, sent, within

pytestmark = pytest.mark.foreign

PATIENCE_S = 60.0


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
