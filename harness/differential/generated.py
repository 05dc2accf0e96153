"""Sequences that nobody thought of: Hypothesis draws them from a small world.

The world is two topics of two partitions, three producers, offsets and sequences below ten, and
timestamps a few milliseconds apart: small enough for collisions, which is where answers get
interesting. Everything that is drawn has one right answer; what depends on chance or on how long
something takes (waiting fetches, deletions that are still under way) is left to sequences by hand.
"""

from __future__ import annotations

from typing import Any

from hypothesis import strategies as st

from harness.differential.generated_admin import ADMIN_STEPS
from harness.differential.sequence import RequestSequence, Step
from harness.differential.sequences.building import (
    T0,
    TIMEOUT_MS,
    batch,
    config_is,
    config_resource,
    described,
    fetch,
    fetch_topic,
    fetched,
    list_offsets,
    made,
    metadata,
    produce,
    producer_id,
    record,
)

TOPICS = ("a", "b")
PRODUCERS = ("p", "q", "r")
WRONG: tuple[dict[str, Any], ...] = (
    {"break": {"crc": 1}},
    {"patch": {"magic": 1}},
    {"patch": {"record_count": 2}},
    {"patch": {"last_offset_delta": 3}},
    {"patch": {"base_offset": 5}},
    {"patch": {"attributes": 0x10}},
    {"patch": {"attributes": 0x20}},
    {"patch": {"max_timestamp": T0 + 77}},
    {"cut": 2},
    {"append": "00"},
)
CHANGES = (
    ("max.message.bytes", "150"),
    ("max.message.bytes", "1048588"),
    ("message.timestamp.type", "LogAppendTime"),
    ("message.timestamp.type", "CreateTime"),
    ("compression.type", "gzip"),
    ("compression.type", "uncompressed"),
    ("cleanup.policy", "compact"),
    ("min.insync.replicas", "2"),
    ("min.insync.replicas", "1"),
)

topics = st.sampled_from(TOPICS)
partitions = st.sampled_from((0, 0, 0, 1, 2))
offsets = st.integers(-1, 9)
epochs = st.sampled_from((-1, -1, -1, 0, 1))
values = st.sampled_from(("x", "y", None, {"bytes": 100}))
keys = st.sampled_from((None, None, "k"))


@st.composite
def records(draw: st.DrawFn) -> dict[str, Any]:
    said = record(draw(values), draw(st.integers(0, 20)))
    key = draw(keys)
    return {**said, "key": key} if key else said


@st.composite
def batches(draw: st.DrawFn) -> dict[str, Any]:
    some = draw(st.lists(records(), min_size=1, max_size=3))
    compression = draw(st.sampled_from(("none", "none", "none", "gzip", "lz4", "zstd", "snappy")))
    wrong = draw(st.sampled_from(({}, {}, {}, {}, *WRONG)))
    return {**batch(*some), "compression": compression, **wrong}


@st.composite
def plain_produce(draw: st.DrawFn) -> Step:
    many = draw(st.lists(batches(), min_size=1, max_size=draw(st.sampled_from((1, 1, 1, 2)))))
    return produce(
        *many,
        topic=draw(topics),
        partition=draw(partitions),
        acks=draw(st.sampled_from((-1, -1, 1, 0, 2))),
        version=draw(st.integers(3, 13)),
    )


@st.composite
def idempotent_produce(draw: st.DrawFn) -> Step:
    some = draw(st.lists(records(), min_size=1, max_size=3))
    patch = {
        "producer_id": f"$ref:{draw(st.sampled_from(PRODUCERS))}",
        "producer_epoch": draw(st.sampled_from((0, 0, 0, 1))),
        "base_sequence": draw(st.integers(0, 7)),
    }
    return produce(
        {**batch(*some), "patch": patch},
        topic=draw(topics),
        partition=draw(st.integers(0, 1)),
        version=draw(st.integers(3, 13)),
    )


@st.composite
def fetches(draw: st.DrawFn) -> Step:
    version = draw(st.integers(4, 18))
    asked = []
    for number in draw(st.lists(partitions, min_size=1, max_size=2, unique=True)):
        more: dict[str, Any] = {"partition_max_bytes": draw(st.sampled_from((0, 100, 300, 9999)))}
        if version >= 9:
            more["current_leader_epoch"] = draw(epochs)
        if version >= 12:
            more["last_fetched_epoch"] = draw(epochs)
        asked.append(fetched(number, draw(offsets), **more))
    return fetch(
        topics=[fetch_topic(draw(topics), version, asked)],
        version=version,
        max_bytes=draw(st.sampled_from((0, 100, 400, 9999))),
        isolation_level=draw(st.integers(0, 1)),
    )


@st.composite
def session_fetches(draw: st.DrawFn) -> Step:
    """One session id for all; whether an epoch is the next one is left to chance."""
    version = draw(st.sampled_from((12, 12, 17)))
    epoch = draw(st.sampled_from((0, 0, 1, 1, 2, 3, -1)))
    numbers = draw(st.lists(st.integers(0, 2), max_size=2, unique=True))
    asked = [fetched(number, draw(st.integers(0, 4))) for number in numbers]
    return fetch(
        topics=[fetch_topic("a", version, asked)] if asked else [],
        version=version,
        session_id="$ref:session" if epoch > 0 else 0,
        session_epoch=epoch,
        save={"session": "session_id"} if epoch == 0 else {},
    )


@st.composite
def listings(draw: st.DrawFn) -> Step:
    time = draw(st.one_of(st.integers(-6, 0), st.integers(T0, T0 + 21)))
    version = draw(st.integers(1, 11))
    more: dict[str, Any] = {"current_leader_epoch": draw(epochs)} if version >= 4 else {}
    (step,) = list_offsets(
        time,
        topic=draw(topics),
        partition=draw(partitions),
        version=version,
        isolation_level=draw(st.integers(0, 1)),
        **more,
    )
    return step


@st.composite
def epoch_ends(draw: st.DrawFn) -> Step:
    asked = {
        "partition": draw(partitions),
        "leader_epoch": draw(st.integers(-1, 2)),
        "current_leader_epoch": draw(epochs),
    }
    named = [{"topic": f"$topic:{draw(topics)}", "partitions": [asked]}]
    fields = {"topics": named, "replica_id": -1}
    return Step(api="offset_for_leader_epoch", version=draw(st.integers(3, 4)), fields=fields)


@st.composite
def deletions(draw: st.DrawFn) -> Step:
    asked = [{"partition_index": draw(partitions), "offset": draw(offsets)}]
    named = [{"name": f"$topic:{draw(topics)}", "partitions": asked}]
    fields = {"topics": named, "timeout": TIMEOUT_MS}
    return Step(api="delete_records", version=draw(st.integers(0, 2)), fields=fields)


@st.composite
def config_changes(draw: st.DrawFn) -> tuple[Step, ...]:
    name, value = draw(st.sampled_from(CHANGES))
    topic = draw(topics)
    change = {"name": name, "config_operation": 0, "value": value}
    resource = config_resource(topic, configs=[change])
    step = Step(api="incremental_alter_configs", version=1, fields={"resources": [resource]})
    return step, config_is(topic, name, value)


@st.composite
def questions(draw: st.DrawFn) -> Step:
    topic = draw(topics)
    return draw(
        st.sampled_from(
            (
                metadata(topic, version=12),
                metadata(topic, version=5),
                described(topic, "max.message.bytes", "compression.type"),
                described(topic, "message.timestamp.type", include_synonyms=True),
            )
        )
    )


@st.composite
def growths(draw: st.DrawFn) -> Step:
    asked = {"name": f"$topic:{draw(topics)}", "count": draw(st.integers(1, 3))}
    fields = {"topics": [{**asked, "assignments": None}], "timeout": TIMEOUT_MS}
    return Step(api="create_partitions", version=draw(st.integers(0, 3)), fields=fields)


def _one(step: Step) -> tuple[Step, ...]:
    return (step,)


STEPS = st.one_of(
    plain_produce().map(_one),
    idempotent_produce().map(_one),
    idempotent_produce().map(_one),
    fetches().map(_one),
    fetches().map(_one),
    session_fetches().map(_one),
    listings().map(_one),
    epoch_ends().map(_one),
    deletions().map(_one),
    config_changes(),
    questions().map(_one),
    growths().map(_one),
    ADMIN_STEPS.map(_one),
    ADMIN_STEPS.map(_one),
)


@st.composite
def generated_sequences(draw: st.DrawFn) -> RequestSequence:
    """Topics and producers to begin with, then whatever comes.

    Lists that Hypothesis draws have about six entries however many they may have; three of them
    in a row make stories long enough, and shrink as well as one.
    """
    parts = [part for _ in range(3) for part in draw(st.lists(STEPS, max_size=15))]
    steps = [step for part in parts for step in part]
    needed = [one for one in PRODUCERS if any(f"$ref:{one}" in str(step.fields) for step in steps)]
    begin = [made(*TOPICS, partitions=2), *(producer_id(one) for one in needed)]
    return RequestSequence(
        name="generated/example", about="made up by Hypothesis", steps=(*begin, *steps)
    )
