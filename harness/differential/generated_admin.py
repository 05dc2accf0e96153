"""Generated requests about topics, configs and replicas; most of them ask to be checked only."""

from __future__ import annotations

from typing import Any

from hypothesis import strategies as st

from harness.differential.sequence import Step
from harness.differential.sequences.building import TIMEOUT_MS, config_resource
from harness.differential.sequences.configs import TRIED_VALUES, UNKNOWN

SET, DELETE, APPEND, SUBTRACT = range(4)

topics = st.sampled_from(("a", "b", "missing"))
names = st.sampled_from(("$topic:a", "$topic:new", "$topic:new", "", "a b", "..", "x" * 250))
counts = st.sampled_from((-2, -1, -1, 0, 1, 1, 3))
brokers = st.sampled_from(("$broker:0", "$broker:0", 99, -1))


@st.composite
def config_values(draw: st.DrawFn) -> tuple[str, str | None]:
    name = draw(st.sampled_from(sorted(TRIED_VALUES)))
    numbers = st.sampled_from(("-2", "-1", "0", "1", "4", "2147483648"))
    return name, draw(st.one_of(st.sampled_from(TRIED_VALUES[name]), numbers, st.just("")))


@st.composite
def creations(draw: st.DrawFn) -> Step:
    asked = []
    for name in draw(st.lists(names, min_size=1, max_size=2)):
        one: dict[str, Any] = {
            "name": name,
            "num_partitions": draw(counts),
            "replication_factor": draw(st.sampled_from((-1, 0, 1, 1, 1, 2))),
        }
        if draw(st.integers(0, 3)) == 0:
            replicas = draw(st.lists(st.lists(brokers, max_size=2), min_size=1, max_size=2))
            first = draw(st.sampled_from((0, 0, 1)))
            one["assignments"] = [
                {"partition_index": first + at, "broker_ids": ids}
                for at, ids in enumerate(replicas)
            ]
        if draw(st.integers(0, 2)) == 0:
            key, value = draw(config_values())
            one["configs"] = [{"name": key, "value": value}]
        asked.append(one)
    fields = {"topics": asked, "timeout": TIMEOUT_MS, "validate_only": True}
    return Step(api="create_topics", version=draw(st.integers(2, 7)), fields=fields)


@st.composite
def growths(draw: st.DrawFn) -> Step:
    one: dict[str, Any] = {"name": f"$topic:{draw(topics)}", "count": draw(st.integers(-1, 4))}
    if draw(st.booleans()):
        ids = draw(st.lists(st.lists(brokers, max_size=2), max_size=2))
        one["assignments"] = [{"broker_ids": some} for some in ids]
    else:
        one["assignments"] = None
    fields = {"topics": [one], "timeout": TIMEOUT_MS, "validate_only": True}
    return Step(api="create_partitions", version=draw(st.integers(0, 3)), fields=fields)


@st.composite
def config_changes(draw: st.DrawFn) -> Step:
    """An unknown operation is rare: Kafka's controller steps down over it, and that takes a second.

    It stays away from lists, too: whether Kafka sees it before a change that a list does not allow
    is up to the hashes of their names.
    """
    changes = []
    known = (SET, SET, DELETE, APPEND, SUBTRACT)
    operations = (SET, DELETE, UNKNOWN) if draw(st.integers(0, 15)) == 15 else known
    for _ in range(draw(st.integers(1, 2))):
        name, value = draw(config_values())
        operation = draw(st.sampled_from(operations))
        changes.append({"name": name, "config_operation": operation, "value": value})
    resource = config_resource(draw(topics), configs=changes)
    fields = {"resources": [resource], "validate_only": True}
    return Step(api="incremental_alter_configs", version=draw(st.integers(0, 1)), fields=fields)


@st.composite
def config_replacements(draw: st.DrawFn) -> Step:
    named = dict(draw(st.lists(config_values(), max_size=2)))
    configs = [{"name": name, "value": value} for name, value in named.items()]
    resource = config_resource(draw(topics), configs=configs)
    fields = {"resources": [resource], "validate_only": True}
    return Step(api="alter_configs", version=draw(st.integers(0, 2)), fields=fields)


@st.composite
def reassignments(draw: st.DrawFn) -> Step:
    replicas = draw(st.one_of(st.none(), st.lists(brokers, max_size=2)))
    asked = [{"partition_index": draw(st.integers(0, 3)), "replicas": replicas}]
    fields = {
        "timeout": TIMEOUT_MS,
        "topics": [{"name": f"$topic:{draw(topics)}", "partitions": asked}],
    }
    return Step(api="alter_partition_reassignments", version=draw(st.integers(0, 1)), fields=fields)


@st.composite
def elections(draw: st.DrawFn) -> Step:
    version = draw(st.integers(0, 2))
    asked = draw(st.lists(st.integers(0, 3), max_size=2, unique=True))
    fields: dict[str, Any] = {
        "topic_partitions": [{"topic": f"$topic:{draw(topics)}", "partitions": asked}],
        "timeout": TIMEOUT_MS,
    }
    if version:
        fields["election_type"] = draw(st.sampled_from((0, 1)))
    return Step(api="elect_leaders", version=version, fields=fields)


@st.composite
def descriptions(draw: st.DrawFn) -> Step:
    asked = draw(st.lists(topics, min_size=1, max_size=3))
    fields: dict[str, Any] = {
        "topics": [{"name": f"$topic:{name}"} for name in asked],
        "response_partition_limit": draw(st.sampled_from((1, 2, 3, 2000))),
    }
    if draw(st.booleans()):
        fields["cursor"] = {
            "topic_name": f"$topic:{draw(topics)}",
            "partition_index": draw(st.integers(0, 3)),
        }
    return Step(api="describe_topic_partitions", version=0, fields=fields)


@st.composite
def sizes(draw: st.DrawFn) -> Step:
    asked = draw(st.lists(st.integers(0, 3), max_size=3, unique=True))
    fields = {"topics": [{"topic": f"$topic:{draw(topics)}", "partitions": asked}]}
    return Step(api="describe_log_dirs", version=draw(st.integers(1, 5)), fields=fields)


ADMIN_STEPS = st.one_of(
    creations(),
    growths(),
    config_changes(),
    config_replacements(),
    reassignments(),
    elections(),
    descriptions(),
    sizes(),
)
