"""The body of `remote-metadata`: the records of the metadata topic of tiered storage, as text.

The topic is read over the Kafka protocol as any client may, partition after partition, each from
its log start to its high watermark; the lines are those of `reference_impl/tiered/formatter.py`. A
record that has none of the document's schemas is named on stderr and skipped, as all readers of the
topic do (`docs/readings.md`, G-28): Apache Kafka, for one, writes another format.
"""

from __future__ import annotations

import asyncio
import sys
from collections.abc import AsyncIterator, Sequence

from harness.clients.admin import brokers_known
from harness.clients.operations import TopicPartition, list_offsets
from harness.clients.raw import RawClient
from harness.clients.tier_requests import raw_records_from
from harness.clients.topic_admin import ToldTopic, describe_topics
from harness.errors import NoAnswer, UsageError
from harness.workloads.tier_looks import METADATA_TOPIC
from reference_impl.live.network import StreamNetwork
from reference_impl.ports import Address, Network
from reference_impl.ports.network import EndOfStream
from reference_impl.tiered.formatter import RemoteLogMetadataFormatter, parse_properties
from reference_impl.tiered.records import BadRecord, decode_event

ANSWERS_S = 10.0
EARLIEST = -2


def run(bootstrap: str, *, partition: int | None, properties: Sequence[str]) -> int:
    """Print every event; the exit code."""
    there = _address(bootstrap)
    try:
        formatter = RemoteLogMetadataFormatter(parse_properties(properties))
    except ValueError as mistake:
        raise UsageError(f"--property: {mistake}") from None
    asyncio.run(_print(there, partition, formatter))
    return 0


async def _print(
    there: Address, partition: int | None, formatter: RemoteLogMetadataFormatter
) -> None:
    async for line, problem in metadata_lines(StreamNetwork(), there, partition, formatter):
        print(problem or line, file=sys.stderr if problem else sys.stdout)


async def metadata_lines(
    network: Network,
    there: Address,
    only: int | None,
    formatter: RemoteLogMetadataFormatter,
) -> AsyncIterator[tuple[str, str]]:
    """A line for each record, or what is wrong with it."""
    try:
        told = await _described(network, there)
        brokers = await brokers_known(RawClient(network, there), timeout_s=ANSWERS_S)
        for number in _chosen(told, only):
            leader = told.partitions[number].leader
            if leader not in brokers:
                raise NoAnswer(f"{METADATA_TOPIC}-{number} has no leader now: try again")
            tp = TopicPartition(METADATA_TOPIC, number)
            async for one in _partition_lines(RawClient(network, brokers[leader]), tp, formatter):
                yield one
    except (OSError, EndOfStream) as lost:
        why = str(lost) or f"no answer within {ANSWERS_S:g} s"
        raise NoAnswer(f"{there.host}:{there.port}: {why}") from None


async def _described(network: Network, there: Address) -> ToldTopic:
    client = RawClient(network, there)
    try:
        found = await describe_topics(client, [METADATA_TOPIC], timeout_s=ANSWERS_S)
    finally:
        client.abort()
    told = found.get(METADATA_TOPIC)
    if told is None or told.error or not told.partitions:
        raise UsageError(
            f"there is no topic {METADATA_TOPIC} at {there.host}:{there.port}: brokers make it when"
            " remote.log.storage.system.enable=true, and their metadata manager is the default one"
        )
    return told


def _chosen(told: ToldTopic, only: int | None) -> list[int]:
    numbers = sorted(told.partitions)
    if only is None:
        return numbers
    if only not in numbers:
        last = numbers[-1]
        raise UsageError(f"--partition {only}: {METADATA_TOPIC} has the partitions 0 to {last}")
    return [only]


async def _partition_lines(
    client: RawClient, tp: TopicPartition, formatter: RemoteLogMetadataFormatter
) -> AsyncIterator[tuple[str, str]]:
    try:
        begins = await list_offsets(client, tp, timestamp=EARLIEST, timeout_s=ANSWERS_S)
        start = begins.fields.get("offset", 0)
        async for offset, _, value in raw_records_from(
            client, tp, start=start, timeout_s=ANSWERS_S
        ):
            where = f"{tp.topic}-{tp.partition}, offset {offset}"
            try:
                event = decode_event(value)
            except BadRecord as bad:
                yield "", f"tidemark: {where} is skipped: no record of the document ({bad})"
            else:
                yield formatter.line(event, partition=tp.partition, offset=offset), ""
    finally:
        client.abort()


def _address(text: str) -> Address:
    host, _, port = text.rpartition(":")
    if not host or not port.isdigit() or not 0 < int(port) < 1 << 16:
        raise UsageError(f"--bootstrap {text!r} is not HOST:PORT")
    return Address(host, int(port))
