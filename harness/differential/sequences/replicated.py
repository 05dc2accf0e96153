"""Partitions with several replicas, and brokers that do not lead them: for clusters of three.

Every topic says which brokers have it, the first of them leads. What a follower answers depends on
how far it is, so a step waits first until it has everything.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import replace
from typing import Any

from harness.differential.sequence import RequestSequence, Step
from harness.differential.sequences.building import (
    TIMEOUT_MS,
    batch,
    fetch,
    fetch_topic,
    fetched,
    idempotent,
    list_offsets,
    metadata,
    produce,
    producer_id,
)

LEADER, FOLLOWER, STRANGER = "broker:0", "broker:1", "broker:2"
PREFERRED, UNCLEAN = 0, 1


def _story(name: str, about: str, *steps: Step) -> RequestSequence:
    return RequestSequence(name=f"replicated/{name}", about=about, steps=steps, brokers=3)


def _brokers(*indexes: int) -> list[str]:
    return [f"$broker:{index}" for index in indexes]


def _made(name: str, *replicas: Sequence[int], configs: Mapping[str, str] | None = None) -> Step:
    settings = {"retention.ms": "-1", **(configs or {})}
    return Step(
        api="create_topics",
        version=7,
        fields={"topics": [_topic(name, *replicas, configs=settings)], "timeout": TIMEOUT_MS},
        compared=False,
    )


def _topic(name: str, *replicas: Sequence[int], **more: Any) -> dict[str, Any]:
    settings = more.pop("configs", {})
    return {
        "name": f"$topic:{name}",
        "num_partitions": -1,
        "replication_factor": -1,
        "assignments": [
            {"partition_index": index, "broker_ids": _brokers(*some)}
            for index, some in enumerate(replicas)
        ],
        "configs": [{"name": key, "value": value} for key, value in settings.items()],
        **more,
    }


def _at(broker: str, *steps: Step) -> tuple[Step, ...]:
    return tuple(replace(step, on=broker) for step in steps)


def _caught_up(broker: str, offset: int, topic: str = "a") -> Step:
    """Wait until a follower serves everything below an offset."""
    asked = fetch(fetched(0, 0), topic=topic, on=broker)
    until = {"responses.0.partitions.0.high_watermark": offset}
    return replace(asked, until=until, compared=False)


def _in_sync(count: int, topic: str = "a", on: str = LEADER) -> Step:
    """Wait until so many replicas are in sync, in the eyes of a broker."""
    last = f"topics.0.partitions.0.isr_nodes.{count - 1}"
    return replace(metadata(topic), until={last: f"$broker:{count - 1}"}, compared=False, on=on)


def _epoch_end(epoch: int, *, current: int = -1, version: int = 4, replica_id: int = -1) -> Step:
    partition = {"partition": 0, "current_leader_epoch": current, "leader_epoch": epoch}
    return Step(
        api="offset_for_leader_epoch",
        version=version,
        fields={
            "topics": [{"topic": "$topic:a", "partitions": [partition]}],
            **({"replica_id": replica_id} if version >= 3 else {}),
        },
    )


def _delete(offset: int) -> Step:
    return Step(
        api="delete_records",
        version=2,
        fields={
            "topics": [
                {
                    "name": "$topic:a",
                    "partitions": [{"partition_index": 0, "offset": offset}],
                }
            ],
            "timeout": TIMEOUT_MS,
        },
    )


def _reassign(replicas: list[str] | None, version: int = 1) -> Step:
    partition = {"partition_index": 0, "replicas": replicas}
    topic = {"name": "$topic:a", "partitions": [partition]}
    fields = {"timeout": TIMEOUT_MS, "topics": [topic]}
    return Step(api="alter_partition_reassignments", version=version, fields=fields)


def _moved(*replicas: int) -> Step:
    """Wait until the replicas, and those in sync, are these."""
    until = {
        f"topics.0.partitions.0.{name}.{at}": f"$broker:{one}"
        for at, one in enumerate(replicas)
        for name in ("replica_nodes", "isr_nodes")
    }
    return replace(metadata("a"), until=until, compared=False)


def _led_by(broker: int, on: str) -> Step:
    until = {"topics.0.partitions.0.leader_id": f"$broker:{broker}"}
    return replace(metadata("a"), until=until, compared=False, on=on)


def _elect(kind: int, *partitions: int) -> Step:
    topics = [{"topic": "$topic:a", "partitions": list(partitions)}]
    fields = {"election_type": kind, "topic_partitions": topics, "timeout": TIMEOUT_MS}
    return Step(api="elect_leaders", version=2, fields=fields)


WRONG_BROKER = (
    *(
        _story(
            f"produce_elsewhere_{version:02}",
            "a follower and a broker without a replica do not append",
            _made("a", [0, 1]),
            *(
                step
                for broker in (FOLLOWER, STRANGER)
                for acks in (-1, 1)
                for step in _at(broker, produce(batch("x"), acks=acks, version=version))
            ),
            *_at(LEADER, produce(batch("x"), version=version)),
        )
        for version in (3, 8, 9, 10, 12, 13)
    ),
    *(
        _story(
            f"fetch_elsewhere_{version:02}",
            "since version 11 a follower serves what is committed",
            _made("a", [0, 1]),
            *_at(LEADER, produce(batch("x", "y", "z"))),
            _caught_up(FOLLOWER, 3),
            *_at(FOLLOWER, fetch(fetched(0, 1), version=version)),
            *_at(FOLLOWER, fetch(fetched(0, 3), version=version)),
            *_at(FOLLOWER, fetch(fetched(0, 4), version=version)),
            *_at(STRANGER, fetch(fetched(0, 1), version=version)),
        )
        for version in (4, 10, 11, 12, 13, 16, 18)
    ),
    *(
        _story(
            f"list_offsets_elsewhere_{version:02}",
            "only the leader knows",
            _made("a", [0, 1]),
            *_at(LEADER, produce(batch("x", "y"))),
            *_at(FOLLOWER, *list_offsets(-1, -2, version=version)),
            *_at(STRANGER, *list_offsets(-1, -2, version=version)),
        )
        for version in (1, 4, 7, 10)
    ),
    _story(
        "epochs_elsewhere",
        "a follower and a broker without a replica, asked by a client and by others",
        _made("a", [0, 1]),
        *_at(LEADER, produce(batch("x", "y"))),
        *(
            step
            for broker in (LEADER, FOLLOWER, STRANGER)
            for step in _at(
                broker,
                _epoch_end(0, version=2),
                _epoch_end(0, version=3),
                _epoch_end(0),
                _epoch_end(0, current=0),
                _epoch_end(0, current=1),
                _epoch_end(0, replica_id=-2),
                _epoch_end(5),
            )
        ),
    ),
    _story(
        "delete_records_elsewhere",
        "only the leader deletes, and it waits for its followers",
        _made("a", [0, 1]),
        *_at(LEADER, produce(batch("x", "y", "z"))),
        *_at(FOLLOWER, _delete(1)),
        *_at(STRANGER, _delete(1)),
        *_at(LEADER, _delete(2), *list_offsets(-2, -1)),
        replace(
            fetch(fetched(0, 2), on=FOLLOWER),
            until={"responses.0.partitions.0.log_start_offset": 2},
            compared=False,
        ),
        *_at(FOLLOWER, fetch(fetched(0, 2)), fetch(fetched(0, 1))),
    ),
    _story(
        "topic_ids_elsewhere",
        "by id, at brokers that have no replica; next to a topic that nobody has",
        _made("a", [0, 1]),
        _made("b", [2]),
        *_at(
            STRANGER,
            fetch(
                version=17,
                topics=[
                    fetch_topic("a", 17, [fetched()]),
                    fetch_topic("b", 17, [fetched()]),
                    fetch_topic("00000000-0000-0000-0000-000000000077", 17, [fetched()]),
                ],
            ),
            produce(batch("x"), version=13),
        ),
    ),
)


EPOCHS = (
    _story(
        "a_new_leader",
        "replicas in another order, the preferred one elected: one epoch more",
        _made("a", [0, 1, 2]),
        *_at(LEADER, produce(batch("x", "y"))),
        _in_sync(3),
        _reassign(_brokers(1, 0, 2)),
        _elect(PREFERRED, 0),
        _led_by(1, LEADER),
        _led_by(1, FOLLOWER),
        _led_by(1, STRANGER),
        *_at(FOLLOWER, produce(batch("z"))),
        *(
            step
            for current in (-1, 0, 1, 2)
            for step in _at(
                FOLLOWER,
                fetch(fetched(0, 0, current_leader_epoch=current)),
                *list_offsets(-1, current_leader_epoch=current),
                _epoch_end(0, current=current),
                _epoch_end(1, current=current),
            )
        ),
        *(
            step
            for current in (0, 2)
            for step in _at(
                LEADER,
                fetch(fetched(0, 0, current_leader_epoch=current)),
                *list_offsets(-1, current_leader_epoch=current),
                _epoch_end(0, current=current),
            )
        ),
        *_at(LEADER, produce(batch("w"), version=11)),
        *_at(FOLLOWER, fetch(fetched(0, 2, last_fetched_epoch=0))),
        *_at(FOLLOWER, fetch(fetched(0, 3, last_fetched_epoch=0))),
        *_at(FOLLOWER, fetch(fetched(0, 3, last_fetched_epoch=1))),
        metadata("a"),
    ),
    _story(
        "elections",
        "where the preferred replica leads, where none is wanted, where nothing is",
        _made("a", [0, 1], [1, 2], [2, 0]),
        _elect(PREFERRED, 0, 1, 2),
        _elect(UNCLEAN, 0, 1, 2),
        _elect(PREFERRED, 2, 9),
        metadata("a"),
    ),
    _story(
        "an_idempotent_producer_moves",
        "what the old leader has seen the new one knows",
        _made("a", [0, 1, 2]),
        producer_id(),
        *_at(LEADER, produce(idempotent(0, "x", "y")), produce(idempotent(2, "z"))),
        _in_sync(3),
        _reassign(_brokers(2, 1, 0)),
        _elect(PREFERRED, 0),
        _led_by(2, STRANGER),
        *_at(
            STRANGER,
            produce(idempotent(2, "z")),
            produce(idempotent(0, "x", "y")),
            produce(idempotent(4, "w")),
            produce(idempotent(3, "w")),
            fetch(),
        ),
    ),
)


REASSIGNMENTS = (
    _story(
        "more_replicas",
        "from one to two, which takes a moment, and to another one",
        _made("a", [0]),
        *_at(LEADER, produce(batch("x", "y"))),
        _reassign(_brokers(0, 1)),
        _moved(0, 1),
        metadata("a"),
        _reassign(None),
        _reassign(_brokers(1)),
        _moved(1),
        metadata("a"),
        _caught_up(FOLLOWER, 2),
        *_at(FOLLOWER, fetch(), *list_offsets(-1, -2)),
    ),
    _story(
        "refused",
        "replicas twice, brokers that are not there, none",
        _made("a", [0, 1]),
        _reassign(_brokers(0, 0)),
        _reassign([*_brokers(0), 99]),  # type: ignore[list-item]
        _reassign([]),
        _reassign(None),
        _reassign(_brokers(0, 1), version=0),
    ),
)


MAKING = (
    _story(
        "factors",
        "as many replicas as there are brokers, more, fewer than none",
        *(
            Step(
                api="create_topics",
                version=7,
                fields={
                    "topics": [
                        {
                            "name": f"$topic:{name}",
                            "num_partitions": 1,
                            "replication_factor": factor,
                        }
                    ],
                    "timeout": TIMEOUT_MS,
                    "validate_only": only,
                },
            )
            for name, factor, only in (
                ("a", 3, False),
                ("b", 4, False),
                ("c", 4, True),
                ("d", 0, False),
                ("e", -1, True),
            )
        ),
    ),
    _story(
        "assignments",
        "replicas twice, of different number, unknown, with gaps",
        *(
            Step(
                api="create_topics",
                version=7,
                fields={"topics": [topic], "timeout": TIMEOUT_MS},
            )
            for topic in (
                _topic("a", [0, 1], [1, 2]),
                _topic("b", [0, 0]),
                _topic("c", [0, 1], [2]),
                _topic("d", []),
                _topic("e", [0, 1], num_partitions=1),
                _topic("f", [0, 1], replication_factor=2),
                _topic("g", [0, 1])
                | {"assignments": [{"partition_index": 1, "broker_ids": _brokers(0, 1)}]},
                _topic("h", [0]) | {"assignments": [{"partition_index": 0, "broker_ids": [99]}]},
            )
        ),
    ),
    _story(
        "more_partitions",
        "with replicas named, with the wrong number of them",
        _made("a", [0, 1]),
        *(
            Step(
                api="create_partitions",
                version=3,
                fields={
                    "topics": [
                        {
                            "name": "$topic:a",
                            "count": count,
                            "assignments": None
                            if some is None
                            else [{"broker_ids": one} for one in some],
                        }
                    ],
                    "timeout": TIMEOUT_MS,
                    "validate_only": only,
                },
            )
            for count, some, only in (
                (2, [_brokers(1)], False),
                (2, [_brokers(1, 1)], False),
                (2, [[*_brokers(1), 99]], False),
                (3, [_brokers(1, 2)], False),
                (2, [_brokers(1, 2), _brokers(2, 0)], False),
                (2, [_brokers(1, 2)], True),
                (2, [_brokers(1, 2)], False),
                (1, None, False),
                (2, None, False),
            )
        ),
        metadata("a"),
    ),
)


IN_SYNC = (
    _story(
        "too_few_in_sync",
        "more in sync wanted than there are replicas",
        _made("a", [0, 1], configs={"min.insync.replicas": "3"}),
        *(
            step
            for version in (3, 9, 11)
            for acks in (-1, 1, 0)
            for step in _at(LEADER, produce(batch("x"), acks=acks, version=version))
        ),
        _caught_up(LEADER, 9),
        *_at(LEADER, fetch(), *list_offsets(-1)),
    ),
    _story(
        "committed_by_all",
        "three replicas, then what each of them says of the log",
        _made("a", [0, 1, 2], configs={"min.insync.replicas": "3"}),
        *_at(LEADER, produce(batch("x", "y")), produce(batch("z"), acks=1)),
        _caught_up(LEADER, 3),
        _caught_up(FOLLOWER, 3),
        _caught_up(STRANGER, 3),
        *(
            step
            for broker in (LEADER, FOLLOWER, STRANGER)
            for step in _at(
                broker,
                fetch(),
                fetch(fetched(0, 3), version=17),
                metadata("a"),
                Step(
                    api="describe_log_dirs",
                    version=4,
                    fields={"topics": [{"topic": "$topic:a", "partitions": [0]}]},
                ),
                Step(
                    api="describe_topic_partitions",
                    version=0,
                    fields={"topics": [{"name": "$topic:a"}], "response_partition_limit": 10},
                ),
            )
        ),
    ),
    _story(
        "false_followers",
        "fetches in the name of a broker that has no replica, and of one that has",
        _made("a", [0, 1]),
        *_at(LEADER, produce(batch("x"))),
        *_at(LEADER, fetch(fetched(0, 0), replica_id="$broker:2")),
        *_at(LEADER, fetch(fetched(0, 1, current_leader_epoch=0), replica_id="$broker:2")),
        *_at(FOLLOWER, fetch(fetched(0, 0), replica_id="$broker:2")),
        *_at(
            LEADER,
            fetch(version=16, replica_state={"replica_id": "$broker:2", "replica_epoch": 1}),
        ),
    ),
)


SEQUENCES = (*WRONG_BROKER, *EPOCHS, *REASSIGNMENTS, *MAKING, *IN_SYNC)
