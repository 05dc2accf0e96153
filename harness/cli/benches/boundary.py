"""Setting boundaries in PostgreSQL."""

from __future__ import annotations

import asyncio
import time
from collections.abc import Iterator
from pathlib import Path
from uuid import UUID

import psycopg

from harness.cli.benches.measured import Measured
from reference_impl.control_plane.postgres import PostgresControlPlane, install
from reference_impl.control_plane.server import PostgresServer
from reference_impl.ports.control_plane import (
    BoundaryToInitialize,
    CreateLogs,
    InitializeDisklessMigration,
    LogToCreate,
)

COMMITS = 1_000
TOPIC = UUID(int=1)


def measure(folder: Path) -> Iterator[Measured]:
    """Commits a second."""
    with PostgresServer() as server:
        dsn = server.create_database()
        install(dsn)
        baseline = COMMITS / asyncio.run(_bare_updates(dsn))
        yield Measured(
            row="boundary commits",
            unit="commits/s",
            rate=COMMITS / asyncio.run(_initializations(dsn)),
            baseline="bare psycopg UPDATE loop",
            baseline_rate=baseline,
        )


async def _initializations(dsn: str) -> float:
    """Seconds for setting the boundary of many partitions, one call each."""
    control_plane = await PostgresControlPlane.connect(dsn)
    logs = [LogToCreate(topic_id=TOPIC, topic="t", partition=n) for n in range(COMMITS)]
    await control_plane.call(CreateLogs(partitions=tuple(logs)))
    started = time.perf_counter()
    for number in range(COMMITS):
        await control_plane.call(
            InitializeDisklessMigration(
                partitions=(
                    BoundaryToInitialize(
                        topic_id=TOPIC,
                        partition=number,
                        boundary=100,
                        leader_epoch=5,
                        entries=(),
                    ),
                )
            )
        )
    elapsed = time.perf_counter() - started
    await control_plane.close()
    return elapsed


async def _bare_updates(dsn: str) -> float:
    """Seconds for as many single-row updates, each a transaction."""
    connection = await psycopg.AsyncConnection.connect(dsn, autocommit=True)
    await connection.execute("CREATE TABLE bare (id int PRIMARY KEY, b0 bigint)")
    rows = "INSERT INTO bare SELECT n, -1 FROM generate_series(1, %s) n"
    await connection.execute(rows, (COMMITS,))
    started = time.perf_counter()
    for number in range(COMMITS):
        await connection.execute(
            "UPDATE bare SET b0 = 100 WHERE id = %s RETURNING b0", (number + 1,)
        )
    elapsed = time.perf_counter() - started
    await connection.close()
    return elapsed
