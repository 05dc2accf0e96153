"""Real connections at the same time: the row lock makes calls on one log take turns."""

from __future__ import annotations

import asyncio
from collections.abc import AsyncIterator, Awaitable
from contextlib import asynccontextmanager
from typing import Any

import psycopg
from lock_waits import until_waiting

from reference_impl.control_plane.lines import request_of
from reference_impl.control_plane.migrations import apply_sql_mutant
from reference_impl.control_plane.postgres import PostgresControlPlane, rows
from reference_impl.decisions import SqlMutant
from reference_impl.ports.control_plane import BoundaryError, Seed

CALLERS = 6
UNLOCKED = SqlMutant(name="no lock", decision="sql:lock_log", old=" FOR UPDATE", new="")


async def ask(plane: PostgresControlPlane, f: str, partition: int = 0, **arguments: Any) -> Any:
    where = {"topic": "t", "partition": partition}
    answer = await plane.call(request_of({"f": f, **where, **arguments}))
    return answer.partitions[0]


@asynccontextmanager
async def callers(dsn: str) -> AsyncIterator[list[PostgresControlPlane]]:
    planes = [await PostgresControlPlane.connect(dsn) for _ in range(CALLERS)]
    await ask(planes[0], "create_log")
    await ask(planes[0], "create_log", partition=1)
    try:
        yield planes
    finally:
        for plane in planes:
            await plane.close()


async def all_at_once(dsn: str, calls: list[Awaitable[Any]]) -> list[Any]:
    """Hold the lock of partition 0 until every call waits behind it, then let them go."""
    async with await psycopg.AsyncConnection.connect(dsn) as holder:
        await holder.execute("SELECT FROM logs WHERE partition = 0 FOR UPDATE")
        tasks = [asyncio.ensure_future(call) for call in calls]
        await until_waiting(dsn, len(tasks))
    return await asyncio.gather(*tasks)


def initialize(plane: PostgresControlPlane, boundary: int, *entries: Seed) -> Awaitable[Any]:
    return ask(
        plane,
        "initialize_diskless_migration",
        boundary=boundary,
        leader_epoch=5,
        entries=entries,
    )


async def race(dsn: str) -> list[Any]:
    async with callers(dsn) as planes:
        return await all_at_once(
            dsn, [initialize(plane, 100 + number) for number, plane in enumerate(planes)]
        )


def test_of_concurrent_initializations_exactly_one_is_accepted(
    database: str, runner: asyncio.Runner
) -> None:
    replies = runner.run(race(database))
    [winner] = [reply for reply in replies if reply.error is BoundaryError.NONE]
    for reply in replies:
        assert reply.error in (BoundaryError.NONE, BoundaryError.BOUNDARY_MISMATCH)
        assert reply.boundary == winner.boundary


def test_without_the_row_lock_several_are_accepted(
    own_database: str, runner: asyncio.Runner
) -> None:
    apply_sql_mutant(own_database, UNLOCKED)
    replies = runner.run(race(own_database))
    accepted = {reply.boundary for reply in replies if reply.error is BoundaryError.NONE}
    assert len(accepted) > 1


def test_a_waiting_call_sees_the_seeds_stored_by_the_one_before(
    database: str, runner: asyncio.Runner
) -> None:
    async def story() -> list[Any]:
        async with callers(database) as planes:
            return await all_at_once(
                database,
                [
                    initialize(plane, 100, Seed(number, 0, 0, 0, 1, 0))
                    for number, plane in enumerate(planes)
                ],
            )

    errors = sorted(reply.error for reply in runner.run(story()))
    assert errors == ["NONE"] + ["PRODUCER_STATE_MISMATCH"] * (CALLERS - 1)
    [row, _] = rows(database)
    assert len(row["seeds"]) == 1  # type: ignore[arg-type]


def test_concurrent_commits_get_contiguous_offsets(database: str, runner: asyncio.Runner) -> None:
    async def story() -> list[int | None]:
        async with callers(database) as planes:
            await initialize(planes[0], 100)
            calls = [ask(plane, "commit_batch", record_count=2) for plane in planes]
            return [reply.base_offset for reply in await all_at_once(database, calls)]

    assert sorted(runner.run(story())) == [100 + 2 * n for n in range(CALLERS)]  # type: ignore[type-var]


def test_concurrent_registrations_end_at_the_highest_epoch(
    database: str, runner: asyncio.Runner
) -> None:
    async def story() -> Any:
        async with callers(database) as planes:
            calls = [
                ask(plane, "register_leader_epoch", leader_epoch=number)
                for number, plane in enumerate(planes)
            ]
            replies = await all_at_once(database, calls)
            for number, reply in enumerate(replies):
                fenced = reply.error is BoundaryError.FENCED_LEADER_EPOCH
                assert reply.epoch is not None
                assert reply.epoch > number if fenced else reply.epoch == number
            return await ask(planes[0], "get_diskless_log_start_offset")

    assert runner.run(story()).epoch == CALLERS - 1


def test_a_locked_partition_does_not_hold_up_its_neighbour(
    database: str, runner: asyncio.Runner
) -> None:
    async def story() -> None:
        async with callers(database) as planes:
            with psycopg.connect(database) as holder:
                holder.execute("SELECT FROM logs WHERE partition = 0 FOR UPDATE")
                reply = await ask(planes[0], "register_leader_epoch", partition=1, leader_epoch=5)
            assert reply.error is BoundaryError.NONE

    runner.run(story())


def test_a_reader_does_not_wait_for_a_writer(database: str, runner: asyncio.Runner) -> None:
    async def story() -> None:
        async with callers(database) as planes:
            with psycopg.connect(database) as holder:
                holder.execute("SELECT FROM logs FOR UPDATE")
                for f in ("get_diskless_log_start_offset", "describe_producers"):
                    assert (await ask(planes[0], f)).error is BoundaryError.NONE

    runner.run(story())
