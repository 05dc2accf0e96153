"""Produce: batches that are wrong, each in one way, and Records that hold more than one."""

from __future__ import annotations

from typing import Any

from harness.differential.sequence import RequestSequence, Step
from harness.differential.sequences.building import (
    TIMEOUT_MS,
    batch,
    fetch,
    list_offsets,
    made,
    produce,
    record,
)


def _story(name: str, about: str, *steps: Step) -> RequestSequence:
    return RequestSequence(name=f"produce/{name}", about=about, steps=steps)


def _to_both(first: dict[str, Any], second: dict[str, Any]) -> Step:
    """One batch to each of two partitions."""
    data = [{"index": 0, "records": [first]}, {"index": 1, "records": [second]}]
    fields = {
        "acks": -1,
        "timeout": TIMEOUT_MS,
        "topic_data": [{"name": "$topic:a", "partition_data": data}],
    }
    return Step(api="produce", version=9, fields=fields)


WRONG = {
    "bad_crc": batch("x", **{"break": {"crc": 1}}),
    "magic_0": batch("x", patch={"magic": 0}),
    "magic_1": batch("x", patch={"magic": 1}),
    "magic_3": batch("x", patch={"magic": 3}),
    "magic_minus_1": batch("x", patch={"magic": -1}),
    "no_records": batch(),
    "count_too_high": batch("x", "y", patch={"record_count": 3}),
    "count_too_low": batch("x", "y", patch={"record_count": 1}),
    "count_negative": batch("x", patch={"record_count": -1}),
    "count_zero": batch("x", patch={"record_count": 0}),
    "last_offset_delta_too_high": batch("x", "y", patch={"last_offset_delta": 5}),
    "last_offset_delta_too_low": batch("x", "y", patch={"last_offset_delta": 0}),
    "last_offset_delta_negative": batch("x", patch={"last_offset_delta": -1}),
    "record_delta_gap": batch(record("x"), record("y", offset_delta=2)),
    "record_delta_repeated": batch(record("x"), record("y", offset_delta=0)),
    "record_delta_backwards": batch(record("x", offset_delta=1), record("y", offset_delta=0)),
    "base_offset_not_zero": batch("x", patch={"base_offset": 42}),
    "leader_epoch_told": batch("x", patch={"partition_leader_epoch": 7}),
    "record_too_long": batch(record("x", length=99)),
    "record_too_short": batch(record("x", length=3)),
    "bytes_behind_records": batch("x", append="00112233"),
    "batch_cut": batch("x", cut=3),
    "batch_length_too_small": batch("x", patch={"batch_length": 10}),
    "batch_length_negative": batch("x", patch={"batch_length": -1}),
    "batch_length_too_large": batch("x", patch={"batch_length": 500}),
    "control_batch": batch("x", patch={"attributes": 0x20}),
    "transactional_without_id": batch("x", patch={"attributes": 0x10}),
    "unknown_compression": batch("x", patch={"attributes": 5}),
    "unused_attributes": batch("x", patch={"attributes": 0x4000}),
    "says_log_append_time": batch("x", patch={"attributes": 0x08}),
    "delete_horizon_flag": batch("x", patch={"attributes": 0x40}),
    "epoch_without_id": batch("x", patch={"producer_epoch": 3}),
    "id_without_sequence": batch("x", patch={"producer_id": 9, "producer_epoch": 0}),
    "id_without_epoch": batch("x", patch={"producer_id": 9, "base_sequence": 0}),
    "compressed_garbage": batch("x", compression="gzip", body="deadbeef"),
    "compressed_count_too_high": batch("x", compression="gzip", patch={"record_count": 4}),
    "compressed_delta_gap": batch(record("x"), record("y", offset_delta=3), compression="gzip"),
    "header_count_negative": batch(record("x", header_count=-1)),
    "header_count_too_high": batch(record("x", header_count=3)),
}
REFUSED_BATCHES = (
    *(
        _story(
            name,
            "a batch that is wrong in one way, and what is in the log afterwards",
            made("a"),
            produce(batch("before")),
            produce(one),
            fetch(),
            *list_offsets(-1),
        )
        for name, one in WRONG.items()
    ),
    _story(
        "null_records",
        "no Records at all, and an empty one",
        made("a"),
        produce(None),
        produce(),
        produce(None, version=3),
        fetch(),
    ),
    *(
        _story(
            f"garbage_{name}",
            "bytes that are no batch",
            made("a"),
            produce({"records": [], "raw": data}),
            fetch(),
        )
        for name, data in {
            "few_bytes": "0011",
            "header_only": "00" * 12,
            "zeros": "00" * 80,
        }.items()
    ),
    _story(
        "compacted_without_key",
        "a compacted topic wants keys",
        made("a", configs={"cleanup.policy": "compact"}),
        produce(batch(record("x", key="k"))),
        produce(batch("x")),
        produce(batch(record("x", key="k"), record("y"), record("z", key="k"), record("w"))),
        produce(batch(record("x", key="k"), record("y"), compression="lz4"), version=7),
        fetch(),
    ),
    _story(
        "too_large",
        "a batch above max.message.bytes",
        made("a", configs={"max.message.bytes": "200"}),
        produce(batch({"bytes": 100})),
        produce(batch({"bytes": 132}), note="200 bytes of batch"),
        produce(batch({"bytes": 133}), note="201 bytes"),
        produce(batch({"bytes": 5000}), version=3),
        produce(batch({"bytes": 5000}, compression="gzip")),
        produce(batch({"bytes": 5000}), acks=0),
        fetch(),
    ),
    _story(
        "larger_than_default",
        "a little under and a little over the default of max.message.bytes",
        made("a"),
        produce(batch({"bytes": 1_048_500})),
        produce(batch({"bytes": 1_048_588})),
        *list_offsets(-1),
    ),
)


MANY_BATCHES = (
    _story(
        "two_batches_one_zstd",
        "the codec of the first batch is looked at before there may be no second",
        made("a"),
        *(
            produce(batch("x", compression=first), batch("y", compression=second), version=version)
            for version in (6, 7)
            for first, second in (("zstd", "none"), ("none", "zstd"))
        ),
        *(produce(batch("x", patch={"attributes": 5}), version=version) for version in (6, 7)),
        produce(batch("x"), batch("y", patch={"batch_length": 3})),
        produce(batch("x"), batch("y", patch={"magic": 1})),
        produce(batch("x", patch={"magic": 1}), batch("y")),
        *list_offsets(-1),
    ),
    _story(
        "unknown_codec_and_more",
        "a codec that nobody knows is found before what else is wrong with the header",
        made("a"),
        *(
            produce(batch("x", patch={"attributes": 5, **more}), version=version)
            for version in (3, 7, 9)
            for more in (
                {"attributes": 0x27},
                {"attributes": 0x2D},
                {"record_count": 0},
                {"last_offset_delta": -1},
                {"last_offset_delta": 7},
                {"producer_id": 7, "base_sequence": -1},
                {"base_offset": 3},
                {"max_timestamp": -5},
            )
        ),
        *list_offsets(-1),
    ),
    _story(
        "two_batches_one_transactional",
        "only the first batch is asked for its transaction, and only until one has one",
        made("a", partitions=2),
        produce(batch("x"), batch("y", patch={"attributes": 0x10})),
        produce(batch("y", patch={"attributes": 0x10}), batch("x")),
        _to_both(batch("x"), batch("y", patch={"attributes": 0x10})),
        _to_both(batch("x", patch={"attributes": 0x10}), batch("y", patch={"batch_length": 3})),
        _to_both(batch("x", patch={"batch_length": 3}), batch("y", patch={"attributes": 0x10})),
        _to_both(batch("x"), batch("y", patch={"batch_length": 3})),
        fetch(),
    ),
    _story(
        "two_batches",
        "one Records field holds one batch",
        made("a"),
        produce(batch("x"), batch("y", "z")),
        produce(batch("x"), batch("y"), version=3),
        produce(batch("x"), batch("y", **{"break": {"crc": 1}})),
        produce(batch("x", compression="gzip"), batch("y", compression="gzip")),
        produce(batch("x"), {"records": [], "raw": "0011"}),
        fetch(),
    ),
)

SEQUENCES = (*REFUSED_BATCHES, *MANY_BATCHES)
