"""The twin in memory: whole calls, stepping, and the plan of initialize."""

from __future__ import annotations

import ast
from collections.abc import Coroutine, Mapping
from pathlib import Path
from typing import Any

import pytest

import reference_impl
from reference_impl.control_plane.memory import MemoryControlPlane
from reference_impl.control_plane.port import BoundaryError, Reply, Request, Seed
from reference_impl.decisions import Mutant, mutated

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


def finish(steps: Coroutine[Any, Any, Reply]) -> Reply:
    """Step a call to its end, as a simulator does."""
    try:
        while True:
            assert steps.send(None) is None
    except StopIteration as done:
        reply: Reply = done.value
        return reply


def ask(plane: MemoryControlPlane, f: str, partition: int = 0, **arguments: Any) -> Reply:
    return finish(plane.call(Request(f=f, topic="t", partition=partition, **arguments)))


def initialize(boundary: int, epoch: int, *entries: Seed) -> Request:
    return Request(
        f="initialize_diskless_migration",
        topic="t",
        partition=0,
        boundary=boundary,
        leader_epoch=epoch,
        entries=entries,
    )


@pytest.fixture
def plane() -> MemoryControlPlane:
    plane = MemoryControlPlane()
    ask(plane, "create_log")
    return plane


def test_a_call_of_one_transaction_ends_without_a_turn(plane: MemoryControlPlane) -> None:
    with pytest.raises(StopIteration):
        plane.call(initialize(100, 5)).send(None)


def test_the_life_of_a_boundary(plane: MemoryControlPlane) -> None:
    assert finish(plane.call(initialize(100, 5, A))).boundary == 100
    assert ask(plane, "commit_batch", record_count=3).base_offset == 100
    assert ask(plane, "commit_batch", record_count=2).base_offset == 103
    reset = ask(plane, "set_diskless_log_start_offset", boundary=-1)
    assert (reset.error, reset.boundary) == (BoundaryError.SUFFIX_NOT_EMPTY, 100)
    assert ask(plane, "describe_producers").seeds == (A,)


def test_after_a_reset_the_suffix_starts_at_the_new_boundary(plane: MemoryControlPlane) -> None:
    finish(plane.call(initialize(100, 5)))
    reset = ask(plane, "set_diskless_log_start_offset", boundary=-1, leader_epoch=6)
    assert (reset.boundary, reset.epoch, reset.reset_epoch) == (-1, 6, 6)
    assert finish(plane.call(initialize(80, 6))).error is BoundaryError.FENCED_LEADER_EPOCH
    again = finish(plane.call(initialize(80, 7)))
    assert (again.boundary, again.epoch, again.reset_epoch) == (80, 7, 6)
    assert ask(plane, "commit_batch", record_count=1).base_offset == 80


def test_creating_a_log_twice_changes_nothing(plane: MemoryControlPlane) -> None:
    finish(plane.call(initialize(100, 5)))
    assert ask(plane, "create_log").boundary == 100


def test_an_unknown_log_is_told_as_such(plane: MemoryControlPlane) -> None:
    reply = ask(plane, "get_diskless_log_start_offset", partition=9)
    assert (reply.error, reply.boundary) == (BoundaryError.UNKNOWN_TOPIC_OR_PARTITION, -1)


def test_a_malformed_call_learns_the_state_and_changes_nothing(plane: MemoryControlPlane) -> None:
    finish(plane.call(initialize(100, 5)))
    reply = ask(plane, "commit_batch", record_count=0)
    assert (reply.error, reply.boundary) == (BoundaryError.INVALID_REQUEST, 100)
    assert "record_count 0" in (reply.message or "")


def test_seeds_are_stored_as_a_sorted_set(plane: MemoryControlPlane) -> None:
    ask(plane, "seed_producer_state", entries=(B, A, B))
    assert ask(plane, "describe_producers").seeds == (A, B)


def test_a_mutant_plan_makes_the_boundary_visible_before_its_seeds(
    plane: MemoryControlPlane,
) -> None:
    with mutated(BOUNDARY_FIRST):
        steps = plane.call(initialize(100, 5, A))
        assert steps.send(None) is None
        between = ask(plane, "describe_producers")
        assert (between.boundary, between.seeds) == (100, ())
        finish(steps)
    assert ask(plane, "describe_producers").seeds == (A,)


def test_a_mutant_plan_can_check_in_one_transaction_and_act_in_another(
    plane: MemoryControlPlane,
) -> None:
    with mutated(CHECK_THEN_ACT):
        slow = plane.call(initialize(100, 5))
        slow.send(None)
        assert finish(plane.call(initialize(200, 6))).error is BoundaryError.NONE
        assert finish(slow).error is BoundaryError.NONE
    assert ask(plane, "get_diskless_log_start_offset").boundary == 100


def test_a_refused_first_transaction_ends_the_call(plane: MemoryControlPlane) -> None:
    finish(plane.call(initialize(100, 5)))
    with mutated(BOUNDARY_FIRST), pytest.raises(StopIteration):
        plane.call(initialize(200, 5)).send(None)


def test_each_transaction_is_traced_with_its_outcome() -> None:
    seen: list[tuple[str, object, str]] = []

    class Lines:
        def effect(self, *, call: str, args: Mapping[str, object], outcome: str) -> None:
            seen.append((call, args.get("steps"), outcome))

    plane = MemoryControlPlane(trace=Lines())
    ask(plane, "create_log")
    with mutated(BOUNDARY_FIRST):
        finish(plane.call(initialize(100, 5)))
    finish(plane.call(initialize(200, 5)))
    assert seen == [
        ("create_log", None, "ok"),
        ("initialize_diskless_migration", ["persist"], "ok"),
        ("initialize_diskless_migration", ["seed"], "ok"),
        ("initialize_diskless_migration", ["seed", "persist"], "BOUNDARY_MISMATCH"),
    ]


def test_a_wrong_key_mixes_partitions_up(plane: MemoryControlPlane) -> None:
    one_per_topic = Mutant(
        name="one per topic", decision="log-key", replace=lambda topic, partition: (topic, 0)
    )
    with mutated(one_per_topic):
        finish(plane.call(initialize(100, 5)))
        assert ask(plane, "get_diskless_log_start_offset", partition=1).boundary == 100


PURE = ("decisions", "control_plane/port", "control_plane/boundary", "control_plane/flow")


@pytest.mark.parametrize("module", [*PURE, "control_plane/memory"])
def test_code_for_the_simulator_reaches_for_nothing_outside(module: str) -> None:
    source = Path(reference_impl.__file__).parent / f"{module}.py"
    banned = {"asyncio", "datetime", "os", "random", "secrets", "socket", "threading", "time"}
    for node in ast.walk(ast.parse(source.read_text())):
        names = [alias.name for alias in node.names] if isinstance(node, ast.Import) else []
        names += [node.module or ""] if isinstance(node, ast.ImportFrom) else []
        assert not banned & {name.partition(".")[0] for name in names} | {"uuid"} & set(names)
