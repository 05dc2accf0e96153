"""Brokers that do not lead, leaders that change, replicas in sync: in clusters of three."""

from __future__ import annotations

from dataclasses import replace

from harness.differential.sequence import Step
from harness.differential.sequences.building import (
    batch,
    describe_producers,
    fetch,
    fetch_topic,
    fetched,
    idempotent,
    list_offsets,
    metadata,
    produce,
    producer_id,
)
from harness.differential.sequences.replicas import (
    FOLLOWER,
    LEADER,
    PREFERRED,
    STRANGER,
    UNCLEAN,
    at,
    brokers,
    caught_up,
    delete,
    elect,
    epoch_end,
    in_sync,
    led_by,
    made,
    reassign,
    story,
)

WRONG_BROKER = (
    *(
        story(
            f"produce_elsewhere_{version:02}",
            "a follower and a broker without a replica do not append",
            made("a", [0, 1]),
            *(
                step
                for broker in (FOLLOWER, STRANGER)
                for acks in (-1, 1)
                for step in at(broker, produce(batch("x"), acks=acks, version=version))
            ),
            *at(LEADER, produce(batch("x"), version=version)),
        )
        for version in (3, 8, 9, 10, 12, 13)
    ),
    *(
        story(
            f"fetch_elsewhere_{version:02}",
            "since version 11 a follower serves what is committed",
            made("a", [0, 1]),
            *at(LEADER, produce(batch("x", "y", "z"))),
            caught_up(FOLLOWER, 3),
            *at(FOLLOWER, fetch(fetched(0, 1), version=version)),
            *at(FOLLOWER, fetch(fetched(0, 3), version=version)),
            *at(FOLLOWER, fetch(fetched(0, 4), version=version)),
            *at(STRANGER, fetch(fetched(0, 1), version=version)),
        )
        for version in (4, 10, 11, 12, 13, 16, 18)
    ),
    story(
        "described_producers_elsewhere",
        "leader and follower tell of the producers in their logs, a broker without a log does not",
        made("a", [0, 1]),
        producer_id(),
        *at(LEADER, produce(idempotent(0, "x", "y"))),
        caught_up(FOLLOWER, 2),
        *(
            step
            for broker in (LEADER, FOLLOWER, STRANGER)
            for step in at(broker, describe_producers(0))
        ),
    ),
    *(
        story(
            f"list_offsets_elsewhere_{version:02}",
            "only the leader knows",
            made("a", [0, 1]),
            *at(LEADER, produce(batch("x", "y"))),
            *at(FOLLOWER, *list_offsets(-1, -2, version=version)),
            *at(STRANGER, *list_offsets(-1, -2, version=version)),
        )
        for version in (1, 4, 7, 10)
    ),
    story(
        "epochs_elsewhere",
        "a follower and a broker without a replica, asked by a client and by others",
        made("a", [0, 1]),
        *at(LEADER, produce(batch("x", "y"))),
        *(
            step
            for broker in (LEADER, FOLLOWER, STRANGER)
            for step in at(
                broker,
                epoch_end(0, version=2),
                epoch_end(0, version=3),
                epoch_end(0),
                epoch_end(0, current=0),
                epoch_end(0, current=1),
                epoch_end(0, replica_id=-2),
                epoch_end(5),
            )
        ),
    ),
    story(
        "delete_records_elsewhere",
        "only the leader deletes, and it waits for its followers",
        made("a", [0, 1]),
        *at(LEADER, produce(batch("x", "y", "z"))),
        *at(FOLLOWER, delete(1)),
        *at(STRANGER, delete(1)),
        *at(LEADER, delete(2), *list_offsets(-2, -1)),
        replace(
            fetch(fetched(0, 2), on=FOLLOWER),
            until={"responses.0.partitions.0.log_start_offset": 2},
            compared=False,
        ),
        *at(FOLLOWER, fetch(fetched(0, 2)), fetch(fetched(0, 1))),
    ),
    story(
        "topic_ids_elsewhere",
        "by id, at brokers that have no replica; next to a topic that nobody has",
        made("a", [0, 1]),
        made("b", [2]),
        *at(
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
    story(
        "a_new_leader",
        "replicas in another order, the preferred one elected: one epoch more",
        made("a", [0, 1, 2]),
        *at(LEADER, produce(batch("x", "y"))),
        in_sync(3),
        reassign(brokers(1, 0, 2)),
        elect(PREFERRED, 0),
        led_by(1, LEADER),
        led_by(1, FOLLOWER),
        led_by(1, STRANGER),
        *at(FOLLOWER, produce(batch("z"))),
        *(
            step
            for current in (-1, 0, 1, 2)
            for step in at(
                FOLLOWER,
                fetch(fetched(0, 0, current_leader_epoch=current)),
                *list_offsets(-1, current_leader_epoch=current),
                epoch_end(0, current=current),
                epoch_end(1, current=current),
            )
        ),
        *(
            step
            for current in (0, 2)
            for step in at(
                LEADER,
                fetch(fetched(0, 0, current_leader_epoch=current)),
                *list_offsets(-1, current_leader_epoch=current),
                epoch_end(0, current=current),
            )
        ),
        *at(LEADER, produce(batch("w"), version=11)),
        *at(FOLLOWER, fetch(fetched(0, 2, last_fetched_epoch=0))),
        *at(FOLLOWER, fetch(fetched(0, 3, last_fetched_epoch=0))),
        *at(FOLLOWER, fetch(fetched(0, 3, last_fetched_epoch=1))),
        metadata("a"),
    ),
    story(
        "elections",
        "where the preferred replica leads, where none is wanted, where nothing is",
        made("a", [0, 1], [1, 2], [2, 0]),
        elect(PREFERRED, 0, 1, 2),
        elect(UNCLEAN, 0, 1, 2),
        elect(PREFERRED, 2, 9),
        metadata("a"),
    ),
    story(
        "an_idempotent_producer_moves",
        "what the old leader has seen the new one knows",
        made("a", [0, 1, 2]),
        producer_id(),
        *at(LEADER, produce(idempotent(0, "x", "y")), produce(idempotent(2, "z"))),
        in_sync(3),
        reassign(brokers(2, 1, 0)),
        elect(PREFERRED, 0),
        led_by(2, STRANGER),
        *at(
            STRANGER,
            produce(idempotent(2, "z")),
            produce(idempotent(0, "x", "y")),
            produce(idempotent(4, "w")),
            produce(idempotent(3, "w")),
            fetch(),
        ),
    ),
)


IN_SYNC = (
    story(
        "too_few_in_sync",
        "more in sync wanted than there are replicas",
        made("a", [0, 1], configs={"min.insync.replicas": "3"}),
        *(
            step
            for version in (3, 9, 11)
            for acks in (-1, 1, 0)
            for step in at(LEADER, produce(batch("x"), acks=acks, version=version))
        ),
        caught_up(LEADER, 9),
        *at(LEADER, fetch(), *list_offsets(-1)),
    ),
    story(
        "committed_by_all",
        "three replicas, then what each of them says of the log",
        made("a", [0, 1, 2], configs={"min.insync.replicas": "3"}),
        *at(LEADER, produce(batch("x", "y")), produce(batch("z"), acks=1)),
        caught_up(LEADER, 3),
        caught_up(FOLLOWER, 3),
        caught_up(STRANGER, 3),
        *(
            step
            for broker in (LEADER, FOLLOWER, STRANGER)
            for step in at(
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
    story(
        "false_followers",
        "fetches in the name of a broker that has no replica, and of one that has",
        made("a", [0, 1]),
        *at(LEADER, produce(batch("x"))),
        *at(LEADER, fetch(fetched(0, 0), replica_id="$broker:2")),
        *at(LEADER, fetch(fetched(0, 1, current_leader_epoch=0), replica_id="$broker:2")),
        *at(FOLLOWER, fetch(fetched(0, 0), replica_id="$broker:2")),
        *at(
            LEADER,
            fetch(version=16, replica_state={"replica_id": "$broker:2", "replica_epoch": 1}),
        ),
    ),
)


SEQUENCES = (*WRONG_BROKER, *EPOCHS, *IN_SYNC)
