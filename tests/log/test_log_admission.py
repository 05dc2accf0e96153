"""What a leader lets in, refuses and changes: the answers that Apache Kafka 4.3.1 gave."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import pytest
from log_bench import NOW, Bench, batch

from reference_impl.kafka.batches import Compression, assembled, batches, header, intact
from reference_impl.kafka.errors import ErrorCode, KafkaError
from reference_impl.kafka.records import build_batch, records
from reference_impl.log import LogConfig
from reference_impl.log.admission import RecordErrors, check_produced

Opened = Callable[..., Bench]
FAR = 10**9


def patched(data: bytes, **fields: int) -> bytes:
    """The batch with other values in its header, and a checksum that fits."""
    return assembled(header(data)._replace(**fields), data[61:])


def refusal(bench: Bench, data: bytes) -> KafkaError:
    before = bench.log.log_end_offset
    with pytest.raises(KafkaError) as refused:
        bench.append(data)
    assert bench.log.log_end_offset == before
    return refused.value


ONE = batch(b"a")
TWO = batch(b"a", b"b")


@pytest.mark.parametrize(
    ("data", "code"),
    [
        (patched(ONE, base_offset=5), "invalid_record"),
        (patched(ONE, record_count=0), "invalid_record"),
        (patched(ONE, record_count=-1), "invalid_record"),
        (patched(ONE, last_offset_delta=-1), "invalid_record"),
        (patched(ONE, record_count=2), "invalid_record"),
        (patched(ONE, record_count=2, last_offset_delta=1), "invalid_record"),
        (patched(TWO, record_count=1, last_offset_delta=0), "invalid_record"),
        (build_batch([]), "invalid_record"),
        (patched(ONE, attributes=0x20), "invalid_record"),  # a control batch
        (patched(ONE, producer_id=5, producer_epoch=0), "invalid_record"),  # no sequence number
        (patched(ONE, attributes=5), "unknown_server_error"),  # a codec that nobody knows
        (patched(ONE, attributes=1), "unknown_server_error"),  # not what the codec packs
        (patched(ONE, attributes=2), "unknown_server_error"),
        (patched(ONE, attributes=3), "unknown_server_error"),
        (patched(ONE, attributes=4), "unknown_server_error"),
        (ONE[:-1] + b"\1", "corrupt_message"),
        (ONE[:16] + b"\x09" + ONE[17:], "corrupt_message"),
        (ONE[:8] + b"\0\0\0\5" + ONE[12:], "corrupt_message"),
        (ONE[:8] + b"\0\0\0\x20" + ONE[12:44], "corrupt_message"),  # shorter than a header
        (ONE[:8] + b"\0\0\0\x0e" + ONE[12:26], "unknown_server_error"),  # shorter still
        (ONE + ONE, "invalid_record"),
        (batch(b"x" * 2000), "message_too_large"),
        (patched(ONE, producer_id=5, base_sequence=0, attributes=0x10), "invalid_txn_state"),
    ],
)
def test_a_batch_that_kafka_refuses_is_refused_alike(
    opened: Opened, data: bytes, code: str
) -> None:
    bench = opened(max_message_bytes=1000)

    assert refusal(bench, data).code is ErrorCode[code]


def test_bytes_that_hold_no_whole_batch_append_nothing(opened: Opened) -> None:
    bench = opened()

    assert bench.append(ONE[:50]) == -1
    assert bench.log.log_end_offset == 0


def test_what_trails_a_whole_batch_is_not_appended(opened: Opened) -> None:
    bench = opened()

    bench.append(ONE + ONE[:30])

    assert bench.log.size == len(ONE)


def wrong(offset_delta: int, length: int, codec: Compression) -> bytes:
    """A batch of one record that claims another offset, or another length."""
    body = b"\0\0" + bytes([offset_delta * 2]) + b"\x01\x02a\x00"
    from reference_impl.kafka.compression import pack

    payload = bytes([length * 2]) + body
    made = header(ONE)._replace(attributes=int(codec))
    return assembled(made, pack(payload, codec))


@pytest.mark.parametrize(
    ("data", "code"),
    [
        (wrong(5, 7, Compression.none), None),
        (wrong(5, 7, Compression.lz4), "unknown_server_error"),
        (wrong(0, 5, Compression.none), "invalid_record"),
        (wrong(0, 5, Compression.lz4), None),
    ],
)
def test_records_are_checked_as_deeply_as_kafka_does(
    opened: Opened, data: bytes, code: str | None
) -> None:
    bench = opened()

    if code is None:
        assert bench.append(data) == 0
    else:
        assert refusal(bench, data).code is ErrorCode[code]


def test_a_timestamp_too_far_ahead_is_refused_with_the_record(opened: Opened) -> None:
    bench = opened(message_timestamp_after_max_ms=3600000)
    data = build_batch([(NOW, None, b"a"), (NOW + FAR, None, b"b")])

    error = refusal(bench, data)

    assert isinstance(error, RecordErrors)
    assert error.code is ErrorCode.invalid_timestamp
    assert error.message == "One or more records have been rejected due to invalid timestamp"
    assert error.record_errors == (
        (
            1,
            (
                f"Timestamp {NOW + FAR} of message with offset 1 is out of range. The timestamp "
                f"should be within [{NOW - (1 << 63) + 1}, {NOW + 3600000}]"
            ),
        ),
    )


@pytest.mark.parametrize(
    ("timestamp", "fits"), [(NOW - 100, True), (NOW - 101, False), (-1, True), (-2, False)]
)
def test_a_timestamp_may_be_as_old_as_configured_or_missing(
    opened: Opened, timestamp: int, fits: bool
) -> None:
    bench = opened(message_timestamp_before_max_ms=100)
    data = batch(b"a", timestamp=timestamp)

    if fits:
        assert bench.append(data) == 0
    else:
        assert refusal(bench, data).code is ErrorCode.invalid_timestamp


def test_a_compacted_topic_names_every_record_without_a_key(opened: Opened) -> None:
    bench = opened(cleanup_policy="compact")
    data = build_batch([(NOW, None, b"a"), (NOW, b"k", b"b"), (NOW, None, b"c")])

    error = refusal(bench, data)

    assert isinstance(error, RecordErrors)
    assert error.code is ErrorCode.invalid_record
    text = "Compacted topic cannot accept message without key in topic partition t-0"
    assert error.record_errors == ((0, text), (2, text))
    assert error.message.startswith(
        "One or more records have been rejected due to 2 record errors in total, and only showing "
        "the first three errors at most: [RecordError(batchIndex=0, message='Compacted"
    )


def test_one_bad_timestamp_makes_it_the_timestamps_fault(opened: Opened) -> None:
    bench = opened(cleanup_policy="compact,delete")
    data = build_batch([(NOW, None, b"a"), (NOW + FAR, b"k", b"b")])

    error = refusal(bench, data)

    assert isinstance(error, RecordErrors)
    assert error.code is ErrorCode.invalid_timestamp
    assert [index for index, _ in error.record_errors] == [0, 1]


def test_log_append_time_replaces_every_timestamp(opened: Opened) -> None:
    bench = opened(message_timestamp_type="LogAppendTime")
    bench.clock.now = NOW + 77

    appended = bench.run(bench.log.append_as_leader(TWO, leader_epoch=0))

    assert appended.log_append_time_ms == NOW + 77
    (data,) = bench.read_all()
    assert intact(data, 0, header(data))
    assert [record.timestamp for record in records(data)] == [NOW + 77] * 2


@pytest.mark.parametrize(
    ("codec", "name", "key"),
    [(Compression.none, "DefaultRecord", 0), (Compression.lz4, "PartialDefaultRecord", -1)],
)
def test_a_producer_does_not_say_log_append_time(
    opened: Opened, codec: Compression, name: str, key: int
) -> None:
    bench = opened(message_timestamp_type="LogAppendTime")
    data = batch(b"a", compression=codec)
    error = refusal(bench, patched(data, attributes=8 | codec))

    assert isinstance(error, RecordErrors)
    assert error.record_errors == (
        (
            0,
            (
                f"Invalid timestamp type in message {name}(offset=0, timestamp={NOW}, key={key} "
                "bytes, value=1 bytes). Producer should not set timestamp type to LogAppendTime."
            ),
        ),
    )


@pytest.mark.parametrize("change", [{"attributes": 8}, {"max_timestamp": 5}])
def test_the_kind_and_maximum_of_timestamps_are_set_right(
    opened: Opened, change: dict[str, int]
) -> None:
    bench = opened()

    bench.append(patched(ONE, **change))

    (data,) = bench.read_all()
    seen = header(data)
    assert (seen.max_timestamp, seen.log_append_time) == (NOW, False)
    assert intact(data, 0, seen)


@pytest.mark.parametrize("source", list(Compression))
@pytest.mark.parametrize("target", ["producer", "uncompressed", "gzip", "snappy", "lz4", "zstd"])
def test_a_topic_keeps_its_own_codec(opened: Opened, source: Compression, target: str) -> None:
    bench = opened(compression_type=target)
    data = batch(*[b"v%d" % n for n in range(20)], key=b"k", compression=source)

    bench.append(data)

    (kept,) = bench.read_all()
    wanted = {"producer": source, "uncompressed": Compression.none}
    assert header(kept).codec == wanted.get(target, getattr(Compression, target, None))
    assert [r.value for r in records(kept)] == [r.value for r in records(data)]
    assert intact(kept, 0, header(kept))
    if target == "producer":
        assert kept[17:] == data[17:]


def test_a_batch_that_grows_too_large_in_another_codec_is_refused(opened: Opened) -> None:
    packed = batch(b"x" * 3000, compression=Compression.gzip)
    bench = opened(compression_type="uncompressed", max_message_bytes=len(packed) + 10)

    assert refusal(bench, packed).code is ErrorCode.message_too_large


def test_a_batch_larger_than_a_segment_is_refused(opened: Opened) -> None:
    bench = opened(segment_bytes=100)

    assert refusal(bench, batch(b"x" * 100)).code is ErrorCode.record_list_too_large


@pytest.mark.parametrize(
    ("data", "version", "code"),
    [
        (ONE, 9, None),
        (ONE + ONE[:40], 9, None),
        (b"", 9, "invalid_record"),
        (ONE[:40], 9, "invalid_record"),
        (ONE + TWO, 9, "invalid_record"),
        (ONE[:16] + b"\1" + ONE[17:], 9, "invalid_record"),
        (ONE[:16] + b"\7" + ONE[17:], 9, "corrupt_message"),
        (batch(b"a", compression=Compression.zstd), 6, "unsupported_compression_type"),
        (batch(b"a", compression=Compression.zstd), 7, None),
    ],
)
def test_a_produce_request_carries_one_batch_of_the_new_format(
    data: bytes, version: int, code: str | None
) -> None:
    if code is None:
        check_produced(data, version)
        return
    with pytest.raises(KafkaError) as refused:
        check_produced(data, version)
    assert refused.value.code is ErrorCode[code]


def test_configurations_are_read_by_kafkas_names() -> None:
    values: dict[str, Any] = {"segment.bytes": "1234", "cleanup.policy": "compact", "other": "x"}

    config = LogConfig.of(values)

    assert (config.segment_bytes, config.compact, config.delete) == (1234, True, False)
    assert LogConfig.of({}) == LogConfig()


def test_a_follower_takes_what_its_leader_wrote_and_nothing_before_its_end(opened: Opened) -> None:
    leader, follower = opened(), opened()
    for value in (b"a", b"b", b"c"):
        leader.append(batch(value, value), epoch=3)
    (data,) = leader.read_all()

    follower.run(follower.log.append_as_follower(data))

    assert follower.read_all() == [data]
    assert follower.log.epochs.entries == leader.log.epochs.entries
    with pytest.raises(KafkaError):
        follower.run(follower.log.append_as_follower(data))


def test_a_follower_leaves_out_what_a_later_epoch_wrote(opened: Opened) -> None:
    leader, follower = opened(), opened()
    leader.append(ONE, epoch=3)
    leader.append(ONE, epoch=4)
    (data,) = leader.read_all()

    appended = follower.run(follower.log.append_as_follower(data, leader_epoch=3))

    assert appended.last_offset == 0
    assert [b.partition_leader_epoch for _, b in batches(follower.read_all()[0])] == [3]


@pytest.mark.parametrize("place", [17, 30, -1])
def test_a_follower_refuses_a_damaged_batch(opened: Opened, place: int) -> None:
    bench = opened()
    data = bytearray(TWO)
    data[place] ^= 4

    with pytest.raises(KafkaError) as refused:
        bench.run(bench.log.append_as_follower(bytes(data)))

    assert refused.value.code is ErrorCode.corrupt_message
