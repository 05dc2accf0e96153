"""The control plane on PostgreSQL when the database fails it. Its answers are in `tests/ports`."""

from __future__ import annotations

import asyncio
from collections.abc import AsyncIterator
from contextlib import asynccontextmanager
from typing import Any

import psycopg
import pytest
from lock_waits import until_waiting
from psycopg.conninfo import make_conninfo

from reference_impl.control_plane.lines import request_of
from reference_impl.control_plane.postgres import (
    PostgresControlPlane,
    Timeouts,
    Unreachable,
    rows,
    sqlstate_of,
)
from reference_impl.control_plane.server import PostgresServer
from reference_impl.ports.control_plane import BoundaryError

HASTY = Timeouts(lock_ms=50, statement_ms=2_000, call_s=4.0, connect_s=2.0)


async def ask(plane: PostgresControlPlane, f: str, **arguments: Any) -> Any:
    answer = await plane.call(request_of({"f": f, "topic": "t", "partition": 0, **arguments}))
    return answer.partitions[0]


async def begin(dsn: str, timeouts: Timeouts = HASTY) -> PostgresControlPlane:
    plane = await PostgresControlPlane.connect(dsn, timeouts=timeouts)
    await ask(plane, "create_log")
    return plane


def test_a_statement_that_waits_too_long_for_its_lock_times_out_and_changes_nothing(
    database: str, runner: asyncio.Runner
) -> None:
    async def story() -> None:
        plane = await begin(database)
        with psycopg.connect(database) as holder:
            holder.execute("SELECT FROM logs FOR UPDATE")
            reply = await ask(plane, "register_leader_epoch", leader_epoch=5)
            assert reply.error is BoundaryError.REQUEST_TIMED_OUT
            assert (reply.boundary, reply.epoch, reply.reset_epoch) == (None, None, None)
            assert "lock timeout" in (reply.message or "")
        assert (await ask(plane, "get_diskless_log_start_offset")).epoch == -1
        await plane.close()

    runner.run(story())


def test_a_statement_that_runs_too_long_times_out(database: str, runner: asyncio.Runner) -> None:
    async def story() -> None:
        plane = await begin(database, Timeouts(lock_ms=2_000, statement_ms=50))
        with psycopg.connect(database) as holder:
            holder.execute("SELECT FROM logs FOR UPDATE")
            reply = await ask(plane, "register_leader_epoch", leader_epoch=5)
        assert reply.error is BoundaryError.REQUEST_TIMED_OUT
        assert "statement timeout" in (reply.message or "")
        await plane.close()

    runner.run(story())


def test_a_transaction_that_loses_against_another_times_out_and_changes_nothing(
    database: str, runner: asyncio.Runner
) -> None:
    async def story() -> Any:
        strict = make_conninfo(
            database, options="-c default_transaction_isolation=repeatable\\ read"
        )
        plane = await begin(strict, Timeouts())
        async with await psycopg.AsyncConnection.connect(database) as winner:
            await winner.execute("UPDATE logs SET diskless_log_start_epoch = 7")
            loser = asyncio.create_task(ask(plane, "register_leader_epoch", leader_epoch=8))
            await until_waiting(database, 1)
        reply = await loser
        await plane.close()
        return reply

    reply = runner.run(story())
    assert reply.error is BoundaryError.REQUEST_TIMED_OUT
    assert "SerializationFailure" in (reply.message or "")
    assert rows(database)[0]["epoch"] == 7


def test_a_lost_connection_is_a_timeout_and_the_next_call_connects_again(
    database: str, runner: asyncio.Runner
) -> None:
    async def story() -> None:
        plane = await begin(database)
        with psycopg.connect(database, autocommit=True) as killer:
            killer.execute(
                "SELECT pg_terminate_backend(pid, 2000) FROM pg_stat_activity "
                "WHERE datname = current_database() AND pid <> pg_backend_pid()"
            )
        lost = await ask(plane, "get_diskless_log_start_offset")
        assert lost.error is BoundaryError.REQUEST_TIMED_OUT
        found = await ask(plane, "get_diskless_log_start_offset")
        assert found.error is BoundaryError.NONE
        await plane.close()

    runner.run(story())


def test_a_refused_connection_is_a_timeout(runner: asyncio.Runner) -> None:
    async def story() -> None:
        plane = PostgresControlPlane("postgresql://postgres@127.0.0.1:1/none")
        reply = await ask(plane, "get_diskless_log_start_offset")
        assert reply.error is BoundaryError.REQUEST_TIMED_OUT

    runner.run(story())


@pytest.mark.parametrize("wrong", ["dbname=nowhere", "user=nobody_we_know"])
def test_a_login_that_can_never_succeed_is_a_hard_failure(
    runner: asyncio.Runner, database: str, wrong: str
) -> None:
    async def story() -> None:
        name, _, value = wrong.partition("=")
        dsn = psycopg.conninfo.make_conninfo(database, **{name: value})
        reply = await ask(PostgresControlPlane(dsn), "get_diskless_log_start_offset")
        assert reply.error is BoundaryError.KAFKA_STORAGE_ERROR

    runner.run(story())


def test_connecting_to_nobody_says_whom_it_missed(runner: asyncio.Runner) -> None:
    dsn = "postgresql://postgres@127.0.0.1:1/none"
    with pytest.raises(Unreachable, match="no control plane at postgresql"):
        runner.run(PostgresControlPlane.connect(dsn))


def test_a_failure_on_our_side_of_the_connection_is_not_worth_retrying() -> None:
    assert sqlstate_of(psycopg.ProgrammingError("no such placeholder")) == "XX000"
    assert sqlstate_of(psycopg.OperationalError("reset by peer")) is None
    assert sqlstate_of(TimeoutError()) is None


READY_FOR_QUERY = b"Z\0\0\0\5"  # the message that ends a log-in, and every answer


@asynccontextmanager
async def silent(port: int, *, after_login: bool) -> AsyncIterator[int]:
    """A proxy that passes requests on and swallows the answers: all, or all after the log-in."""
    writers: list[asyncio.StreamWriter] = []

    async def requests(client: asyncio.StreamReader, upstream: asyncio.StreamWriter) -> None:
        while data := await client.read(65536):
            upstream.write(data)
        upstream.close()

    async def answers(upstream: asyncio.StreamReader, client: asyncio.StreamWriter) -> None:
        passing = after_login
        while data := await upstream.read(65536):
            if passing:
                client.write(data)
            passing = passing and READY_FOR_QUERY not in data

    async def accept(reader: asyncio.StreamReader, writer: asyncio.StreamWriter) -> None:
        upstream_reader, upstream = await asyncio.open_connection("127.0.0.1", port)
        writers.extend((writer, upstream))
        await asyncio.gather(requests(reader, upstream), answers(upstream_reader, writer))

    proxy = await asyncio.start_server(accept, "127.0.0.1", 0)
    try:
        yield proxy.sockets[0].getsockname()[1]
    finally:
        proxy.close()
        for writer in writers:
            writer.close()


def test_a_reply_that_never_comes_is_a_timeout_though_the_call_was_carried_out(
    database: str, server: PostgresServer, runner: asyncio.Runner
) -> None:
    async def story() -> None:
        await (await begin(database)).close()
        async with silent(server.port, after_login=True) as port:
            dsn = make_conninfo(database, port=port)
            plane = PostgresControlPlane(dsn, timeouts=Timeouts(call_s=0.3))
            reply = await ask(plane, "register_leader_epoch", leader_epoch=5)
            assert reply.error is BoundaryError.REQUEST_TIMED_OUT
            await plane.close()

    runner.run(story())
    assert rows(database)[0]["epoch"] == 5


def test_a_server_that_accepts_and_says_nothing_is_a_timeout(
    database: str, server: PostgresServer, runner: asyncio.Runner
) -> None:
    async def story() -> None:
        async with silent(server.port, after_login=False) as port:
            dsn = make_conninfo(database, port=port)
            plane = PostgresControlPlane(dsn, timeouts=Timeouts(connect_s=0.2))
            reply = await ask(plane, "get_diskless_log_start_offset")
            assert reply.error is BoundaryError.REQUEST_TIMED_OUT

    runner.run(story())


def test_limits_nest_whatever_the_budget() -> None:
    for budget in (0.01, 1.0, 30.0):
        limits = Timeouts.within(budget)
        assert limits.lock_ms <= limits.statement_ms <= limits.call_s * 1000


def test_options_of_the_dsn_are_kept(database: str, runner: asyncio.Runner) -> None:
    async def story() -> None:
        dsn = make_conninfo(database, options="-c application_name=kept")
        plane = await begin(dsn)
        names = "SELECT application_name FROM pg_stat_activity WHERE datname = current_database()"
        with psycopg.connect(database) as look:
            assert ("kept",) in look.execute(names).fetchall()
        await plane.close()

    runner.run(story())


def test_a_call_is_one_statement(database: str, runner: asyncio.Runner) -> None:
    async def story() -> None:
        plane = await begin(database)
        sent: list[bytes] = []
        connection = plane._connection
        assert connection is not None
        execute = connection.execute

        async def counted(query: bytes, *arguments: Any) -> Any:
            sent.append(query)
            return await execute(query, *arguments)

        connection.execute = counted  # type: ignore[method-assign,assignment]
        reply = await ask(
            plane, "initialize_diskless_migration", boundary=9, leader_epoch=1, entries=()
        )
        assert (reply.boundary, len(sent)) == (9, 1)
        await plane.close()

    runner.run(story())
