"""What every control plane promises to whoever calls it: in memory, simulated, on PostgreSQL.

That both answer every call alike is compared by random calls in `test_control_planes_agree`; here
is what a caller may rely on: which answers are definite, what a failure leaves behind, what happens
between two transactions.
"""

from __future__ import annotations

import asyncio
from collections.abc import Iterator
from typing import Any

import pytest
from control_planes import Node, Subject, opened

from reference_impl.control_plane.lines import topic_id_of
from reference_impl.decisions import Mutant, mutated
from reference_impl.ports.control_plane import BoundaryError, Seed
from reference_impl.ports.control_plane import PartitionAnswer as Reply
from reference_impl.ports.effects import Trouble

A = Seed(1, 0, 0, 4, 10, 0)
B = Seed(2, 0, 0, 4, 20, 0)

BOUNDARY_FIRST = Mutant(
    name="boundary first",
    decision="initialize-transactions",
    replace=lambda: (("persist",), ("seed",)),
)
CHECK_THEN_ACT = Mutant(
    name="check then act",
    decision="initialize-transactions",
    replace=lambda: ((), ("seed", "persist")),
)

UNKNOWN = (None, None, None)


@pytest.fixture(params=["memory", "simulated", pytest.param("postgres", marks=pytest.mark.process)])
def subject(request: pytest.FixtureRequest) -> Iterator[Subject]:
    with opened(request.param) as found:
        yield found


@pytest.fixture
def node(subject: Subject) -> Node:
    """A node that has created the log."""
    node = subject.node()
    subject.run(node.ask("create_log"))
    return node


async def initialize(node: Node, boundary: int, epoch: int, *entries: Seed) -> Reply:
    return await node.ask(
        "initialize_diskless_migration", boundary=boundary, leader_epoch=epoch, entries=entries
    )


def state(reply: Reply) -> tuple[int | None, int | None, int | None]:
    return (reply.boundary, reply.epoch, reply.reset_epoch)


# --- what a call does -----------------------------------------------------------------------------


def test_commits_follow_the_boundary_without_a_gap(subject: Subject, node: Node) -> None:
    async def story() -> list[int | None]:
        await initialize(node, 100, 5)
        commits = [await node.ask("commit_batch", record_count=count) for count in (3, 2, 1)]
        return [reply.base_offset for reply in commits]

    assert subject.run(story()) == [100, 103, 105]


def test_after_a_reset_the_suffix_starts_at_the_new_boundary(subject: Subject, node: Node) -> None:
    async def story() -> None:
        await initialize(node, 100, 5)
        reset = await node.ask("set_diskless_log_start_offset", boundary=-1, leader_epoch=6)
        assert state(reset) == (-1, 6, 6)
        assert state(await initialize(node, 80, 7)) == (80, 7, 6)
        assert (await node.ask("commit_batch", record_count=1)).base_offset == 80

    subject.run(story())


def test_creating_a_log_twice_changes_nothing(subject: Subject, node: Node) -> None:
    subject.run(initialize(node, 100, 5))
    assert state(subject.run(node.ask("create_log"))) == (100, 5, -1)


def test_seeds_are_stored_as_a_sorted_set(subject: Subject, node: Node) -> None:
    subject.run(node.ask("seed_producer_state", entries=(B, A, B)))
    assert subject.run(node.ask("describe_producers")).seeds == (A, B)


def test_nodes_of_one_database_share_its_registers(subject: Subject, node: Node) -> None:
    subject.run(initialize(node, 100, 5))
    assert state(subject.run(subject.node().ask("get_diskless_log_start_offset"))) == (100, 5, -1)


def test_a_wrong_key_mixes_partitions_up(subject: Subject, node: Node) -> None:
    one_per_topic = Mutant(
        name="one per topic", decision="log-key", replace=lambda topic, partition: (topic, 0)
    )
    with mutated(one_per_topic):
        subject.run(initialize(node, 100, 5))
        found = subject.run(node.ask("get_diskless_log_start_offset", partition=1))
    assert found.boundary == 100


# --- definite answers -----------------------------------------------------------------------------

INITIALIZED = {"boundary": 100, "leader_epoch": 5, "entries": (A,)}
REFUSALS: dict[str, tuple[str, dict[str, Any]]] = {
    "FENCED_LEADER_EPOCH": ("register_leader_epoch", {"leader_epoch": 4}),
    "BOUNDARY_MISMATCH": ("set_diskless_log_start_offset", {"boundary": 200}),
    "PRODUCER_STATE_MISMATCH": ("seed_producer_state", {"entries": (B,)}),
    "SUFFIX_NOT_EMPTY": ("set_diskless_log_start_offset", {"boundary": -1}),
    "BOUNDARY_UNSET": ("commit_batch", {"partition": 1, "record_count": 1}),
    "UNKNOWN_TOPIC_OR_PARTITION": ("get_diskless_log_start_offset", {"partition": 9}),
    "INVALID_REQUEST": ("commit_batch", {"record_count": 0}),
}


def test_every_definite_refusal_is_in_the_table() -> None:
    definite = [error.name for error in BoundaryError if error.definite]
    assert ["NONE", *REFUSALS] == definite


@pytest.mark.parametrize("error", REFUSALS)
def test_a_definite_refusal_tells_the_stored_state_and_changes_nothing(
    subject: Subject, node: Node, error: str
) -> None:
    async def story() -> tuple[list[dict[str, object]], Reply]:
        await node.ask("create_log", partition=1)
        await node.ask("initialize_diskless_migration", **INITIALIZED)
        await node.ask("commit_batch", record_count=1)
        f, arguments = REFUSALS[error]
        before = subject.rows()
        return before, await node.ask(f, **arguments)

    before, reply = subject.run(story())
    unset = "partition" in REFUSALS[error][1]
    assert (reply.error, state(reply)) == (error, (-1, -1, -1) if unset else (100, 5, -1))
    assert subject.rows() == before


def test_a_malformed_call_is_told_what_is_wrong_with_it(subject: Subject, node: Node) -> None:
    reply = subject.run(node.ask("commit_batch", record_count=0))
    assert "record_count is 0" in (reply.message or "")


# --- indefinite answers ---------------------------------------------------------------------------

TROUBLES = {
    Trouble.REFUSED: ("REQUEST_TIMED_OUT", False),
    Trouble.LOST: ("REQUEST_TIMED_OUT", True),
    Trouble.BROKEN: ("KAFKA_STORAGE_ERROR", False),
    Trouble.CONFLICT: ("REQUEST_TIMED_OUT", False),
    Trouble.FULL: ("REQUEST_TIMED_OUT", False),
    Trouble.CANCELLED: ("REQUEST_TIMED_OUT", False),
    Trouble.LOCKED: ("REQUEST_TIMED_OUT", False),
    Trouble.SEVERED: ("REQUEST_TIMED_OUT", False),
    Trouble.UNREADY: ("KAFKA_STORAGE_ERROR", False),
}


def test_every_trouble_is_in_the_table() -> None:
    assert list(TROUBLES) == list(Trouble)


@pytest.mark.parametrize("trouble", TROUBLES)
def test_a_failure_is_a_reply_that_tells_no_state(
    subject: Subject, node: Node, trouble: Trouble
) -> None:
    with subject.meeting(node, trouble):
        reply = subject.run(node.ask("register_leader_epoch", leader_epoch=5))
    assert (reply.error, state(reply)) == (TROUBLES[trouble][0], UNKNOWN)
    assert reply.message


@pytest.mark.parametrize("trouble", TROUBLES)
def test_only_a_lost_reply_has_done_the_work(
    subject: Subject, node: Node, trouble: Trouble
) -> None:
    with subject.meeting(node, trouble):
        subject.run(node.ask("register_leader_epoch", leader_epoch=5))
    [row] = subject.rows()
    assert row["epoch"] == (5 if TROUBLES[trouble][1] else -1)


@pytest.mark.parametrize("trouble", TROUBLES)
def test_the_call_after_a_failure_is_answered(
    subject: Subject, node: Node, trouble: Trouble
) -> None:
    with subject.meeting(node, trouble):
        subject.run(node.ask("register_leader_epoch", leader_epoch=5))
    assert subject.run(node.ask("register_leader_epoch", leader_epoch=6)).epoch == 6


def test_the_trouble_of_one_node_is_not_that_of_another(subject: Subject, node: Node) -> None:
    other = subject.node()
    with subject.meeting(node, Trouble.REFUSED):
        reply = subject.run(other.ask("get_diskless_log_start_offset"))
    assert reply.error is BoundaryError.NONE


def test_what_a_failure_means_is_a_decision(subject: Subject, node: Node) -> None:
    hard = Mutant(
        name="outages are hard",
        decision="classify-failure",
        replace=lambda sqlstate: BoundaryError.KAFKA_STORAGE_ERROR,
    )
    with mutated(hard), subject.meeting(node, Trouble.REFUSED):
        reply = subject.run(node.ask("get_diskless_log_start_offset"))
    assert reply.error is BoundaryError.KAFKA_STORAGE_ERROR


# --- effects --------------------------------------------------------------------------------------


def test_each_transaction_is_an_effect_with_its_number_and_its_outcome(
    subject: Subject, node: Node
) -> None:
    with mutated(BOUNDARY_FIRST):
        subject.run(initialize(node, 100, 5))
    subject.run(initialize(node, 200, 5))
    with subject.meeting(node, Trouble.REFUSED):
        subject.run(node.ask("commit_batch", record_count=1))
    subject.run(node.ask("commit_batch", record_count=0))
    seen = [(one.number, one.call, one.args.get("steps"), one.outcome) for one in node.gate.seen]
    assert seen == [
        (1, "create_log", None, "ok"),
        (2, "initialize_diskless_migration", ["persist"], "ok"),
        (3, "initialize_diskless_migration", ["seed"], "ok"),
        (4, "initialize_diskless_migration", ["seed", "persist"], "BOUNDARY_MISMATCH"),
        (5, "commit_batch", None, "REQUEST_TIMED_OUT"),
        (6, "commit_batch", None, "INVALID_REQUEST"),
    ]
    assert {one.port for one in node.gate.seen} == {"control_plane"}


def test_an_effect_shows_the_arguments_of_its_call(subject: Subject, node: Node) -> None:
    subject.run(initialize(node, 100, 5, A))
    assert node.gate.seen[-1].args == {
        "partitions": [
            {
                "topic_id": str(topic_id_of("t")),
                "partition": 0,
                "boundary": 100,
                "leader_epoch": 5,
                "entries": [[1, 0, 0, 4, 10, 0]],
            }
        ],
        "steps": ["seed", "persist"],
    }


# --- between two transactions ---------------------------------------------------------------------


async def stopped_in_between(node: Node, boundary: int, *entries: Seed) -> asyncio.Task[Reply]:
    """An initialize that has done its first transaction and waits at the gate of its second."""
    node.gate.stop_before(3)  # the first effect created the log
    task = asyncio.create_task(initialize(node, boundary, 5, *entries))
    await node.gate.stopped()
    return task


def test_others_see_what_the_first_transaction_did(subject: Subject, node: Node) -> None:
    async def story() -> None:
        task = await stopped_in_between(node, 100, A)
        between = await subject.node().ask("describe_producers")
        assert (between.boundary, between.seeds) == (100, ())
        node.gate.go_on()
        await task
        assert (await node.ask("describe_producers")).seeds == (A,)

    with mutated(BOUNDARY_FIRST):
        subject.run(story())


@pytest.mark.parametrize("same_node", [False, True])
def test_others_may_act_there(subject: Subject, node: Node, same_node: bool) -> None:
    async def story() -> None:
        task = await stopped_in_between(node, 100)
        other = node if same_node else subject.node()
        assert (await initialize(other, 200, 6)).boundary == 200
        node.gate.go_on()
        assert (await task).error is BoundaryError.NONE
        assert (await node.ask("get_diskless_log_start_offset")).boundary == 100

    with mutated(CHECK_THEN_ACT):
        subject.run(story())


def test_a_caller_killed_there_leaves_the_first_and_not_the_second(
    subject: Subject, node: Node
) -> None:
    async def story() -> None:
        await subject.kill(node, await stopped_in_between(node, 100, A))
        left = await subject.node().ask("describe_producers")
        assert (left.boundary, left.seeds) == (100, ())

    with mutated(BOUNDARY_FIRST):
        subject.run(story())
    assert [one.number for one in node.gate.seen] == [1, 2]


def test_a_failure_there_is_the_answer_to_the_whole_call(subject: Subject, node: Node) -> None:
    async def story() -> None:
        task = await stopped_in_between(node, 100, A)
        with subject.meeting(node, Trouble.REFUSED):
            node.gate.go_on()
            assert state(await task) == UNKNOWN
        left = await node.ask("describe_producers")
        assert (left.boundary, left.seeds) == (100, ())

    with mutated(BOUNDARY_FIRST):
        subject.run(story())


def test_a_first_transaction_that_is_refused_is_the_last(subject: Subject, node: Node) -> None:
    subject.run(initialize(node, 100, 5))
    with mutated(BOUNDARY_FIRST):
        subject.run(initialize(node, 200, 5))
    assert [one.outcome for one in node.gate.seen] == ["ok", "ok", "BOUNDARY_MISMATCH"]


# --- several callers at once ----------------------------------------------------------------------


def test_of_two_boundaries_at_once_one_is_stored_and_told_to_both(
    subject: Subject, node: Node
) -> None:
    async def story() -> list[Reply]:
        return await asyncio.gather(
            initialize(node, 100, 5),
            initialize(subject.node(), 200, 5),
        )

    replies = subject.run(story())
    assert sorted(reply.error for reply in replies) == ["BOUNDARY_MISMATCH", "NONE"]
    [row] = subject.rows()
    assert [reply.boundary for reply in replies] == [row["boundary"]] * 2


@pytest.mark.parametrize("nodes", [1, 2])
def test_commits_at_once_get_offsets_of_their_own(subject: Subject, node: Node, nodes: int) -> None:
    callers = [node, node] if nodes == 1 else [node, subject.node()]

    async def story() -> list[Reply]:
        await initialize(node, 100, 5)
        calls = [one.ask("commit_batch", record_count=2) for one in callers * 5]
        return await asyncio.gather(*calls)

    offsets = [reply.base_offset for reply in subject.run(story())]
    assert sorted(offsets) == list(range(100, 120, 2))


def test_creations_of_one_log_at_once_all_succeed(subject: Subject) -> None:
    async def story() -> list[Reply]:
        return await asyncio.gather(*(subject.node().ask("create_log") for _ in range(6)))

    assert {reply.error for reply in subject.run(story())} == {BoundaryError.NONE}
    assert len(subject.rows()) == 1


def test_closing_twice_is_harmless(subject: Subject, node: Node) -> None:
    subject.run(node.plane.close())
    subject.run(node.plane.close())
