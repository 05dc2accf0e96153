"""What a call over several partitions promises: in memory, simulated, on PostgreSQL."""

from __future__ import annotations

from collections.abc import Iterator
from typing import Any

import pytest
from control_planes import Node, Subject, opened

from reference_impl.control_plane.lines import request_of
from reference_impl.ports.effects import Trouble

LOGS: list[dict[str, Any]] = [
    {"topic": topic, "partition": partition} for topic in ("t", "u") for partition in (0, 1)
]


@pytest.fixture(params=["memory", "simulated", pytest.param("postgres", marks=pytest.mark.process)])
def subject(request: pytest.FixtureRequest) -> Iterator[Subject]:
    with opened(request.param) as found:
        yield found


@pytest.fixture
def node(subject: Subject) -> Node:
    return subject.node()


async def ask(node: Node, f: str, *partitions: dict[str, Any]) -> list[Any]:
    answer = await node.plane.call(request_of({"f": f, "partitions": list(partitions)}))
    return list(answer.partitions)


async def errors(node: Node, f: str, *partitions: dict[str, Any]) -> list[str]:
    return [one.error for one in await ask(node, f, *partitions)]


async def created(node: Node) -> None:
    await ask(node, "create_log", *LOGS)


def test_partitions_of_several_topics_are_answered_in_the_order_of_the_call(
    subject: Subject, node: Node
) -> None:
    async def story() -> list[int]:
        await created(node)
        boundaries = [{**log, "boundary": 10 * at} for at, log in enumerate(LOGS)]
        await ask(node, "set_diskless_log_start_offset", *boundaries)
        return [one.boundary for one in await ask(node, "describe_producers", *LOGS[::-1])]

    assert subject.run(story()) == [30, 20, 10, 0]


def test_a_refused_partition_keeps_no_other_from_being_carried_out(
    subject: Subject, node: Node
) -> None:
    async def story() -> tuple[list[str], list[int]]:
        await created(node)
        await ask(node, "register_leader_epoch", {**LOGS[1], "leader_epoch": 9})
        asked = [{**log, "boundary": 7, "leader_epoch": 5} for log in LOGS]
        asked[2] |= {"boundary": -2}
        asked.append({**LOGS[0], "partition": 5, "boundary": 7, "leader_epoch": 5})
        said = await errors(node, "set_diskless_log_start_offset", *asked)
        return said, [
            one.boundary for one in await ask(node, "get_diskless_log_start_offset", *LOGS)
        ]

    assert subject.run(story()) == (
        ["NONE", "FENCED_LEADER_EPOCH", "INVALID_REQUEST", "NONE", "UNKNOWN_TOPIC_OR_PARTITION"],
        [7, -1, -1, 7],
    )


def test_a_partition_that_occurs_twice_is_asked_twice_in_that_order(
    subject: Subject, node: Node
) -> None:
    async def story() -> list[int]:
        await created(node)
        await ask(node, "set_diskless_log_start_offset", {**LOGS[0], "boundary": 100})
        batches = [{**LOGS[0], "record_count": 3}, {**LOGS[0], "record_count": 4}]
        return [one.base_offset for one in await ask(node, "commit_batch", *batches)]

    assert subject.run(story()) == [100, 103]


def test_a_lost_reply_leaves_every_partition_open_and_carried_out(
    subject: Subject, node: Node
) -> None:
    async def story() -> tuple[list[str], list[int]]:
        await created(node)
        with subject.meeting(node, Trouble.LOST):
            asked = [{**log, "leader_epoch": 5} for log in LOGS]
            said = await errors(node, "register_leader_epoch", *asked)
        return said, [row["epoch"] for row in subject.rows()]  # type: ignore[misc]

    assert subject.run(story()) == (["REQUEST_TIMED_OUT"] * 4, [5] * 4)


def test_a_call_over_several_partitions_is_one_effect(subject: Subject, node: Node) -> None:
    async def story() -> None:
        await created(node)
        await ask(node, "register_leader_epoch", {**LOGS[1], "leader_epoch": 9})
        await ask(node, "register_leader_epoch", *({**log, "leader_epoch": 5} for log in LOGS[:2]))

    subject.run(story())
    assert [one.outcome for one in node.gate.seen] == ["ok", "ok", "ok,FENCED_LEADER_EPOCH"]


def test_a_call_over_no_partition_does_nothing(subject: Subject, node: Node) -> None:
    assert subject.run(ask(node, "create_log")) == []
    assert node.gate.seen == []
