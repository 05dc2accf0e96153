"""Calls over several partitions that overlap wait for each other, and none of them for ever."""

from __future__ import annotations

import asyncio
from typing import Any

import psycopg
import pytest
from lock_waits import until_waiting
from psycopg.conninfo import make_conninfo

from reference_impl.control_plane.lines import request_of, topic_id_of
from reference_impl.control_plane.migrations import apply_sql_mutant
from reference_impl.control_plane.postgres import PostgresControlPlane
from reference_impl.decisions import SqlMutant
from reference_impl.ports.control_plane import BoundaryError

AS_ASKED = SqlMutant(
    name="locked as asked",
    decision="sql:lock_order",
    old="ORDER BY topic_id, partition",
    new="ORDER BY place",
)
# Topics whose names and ids are in different order.
TOPICS = sorted(("t", "u", "v"), key=topic_id_of)
LOGS = [{"topic": topic, "partition": one} for topic in TOPICS for one in (0, 1)]
EPOCHS = {"leader_epoch": 5}
CALLS = {
    "register_leader_epoch": EPOCHS,
    "set_diskless_log_start_offset": {"boundary": 10},
    "create_log": {},
}


async def overlap(dsn: str, f: str) -> list[BoundaryError]:
    """Two calls on the same partitions in opposite order, both waiting for the first of the lock
    order when it becomes free; what each said of each partition."""
    quick = make_conninfo(dsn, options="-c deadlock_timeout=20ms")
    planes = [PostgresControlPlane(quick) for _ in range(2)]
    if f != "create_log":
        await planes[0].call(request_of({"f": "create_log", "partitions": LOGS}))
    orders = [LOGS, LOGS[::-1]]
    tasks: list[asyncio.Task[Any]] = []
    async with await psycopg.AsyncConnection.connect(dsn) as holder:
        first = str(topic_id_of(TOPICS[0]))
        new = "INSERT INTO logs (topic_id, partition) VALUES (%s, 0) ON CONFLICT DO NOTHING"
        await holder.execute(new, [first])
        lock = "SELECT FROM logs WHERE topic_id = %s AND partition = 0 FOR UPDATE"
        await holder.execute(lock, [first])
        for plane, order in zip(planes, orders, strict=True):
            partitions = [{**log, **CALLS[f]} for log in order]
            call = plane.call(request_of({"f": f, "partitions": partitions}))
            tasks.append(asyncio.ensure_future(call))
            await until_waiting(dsn, len(tasks))
        await holder.rollback()
    answers = await asyncio.gather(*tasks)
    for plane in planes:
        await plane.close()
    return [one.error for answer in answers for one in answer.partitions]


@pytest.mark.parametrize("f", CALLS)
def test_calls_that_overlap_in_opposite_order_all_finish(
    own_database: str, runner: asyncio.Runner, f: str
) -> None:
    assert set(runner.run(overlap(own_database, f))) == {BoundaryError.NONE}


@pytest.mark.parametrize("f", CALLS)
def test_locks_in_the_order_of_the_call_deadlock(
    own_database: str, runner: asyncio.Runner, f: str
) -> None:
    apply_sql_mutant(own_database, AS_ASKED)
    assert BoundaryError.REQUEST_TIMED_OUT in runner.run(overlap(own_database, f))
