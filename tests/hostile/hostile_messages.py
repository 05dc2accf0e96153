"""Requests that are well formed and mean harm: any API, any version, any values.

They are drawn from the schemas. A field with a known name gets values that reach somewhere: names
of topics that exist, ids that are right; the others, and those too now and then, get the edges of
their types. Waits are short and counts of partitions are few or impossible, so that a run ends.
"""

from __future__ import annotations

import uuid
from functools import cache
from typing import Any

from hostile_batches import INT8, INT16, INT32, INT64, hostile_batches, mutated, numbers
from hypothesis import strategies as st

from harness.deployments.plan import DeploymentPlan
from reference_impl.kafka.apis import PRODUCE, Api
from reference_impl.kafka.codec import Codec
from reference_impl.kafka.frames import request_frame
from reference_impl.kafka.message import Message
from reference_impl.kafka.schema import Field, Struct

PREY = "prey"
# Stands for the id of that topic until the frame is sent: nobody knows it before.
PREY_ID = uuid.UUID("70726579-7072-4579-8072-657970726579")
CLUSTER_ID = DeploymentPlan().cluster_id
BROKER_EPOCH = 1  # of the one broker in its first life, in a new cluster
MOST_ITEMS = 3
CLIENT_ID = "hostile"

_WIDTHS = {
    "int8": INT8,
    "int16": INT16,
    "int32": INT32,
    "int64": INT64,
    "timedelta_i32": INT32,
    "timedelta_i64": INT64,
    "datetime_i64": INT64,
    "error_code": INT16,
}
_UNSIGNED = {"uint16": 16, "uint32": 32}

# Stands for bytes that are no text, and so longer when they are written than when they were read.
NO_TEXT = "Ω"
_texts = st.sampled_from(
    [
        "", " ", ".", "..", "x" * 249, "x" * 300, "x" * 32_000, "\0", "é☃𝄞", "a/b", "../up", "\n",
        "-1", NO_TEXT, NO_TEXT * 15_000,
    ]
)  # fmt: skip
_topics = st.one_of(
    st.just(PREY),
    st.just(PREY),
    st.sampled_from(["nobody", "__consumer_offsets", "__cluster_metadata", "prey.", "prey_"]),
    _texts,
)
_brokers = st.sampled_from([1, 1, 1, 0, -1, -2, 2, 3000, 2**31 - 1, -(2**31)])
_partitions = st.sampled_from([0, 0, 0, 1, 1, 2, -1, 2**31 - 1, -(2**31)])
_offsets = st.integers(-6, 12) | numbers(INT64)
_epochs = st.integers(-2, 2) | numbers(INT32)
_keys = st.sampled_from(
    [
        "retention.ms", "retention.bytes", "cleanup.policy", "compression.type", "segment.bytes",
        "max.message.bytes", "min.insync.replicas", "message.timestamp.type", "segment.ms",
        "message.timestamp.after.max.ms", "index.interval.bytes", "segment.index.bytes",
        "unclean.leader.election.enable", "local.retention.ms", "remote.storage.enable",
        "log.retention.ms", "num.partitions", "node.id", "broker.id", "listeners", "log.dirs",
        "num.io.threads", "log.cleaner.threads", "message.max.bytes", "nothing.of.ours",
        "leader.replication.throttled.replicas", "fetch.max.bytes", "producer.id.expiration.ms",
        "advertised.listeners", "metric.reporters", "ssl.keystore.password", "segment.jitter.ms",
    ]
) | _texts  # fmt: skip
_values = st.sampled_from(
    [
        "-1", "0", "1", "-2", "1048576", "9" * 30, "1e3", "0x10", "١", "1.5", "NaN", "true",
        "False", "compact", "delete", "compact,delete", "gzip", "zstd", "producer", "LogAppendTime",
        "9223372036854775807", "-9223372036854775808", "2147483647", "0:1,1:1", "*", ",", "a=b",
    ]
) | _texts  # fmt: skip
_counts = st.sampled_from([-1, -1, 0, 1, 1, 2, 3, -2, 10_001, 2**31 - 1, -(2**31)])

_NAMED: dict[str, st.SearchStrategy[Any]] = {
    "max_wait_ms": st.sampled_from([0, 0, 1, 20, -1, -(2**31)]),
    "timeout_ms": st.sampled_from([0, 1, 200, 200, -1, -(2**31), 2**31 - 1]),
    "name": _topics,
    "topic": _topics,
    "topic_name": _topics,
    "topic_names": _topics,
    "resource_name": st.sampled_from([PREY, PREY, "1", "1", "", "2", "3000", "-1", "١"]) | _texts,
    "resource_type": st.sampled_from([2, 2, 4, 4, 8, 16, 32]) | numbers(INT8),
    "config_operation": st.integers(-1, 4) | numbers(INT8),
    "configuration_keys": _keys,
    "value": _values,
    "index": _partitions,
    "partition": _partitions,
    "partitions": _partitions,
    "partition_index": _partitions,
    "partition_indexes": _partitions,
    "broker_id": _brokers,
    "broker_ids": _brokers,
    "replica_id": _brokers,
    "replicas": _brokers,
    "new_isr": _brokers,
    "fetch_offset": _offsets,
    "offset": _offsets,
    "timestamp": _offsets,
    "log_start_offset": _offsets,
    "cluster_id": st.sampled_from([CLUSTER_ID, CLUSTER_ID, "another"]),
    "broker_epoch": st.sampled_from([BROKER_EPOCH, BROKER_EPOCH, BROKER_EPOCH - 1, -1, 2**63 - 1]),
    "replica_epoch": _offsets,
    "current_leader_epoch": _epochs,
    "leader_epoch": _epochs,
    "last_fetched_epoch": _epochs,
    "partition_epoch": _epochs,
    "session_id": st.sampled_from([0, 0, 0, 1, -1]) | numbers(INT32),
    "session_epoch": st.sampled_from([-1, -1, 0, 0, 1, 2]) | numbers(INT32),
    "max_bytes": st.sampled_from([1 << 20, 0, 1, -1, 2**31 - 1, -(2**31)]),
    "partition_max_bytes": st.sampled_from([1 << 20, 0, 1, -1, 2**31 - 1, -(2**31)]),
    "acks": st.sampled_from([-1, -1, 1, 1, 0, 2, -2, 2**15 - 1]),
    "num_partitions": _counts,
    "count": _counts,
    "replication_factor": st.sampled_from([-1, 1, 1, 0, 2, -2, 2**15 - 1]),
    "isolation_level": st.sampled_from([0, 0, 1, 2, -1]),
    "election_type": st.integers(-1, 2) | numbers(INT8),
    "topic_id": st.sampled_from([PREY_ID, PREY_ID, uuid.UUID(int=0), uuid.UUID(int=1)])
    | st.uuids(),
}
# What a controller takes; the rest is refused, and whoever is refused changes nothing.
SOUND_CONFIGS = [
    ("retention.ms", "1"),
    ("retention.bytes", "0"),
    ("cleanup.policy", "compact"),
    ("cleanup.policy", "compact,delete"),
    ("compression.type", "zstd"),
    ("compression.type", "uncompressed"),
    ("max.message.bytes", "0"),
    ("segment.bytes", "1048576"),
    ("segment.ms", "1"),
    ("min.insync.replicas", "2"),
    ("message.timestamp.type", "LogAppendTime"),
    ("message.timestamp.before.max.ms", "0"),
    ("index.interval.bytes", "0"),
    ("flush.messages", "1"),
    ("unclean.leader.election.enable", "true"),
    ("log.retention.ms", "1"),
    ("message.max.bytes", "0"),
    ("num.io.threads", "4"),
    ("log.segment.bytes", "1048576"),
]
_CONFIG_NAMES = ("AlterableConfig", "CreatableTopicConfig")


def _primitive(field: Field, inside: Struct) -> st.SearchStrategy[Any]:
    if field.name == "name" and inside.name in _CONFIG_NAMES:
        return _keys
    if field.name in _NAMED:
        return _NAMED[field.name]
    if field.kind in _WIDTHS:
        return numbers(_WIDTHS[field.kind])
    if field.kind in _UNSIGNED:
        return st.integers(0, 2 ** _UNSIGNED[field.kind] - 1)
    return {
        "bool": st.booleans(),
        "string": _texts,
        "bytes": st.binary(max_size=20),
        "records": hostile_batches,
        "uuid": st.just(uuid.UUID(int=0)) | st.uuids(),
        "float64": st.floats(),
    }[field.kind]


def _field(codec: Codec, field: Field, inside: Struct) -> st.SearchStrategy[Any]:
    one = _struct(codec, field.struct) if field.struct else _primitive(field, inside)
    if field.array:
        some = st.lists(one, min_size=1, max_size=MOST_ITEMS)
        one = st.one_of(some, some, some, st.just([]))
    return st.one_of(one, one, one, st.none()) if field.nullable else one


def _struct(codec: Codec, struct: Struct) -> st.SearchStrategy[Message]:
    fields = {field.name: _field(codec, field, struct) for field in struct.fields}
    cls = codec.classes[struct.name]
    any_values = st.builds(cls, **fields)
    if struct.name not in _CONFIG_NAMES:
        return any_values
    operations = {"config_operation": st.integers(0, 3)} if "config_operation" in fields else {}
    sound = st.sampled_from(SOUND_CONFIGS).flatmap(
        lambda one: st.builds(cls, name=st.just(one[0]), value=st.just(one[1]), **operations)
    )
    return sound | any_values


@cache
def messages(api: Api, version: int) -> st.SearchStrategy[Message]:
    """Any request of one version."""
    return _struct(api.requests, api.requests.structs[version])


@st.composite
def frames(draw: st.DrawFn, apis: tuple[Api, ...]) -> bytes:
    """A frame of one of these APIs, sound from its size to its end."""
    api = draw(st.sampled_from(apis))
    version = draw(st.sampled_from(list(api.versions)))
    number = draw(st.integers(0, 2**31 - 1))
    return request_frame(api, version, number, CLIENT_ID, draw(messages(api, version)))


@st.composite
def produces(draw: st.DrawFn) -> bytes:
    """A Produce request in which everything is right but the batch."""
    version = draw(st.integers(3, 12))
    data = PRODUCE.request.PartitionProduceData(
        index=draw(st.integers(0, 1)), records=draw(hostile_batches)
    )
    message = PRODUCE.request(
        acks=draw(st.sampled_from([-1, 1])),
        timeout_ms=1000,
        topic_data=[PRODUCE.request.TopicProduceData(name=PREY, partition_data=[data])],
    )
    return request_frame(PRODUCE, version, draw(st.integers(0, 2**31 - 1)), CLIENT_ID, message)


@st.composite
def mutated_frames(draw: st.DrawFn, apis: tuple[Api, ...]) -> bytes:
    """A frame with bytes flipped, cut or put in; whose request it is and how long, stay true."""
    frame = draw(frames(apis))
    body = frame[4:6] + draw(mutated(frame[6:]))
    return len(body).to_bytes(4, "big") + body
