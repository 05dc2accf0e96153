"""Memory and PostgreSQL, driven by the same random calls, answer and store the same."""

from __future__ import annotations

import asyncio
from typing import Any, ClassVar

import psycopg
import pytest
from hypothesis import HealthCheck, Phase, settings
from hypothesis import strategies as st
from hypothesis.stateful import RuleBasedStateMachine, initialize, rule, run_state_machine_as_test

from reference_impl.control_plane.lines import request_of
from reference_impl.control_plane.memory import MemoryControlPlane, Registers
from reference_impl.control_plane.postgres import PostgresControlPlane, read_rows
from reference_impl.decisions import Mutant, mutated
from reference_impl.ports.control_plane import Seed

# Few values, so that calls meet: one log more than the other, a handful of epochs, boundaries at
# zero, right at a seed and above, seed lists that differ in content, order and depth.
A, B = Seed(1, 0, 0, 9, 10, 1000), Seed(2, 0, 0, 9, 10, 1000)
SIX = tuple(Seed(3, 0, number, number, number, 1000) for number in range(6))

logs = st.sampled_from([0, 0, 0, 1])
epochs = st.integers(1, 3)
boundaries = st.sampled_from([0, 10, 100])
entries = st.sampled_from([(), (A,), (B,), (A, B), (B, A, B), SIX, SIX[:5]])

# Where a log may stand when the random calls begin: deep states are rare otherwise.
CREATE = ("create_log", {})
INITIALIZE = (
    "initialize_diskless_migration",
    {"boundary": 100, "leader_epoch": 2, "entries": (A,)},
)
LIVES: dict[str, list[tuple[str, dict[str, Any]]]] = {
    "unknown": [],
    "fresh": [CREATE],
    "set": [CREATE, INITIALIZE],
    "used": [CREATE, INITIALIZE, ("commit_batch", {"record_count": 1})],
    "reset": [CREATE, INITIALIZE, ("set_diskless_log_start_offset", {"boundary": -1})],
}


# What each call takes besides its partition; some of it out of range.
ARGUMENTS: dict[str, dict[str, st.SearchStrategy[Any]]] = {
    "create_log": {},
    "initialize_diskless_migration": {
        "boundary": boundaries,
        "leader_epoch": epochs,
        "entries": entries,
    },
    "set_diskless_log_start_offset": {
        "boundary": st.sampled_from([0, 10, 100, -1, -2]),
        "leader_epoch": st.none() | epochs,
    },
    "get_diskless_log_start_offset": {},
    "seed_producer_state": {"entries": entries},
    "register_leader_epoch": {"leader_epoch": epochs},
    "describe_producers": {},
    "commit_batch": {"record_count": st.sampled_from([1, 2, 0])},
}


def together(f: str) -> st.SearchStrategy[dict[str, Any]]:
    """What is asked of one of the partitions of a call; one may occur twice."""
    where = {"topic": st.sampled_from(["t", "t", "u"]), "partition": st.sampled_from([0, 1, -1])}
    return st.fixed_dictionaries({**where, **ARGUMENTS[f]})


class Twins(RuleBasedStateMachine):
    """Each rule is a call; after each, both replies and both complete states are compared."""

    runner: ClassVar[asyncio.Runner]
    postgres: ClassVar[PostgresControlPlane]
    look: ClassVar[psycopg.Connection[Any]]

    @initialize(first=st.sampled_from(list(LIVES)), second=st.sampled_from(list(LIVES)))
    def start(self, first: str, second: str) -> None:
        self.look.execute("DELETE FROM logs")
        self.look.execute("DELETE FROM topics")
        self.registers = Registers()
        self.memory = MemoryControlPlane(self.registers)
        for partition, life in enumerate((first, second)):
            for f, arguments in LIVES[life]:
                self.call(f, partition, **arguments)

    def call(self, f: str, partition: int, **arguments: Any) -> None:
        self.ask({"f": f, "topic": "t", "partition": partition, **arguments})

    def ask(self, line: dict[str, Any]) -> None:
        request = request_of(line)
        expected = self.runner.run(self.memory.call(request))
        assert self.runner.run(self.postgres.call(request)) == expected
        assert read_rows(self.look) == self.registers.rows()

    @rule(partition=logs)
    def create_log(self, partition: int) -> None:
        self.call("create_log", partition)

    @rule(partition=logs, boundary=boundaries, leader_epoch=epochs, entries=entries)
    def initialize_diskless_migration(self, partition: int, **arguments: Any) -> None:
        self.call("initialize_diskless_migration", partition, **arguments)

    @rule(partition=logs, boundary=boundaries, leader_epoch=st.none() | epochs)
    def write(self, partition: int, **arguments: Any) -> None:
        self.call("set_diskless_log_start_offset", partition, **arguments)

    @rule(partition=logs, leader_epoch=st.none() | epochs)
    def reset(self, partition: int, **arguments: Any) -> None:
        self.call("set_diskless_log_start_offset", partition, boundary=-1, **arguments)

    @rule(partition=logs)
    def get_diskless_log_start_offset(self, partition: int) -> None:
        self.call("get_diskless_log_start_offset", partition)

    @rule(partition=logs, entries=entries)
    def seed_producer_state(self, partition: int, **arguments: Any) -> None:
        self.call("seed_producer_state", partition, **arguments)

    @rule(partition=logs, leader_epoch=epochs)
    def register_leader_epoch(self, partition: int, **arguments: Any) -> None:
        self.call("register_leader_epoch", partition, **arguments)

    @rule(partition=logs)
    def describe_producers(self, partition: int) -> None:
        self.call("describe_producers", partition)

    @rule(partition=logs, record_count=st.sampled_from([1, 2, 0]))
    def commit_batch(self, partition: int, **arguments: Any) -> None:
        self.call("commit_batch", partition, **arguments)

    @rule(
        call=st.sampled_from(list(ARGUMENTS)).flatmap(
            lambda f: st.tuples(st.just(f), st.lists(together(f), min_size=2, max_size=4))
        )
    )
    def several_partitions_at_once(self, call: tuple[str, list[dict[str, Any]]]) -> None:
        self.ask({"f": call[0], "partitions": call[1]})


def drive(dsn: str, runner: asyncio.Runner, *, examples: int, shrink: bool = True) -> None:
    limits = settings(
        max_examples=examples,
        stateful_step_count=30,
        deadline=None,
        suppress_health_check=list(HealthCheck),
        derandomize=True,
        database=None,
        phases=[Phase.generate, Phase.shrink] if shrink else [Phase.generate],
    )
    Twins.runner = runner
    Twins.postgres = PostgresControlPlane(dsn)
    with psycopg.connect(dsn, autocommit=True) as Twins.look:
        try:
            run_state_machine_as_test(Twins, settings=limits)
        finally:
            runner.run(Twins.postgres.close())


def test_both_control_planes_are_one_machine(database: str, runner: asyncio.Runner) -> None:
    drive(database, runner, examples=40)


@pytest.mark.parametrize(
    "plan", [(("persist",), ("seed",)), ((), ("seed", "persist"))], ids=["boundary-first", "check"]
)
def test_both_carry_out_a_mutant_plan_alike(
    database: str, runner: asyncio.Runner, plan: tuple[tuple[str, ...], ...]
) -> None:
    mutant = Mutant(name="plan", decision="initialize-transactions", replace=lambda: plan)
    with mutated(mutant):
        drive(database, runner, examples=10)


def test_the_comparison_sees_a_difference(database: str, runner: asyncio.Runner) -> None:
    lost = Mutant(name="lost", decision="seeds-after", replace=lambda log, seeds, entries: ())
    with mutated(lost), pytest.raises(AssertionError):
        drive(database, runner, examples=20, shrink=False)
