"""Produce: what is taken, what is refused, and with which error."""

from __future__ import annotations

from harness.differential.sequence import RequestSequence, Step
from harness.differential.sequences.building import (
    T0,
    batch,
    config_is,
    fetch,
    fetched,
    list_offsets,
    made,
    produce,
    record,
)
from harness.differential.sequences.transacting import GROUP, coordinated

HOUR_MS = 3_600_000


def _story(name: str, about: str, *steps: Step) -> RequestSequence:
    return RequestSequence(name=f"produce/{name}", about=about, steps=steps)


PLAIN = (
    *(
        _story(
            f"version_{version:02}",
            "two batches, one after the other, and what is read back",
            made("a"),
            produce(batch("x", "y"), version=version),
            produce(batch("z"), version=version, acks=1),
            fetch(),
        )
        for version in (3, 5, 7, 8, 9, 10, 11, 12, 13)
    ),
    _story(
        "keys_headers_nulls",
        "keys, headers, empty and absent values come back as they were",
        made("a"),
        produce(
            batch(
                record("v", key="k"),
                record(None, key="tombstone"),
                record("", 1, headers=[["h", "1"], ["h", None], ["", ""]]),
                record({"bytes": 300}, 2, key=""),
            )
        ),
        fetch(),
    ),
    _story(
        "acks_zero",
        "acks 0 has no answer, whether or not the records were taken",
        made("a"),
        produce(batch("x"), acks=0),
        fetch(),
        produce(batch("x"), acks=0, topic="nowhere-to-be-found"),
        produce(batch("x", **{"break": {"crc": 1}}), acks=0),
        fetch(),
    ),
)


REFUSED_REQUESTS = (
    *(
        _story(
            f"acks_{acks}".replace("-", "minus_"),
            "acks are -1, 0 or 1",
            made("a"),
            produce(batch("x"), acks=acks),
            produce(batch("x"), acks=acks, version=13),
        )
        for acks in (2, -2, 5)
    ),
    _story(
        "unknown_places",
        "topics and partitions that are not there",
        made("a"),
        produce(batch("x"), partition=1),
        produce(batch("x"), partition=-1),
        produce(batch("x"), topic="missing"),
        produce(batch("x"), version=13, topic="11111111-2222-3333-4444-555555555555"),
        produce(batch("x"), version=13, topic="00000000-0000-0000-0000-000000000000"),
        produce(batch("x"), version=13, partition=7),
        produce(batch("x"), topic="missing", acks=1, version=3),
    ),
    _story(
        "some_right_some_wrong",
        "each partition of a request has its own answer",
        made("a", "b", partitions=2),
        Step(
            api="produce",
            version=9,
            fields={
                "acks": -1,
                "timeout": 5000,
                "topic_data": [
                    {
                        "name": "$topic:a",
                        "partition_data": [
                            {"index": 0, "records": [batch("x")]},
                            {"index": 1, "records": [batch("x", **{"break": {"crc": 1}})]},
                            {"index": 2, "records": [batch("x")]},
                        ],
                    },
                    {
                        "name": "$topic:b",
                        "partition_data": [{"index": 1, "records": [batch("x", "y")]}],
                    },
                    {
                        "name": "$topic:missing",
                        "partition_data": [{"index": 0, "records": [batch("x")]}],
                    },
                ],
            },
        ),
        fetch(fetched(0), fetched(1)),
    ),
    _story(
        "empty_request",
        "no topics; a topic without partitions",
        made("a"),
        Step(api="produce", version=9, fields={"acks": -1, "timeout": 5000}),
        Step(
            api="produce",
            version=9,
            fields={"acks": -1, "timeout": 5000, "topic_data": [{"name": "$topic:a"}]},
        ),
    ),
    _story(
        "internal_topic",
        "clients do not write to the topics that Kafka keeps for itself",
        coordinated("$topic:g", GROUP),
        Step(
            api="produce",
            version=9,
            fields={
                "acks": -1,
                "timeout": 5000,
                "topic_data": [
                    {
                        "name": "__consumer_offsets",
                        "partition_data": [{"index": 0, "records": [batch("x")]}],
                    }
                ],
            },
        ),
    ),
    _story(
        "too_few_in_sync",
        "acks all needs as many replicas as the topic says, acks 1 does not",
        made("a", configs={"min.insync.replicas": "2"}),
        produce(batch("x")),
        produce(batch("x"), acks=1),
        produce(batch("x"), acks=0),
        fetch(),
    ),
)


TIMESTAMPS = (
    _story(
        "timestamps_by_default",
        "more than an hour ahead is refused, however old is taken",
        made("a"),
        produce(batch(record("x") | {"timestamp": f"$now+{HOUR_MS // 2}"})),
        produce(batch(record("x") | {"timestamp": f"$now+{2 * HOUR_MS}"})),
        produce(batch(record("x") | {"timestamp": 0})),
        produce(batch(record("x") | {"timestamp": -1})),
        produce(batch(record("x") | {"timestamp": -5})),
        produce(
            batch(
                record("x"),
                record("y") | {"timestamp": T0 + 10_000_000_000_000},
                record("z"),
                record("w") | {"timestamp": T0 + 10_000_000_000_000},
            )
        ),
        fetch(),
    ),
    _story(
        "timestamps_bounded",
        "bounds of the topic, on both sides",
        made(
            "a",
            configs={
                "message.timestamp.before.max.ms": "1000000",
                "message.timestamp.after.max.ms": "1000000",
            },
        ),
        produce(batch(record("x") | {"timestamp": "$now-900000"})),
        produce(batch(record("x") | {"timestamp": "$now-1100000"})),
        produce(batch(record("x") | {"timestamp": "$now+900000"})),
        produce(batch(record("x") | {"timestamp": "$now+1100000"})),
        produce(batch(record("x") | {"timestamp": "$now+1100000"}, compression="zstd")),
        fetch(),
    ),
    _story(
        "max_timestamp_wrong",
        "the header's largest timestamp is not that of the records",
        made("a"),
        produce(batch(record("x"), record("y", 5), patch={"max_timestamp": T0 + 99})),
        produce(batch(record("x"), record("y", 5), patch={"max_timestamp": T0})),
        produce(batch(record("x"), patch={"max_timestamp": -1})),
        produce(batch(record("x"), record("y", 5), patch={"max_timestamp": 1}, compression="lz4")),
        fetch(),
        *list_offsets(-3, T0 + 50),
    ),
    _story(
        "timestamps_out_of_order",
        "records need not be in the order of their timestamps",
        made("a"),
        produce(batch(record("x", 50), record("y", 10), record("z", 99), record("w", 0))),
        fetch(),
        *list_offsets(T0, T0 + 20, T0 + 60, -3),
    ),
    _story(
        "log_append_time",
        "the broker's clock in place of the producer's",
        made("a", configs={"message.timestamp.type": "LogAppendTime"}),
        produce(batch("x", "y")),
        produce(batch("x", "y", compression="gzip")),
        produce(batch(record("x") | {"timestamp": f"$now+{9 * HOUR_MS}"})),
        produce(batch("x", patch={"attributes": 0x08})),
        produce(batch("x"), version=3),
        fetch(),
    ),
    _story(
        "log_append_time_from_now_on",
        "a topic changes its mind about whose clock counts",
        made("a"),
        produce(batch("x")),
        Step(
            api="incremental_alter_configs",
            version=1,
            fields={
                "resources": [
                    {
                        "resource_type": 2,
                        "resource_name": "$topic:a",
                        "configs": [
                            {
                                "name": "message.timestamp.type",
                                "config_operation": 0,
                                "value": "LogAppendTime",
                            }
                        ],
                    }
                ]
            },
        ),
        config_is("a", "message.timestamp.type", "LogAppendTime"),
        produce(batch("y")),
        fetch(),
    ),
)


COMPRESSION = (
    *(
        _story(
            f"compressed_{kind}",
            "compressed batches are kept as they are",
            made("a"),
            produce(batch("x", "y", {"bytes": 400}, compression=kind)),
            fetch(),
            fetch(fetched(offset=1)),
        )
        for kind in ("gzip", "snappy", "lz4", "zstd")
    ),
    *(
        _story(
            f"topic_wants_{kind}",
            "a topic with a compression of its own makes the broker recompress",
            made("a", configs={"compression.type": kind}),
            produce(batch("x", "y")),
            produce(batch("x", "y", compression="gzip")),
            produce(batch("x", "y", compression="zstd")),
            fetch(),
        )
        for kind in ("uncompressed", "gzip", "lz4", "zstd", "snappy")
    ),
    _story(
        "zstd_and_old_versions",
        "zstd came with produce 7 and fetch 10",
        made("a"),
        produce(batch("x", compression="zstd"), version=3),
        produce(batch("x", compression="zstd"), version=6),
        produce(batch("x", compression="zstd"), version=7),
        fetch(version=9),
        fetch(version=10),
    ),
)


SEQUENCES = (*PLAIN, *REFUSED_REQUESTS, *TIMESTAMPS, *COMPRESSION)
